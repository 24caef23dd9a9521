//! Communication steps, each of as many substeps as the error control needs.
//!
//! The host gives the present time and the step size, doubles of its own arithmetic: `t = k H`, a sum, or text with twelve digits.
//! After `step(t, h)` the time of the instance is the double `t + h` of the host. So both clocks agree again after every call,
//! differences do not accumulate, and only the rounding of one call is tolerated.

use std::sync::atomic::Ordering;

use super::Instance;
use super::error_bars::RunSubstep;
use super::log::{LogCategory, LogLevel};
use super::quantity_point::environment;
use super::values::same_length;
use super::variables::VariableSource;
use crate::error::{Error, Result};
use crate::integrator::{EventMemory, RejectedStep, SampleLevel, Statistics};
use crate::model::quantity::Quantity;

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

/// Observer of a run, called after each accepted substep.
pub trait Observer {
    /// Called after an accepted substep. `probe` reads the instance at any time of that substep. An error ends the step; the
    /// instance stays at the end of this substep.
    fn accepted(&mut self, probe: &mut StepProbe) -> Result<()>;

    /// Called before each substep, which is planned to end at `end`. Inputs set here with
    /// [`Instance::set_input_polynomial`] act from the present time on.
    fn before_substep(&mut self, instance: &mut Instance, end: f64) -> Result<()> {
        let _ = (instance, end);
        Ok(())
    }
}

/// Reads variables at a time within the last accepted substep.
pub struct StepProbe<'a> {
    pub(super) instance: &'a mut Instance,
    start: f64,
    /// An event was located at the end of the substep.
    event: bool,
    /// The communication step ends here.
    stop: bool,
    /// What `scratch.sample` holds.
    sampled: Option<(f64, Needed)>,
}

/// What quantities need of an interpolated point.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Needed {
    /// Positions and velocities.
    Motion,
    /// Accelerations and multipliers too.
    Accelerations,
    /// Multipliers distributed over redundant constraints.
    Reactions,
}

impl Needed {
    /// By one quantity.
    pub(super) fn by(quantity: Quantity) -> Self {
        match quantity {
            _ if quantity.is_reaction() => Self::Reactions,
            _ if quantity.is_of_motion() => Self::Motion,
            _ => Self::Accelerations,
        }
    }
}

impl<'a> StepProbe<'a> {
    /// A probe of the last substep, which began at `start` and ended at an event or not.
    pub(super) fn new(instance: &'a mut Instance, start: f64, event: bool) -> Self {
        Self {
            instance,
            start,
            event,
            sampled: None,
            stop: false,
        }
    }
}

impl StepProbe<'_> {
    /// Start of the substep (s).
    pub fn start(&self) -> f64 {
        self.start
    }

    /// End of the substep (s).
    pub fn end(&self) -> f64 {
        self.instance.time()
    }

    /// The instance at the end of the substep.
    pub fn instance(&self) -> &Instance {
        self.instance
    }

    /// The same, to be read.
    pub fn instance_mut(&mut self) -> &mut Instance {
        // A read may use the workspace of the sample.
        self.sampled = None;
        self.instance
    }

    /// Whether an event was located at the end of the substep: an impact, a contact that closes or separates, a change between
    /// stiction and slip, a jump of a law. It has been handled; [`StepProbe::left_limits`] are the values before it.
    pub fn at_event(&self) -> bool {
        self.event
    }

    /// Ends the communication step here, before its communication point, without an error.
    pub fn stop(&mut self) {
        self.stop = true;
    }

    /// Reads variables at the end of the substep before the event there was handled; without an event the values of
    /// `get_real`. On failure `values` is unchanged.
    pub fn left_limits(&mut self, references: &[u32], values: &mut [f64]) -> Result<()> {
        match self.event {
            true => self.sampled_values(self.end(), references, values),
            false => self.instance.get_real(references, values),
        }
    }

    /// The trial steps rejected since the last call; see [`Instance::record_rejected_steps`].
    pub fn take_rejected_steps(&mut self) -> Vec<RejectedStep> {
        self.instance.take_rejected_steps()
    }

    /// Names of the events at the substep's end: contacts that close or separate, joint limits, switching forces.
    pub fn events(&self) -> Vec<String> {
        let handled = self.instance.state.motion.event_memory.iter().enumerate();
        handled
            .filter(|(_, what)| **what != EventMemory::Nothing)
            .map(|(i, _)| self.instance.mechanism.event_name(i))
            .collect()
    }

    /// Refuses a time outside the substep.
    pub(super) fn require_inside(&self, t: f64) -> Result<()> {
        let (start, end) = (self.start, self.end());
        if start <= t && t <= end {
            return Ok(());
        }
        Err(Error::Argument {
            name: "t".to_string(),
            value: t.to_string(),
            expected: format!("a time of the last substep, {start} to {end}"),
        })
    }

    /// Interpolates to `t` unless that was done already.
    pub(super) fn sample(&mut self, t: f64, needed: Needed) -> Result<()> {
        // Distributed multipliers are not those of the state: they are no substitute where friction is read.
        let reused = |(at, held)| at == t && (held == needed || needed == Needed::Motion);
        if self.sampled.is_some_and(reused) {
            return Ok(());
        }
        self.sampled = None;
        let instance = &mut *self.instance;
        let env = environment(&instance.state.applied);
        let sample = &mut instance.scratch.sample;
        let (integrator, mechanism) = (&mut instance.integrator, &*instance.mechanism);
        let level = match needed {
            Needed::Motion => SampleLevel::Velocities,
            _ => SampleLevel::Accelerations,
        };
        integrator.interpolate_to(mechanism, &env, t, level, sample)?;
        if needed == Needed::Reactions {
            integrator.sample_reactions(mechanism, &env, sample)?;
        }
        self.sampled = Some((t, needed));
        Ok(())
    }

    /// Reads variables at `t`, start <= t <= end, interpolated and projected onto the constraints; at the end the values of
    /// `get_real`. Counters (`solver.*`) are those at the end. On failure `values` is unchanged.
    pub fn values(&mut self, t: f64, references: &[u32], values: &mut [f64]) -> Result<()> {
        if t == self.end() {
            return self.instance.get_real(references, values);
        }
        self.require_inside(t)?;
        self.sampled_values(t, references, values)
    }

    /// Reads variables at a time of the substep, in the modes of the substep.
    fn sampled_values(&mut self, t: f64, references: &[u32], values: &mut [f64]) -> Result<()> {
        same_length(references.len(), values.len())?;
        let mut needed = Needed::Motion;
        let Instance {
            catalogue, scratch, ..
        } = &mut *self.instance;
        scratch.outputs.quantities.clear();
        for &reference in references {
            if let VariableSource::Output(quantity) = catalogue.source(reference)? {
                needed = needed.max(Needed::by(quantity));
                scratch.outputs.quantities.push(quantity);
            }
        }
        self.sample(t, needed)?;
        let instance = &mut *self.instance;
        let mut computed = std::mem::take(&mut instance.scratch.outputs);
        if !computed.quantities.is_empty() {
            let (point, mechanism) = instance.sampled_in_step();
            computed.evaluate(&point, mechanism);
        }
        let mut computed_values = computed.values.iter();
        instance.scratch.values.clear();
        for &reference in references {
            let value = match instance.catalogue.source(reference)? {
                VariableSource::Input(i) => instance.state.applied.at(i, t)[0],
                VariableSource::Parameter(i) => instance.state.applied.parameters[i],
                VariableSource::Output(_) => *computed_values.next().expect("one for each"),
                // Of the whole substep.
                VariableSource::ErrorBar(i) => instance.stated_error(i),
                VariableSource::AccuracyKept => instance.accuracy_kept(),
            };
            instance.scratch.values.push(value);
        }
        instance.scratch.outputs = computed;
        instance.copy_finite_values(references, t, values)
    }
}

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
        let env = environment(&self.state.applied);
        // Counters change even if it fails.
        self.scratch.cache.invalidate();
        let accepted =
            self.integrator
                .advance(&*self.mechanism, &env, &mut self.state.motion, target)?;
        if self.logger.is_some() {
            self.log_substep(start, &before);
        }
        self.track_energy_drift();
        Ok((start, accepted.event))
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
