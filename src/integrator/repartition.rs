//! Other independent coordinates for the same motion. A system whose coordinates are badly conditioned at the end of a step
//! rewrites position and velocity ([`CoordinatePartitioning::repartition`]); accelerations and jerk are computed from the
//! equations there, and the motion continues without history, as after an event. The motion itself is unchanged: the next
//! step has the same order, and its error estimate uses the exact jerk.
//!
//! [`CoordinatePartitioning::repartition`]: crate::formulation::system::CoordinatePartitioning::repartition

use super::Integrator;
use super::accelerations::InitialGuess;
use super::state::{State, Statistics};
use super::tolerances::JERK_RESIDUAL;
use super::trial::{StepFailure, Trial};
use super::workspace::{PhasePoint, Problem};

/// Conditioning of the dependent coordinates below which the end of a step is moved if it can be ...
const NEAR_SINGULAR: f64 = 3e-3;
/// ... and if it is below this part of the conditioning at the start: some mechanisms are badly conditioned everywhere.
const UNUSUAL_PART: f64 = 0.25;

impl Integrator {
    /// Fails if the dependent coordinates are badly conditioned at the end of the trial but not at its start: they would
    /// amplify rounding there. A slightly longer or shorter step would not end there.
    pub(super) fn check_partition(&mut self, p: &Problem, s: &State) -> Result<(), StepFailure> {
        let Some(partitioning) = p.system.partitioning() else {
            return Ok(());
        };
        let conditioning = partitioning.conditioning(&self.trial.q);
        if conditioning < NEAR_SINGULAR
            && conditioning < UNUSUAL_PART * partitioning.conditioning(&s.q)
        {
            self.trial.pivot = conditioning;
            return Err(StepFailure::NearSingular);
        }
        Ok(())
    }

    /// Lets the system choose other independent coordinates at the state. The new ones are computed in the trial: if the
    /// equations cannot be solved there, the old ones stay, and the next step reports what is wrong.
    pub(super) fn repartition(&mut self, p: &Problem, s: &mut State, stats: &mut Statistics) {
        let Some(partitioning) = p.system.partitioning() else {
            return;
        };
        self.trial.q.copy_from_slice(&s.q);
        self.trial.v.copy_from_slice(&s.v);
        if !partitioning.repartition(&mut self.trial.q, &mut self.trial.v) {
            return;
        }
        // An event may have changed the modes.
        let mut modes = std::mem::take(&mut self.modes_after);
        modes.copy_from_slice(&s.modes);
        let after = Problem {
            modes: &modes,
            ..*p
        };
        if self.restart_in_trial(&after, s, stats).is_ok() {
            s.q.copy_from_slice(&self.trial.q);
            s.v.copy_from_slice(&self.trial.v);
            s.acc.copy_from_slice(&self.trial.acc);
            s.lambda.copy_from_slice(&self.trial.lambda);
            s.jerk.copy_from_slice(&self.trial.jerk);
            s.lambda_dot.copy_from_slice(&self.trial.lambda_dot);
            s.restart_history();
        }
        self.modes_after = modes;
    }

    /// Computes accelerations, multipliers and jerk at the position of the trial.
    fn restart_in_trial(
        &mut self,
        p: &Problem,
        s: &State,
        stats: &mut Statistics,
    ) -> Result<(), StepFailure> {
        let Self { work, trial: y, .. } = self;
        work.factor_cache.drop_all();
        y.t = s.t;
        work.factorise_mass(p, y.t, &y.q, &y.v)?;
        let Trial {
            t,
            q,
            v,
            acc,
            lambda,
            ..
        } = &mut *y;
        work.accelerations(p, PhasePoint { t: *t, q, v }, acc, lambda, stats)?;
        y.h = (s.next_h).min(work.time_scale(p, y.t, &y.q, &y.v, &y.acc, &s.scale));
        work.end_jerk(p, y, InitialGuess::Nothing(JERK_RESIDUAL), stats)
    }
}
