//! A system given by callbacks of the user, completed where callbacks are missing. They give
//!
//! ```text
//!   M(q) or M(q) a,      f(q, v, t, u, p),      Φ(q, t, u, p)
//! ```
//!
//! and some derivatives; the others are approximated by differences ([`difference`]). A callback may fail at a point. A [`System`]
//! can report that only where it evaluates forces or matrices; elsewhere the result is NaN, and the failure is kept
//! ([`failure`]) until the next evaluation that can report it.

mod column_groups;
mod difference;
mod equations;
mod failure;
mod shape;
mod system;
mod tangent;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::cache::Cached;
use super::{Evaluated, EvaluationContext, System};
use crate::error::Result;
use column_groups::ColumnGroups;
use difference::DifferenceScratch;
pub use equations::{Callback, CallbackArguments, CallbackResult, UserEquations, UserProperties};
pub use failure::{CallbackFailure, CallbackFailures, FailureKind};
pub use shape::UserSystemShape;

/// A user-defined system.
pub struct UserSystem<E> {
    equations: E,
    shape: UserSystemShape,
    /// The entries of `shape.pattern.tangent`, then the transposed entries (j, i) that it does not have.
    tangent: Vec<(u32, u32)>,
    tangent_columns: ColumnGroups,
    jacobian_columns: ColumnGroups,
    /// Configurations are not a vector space.
    rotations: bool,
    failures: Arc<CallbackFailures>,
    scratch: Cached<DifferenceScratch>,
}

impl<E: UserEquations> UserSystem<E> {
    /// Checks the callbacks and dimensions.
    pub fn new(equations: E, mut shape: UserSystemShape) -> Result<Self> {
        shape.validate(&equations)?;
        let nv = shape.size.nv;
        let mut tangent = shape.pattern.tangent.clone();
        let mut sorted: Vec<(u32, u32)> = tangent.clone();
        sorted.sort_unstable();
        for &(i, j) in &shape.pattern.tangent {
            if sorted.binary_search(&(j, i)).is_err() {
                tangent.push((j, i));
            }
        }
        shape.v.resize(nv, 0.0);
        let rotations = equations.has(Callback::Retract);
        let mut system = Self {
            tangent_columns: ColumnGroups::new(nv, nv, &shape.pattern.tangent),
            jacobian_columns: ColumnGroups::new(shape.size.nc, nv, &shape.pattern.jacobian),
            scratch: Cached::new(DifferenceScratch::new(&shape, rotations)),
            failures: Arc::default(),
            rotations,
            tangent,
            equations,
            shape,
        };
        if system.shape.constraint_scales.is_empty() {
            system.shape.constraint_scales = system.initial_constraint_scales();
        }
        Ok(system)
    }

    /// The failures of callbacks, for error messages.
    pub fn failures(&self) -> Arc<CallbackFailures> {
        Arc::clone(&self.failures)
    }

    /// Σ |G_ij| magnitude_j in the initial configuration; 1 if G cannot be evaluated there.
    fn initial_constraint_scales(&self) -> Vec<f64> {
        let modes = vec![0; self.shape.size.modes];
        let still = vec![0.0; self.shape.size.inputs];
        let cx = EvaluationContext {
            t: 0.0,
            u: &self.shape.inputs,
            u_dot: &still,
            u_ddot: &still,
            p: &self.shape.parameters,
            modes: &modes,
            integrals: &[],
        };
        let mut values = vec![0.0; self.shape.pattern.jacobian.len()];
        self.jacobian(&cx, &self.shape.q, &mut values);
        self.failures.clear();
        let mut scales = vec![0.0; self.shape.size.nc];
        for (&(i, j), g) in self.shape.pattern.jacobian.iter().zip(&values) {
            scales[i as usize] += g.abs() * self.initial_magnitude(j as usize);
        }
        for scale in &mut scales {
            if !(*scale > 0.0 && scale.is_finite()) {
                *scale = 1.0;
            }
        }
        scales
    }

    /// Magnitude of coordinate `j`: its weight, or its initial value if that is larger.
    fn initial_magnitude(&self, j: usize) -> f64 {
        let stored = if self.rotations { 0.0 } else { self.shape.q[j] };
        self.shape.weights[j].max(stored.abs())
    }

    /// Evaluates a callback where a failure can be returned.
    fn evaluate(&self, callback: Callback, at: &CallbackArguments, out: &mut [f64]) -> Evaluated {
        // While a failure is pending no callback is called: the arguments may be NaN.
        self.failures.report(at.cx.t)?;
        out.fill(0.0);
        let answer = self.equations.evaluate(callback, at, out);
        self.failures.check(callback, at.cx.t, answer, out)
    }

    /// Evaluates a callback where a failure cannot be returned: the output is NaN and the failure pending.
    fn evaluate_or_nan(&self, callback: Callback, at: &CallbackArguments, out: &mut [f64]) {
        if let Err(failure) = self.evaluate(callback, at, out) {
            self.failures.postpone(failure, at.cx.t);
            out.fill(f64::NAN);
        }
    }

    /// Evaluates a callback of the configuration space; it does not know the time.
    fn group(&self, callback: Callback, x: &[f64], y: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        let answer = self.equations.group(callback, x, y, out);
        if let Err(failure) = self.failures.check(callback, f64::NAN, answer, out) {
            self.failures.postpone(failure, f64::NAN);
            out.fill(f64::NAN);
        }
    }

    /// Callbacks of events cannot ask for a smaller step: every failure is fatal.
    fn require_success(&self, callback: Callback, t: f64, answer: CallbackResult) {
        if answer != 0 {
            self.failures.stop(callback, t, answer);
        }
    }
}
