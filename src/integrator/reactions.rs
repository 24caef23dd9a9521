//! Reactions at a point: the least multipliers that put the known forces on the bodies, rows that are left out included
//! (`constraint/reactions.rs`). Asked for by whoever reads a joint force, never by a step.

use super::core::{Core, Problem};
use super::{Environment, Integrator, Sample, State};
use crate::constraint::reactions::least;
use crate::error::Result;
use crate::formulation::System;

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
        let at = (state.t, &state.q[..], &state.v[..]);
        self.core.least_reactions(&p, at, &state.dropped, lambda)
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
            t, q, v, lambda, ..
        } = sample;
        self.core
            .least_reactions(&p, (*t, q, v), &state.dropped, lambda)
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
            t, q, v, lambda, ..
        } = sample;
        let dropped = self.segment.dropped();
        self.core.least_reactions(&p, (*t, q, v), dropped, lambda)
    }
}

impl Core {
    fn least_reactions(
        &mut self,
        p: &Problem,
        (t, q, v): (f64, &[f64], &[f64]),
        dropped: &[bool],
        lambda: &mut [f64],
    ) -> Result<()> {
        self.mass.select(p.system, p.modes, &[]);
        let rows = self.mass.active().iter().zip(dropped);
        if !rows.into_iter().any(|(&on, &dropped)| on && dropped) {
            return Ok(());
        }
        if p.system.lift().is_some() {
            return Ok(());
        }
        self.kept.drop_factors();
        let cx = self.inputs.at(p, t);
        let loaded = self.mass.load_mass(&self.st, p.system, &cx, q, v);
        let Self {
            mass,
            st,
            scratch,
            closure_scale,
            ..
        } = self;
        let [r, x, ..] = &mut scratch.v;
        let [dl, ..] = &mut scratch.c;
        let outcome = loaded.map_err(super::Refusal::from).and_then(|()| {
            r.fill(0.0);
            mass.matrix.add_jacobian_transposed(st, lambda, r);
            let mut solves = 0;
            let (matrix, factor) = (&mut mass.matrix, &mut mass.factor);
            least(
                st,
                matrix,
                factor,
                closure_scale,
                r,
                lambda,
                x,
                dl,
                &mut solves,
            )
            .map(|_| ())
            .map_err(|e| super::Refusal::Singular(super::newton::culprit(e.unknown, st.nv())))
        });
        outcome.map_err(|r| r.error(p.system, t, 0.0))
    }
}
