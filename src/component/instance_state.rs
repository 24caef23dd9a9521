//! Save and restore. Everything that changes is in one struct, [`InstanceState`]: saving copies it out, restoring copies it in,
//! and neither allocates if the target already has the size.

use std::sync::Arc;

use super::Instance;
use super::definitions::definition_values;
use super::error_bars::CompanionState;
use super::input::{Extrapolation, InputHistory, InputPolynomial, InputState};
use super::input_law::InputLaws;
use super::log::{LogCategory, LogLevel};
use super::look_ahead::LookAhead;
use crate::error::{Error, Result};
use crate::integrator::{Integrator, StartReport, State, Statistics};
use crate::model::{Model, SolverSettings};

/// Phase of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InstancePhase {
    /// Inputs and parameters may be set; not initialised.
    Created,
    /// Initialised; can be stepped.
    Running,
}

/// Everything that the future of an instance depends on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct InstanceState {
    pub phase: InstancePhase,
    /// Start time (s); that of the model before `initialize`.
    pub start: f64,
    /// Stop time (s); may be infinite.
    pub stop: f64,
    /// Tolerance in use.
    pub tolerance: f64,
    /// Extrapolation of inputs.
    pub extrapolation: Extrapolation,
    /// Inputs and parameters as set.
    pub pending: InputState,
    /// Inputs and parameters that the integrator uses; differ from `pending` between a set and the next step or read.
    pub applied: InputState,
    /// The last values set for each input; empty without extrapolation.
    pub history: Vec<InputHistory>,
    /// Kinetic + potential energy at start (J).
    pub total_at_start: f64,
    /// Energy balance of largest magnitude over all accepted substeps, with its sign (J).
    pub energy_drift: f64,
    /// Shared, because copying names would allocate.
    pub start_report: Option<Arc<StartReport>>,
    /// State of the integrator, or a point of the step that it has taken beyond the present time.
    pub motion: State,
    /// That step.
    pub ahead: LookAhead,
}

impl InstanceState {
    /// The state after creation: start values, not assembled.
    pub fn new(model: &Model) -> Self {
        let start = model.experiment.start;
        let inputs = InputState {
            inputs: model
                .inputs
                .iter()
                .map(|input| InputPolynomial::of(model, input))
                .collect(),
            parameters: model.parameters.iter().map(|p| p.start).collect(),
            laws: InputLaws::new(model),
        };
        Self {
            phase: InstancePhase::Created,
            start,
            stop: f64::INFINITY,
            tolerance: model.solver.tolerance,
            extrapolation: Extrapolation::Hold,
            history: vec![InputHistory::default(); model.inputs.len()],
            pending: inputs.clone(),
            applied: inputs,
            total_at_start: 0.0,
            energy_drift: 0.0,
            start_report: None,
            motion: State {
                t: start,
                statistics: Statistics {
                    smallest_step: f64::INFINITY,
                    ..Statistics::default()
                },
                ..State::default()
            },
            ahead: LookAhead::default(),
        }
    }

    /// Copies `other`; allocates only if the sizes differ.
    pub fn copy_from(&mut self, other: &Self) {
        self.phase = other.phase;
        self.start = other.start;
        self.stop = other.stop;
        self.tolerance = other.tolerance;
        self.extrapolation = other.extrapolation;
        self.pending.copy_from(&other.pending);
        self.applied.copy_from(&other.applied);
        self.history.clone_from(&other.history);
        self.total_at_start = other.total_at_start;
        self.energy_drift = other.energy_drift;
        self.start_report.clone_from(&other.start_report);
        self.motion.copy_from(&other.motion);
        self.ahead.copy_from(&other.ahead);
    }
}

/// By what a saved state is recognised as one of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ModelFingerprint {
    /// Of the model as this build of the library has it; see [`Model::meaning`].
    pub meaning: u64,
    /// Of the words it was read from, the same in every build; see [`Model::words`].
    pub words: u64,
}

impl ModelFingerprint {
    pub fn of(model: &Model) -> Self {
        Self {
            meaning: model.meaning(),
            words: model.words(),
        }
    }
}

/// Saved state of an instance: phase, state of the integrator, applied and pending inputs and parameters. It can be restored in
/// any instance of an equal model.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedState {
    pub(super) fingerprint: ModelFingerprint,
    pub(super) state: InstanceState,
    /// With error bars.
    pub(super) companion: Option<Box<CompanionState>>,
}

impl SavedState {
    /// Time of the state (s).
    pub fn time(&self) -> f64 {
        self.state.motion.t
    }

    /// Whether it was saved after `initialize`.
    pub fn is_running(&self) -> bool {
        self.state.phase == InstancePhase::Running
    }
}

impl Instance {
    /// Copies the present state.
    pub fn save(&self) -> Result<SavedState> {
        Ok(SavedState {
            fingerprint: self.fingerprint,
            state: self.state.clone(),
            companion: self.companion.as_ref().map(|companion| {
                Box::new(CompanionState {
                    state: companion.instance.state.clone(),
                    bars: companion.bars.clone(),
                })
            }),
        })
    }

    /// Copies the present state into an existing one without allocating.
    pub fn save_into(&self, state: &mut SavedState) -> Result<()> {
        state.fingerprint = self.fingerprint;
        state.state.copy_from(&self.state);
        match (&mut state.companion, &self.companion) {
            (Some(saved), Some(companion)) => saved.copy_from(companion),
            (None, None) => {}
            _ => state.companion = self.save()?.companion,
        }
        Ok(())
    }

    /// Restores a saved state of this model. Results that follow have the same bits as after the save. Allocates only if the state
    /// has another tolerance than the one in use.
    pub fn restore(&mut self, state: &SavedState) -> Result<()> {
        if state.fingerprint.meaning != self.fingerprint.meaning {
            let error = Error::ForeignState {
                reason: format!("it was saved by another model than \"{}\"", self.model.name),
            };
            let result = Err(error);
            self.log_failure(LogCategory::State, &result);
            return result;
        }
        if self.companion.is_some() && state.companion.is_none() {
            return Err(Error::ForeignState {
                reason: "it was saved without error bars".to_string(),
            });
        }
        let values = definition_values(&self.model, Some(&state.state.applied.parameters));
        let result = (self.use_definitions(&values))
            .and_then(|()| self.use_tolerance(state.state.tolerance));
        self.log_failure(LogCategory::State, &result);
        result?;
        let before = self.time();
        self.state.copy_from(&state.state);
        self.integrator.forget();
        self.scratch.cache.invalidate();
        self.restore_companion(state)?;
        let now = self.time();
        self.log(
            LogLevel::Debug,
            LogCategory::State,
            format_args!("restored from t = {before} s to t = {now} s"),
        );
        Ok(())
    }

    /// Restores the companion run and its error bars.
    fn restore_companion(&mut self, state: &SavedState) -> Result<()> {
        let (Some(companion), Some(saved)) = (&mut self.companion, &state.companion) else {
            return Ok(());
        };
        let instance = &mut companion.instance;
        let values = definition_values(&instance.model, Some(&saved.state.applied.parameters));
        instance.use_definitions(&values)?;
        instance.use_tolerance(saved.state.tolerance)?;
        instance.state.copy_from(&saved.state);
        instance.integrator.forget();
        instance.scratch.cache.invalidate();
        companion.bars.copy_from(&saved.bars);
        companion.forget_substep();
        Ok(())
    }

    /// Sets the tolerance of the integrator.
    pub(super) fn use_tolerance(&mut self, tolerance: f64) -> Result<()> {
        if self.integrator_tolerance != tolerance {
            let settings = SolverSettings {
                tolerance,
                ..self.model.solver
            };
            self.integrator = Integrator::new(&*self.mechanism, &settings)?;
            self.integrator_tolerance = tolerance;
        }
        Ok(())
    }
}

/// 64-bit FNV-1a hash (Fowler, Noll, Vo). A single changed byte always changes it.
pub(super) fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
