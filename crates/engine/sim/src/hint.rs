//! A hint to the host: what will be read soon.
//!
//! A machine with many units holds megabytes of state, and between two visits to a request all other
//! units are stepped: its row has left the host's caches by then. Whoever takes a request from a queue
//! names the one behind it, so that its row is on its way while the others are stepped.

/// Bytes of a cache line of the host.
pub(crate) const LINE_BYTES: usize = 64;

/// Asks the host to bring `value` into its caches, where the host can be asked.
#[inline]
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "a hint changes no state of the program, whatever its address")]
pub(crate) fn will_be_read<T>(value: &T) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    let first: *const i8 = std::ptr::from_ref(value).cast();
    for line in (0..size_of::<T>()).step_by(LINE_BYTES) {
        // SAFETY: a prefetch of any address is allowed; this one is of `value`.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(line)) };
    }
}

/// Other hosts are not asked.
#[inline]
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn will_be_read<T>(_: &T) {}
