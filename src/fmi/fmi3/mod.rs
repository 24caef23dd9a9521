//! The functions of FMI 3.0 Co-Simulation, one file for each family. They do what the standard says; `docs/fmi.md` has the
//! details it leaves open. Functions of Model Exchange, Scheduled Execution, clocks and structural parameters are
//! exported because importers look for them, and return an error (`refused.rs`).

#![allow(non_snake_case)]
#![allow(clippy::missing_safety_doc)] // the one promise is that of the standard: live handles, arrays of their length

mod derivative;
mod event;
mod life;
mod refused;
mod state;
mod step;
mod value;

pub use derivative::*;
pub use event::*;
pub use life::*;
pub use refused::*;
pub use state::*;
pub use step::*;
pub use value::*;

use std::ffi::c_void;

use super::fmu_instance::{FmiResult, FmuInstance};
use super::gate;
use super::lifecycle::LifecycleCall;
use super::types::{FmiStandard, FmiStatus};

/// The gate of this standard.
///
/// # Safety
/// `instance` is NULL or a live handle; the pointers that `action` uses are its caller's promise.
unsafe fn enter(
    instance: *mut c_void,
    call: &'static LifecycleCall,
    action: impl FnOnce(&mut FmuInstance) -> FmiResult,
) -> FmiStatus {
    // SAFETY: passed on.
    unsafe { gate::gate(instance, FmiStandard::Three, call, action) }
}
