//! CPU time of this process, which has one thread.

use std::time::Duration;

/// Returns the CPU time that the process has used, user and system.
#[cfg(unix)]
pub fn cpu() -> Duration {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: t is a valid timespec. The call writes to nothing else.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut t) };
    assert_eq!(failed, 0, "this system has no clock of CPU time");
    Duration::new(t.tv_sec as u64, t.tv_nsec as u32)
}

/// Returns the time since the first call: this system has no CPU clock that we read.
#[cfg(not(unix))]
pub fn cpu() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}
