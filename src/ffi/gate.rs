//! One call at a time, and no panic crosses the boundary.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::ptr::null_mut;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use super::float_environment::DefaultEnvironment;
use crate::error::Error;

/// Name of the call that is running on an object; NULL if none is.
#[derive(Default)]
pub(crate) struct RunningCall(AtomicPtr<c_char>);

/// The lock that a running call holds on its object; released when dropped.
pub(crate) struct CallLock<'a>(&'a RunningCall);

impl RunningCall {
    /// Locks the object for `call`, or returns the name of the call that is running. Never waits.
    #[inline]
    pub fn lock(&self, call: &'static CStr) -> Result<CallLock<'_>, &'static CStr> {
        let name = call.as_ptr().cast_mut();
        match (self.0).compare_exchange(null_mut(), name, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => Ok(CallLock(self)),
            // SAFETY: only the line above stores anything but NULL here, always a 'static string.
            Err(running) => Err(unsafe { CStr::from_ptr(running) }),
        }
    }
}

impl Drop for CallLock<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.0.store(null_mut(), Ordering::Release);
    }
}

thread_local! {
    /// Number of nested [`catch_panic`] of this thread.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// Text and source position of the last panic, noted by the hook.
    static PANIC_TEXT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs `action` in the default floating-point environment; a panic becomes an [`Error::Internal`] with its text and source
/// position, and prints nothing.
#[inline]
pub(crate) fn catch_panic<T, E: From<Error>>(
    action: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    if !INSTALLED.load(Ordering::Relaxed) {
        install_hook();
    }
    let _environment = DefaultEnvironment::enter();
    let _ = DEPTH.try_with(|depth| depth.set(depth.get() + 1));
    // Objects that a panic leaves inconsistent are never read again: their instance is broken from then on.
    let result = catch_unwind(AssertUnwindSafe(action));
    let _ = DEPTH.try_with(|depth| depth.set(depth.get() - 1));
    result.unwrap_or_else(|payload| {
        let noted = PANIC_TEXT.try_with(RefCell::take).ok().flatten();
        let message = noted.unwrap_or_else(|| payload_text(&*payload).to_owned());
        Err(Error::Internal { message }.into())
    })
}

/// The panic hook of this library is installed.
static INSTALLED: AtomicBool = AtomicBool::new(false);

/// Installs a hook that notes panics inside [`catch_panic`] and passes all others to the previous hook.
#[cold]
fn install_hook() {
    static ONCE: Once = Once::new();
    // The hook cannot be changed while panicking; the message is then printed as usual.
    if std::thread::panicking() {
        return;
    }
    ONCE.call_once(|| {
        let previous = take_hook();
        set_hook(Box::new(move |info| {
            if DEPTH.try_with(Cell::get).unwrap_or(0) == 0 {
                return previous(info);
            }
            let position = info
                .location()
                .map_or_else(String::new, |l| format!(" ({l})"));
            let text = format!("{}{position}", payload_text(info.payload()));
            let _ = PANIC_TEXT.try_with(|noted| noted.replace(Some(text)));
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
    fn a_panic_becomes_an_error_with_its_text_and_source_position() {
        let result: Result<(), Error> = catch_panic(|| panic!("the {} broke", "rod"));
        let sentence = result.unwrap_err().to_string();
        assert!(sentence.contains(": the rod broke ("), "{sentence}");
        assert!(sentence.contains("gate.rs:"), "{sentence}");
    }

    #[test]
    fn a_lock_is_given_once_and_names_its_holder() {
        let running = RunningCall::default();
        let first = running.lock(c"first").ok();
        assert!(first.is_some());
        assert_eq!(running.lock(c"second").err(), Some(c"first"));
        drop(first);
        assert!(running.lock(c"third").is_ok());
    }
}
