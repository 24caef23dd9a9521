//! An instance with a life: variables, inputs over time, substepping, statistics, save and restore.
//!
//! ```text
//!   created ── set parameters and inputs ── initialize ──> running ── set, step, get, ... ──> running
//!      ^                                                      │
//!      └──────────────────────── reset ───────────────────────┘
//! ```
//!
//! A call that is not legal is an error and changes nothing. A step that fails leaves the instance at the last accepted
//! substep, running: its values can be read, its state saved or restored, and it can be stepped again from its own time.
//!
//! Two parts make an instance. What is fixed after creation: the model, its equations, the list of variables. What
//! changes: `Life`, copied out by `save` and in by `restore`. The rest is work space the future does not depend on.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::error::{Error, Result};
use crate::formulation::Mechanism;
use crate::integrator::{Integrator, Sample, StartReport, State, Statistics};
use crate::model::Model;

mod dependencies;
mod derivatives;
mod energy;
mod initialize;
mod input;
mod instance_state;
mod log;
mod quantities;
mod serialization;
mod step;
#[cfg(test)]
mod testing;
mod value_cache;
mod values;
mod variables;

use dependencies::Dependencies;
use input::InputState;
use instance_state::{InstancePhase, InstanceState};
use value_cache::ValueCache;
use variables::Catalogue;

pub use crate::integrator::{REJECTION_REASONS, RejectedStep};
pub use derivatives::HIGHEST_OUTPUT_DERIVATIVE;
pub use input::{Extrapolation, HIGHEST_DERIVATIVE};
pub use instance_state::SavedState;
pub use log::{LogCategory, LogLevel, LogMessage, Logger};
pub use step::{Observer, StepProbe};
pub use variables::{Causality, InitialKind, Variability, Variable};

/// A mechanism that can be driven: created, initialised, stepped.
pub struct Instance {
    model: Model,
    mechanism: Box<dyn Mechanism>,
    catalogue: Catalogue,
    fingerprint: u64,
    life: InstanceState,
    integrator: Integrator,
    /// The tolerance `integrator` was made for.
    integrator_tolerance: f64,
    cancel: Arc<AtomicBool>,
    logger: Option<Logger>,
    /// Found out when first asked for.
    dependencies: OnceLock<Dependencies>,
    scratch: InstanceScratch,
}

/// Work space, so that steps and reads allocate nothing.
struct InstanceScratch {
    around: ExternalSignals,
    /// Values on their way out, kept here until all of them are known to be finite.
    values: Vec<f64>,
    /// Values that have been read since anything changed.
    known: ValueCache,
    /// A point inside the last substep, or near the present one.
    sample: Sample,
    /// Multipliers shared out over redundant rows.
    reactions: Vec<f64>,
    /// Inputs and parameters near the present ones.
    drive: InputState,
    /// Jerk at the present point.
    jerk: Vec<f64>,
}

/// What a point of the motion is looked at with.
struct ExternalSignals {
    u: Vec<f64>,
    u_dot: Vec<f64>,
    u_ddot: Vec<f64>,
    /// Φ_t
    rates: Vec<f64>,
}

impl Instance {
    /// From a model file (TOML, or JSON by its ending).
    pub fn from_file(path: &Path) -> Result<Self> {
        Self::from_model(Model::from_file(path)?)
    }

    /// From text (TOML, or JSON where it starts with `{`); files it names are found in `base_dir`, without one in the
    /// working directory.
    pub fn from_text(text: &str, base_dir: Option<&Path>) -> Result<Self> {
        Self::from_model(Model::from_text_in(text, "model", base_dir)?)
    }

    /// From a model, which is validated first.
    pub fn from_model(model: Model) -> Result<Self> {
        model.validate()?;
        let mechanism = crate::formulation::build(&model)?;
        Self::from_mechanism(model, mechanism)
    }

    /// From a model and equations made for it, such as those of [`crate::formulation::own`] with [`Model::from_code`].
    pub fn from_mechanism(model: Model, mechanism: Box<dyn Mechanism>) -> Result<Self> {
        let catalogue = Catalogue::new(&model)?;
        let integrator = Integrator::new(&*mechanism, &model.solver)?;
        let inputs = model.inputs.len();
        let size = mechanism.dimensions();
        let life = InstanceState::new(&model);
        let scratch = InstanceScratch {
            drive: life.seen.clone(),
            jerk: vec![0.0; size.nv],
            around: ExternalSignals {
                u: vec![0.0; inputs],
                u_dot: vec![0.0; inputs],
                u_ddot: vec![0.0; inputs],
                rates: vec![0.0; size.nc],
            },
            values: Vec::with_capacity(catalogue.variables.len()),
            known: ValueCache::new(catalogue.variables.len()),
            sample: Sample {
                q: vec![0.0; size.nq],
                v: vec![0.0; size.nv],
                acc: vec![0.0; size.nv],
                lambda: vec![0.0; size.nc],
                ..Sample::default()
            },
            reactions: vec![0.0; size.nc],
        };
        Ok(Self {
            fingerprint: instance_state::fingerprint(&model),
            life,
            integrator_tolerance: model.solver.tolerance,
            cancel: Arc::default(),
            logger: None,
            dependencies: OnceLock::new(),
            model,
            mechanism,
            catalogue,
            integrator,
            scratch,
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

    /// Value reference by name.
    pub fn find(&self, name: &str) -> Result<u32> {
        self.catalogue.find(name)
    }

    /// What the start had to change; `None` before it.
    pub fn start_report(&self) -> Option<&StartReport> {
        self.life.report.as_deref()
    }

    /// Back to the life's beginning: as just created. A cancellation not yet seen is forgotten; the logger stays.
    pub fn reset(&mut self) {
        self.life = InstanceState::new(&self.model);
        self.integrator.forget();
        self.scratch.known.forget();
        self.cancel.store(false, Ordering::Relaxed);
    }

    /// Has the instance been initialised? Before that only inputs and parameters can be set and read.
    pub fn is_running(&self) -> bool {
        self.life.phase == InstancePhase::Running
    }

    /// Time of the instance (s); before the start the one the model would start at.
    pub fn time(&self) -> f64 {
        self.life.state.t
    }

    /// The stop time of `initialize` (s); infinite where unknown.
    pub fn stop_time(&self) -> f64 {
        self.life.stop
    }

    /// The tolerance in use.
    pub fn tolerance(&self) -> f64 {
        self.life.tolerance
    }

    /// Set to true from any thread to stop a running step at the next substep: it answers [`Error::Cancelled`] and
    /// clears the flag. If no step is running, the next one that has something to do is stopped.
    pub fn cancel_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.cancel)
    }

    /// Counters since the start.
    pub fn statistics(&self) -> Statistics {
        self.life.state.statistics
    }

    /// The energy balance of largest magnitude over all accepted substeps, with its sign (J).
    pub fn energy_drift(&self) -> f64 {
        self.life.drift
    }

    /// What the coordinates of the equations are called, in their order: those that are independent now, where they are chosen.
    pub fn coordinate_names(&self) -> Vec<String> {
        (0..self.mechanism.dimensions().nv)
            .map(|i| self.mechanism.coordinate_name(i))
            .collect()
    }

    /// Coordinates and the like, for pictures and tests; empty before the start. A set that has not been followed by a
    /// step or a read of an output does not show here yet.
    pub fn state(&self) -> &State {
        &self.life.state
    }

    /// How many constraint rows hold now, and how many of these are of contacts and end stops at rest, which a pull would let
    /// go. Nothing before the start.
    pub fn rows(&self) -> (usize, usize) {
        let size = self.mechanism.dimensions();
        if self.life.state.modes.len() != size.modes {
            return (0, 0);
        }
        let mut modes = self.life.state.modes.clone();
        let count = |modes: &[i32]| {
            let mut rows = vec![true; size.nc];
            self.mechanism.active_constraints(modes, &mut rows);
            rows.iter().filter(|on| **on).count()
        };
        let all = count(&modes);
        self.mechanism
            .deactivate_unilateral(&mut modes, &mut vec![false; size.ne]);
        (all, all - count(&modes))
    }

    fn must_run(&self, call: &'static str) -> Result<()> {
        match self.life.phase {
            InstancePhase::Running => Ok(()),
            InstancePhase::Created => Err(Error::CallOrder {
                call,
                reason: "initialize first",
            }),
        }
    }
}
