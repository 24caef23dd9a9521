//! An FMU instance: a component, its phase in the life cycle of FMI, and the logger of its importer.
//!
//! In initialization mode the standards allow setting and reading in turns; the component is initialised once. Therefore a
//! read initialises the component provisionally, and the next set restores the state before it:
//!
//! ```text
//!   set, set ── read ──> [initialise] ── set ──> [restore, set] ── read ──> [initialise] ── exit ──> step mode
//! ```

use std::sync::Arc;

use super::intermediate_update::{IntermediateUpdate, IntermediateValues};
use super::lifecycle::LifecyclePhase;
use super::logger::FmiLogger;
use super::types::{FmiStandard, FmiStatus};
use super::value_reference::ValueReferences;
use super::values::FmuScratch;
use crate::component::{Instance, PendingInputs, SavedState};
use crate::error::{Error, Result};
use crate::ffi::memory;
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
    /// The values of all variables before an event that is to be handled; empty without one.
    pub left_limits: Vec<f64>,
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
    /// FMI 3: the state before the last step, to which a step that fails returns.
    pub(super) before_step: Option<SavedState>,
    /// FMI 3: steps return at events, and the importer handles them in event mode.
    pub event_mode_used: bool,
    /// FMI 3: steps may return before their communication point.
    pub early_return_allowed: bool,
    /// FMI 3: the values of all variables before an event that is to be handled; empty without one.
    pub(super) left_limits: Vec<f64>,
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
        memory::require(Instance::memory_of_matrices(&model))?;
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
            before_step: None,
            event_mode_used: false,
            early_return_allowed: false,
            left_limits: Vec::new(),
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
        memory::require(self.component.memory_of_initialisation())?;
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

    /// Initialises the component and enters step mode, or event mode if it is used.
    pub fn exit_initialization(&mut self) -> Result<()> {
        self.initialise()?;
        self.uninitialised = None;
        self.phase = match self.event_mode_used {
            true => LifecyclePhase::Event,
            false => LifecyclePhase::Step,
        };
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
        self.left_limits.clear();
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

    /// The present state.
    pub fn save(&self) -> Result<FmuSavedState> {
        Ok(FmuSavedState {
            phase: self.phase,
            experiment: self.experiment,
            left_limits: self.left_limits.clone(),
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
        saved.left_limits.clone_from(&self.left_limits);
        Ok(())
    }

    /// Enters event mode.
    pub fn enter_event_mode(&mut self) -> Result<()> {
        if !self.event_mode_used {
            return Err(Error::CallOrder {
                call: "fmi3EnterEventMode",
                reason: "the FMU was instantiated with eventModeUsed = false",
            });
        }
        self.phase = LifecyclePhase::Event;
        Ok(())
    }

    /// Handles the event: from now on the values after it are read. Returns whether there was one.
    pub fn update_discrete_states(&mut self) -> bool {
        let event = !self.left_limits.is_empty();
        self.left_limits.clear();
        event
    }

    /// Leaves event mode.
    pub fn enter_step_mode(&mut self) {
        self.left_limits.clear();
        self.phase = LifecyclePhase::Step;
    }

    /// Whether a state that was read from bytes can be one of this FMU: its phase fits the component, its numbers are in range.
    pub fn accepts(&self, saved: &FmuSavedState) -> bool {
        let FmuExperiment {
            start,
            stop,
            tolerance,
        } = saved.experiment;
        let phase_fits = match saved.phase {
            LifecyclePhase::Instantiated | LifecyclePhase::Initialization => {
                !saved.component.is_running() && saved.left_limits.is_empty()
            }
            LifecyclePhase::Step | LifecyclePhase::Terminated => saved.component.is_running(),
            LifecyclePhase::Event => saved.component.is_running() && self.three(),
            LifecyclePhase::StepFailed => saved.component.is_running() && !self.three(),
            LifecyclePhase::Error => false,
        };
        let in_range = start.is_finite() && stop >= start && tolerance.is_finite();
        phase_fits && in_range && saved.left_limits.iter().all(|x| x.is_finite())
    }

    /// Returns to a saved state and its phase.
    pub fn restore(&mut self, saved: &FmuSavedState) -> Result<()> {
        self.repair()?;
        self.pending_inputs.clear();
        self.component.restore(&saved.component)?;
        self.uninitialised = None;
        self.phase = saved.phase;
        self.experiment = saved.experiment;
        self.left_limits.clone_from(&saved.left_limits);
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
