//! The counts of a channel and the ratios derived from them. Each formula is defined here once, for
//! the tables of runs and for the report of stand-alone channels. Counts are integers; a ratio with
//! a zero denominator is none.
//!
//! Sources: [Li] inter-core locality 2015, [OWL] 2013, [Yuan] 2009.

use serde::Serialize;
use warpmem_sim::{count_fields, quotient, total};

/// The source of a row streak breaker, relative to that of the stranded request [Yuan 5.2]. A
/// breaker is a request that arrived between the request to the new row and the stranded one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Breaker {
    /// Another SM, or at least one of the two requests has no SM waiting for it.
    OtherCore,
    SameCoreOtherCta,
    SameCta,
}

impl Breaker {
    pub const COUNT: usize = 3;
    pub const NAMES: [&'static str; Breaker::COUNT] =
        ["other_core", "same_core_other_cta", "same_cta"];
}

/// Counts of one bank over the run.
///
/// Fields that `serde` skips are absent from the tables of runs, because fingerprints of runs must
/// not depend on them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[repr(C)]
pub struct BankResult {
    /// Read column commands, including those of prefetches.
    pub reads: u64,
    /// Write column commands.
    pub writes: u64,
    /// ACT commands.
    pub activations: u64,
    /// PRE commands.
    pub precharges: u64,
    /// Column commands that closed their row.
    #[serde(skip)]
    pub auto_precharges: u64,
    /// Requests that found their row open at their first command.
    pub row_hits: u64,
    /// Requests that found the bank closed at their first command.
    pub row_misses: u64,
    /// Requests that found another row open at their first command.
    pub row_conflicts: u64,
    /// Prefetched lines, which are not counted as requests.
    pub prefetched_lines: u64,
    /// Read column commands of prefetches, included in `reads`.
    pub prefetch_reads: u64,
    /// Requests to another row than the request served before: row streaks that ended.
    pub row_switches: u64,
    /// Switches with a stranded request: one to the old row, which waited in the same queue as the
    /// request to the new row and had arrived after it [Yuan 5.2].
    pub stranded_switches: u64,
    /// Switches with a stranded request and at least one breaker of this kind, by [`Breaker`].
    /// The first breaker is the request to the new row itself.
    pub streak_breakers: [u64; Breaker::COUNT],
    /// Cycles with at least one outstanding request, from its arrival to the end of its data, or
    /// with a prefetch in service.
    #[serde(skip)]
    pub outstanding_cycles: u64,
    /// Cycles in which the bank is busy: from the first command of a request or a prefetch to the
    /// end of its data, and tRP for each row closed while idle.
    #[serde(skip)]
    pub busy_cycles: u64,
}

impl BankResult {
    /// Returns the read and write column commands.
    pub fn columns(&self) -> u64 {
        self.reads + self.writes
    }

    /// Returns the bytes that the column commands move, `burst_bytes` each.
    pub fn bytes(&self, burst_bytes: u32) -> u64 {
        self.columns() * u64::from(burst_bytes)
    }

    /// Returns the requests that have been served or are in service.
    pub fn requests(&self) -> u64 {
        self.row_hits + self.row_misses + self.row_conflicts
    }

    /// Fraction: row hits over hits, misses and conflicts, each request counted once at its first
    /// command.
    pub fn row_hit_rate(&self) -> Option<f64> {
        quotient(self.row_hits, self.requests())
    }

    /// Fraction: row hits and prefetched lines over requests and prefetched lines.
    pub fn row_hit_rate_with_prefetches(&self) -> Option<f64> {
        let lines = self.prefetched_lines;
        quotient(self.row_hits + lines, self.requests() + lines)
    }

    /// Requests per activation [Li, Yuan].
    pub fn row_locality(&self) -> Option<f64> {
        quotient(self.requests(), self.activations)
    }

    /// Requests and prefetched lines per activation.
    pub fn row_locality_with_prefetches(&self) -> Option<f64> {
        quotient(self.requests() + self.prefetched_lines, self.activations)
    }

    /// Fraction: column commands to a row that an earlier one opened, over all column commands
    /// [OWL, row-buffer locality]. Unlike [`row_hit_rate`](Self::row_hit_rate) it counts every
    /// burst of a request.
    pub fn row_buffer_locality(&self) -> Option<f64> {
        quotient(self.columns().saturating_sub(self.activations), self.columns())
    }

    /// Column commands per activation [Li, Yuan]. Unlike [`row_locality`](Self::row_locality) it
    /// counts every burst of a request.
    pub fn columns_per_activation(&self) -> Option<f64> {
        quotient(self.columns(), self.activations)
    }

    /// Fraction: switches with a breaker of this kind over all row switches; [Yuan Fig 10] divides
    /// by the switches of the baseline.
    pub fn streak_breaker_rate(&self, breaker: Breaker) -> Option<f64> {
        quotient(self.streak_breakers[breaker as usize], self.row_switches)
    }
}

count_fields!(BankResult {
    reads,
    writes,
    activations,
    precharges,
    auto_precharges,
    row_hits,
    row_misses,
    row_conflicts,
    prefetched_lines,
    prefetch_reads,
    row_switches,
    stranded_switches,
    streak_breakers,
    outstanding_cycles,
    busy_cycles,
});

/// Counts of one DRAM channel over the run, or the sum of several. Cycles are DRAM command clock
/// cycles. The data of a column command count from its issue to the end of its data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ChannelResult {
    /// Cycles since the start.
    pub cycles: u64,
    /// Completed read requests.
    #[serde(skip)]
    pub read_requests: u64,
    /// Completed write requests.
    #[serde(skip)]
    pub write_requests: u64,
    /// Cycles with data on the bus, averaged over the data buses of the pseudo channels.
    pub data_bus_busy_cycles: u64,
    /// Cycles with a request waiting or in service, from its arrival to the end of its data.
    pub pending_cycles: u64,
    /// Sum over the banks of [`BankResult::outstanding_cycles`], and cycles with at least one such
    /// bank.
    pub bank_outstanding_cycles: u64,
    pub any_bank_outstanding_cycles: u64,
    /// Sum over the banks of [`BankResult::busy_cycles`], and cycles with at least one such bank.
    pub bank_busy_cycles: u64,
    pub any_bank_busy_cycles: u64,
    /// Cycles with n requests in the queues, by n; a request leaves with its last column command.
    pub occupancy_cycles: Vec<u64>,
    /// Cycles with at least one open row.
    pub open_cycles: u64,
    /// REF commands.
    pub refreshes: u64,
    /// REFPB commands.
    pub bank_refreshes: u64,
    /// Turnarounds of the data bus between reads and writes.
    pub turnarounds: u64,
    /// Drains started by the high watermark of the write queue.
    pub write_drains: u64,
    pub banks: Vec<BankResult>,
}

impl ChannelResult {
    /// Returns the sum over the banks.
    pub fn total(&self) -> BankResult {
        total(&self.banks)
    }

    /// Returns the sum over cycles of the requests in the queues.
    pub fn queue_occupancy_cycles(&self) -> u64 {
        self.occupancy_cycles.iter().zip(0..).map(|(&cycles, n)| cycles * n).sum()
    }

    /// Requests: mean number in the queues, over all cycles.
    pub fn queue_occupancy_mean(&self) -> Option<f64> {
        quotient(self.queue_occupancy_cycles(), self.cycles)
    }

    /// Fraction: data-bus busy cycles over all cycles [Li Fig 6.9].
    pub fn bandwidth_utilization(&self) -> Option<f64> {
        quotient(self.data_bus_busy_cycles, self.cycles)
    }

    /// Fraction: data-bus busy cycles over cycles with a request pending [Yuan].
    pub fn dram_efficiency(&self) -> Option<f64> {
        quotient(self.data_bus_busy_cycles, self.pending_cycles)
    }

    /// Banks: mean number with an outstanding request, over cycles with at least one [OWL].
    pub fn blp(&self) -> Option<f64> {
        quotient(self.bank_outstanding_cycles, self.any_bank_outstanding_cycles)
    }

    /// Banks: mean number being busy, over cycles with at least one.
    pub fn blp_busy(&self) -> Option<f64> {
        quotient(self.bank_busy_cycles, self.any_bank_busy_cycles)
    }
}

count_fields!(ChannelResult {
    cycles,
    read_requests,
    write_requests,
    data_bus_busy_cycles,
    pending_cycles,
    bank_outstanding_cycles,
    any_bank_outstanding_cycles,
    bank_busy_cycles,
    any_bank_busy_cycles,
    occupancy_cycles,
    open_cycles,
    refreshes,
    bank_refreshes,
    turnarounds,
    write_drains,
} append { banks });

/// DRAM rows accessed by a given number of CTAs [OWL Table 4].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SharedRows {
    pub rows: u64,
    /// Sum over the rows of the CTAs whose predecessor or successor in the order of the kernel
    /// accessed the row too.
    pub consecutive_ctas: u64,
}
