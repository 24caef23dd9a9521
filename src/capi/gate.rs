//! The gate that every call passes: handle, turn, soundness, panics.
//!
//! ```text
//!   NULL or foreign handle      -> ERROR_ARGUMENT, sentence kept by the thread
//!   another call is inside      -> BUSY,           sentence kept by the thread
//!   broken by an earlier panic  -> PANIC,          sentence of that panic
//!   error                       -> its status,     sentence kept by the instance
//!   panic                       -> PANIC,          sentence kept by the instance, which is broken from now on
//! ```
//! There is never a second `&mut` to an instance: the turn is taken by one atomic exchange before the content is borrowed.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::ptr::null_mut;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use super::instance::{Content, biela_instance};
use super::status::biela_status;
use crate::error::Error;

/// Runs `action` on the content of a sound instance.
///
/// # Safety
/// `instance` is NULL or a live handle; what `action` does with pointers rests on its caller's promise.
#[inline]
pub(super) unsafe fn gate(
    instance: *mut biela_instance,
    call: &'static CStr,
    action: impl FnOnce(&mut Content) -> Outcome,
) -> biela_status {
    // SAFETY: passed on.
    unsafe {
        enter(instance, call, |content| match content.broken {
            true => biela_status::Panic,
            false => content.run(action),
        })
    }
}

/// Like [`gate`], but lets a broken instance in: for the call that mends it.
///
/// # Safety
/// As [`gate`].
pub(super) unsafe fn gate_even_if_broken(
    instance: *mut biela_instance,
    call: &'static CStr,
    action: impl FnOnce(&mut Content) -> Outcome,
) -> biela_status {
    // SAFETY: passed on.
    unsafe { enter(instance, call, |content| content.run(action)) }
}

/// Takes the turn for `inside`.
///
/// # Safety
/// As [`gate`].
#[inline]
unsafe fn enter(
    instance: *mut biela_instance,
    call: &'static CStr,
    inside: impl FnOnce(&mut Content) -> biela_status,
) -> biela_status {
    // SAFETY: the caller's promise.
    match unsafe { claim(instance, call) } {
        Ok((handle, _turn)) => {
            // SAFETY: the turn is ours until the end of this arm, so this is the only reference to the content.
            let status = inside(unsafe { &mut *handle.0.content.get() });
            if status != biela_status::Ok {
                // A logger that has called back from inside was refused before this call failed.
                forget_refusal(handle);
            }
            status
        }
        Err(status) => status,
    }
}

/// Checks the handle and takes its turn; the status and the thread's sentence say why not.
///
/// # Safety
/// As [`gate`].
#[inline]
pub(super) unsafe fn claim<'a>(
    instance: *mut biela_instance,
    call: &'static CStr,
) -> std::result::Result<(&'a biela_instance, Turn<'a>), biela_status> {
    // SAFETY: the caller's promise.
    let handle = unsafe { biela_instance::open(instance, call) }.map_err(|e| refuse(e.into()))?;
    match Turn::take(&handle.0.running, call) {
        Ok(turn) => {
            forget_refusal(handle);
            Ok((handle, turn))
        }
        Err(running) => Err(remember_refusal(
            handle,
            Failure::busy("instance", call, running),
        )),
    }
}

/// A call that makes something new: no instance could keep its sentence, so the thread does.
pub(super) fn create(action: impl FnOnce() -> Outcome) -> biela_status {
    match quietly(action) {
        Ok(()) => biela_status::Ok,
        Err(failure) => refuse(failure),
    }
}

/// Keeps the sentence with the thread.
pub(super) fn refuse(failure: Failure) -> biela_status {
    // A thread whose locals are gone already loses the sentence, not the status.
    let _ = ORPHAN.try_with(|orphan| orphan.replace(Some(failure.sentence)));
    failure.status
}

// --- what a call leaves behind --------------------------------------------------------------------------------------

/// What C is told of a failure.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) status: biela_status,
    pub(super) sentence: CString,
}

/// What an action behind the gate answers.
pub(super) type Outcome<T = ()> = std::result::Result<T, Failure>;

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self {
            status: biela_status::from(&error),
            sentence: c_text(&error.to_string()),
        }
    }
}

impl Failure {
    /// `call` has found `what` in use by `running`.
    pub(super) fn busy(what: &str, call: &CStr, running: &CStr) -> Self {
        let (call, running) = (call.to_string_lossy(), running.to_string_lossy());
        Self {
            status: biela_status::Busy,
            sentence: c_text(&format!(
                "{call} must wait: the {what} is busy with {running}"
            )),
        }
    }
}

/// Text for C: a NUL inside would end it early.
pub(crate) fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{FFFD}")).expect("the NULs have been replaced")
}

// --- whose turn it is -----------------------------------------------------------------------------------------------

/// The right to be the only one inside an instance or a state. `running` holds the name of the call that has it.
pub(crate) struct Turn<'a>(&'a AtomicPtr<c_char>);

impl<'a> Turn<'a> {
    /// Takes the turn, or says which call has it.
    #[inline]
    pub(crate) fn take(
        running: &'a AtomicPtr<c_char>,
        call: &'static CStr,
    ) -> std::result::Result<Self, &'static CStr> {
        let name = call.as_ptr().cast_mut();
        match running.compare_exchange(null_mut(), name, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => Ok(Self(running)),
            // SAFETY: only the line above stores anything but NULL here, always a 'static string.
            Err(other) => Err(unsafe { CStr::from_ptr(other) }),
        }
    }
}

impl Drop for Turn<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.store(null_mut(), Ordering::Release);
    }
}

// --- sentences that no instance can keep ----------------------------------------------------------------------------

thread_local! {
    /// Of the last call of this thread that failed without an instance.
    static ORPHAN: RefCell<Option<CString>> = const { RefCell::new(None) };
    /// Of the last call of this thread that found an instance busy, with that instance's address.
    static REFUSAL: RefCell<(usize, Option<CString>)> = const { RefCell::new((0, None)) };
}

/// Some thread has remembered a refusal: as long as none has, no call needs to look.
static REFUSED: AtomicBool = AtomicBool::new(false);

#[cold]
fn remember_refusal(handle: &biela_instance, failure: Failure) -> biela_status {
    // A thread sees its own store; refusals of others do not concern it.
    REFUSED.store(true, Ordering::Relaxed);
    let refusal = (std::ptr::from_ref(handle).addr(), Some(failure.sentence));
    let _ = REFUSAL.try_with(|kept| kept.replace(refusal));
    failure.status
}

#[inline]
fn forget_refusal(handle: &biela_instance) {
    if REFUSED.load(Ordering::Relaxed) {
        forget_refusal_of(handle);
    }
}

fn forget_refusal_of(handle: &biela_instance) {
    let address = std::ptr::from_ref(handle).addr();
    let _ = REFUSAL.try_with(|kept| {
        let mut kept = kept.borrow_mut();
        if kept.0 == address {
            kept.0 = 0;
        }
    });
}

/// The sentence of this thread's last failure without an instance.
pub(super) fn orphan_sentence() -> *const c_char {
    ORPHAN
        .try_with(|kept| kept.borrow().as_deref().unwrap_or(c"").as_ptr())
        .unwrap_or(c"".as_ptr())
}

/// The sentence of an instance, seen from this thread.
pub(super) fn sentence(handle: &biela_instance, call: &'static CStr) -> *const c_char {
    let address = std::ptr::from_ref(handle).addr();
    let refusal = REFUSAL.try_with(|kept| {
        let kept = kept.borrow();
        (kept.0 == address).then(|| kept.1.as_deref().unwrap_or(c"").as_ptr())
    });
    if let Ok(Some(sentence)) = refusal {
        return sentence;
    }
    match Turn::take(&handle.0.running, call) {
        // SAFETY: the turn is ours; the reference ends before it does. The text lives until the next failure.
        Ok(_turn) => unsafe { (*handle.0.content.get()).sentence.as_ptr() },
        Err(_) => c"the instance is busy with another call".as_ptr(),
    }
}

// --- panics ---------------------------------------------------------------------------------------------------------

thread_local! {
    /// How many gates this thread is inside.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// What the hook heard.
    static HEARD: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs `action`; a panic becomes an [`Error::Internal`] and prints nothing.
#[inline]
pub(crate) fn quietly<T, E: From<Error>>(
    action: impl FnOnce() -> std::result::Result<T, E>,
) -> std::result::Result<T, E> {
    if !INSTALLED.load(Ordering::Relaxed) {
        install_hook();
    }
    let _ = DEPTH.try_with(|depth| depth.set(depth.get() + 1));
    // What is left half-done by a panic is never looked at again: the instance is broken from then on.
    let outcome = catch_unwind(AssertUnwindSafe(action));
    let _ = DEPTH.try_with(|depth| depth.set(depth.get() - 1));
    outcome.unwrap_or_else(|payload| {
        let heard = HEARD.try_with(RefCell::take).ok().flatten();
        let message = heard.unwrap_or_else(|| payload_text(&*payload).to_owned());
        Err(Error::Internal { message }.into())
    })
}

/// The hook is in place.
static INSTALLED: AtomicBool = AtomicBool::new(false);

/// Panics inside a gate are noted for their sentence; all others go where they went before.
#[cold]
fn install_hook() {
    static ONCE: Once = Once::new();
    // Changing the hook is not allowed while panicking; the message is then printed, nothing worse.
    if std::thread::panicking() {
        return;
    }
    ONCE.call_once(|| {
        let previous = take_hook();
        set_hook(Box::new(move |info| {
            if DEPTH.try_with(Cell::get).unwrap_or(0) == 0 {
                return previous(info);
            }
            let place = info
                .location()
                .map_or_else(String::new, |l| format!(" ({l})"));
            let text = format!("{}{place}", payload_text(info.payload()));
            let _ = HEARD.try_with(|heard| heard.replace(Some(text)));
        }));
        INSTALLED.store(true, Ordering::Relaxed);
    });
}

fn payload_text(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a panic without a text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error_with_its_text_and_its_place() {
        let outcome: Outcome = quietly(|| panic!("the {} gave way", "rod"));
        let failure = outcome.unwrap_err();
        assert_eq!(failure.status, biela_status::Panic);
        let sentence = failure.sentence.to_str().unwrap();
        assert!(sentence.contains(": the rod gave way ("), "{sentence}");
        assert!(sentence.contains("gate.rs:"), "{sentence}");
    }

    #[test]
    fn a_turn_is_given_once_and_names_its_holder() {
        let running = AtomicPtr::new(null_mut());
        let Ok(first) = Turn::take(&running, c"first") else {
            panic!("it was free");
        };
        assert_eq!(Turn::take(&running, c"second").err(), Some(c"first"));
        drop(first);
        assert!(Turn::take(&running, c"third").is_ok());
    }

    #[test]
    fn a_nul_inside_a_sentence_does_not_cut_it() {
        assert_eq!(c_text("a\0b").to_str().unwrap(), "a\u{FFFD}b");
    }
}
