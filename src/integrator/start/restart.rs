//! Restarts: after a change of modes, and after a jump of inputs or parameters.

use crate::error::Result;
use crate::formulation::system::{MotionPoint, System};
use crate::integrator::accelerations::{InitialGuess, JerkPoint};
use crate::integrator::singular_accelerations::SingularPoint;
use crate::integrator::state::{State, Statistics};
use crate::integrator::tolerances::{CONSISTENT_VELOCITY, JERK_RESIDUAL, OPEN_AFTER_ASSEMBLY};
use crate::integrator::trial::{StepFailure, Trial};
use crate::integrator::workspace::{PhasePoint, Problem, Workspace};
use crate::integrator::{Environment, Integrator};
use crate::model::Corrector;

impl Integrator {
    /// Makes accelerations and multipliers consistent with inputs or parameters that have jumped at the present time; the step
    /// history stays. A position that an input has moved is assembled again; then true is returned.
    pub fn apply_input_jump(
        &mut self,
        system: &dyn System,
        env: &Environment,
        state: &mut State,
    ) -> Result<bool> {
        let mut modes = std::mem::take(&mut self.modes);
        modes.copy_from_slice(&state.modes);
        let mut stats = state.statistics;
        let p = Problem {
            system,
            env: *env,
            modes: &modes,
        };
        let outcome = self.follow_input_jump(&p, state, &mut stats);
        self.work.collect(&mut stats);
        if outcome.is_ok() {
            (state.factored_step, state.factored_mass) = self.work.counted();
        }
        state.statistics = stats;
        self.modes = modes;
        outcome.map_err(|failure| failure.error(system, state.t, 0.0))
    }

    fn follow_input_jump(
        &mut self,
        p: &Problem,
        state: &mut State,
        stats: &mut Statistics,
    ) -> std::result::Result<bool, StepFailure> {
        let Self { work, trial: y, .. } = self;
        work.factor_cache.drop_all();
        work.select_active(p.system, state);
        let moved = work.character.moving_constraints
            && work.active_residual_at(p, state.t, &state.q).0 > OPEN_AFTER_ASSEMBLY;
        // The set point of a controller may have jumped.
        work.restart_integrals(p, state);
        let needs_jerk =
            work.settings.corrector == Corrector::Auto && state.corrector_suspension == 0;
        // In the trial, so that a failure leaves the state unchanged.
        work.consistent_trial(p, state, y, needs_jerk, stats)?;
        for i in 0..state.a.len() {
            state.a[i] += y.acc[i] - state.acc[i];
        }
        state.q.copy_from_slice(&y.q);
        state.v.copy_from_slice(&y.v);
        state.acc.copy_from_slice(&y.acc);
        state.lambda.copy_from_slice(&y.lambda);
        if needs_jerk {
            state.jerk.copy_from_slice(&y.jerk);
        }
        state.jerk_known = needs_jerk;
        state.forget_previous();
        if moved {
            // The motion restarts at another position, as after an event.
            stats.events += 1;
            if needs_jerk {
                state.restart_history();
            }
        }
        state.newton_contraction = f64::INFINITY;
        self.segment.forget();
        self.method.restart(&mut self.work, p, state)?;
        Ok(moved)
    }
}

impl Workspace {
    /// Computes q, v, q̈ and λ of the trial, consistent at the time and near the position of a state; and the jerk if needed.
    fn consistent_trial(
        &mut self,
        p: &Problem,
        s: &State,
        y: &mut Trial,
        needs_jerk: bool,
        stats: &mut Statistics,
    ) -> std::result::Result<(), StepFailure> {
        y.t = s.t;
        y.q.copy_from_slice(&s.q);
        y.v.copy_from_slice(&s.v);
        if self.character.moving_constraints {
            self.reassemble(p, y.t, &mut y.q, &y.v)?;
        }
        let pivots = self.factorise_mass(p, y.t, &y.q, &y.v)?;
        if self.character.moving_constraints {
            self.project_velocity(p, y.t, &y.q, &mut y.v, CONSISTENT_VELOCITY);
        }
        let Trial {
            t,
            q,
            v,
            acc,
            lambda,
            jerk,
            ..
        } = &mut *y;
        acc.copy_from_slice(&s.acc);
        let at = SingularPoint {
            t: *t,
            q,
            v,
            scale: &s.scale,
            acc,
            lambda,
            jerk,
        };
        if self.two_sided_accelerations(p, at, pivots, stats)? {
            return Ok(());
        }
        self.accelerations(p, PhasePoint { t: *t, q, v }, acc, lambda, stats)?;
        if needs_jerk {
            y.h = (s.next_h).min(self.time_scale(p, y.t, &y.q, &y.v, &y.acc, &s.scale));
            self.end_jerk(p, y, InitialGuess::Nothing(JERK_RESIDUAL), stats)?;
        }
        Ok(())
    }

    /// Solves for the accelerations of a state in new modes and restarts its history. At a singular position they are the
    /// two-sided ones.
    pub fn restart_accelerations(
        &mut self,
        p: &Problem,
        s: &mut State,
        stats: &mut Statistics,
    ) -> std::result::Result<(), StepFailure> {
        self.restart_integrals(p, s);
        let pivots = self.factorise_mass(p, s.t, &s.q, &s.v)?;
        if self.two_sided_accelerations(p, SingularPoint::of(s), pivots, stats)? {
            s.lambda_dot.fill(0.0);
            s.restart_history();
            return Ok(());
        }
        let State {
            t,
            q,
            v,
            acc,
            lambda,
            ..
        } = &mut *s;
        self.accelerations(p, PhasePoint { t: *t, q, v }, acc, lambda, stats)?;
        self.restart(p, s, stats)
    }

    /// Restarts the history of a state with consistent accelerations, at which the mass matrix is factorised.
    pub fn restart(
        &mut self,
        p: &Problem,
        s: &mut State,
        stats: &mut Statistics,
    ) -> std::result::Result<(), StepFailure> {
        // A fixed or proposed step may be too long for a difference.
        let h = (s.next_h).min(self.time_scale(p, s.t, &s.q, &s.v, &s.acc, &s.scale));
        self.state_jerk(p, s, h, stats)?;
        s.restart_history();
        Ok(())
    }

    /// Solves for the jerk and dλ/dt of a state; `h` sets the width of the difference.
    pub(super) fn state_jerk(
        &mut self,
        p: &Problem,
        s: &mut State,
        h: f64,
        stats: &mut Statistics,
    ) -> std::result::Result<(), StepFailure> {
        let State {
            t,
            q,
            v,
            acc: a,
            lambda,
            jerk,
            lambda_dot,
            ..
        } = s;
        let at = MotionPoint { q, v, a, lambda };
        let point = JerkPoint { t: *t, h, at };
        let guess = InitialGuess::Nothing(JERK_RESIDUAL);
        self.jerk(p, &point, guess, jerk, lambda_dot, stats)
    }
}
