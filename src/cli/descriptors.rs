//! Detects whether the program was started without standard output.
//!
//! Before `main`, the runtime opens `/dev/null` in place of a closed standard stream, so that no
//! other file gets its number. Output then vanishes without an error. This check therefore runs
//! earlier, as a function called by the loader before the runtime starts.

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
mod before_main {
    use std::os::fd::BorrowedFd;
    use std::sync::atomic::{AtomicBool, Ordering};

    static CLOSED: AtomicBool = AtomicBool::new(false);

    extern "C" fn look() {
        const STDOUT: i32 = 1;
        // SAFETY: the descriptor is only queried, not used; it may be closed.
        #[allow(unsafe_code)]
        let stdout = unsafe { BorrowedFd::borrow_raw(STDOUT) };
        CLOSED.store(rustix::io::fcntl_getfd(stdout).is_err(), Ordering::Relaxed);
    }

    // SAFETY: the section holds functions of this type; `look` takes no argument and needs nothing
    // from the runtime.
    #[allow(unsafe_code)]
    #[used]
    #[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
    #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
    static LOOK: extern "C" fn() = look;

    pub fn stdout_was_closed() -> bool {
        CLOSED.load(Ordering::Relaxed)
    }
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
pub use before_main::stdout_was_closed;

/// Returns false on other systems, where it is unknown.
#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
pub fn stdout_was_closed() -> bool {
    false
}
