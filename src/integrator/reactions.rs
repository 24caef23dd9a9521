//! Reactions at a point: the least multipliers that put the known forces on the bodies, rows that are left out included
//! (`constraint/reactions.rs`). Asked for by whoever reads a joint force, never by a step.
//!
//! Where coordinates hold some of the rows, the least of *all* multipliers is sought, with the bodies free of each other
//! ([`Whole`]); the own rows get their part of it, and the others follow from these by the balance of the bodies. So a
//! mechanism carries its loads in the same way in all coordinates and with any cut.

use super::full_constraints::FullConstraints;
use super::newton::culprit;
use super::workspace::{Problem, StepFailure, Workspace};
use super::{Environment, Integrator, Sample, State};
use crate::error::Result;
use crate::formulation::system::{FullConstraintSet, MotionPoint, System};

impl Integrator {
    /// The least reactions at the state, in place of its multipliers: equal to them unless rows are left out because they
    /// follow from others. Allocates nothing, changes nothing the future depends on.
    pub fn reactions(
        &mut self,
        system: &dyn System,
        env: &Environment,
        state: &State,
        lambda: &mut [f64],
    ) -> Result<()> {
        let p = Problem {
            system,
            env: *env,
            modes: &state.modes,
        };
        lambda.copy_from_slice(&state.lambda);
        let at = (&state.q[..], &state.v[..], &state.acc[..]);
        self.work
            .least_reactions(&p, state.t, at, &state.redundant, lambda)
    }

    /// The same for a point near the state, in the state's modes, in place of the sample's multipliers.
    pub fn reactions_near(
        &mut self,
        system: &dyn System,
        env: &Environment,
        state: &State,
        sample: &mut Sample,
    ) -> Result<()> {
        let p = Problem {
            system,
            env: *env,
            modes: &state.modes,
        };
        let Sample {
            t,
            q,
            v,
            acc,
            lambda,
            ..
        } = sample;
        self.work
            .least_reactions(&p, *t, (q, v, acc), &state.redundant, lambda)
    }

    /// The same for a sample of the last step ([`Integrator::interpolate`]), in place of its multipliers.
    pub fn sample_reactions(
        &mut self,
        system: &dyn System,
        env: &Environment,
        sample: &mut Sample,
    ) -> Result<()> {
        let p = Problem {
            system,
            env: *env,
            modes: self.segment.modes(),
        };
        let Sample {
            t,
            q,
            v,
            acc,
            lambda,
            ..
        } = sample;
        let dropped = self.segment.dropped();
        self.work
            .least_reactions(&p, *t, (q, v, acc), dropped, lambda)
    }
}

impl Workspace {
    /// Rows are left out from now on: room for reading reactions, so that a read need not make it.
    pub fn prepare_reactions(&mut self, system: &dyn System, dropped: &[bool]) {
        if dropped.contains(&true)
            || system
                .full_constraints()
                .is_some_and(FullConstraintSet::multipliers_hidden)
        {
            self.prepare_full_constraints(system);
        }
    }

    fn least_reactions(
        &mut self,
        p: &Problem,
        t: f64,
        (q, v, a): (&[f64], &[f64], &[f64]),
        dropped: &[bool],
        lambda: &mut [f64],
    ) -> Result<()> {
        self.mass_matrix.select_active(p.system, p.modes, &[]);
        let rows = self.mass_matrix.active().iter().zip(dropped);
        let complete = !rows.into_iter().any(|(&on, &dropped)| on && dropped);
        if complete
            && !p
                .system
                .full_constraints()
                .is_some_and(FullConstraintSet::multipliers_hidden)
        {
            return Ok(());
        }
        let Some(whole) = p.system.full_constraints() else {
            let outcome = self.least_of_own_rows(p, t, q, v, lambda);
            return outcome.map_err(|r| r.error(p.system, t, 0.0));
        };
        // After a start in another instance it may not be there yet.
        self.prepare_reactions(p.system, dropped);
        let outcome = self.least_of_all_rows(p, t, whole, &MotionPoint { q, v, a, lambda });
        // Its unknowns are those of the bodies, and so are the names.
        outcome.map_err(|r| r.error(whole.system(), t, 0.0))?;
        if let Some(all) = &self.full_constraints {
            for (l, &row) in lambda.iter_mut().zip(whole.constraint_rows()) {
                *l = all.lambda[row];
            }
        }
        Ok(())
    }

    fn least_of_own_rows(
        &mut self,
        p: &Problem,
        t: f64,
        q: &[f64],
        v: &[f64],
        lambda: &mut [f64],
    ) -> std::result::Result<(), StepFailure> {
        self.factor_cache.drop_factors();
        let cx = self.inputs.at(p, t);
        self.mass_matrix
            .load_mass(&self.sparsity, p.system, &cx, q, v)?;
        let Self {
            mass_matrix: mass,
            sparsity: st,
            evaluation,
            closure_scale,
            ..
        } = self;
        let r = &mut evaluation.force;
        r.fill(0.0);
        mass.matrix.add_jacobian_transposed(st, lambda, r);
        mass.minimum_norm_multipliers(st, closure_scale, r, lambda)
            .map(|_| ())
            .map_err(|e| StepFailure::Singular(culprit(e.unknown, st.nv())))
    }

    /// The least multipliers of all rows into `all_rows`.
    fn least_of_all_rows(
        &mut self,
        p: &Problem,
        t: f64,
        whole: &dyn FullConstraintSet,
        at: &MotionPoint,
    ) -> std::result::Result<(), StepFailure> {
        let Some(all) = &mut self.full_constraints else {
            return Ok(());
        };
        let cx = self.inputs.at(p, t);
        all.load(whole, &cx, (at.q, at.v))?;
        if whole.multipliers_hidden() {
            whole.constraint_forces(&cx, at, &mut all.load)?;
        } else {
            whole.multipliers(&cx, at, &mut all.lambda)?;
            all.load.fill(0.0);
            let matrix = &all.saddle.matrix;
            matrix.add_jacobian_transposed(&all.st, &all.lambda, &mut all.load);
        }
        let FullConstraints {
            st,
            saddle,
            scale,
            lambda,
            load,
            ..
        } = &mut **all;
        saddle
            .minimum_norm_multipliers(st, scale, load, lambda)
            .map(|_| ())
            .map_err(|e| StepFailure::Singular(culprit(e.unknown, st.nv())))
    }
}
