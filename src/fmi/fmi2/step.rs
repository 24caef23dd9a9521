//! The step and its status.

use std::ffi::{c_char, c_int, c_void};

use super::enter;
use crate::error::Error;
use crate::ffi::pointer;
use crate::fmi::fmu_instance::{FmiResult, FmuFailure, FmuInstance};
use crate::fmi::gate;
use crate::fmi::lifecycle::{LifecycleCall, fmi2 as calls};
use crate::fmi::types::{
    FMI2_DO_STEP_STATUS, FMI2_LAST_SUCCESSFUL_TIME, FMI2_TERMINATED, FmiStandard, FmiStatus,
    fmi2Boolean,
};

/// Advances by one communication step. `fmi2Discard`: it ended early; `fmi2GetRealStatus` returns the time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2DoStep(
    c: *mut c_void,
    time: f64,
    step_size: f64,
    _no_set_state_before: fmi2Boolean,
) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        gate::gate_with_fast_path(
            c,
            FmiStandard::Two,
            &calls::DO_STEP,
            |fmu| fmu.took_empty_step(time, step_size),
            |fmu| fmu.step(time, step_size).map(|_| ()),
            |_, _| FmiStatus::Error,
        )
    }
}

/// Stops a step that runs in another thread after its present substep; that step returns `fmi2Discard`. Illegal while no
/// step is running.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2CancelStep(c: *mut c_void) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        gate::gate_with_fast_path(
            c,
            FmiStandard::Two,
            &calls::CANCEL_STEP,
            |_| false,
            |_| Ok(()),
            |shared, running| match running == calls::DO_STEP.name {
                true => {
                    shared.cancel_step();
                    FmiStatus::Ok
                }
                false => FmiStatus::Error,
            },
        )
    }
}

/// Writes the answer to a question about steps; returns `fmi2Discard` if it has none.
///
/// # Safety
/// `value` is NULL or points to one `T`.
unsafe fn status<T>(
    c: *mut c_void,
    call: &'static LifecycleCall,
    value: *mut T,
    answer: impl FnOnce(&FmuInstance) -> Option<T>,
) -> FmiStatus {
    // SAFETY: passed on.
    unsafe {
        enter(c, call, |fmu| -> FmiResult {
            let value = pointer::out("value", value)?;
            match answer(fmu) {
                Some(found) => {
                    value.write(found);
                    Ok(())
                }
                None => Err(FmuFailure::Discarded(Error::Argument {
                    name: "fmi2StatusKind".to_owned(),
                    value: call.text().to_owned(),
                    expected: "a question that this function answers: steps are never pending"
                        .to_owned(),
                })),
            }
        })
    }
}

/// `fmi2DoStepStatus`: the status of the last step.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetStatus(
    c: *mut c_void,
    kind: c_int,
    value: *mut FmiStatus,
) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        status(c, &calls::GET_STATUS, value, |fmu| {
            (kind == FMI2_DO_STEP_STATUS).then_some(fmu.last_step)
        })
    }
}

/// `fmi2LastSuccessfulTime`: the time that the last step reached.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetRealStatus(
    c: *mut c_void,
    kind: c_int,
    value: *mut f64,
) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        status(c, &calls::GET_REAL_STATUS, value, |fmu| {
            (kind == FMI2_LAST_SUCCESSFUL_TIME).then(|| fmu.component.time())
        })
    }
}

/// No status of this FMU is an integer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetIntegerStatus(
    c: *mut c_void,
    _kind: c_int,
    value: *mut c_int,
) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe { status(c, &calls::GET_INTEGER_STATUS, value, |_| None) }
}

/// `fmi2Terminated`: never, this FMU does not end a simulation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetBooleanStatus(
    c: *mut c_void,
    kind: c_int,
    value: *mut fmi2Boolean,
) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        status(c, &calls::GET_BOOLEAN_STATUS, value, |_| {
            (kind == FMI2_TERMINATED).then_some(0)
        })
    }
}

/// No status of this FMU is a string: steps are never pending.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetStringStatus(
    c: *mut c_void,
    _kind: c_int,
    value: *mut *const c_char,
) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe { status(c, &calls::GET_STRING_STATUS, value, |_| None) }
}
