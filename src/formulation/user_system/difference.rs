//! Difference approximations of derivatives without a callback. With δ_j = κ weight_j along generalised velocity j:
//!
//! ```text
//!   K e_j, C e_j      (r(+δ) − r(−δ)) / 2δ                                κ = ε^(1/3)   affects only Newton's convergence
//!   G e_j             (8 [Φ(+δ) − Φ(−δ)] − [Φ(+2δ) − Φ(−2δ)]) / 12δ       κ = ε^(1/5)   affects the result
//!   Φ_t               the same along t, with the change of inputs
//!   γ                 the same for G v + Φ_t along (q ∘ s v, t + s), or, without a callback for G,
//!                     (16 [Φ(+s) + Φ(−s)] − [Φ(+2s) + Φ(−2s)] − 30 Φ) / 12 s²       κ = ε^(1/6)
//! ```
//!
//! Columns that share no row are displaced together ([`super::column_groups`]): a chain of any length needs as many evaluations as one of
//! three links.

use super::{Callback, CallbackArguments, UserEquations, UserSystem, UserSystemShape};
use crate::formulation::{ConfigurationSpace, Evaluated, EvaluationContext};
use crate::linalg::elementary::{exp2, log2};

/// Step of central differences, ε^(1/3): balances the truncation error h² and rounding.
pub(super) const CENTRAL_STEP: f64 = 6.06e-6;
/// Step of fourth-order differences, ε^(1/5).
const FOURTH_ORDER_STEP: f64 = 7.4e-4;
/// Step of fourth-order second differences, ε^(1/6).
const SECOND_DIFFERENCE_STEP: f64 = 2.46e-3;
/// Smallest displacement relative to the coordinate: below it, half of its digits would be lost in the sum.
const SMALLEST_STEP: f64 = 1e-9;
/// Step in time of first differences (s). Time has no scale: six digits are left for drives of 100 rad/s, more for slower ones.
const TIME_STEP: f64 = 1e-4;
/// Step in time of second differences (s).
const SECOND_TIME_STEP: f64 = 1e-3;

/// Multiples of the step and weights of the fourth-order difference.
const STENCIL: [(f64, f64); 4] = [
    (1.0, 8.0 / 12.0),
    (-1.0, -8.0 / 12.0),
    (2.0, -1.0 / 12.0),
    (-2.0, 1.0 / 12.0),
];

/// Scratch memory of differences, so that a step does not allocate.
pub(super) struct DifferenceScratch {
    /// Values of a matrix before they are added.
    pub matrix: Vec<f64>,
    /// Values of M for the product M a.
    pub mass_matrix: Vec<f64>,
    /// The vector y in T⁻¹ y.
    pub tangent_argument: Vec<f64>,
    /// Residuals at the two ends of a central difference.
    pub residuals: [Vec<f64>; 2],
    /// One term of a residual, or one column of a matrix.
    pub term: Vec<f64>,
    /// Displaced velocities, or a unit vector.
    pub velocity: Vec<f64>,
    /// Displaced configurations: K needs a second one for the differences of G inside its own.
    pub points: [DifferencePoint; 2],
    pub phi: [Vec<f64>; 2],
    pub jacobian: Vec<f64>,
    pub inputs: [Vec<f64>; 2],
    /// T⁻¹, dense by rows; empty without rotations.
    pub inverse_tangent: Vec<f64>,
    /// m M + c C, dense by rows; empty without rotations.
    pub dense: Vec<f64>,
}

/// A displaced configuration.
pub(super) struct DifferencePoint {
    pub w: Vec<f64>,
    pub q: Vec<f64>,
}

impl DifferenceScratch {
    pub fn new(shape: &UserSystemShape, rotations: bool) -> Self {
        let size = shape.size;
        let (nv, nc) = (size.nv, size.nc);
        let entries = shape.pattern.tangent.len();
        let point = || DifferencePoint {
            w: vec![0.0; nv],
            q: vec![0.0; size.nq],
        };
        let two = |n: usize| [vec![0.0; n], vec![0.0; n]];
        Self {
            matrix: vec![0.0; entries],
            mass_matrix: vec![0.0; entries],
            tangent_argument: vec![0.0; if rotations { nv } else { 0 }],
            residuals: two(nv),
            term: vec![0.0; nv],
            velocity: vec![0.0; nv],
            points: [point(), point()],
            phi: two(nc),
            jacobian: vec![0.0; shape.pattern.jacobian.len()],
            inputs: two(size.inputs),
            inverse_tangent: vec![0.0; if rotations { nv * nv } else { 0 }],
            dense: vec![0.0; if rotations { nv * nv } else { 0 }],
        }
    }
}

impl<E: UserEquations> UserSystem<E> {
    /// Step of a difference along generalised velocity `j`.
    pub(super) fn step(&self, kappa: f64, j: usize, q: &[f64]) -> f64 {
        let stored = if self.rotations { 0.0 } else { q[j].abs() };
        (kappa * self.shape.weights[j]).max(SMALLEST_STEP * stored)
    }

    /// out = G by differences of Φ; NaN if Φ cannot be evaluated.
    pub(super) fn differenced_jacobian(&self, cx: &EvaluationContext, q: &[f64], out: &mut [f64]) {
        let DifferenceScratch { points, phi, .. } = &mut *self.scratch.lock();
        if let Err(failure) = self.difference_into(cx, q, &mut points[1], &mut phi[0], out) {
            self.failures.postpone(failure, cx.t);
            out.fill(f64::NAN);
        }
    }

    pub(super) fn difference_into(
        &self,
        cx: &EvaluationContext,
        q: &[f64],
        point: &mut DifferencePoint,
        phi: &mut [f64],
        out: &mut [f64],
    ) -> Evaluated {
        out.fill(0.0);
        let columns = &self.jacobian_columns;
        for g in 0..columns.groups() {
            for (steps, weight) in STENCIL {
                point.w.fill(0.0);
                for &j in columns.group(g) {
                    point.w[j as usize] = steps * self.step(FOURTH_ORDER_STEP, j as usize, q);
                }
                self.retract(q, &point.w, &mut point.q);
                self.evaluate(
                    Callback::Constraint,
                    &CallbackArguments::of_q(cx, &point.q),
                    phi,
                )?;
                for &j in columns.group(g) {
                    let scale = weight / self.step(FOURTH_ORDER_STEP, j as usize, q);
                    for &(k, i) in columns.column(j) {
                        out[k as usize] += scale * phi[i as usize];
                    }
                }
            }
        }
        Ok(())
    }

    /// out += Φ_t by differences along t; NaN if Φ cannot be evaluated.
    pub(super) fn differenced_rate(&self, cx: &EvaluationContext, q: &[f64], out: &mut [f64]) {
        let DifferenceScratch { phi, inputs, .. } = &mut *self.scratch.lock();
        let e = time_step(TIME_STEP, cx.t);
        let result = STENCIL.iter().try_for_each(|&(steps, weight)| {
            let cx = later(cx, steps * e, inputs);
            self.evaluate(
                Callback::Constraint,
                &CallbackArguments::of_q(&cx, q),
                &mut phi[0],
            )?;
            for i in 0..out.len() {
                out[i] += weight / e * phi[0][i];
            }
            Ok(())
        });
        if let Err(failure) = result {
            self.failures.postpone(failure, cx.t);
            out.fill(f64::NAN);
        }
    }

    /// out = γ by differences along the motion; NaN if a callback fails.
    pub(super) fn differenced_acceleration_bias(
        &self,
        cx: &EvaluationContext,
        q: &[f64],
        v: &[f64],
        out: &mut [f64],
    ) {
        if let Err(failure) = self.acceleration_bias_into(cx, q, v, out) {
            self.failures.postpone(failure, cx.t);
            out.fill(f64::NAN);
        }
    }

    fn acceleration_bias_into(
        &self,
        cx: &EvaluationContext,
        q: &[f64],
        v: &[f64],
        out: &mut [f64],
    ) -> Evaluated {
        let fixed = self.shape.promises.fixed_constraints;
        let has_rate = fixed || self.equations.has(Callback::ConstraintRate);
        // First differences of G v + Φ_t if both have callbacks, else second differences of Φ.
        let first = self.equations.has(Callback::Jacobian) && has_rate;
        let (kappa, longest) = match first {
            true => (FOURTH_ORDER_STEP, time_step(TIME_STEP, cx.t)),
            false => (SECOND_DIFFERENCE_STEP, time_step(SECOND_TIME_STEP, cx.t)),
        };
        out.fill(0.0);
        // The fastest coordinate moves by its step.
        let speed = (0..v.len()).fold(0.0, |s: f64, j| s.max(v[j].abs() / self.step(1.0, j, q)));
        if fixed && speed == 0.0 {
            return Ok(());
        }
        let e = match fixed {
            true => kappa / speed,
            false => longest.min(kappa / speed),
        };
        let DifferenceScratch {
            points: [point, _],
            phi: [phi, rate],
            jacobian: g,
            inputs,
            ..
        } = &mut *self.scratch.lock();
        let mut add = |s: f64, weight: f64| -> Evaluated {
            let cx = match fixed {
                true => *cx,
                false => later(cx, s, inputs),
            };
            for (w, v) in point.w.iter_mut().zip(v) {
                *w = s * v;
            }
            self.retract(q, &point.w, &mut point.q);
            let at = CallbackArguments::of_q(&cx, &point.q);
            if !first {
                self.evaluate(Callback::Constraint, &at, phi)?;
            } else {
                self.evaluate(Callback::Jacobian, &at, g)?;
                phi.fill(0.0);
                for (&(i, j), g) in self.shape.pattern.jacobian.iter().zip(&*g) {
                    phi[i as usize] += g * v[j as usize];
                }
                if !fixed {
                    self.evaluate(Callback::ConstraintRate, &at, rate)?;
                    for (phi, rate) in phi.iter_mut().zip(&*rate) {
                        *phi += rate;
                    }
                }
            }
            for (out, phi) in out.iter_mut().zip(&*phi) {
                *out += weight * phi;
            }
            Ok(())
        };
        if first {
            for (steps, weight) in STENCIL {
                add(steps * e, weight / e)?;
            }
            return Ok(());
        }
        for (steps, weight) in [
            (0.0, -30.0),
            (1.0, 16.0),
            (-1.0, 16.0),
            (2.0, -1.0),
            (-2.0, -1.0),
        ] {
            add(steps * e, weight / (12.0 * e * e))?;
        }
        Ok(())
    }
}

/// A step of about `e` in time that is not lost in the sum t + e.
fn time_step(e: f64, t: f64) -> f64 {
    let e = e.max(SMALLEST_STEP * t.abs());
    // A power of two, so that (t + e) − t = e wherever possible.
    exp2(log2(e).round())
}

/// The context a time `s` later, inputs extrapolated by their derivatives.
fn later<'a>(
    cx: &EvaluationContext<'a>,
    s: f64,
    [u, u_dot]: &'a mut [Vec<f64>; 2],
) -> EvaluationContext<'a> {
    for i in 0..u.len() {
        u[i] = cx.u[i] + s * (cx.u_dot[i] + 0.5 * s * cx.u_ddot[i]);
        u_dot[i] = cx.u_dot[i] + s * cx.u_ddot[i];
    }
    EvaluationContext {
        t: cx.t + s,
        u,
        u_dot,
        ..*cx
    }
}
