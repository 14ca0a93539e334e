//! Software prefetch into the host's caches.
//!
//! A machine with many units holds megabytes of state. Between two accesses to a request all other
//! units are stepped, so its row has left the host's caches. Popping a request therefore prefetches
//! the row of the next one.

/// Bytes of a cache line of the host.
pub(crate) const LINE_BYTES: usize = 64;

/// Prefetches `value` into the host's caches.
#[inline]
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "a hint changes no state of the program, whatever its address")]
pub fn will_be_read<T>(value: &T) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    let first: *const i8 = std::ptr::from_ref(value).cast();
    for line in (0..size_of::<T>()).step_by(LINE_BYTES) {
        // SAFETY: a prefetch of any address is allowed; this one is of `value`.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(line)) };
    }
}

/// Does nothing on hosts without a prefetch instruction.
#[inline]
#[cfg(not(target_arch = "x86_64"))]
pub fn will_be_read<T>(_: &T) {}
