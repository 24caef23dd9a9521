//! An instance with a life: variables, inputs over time, substepping, statistics, save and restore.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::error::Result;
use crate::integrator::{StartReport, State, Statistics};
use crate::model::Model;

/// Who sets a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Causality {
    /// Set from outside, constant between events.
    Parameter,
    /// Set from outside at communication points.
    Input,
    /// Computed.
    Output,
}

/// A variable of the outside; its value reference is its index.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Unique name.
    pub name: String,
    /// Unit as text, empty where there is none.
    pub unit: String,
    /// Who sets it.
    pub causality: Causality,
    /// Start value of inputs and parameters; outputs have none.
    pub start: Option<f64>,
}

/// A state of an instance, to go back to.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedState {}

/// Follows a run from inside: called after each accepted substep and able to look between steps.
pub trait Observer {
    /// A substep has been accepted. `probe` reads the instance at any time of that substep.
    fn accepted(&mut self, probe: &mut Probe) -> Result<()>;
}

/// Reads outputs at a time within the last accepted substep.
pub struct Probe<'a> {
    _instance: &'a mut Instance,
}

impl Probe<'_> {
    /// Start of the substep (s).
    pub fn start(&self) -> f64 {
        unimplemented!()
    }
    /// End of the substep (s).
    pub fn end(&self) -> f64 {
        unimplemented!()
    }
    /// Values of the variables at `t`, start <= t <= end, interpolated on the constraints.
    pub fn values(&mut self, _t: f64, _references: &[u32], _values: &mut [f64]) -> Result<()> {
        unimplemented!()
    }
}

/// A mechanism that can be driven: created, initialised, stepped.
pub struct Instance {}

impl Instance {
    /// From a model file (TOML, or JSON by its ending).
    pub fn from_file(_path: &Path) -> Result<Self> {
        unimplemented!()
    }
    /// From text (TOML, or JSON where it starts with `{`); files it names are found in `base_dir`.
    pub fn from_text(_text: &str, _base_dir: Option<&Path>) -> Result<Self> {
        unimplemented!()
    }
    /// From a model already read.
    pub fn from_model(_model: Model) -> Result<Self> {
        unimplemented!()
    }
    /// The model.
    pub fn model(&self) -> &Model {
        unimplemented!()
    }
    /// All variables; the index is the value reference.
    pub fn variables(&self) -> &[Variable] {
        unimplemented!()
    }
    /// Value reference by name.
    pub fn find(&self, _name: &str) -> Result<u32> {
        unimplemented!()
    }
    /// Assembly and consistent start. `stop` may be infinite; `tolerance` <= 0 means the model's.
    pub fn initialize(&mut self, _start: f64, _stop: f64, _tolerance: f64) -> Result<()> {
        unimplemented!()
    }
    /// What the start had to change; `None` before it.
    pub fn start_report(&self) -> Option<&StartReport> {
        unimplemented!()
    }
    /// Back to the life's beginning: as just created.
    pub fn reset(&mut self) {
        unimplemented!()
    }
    /// Time of the instance (s).
    pub fn time(&self) -> f64 {
        unimplemented!()
    }
    /// Sets inputs and parameters; on failure nothing is set.
    pub fn set_real(&mut self, _references: &[u32], _values: &[f64]) -> Result<()> {
        unimplemented!()
    }
    /// Reads variables; on failure `values` is unchanged.
    pub fn get_real(&mut self, _references: &[u32], _values: &mut [f64]) -> Result<()> {
        unimplemented!()
    }
    /// Advances from `t` to `t + h` by substeps. The time reached is [`Instance::time`].
    pub fn step(&mut self, _t: f64, _h: f64) -> Result<()> {
        unimplemented!()
    }
    /// The same with an observer.
    pub fn step_observed(&mut self, _t: f64, _h: f64, _observer: &mut dyn Observer) -> Result<()> {
        unimplemented!()
    }
    /// Set to true from any thread to stop a running step at the next substep.
    pub fn cancel_flag(&self) -> Arc<AtomicBool> {
        unimplemented!()
    }
    /// The present state.
    pub fn save(&self) -> Result<SavedState> {
        unimplemented!()
    }
    /// Saves into an existing state without allocating.
    pub fn save_into(&self, _state: &mut SavedState) -> Result<()> {
        unimplemented!()
    }
    /// Back to a saved state of this model.
    pub fn restore(&mut self, _state: &SavedState) -> Result<()> {
        unimplemented!()
    }
    /// Counters since the start.
    pub fn statistics(&self) -> Statistics {
        unimplemented!()
    }
    /// Largest signed energy balance over all accepted steps (J).
    pub fn energy_drift(&self) -> f64 {
        unimplemented!()
    }
    /// Coordinates and the like, for pictures and tests.
    pub fn state(&self) -> &State {
        unimplemented!()
    }
}
