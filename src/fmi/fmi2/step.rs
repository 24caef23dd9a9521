//! Steps and what can be asked about them.

use std::ffi::{c_char, c_int, c_void};

use super::enter;
use crate::capi::pointer;
use crate::error::Error;
use crate::fmi::fmu_instance::{FmiStandard, FmuFailure, Outcome};
use crate::fmi::gate;
use crate::fmi::lifecycle::{LifecycleCall, fmi2 as calls};
use crate::fmi::types::{
    FMI2_DO_STEP_STATUS, FMI2_LAST_SUCCESSFUL_TIME, FMI2_TERMINATED, FmiStatus, fmi2Boolean,
};

/// One communication step. `fmi2Discard`: it went only part of the way, `fmi2GetRealStatus` says how far.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2DoStep(
    c: *mut c_void,
    time: f64,
    step_size: f64,
    _no_set_state_before: fmi2Boolean,
) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe { enter(c, &calls::DO_STEP, |unit| unit.step(time, step_size)) }
}

/// Stops a step that runs in another thread after its present substep; that step answers `fmi2Discard`. Illegal while
/// none runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2CancelStep(c: *mut c_void) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        gate::gate_or(
            c,
            FmiStandard::Two,
            &calls::CANCEL_STEP,
            |_| false,
            |_| Ok(()),
            |handle, running| match running == calls::DO_STEP.name {
                true => {
                    handle.cancel_step();
                    FmiStatus::Ok
                }
                false => FmiStatus::Error,
            },
        )
    }
}

/// Answers a question about steps; one that has no answer is discarded.
///
/// # Safety
/// `value` is NULL or points to one `T`.
unsafe fn ask<T>(
    c: *mut c_void,
    call: &'static LifecycleCall,
    value: *mut T,
    answer: impl FnOnce(&crate::fmi::fmu_instance::FmuInstance) -> Option<T>,
) -> FmiStatus {
    // SAFETY: passed on.
    unsafe {
        enter(c, call, |unit| -> Outcome {
            let place = pointer::place("value", value)?;
            match answer(unit) {
                Some(found) => {
                    place.write(found);
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

/// `fmi2DoStepStatus`: what the last step answered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetStatus(
    c: *mut c_void,
    kind: c_int,
    value: *mut FmiStatus,
) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        ask(c, &calls::GET_STATUS, value, |unit| {
            (kind == FMI2_DO_STEP_STATUS).then_some(unit.last_step)
        })
    }
}

/// `fmi2LastSuccessfulTime`: how far the last step came.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetRealStatus(
    c: *mut c_void,
    kind: c_int,
    value: *mut f64,
) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        ask(c, &calls::GET_REAL_STATUS, value, |unit| {
            (kind == FMI2_LAST_SUCCESSFUL_TIME).then(|| unit.component.time())
        })
    }
}

/// No question has a whole number for an answer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetIntegerStatus(
    c: *mut c_void,
    _kind: c_int,
    value: *mut c_int,
) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe { ask(c, &calls::GET_INTEGER_STATUS, value, |_| None) }
}

/// `fmi2Terminated`: this unit never wants to end a simulation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetBooleanStatus(
    c: *mut c_void,
    kind: c_int,
    value: *mut fmi2Boolean,
) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        ask(c, &calls::GET_BOOLEAN_STATUS, value, |_| {
            (kind == FMI2_TERMINATED).then_some(0)
        })
    }
}

/// Steps are never pending, so there is nothing to tell.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetStringStatus(
    c: *mut c_void,
    _kind: c_int,
    value: *mut *const c_char,
) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe { ask(c, &calls::GET_STRING_STATUS, value, |_| None) }
}
