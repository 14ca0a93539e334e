//! What a channel leaves of a run. Everything is an integer.

use serde::Serialize;

/// From whom a request comes that keeps one to the same row from being served with those before: a row streak breaker
/// [Yuan 5.2], compared with the request that it keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Breaker {
    /// Another SM; or no SM waits for one of the two.
    OtherCore,
    SameCoreOtherCta,
    SameCta,
}

impl Breaker {
    pub const COUNT: usize = 3;
    pub const NAMES: [&'static str; Breaker::COUNT] =
        ["other_core", "same_core_other_cta", "same_cta"];
}

/// One bank over the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BankResult {
    /// Column commands.
    pub reads: u64,
    pub writes: u64,
    pub activations: u64,
    pub precharges: u64,
    /// Requests by the state in which they found the bank at their first service decision.
    pub row_hits: u64,
    pub row_misses: u64,
    pub row_conflicts: u64,
    /// Lines read unasked, which are no requests, and the column commands for them, which are among `reads`.
    pub prefetched_lines: u64,
    pub prefetch_reads: u64,
    /// Requests served whose row was not that of the request served before: row streaks that ended.
    pub row_switches: u64,
    /// Switches that left a request to the old row stranded [Yuan 5.2].
    pub stranded_switches: u64,
    /// Switches with such a row streak breaker, by [`Breaker`].
    pub streak_breakers: [u64; Breaker::COUNT],
}

/// One DRAM channel over the run. Cycles are DRAM command clock cycles.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ChannelResult {
    pub cycles: u64,
    pub data_bus_busy_cycles: u64,
    /// Cycles with a request waiting or in service.
    pub pending_cycles: u64,
    /// Sum over cycles of the banks with at least one outstanding request, and cycles with such a bank.
    pub bank_outstanding_cycles: u64,
    pub any_bank_outstanding_cycles: u64,
    /// Sum over cycles of the banks being served, and cycles with such a bank.
    pub bank_busy_cycles: u64,
    pub any_bank_busy_cycles: u64,
    /// Cycles for which the queues held n requests, by n.
    pub occupancy_cycles: Vec<u64>,
    /// Cycles with a row open in some bank.
    pub open_cycles: u64,
    /// REF commands.
    pub refreshes: u64,
    /// REFPB commands.
    pub bank_refreshes: u64,
    pub turnarounds: u64,
    pub write_drains: u64,
    pub banks: Vec<BankResult>,
}

impl ChannelResult {
    /// Sum over cycles of the requests in the queues.
    pub fn queue_occupancy_cycles(&self) -> u64 {
        self.occupancy_cycles.iter().zip(0..).map(|(&cycles, n)| cycles * n).sum()
    }
}

/// DRAM rows that as many CTAs used [OWL Table 4].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SharedRows {
    pub rows: u64,
    /// Sum over the rows of those CTAs of which another, a neighbour in the order of their kernel, used the row too.
    pub consecutive_ctas: u64,
}
