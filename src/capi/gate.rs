//! The gate that every exported function passes: handle, lock, panics, errors.
//!
//! ```text
//!   NULL or foreign handle      -> ERROR_ARGUMENT, sentence kept by the thread
//!   another call is running     -> BUSY,           sentence kept by the thread
//!   broken by an earlier panic  -> PANIC,          sentence of that panic
//!   error                       -> its status,     sentence kept by the instance
//!   panic                       -> PANIC,          sentence kept by the instance, which is broken from now on
//! ```

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::sync::atomic::{AtomicBool, Ordering};

use super::instance::{InstanceContent, InstanceHandle, biela_instance};
use super::status::biela_status;
use crate::error::Error;
use crate::ffi::gate::catch_panic;
use crate::ffi::handle::Locked;
use crate::ffi::pointer::c_string;

/// Runs `action` on the content of an instance that no panic has broken.
///
/// # Safety
/// `instance` is NULL or a live handle; the pointers that `action` uses are its caller's promise.
#[inline]
pub(super) unsafe fn gate(
    instance: *mut biela_instance,
    call: &'static CStr,
    action: impl FnOnce(&mut InstanceContent) -> CallResult,
) -> biela_status {
    // SAFETY: passed on.
    unsafe {
        enter(instance, call, |content| match content.broken {
            true => biela_status::Panic,
            false => content.run(action),
        })
    }
}

/// Like [`gate`], but tries `fast` first, which neither panics nor calculates and needs no guard; true: the call is done.
///
/// # Safety
/// As [`gate`].
#[inline]
pub(super) unsafe fn gate_with_fast_path(
    instance: *mut biela_instance,
    call: &'static CStr,
    fast: impl FnOnce(&mut InstanceContent) -> bool,
    action: impl FnOnce(&mut InstanceContent) -> CallResult,
) -> biela_status {
    // SAFETY: passed on.
    unsafe {
        enter(instance, call, |content| {
            if content.broken {
                return biela_status::Panic;
            }
            #[cfg(feature = "fault-injection")]
            let fast_allowed = !content.fault;
            #[cfg(not(feature = "fault-injection"))]
            let fast_allowed = true;
            match fast_allowed && fast(content) {
                true => biela_status::Ok,
                false => content.run(action),
            }
        })
    }
}

/// Like [`gate`], but also for broken instances: for the call that repairs them.
///
/// # Safety
/// As [`gate`].
pub(super) unsafe fn gate_even_if_broken(
    instance: *mut biela_instance,
    call: &'static CStr,
    action: impl FnOnce(&mut InstanceContent) -> CallResult,
) -> biela_status {
    // SAFETY: passed on.
    unsafe { enter(instance, call, |content| content.run(action)) }
}

/// Runs `inside` with the instance locked.
///
/// # Safety
/// As [`gate`].
#[inline]
unsafe fn enter(
    instance: *mut biela_instance,
    call: &'static CStr,
    inside: impl FnOnce(&mut InstanceContent) -> biela_status,
) -> biela_status {
    // SAFETY: the caller's promise.
    match unsafe { lock(instance, call) } {
        Ok((handle, mut content)) => {
            let status = inside(&mut content);
            if status != biela_status::Ok {
                // A logger that called back during this call was answered BUSY before this call failed.
                forget_busy_sentence(handle);
            }
            status
        }
        Err(status) => status,
    }
}

/// Checks the handle and locks it; on failure the thread keeps the sentence.
///
/// # Safety
/// As [`gate`].
#[inline]
pub(super) unsafe fn lock<'a>(
    instance: *mut biela_instance,
    call: &'static CStr,
) -> Result<(&'a InstanceHandle, Locked<'a, InstanceContent>), biela_status> {
    // SAFETY: the caller's promise.
    let handle = unsafe { biela_instance::open(instance, call) }.map_err(|e| fail(e.into()))?;
    match handle.lock(call) {
        Ok(content) => {
            forget_busy_sentence(handle);
            Ok((handle, content))
        }
        Err(running) => Err(keep_busy_sentence(
            handle,
            CallFailure::busy("instance", call, running),
        )),
    }
}

/// Runs a call that makes something new: no instance can keep its sentence, so the thread does.
pub(super) fn create(action: impl FnOnce() -> CallResult) -> biela_status {
    match catch_panic(action) {
        Ok(()) => biela_status::Ok,
        Err(failure) => fail(failure),
    }
}

/// Keeps the sentence of a failure with the thread and returns its status.
pub(super) fn fail(failure: CallFailure) -> biela_status {
    // A thread whose locals are destroyed already loses the sentence, not the status.
    let _ = THREAD_SENTENCE.try_with(|kept| kept.replace(Some(failure.sentence)));
    failure.status
}

// --- results of a call ----------------------------------------------------------------------------------------------

/// Status and sentence of a failed call.
#[derive(Debug)]
pub(super) struct CallFailure {
    pub(super) status: biela_status,
    pub(super) sentence: CString,
}

/// Result of an action behind the gate.
pub(super) type CallResult<T = ()> = Result<T, CallFailure>;

impl From<Error> for CallFailure {
    fn from(error: Error) -> Self {
        Self {
            status: biela_status::from(&error),
            sentence: c_string(&error.to_string()),
        }
    }
}

impl CallFailure {
    /// `call` found `object` locked by `running`.
    pub(super) fn busy(object: &str, call: &CStr, running: &CStr) -> Self {
        let (call, running) = (call.to_string_lossy(), running.to_string_lossy());
        Self {
            status: biela_status::Busy,
            sentence: c_string(&format!(
                "{call} must wait: the {object} is busy with {running}"
            )),
        }
    }
}

// --- sentences kept by the thread -----------------------------------------------------------------------------------

thread_local! {
    /// Sentence of this thread's last call that failed without an instance.
    static THREAD_SENTENCE: RefCell<Option<CString>> = const { RefCell::new(None) };
    /// Sentence of this thread's last call that found an instance busy, with the address of that instance.
    static BUSY_SENTENCE: RefCell<(usize, Option<CString>)> = const { RefCell::new((0, None)) };
}

/// A thread keeps a busy sentence. As long as none does, calls need not search for one.
static ANY_BUSY: AtomicBool = AtomicBool::new(false);

#[cold]
fn keep_busy_sentence(handle: &InstanceHandle, failure: CallFailure) -> biela_status {
    // A thread sees its own store; the sentences of other threads do not matter to it.
    ANY_BUSY.store(true, Ordering::Relaxed);
    let sentence = (std::ptr::from_ref(handle).addr(), Some(failure.sentence));
    let _ = BUSY_SENTENCE.try_with(|kept| kept.replace(sentence));
    failure.status
}

#[inline]
fn forget_busy_sentence(handle: &InstanceHandle) {
    if ANY_BUSY.load(Ordering::Relaxed) {
        forget_busy_sentence_of(std::ptr::from_ref(handle).addr());
    }
}

fn forget_busy_sentence_of(address: usize) {
    let _ = BUSY_SENTENCE.try_with(|kept| {
        let mut kept = kept.borrow_mut();
        if kept.0 == address {
            kept.0 = 0;
        }
    });
}

/// The sentence of this thread's last failure without an instance.
pub(super) fn thread_sentence() -> *const c_char {
    THREAD_SENTENCE
        .try_with(|kept| kept.borrow().as_deref().unwrap_or(c"").as_ptr())
        .unwrap_or(c"".as_ptr())
}

/// The sentence of an instance's last failure, as seen from this thread.
pub(super) fn sentence(handle: &InstanceHandle, call: &'static CStr) -> *const c_char {
    let address = std::ptr::from_ref(handle).addr();
    let busy = BUSY_SENTENCE.try_with(|kept| {
        let kept = kept.borrow();
        (kept.0 == address).then(|| kept.1.as_deref().unwrap_or(c"").as_ptr())
    });
    if let Ok(Some(sentence)) = busy {
        return sentence;
    }
    match handle.lock(call) {
        // The text lives until the next failure, longer than the lock.
        Ok(content) => content.sentence.as_ptr(),
        Err(_) => c"the instance is busy with another call".as_ptr(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_status_of_its_own() {
        let result: CallResult = catch_panic(|| panic!("the {} broke", "rod"));
        let failure = result.unwrap_err();
        assert_eq!(failure.status, biela_status::Panic);
        assert!(failure.sentence.to_str().unwrap().contains("the rod broke"));
    }
}
