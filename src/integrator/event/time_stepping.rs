//! Time stepping (Moreau, Stewart and Trinkle): one step of impulses in place of events, where events come without progress in time or no
//! smooth step is found.
//!
//! ```text
//!   v_f = v + h q̈                          accelerations with all contacts open
//!   0 ≤ P_n ⟂ n·v⁺ + g/h ≥ 0,   |P_t| ≤ μ P_n,   v⁺ = v_f + Σ w P
//!   q⁺ = q ∘ h v⁺
//! ```
//!
//! The forces of the contacts over the step are part of P: nothing is located, so the cost is that of one impact, and the contacts that
//! close on the way touch at the end. It is of first order, therefore as short as the tolerance asks, and plastic. Statistics count it.

use super::super::Integrator;
use super::super::state::{Accepted, State, Statistics, StepPath};
use super::super::tolerances::CONSISTENT_VELOCITY;
use super::super::trial::StepFailure;
use super::super::workspace::{PhasePoint, Problem};
use super::crossing::is_beyond;
use super::impact::{Cause, ImpactSolver};
use crate::error::Result;

/// Consecutive events without progress in time after which a step of time stepping is taken: more than become constraints by themselves.
const DENSE_AFTER: u32 = 100;
/// Steps of time stepping in a row where no smooth step was found: so many share the cost of the trials that failed.
const AFTER_FAILURE: u32 = 30;
/// Motion of second order in a step, in tolerances.
const SECOND_ORDER: f64 = 0.1;

impl Integrator {
    /// Whether events come without progress in time, so that only time stepping goes on.
    pub(in crate::integrator) fn events_are_dense(&self, p: &Problem, s: &State) -> bool {
        s.event_streak > DENSE_AFTER && p.system.far_side_is_due()
    }

    /// Goes on by time stepping where no smooth step was found, if contacts are closed.
    pub(in crate::integrator) fn steps_by_time(&mut self, p: &Problem, s: &mut State) -> bool {
        if self.work.size.ne == 0 || !p.system.far_side_is_due() {
            return false;
        }
        let impacts = &mut self.impacts;
        impacts.modes.copy_from_slice(&s.modes);
        impacts.was_active.fill(false);
        p.system
            .deactivate_unilateral(&mut impacts.modes, &mut impacts.was_active);
        let closed = impacts.was_active.contains(&true);
        if closed {
            s.event_streak = DENSE_AFTER + AFTER_FAILURE;
        }
        closed
    }

    /// One step of time stepping, at most to `t_end`. If it fails, the state is to be restored.
    pub(in crate::integrator) fn time_step(
        &mut self,
        p: &Problem,
        s: &mut State,
        t_end: f64,
        stats: &mut Statistics,
    ) -> Result<Accepted> {
        self.back_up(s);
        self.impacts.clear();
        self.events.occurring.fill(false);
        self.events.motion_law_changes = false;
        p.system
            .deactivate_unilateral(&mut s.modes, &mut self.impacts.was_active);
        self.impacts.was_active.fill(false);
        let mut modes = std::mem::take(&mut self.contact_set.modes);
        modes.copy_from_slice(&s.modes);
        let open = Problem {
            modes: &modes,
            ..*p
        };
        let outcome = self.step_by_impulses(&open, s, t_end, stats);
        if outcome.is_ok() {
            self.commit_trial(&open, s);
        }
        self.contact_set.modes = modes;
        outcome?;
        let h = self.trial.h;
        s.event_streak = s.event_streak.saturating_sub(1).max(DENSE_AFTER);
        s.next_h = s.next_h.max(h);
        (s.first, s.may_grow) = (false, true);
        stats.note_accepted(h, 0.0, StepPath::TimeStepping);
        self.finish_impacts(p, s, 0.0, stats)?;
        self.restart_after_event(p, s, stats)?;
        Ok(Accepted { h, event: true })
    }

    /// The trial that impulses over h lead to; contacts with an impulse stay closed.
    fn step_by_impulses(
        &mut self,
        p: &Problem,
        s: &mut State,
        t_end: f64,
        stats: &mut Statistics,
    ) -> Result<()> {
        let Self { work, trial: y, .. } = self;
        let (t, system) = (s.t, p.system);
        let failed = |failure: StepFailure| failure.error(system, t, 0.0);
        work.select_active(p.system, s);
        work.factor_cache.drop_all();
        (work.factorise_mass(p, s.t, &s.q, &s.v)).map_err(failed)?;
        let at = PhasePoint {
            t: s.t,
            q: &s.q,
            v: &s.v,
        };
        y.lambda.fill(0.0);
        (work.accelerations(p, at, &mut y.acc, &mut y.lambda, stats)).map_err(failed)?;
        // 1/time² in which the motion changes by its own size: accelerations, and the curvature of turning.
        let time = work.time_scale(p, s.t, &s.q, &s.v, &y.acc, &s.scale);
        let h = (time * (SECOND_ORDER * work.settings.tolerance).sqrt())
            .max(work.control.smallest(s.t))
            .min(t_end - s.t);
        y.t = if h < t_end - s.t { s.t + h } else { t_end };
        y.h = y.t - s.t;
        for i in 0..y.v.len() {
            y.v[i] = s.v[i] + y.h * y.acc[i];
        }
        std::mem::swap(&mut s.v, &mut y.v);
        let outcome = self.add_impulses_over(p, s, stats);
        std::mem::swap(&mut s.v, &mut self.trial.v);
        outcome?;
        self.finish_trial(p, s).map_err(failed)
    }

    /// v += Σ w P of the contacts that would close within the trial with the velocities of the state. One that is open by g may close with
    /// the velocity g/h.
    fn add_impulses_over(
        &mut self,
        p: &Problem,
        s: &mut State,
        stats: &mut Statistics,
    ) -> Result<()> {
        let h = self.trial.h;
        let Self {
            work, contact_set, ..
        } = self;
        let cx = work.inputs.at(p, s.t);
        let at = s.motion_point();
        let (phi, rate) = (&mut contact_set.phi, &mut contact_set.rate);
        p.system.event_functions(&cx, &at, phi, rate);
        for i in 0..self.work.size.ne {
            let (gap, rate) = (self.contact_set.phi[i], self.contact_set.rate[i]);
            let crossing = p.system.crossing(p.modes, i);
            if !is_beyond(crossing, gap + h * rate) || !is_beyond(crossing, rate) {
                continue;
            }
            self.add_contact(p, s, i, Cause::Touching, stats);
        }
        for d in &mut self.impacts.directions {
            let gap = self.contact_set.phi[d.event];
            self.impacts.stays[d.event] = true;
            if d.friction.is_none() && !is_beyond(p.system.crossing(p.modes, d.event), gap) {
                d.allowed = gap.abs() / h;
            }
        }
        self.assemble_impact(p, s)?;
        self.impacts.solve_impulses(0.0);
        let ImpactSolver {
            directions,
            impulse,
            stays,
            ..
        } = &mut self.impacts;
        for (d, impulse) in directions.iter().zip(&*impulse) {
            if d.friction.is_none() {
                stays[d.event] = *impulse > 0.0;
            }
        }
        self.apply_impulses(s);
        Ok(())
    }

    /// Position and velocity at the end of the trial from its velocities.
    fn finish_trial(&mut self, p: &Problem, s: &State) -> std::result::Result<(), StepFailure> {
        let Self { work, trial: y, .. } = self;
        let h = y.h;
        for (theta, v) in y.theta.iter_mut().zip(&y.v) {
            *theta = h * v;
        }
        p.system.retract(&s.q, &y.theta, &mut y.q);
        if work.size.nc > 0 {
            work.factorise_mass(p, y.t, &y.q, &y.v)?;
            work.reassemble(p, y.t, &mut y.q, &y.v)?;
            work.factorise_mass(p, y.t, &y.q, &y.v)?;
            work.project_velocity(p, y.t, &y.q, &mut y.v, CONSISTENT_VELOCITY);
        }
        for i in 0..y.acc.len() {
            y.acc[i] = (y.v[i] - s.v[i]) / h;
        }
        y.a.copy_from_slice(&y.acc);
        for history in [&mut y.delta, &mut y.delta_dot, &mut y.jerk] {
            history.fill(0.0);
        }
        y.lambda_dot.fill(0.0);
        (y.jerk_known, y.corrected, y.smooth) = (false, false, false);
        (y.newton_contraction, y.contraction_uses) = (f64::INFINITY, 0);
        (y.growth, y.motion_time, y.pivot) = (1.0, s.motion_time, s.typical_pivot);
        (y.stiffness_limits, y.restarts_history) = (false, true);
        y.redundant_residual = (0.0, 0);
        Ok(())
    }
}
