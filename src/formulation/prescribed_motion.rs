//! Motion laws: s, ṡ and s̈ of a prescribed coordinate as functions of time.

use std::f64::consts::TAU;
use std::sync::Arc;

use super::EvaluationContext;
use super::driven_value::{DrivenValue, DrivenValues};
use super::function::{Jet, Spline, SplineEnds, polynomial, table};
use crate::linalg::elementary::sin_cos;
use crate::linalg::interpolation::{PiecewiseCubic, TableEnds};
use crate::model::{Interpolation, Model, MotionLaw, Target};

/// A motion law s(t).
#[derive(Clone, Debug)]
pub enum PrescribedMotion {
    /// Constant.
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
    /// Spline through a table.
    Spline(Spline),
    /// Lines or monotone cubics through a table: s̈, or ṡ, jumps at its points.
    Table {
        /// s(t)
        table: Arc<PiecewiseCubic>,
        /// Index of the mode that says which piece applies; see [`super::force::knot::TableKnots`].
        mode: usize,
    },
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
    /// Input: s, ṡ and s̈ are u, u̇ and ü of the context. Inputs that are speeds or accelerations are integrated by the component.
    Input(DrivenValue),
}

impl PrescribedMotion {
    /// Law of motion `k` of the model, whose coordinate has the value `start` and the rate `rate` at the start of the experiment.
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
            MotionLaw::Table {
                points,
                periodic,
                interpolation: Interpolation::Spline,
            } => {
                let ends = if *periodic {
                    SplineEnds::Periodic
                } else {
                    SplineEnds::Clamped
                };
                Self::Spline(Spline::new(points, ends))
            }
            MotionLaw::Table {
                points,
                periodic,
                interpolation,
            } => {
                let ends = if *periodic {
                    TableEnds::Periodic
                } else {
                    TableEnds::Constant
                };
                Self::Table {
                    table: Arc::new(table(points, *interpolation, ends)),
                    mode: usize::MAX,
                }
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

    /// s, ṡ, s̈ at the time of the context.
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
                let (sin, cos) = sin_cos(angular * cx.t + phase);
                [
                    offset + amplitude * sin,
                    amplitude * angular * cos,
                    -amplitude * angular * angular * sin,
                ]
            }
            Self::Spline(spline) => spline.at(cx.t),
            Self::Table { table, mode } => {
                table.in_piece(piece_in_mode(table, cx.modes.get(*mode), cx.t), cx.t)
            }
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

    /// The table whose points are events, and the index of its mode, to be set.
    pub fn table_with_knots(&mut self) -> Option<(&Arc<PiecewiseCubic>, &mut usize)> {
        match self {
            Self::Table { table, mode } => Some((table, mode)),
            _ => None,
        }
    }

    /// Whether s depends on time.
    pub fn is_moving(&self) -> bool {
        !matches!(self, Self::Fixed(_))
    }
}

/// The piece of a table that a mode stands for; where no mode is set, the one at t. Modes are pieces plus [`FIRST_MODE`]: zero
/// means not set.
pub fn piece_in_mode(table: &PiecewiseCubic, mode: Option<&i32>, t: f64) -> i64 {
    match mode {
        None | Some(0) => table.piece_at(t),
        Some(&mode) => i64::from(mode) - FIRST_MODE,
    }
}

/// The mode that stands for a piece. Modes beyond 32 bits, after two thousand million points, are not set.
pub fn mode_of_piece(piece: i64) -> i32 {
    i32::try_from(piece + FIRST_MODE).unwrap_or(0)
}

/// Mode of the piece before the first point. Pieces of a periodic table before that have negative numbers.
const FIRST_MODE: i64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_agree_with_differences() {
        let laws = [
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
            PrescribedMotion::Spline(Spline::new(
                &[[0.0, 0.0], [1.0, 2.0], [2.0, 1.0], [3.0, 1.0]],
                SplineEnds::Clamped,
            )),
        ];
        let at = |law: &PrescribedMotion, t: f64| {
            law.at(&EvaluationContext {
                t,
                u: &[],
                u_dot: &[],
                u_ddot: &[],
                p: &[],
                modes: &[],
                integrals: &[],
            })
        };
        // Central differences with e = 1e-4: truncation 1e-8 times derivatives of order 20.
        let e = 1e-4;
        for law in &laws {
            for t in [0.3, 0.7, 1.4, 2.6] {
                let [_, speed, acceleration] = at(law, t);
                let (before, after) = (at(law, t - e), at(law, t + e));
                assert!(
                    ((after[0] - before[0]) / (2.0 * e) - speed).abs() < 1e-6,
                    "{law:?}"
                );
                assert!(
                    ((after[1] - before[1]) / (2.0 * e) - acceleration).abs() < 1e-6,
                    "{law:?}"
                );
            }
        }
    }
}
