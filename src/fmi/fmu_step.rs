//! Steps of an FMU: with intermediate updates, to the next event, and back to where they began if they fail.

use super::fmu_instance::{FmiResult, FmuFailure, FmuInstance};
use super::intermediate_update::{IntermediateUpdate, IntermediateValues};
use super::lifecycle::LifecyclePhase;
use super::logger::FmiLogCategory;
use super::types::{FmiStandard, FmiStatus};
use crate::component::{Instance, Observer, StepProbe};
use crate::error::{Error, Result};

/// How a step ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StepOutcome {
    /// Before its communication point.
    pub early: bool,
    /// At an event that the importer has to handle.
    pub event: bool,
}

impl FmuInstance {
    /// Advances by one communication step, or in event mode to the first event in it.
    pub fn step(&mut self, time: f64, step_size: f64) -> FmiResult<StepOutcome> {
        match self.standard {
            FmiStandard::Two => self.step_of_fmi2(time, step_size),
            FmiStandard::Three => self.step_of_fmi3(time, step_size),
        }
    }

    /// A step of zero, which FMI 2 allows; false, and nothing is done, for any other. Cannot panic.
    #[inline]
    pub fn took_empty_step(&mut self, time: f64, step_size: f64) -> bool {
        let empty = self.component.is_empty_step(time, step_size);
        if empty {
            self.last_step = FmiStatus::Ok;
        }
        empty
    }

    /// A step that fails stays at its last substep, in a phase of its own.
    fn step_of_fmi2(&mut self, time: f64, step_size: f64) -> FmiResult<StepOutcome> {
        match self.component.step(time, step_size) {
            Ok(()) => {
                self.last_step = FmiStatus::Ok;
                Ok(StepOutcome::default())
            }
            Err(error) if did_nothing(&error) => Err(error.into()),
            Err(error) => {
                self.last_step = FmiStatus::Discard;
                self.phase = LifecyclePhase::StepFailed;
                Err(FmuFailure::Discarded(error))
            }
        }
    }

    /// A step that fails leaves the FMU where it was before the call: the importer may try a shorter one.
    fn step_of_fmi3(&mut self, time: f64, step_size: f64) -> FmiResult<StepOutcome> {
        if step_size == 0.0 {
            return Err(Error::Argument {
                name: "communicationStepSize".to_owned(),
                value: "0".to_owned(),
                expected: "more than 0".to_owned(),
            }
            .into());
        }
        match &mut self.before_step {
            Some(state) => self.component.save_into(state)?,
            None => self.before_step = Some(self.component.save()?),
        }
        // An importer that steps on without event mode has taken note of the event.
        let left_limits = std::mem::take(&mut self.left_limits);
        let result = match (&self.update, self.event_mode_used) {
            (None, false) => {
                (self.component.step(time, step_size)).map(|()| StepOutcome::default())
            }
            _ => self.observed_step(time, step_size),
        };
        match result {
            Ok(outcome) => Ok(outcome),
            Err(error) if did_nothing(&error) => {
                self.left_limits = left_limits;
                Err(error.into())
            }
            Err(Error::TooManySubsteps { .. })
                if self.early_return_allowed && self.component.time() > time =>
            {
                Ok(StepOutcome {
                    early: true,
                    event: false,
                })
            }
            Err(error) => {
                if let Some(state) = &self.before_step {
                    self.component.restore(state)?;
                }
                self.left_limits = left_limits;
                Err(FmuFailure::Discarded(error))
            }
        }
    }

    /// A step that calls the importer, or stops at events. The importer may ask for an end now or at a later time.
    fn observed_step(&mut self, time: f64, step_size: f64) -> Result<StepOutcome> {
        let end = time + step_size;
        let update = self.update.clone();
        let mut observer = FmuStepObserver {
            update: update.as_ref(),
            inputs: update
                .as_ref()
                .map_or(vec![], |(_, values)| values.inputs()),
            event_mode: self.event_mode_used,
            early_return_allowed: self.early_return_allowed,
            end,
            first: true,
            event: false,
            requested_end: None,
            left_limits: Vec::new(),
            errors: Vec::new(),
        };
        let (mut from, mut span) = (time, step_size);
        let result = loop {
            let result = self.component.step_observed(from, span, &mut observer);
            let now = self.component.time();
            let event = observer.event;
            match (result, observer.requested_end.take()) {
                (Err(error), _) => break Err(error),
                (Ok(()), Some(requested)) if !event && now < end && requested > now => {
                    // At the requested time, or at the communication point if that comes first.
                    (from, span) = (now, requested.min(end) - now);
                }
                (Ok(()), _) => {
                    let early = now < end;
                    break Ok(StepOutcome { early, event });
                }
            }
        };
        let FmuStepObserver {
            left_limits,
            errors,
            ..
        } = observer;
        self.left_limits = left_limits;
        for error in &errors {
            self.logger
                .log(FmiStatus::Error, FmiLogCategory::Error, error);
        }
        result
    }
}

/// Whether the arguments are wrong and nothing was done.
fn did_nothing(error: &Error) -> bool {
    matches!(error, Error::Argument { .. } | Error::CallOrder { .. })
}

/// Calls the importer around substeps and ends the step at events.
struct FmuStepObserver<'s> {
    update: Option<&'s (IntermediateUpdate, IntermediateValues)>,
    /// Inputs that the importer sets inside the step.
    inputs: Vec<u32>,
    event_mode: bool,
    early_return_allowed: bool,
    /// The communication point.
    end: f64,
    /// The next substep is the first of the communication step.
    first: bool,
    /// The step has ended at an event.
    event: bool,
    requested_end: Option<f64>,
    /// Values of all variables before that event.
    left_limits: Vec<f64>,
    /// Errors to be logged after the step.
    errors: Vec<String>,
}

impl FmuStepObserver<'_> {
    /// Whether the step ends at the event at the end of this substep.
    fn stops_at(&self, probe: &StepProbe) -> bool {
        let may_stop = self.early_return_allowed || probe.end() >= self.end;
        self.event_mode && may_stop && probe.at_event()
    }
}

impl Observer for FmuStepObserver<'_> {
    /// Asks for the inputs at the middle and the end of the substep, and continues each along
    /// ```text
    ///   u(t) = u₀ + u' (t − t₀) + u''/2 (t − t₀)²
    ///   u' = (−3 u₀ + 4 u_m − u₁)/h,   u'' = 4 (u₀ − 2 u_m + u₁)/h²
    /// ```
    fn before_substep(&mut self, instance: &mut Instance, end: f64) -> Result<()> {
        let Some((update, values)) = self.update else {
            return Ok(());
        };
        if self.inputs.is_empty() {
            return Ok(());
        }
        let start = instance.time();
        let h = end - start;
        let mut ask = |time| values.ask_inputs(update, time, &mut self.errors);
        let at_start = match std::mem::take(&mut self.first) {
            true => ask(start),
            false => vec![None; self.inputs.len()],
        };
        let (in_the_middle, at_end) = (ask(start + 0.5 * h), ask(end));
        for (i, reference) in self.inputs.iter().enumerate() {
            let mut now = [0.0];
            instance.get_real(&[*reference], &mut now)?;
            let u0 = at_start[i].unwrap_or(now[0]);
            let taylor = match (in_the_middle[i], at_end[i]) {
                (Some(um), Some(u1)) => [
                    u0,
                    (4.0 * um - 3.0 * u0 - u1) / h,
                    4.0 * (u0 - 2.0 * um + u1) / (h * h),
                ],
                (None, Some(u1)) => [u0, (u1 - u0) / h, 0.0],
                (Some(um), None) => [u0, 2.0 * (um - u0) / h, 0.0],
                (None, None) if at_start[i].is_some() => [u0, 0.0, 0.0],
                (None, None) => continue,
            };
            if taylor.iter().all(|x| x.is_finite()) {
                instance.set_input_polynomial(*reference, taylor)?;
            }
        }
        Ok(())
    }

    fn accepted(&mut self, probe: &mut StepProbe) -> Result<()> {
        if self.stops_at(probe) {
            let count = probe.instance().variables().len() as u32;
            let references: Vec<u32> = (0..count).collect();
            let mut left_limits = vec![0.0; references.len()];
            probe.left_limits(&references, &mut left_limits)?;
            self.left_limits = left_limits;
            self.event = true;
            probe.stop();
        }
        let Some((update, values)) = self.update else {
            return Ok(());
        };
        let left_limits = self.left_limits.clone();
        let instance = probe.instance_mut();
        let answer = values.call_after_substep(update, instance, left_limits, &mut self.errors);
        if let Some(time) = answer.0 {
            self.requested_end = Some(time);
            probe.stop();
        }
        Ok(())
    }
}
