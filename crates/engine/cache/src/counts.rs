//! The counts of a cache.

use serde::Serialize;
use warpmem_sim::count_fields;

/// The resource that an access failed to reserve. Counted in cycles of waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum ReservationFail {
    /// Every line of the set is reserved.
    LineAlloc,
    MissQueueFull,
    MshrEntry,
    MshrMerge,
}

impl ReservationFail {
    pub const COUNT: usize = 4;
    pub const NAMES: [&'static str; ReservationFail::COUNT] =
        ["line_alloc", "miss_queue_full", "mshr_entry", "mshr_merge"];
}

/// Accesses of one cache, in requests (sectors on sectored caches).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CacheCounts {
    pub read_hits: u64,
    /// The line is absent.
    pub read_misses: u64,
    /// The line is present, the sector is not.
    pub read_sector_misses: u64,
    /// Merged into an outstanding miss.
    pub read_pending_hits: u64,
    pub write_hits: u64,
    /// The line is absent.
    pub write_misses: u64,
    /// The line is present, the sector is neither valid nor being fetched.
    pub write_sector_misses: u64,
    pub atomics: u64,
    /// Atomics among the L2's read hits, among its misses and sector misses, and among its pending
    /// hits.
    pub atomic_hits: u64,
    pub atomic_misses: u64,
    pub atomic_pending_hits: u64,
    pub bypasses: u64,
    /// Evicted dirty lines.
    pub writebacks: u64,
    /// Lines written back while they stay, to bound the dirty lines of a set.
    #[serde(skip_serializing_if = "is_zero")]
    pub early_writebacks: u64,
    /// Reads sent to the next level on behalf of writes.
    pub write_fetches: u64,
    pub evictions: u64,
    /// Cycles of retry, by [`ReservationFail`].
    pub reservation_fails: [u64; ReservationFail::COUNT],
}

/// Whether a count of a mechanism that most machines lack is omitted.
fn is_zero(count: &u64) -> bool {
    *count == 0
}

count_fields!(CacheCounts {
    read_hits,
    read_misses,
    read_sector_misses,
    read_pending_hits,
    write_hits,
    write_misses,
    write_sector_misses,
    atomics,
    atomic_hits,
    atomic_misses,
    atomic_pending_hits,
    bypasses,
    writebacks,
    early_writebacks,
    write_fetches,
    evictions,
    reservation_fails,
});
