//! Looking at other points than the present one without changing anything the future depends on:
//!
//! ```text
//!   balance   A [q̈; λ] = [f(q, v, u, p); −γ]       at any q, v and with any inputs and parameters
//!   settle    the same after q and v have been put onto the constraints, by least motion
//! ```
//!
//! Only work space is used: the state is read, its counters stay. Rows and modes are those of the state.

use super::closure::{ClosureMatrix, ClosureOptions};
use super::tolerances::ASSEMBLY_CLOSURE;
use super::workspace::{PhasePoint, Problem, StepFailure};
use super::{Environment, Integrator, Sample, State, Statistics};
use crate::error::Result;
use crate::formulation::system::System;

/// Closes a position near the present one. It never fails for a residual.
const CLOSURE: ClosureOptions = ClosureOptions {
    target: ASSEMBLY_CLOSURE,
    redundant_target: None,
    give_up_above: f64::INFINITY,
    stall_ratio: f64::INFINITY,
    patience: 0,
    limit: 12,
    matrix: ClosureMatrix::Mass,
};

impl Integrator {
    /// The state has been replaced by another one: what was kept of the abandoned one is dropped (factors that serve
    /// more than one step, the step kept for interpolation).
    pub fn forget(&mut self) {
        self.segment.forget();
        self.work.factor_cache.drop_all();
    }

    /// Accelerations and multipliers at the `t`, `q`, `v` of `out`.
    pub fn balance_at(
        &mut self,
        system: &dyn System,
        env: &Environment,
        state: &State,
        out: &mut Sample,
    ) -> Result<()> {
        let (t, p) = self.look(system, env, state, out);
        let core = &mut self.work;
        let mut unused = Statistics::default();
        let outcome = core.factorise_mass(&p, t, &out.q, &out.v).and_then(|_| {
            let Sample {
                q, v, acc, lambda, ..
            } = out;
            core.accelerations(&p, PhasePoint { t, q, v }, acc, lambda, &mut unused)
        });
        core.counts = Default::default();
        outcome.map_err(|r: StepFailure| r.error(system, t, 0.0))
    }

    /// Puts the `q` and `v` of `out` onto the constraints at its `t`; then as [`Integrator::balance_at`].
    pub fn consistent_at(
        &mut self,
        system: &dyn System,
        env: &Environment,
        state: &State,
        out: &mut Sample,
    ) -> Result<()> {
        let (t, p) = self.look(system, env, state, out);
        let outcome = self.work.consistent(&p, t, out, &CLOSURE);
        outcome.map_err(|r: StepFailure| r.error(system, t, 0.0))
    }

    /// Rows and modes of the state.
    fn look<'a>(
        &mut self,
        system: &'a dyn System,
        env: &Environment<'a>,
        state: &'a State,
        out: &Sample,
    ) -> (f64, Problem<'a>) {
        self.work.select_active(system, state);
        let p = Problem {
            system,
            env: *env,
            modes: &state.modes,
        };
        (out.t, p)
    }
}
