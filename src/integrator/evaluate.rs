//! Evaluation at points other than the present one, without changing the state or its counters.
//!
//! ```text
//!   balance_at      A [q̈; λ] = [f(q, v, u, p); −γ]       at any q, v and with any inputs and parameters
//!   consistent_at   the same after q has been closed and v projected
//! ```
//!
//! Modes and redundant constraints are those of the state.

use super::closure::{ClosureMatrix, ClosureOptions};
use super::tolerances::{ASSEMBLY_CLOSURE, CONSISTENT_VELOCITY, OPEN_AFTER_ASSEMBLY};
use super::trial::StepFailure;
use super::workspace::{PhasePoint, Problem, Workspace};
use super::{Environment, Integrator, Sample, SampleLevel, State, Statistics};
use crate::error::Result;
use crate::formulation::system::System;

/// Closes a position near the present one. It never fails for a residual.
const CLOSURE: ClosureOptions = ClosureOptions {
    target: ASSEMBLY_CLOSURE,
    corrects_once: false,
    redundant_target: None,
    give_up_above: f64::INFINITY,
    stall_ratio: f64::INFINITY,
    patience: 0,
    limit: 12,
    matrix: ClosureMatrix::Mass,
};

impl Integrator {
    /// Drops all that belongs to the history of a replaced state: cached factorisations and the step kept for interpolation.
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
        let p = self.problem_of(system, env, state);
        let work = &mut self.work;
        let Sample {
            t,
            q,
            v,
            acc,
            lambda,
            ..
        } = out;
        let outcome = work.factorise_mass(&p, *t, q, v).and_then(|_| {
            let at = PhasePoint { t: *t, q, v };
            work.accelerations(&p, at, acc, lambda, &mut Statistics::default())
        });
        work.counts = Default::default();
        outcome.map_err(|failure| failure.error(system, *t, 0.0))
    }

    /// A point inside the last accepted step, `t` between its ends.
    pub fn interpolate(
        &mut self,
        system: &dyn System,
        env: &Environment,
        t: f64,
        out: &mut Sample,
    ) -> Result<()> {
        self.interpolate_to(system, env, t, SampleLevel::Accelerations, out)
    }

    /// Closes the `q` and projects the `v` of `out` at its `t`; then as [`Integrator::balance_at`].
    pub fn consistent_at(
        &mut self,
        system: &dyn System,
        env: &Environment,
        state: &State,
        out: &mut Sample,
    ) -> Result<()> {
        let p = self.problem_of(system, env, state);
        let outcome =
            (self.work).make_sample_consistent(&p, out, &CLOSURE, SampleLevel::Accelerations);
        outcome.map_err(|failure| failure.error(system, out.t, 0.0))
    }

    /// The problem in the modes of the state, with its active constraints selected.
    fn problem_of<'a>(
        &mut self,
        system: &'a dyn System,
        env: &Environment<'a>,
        state: &'a State,
    ) -> Problem<'a> {
        self.work.select_active(system, state);
        Problem {
            system,
            env: *env,
            modes: &state.modes,
        }
    }
}

impl Workspace {
    /// Closes the position of a sample, projects its velocity and, at that level, solves for its accelerations and
    /// multipliers. The work is not counted.
    pub fn make_sample_consistent(
        &mut self,
        p: &Problem,
        out: &mut Sample,
        closure: &ClosureOptions,
        level: SampleLevel,
    ) -> std::result::Result<(), StepFailure> {
        let t = out.t;
        let singular = self.deactivate_singular_constraints(p, t, &out.q, &out.v)?;
        if self.size.nc > 0 {
            self.close_position(p, t, &mut out.q, &out.v, closure, &mut [])
                .map_err(|failure| failure.of_point(OPEN_AFTER_ASSEMBLY))?;
            let cx = self.inputs.at(p, t);
            self.mass_matrix
                .load_mass(&self.sparsity, p.system, &cx, &out.q, &out.v)?;
            self.project_velocity(p, t, &out.q, &mut out.v, CONSISTENT_VELOCITY);
        }
        let (q, v, acc, lambda) = (&out.q, &out.v, &mut out.acc, &mut out.lambda);
        let at = PhasePoint { t, q, v };
        let outcome = if level == SampleLevel::Velocities {
            Ok(())
        } else if singular {
            self.project_motion(p, at, acc, lambda)
        } else {
            self.accelerations(p, at, acc, lambda, &mut Statistics::default())
        };
        self.counts = Default::default();
        outcome
    }
}
