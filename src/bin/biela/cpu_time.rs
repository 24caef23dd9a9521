//! CPU time of the process or of the calling thread, for reports of speed. Used by the command, the examples and the benches.
//!
//! On systems other than Unix it is wall time. The one `unsafe` block outside the C boundary is here: a call of the C library.

use std::time::Duration;

/// A clock of CPU time.
#[allow(dead_code)] // the command measures the process, benches the thread
#[derive(Clone, Copy, Debug)]
pub enum CpuClock {
    /// All threads of the process.
    Process,
    /// The calling thread.
    Thread,
}

impl CpuClock {
    /// CPU time since an arbitrary origin; differences are meaningful.
    #[cfg(unix)]
    pub fn now(self) -> Duration {
        let clock = match self {
            Self::Process => libc::CLOCK_PROCESS_CPUTIME_ID,
            Self::Thread => libc::CLOCK_THREAD_CPUTIME_ID,
        };
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: `time` is a valid timespec for the whole call; both clocks exist on every Unix system, and on an error it stays 0.
        unsafe { libc::clock_gettime(clock, &raw mut time) };
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }

    /// Wall time since the first call.
    #[cfg(not(unix))]
    pub fn now(self) -> Duration {
        static ORIGIN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
        ORIGIN.get_or_init(std::time::Instant::now).elapsed()
    }
}
