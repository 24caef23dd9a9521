//! The step.

use std::ffi::c_void;
use std::mem::MaybeUninit;

use super::enter;
use crate::capi::pointer;
use crate::error::Result;
use crate::fmi::lifecycle::fmi3 as calls;
use crate::fmi::types::FmiStatus;

/// One communication step. `*last_successful_time` is always written; `fmi3Discard`: the step went only that far.
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
        enter(instance, &calls::DO_STEP, |unit| {
            let event = wanted("eventHandlingNeeded", event_handling_needed)?;
            let terminate = wanted("terminateSimulation", terminate_simulation)?;
            let early = wanted("earlyReturn", early_return)?;
            let last = wanted("lastSuccessfulTime", last_successful_time)?;
            let outcome = unit.step_to(time, step_size);
            let write = |place: Option<&mut MaybeUninit<bool>>, value| {
                place.map(|place| place.write(value));
            };
            write(event, false);
            write(terminate, false);
            write(early, matches!(outcome, Ok(true)));
            last.map(|place| place.write(unit.component.time()));
            outcome.map(|_| ())
        })
    }
}

/// A place for a result; NULL: the importer does not care.
///
/// # Safety
/// `pointer` is NULL or points to one `T`.
unsafe fn wanted<'a, T>(name: &str, pointer: *mut T) -> Result<Option<&'a mut MaybeUninit<T>>> {
    match pointer.is_null() {
        true => Ok(None),
        // SAFETY: the caller's promise.
        false => unsafe { pointer::place(name, pointer).map(Some) },
    }
}
