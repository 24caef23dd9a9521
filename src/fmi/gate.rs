//! The gate that every FMI call passes.
//!
//! ```text
//!   NULL or foreign handle    -> error
//!   another call is running   -> error; only CancelStep and, in an intermediate update, the getters are answered
//!   not legal in this phase   -> error, logged, nothing changed
//!   error                     -> error (or discard), logged
//!   panic                     -> error, logged, phase Error until reset
//! ```

use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::fmu_instance::{FmiResult, FmuFailure, FmuInstance};
use super::intermediate_update::IntermediateValues;
use super::lifecycle::{LifecycleCall, LifecyclePhase};
use super::logger::FmiLogCategory;
use super::types::{FmiStandard, FmiStatus};
use crate::error::Error;
use crate::ffi::gate::catch_panic;
use crate::ffi::handle::{self, Handle};

/// The object that an importer holds a pointer to.
pub(super) type FmuHandle = Handle<FmuInstance, FmuShared>;

/// The part of an FMU instance that may be used while a step is running.
pub(super) struct FmuShared {
    /// Stops a running step.
    cancel: Mutex<Arc<AtomicBool>>,
    /// Values that an importer may read in an intermediate update.
    pub(super) intermediate: IntermediateValues,
}

impl FmuShared {
    /// Asks the running step to stop.
    pub fn cancel_step(&self) {
        let flag = self.cancel.lock().unwrap_or_else(PoisonError::into_inner);
        flag.store(true, Ordering::Relaxed);
    }
}

/// Marks the instances of a standard.
const fn tag(standard: FmiStandard) -> [u8; 8] {
    match standard {
        FmiStandard::Two => *b"biela-f2",
        FmiStandard::Three => *b"biela-f3",
    }
}

/// A handle for an importer to keep.
pub(super) fn make(fmu: FmuInstance, intermediate: IntermediateValues) -> *mut c_void {
    let shared = FmuShared {
        cancel: Mutex::new(fmu.component.cancel_flag()),
        intermediate,
    };
    Box::into_raw(Box::new(FmuHandle::new(tag(fmu.standard), shared, fmu))).cast()
}

/// What a call does with the FMU, called once. Not a type parameter: the gate exists once, not once for each of 80 calls.
type Action<'a> = &'a mut dyn FnMut(&mut FmuInstance) -> FmiResult;

/// Passes `action` on as an [`Action`].
#[inline]
fn as_action<R>(
    action: impl FnOnce(&mut FmuInstance) -> FmiResult,
    run: impl FnOnce(Action) -> R,
) -> R {
    let mut action = Some(action);
    run(&mut |fmu| action.take().map_or(Ok(()), |action| action(fmu)))
}

/// Runs `action` on the FMU if `call` is legal now.
///
/// # Safety
/// `instance` is NULL or a live handle; the pointers that `action` uses are its caller's promise.
#[inline]
pub(super) unsafe fn gate(
    instance: *mut c_void,
    standard: FmiStandard,
    call: &'static LifecycleCall,
    action: impl FnOnce(&mut FmuInstance) -> FmiResult,
) -> FmiStatus {
    // SAFETY: passed on.
    as_action(action, |action| unsafe {
        pass(instance, standard, call, action)
    })
}

/// As [`gate`].
///
/// # Safety
/// As [`gate`].
#[inline(never)]
unsafe fn pass(
    instance: *mut c_void,
    standard: FmiStandard,
    call: &'static LifecycleCall,
    action: Action,
) -> FmiStatus {
    // SAFETY: passed on.
    let Some(handle) = (unsafe { open(instance, standard) }) else {
        return FmiStatus::Error;
    };
    // A busy FMU answers by the status alone: its logger belongs to the running call.
    let Ok(mut fmu) = handle.lock(call.name) else {
        return FmiStatus::Error;
    };
    match call.legal_in(fmu.phase) {
        true => guarded(&handle.shared, &mut fmu, action),
        false => not_legal(&fmu, call),
    }
}

/// Like [`gate`], but tries `fast` first, which cannot panic and needs no guard; true: the call is done. While another call
/// is running, `busy` answers from the shared part of the FMU and the name of that call.
///
/// # Safety
/// As [`gate`].
#[inline]
pub(super) unsafe fn gate_with_fast_path(
    instance: *mut c_void,
    standard: FmiStandard,
    call: &'static LifecycleCall,
    fast: impl FnOnce(&mut FmuInstance) -> bool,
    action: impl FnOnce(&mut FmuInstance) -> FmiResult,
    busy: impl FnOnce(&FmuShared, &CStr) -> FmiStatus,
) -> FmiStatus {
    // SAFETY: passed on.
    let Some(handle) = (unsafe { open(instance, standard) }) else {
        return FmiStatus::Error;
    };
    let mut fmu = match handle.lock(call.name) {
        Ok(fmu) => fmu,
        Err(running) => return busy(&handle.shared, running),
    };
    if !call.legal_in(fmu.phase) {
        return not_legal(&fmu, call);
    }
    #[cfg(feature = "fault-injection")]
    let fast_allowed = !fmu.fault;
    #[cfg(not(feature = "fault-injection"))]
    let fast_allowed = true;
    match fast_allowed && fast(&mut fmu) {
        true => FmiStatus::Ok,
        false => as_action(action, |action| guarded(&handle.shared, &mut fmu, action)),
    }
}

/// The handle behind a pointer; `None` if it is NULL or not one of this standard.
///
/// # Safety
/// As [`gate`].
#[inline]
unsafe fn open<'a>(instance: *mut c_void, standard: FmiStandard) -> Option<&'a FmuHandle> {
    // SAFETY: the caller's promise.
    unsafe { FmuHandle::open(instance.cast(), tag(standard)) }
}

/// The answer to a call that is not legal in this phase.
#[cold]
fn not_legal(fmu: &FmuInstance, call: &'static LifecycleCall) -> FmiStatus {
    log_error(fmu, illegal(call, fmu.phase))
}

/// Runs `action` after the pending inputs are set; a panic becomes an error. Never inlined: a call on the fast path would save and
/// restore the registers that only this needs.
#[inline(never)]
fn guarded(shared: &FmuShared, fmu: &mut FmuInstance, action: Action) -> FmiStatus {
    let result = catch_panic(|| {
        #[cfg(feature = "fault-injection")]
        if std::mem::take(&mut fmu.fault) {
            panic!("injected fault");
        }
        fmu.pending_inputs.flush(&mut fmu.component)?;
        action(fmu)
    });
    match result {
        Ok(()) => FmiStatus::Ok,
        Err(failure) => on_failure(shared, fmu, failure),
    }
}

#[cold]
fn on_failure(shared: &FmuShared, fmu: &mut FmuInstance, failure: FmuFailure) -> FmiStatus {
    match failure {
        FmuFailure::Failed(error) => {
            if matches!(error, Error::Internal { .. }) {
                fmu.broken = true;
                fmu.phase = LifecyclePhase::Error;
                shared.intermediate.lock().close();
            }
            log_error(fmu, error)
        }
        FmuFailure::Discarded(error) => {
            // FMI 2 has a state for a failed step; in FMI 3 the unit has gone back.
            let sentence = match fmu.three() {
                true => format!(
                    "{error}; the unit is back at t = {:?} s",
                    fmu.component.time()
                ),
                false => error.to_string(),
            };
            fmu.logger
                .log(FmiStatus::Discard, FmiLogCategory::Discard, &sentence);
            FmiStatus::Discard
        }
    }
}

#[cold]
fn log_error(fmu: &FmuInstance, error: Error) -> FmiStatus {
    fmu.logger
        .log(FmiStatus::Error, FmiLogCategory::Error, &error.to_string());
    FmiStatus::Error
}

/// The error of a call that is not legal in this phase.
#[cold]
fn illegal(call: &'static LifecycleCall, phase: LifecyclePhase) -> Error {
    let never = !LifecyclePhase::ALL
        .into_iter()
        .any(|phase| call.legal_in(phase));
    Error::CallOrder {
        call: call.text(),
        reason: match phase {
            _ if never => "this is a co-simulation FMU without clocks and structural parameters",
            LifecyclePhase::Instantiated => "the FMU has only been instantiated",
            LifecyclePhase::Initialization => "the FMU is in initialization mode",
            LifecyclePhase::Step => "the FMU is in step mode",
            LifecyclePhase::StepFailed => "the last step failed; set a state, reset or terminate",
            LifecyclePhase::Terminated => "the FMU has been terminated",
            LifecyclePhase::Error => "the library has failed; reset the FMU",
            LifecyclePhase::Event => "the FMU is in event mode",
        },
    }
}

/// Like [`gate`], for calls that may replace the component: its new cancel flag is shared afterwards.
///
/// # Safety
/// As [`gate`].
pub(super) unsafe fn gate_replacing_component(
    instance: *mut c_void,
    standard: FmiStandard,
    call: &'static LifecycleCall,
    action: impl FnOnce(&mut FmuInstance) -> FmiResult,
) -> FmiStatus {
    // SAFETY: passed on.
    unsafe {
        gate(instance, standard, call, |fmu| {
            action(fmu)?;
            if let Some(handle) = open(instance, standard) {
                let cancel = &handle.shared.cancel;
                *cancel.lock().unwrap_or_else(PoisonError::into_inner) =
                    fmu.component.cancel_flag();
            }
            Ok(())
        })
    }
}

/// Frees an instance, but not while a call is running.
///
/// # Safety
/// `instance` is NULL or a live handle that is not used any more.
pub(super) unsafe fn free(instance: *mut c_void, standard: FmiStandard) {
    // SAFETY: the caller's promise.
    let Some(handle) = (unsafe { open(instance, standard) }) else {
        return;
    };
    let Ok(locked) = handle.lock(c"FreeInstance") else {
        return;
    };
    let _ = catch_panic(|| -> FmiResult {
        // SAFETY: made by `make`, locked, and by the caller's promise not used any more.
        unsafe { handle::free(locked, instance.cast::<FmuHandle>()) };
        Ok(())
    });
}
