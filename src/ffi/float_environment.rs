//! The floating-point environment: rounding, traps, flushing of subnormal numbers.
//!
//! A host may trap on division by zero, round upwards or flush subnormal numbers. Calculations here assume the default of
//! IEEE 754: a host's traps would end it inside a harmless division, its rounding would change the bits of the results.
//!
//! ```text
//!   host ── call ──> [default] ── callback ──> [host's] ── return ──> [default] ── return ──> host: its own, unchanged
//! ```
//!
//! The control word is that of the processor (MXCSR on x86-64, FPCR on 64-bit ARM). The flags of exceptions that have
//! occurred are given back with it if the host has changed the control word; else they stay raised, as by any library.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(target_arch = "x86_64")]
mod register {
    use std::arch::asm;

    /// All traps masked, round to nearest, subnormal numbers kept.
    pub const DEFAULT: u64 = 0x1f80;
    /// The bits that control calculations; the rest are flags.
    pub const CONTROL: u64 = 0xffc0;

    #[inline]
    pub fn read() -> u64 {
        let mut word = 0_u32;
        // SAFETY: stores the control word in a local.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut word, options(nostack, preserves_flags)) };
        u64::from(word)
    }

    #[inline]
    pub fn write(word: u64) {
        let word = word as u32;
        // SAFETY: a word that was read from the register, or its default.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const word, options(nostack, preserves_flags)) };
    }
}

#[cfg(target_arch = "aarch64")]
mod register {
    use std::arch::asm;

    /// All traps masked, round to nearest, subnormal numbers kept.
    pub const DEFAULT: u64 = 0;
    /// All defined bits control calculations; the flags are in another register.
    pub const CONTROL: u64 = 0x07f7_9f07;

    #[inline]
    pub fn read() -> u64 {
        let word: u64;
        // SAFETY: reads a register.
        unsafe { asm!("mrs {}, fpcr", out(reg) word, options(nomem, nostack, preserves_flags)) };
        word
    }

    #[inline]
    pub fn write(word: u64) {
        // SAFETY: a word that was read from the register, or its default.
        unsafe { asm!("msr fpcr, {}", in(reg) word, options(nostack, preserves_flags)) };
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod register {
    pub const DEFAULT: u64 = 0;
    pub const CONTROL: u64 = 0;

    pub fn read() -> u64 {
        DEFAULT
    }

    pub fn write(_word: u64) {}
}

use register::{CONTROL, DEFAULT};

/// Not a control word: no call is running on this thread, its environment is the host's.
const NO_CALL: u64 = u64::MAX;

thread_local! {
    /// Control word of the host whose call is running on this thread.
    static HOST: Cell<u64> = const { Cell::new(NO_CALL) };
}

/// Some thread has come with another control word than the default; as long as none has, callbacks need not look.
static ANY_FOREIGN: AtomicBool = AtomicBool::new(false);

fn is_default(word: u64) -> bool {
    word & CONTROL == DEFAULT & CONTROL
}

/// The default environment for the calculations of a call; the host's is given back when this value is dropped.
pub(crate) struct DefaultEnvironment {
    /// The host's control word, and that of the call around this one; `None` if the host has the default.
    replaced: Option<(u64, u64)>,
}

impl DefaultEnvironment {
    /// Sets the default if the host has another environment.
    #[inline]
    pub fn enter() -> Self {
        let host = register::read();
        let replaced = match is_default(host) && !ANY_FOREIGN.load(Ordering::Relaxed) {
            true => None,
            false => replace(host),
        };
        Self { replaced }
    }
}

#[cold]
fn replace(host: u64) -> Option<(u64, u64)> {
    // Also for a host with the default: a callback of another host may have called it, whose word must not be used here.
    ANY_FOREIGN.store(true, Ordering::Relaxed);
    let outer = HOST.try_with(|word| word.replace(host)).ok()?;
    register::write(DEFAULT);
    Some((host, outer))
}

impl Drop for DefaultEnvironment {
    #[inline]
    fn drop(&mut self) {
        if let Some((host, outer)) = self.replaced {
            let _ = HOST.try_with(|word| word.set(outer));
            register::write(host);
        }
    }
}

/// Runs code of the host (a callback, a logger) in the host's environment.
#[inline]
pub(crate) fn in_host_environment<T>(code: impl FnOnce() -> T) -> T {
    match ANY_FOREIGN.load(Ordering::Relaxed) {
        false => code(),
        true => in_foreign_environment(code),
    }
}

#[cold]
fn in_foreign_environment<T>(code: impl FnOnce() -> T) -> T {
    let host = HOST.try_with(Cell::get).unwrap_or(NO_CALL);
    if host == NO_CALL {
        return code();
    }
    let own = register::read();
    register::write(host);
    let result = code();
    register::write(own);
    result
}

#[cfg(test)]
#[cfg(target_arch = "x86_64")]
mod tests {
    use super::*;
    use std::hint::black_box;

    /// Rounding upwards, trap on division by zero.
    const FOREIGN: u64 = (DEFAULT | 0x4000) & !0x0200;

    #[inline(never)]
    fn rounds_upwards() -> bool {
        black_box(1.0) + black_box(1e-30) > 1.0
    }

    #[test]
    fn calculations_have_the_default_and_callbacks_the_hosts_environment() {
        let before = register::read();
        register::write(FOREIGN);
        let seen = {
            let _environment = DefaultEnvironment::enter();
            let inside = rounds_upwards() || black_box(1.0) / black_box(0.0) != f64::INFINITY;
            let callback = in_host_environment(|| {
                let nested = {
                    let _environment = DefaultEnvironment::enter();
                    rounds_upwards()
                };
                (rounds_upwards(), nested)
            });
            (inside, callback, rounds_upwards())
        };
        let after = register::read();
        register::write(before);
        assert_eq!(seen, (false, (true, false), false));
        assert_eq!(after, FOREIGN, "the control word comes back, flags too");
        let _environment = DefaultEnvironment::enter();
        assert!(!in_host_environment(rounds_upwards));
    }

    #[test]
    fn outside_a_call_the_environment_is_the_hosts() {
        let before = register::read();
        register::write(FOREIGN);
        drop(DefaultEnvironment::enter());
        let upwards = in_host_environment(rounds_upwards);
        register::write(before);
        assert!(upwards);
    }
}
