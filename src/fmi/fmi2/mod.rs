//! The functions of FMI 2.0 Co-Simulation, one file for each family. They do what the standard says; `docs/fmi.md` has the
//! details it leaves open.

#![allow(non_snake_case)]
#![allow(clippy::missing_safety_doc)] // the one promise is that of the standard: live handles, arrays of their length

mod life;
mod state;
mod step;
mod value;

pub use life::*;
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
/// `c` is NULL or a live handle; the pointers that `action` uses are its caller's promise.
unsafe fn enter(
    c: *mut c_void,
    call: &'static LifecycleCall,
    action: impl FnOnce(&mut FmuInstance) -> FmiResult,
) -> FmiStatus {
    // SAFETY: passed on.
    unsafe { gate::gate(c, FmiStandard::Two, call, action) }
}
