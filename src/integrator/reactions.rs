//! Reaction forces at a point: the minimum-norm multipliers with the given constraint forces Gᵀλ, redundant constraints
//! included (`constraint/reactions.rs`). Computed on demand, never by a step.
//!
//! If coordinates eliminate some of the constraints, the minimum is that of the full constraint set
//! ([`FullConstraintSet`]). So the reaction forces of redundant joints do not depend on the coordinates, nor on the joints at
//! which loops are cut.

use super::full_constraints::FullConstraints;
use super::newton::culprit;
use super::trial::StepFailure;
use super::workspace::{Problem, Workspace};
use super::{Environment, Integrator, Sample, State};
use crate::error::Result;
use crate::formulation::system::{FullConstraintSet, MotionPoint, System};

impl Integrator {
    /// Minimum-norm multipliers at the state. They equal its multipliers unless constraints are redundant. Does not allocate, and
    /// does not change the state.
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
        self.work.set_integrals(&state.integrals);
        lambda.copy_from_slice(&state.lambda);
        let at = (&state.q[..], &state.v[..], &state.acc[..]);
        self.work
            .minimum_norm_reactions(&p, state.t, at, &state.redundant, lambda)
    }

    /// Replaces the multipliers of a sample near the state by the minimum-norm ones, in the modes of the state.
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
        self.work.set_integrals(&state.integrals);
        let Sample {
            t,
            q,
            v,
            acc,
            lambda,
            ..
        } = sample;
        self.work
            .minimum_norm_reactions(&p, *t, (q, v, acc), &state.redundant, lambda)
    }

    /// The same for a sample of the last step ([`Integrator::interpolate`]).
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
        self.work.set_integrals(self.segment.integrals());
        let Sample {
            t,
            q,
            v,
            acc,
            lambda,
            ..
        } = sample;
        let redundant = self.segment.redundant();
        self.work
            .minimum_norm_reactions(&p, *t, (q, v, acc), redundant, lambda)
    }
}

impl Workspace {
    /// Allocates the full constraint set if reaction forces will need it, so that reading them does not allocate.
    pub fn prepare_reactions(&mut self, system: &dyn System, redundant: &[bool]) {
        if redundant.contains(&true)
            || system
                .full_constraints()
                .is_some_and(FullConstraintSet::multipliers_hidden)
        {
            self.prepare_full_constraints(system);
        }
    }

    /// Replaces `lambda` by the minimum-norm multipliers at a point.
    fn minimum_norm_reactions(
        &mut self,
        p: &Problem,
        t: f64,
        (q, v, a): (&[f64], &[f64], &[f64]),
        redundant: &[bool],
        lambda: &mut [f64],
    ) -> Result<()> {
        self.mass_matrix.select_active(p.system, p.modes, &[]);
        let rows = self.mass_matrix.active().iter().zip(redundant);
        let complete = !rows.into_iter().any(|(&on, &redundant)| on && redundant);
        if complete
            && !p
                .system
                .full_constraints()
                .is_some_and(FullConstraintSet::multipliers_hidden)
        {
            return Ok(());
        }
        let Some(full) = p.system.full_constraints() else {
            let outcome = self.minimum_norm_of_system(p, t, q, v, lambda);
            return outcome.map_err(|r| r.error(p.system, t, 0.0));
        };
        // Not allocated yet if the state was started in another instance.
        self.prepare_reactions(p.system, redundant);
        let outcome = self.minimum_norm_of_full_set(p, t, full, &MotionPoint { q, v, a, lambda });
        // The unknowns are those of the bodies, and so are the names in an error.
        outcome.map_err(|r| r.error(full.system(), t, 0.0))?;
        if let Some(all) = &self.full_constraints {
            for (l, &row) in lambda.iter_mut().zip(full.constraint_rows()) {
                *l = all.lambda[row];
            }
        }
        Ok(())
    }

    /// Minimum-norm multipliers of the constraints of the system.
    fn minimum_norm_of_system(
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

    /// Minimum-norm multipliers of the full constraint set.
    fn minimum_norm_of_full_set(
        &mut self,
        p: &Problem,
        t: f64,
        full: &dyn FullConstraintSet,
        at: &MotionPoint,
    ) -> std::result::Result<(), StepFailure> {
        let Some(all) = &mut self.full_constraints else {
            return Ok(());
        };
        let cx = self.inputs.at(p, t);
        all.load(full, &cx, (at.q, at.v))?;
        if full.multipliers_hidden() {
            full.constraint_forces(&cx, at, &mut all.load)?;
        } else {
            full.multipliers(&cx, at, &mut all.lambda)?;
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
