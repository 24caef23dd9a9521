//! The step loop. Read this file first:
//!
//! ```text
//!   advance    handle events that are due, then one accepted step
//!   step       plan → try_step → error test → accept
//!                        ↑                ↘ on_error_test_failure: shorter step
//!                        └─────────────────── on_step_failure: move the end | update redundancy | shorter step | fail
//! ```
//!
//! The formulas of a trial step are those of a [`Method`](super::method::Method); nothing here depends on which one it is.

use std::f64::consts::FRAC_PI_2;

use super::controller::{FAILURE_RATIO, StepControl};
use super::singularity::typical_pivot;
use super::state::{Accepted, State, Statistics, StepPath};
use super::tolerances::REDUNDANT_RESIDUAL;
use super::trial::{NearSingular, StepEnd, StepFailure, StepTarget, TrialOptions, TrialPlan};
use super::workspace::Problem;
use super::{Environment, Integrator};
use crate::error::{Error, Result};
use crate::formulation::system::System;

/// Contraction trials that a failed trial costs: a corrector that fails twice does not fail for the length of the step.
const FAILED_CORRECTOR: u32 = 3;

impl Integrator {
    /// One accepted step towards `t_end`, landing on it exactly by the stretch rule. On an error the state is the last
    /// accepted one.
    pub fn advance(
        &mut self,
        system: &dyn System,
        env: &Environment,
        state: &mut State,
        t_end: f64,
    ) -> Result<Accepted> {
        let mut modes = std::mem::take(&mut self.modes);
        let mut stats = state.statistics;
        self.work.factor_cache.counted_step = state.factored_step;
        self.work.factor_cache.counted_mass = state.factored_mass;
        let contraction = state.newton_contraction;
        self.has_backup = false;
        let mut wedged = false;
        let outcome = loop {
            modes.copy_from_slice(&state.modes);
            let p = Problem {
                system,
                env: *env,
                modes: &modes,
            };
            self.work.select_active(system, state);
            if self.events_are_dense(&p, state) {
                break self.time_step(&p, state, t_end, &mut stats);
            }
            // Events caused by an input jump or by the last event come first; they may change the modes.
            match self.handle_due_events(&p, state, &mut stats) {
                Ok(true) => {}
                Ok(false) => match self.step(&p, state, t_end, &mut stats) {
                    Err(error @ Error::StepTooSmall { .. }) => {
                        // Friction that wedges stops its contact; once, then the motion goes on or fails.
                        if !wedged
                            && matches!(
                                self.release_wedged_contact(&p, state, &mut stats),
                                Ok(true)
                            )
                        {
                            wedged = true;
                            continue;
                        }
                        self.restore(state);
                        // Contacts for which no smooth step is found.
                        if self.steps_by_time(&p, state) {
                            break (self.time_step(&p, state, t_end, &mut stats))
                                .map_err(|_| error);
                        }
                        break Err(error);
                    }
                    outcome => break outcome,
                },
                Err(error) => break Err(error),
            }
        };
        self.work.collect(&mut stats);
        if outcome.is_ok() {
            (state.factored_step, state.factored_mass) = self.work.counted();
        } else {
            state.newton_contraction = contraction;
            if self.has_backup {
                self.segment.forget();
            }
            self.restore(state);
        }
        state.statistics = stats;
        self.modes = modes;
        outcome
    }

    /// Tries steps until one is accepted.
    fn step(
        &mut self,
        p: &Problem,
        s: &mut State,
        t_end: f64,
        stats: &mut Statistics,
    ) -> Result<Accepted> {
        let mut plan = TrialPlan::new(&self.work.control, s, t_end);
        loop {
            let target = plan.target();
            plan.step.h = target.h;
            match self.try_step(p, s, target, stats) {
                Ok(error) if self.work.control.accepts(error) => {
                    return self.accept(p, s, &plan, error, stats);
                }
                Ok(error) => {
                    self.note_error_test(p, s, plan.step.h, error);
                    self.on_error_test_failure(error, &mut plan, p, s, stats)?;
                }
                Err(failure) => {
                    self.note_failure(p, s, plan.step.h, failure);
                    self.on_step_failure(failure, &mut plan, p, s, stats)?;
                }
            }
        }
    }

    /// One trial step; returns the estimated error over the tolerance. The trial holds the result.
    pub(super) fn try_step(
        &mut self,
        p: &Problem,
        s: &State,
        target: StepTarget,
        stats: &mut Statistics,
    ) -> std::result::Result<f64, StepFailure> {
        let avoids = self.work.size.nc > 0 && self.method.avoids_singularities();
        let fixed = self.work.control.fixed().is_some();
        let error = if avoids && target.end != StepEnd::Forced {
            self.try_step_avoiding_singularity(p, s, target, stats)?
        } else {
            {
                let options = TrialOptions::new(NearSingular::Accept, target.slow_contraction);
                self.trial_step(p, s, (target.h, target.t1), options, stats)?
            }
        };
        if self.repartitions && target.end == StepEnd::Movable {
            self.check_partition(p, s)?;
        }
        self.check_redundant_constraints(p, error)?;
        if self.work.character.rotations && !fixed {
            self.check_rotations(p, s)?;
        }
        Ok(error)
    }

    /// Fails if the trial turns a body by more than half a turn. The rotation between the ends of a step is the shorter one of two,
    /// so that neither values inside the step nor counted turns would be right. That of the step is
    /// `Θ ≈ h/2 (v₀ + v₁) − h²/12 (q̈₁ − q̈₀)`; the other one differs from it by a whole turn, 2π, and by π in the error norm.
    fn check_rotations(&mut self, p: &Problem, s: &State) -> std::result::Result<(), StepFailure> {
        let Self { work, trial: y, .. } = self;
        let w = &mut work.evaluation.displacement;
        p.system.difference(&s.q, &y.q, w);
        let (h2, h12) = (0.5 * y.h, y.h * y.h / 12.0);
        for i in 0..w.len() {
            w[i] -= h2 * (s.v[i] + y.v[i]) - h12 * (y.acc[i] - s.acc[i]);
        }
        let cx = work.inputs.at(p, y.t);
        let missed = p
            .system
            .norm(&cx, &y.q, &s.scale, &work.evaluation.displacement);
        match missed > FRAC_PI_2 {
            true => Err(StepFailure::HalfTurn),
            false => Ok(()),
        }
    }

    /// Fails if a trial that would be accepted violates a constraint that is treated as redundant.
    fn check_redundant_constraints(
        &self,
        p: &Problem,
        error: f64,
    ) -> std::result::Result<(), StepFailure> {
        let (by, row) = self.trial.redundant_residual;
        let closed = by <= REDUNDANT_RESIDUAL * p.system.coordinate_magnitude(&self.trial.q);
        if closed || !self.work.control.accepts(error) {
            Ok(())
        } else {
            Err(StepFailure::RedundancyLost { row, by })
        }
    }

    /// Plans a shorter step because the estimated error is above the tolerance.
    fn on_error_test_failure(
        &mut self,
        error: f64,
        plan: &mut TrialPlan,
        p: &Problem,
        s: &mut State,
        stats: &mut Statistics,
    ) -> Result<()> {
        stats.rejected += 1;
        s.newton_contraction = f64::INFINITY;
        let h = plan.limit_after_error(self.work.control.after_rejected(plan.step.h, error));
        if h < self.work.control.smallest(s.t) {
            let worst = self.method.worst_coordinate(&self.trial);
            return Err(Error::StepTooSmall {
                time: s.t,
                step: h,
                reason: "the estimated error stayed above the tolerance",
                culprit: p.system.coordinate_name(worst),
            });
        }
        plan.shorten(h);
        Ok(())
    }

    /// Plans another trial after one that failed, or returns the error that ends the run: moves the end, updates the set of
    /// redundant constraints, or shortens the step.
    fn on_step_failure(
        &mut self,
        failure: StepFailure,
        plan: &mut TrialPlan,
        p: &Problem,
        s: &mut State,
        stats: &mut Statistics,
    ) -> Result<()> {
        match failure {
            StepFailure::NearSingular => {
                plan.move_end(self.trial.pivot, &self.work.control);
                stats.event_repeats += 1;
                return Ok(());
            }
            StepFailure::SlowContraction { ratio }
                if ratio * plan.step.h >= self.work.control.smallest(s.t) =>
            {
                plan.spend_contraction_trials(1);
                plan.shorten(ratio * plan.step.h);
                stats.rejected += 1;
                return Ok(());
            }
            StepFailure::SlowContraction { .. } => {
                plan.spend_contraction_trials(u32::MAX);
                return Ok(());
            }
            StepFailure::HalfTurn => {
                plan.shorten(FAILURE_RATIO * plan.step.h);
                stats.rejected += 1;
                return Ok(());
            }
            StepFailure::RedundancyLost { .. }
                if self.method.updates_redundancy()
                    && plan.rank_updates <= self.work.size.nc
                    && self.update_redundancy(p, s, stats) =>
            {
                plan.rank_updates += 1;
                stats.event_repeats += 1;
                return Ok(());
            }
            _ => {}
        }
        stats.newton_failures += 1;
        plan.spend_contraction_trials(FAILED_CORRECTOR);
        s.newton_contraction = f64::INFINITY;
        let control = &self.work.control;
        let (h, smallest) = (plan.step.h, control.smallest_retried(self.work.size.ne > 0));
        if failure.is_fatal() || smallest.is_infinite() {
            return Err(failure.error(p.system, s.t, h));
        }
        if h <= smallest {
            return Err(failure.fixed_step_too_small(p.system, s.t, h));
        }
        if matches!(failure, StepFailure::Newton { .. })
            && self.trial.amplifies_rounding(s)
            && plan.leap(control)
        {
            return Ok(());
        }
        let h = h * FAILURE_RATIO;
        if h < control.smallest(s.t) {
            return Err(failure.step_too_small(p.system, s.t, h));
        }
        plan.shorten(h);
        Ok(())
    }

    /// Makes the trial the new state, unless an event cuts it short; then up to the event.
    fn accept(
        &mut self,
        p: &Problem,
        s: &mut State,
        plan: &TrialPlan,
        error: f64,
        stats: &mut Statistics,
    ) -> Result<Accepted> {
        let control = &self.work.control;
        let growth = StepControl::growth(s.first, plan.may_grow).min(self.trial.growth);
        let next_h = control.after_accepted(plan.step, s.next_h, error, growth);
        let located = if self.work.size.ne > 0 {
            self.locate_event(p, s, stats)?
        } else {
            None
        };
        if located.is_some() {
            self.back_up(s);
        }
        self.method
            .complete_accepted(&mut self.work, p, s, &mut self.trial, stats);
        let h = self.trial.h;
        self.commit_trial(p, s);
        s.next_h = next_h.min(self.events.step_limit);
        (s.first, s.may_grow) = (false, true);
        let y = &self.trial;
        let path = match y.corrected {
            true if y.smooth && !y.restarts_history => StepPath::Smooth,
            true => StepPath::Corrected,
            false => StepPath::Plain,
        };
        stats.note_accepted(h, error, path);
        self.handle_end_of_step(p, s, located, stats)?;
        if self.repartitions {
            self.repartition(p, s, stats);
        }
        Ok(Accepted {
            h,
            event: located.is_some(),
        })
    }

    /// Keeps the state before it is changed by something that may still fail.
    pub(super) fn back_up(&mut self, state: &State) {
        if !self.has_backup {
            self.backup.copy_from(state);
            self.has_backup = true;
        }
    }

    /// The state before it was changed by something that failed.
    fn restore(&self, state: &mut State) {
        if self.has_backup {
            state.copy_from(&self.backup);
        }
    }

    /// Swaps the trial into the state and keeps the step for interpolation.
    pub(super) fn commit_trial(&mut self, p: &Problem, s: &mut State) {
        let Self {
            work,
            method,
            trial: y,
            segment,
            ..
        } = self;
        if !y.jerk_known {
            // Values of an earlier trial must not get into a state.
            y.jerk.fill(0.0);
        }
        segment.start(s);
        s.previous_known = s.jerk_known && y.jerk_known && !y.restarts_history;
        if s.previous_known {
            s.previous_acc.copy_from_slice(&s.acc);
            s.previous_jerk.copy_from_slice(&s.jerk);
        } else {
            s.forget_previous();
        }
        std::mem::swap(&mut s.q, &mut y.q);
        std::mem::swap(&mut s.v, &mut y.v);
        std::mem::swap(&mut s.acc, &mut y.acc);
        std::mem::swap(&mut s.lambda, &mut y.lambda);
        std::mem::swap(&mut s.a, &mut y.a);
        std::mem::swap(&mut s.delta, &mut y.delta);
        std::mem::swap(&mut s.delta_dot, &mut y.delta_dot);
        std::mem::swap(&mut s.lambda_dot, &mut y.lambda_dot);
        std::mem::swap(&mut s.jerk, &mut y.jerk);
        segment.begin(y);
        (s.t, s.h) = (y.t, y.h);
        s.jerk_known = y.jerk_known;
        (s.newton_contraction, s.contraction_uses) = (y.newton_contraction, y.contraction_uses);
        s.typical_pivot = typical_pivot(s, y);
        s.motion_time = y.motion_time;
        if y.restarts_history {
            (s.h, s.newton_contraction) = (0.0, f64::INFINITY);
        }
        method.note_accepted(s, y);
        for i in 0..s.scale.len().min(s.q.len()) {
            s.scale[i] = s.scale[i].max(s.q[i].abs());
        }
        segment.end(s, y.smooth && !y.restarts_history);
        if work.character.does_work || work.character.moving_constraints {
            let (dissipated, supplied) = segment.work(work, p, 1.0);
            s.dissipated += dissipated;
            s.supplied += supplied;
        }
        segment.set_work(s);
        work.update_integrals(p, s);
    }
}
