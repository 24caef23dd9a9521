//! Ctrl-C: the first ends the run after the present step, so that what was computed is kept; the second ends the program.

use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Whether the user asked the run to end.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// The flag itself, for threads that look at it.
pub fn flag() -> &'static AtomicBool {
    &REQUESTED
}

/// From now on the first Ctrl-C only sets a flag.
#[cfg(unix)]
pub fn catch() {
    extern "C" fn note(_signal: libc::c_int) {
        REQUESTED.store(true, Ordering::Relaxed);
    }
    // SAFETY: the handler only stores to an atomic, which is allowed in a signal handler; the structure is valid for the call,
    // zero is a valid value of every field, and SA_RESETHAND restores the default for the second signal.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = note as extern "C" fn(libc::c_int) as usize;
        action.sa_flags = libc::SA_RESETHAND | libc::SA_RESTART;
        libc::sigaction(libc::SIGINT, &raw const action, std::ptr::null_mut());
    }
}

/// On other systems Ctrl-C ends the program at once.
#[cfg(not(unix))]
pub fn catch() {}
