//! FMI 2.0 and FMI 3.0 Co-Simulation: two sets of functions for [`crate::component`], exported by the same library as the C
//! ABI; and the archive (FMU) that contains a model and that library.
//!
//! ```text
//!   importer ── fmi2DoStep ──> gate: handle? running? legal now (lifecycle.rs)? ──> FmuInstance ──> component::Instance
//!   biela pack ── package/: model, description, documentation, library ──> X.fmu
//! ```

#[cfg(feature = "fault-injection")]
pub mod fault;
pub mod fmi2;
pub mod fmi3;
mod fmu_instance;
mod fmu_step;
mod gate;
mod intermediate_update;
pub mod lifecycle;
pub mod logger;
pub mod package;
pub mod physical_unit;
mod state;
pub mod types;
pub mod value_reference;
mod values;

pub use types::FmiStandard;
