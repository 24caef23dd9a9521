//! The step.

use std::ffi::c_void;
use std::mem::MaybeUninit;

use super::enter;
use crate::error::Result;
use crate::ffi::pointer;
use crate::fmi::lifecycle::fmi3 as calls;
use crate::fmi::types::FmiStatus;

/// Advances by one communication step. `*last_successful_time` is always written; `fmi3Discard`: the unit is where it was before
/// the call. In event mode the step ends at the first event in it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3DoStep(
    instance: *mut c_void,
    time: f64,
    step_size: f64,
    _no_set_state_before: u8,
    event_handling_needed: *mut bool,
    terminate_simulation: *mut bool,
    early_return: *mut bool,
    last_successful_time: *mut f64,
) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        enter(instance, &calls::DO_STEP, |fmu| {
            let event = optional("eventHandlingNeeded", event_handling_needed)?;
            let terminate = optional("terminateSimulation", terminate_simulation)?;
            let early = optional("earlyReturn", early_return)?;
            let last = optional("lastSuccessfulTime", last_successful_time)?;
            let result = fmu.step(time, step_size);
            let write = |out: Option<&mut MaybeUninit<bool>>, value| {
                out.map(|out| out.write(value));
            };
            let outcome = result.as_ref().copied().unwrap_or_default();
            write(event, outcome.event);
            write(terminate, false);
            write(early, outcome.early);
            last.map(|last| last.write(fmu.component.time()));
            result.map(|_| ())
        })
    }
}

/// An output argument that may be NULL.
///
/// # Safety
/// `pointer` is NULL or points to one `T`.
pub(super) unsafe fn optional<'a, T>(
    name: &str,
    pointer: *mut T,
) -> Result<Option<&'a mut MaybeUninit<T>>> {
    match pointer.is_null() {
        true => Ok(None),
        // SAFETY: the caller's promise.
        false => unsafe { pointer::out(name, pointer).map(Some) },
    }
}
