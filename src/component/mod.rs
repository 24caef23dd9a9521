//! A mechanism as a co-simulation component: variables, inputs over time, substepping, statistics, save and restore.
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
//! An instance has two parts. Fixed after creation are the model, its equations and the list of variables. All that changes is in
//! `InstanceState`, which `save` copies out and `restore` copies in. The rest is workspace that the future does not depend on.

mod definitions;
mod dependencies;
mod dependency_probe;
mod derivatives;
mod energy;
mod equilibrium;
mod error_bars;
mod initialize;
mod input;
mod input_law;
mod instance;
mod instance_state;
mod linearize;
mod log;
mod look_ahead;
mod model_observables;
mod modes;
mod pending_inputs;
mod probe;
mod quantities;
mod quantity_point;
mod run_away;
mod serialization;
mod state_check;
mod step;
#[cfg(test)]
mod tests;
mod value_cache;
mod values;
mod variables;

pub use crate::analysis::DescriptorModel;
pub use crate::integrator::{REJECTION_REASONS, RejectedStep};
pub use derivatives::HIGHEST_OUTPUT_DERIVATIVE;
pub use equilibrium::EquilibriumReport;
pub use error_bars::{COMPANION_RATIO, ErrorBarSummary};
pub use input::{Extrapolation, HIGHEST_DERIVATIVE};
pub use instance::Instance;
pub use instance_state::SavedState;
pub use linearize::StateSpace;
pub use log::{LogCategory, LogLevel, LogMessage, Logger};
pub use modes::Mode;
pub(crate) use pending_inputs::PendingInputs;
pub use probe::{Observer, StepProbe};
pub use variables::{Causality, InitialKind, Variability, Variable, VariableKind};
