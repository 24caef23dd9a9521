//! The instance: creation, reset, and what can be asked of it at any time.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use super::definitions::{definition_values, has_definition_parameters};
use super::dependencies::Dependencies;
use super::error_bars::Companion;
use super::input::InputState;
use super::instance_state::{InstancePhase, InstanceState, ModelFingerprint};
use super::linearize::InstanceLinearizer;
use super::log::Logger;
use super::quantity_point::ComputedOutputs;
use super::value_cache::ValueCache;
use super::variables::{Variable, VariableCatalogue};
use crate::error::{Error, Result};
use crate::formulation::Mechanism;
use crate::integrator::{Integrator, Sample, StartReport, State, Statistics};
use crate::model::Model;

/// A mechanism that is created, initialised and stepped.
pub struct Instance {
    pub(super) model: Model,
    /// The model at creation, if it has parameters that set definitions.
    pub(super) created: Option<Box<Model>>,
    pub(super) mechanism: Box<dyn Mechanism>,
    pub(super) catalogue: VariableCatalogue,
    pub(super) fingerprint: ModelFingerprint,
    pub(super) state: InstanceState,
    pub(super) integrator: Integrator,
    /// The tolerance of `integrator`.
    pub(super) integrator_tolerance: f64,
    pub(super) cancel: Arc<AtomicBool>,
    pub(super) logger: Option<Logger>,
    /// Computed on first use.
    pub(super) dependencies: OnceLock<Dependencies>,
    pub(super) scratch: InstanceScratch,
    /// Made at the first linear model.
    pub(super) linearizer: Option<Box<InstanceLinearizer>>,
    /// The companion run, with error bars.
    pub(super) companion: Option<Box<Companion>>,
}

/// Workspace, so that steps and reads do not allocate.
pub(super) struct InstanceScratch {
    pub signals: SignalValues,
    /// Values that are copied out once all of them are finite.
    pub values: Vec<f64>,
    /// The outputs among the variables of a read.
    pub outputs: ComputedOutputs,
    /// Values that have been read since anything changed.
    pub cache: ValueCache,
    /// A point inside the last substep, or near the present one.
    pub sample: Sample,
    /// Minimum-norm multipliers at the present point.
    pub reactions: Vec<f64>,
    /// Perturbed inputs and parameters.
    pub perturbed: InputState,
    /// Jerk at the present point.
    pub jerk: Vec<f64>,
}

/// Inputs and their derivatives at a point, and Φ_t there.
pub(super) struct SignalValues {
    pub u: Vec<f64>,
    pub u_dot: Vec<f64>,
    pub u_ddot: Vec<f64>,
    pub constraint_rate: Vec<f64>,
}

impl InstanceScratch {
    pub fn new(
        model: &Model,
        mechanism: &dyn Mechanism,
        catalogue: &VariableCatalogue,
        state: &InstanceState,
    ) -> Self {
        let (inputs, size) = (model.inputs.len(), mechanism.dimensions());
        Self {
            perturbed: state.applied.clone(),
            jerk: vec![0.0; size.nv],
            signals: SignalValues {
                u: vec![0.0; inputs],
                u_dot: vec![0.0; inputs],
                u_ddot: vec![0.0; inputs],
                constraint_rate: vec![0.0; size.nc],
            },
            values: Vec::with_capacity(catalogue.variables.len()),
            outputs: ComputedOutputs::with_capacity(catalogue.variables.len()),
            cache: ValueCache::new(catalogue.variables.len()),
            sample: Sample {
                q: vec![0.0; size.nq],
                v: vec![0.0; size.nv],
                acc: vec![0.0; size.nv],
                lambda: vec![0.0; size.nc],
                ..Sample::default()
            },
            reactions: vec![0.0; size.nc],
        }
    }
}

impl Instance {
    /// From a model file (TOML, or JSON by its ending).
    pub fn from_file(path: &Path) -> Result<Self> {
        Self::from_model(Model::from_file(path)?)
    }

    /// From text (TOML, or JSON if it starts with `{`). Files it names are relative to `base_dir`, or else to the working directory.
    pub fn from_text(text: &str, base_dir: Option<&Path>) -> Result<Self> {
        Self::from_model(Model::from_text_in(text, "model", base_dir)?)
    }

    /// Memory that the matrices of a linear system may need (bytes): the factorisation included, which has a few times their
    /// entries. Zero for models made of bodies, whose memory is in proportion to their text.
    pub fn memory_of_matrices(model: &Model) -> usize {
        const PER_ENTRY: usize = 400;
        let entries = model
            .system
            .as_ref()
            .map_or(0, |system| system.entry_count());
        PER_ENTRY.saturating_mul(entries)
    }

    /// Memory that `initialize` may need while it looks for redundant constraints (bytes).
    pub fn memory_of_initialisation(&self) -> usize {
        let size = self.mechanism.dimensions();
        // Dense only up to a few hundred constraints.
        let dense = (size.nv + size.nc).min(500);
        let one = (1 << 19) + 4096_usize.saturating_mul(size.nv + size.nc) + 16 * dense * dense;
        one.saturating_mul(self.instance_count())
    }

    /// Two with a companion run, else one.
    fn instance_count(&self) -> usize {
        1 + usize::from(self.companion.is_some())
    }

    /// Memory of a saved state (bytes); a little more than it has as bytes.
    pub fn memory_of_state(&self) -> usize {
        let size = self.mechanism.dimensions();
        let numbers = size.nq + 8 * size.nv + 3 * size.nc + 2 * size.modes + 2 * size.ne;
        let numbers = numbers + 7 * size.integrals;
        let numbers = numbers + 16 * self.catalogue.variables.len();
        16_usize.saturating_mul(numbers * self.instance_count())
    }

    /// From a model, which is validated first.
    pub fn from_model(model: Model) -> Result<Self> {
        model.validate()?;
        let mechanism = crate::formulation::build(&model)?;
        let mut instance = Self::without_companion(model, mechanism)?;
        if instance.model.solver.has_error_bars() {
            let companion = Companion::new(&instance.model, &instance.catalogue)?;
            instance.companion = Some(Box::new(companion));
        }
        Ok(instance)
    }

    /// From a model and its equations, such as those of [`crate::formulation::user_system`] with [`Model::from_user_system`].
    pub fn from_mechanism(model: Model, mechanism: Box<dyn Mechanism>) -> Result<Self> {
        if model.solver.has_error_bars() {
            return Err(Error::Argument {
                name: "solver.error_bars".to_string(),
                value: "true".to_string(),
                expected: "false: a user-defined system has no companion run".to_string(),
            });
        }
        Self::without_companion(model, mechanism)
    }

    fn without_companion(model: Model, mechanism: Box<dyn Mechanism>) -> Result<Self> {
        let catalogue = VariableCatalogue::new(&model)?;
        let integrator = Integrator::new(&*mechanism, &model.solver)?;
        let state = InstanceState::new(&model);
        let scratch = InstanceScratch::new(&model, &*mechanism, &catalogue, &state);
        Ok(Self {
            fingerprint: ModelFingerprint::of(&model),
            state,
            integrator_tolerance: model.solver.tolerance,
            cancel: Arc::default(),
            logger: None,
            dependencies: OnceLock::new(),
            created: has_definition_parameters(&model).then(|| Box::new(model.clone())),
            model,
            mechanism,
            catalogue,
            integrator,
            scratch,
            linearizer: None,
            companion: None,
        })
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// All variables: inputs, outputs, parameters, each in the order of the model, then the quantities shown by
    /// `expose = "all"`. The index is the value reference.
    pub fn variables(&self) -> &[Variable] {
        &self.catalogue.variables
    }

    /// Value references of the declared outputs, in their order; error bars are not among them.
    pub fn outputs(&self) -> std::ops::Range<u32> {
        let first = self.model.inputs.len() as u32;
        first..first + self.model.outputs.len() as u32
    }

    /// Value reference by name.
    pub fn find(&self, name: &str) -> Result<u32> {
        self.catalogue.find(name)
    }

    /// Changes made by assembly and consistent initialisation; `None` before `initialize`.
    pub fn start_report(&self) -> Option<&StartReport> {
        self.state.start_report.as_deref()
    }

    /// Returns to the state after creation. A pending cancellation is cleared; the logger stays.
    pub fn reset(&mut self) {
        if let Some(created) = self.created.take() {
            // It was built before, so that it can be built again; if memory says no, the present one stays.
            let values = definition_values(&created, None);
            self.created = Some(created);
            let _ = self.use_definitions(&values);
        }
        self.state = InstanceState::new(&self.model);
        self.integrator.forget();
        self.scratch.cache.invalidate();
        self.cancel.store(false, Ordering::Relaxed);
        if let Some(companion) = &mut self.companion {
            companion.instance.reset();
            companion.forget_substep();
            companion.bars.restart(self.state.start);
        }
    }

    /// Whether the instance has been initialised. Before that only inputs and parameters can be set and read.
    pub fn is_running(&self) -> bool {
        self.state.phase == InstancePhase::Running
    }

    /// Time of the instance (s); before `initialize` the start time of the model.
    pub fn time(&self) -> f64 {
        self.state.motion.t
    }

    /// The stop time of `initialize` (s); infinite if unknown.
    pub fn stop_time(&self) -> f64 {
        self.state.stop
    }

    /// The tolerance in use.
    pub fn tolerance(&self) -> f64 {
        self.state.tolerance
    }

    /// Flag that stops a running step at the next substep when set to true from any thread: the step returns
    /// [`Error::Cancelled`] and clears the flag. If no step is running, the next one with h > 0 is stopped.
    pub fn cancel_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.cancel)
    }

    /// Solver counters since the start.
    pub fn statistics(&self) -> Statistics {
        self.state.motion.statistics
    }

    /// The energy balance of largest magnitude over all accepted substeps, with its sign (J).
    pub fn energy_drift(&self) -> f64 {
        self.state.energy_drift
    }

    /// Names of the generalised coordinates in their order; the present independent ones where they are partitioned.
    pub fn coordinate_names(&self) -> Vec<String> {
        (0..self.mechanism.dimensions().nv)
            .map(|i| self.mechanism.coordinate_name(i))
            .collect()
    }

    /// The state of the integrator, for plots and tests; empty before the start. Pending inputs are not applied yet.
    pub fn state(&self) -> &State {
        &self.state.motion
    }

    /// Number of active constraints, and how many of these are unilateral: closed contacts and joint limits. Zero before the start.
    pub fn active_constraint_counts(&self) -> (usize, usize) {
        let size = self.mechanism.dimensions();
        if self.state.motion.modes.len() != size.modes {
            return (0, 0);
        }
        let mut modes = self.state.motion.modes.clone();
        let count = |modes: &[i32]| {
            let mut active = vec![true; size.nc];
            self.mechanism.active_constraints(modes, &mut active);
            active.iter().filter(|on| **on).count()
        };
        let all = count(&modes);
        self.mechanism
            .deactivate_unilateral(&mut modes, &mut vec![false; size.ne]);
        (all, all - count(&modes))
    }

    /// An error unless the instance is running.
    pub(super) fn require_running(&self, call: &'static str) -> Result<()> {
        match self.state.phase {
            InstancePhase::Running => Ok(()),
            InstancePhase::Created => Err(Error::CallOrder {
                call,
                reason: "initialize first",
            }),
        }
    }
}
