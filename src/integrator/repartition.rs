//! Other coordinates for the same motion. A system that finds its coordinates bad at the end of a step rewrites position and rates
//! ([`crate::formulation::System::rechoose`]); accelerations and jerk are made anew from the equations there, and the motion begins
//! without history, as after an event. Nothing of the motion changes, only the numbers it is written in: the next step is of the
//! same order, and its estimate uses the exact jerk.

use super::Integrator;
use super::accelerations::InitialGuess;
use super::state::{State, Statistics};
use super::tolerances::JERK_RESIDUAL;
use super::workspace::{PhasePoint, Problem, StepFailure, Trial};

/// Regularity below which a step does not end if it can be helped ...
const NEAR: f64 = 3e-3;
/// ... unless this part of it is there at its start too.
const UNUSUAL: f64 = 0.25;

impl Integrator {
    /// The trial ends near a position in which its coordinates say nothing, and did not begin there: what follows from them is
    /// magnified rounding. One a little longer or shorter would not.
    pub(super) fn check_partition(&mut self, p: &Problem, s: &State) -> Result<(), StepFailure> {
        let Some(partitioning) = p.system.partitioning() else {
            return Ok(());
        };
        let conditioning = partitioning.conditioning(&self.trial.q);
        if conditioning < NEAR && conditioning < UNUSUAL * partitioning.conditioning(&s.q) {
            self.trial.pivot = conditioning;
            return Err(StepFailure::NearSingular);
        }
        Ok(())
    }

    /// Asks the system at the state. Worked out on the trial: if the equations cannot be solved there the old coordinates stay, and
    /// the next step tells what is wrong.
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
        if self.begin_there(&after, s, stats).is_ok() {
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

    /// Accelerations, multipliers and jerk of the trial's position.
    fn begin_there(
        &mut self,
        p: &Problem,
        s: &State,
        stats: &mut Statistics,
    ) -> Result<(), StepFailure> {
        let Self {
            work: core,
            trial: y,
            ..
        } = self;
        core.factor_cache.drop_all();
        y.t = s.t;
        core.factorise_mass(p, y.t, &y.q, &y.v)?;
        let Trial {
            t,
            q,
            v,
            acc,
            lambda,
            ..
        } = &mut *y;
        core.accelerations(p, PhasePoint { t: *t, q, v }, acc, lambda, stats)?;
        y.h = (s.next_h).min(core.time_scale(p, y.t, &y.q, &y.v, &y.acc, &s.scale));
        core.end_jerk(p, y, InitialGuess::Nothing(JERK_RESIDUAL), stats)?;
        Ok(())
    }
}
