//! A coordinate as a function of time: s, ṡ and s̈ of a prescribed motion.

use std::f64::consts::TAU;

use super::EvaluationContext;
use super::driven_value::{DrivenValue, DrivenValues};
use super::function::{Jet, Spline, SplineEnds, polynomial};
use crate::model::{Model, MotionLaw, Target};

/// s(t)
#[derive(Clone, Debug)]
pub enum PrescribedMotion {
    /// It does not move.
    Fixed(f64),
    /// s = start + speed (t − begin)
    Speed {
        /// s at `begin`.
        start: f64,
        /// ṡ
        speed: DrivenValue,
        /// s
        begin: f64,
    },
    /// s = c0 + c1 t + ..
    Polynomial(Vec<f64>),
    /// s = offset + amplitude sin(angular t + phase)
    Harmonic {
        /// Of s.
        amplitude: f64,
        /// rad/s
        angular: f64,
        /// rad
        phase: f64,
        /// Of s.
        offset: f64,
    },
    /// Through a table.
    Table(Spline),
    /// s = start + rate (t − begin) + acceleration/2 (t − begin)²
    Acceleration {
        /// s at `begin`.
        start: f64,
        /// ṡ at `begin`.
        rate: f64,
        /// s̈
        acceleration: f64,
        /// s
        begin: f64,
    },
    /// Driven: u, u' and u'' of the context are s, ṡ and s̈, also where the host's input is a speed or an acceleration:
    /// whoever gives signals to the equations integrates it.
    Input(DrivenValue),
}

impl PrescribedMotion {
    /// Motion `k` of the model, whose coordinate has the value `start` and the speed `rate` when the experiment begins.
    pub fn new(model: &Model, k: usize, values: &DrivenValues, start: f64, rate: f64) -> Self {
        let begin = model.experiment.start;
        match &model.motions[k].law {
            MotionLaw::ConstantSpeed { speed } => Self::Speed {
                start,
                speed: values.get(Target::MotionSpeed(k), *speed),
                begin,
            },
            MotionLaw::Polynomial(c) => Self::Polynomial(c.clone()),
            MotionLaw::Harmonic {
                amplitude,
                frequency,
                phase,
                offset,
            } => Self::Harmonic {
                amplitude: *amplitude,
                angular: TAU * frequency,
                phase: *phase,
                offset: *offset,
            },
            MotionLaw::Table { points, periodic } => {
                let ends = if *periodic {
                    SplineEnds::Periodic
                } else {
                    SplineEnds::Held
                };
                Self::Table(Spline::new(points, ends))
            }
            MotionLaw::Input {
                order,
                start: value,
            } => match (values.get(Target::Motion(k), *value), order) {
                (DrivenValue::Constant(speed), 1) => Self::Speed {
                    start,
                    speed: DrivenValue::Constant(speed),
                    begin,
                },
                (DrivenValue::Constant(acceleration), 2) => Self::Acceleration {
                    start,
                    rate,
                    acceleration,
                    begin,
                },
                (value, _) => Self::Input(value),
            },
        }
    }

    /// s, ṡ, s̈ now.
    #[inline]
    pub fn at(&self, cx: &EvaluationContext) -> Jet {
        match self {
            Self::Fixed(s) => [*s, 0.0, 0.0],
            Self::Speed {
                start,
                speed,
                begin,
            } => {
                let speed = speed.get(cx);
                [start + speed * (cx.t - begin), speed, 0.0]
            }
            Self::Polynomial(c) => polynomial(c, cx.t),
            Self::Harmonic {
                amplitude,
                angular,
                phase,
                offset,
            } => {
                let (sin, cos) = (angular * cx.t + phase).sin_cos();
                [
                    offset + amplitude * sin,
                    amplitude * angular * cos,
                    -amplitude * angular * angular * sin,
                ]
            }
            Self::Table(spline) => spline.at(cx.t),
            Self::Acceleration {
                start,
                rate,
                acceleration,
                begin,
            } => {
                let t = cx.t - begin;
                let speed = rate + acceleration * t;
                [start + 0.5 * (rate + speed) * t, speed, *acceleration]
            }
            Self::Input(value) => match *value {
                DrivenValue::Input(i) => [cx.u[i], cx.u_dot[i], cx.u_ddot[i]],
                _ => [value.get(cx), 0.0, 0.0],
            },
        }
    }

    /// It changes with time.
    pub fn is_moving(&self) -> bool {
        !matches!(self, Self::Fixed(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_the_differences_of_positions() {
        let courses = [
            PrescribedMotion::Fixed(2.0),
            PrescribedMotion::Speed {
                start: 1.0,
                speed: DrivenValue::Constant(3.0),
                begin: 0.5,
            },
            PrescribedMotion::Polynomial(vec![1.0, 2.0, -0.5, 0.3]),
            PrescribedMotion::Harmonic {
                amplitude: 0.3,
                angular: 4.0,
                phase: 0.2,
                offset: 1.0,
            },
            PrescribedMotion::Acceleration {
                start: 1.0,
                rate: -0.5,
                acceleration: 2.0,
                begin: 0.5,
            },
            PrescribedMotion::Table(Spline::new(
                &[[0.0, 0.0], [1.0, 2.0], [2.0, 1.0], [3.0, 1.0]],
                SplineEnds::Held,
            )),
        ];
        let at = |course: &PrescribedMotion, t: f64| {
            course.at(&EvaluationContext {
                t,
                u: &[],
                u_dot: &[],
                u_ddot: &[],
                p: &[],
                modes: &[],
            })
        };
        // Central differences with e = 1e-4: truncation 1e-8 times derivatives of order 20.
        let e = 1e-4;
        for course in &courses {
            for t in [0.3, 0.7, 1.4, 2.6] {
                let [_, speed, acceleration] = at(course, t);
                let (before, after) = (at(course, t - e), at(course, t + e));
                assert!(
                    ((after[0] - before[0]) / (2.0 * e) - speed).abs() < 1e-6,
                    "{course:?}"
                );
                assert!(
                    ((after[1] - before[1]) / (2.0 * e) - acceleration).abs() < 1e-6,
                    "{course:?}"
                );
            }
        }
    }
}
