//! The gate that every FMI call passes: the one of the C ABI (`capi/gate.rs`) with the words of FMI.
//!
//! ```text
//!   NULL or foreign handle   -> error
//!   another call is inside   -> error; only CancelStep and, in an intermediate update, the getters are let through
//!   not legal in this phase  -> error, logged, nothing changed
//!   error                    -> error (or discard), logged
//!   panic                    -> error, logged, phase Error until reset
//! ```

use std::cell::UnsafeCell;
use std::ffi::{CStr, c_char, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Arc, Mutex};

use super::fmu_instance::{FmiStandard, FmuFailure, FmuInstance, Outcome};
use super::intermediate_update::SharedUpdates;
use super::lifecycle::{LifecycleCall, LifecyclePhase};
use super::logger::FmiLogCategory;
use super::types::FmiStatus;
use crate::capi::gate::{Turn, quietly};
use crate::error::Error;

/// What importers hold a pointer to.
#[repr(C)]
pub(super) struct FmuHandle {
    /// Says of which standard it is, while alive; first, so that a foreign handle is found out.
    magic: u64,
    /// Name of the call inside; NULL: nobody.
    running: AtomicPtr<c_char>,
    /// Stops a step that runs.
    cancel: Mutex<Arc<AtomicBool>>,
    /// What an intermediate update may read.
    pub(super) shared: SharedUpdates,
    /// Touched only by whoever has the turn.
    unit: UnsafeCell<FmuInstance>,
}

const fn magic(standard: FmiStandard) -> u64 {
    match standard {
        FmiStandard::Two => u64::from_be_bytes(*b"biela-f2"),
        FmiStandard::Three => u64::from_be_bytes(*b"biela-f3"),
    }
}

impl FmuHandle {
    /// A handle for an importer to keep.
    pub fn make(unit: FmuInstance, shared: SharedUpdates) -> *mut c_void {
        Box::into_raw(Box::new(Self {
            magic: magic(unit.standard),
            running: AtomicPtr::new(null_mut()),
            cancel: Mutex::new(unit.component.cancel_flag()),
            shared,
            unit: UnsafeCell::new(unit),
        }))
        .cast()
    }

    /// The handle behind a pointer, if it is one of this standard.
    ///
    /// # Safety
    /// `instance` is NULL or points to memory that can be read; if it says it is an instance, it is one.
    pub unsafe fn open<'a>(instance: *mut c_void, standard: FmiStandard) -> Option<&'a Self> {
        let handle = instance.cast::<Self>();
        if handle.is_null() || !handle.is_aligned() {
            return None;
        }
        // SAFETY: not NULL, aligned; the rest is the caller's promise.
        let found = unsafe { handle.cast::<u64>().read_volatile() };
        // SAFETY: it says it is an instance.
        (found == magic(standard)).then(|| unsafe { &*handle })
    }

    /// Asks the step inside to stop.
    pub fn cancel_step(&self) {
        let flag = self.cancel.lock().unwrap_or_else(|e| e.into_inner());
        flag.store(true, Ordering::Relaxed);
    }
}

/// Runs `action` on the unit if `call` is legal now.
///
/// # Safety
/// `instance` is NULL or a live handle; what `action` does with pointers rests on its caller's promise.
pub(super) unsafe fn gate(
    instance: *mut c_void,
    standard: FmiStandard,
    call: &'static LifecycleCall,
    action: impl FnOnce(&mut FmuInstance) -> Outcome,
) -> FmiStatus {
    // Nobody can be told of a busy unit but by the status: its logger belongs to the call inside.
    // SAFETY: passed on.
    unsafe {
        gate_or(
            instance,
            standard,
            call,
            |_| false,
            action,
            |_, _| FmiStatus::Error,
        )
    }
}

/// The same for calls that `quick` may answer without a guard against panics, because it has none; and for those that
/// have an answer while a step is inside, found by `busy` without the unit.
///
/// # Safety
/// As [`gate`].
#[inline]
pub(super) unsafe fn gate_or(
    instance: *mut c_void,
    standard: FmiStandard,
    call: &'static LifecycleCall,
    quick: impl FnOnce(&mut FmuInstance) -> bool,
    action: impl FnOnce(&mut FmuInstance) -> Outcome,
    busy: impl FnOnce(&FmuHandle, &CStr) -> FmiStatus,
) -> FmiStatus {
    // SAFETY: the caller's promise.
    let Some(handle) = (unsafe { FmuHandle::open(instance, standard) }) else {
        return FmiStatus::Error;
    };
    let _turn = match Turn::take(&handle.running, call.name) {
        Ok(turn) => turn,
        Err(running) => return busy(handle, running),
    };
    // SAFETY: the turn is ours until the end, so this is the only reference to the unit.
    let unit = unsafe { &mut *handle.unit.get() };
    if !call.legal_in(unit.phase) {
        return refuse(unit, illegal(call, unit.phase));
    }
    #[cfg(feature = "fault-injection")]
    let may_be_quick = !unit.fault;
    #[cfg(not(feature = "fault-injection"))]
    let may_be_quick = true;
    if may_be_quick && quick(unit) {
        return FmiStatus::Ok;
    }
    guarded(handle, unit, action)
}

/// The long way: what waits is told to the component first; panics are caught.
fn guarded(
    handle: &FmuHandle,
    unit: &mut FmuInstance,
    action: impl FnOnce(&mut FmuInstance) -> Outcome,
) -> FmiStatus {
    let outcome = quietly(|| {
        #[cfg(feature = "fault-injection")]
        if std::mem::take(&mut unit.fault) {
            panic!("injected fault");
        }
        unit.quick.flush(&mut unit.component)?;
        action(unit)
    });
    match outcome {
        Ok(()) => FmiStatus::Ok,
        Err(trouble) => settle(handle, unit, trouble),
    }
}

#[cold]
fn settle(handle: &FmuHandle, unit: &mut FmuInstance, trouble: FmuFailure) -> FmiStatus {
    match trouble {
        FmuFailure::Refused(error) => {
            if matches!(error, Error::Internal { .. }) {
                unit.broken = true;
                unit.phase = LifecyclePhase::Error;
                handle.shared.lock().close();
            }
            refuse(unit, error)
        }
        FmuFailure::Discarded(error) => {
            let sentence = error.to_string();
            unit.logger
                .say(FmiStatus::Discard, FmiLogCategory::Discard, &sentence);
            FmiStatus::Discard
        }
    }
}

#[cold]
fn refuse(unit: &FmuInstance, error: Error) -> FmiStatus {
    unit.logger
        .say(FmiStatus::Error, FmiLogCategory::Error, &error.to_string());
    FmiStatus::Error
}

#[cold]
fn illegal(call: &'static LifecycleCall, phase: LifecyclePhase) -> Error {
    let never = !LifecyclePhase::ALL
        .into_iter()
        .any(|phase| call.legal_in(phase));
    Error::CallOrder {
        call: call.text(),
        reason: match phase {
            _ if never => {
                "this is a co-simulation unit without event mode, clocks and structural parameters"
            }
            LifecyclePhase::Instantiated => "the unit has only been instantiated",
            LifecyclePhase::Initialization => "the unit is in initialization mode",
            LifecyclePhase::Step => "the unit is in step mode",
            LifecyclePhase::StepFailed => "the last step failed; set a state, reset or terminate",
            LifecyclePhase::Terminated => "the unit has been terminated",
            LifecyclePhase::Error => "the library has failed; reset the unit",
        },
    }
}

/// A call on an instance whose component may have been exchanged: its cancel flag is noted again.
///
/// # Safety
/// As [`gate`].
pub(super) unsafe fn gate_that_mends(
    instance: *mut c_void,
    standard: FmiStandard,
    call: &'static LifecycleCall,
    action: impl FnOnce(&mut FmuInstance) -> Outcome,
) -> FmiStatus {
    // SAFETY: passed on.
    unsafe {
        gate(instance, standard, call, |unit| {
            action(unit)?;
            if let Some(handle) = FmuHandle::open(instance, standard) {
                let mut flag = handle.cancel.lock().unwrap_or_else(|e| e.into_inner());
                *flag = unit.component.cancel_flag();
            }
            Ok(())
        })
    }
}

/// Ends an instance; not while a call is inside.
///
/// # Safety
/// `instance` is NULL or a live handle that is not used any more.
pub(super) unsafe fn free(instance: *mut c_void, standard: FmiStandard) {
    // SAFETY: the caller's promise.
    let Some(handle) = (unsafe { FmuHandle::open(instance, standard) }) else {
        return;
    };
    match Turn::take(&handle.running, c"FreeInstance") {
        Ok(turn) => std::mem::forget(turn), // never given back
        Err(_) => return,
    }
    let _ = quietly(|| -> Outcome {
        // SAFETY: made by Box::into_raw; nobody is inside, and by the caller's promise nobody comes any more.
        let mut handle = unsafe { Box::from_raw(instance.cast::<FmuHandle>()) };
        // SAFETY: a plain write to memory of ours; volatile so that it is not left out as useless.
        unsafe { (&raw mut handle.magic).write_volatile(0) };
        drop(handle);
        Ok(())
    });
}
