//! An FMU instance: a component, its phase in the life cycle of FMI, and the logger of its importer.
//!
//! In initialization mode the standards allow setting and reading in turns; the component is initialised once. Therefore a
//! read initialises the component provisionally, and the next set restores the state before it:
//!
//! ```text
//!   set, set ── read ──> [initialise] ── set ──> [restore, set] ── read ──> [initialise] ── exit ──> step mode
//! ```

use std::sync::Arc;

use super::intermediate_update::{IntermediateUpdate, IntermediateValues, UpdateObserver};
use super::lifecycle::LifecyclePhase;
use super::logger::{FmiLogCategory, FmiLogger};
use super::pending_inputs::PendingInputs;
use super::types::{FmiStandard, FmiStatus};
use super::value_reference::ValueReferences;
use super::values::FmuScratch;
use crate::component::{Instance, SavedState};
use crate::error::{Error, Result};
use crate::model::Model;

/// Failure of a call.
pub(super) enum FmuFailure {
    /// The call failed; the FMU is unchanged.
    Failed(Error),
    /// A step ended before its communication point, or a question has no answer.
    Discarded(Error),
}

impl From<Error> for FmuFailure {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl FmuFailure {
    /// The error behind it.
    pub fn error(&self) -> &Error {
        let (Self::Failed(error) | Self::Discarded(error)) = self;
        error
    }
}

/// Result of a call.
pub(super) type FmiResult<T = ()> = std::result::Result<T, FmuFailure>;

/// Times and tolerance of the simulation, as the importer sets them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FmuExperiment {
    pub start: f64,
    pub stop: f64,
    /// Zero: the tolerance of the model.
    pub tolerance: f64,
}

/// All that the future of an FMU instance depends on.
#[derive(Clone, Debug)]
pub(super) struct FmuSavedState {
    pub phase: LifecyclePhase,
    pub experiment: FmuExperiment,
    pub component: SavedState,
}

/// An FMU instance; see the module.
pub(super) struct FmuInstance {
    pub standard: FmiStandard,
    pub phase: LifecyclePhase,
    pub component: Instance,
    pub references: Arc<ValueReferences>,
    pub logger: FmiLogger,
    pub experiment: FmuExperiment,
    /// Status of the last step.
    pub last_step: FmiStatus,
    /// A panic may have left the component inconsistent.
    pub broken: bool,
    /// The state before a provisional initialisation.
    uninitialised: Option<SavedState>,
    /// FMI 3: the importer wants intermediate updates.
    pub update: Option<(IntermediateUpdate, IntermediateValues)>,
    pub pending_inputs: PendingInputs,
    pub(super) scratch: FmuScratch,
    #[cfg(feature = "fault-injection")]
    pub fault: bool,
}

impl FmuInstance {
    /// An instance of `model`.
    pub fn new(standard: FmiStandard, model: Model, logger: FmiLogger) -> Result<Self> {
        let mut component = Instance::from_model(model)?;
        component.set_logger(logger.for_component());
        let three = standard == FmiStandard::Three;
        Ok(Self {
            standard,
            phase: LifecyclePhase::Instantiated,
            references: Arc::new(ValueReferences::new(&component, three)),
            experiment: default_experiment(&component),
            pending_inputs: PendingInputs::new(&component),
            component,
            logger,
            last_step: FmiStatus::Ok,
            broken: false,
            uninitialised: None,
            update: None,
            scratch: FmuScratch::default(),
            #[cfg(feature = "fault-injection")]
            fault: false,
        })
    }

    /// Switches log categories on or off.
    pub fn switch_logging(&mut self, on: bool, categories: &[&str]) -> Result<()> {
        self.logger.switch(on, categories)?;
        self.component.set_logger(self.logger.for_component());
        Ok(())
    }

    /// Is it an instance of FMI 3?
    pub fn three(&self) -> bool {
        self.standard == FmiStandard::Three
    }

    /// Checks and keeps times and tolerance for the initialisation.
    pub fn set_experiment(&mut self, experiment: FmuExperiment) -> Result<()> {
        let wrong = |name: &str, value: f64, expected: &str| {
            Err(Error::Argument {
                name: name.to_owned(),
                value: value.to_string(),
                expected: expected.to_owned(),
            })
        };
        let FmuExperiment {
            start,
            stop,
            tolerance,
        } = experiment;
        if !start.is_finite() {
            return wrong("startTime", start, "a finite time");
        }
        if stop.is_nan() || stop < start {
            return wrong("stopTime", stop, "a time not before startTime");
        }
        if !tolerance.is_finite() {
            return wrong("tolerance", tolerance, "a finite number");
        }
        self.experiment = experiment;
        Ok(())
    }

    /// Initialises the component provisionally, if the FMU is in initialization mode: outputs are about to be read.
    pub fn initialise(&mut self) -> Result<()> {
        if self.phase != LifecyclePhase::Initialization || self.component.is_running() {
            return Ok(());
        }
        match &mut self.uninitialised {
            Some(state) => self.component.save_into(state)?,
            None => self.uninitialised = Some(self.component.save()?),
        }
        let FmuExperiment {
            start,
            stop,
            tolerance,
        } = self.experiment;
        self.component.initialize(start, stop, tolerance)
    }

    /// Restores the state before a provisional initialisation: values are about to be set.
    pub fn undo_initialisation(&mut self) -> Result<()> {
        if self.provisional().is_some()
            && let Some(state) = &self.uninitialised
        {
            self.component.restore(state)?;
        }
        Ok(())
    }

    /// The state before a provisional initialisation, if the component is initialised provisionally.
    fn provisional(&self) -> Option<&SavedState> {
        let provisional =
            self.phase == LifecyclePhase::Initialization && self.component.is_running();
        self.uninitialised.as_ref().filter(|_| provisional)
    }

    /// Initialises the component and enters step mode.
    pub fn exit_initialization(&mut self) -> Result<()> {
        self.initialise()?;
        self.uninitialised = None;
        self.phase = LifecyclePhase::Step;
        self.last_step = FmiStatus::Ok;
        Ok(())
    }

    /// Returns to the state after instantiation.
    pub fn reset(&mut self) -> Result<()> {
        self.repair()?;
        self.pending_inputs.clear();
        self.component.reset();
        self.experiment = default_experiment(&self.component);
        self.uninitialised = None;
        self.phase = LifecyclePhase::Instantiated;
        self.last_step = FmiStatus::Ok;
        Ok(())
    }

    /// Replaces a component that a panic may have left inconsistent; only its model is used again.
    fn repair(&mut self) -> Result<()> {
        if self.broken {
            self.component = Instance::from_model(self.component.model().clone())?;
            self.component.set_logger(self.logger.for_component());
            self.pending_inputs.clear();
            self.broken = false;
        }
        Ok(())
    }

    /// Advances by one communication step. True: the step ended early because the importer asked for it.
    pub fn step(&mut self, time: f64, step_size: f64) -> FmiResult<bool> {
        let result = match self.update.clone() {
            Some((update, values)) => self.step_with_updates(time, step_size, update, &values),
            None => self.component.step(time, step_size).map(|()| false),
        };
        match result {
            Ok(early) => {
                self.last_step = FmiStatus::Ok;
                Ok(early)
            }
            // The arguments are wrong: nothing was done.
            Err(error @ (Error::Argument { .. } | Error::CallOrder { .. })) => Err(error.into()),
            Err(error) => {
                self.last_step = FmiStatus::Discard;
                self.phase = LifecyclePhase::StepFailed;
                Err(FmuFailure::Discarded(error))
            }
        }
    }

    /// Steps with a call of the importer after each substep. The importer may ask for an end now or at a later time.
    fn step_with_updates(
        &mut self,
        time: f64,
        step_size: f64,
        update: IntermediateUpdate,
        values: &IntermediateValues,
    ) -> Result<bool> {
        let mut observer = UpdateObserver::new(values, update);
        let end = time + step_size;
        let (mut from, mut span) = (time, step_size);
        let result = loop {
            let result = self.component.step_observed(from, span, &mut observer);
            let now = self.component.time();
            match (result, observer.requested_end.take()) {
                (Err(_), Some(requested)) if requested > now && requested < end => {
                    (from, span) = (now, requested - now);
                }
                // The requested end is not before the communication point: continue to that point.
                (Err(_), Some(requested)) if requested >= end && now < end => {
                    (from, span) = (now, end - now);
                }
                (Err(_), Some(_)) | (Ok(()), _) => break Ok(now < end),
                (Err(error), None) => break Err(error),
            }
        };
        for error in &observer.errors {
            self.logger
                .log(FmiStatus::Error, FmiLogCategory::Error, error);
        }
        result
    }

    /// The present state.
    pub fn save(&self) -> Result<FmuSavedState> {
        Ok(FmuSavedState {
            phase: self.phase,
            experiment: self.experiment,
            component: match self.provisional() {
                Some(state) => state.clone(),
                None => self.component.save()?,
            },
        })
    }

    /// Saves into an existing state.
    pub fn save_into(&self, saved: &mut FmuSavedState) -> Result<()> {
        match self.provisional() {
            Some(state) => saved.component.clone_from(state),
            None => self.component.save_into(&mut saved.component)?,
        }
        saved.phase = self.phase;
        saved.experiment = self.experiment;
        Ok(())
    }

    /// Returns to a saved state and its phase.
    pub fn restore(&mut self, saved: &FmuSavedState) -> Result<()> {
        self.repair()?;
        self.pending_inputs.clear();
        self.component.restore(&saved.component)?;
        self.uninitialised = None;
        self.phase = saved.phase;
        self.experiment = saved.experiment;
        self.last_step = FmiStatus::Ok;
        Ok(())
    }
}

/// From the start time of the model, without a stop time, with the tolerance of the model.
fn default_experiment(component: &Instance) -> FmuExperiment {
    FmuExperiment {
        start: component.model().experiment.start,
        stop: f64::INFINITY,
        tolerance: 0.0,
    }
}
