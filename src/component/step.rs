//! Communication steps, each of as many substeps as the error control needs.
//!
//! The host gives the present time and the step size, doubles of its own arithmetic: `t = k H`, a sum, or text with twelve digits.
//! After `step(t, h)` the time of the instance is the double `t + h` of the host. So both clocks agree again after every call,
//! differences do not accumulate, and only the rounding of one call is tolerated.

use std::sync::atomic::Ordering;

use super::Instance;
use super::error_bars::RunSubstep;
use super::log::{LogCategory, LogLevel};
use super::probe::{Observer, StepProbe};
use super::quantity_point::environment;
use crate::error::{Error, Result};
use crate::integrator::{EventMemory, RejectedStep, Statistics};

/// Largest difference between the times of host and instance, as part of the step. A host at another time differs by a good part
/// of a step; a millionth is the rounding of a clock kept in text or in ticks, and changes the step by as much.
const CLOCK_SLIP: f64 = 1e-6;

/// Largest difference for steps that are tiny compared with the time: the rounding of a few additions and products, relative to
/// the largest time involved.
const CLOCK_ROUNDING: f64 = 16.0 * f64::EPSILON;

/// Largest distance of the end of a step beyond the stop time, relative to the largest time involved: a sum of 10⁶ steps has up
/// to 10⁶ roundings, 10⁻¹⁰.
const STOP_ROUNDING: f64 = 1e-9;

/// A communication step shorter than this (s) moves the clock alone; only near t = 0 is there one. The error control takes no step
/// below 1e-15 s: the estimate would be rounding. The motion in a tenth of that, v h, is below the rounding of any coordinate that
/// is not next to zero, and far below every tolerance.
const NEGLIGIBLE_STEP: f64 = 1e-16;

/// Failed trial steps of one substep that cause a warning: one or two are normal, three in a row mean a sudden change.
const MANY_FAILURES: u64 = 3;

/// An observer that does nothing.
struct NoObserver;

impl Observer for NoObserver {
    fn accepted(&mut self, _probe: &mut StepProbe) -> Result<()> {
        Ok(())
    }
}

impl Instance {
    /// Keeps the trial steps that are rejected from now on, for [`Instance::take_rejected_steps`].
    pub fn record_rejected_steps(&mut self, on: bool) {
        self.integrator.record_rejected_steps(on);
    }

    /// The trial steps rejected since the last call, those of a step that failed among them.
    pub fn take_rejected_steps(&mut self) -> Vec<RejectedStep> {
        self.integrator.take_rejected_steps()
    }

    /// Sets value and derivatives of an input from the present time on and applies them, inside a communication step.
    pub fn set_input_polynomial(&mut self, reference: u32, taylor: [f64; 3]) -> Result<()> {
        for (order, value) in (0..).zip(taylor) {
            match order {
                0 => self.set_real(&[reference], &[value])?,
                _ => self.set_input_derivatives(&[reference], &[order], &[value])?,
            }
        }
        self.apply_pending_inputs()
    }

    /// Advances from the communication point `t` to `t + h` by substeps. `t` is the instance's own time except for rounding;
    /// afterwards that time is the double `t + h`. A step of zero is legal and changes nothing. On failure the instance stays at
    /// the last accepted substep, at [`Instance::time`].
    pub fn step(&mut self, t: f64, h: f64) -> Result<()> {
        self.step_observed(t, h, &mut NoObserver)
    }

    /// Whether a step does nothing and says nothing: a step of zero from the instance's own time. Compares bits, so that it
    /// can neither panic nor trap.
    #[inline]
    pub(crate) fn is_empty_step(&self, t: f64, h: f64) -> bool {
        h.to_bits() == 0
            && t.to_bits() == self.time().to_bits()
            && self.is_running()
            && !self.is_logged(LogLevel::Debug, LogCategory::Step)
    }

    /// [`Instance::step`] with an observer.
    pub fn step_observed(&mut self, t: f64, h: f64, observer: &mut dyn Observer) -> Result<()> {
        let substeps_before = self.state.motion.statistics.steps;
        let result = self.step_to_communication_point(t, h, observer);
        self.log_step(t, substeps_before, &result);
        result
    }

    fn step_to_communication_point(
        &mut self,
        t: f64,
        h: f64,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        self.require_running("step")?;
        let Some(target) = self.communication_point(t, h)? else {
            return Ok(()); // h = 0
        };
        self.apply_pending_inputs()?;
        if target - self.time() < NEGLIGIBLE_STEP {
            self.state.motion.t = target;
            self.integrator.forget();
            self.scratch.cache.invalidate();
            self.with_companion(|companion| {
                companion.apply_pending_inputs()?;
                companion.state.motion.t = target;
                companion.integrator.forget();
                Ok(())
            });
            return Ok(());
        }
        let outcome = self.substep_to(target, observer);
        self.state.ahead.unchanged = outcome.is_ok();
        if self.companion.is_some() {
            self.land_companion();
        }
        outcome
    }

    /// Takes one substep, at most to `target`. Returns its start, and whether an event was located at its end.
    pub(super) fn substep_towards(&mut self, target: f64) -> Result<(f64, bool)> {
        let end = self.pass_breaks_of_laws(target)?;
        self.advance_one_substep(end)
    }

    fn substep_to(&mut self, target: f64, observer: &mut dyn Observer) -> Result<()> {
        let mut substeps = 0;
        while self.time() < target {
            self.check_cancelled()?;
            self.check_substep_limit(substeps)?;
            let end = self.pass_breaks_of_laws(target)?;
            let planned = end.min(self.time() + self.state.motion.next_h);
            observer.before_substep(self, planned)?;
            let inside = self.state.ahead.active;
            let advanced = self.advance_one_substep(end);
            if let Err(Error::Evaluation { time, .. }) = advanced {
                // Rather the law that has no value than the body it drives.
                let applied = &self.state.applied;
                applied.refuse_infinite_laws(&self.model, time)?;
            }
            let (start, event) = advanced?;
            substeps += 1;
            self.watch_substeps(substeps)?;
            if self.companion.is_some() {
                let substep = RunSubstep {
                    start,
                    event,
                    target,
                    is_part: inside || self.state.ahead.active,
                };
                self.follow_with_companion(substep);
            }
            let mut probe = StepProbe::new(self, start, event);
            observer.accepted(&mut probe)?;
            if probe.stop {
                break;
            }
        }
        Ok(())
    }

    /// An error if the cancel flag is set; clears it.
    fn check_cancelled(&self) -> Result<()> {
        if self.cancel.load(Ordering::Relaxed) && self.cancel.swap(false, Ordering::Relaxed) {
            return Err(Error::Cancelled { time: self.time() });
        }
        Ok(())
    }

    fn check_substep_limit(&mut self, substeps: u64) -> Result<()> {
        let limit = self.model.solver.max_substeps;
        if substeps == limit {
            return Err(self.too_many_substeps(limit));
        }
        Ok(())
    }

    /// Passes the breaks of input laws at the present time, which are events. Returns the next one, or `target` if that is earlier.
    fn pass_breaks_of_laws(&mut self, target: f64) -> Result<f64> {
        let now = self.time();
        // A break closer than the rounding of time is passed with the present one, or with the target.
        let rounding = CLOCK_ROUNDING * now.abs().max(target.abs());
        if self.state.applied.next_break() <= now + rounding {
            self.state.pending.pass_breaks(now + rounding);
            self.apply_pending_inputs()?;
            self.state.motion.statistics.events += 1;
        }
        let next = self.state.applied.next_break();
        Ok(if next < target - rounding {
            next
        } else {
            target
        })
    }

    /// Integrates one substep, at most to `target`, and tracks the energy drift. Returns the start of the substep, and whether
    /// an event was located at its end.
    fn advance_one_substep(&mut self, target: f64) -> Result<(f64, bool)> {
        let start = self.time();
        let before = self.state.motion.statistics;
        // Counters change even if it fails.
        self.scratch.cache.invalidate();
        let event = match self.substep_ahead(target)? {
            Some(event) => event,
            None => {
                let env = environment(&self.state.applied);
                let motion = &mut self.state.motion;
                (self.integrator)
                    .advance(&*self.mechanism, &env, motion, target)?
                    .event
            }
        };
        if self.logger.is_some() {
            self.log_substep(start, &before);
        }
        self.track_energy_drift();
        Ok((start, event))
    }

    /// Logs the end of a step from `t`.
    fn log_step(&mut self, t: f64, substeps_before: u64, result: &Result<()>) {
        self.log_failure(LogCategory::Step, result);
        if result.is_err() {
            return;
        }
        let now = self.time();
        let substeps = self.state.motion.statistics.steps - substeps_before;
        self.log(
            LogLevel::Debug,
            LogCategory::Step,
            format_args!("from t = {t} s to t = {now} s in {substeps} substeps"),
        );
    }

    /// Logs events and many failed trial steps of the substep from `start`.
    fn log_substep(&mut self, start: f64, before: &Statistics) {
        let now = self.state.motion.statistics;
        if now.events > before.events && self.is_logged(LogLevel::Info, LogCategory::Event) {
            let events = self.state.motion.event_memory.iter().enumerate();
            let names = events.filter(|(_, what)| **what != EventMemory::Nothing);
            let names: Vec<String> = names.map(|(i, _)| self.mechanism.event_name(i)).collect();
            let t = self.time();
            let names = names.join(", ");
            let text = format_args!("event at t = {t} s: {names}");
            self.log(LogLevel::Info, LogCategory::Event, text);
        }
        let rejected = now.rejected - before.rejected;
        let diverged = now.newton_failures - before.newton_failures;
        if rejected + diverged >= MANY_FAILURES {
            let h = now.step_size;
            self.log(
                LogLevel::Warning,
                LogCategory::Step,
                format_args!(
                    "at t = {start} s {} trial steps failed ({rejected} by the error estimate, {diverged} without \
                     convergence) before h = {h:.3e} s was accepted",
                    rejected + diverged
                ),
            );
        }
    }

    /// The communication point at the end of a step from `t` over `h`; `None` for a step of zero. An error if `t` is not the time of
    /// the instance or the step is not possible.
    fn communication_point(&self, t: f64, h: f64) -> Result<Option<f64>> {
        let own = self.time();
        let refused = |name: &str, value: f64, expected: String| Error::Argument {
            name: name.to_string(),
            value: value.to_string(),
            expected,
        };
        if !t.is_finite() {
            return Err(refused("t", t, format!("the instance's time, {own} s")));
        }
        if !(h >= 0.0 && h.is_finite()) {
            let expected = "a finite step of zero or more".to_string();
            return Err(refused("step size", h, expected));
        }
        let scale = own.abs().max(t.abs()).max(self.state.start.abs());
        if (t - own).abs() > CLOCK_ROUNDING * scale + CLOCK_SLIP * h {
            return Err(refused("t", t, format!("the instance's time, {own} s")));
        }
        if h == 0.0 {
            return Ok(None);
        }
        let end = t + h;
        if !end.is_finite() {
            return Err(refused("step size", h, "an end that is finite".to_string()));
        }
        let scale = scale.max(end.abs());
        if end > self.state.stop + STOP_ROUNDING * scale + CLOCK_SLIP * h {
            let expected = format!(
                "an end (here {end}) not past the stop time, {} s",
                self.state.stop
            );
            return Err(refused("step size", h, expected));
        }
        if end <= own || end <= t {
            let expected = format!("more than the rounding of time at t = {own} s");
            return Err(refused("step size", h, expected));
        }
        Ok(Some(end))
    }
}
