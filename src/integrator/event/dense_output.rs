//! The motion inside a trial step, as the event functions see it.

use super::super::interpolation::{BlendedPolynomial, StepEnds};
use super::super::state::State;
use super::super::trial::Trial;
use super::super::workspace::{Problem, Workspace};
use crate::formulation::system::{Dimensions, MotionPoint};

/// Rotation of a step over which it is compared with its retraction and back: twice the one that is allowed.
const ROTATION_MARGIN: f64 = 2.0;
/// Difference of the two (rad) above which a full turn is missing: a component of a vector of length 2π is larger than 3.6.
const LOST_TURN: f64 = 1.0;

/// A point inside a trial step.
pub(super) struct DenseOutput {
    w: Vec<f64>,
    rate: Vec<f64>,
    q: Vec<f64>,
    v: Vec<f64>,
    acc: Vec<f64>,
    lambda: Vec<f64>,
}

/// Values of the event functions at a point.
pub(super) struct EventValues<'a> {
    pub phi: &'a mut [f64],
    pub rate: &'a mut [f64],
}

impl DenseOutput {
    pub fn new(size: &Dimensions) -> Self {
        let n = |n: usize| vec![0.0; if size.ne > 0 { n } else { 0 }];
        Self {
            w: n(size.nv),
            rate: n(size.nv),
            q: n(size.nq),
            v: n(size.nv),
            acc: n(size.nv),
            lambda: n(size.nc),
        }
    }

    /// Evaluates φ and its rate at the fraction `x` of the trial `y` from `s`.
    pub fn event_functions(
        &mut self,
        work: &mut Workspace,
        p: &Problem,
        (s, y): (&State, &Trial),
        x: f64,
        out: EventValues,
    ) {
        let ends = StepEnds {
            h: y.h,
            q: [&s.q, &y.q],
            v: [&s.v, &y.v],
            acc: [&s.acc, &y.acc],
            jerk: y.smooth.then_some([&s.jerk, &y.jerk]),
        };
        let Self {
            w,
            rate,
            q,
            v,
            acc,
            lambda,
        } = self;
        let at = BlendedPolynomial { q, v, acc };
        ends.blend(p.system, work.character.rotations, x, [w, rate], at);
        for i in 0..lambda.len() {
            lambda[i] = s.lambda[i] + x * (y.lambda[i] - s.lambda[i]);
        }
        let cx = work.nearby.at(p, s.t + x * y.h);
        let at = MotionPoint {
            q,
            v,
            a: acc,
            lambda,
        };
        p.system.event_functions(&cx, &at, out.phi, out.rate);
    }

    /// Bounds of |φ''| over the trial, from the speeds and accelerations of its cubic in Bernstein form: between the control
    /// values there are no larger ones.
    ///
    /// ```text
    ///   v: v₀,  v₀ + h a₀/3,  v₁ − h a₁/3,  v₁          a: a₀,  3 (v₁ − v₀)/h − a₀ − a₁,  a₁
    /// ```
    pub fn second_derivative_bounds(
        &mut self,
        work: &mut Workspace,
        p: &Problem,
        (s, y): (&State, &Trial),
        scratch: &mut [f64],
        bounds: &mut [f64],
    ) {
        let h = y.h;
        bounds.fill(0.0);
        for k in 0..4 {
            let Self { v, acc, .. } = self;
            for i in 0..v.len() {
                let middle = 3.0 * (y.v[i] - s.v[i]) / h - s.acc[i] - y.acc[i];
                (v[i], acc[i]) = match k {
                    0 => (s.v[i], s.acc[i]),
                    1 => (s.v[i] + h * s.acc[i] / 3.0, middle),
                    2 => (y.v[i] - h * y.acc[i] / 3.0, middle),
                    _ => (y.v[i], y.acc[i]),
                };
            }
            let (t, q, lambda) = match k {
                0 | 1 => (s.t, &s.q, &s.lambda),
                _ => (y.t, &y.q, &y.lambda),
            };
            let cx = work.nearby.at(p, t);
            let at = MotionPoint {
                q,
                v,
                a: acc,
                lambda,
            };
            p.system.event_curvature(&cx, &at, scratch);
            for (bound, here) in bounds.iter_mut().zip(&*scratch) {
                // NaN stays: no bound is known.
                *bound = if here.is_nan() {
                    *here
                } else {
                    bound.max(*here)
                };
            }
        }
    }

    /// Whether a rotation of the trial is larger than a quarter turn, or not known: the polynomial of a rotation is good for less
    /// than half a turn.
    pub fn rotates_too_far(&mut self, p: &Problem, (s, y): (&State, &Trial)) -> bool {
        let Self { w, rate, q, .. } = self;
        for i in 0..w.len() {
            w[i] = ROTATION_MARGIN * 0.5 * y.h * (s.v[i] + y.v[i]);
        }
        p.system.retract(&s.q, w, q);
        p.system.difference(&s.q, q, rate);
        (0..w.len()).any(|i| (w[i] - rate[i]).abs() > LOST_TURN)
    }
}
