//! Upper limits shared by many keys. They guarantee that products and times fit in 64 bits.

/// Longest latency or timing, cycles.
pub const CYCLES: u64 = 100_000;
/// Longest queue, entries.
pub const ENTRIES: u64 = 65_536;
