//! What a channel counts. Nothing here works per cycle: durations are unions of intervals.

use crate::Breaker;

/// The length of a union of intervals whose starts come in order, some still open.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    open: u32,
    /// Start of what `total` does not yet hold, or end of what it does.
    since: u64,
    total: u64,
}

impl Span {
    #[inline]
    pub fn open(&mut self, now: u64) {
        if self.open == 0 {
            self.since = self.since.max(now);
        }
        self.open += 1;
    }

    /// Closes one interval; `end` may lie ahead of now.
    #[inline]
    pub fn close(&mut self, end: u64) {
        self.open -= 1;
        if end > self.since {
            self.total += end - self.since;
            self.since = end;
        }
    }

    pub fn add(&mut self, start: u64, end: u64) {
        self.open(start);
        self.close(end);
    }

    /// Cycles covered, open intervals counted up to `now`.
    pub fn cycles(&self, now: u64) -> u64 {
        let running = if self.open > 0 { now.saturating_sub(self.since) } else { 0 };
        self.total + running
    }
}

/// When a bank or a channel had requests: see [`BankStatistics`].
#[derive(Default)]
#[repr(align(64))]
pub(super) struct Busy {
    pub pending: Span,
    pub service: Span,
}

impl Busy {
    /// A request in service has its last data at `end`.
    #[inline]
    pub fn close(&mut self, end: u64) {
        self.pending.close(end);
        self.service.close(end);
    }
}

/// How long a number stood at each of its values.
#[derive(Clone, Debug)]
pub(super) struct Occupancy {
    value: usize,
    since: u64,
    cycles: Vec<u64>,
}

impl Occupancy {
    pub fn new(capacity: usize) -> Occupancy {
        Occupancy { value: 0, since: 0, cycles: vec![0; capacity + 1] }
    }

    #[inline]
    pub fn set(&mut self, now: u64, value: usize) {
        self.cycles[self.value] += now - self.since;
        self.since = now;
        self.value = value;
    }

    pub fn histogram(&self, now: u64) -> Vec<u64> {
        let mut cycles = self.cycles.clone();
        cycles[self.value] += now.saturating_sub(self.since);
        cycles
    }
}

/// What is counted of one bank, row hits first: see [`BankStatistics`].
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct BankCounts {
    pub reads: u64,
    pub row_hits: u64,
    pub writes: u64,
    pub activations: u64,
    pub precharges: u64,
    pub auto_precharges: u64,
    pub row_misses: u64,
    pub row_conflicts: u64,
    pub prefetches: u64,
    pub prefetch_reads: u64,
}

impl BankCounts {
    /// With the row streaks and the cycles covered up to `now`.
    pub fn with(&self, streaks: StreakStatistics, busy: &Busy, now: u64) -> BankStatistics {
        BankStatistics {
            reads: self.reads,
            writes: self.writes,
            activations: self.activations,
            precharges: self.precharges,
            auto_precharges: self.auto_precharges,
            row_hits: self.row_hits,
            row_misses: self.row_misses,
            row_conflicts: self.row_conflicts,
            prefetches: self.prefetches,
            prefetch_reads: self.prefetch_reads,
            streaks,
            pending_cycles: busy.pending.cycles(now),
            service_cycles: busy.service.cycles(now),
        }
    }
}

/// Row streaks of one bank: requests to one row, served one after the other (Yuan 2009, section 5.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreakStatistics {
    /// Requests served whose row was not that of the request served before.
    pub switches: u64,
    /// Switches that left a request to the old row stranded: it waited in the same queue as the request to the new
    /// row, which had arrived before it.
    pub stranded: u64,
    /// By [`Breaker`], the switches with such a request among the breakers: those that arrived from the request to the
    /// new row on until the stranded one.
    pub breakers: [u64; Breaker::COUNT],
}

impl StreakStatistics {
    fn add(&mut self, other: &StreakStatistics) {
        self.switches += other.switches;
        self.stranded += other.stranded;
        self.breakers.iter_mut().zip(other.breakers).for_each(|(mine, theirs)| *mine += theirs);
    }
}

/// Counts of one bank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BankStatistics {
    /// Read column commands, those of prefetches included.
    pub reads: u64,
    /// Write column commands.
    pub writes: u64,
    /// ACT commands.
    pub activations: u64,
    /// PRE commands.
    pub precharges: u64,
    /// Column commands that closed their row.
    pub auto_precharges: u64,
    /// Requests whose row was open at their first command.
    pub row_hits: u64,
    /// Requests whose bank was closed at their first command.
    pub row_misses: u64,
    /// Requests whose bank held another row at their first command.
    pub row_conflicts: u64,
    /// Lines read unasked, which are no requests.
    pub prefetches: u64,
    /// Read column commands for them.
    pub prefetch_reads: u64,
    pub streaks: StreakStatistics,
    /// Cycles with at least one outstanding request: from arrival to the end of its data; or with a prefetch in
    /// service.
    pub pending_cycles: u64,
    /// Cycles in which the bank is served: from the first command of a request or a prefetch to the end of its data,
    /// and tRP for each row closed while idle.
    pub service_cycles: u64,
}

impl BankStatistics {
    pub fn add(&mut self, other: &BankStatistics) {
        self.reads += other.reads;
        self.writes += other.writes;
        self.activations += other.activations;
        self.precharges += other.precharges;
        self.auto_precharges += other.auto_precharges;
        self.row_hits += other.row_hits;
        self.row_misses += other.row_misses;
        self.row_conflicts += other.row_conflicts;
        self.prefetches += other.prefetches;
        self.prefetch_reads += other.prefetch_reads;
        self.streaks.add(&other.streaks);
        self.pending_cycles += other.pending_cycles;
        self.service_cycles += other.service_cycles;
    }

    /// Read and write column commands.
    pub fn columns(&self) -> u64 {
        self.reads + self.writes
    }
}

/// Counts of one channel up to a cycle. What a column command moves counts from its issue on, up to
/// the end of its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelStatistics {
    /// Cycles since the start.
    pub cycles: u64,
    /// Read requests that have left.
    pub read_requests: u64,
    /// Write requests that have left.
    pub write_requests: u64,
    /// REF commands.
    pub refreshes: u64,
    /// REFPB commands.
    pub bank_refreshes: u64,
    /// Changes of the data bus from reading to writing and back.
    pub turnarounds: u64,
    /// Times that the write queue reached its high watermark and was drained for it.
    pub write_drains: u64,
    /// Data buses: pseudo channels.
    pub data_buses: u64,
    /// Cycles in which a data bus carries data, of all data buses together.
    pub data_bus_cycles: u64,
    /// Cycles with at least one outstanding request: from arrival to the end of its data.
    pub pending_cycles: u64,
    /// Cycles in which at least one bank is served.
    pub service_cycles: u64,
    /// Cycles in which at least one row is open.
    pub open_cycles: u64,
    /// Cycles for which the queues held n requests, by n; a request leaves with its last column command.
    pub occupancy_cycles: Vec<u64>,
    pub banks: Vec<BankStatistics>,
}

fn ratio(above: u64, below: u64) -> Option<f64> {
    (below > 0).then(|| above as f64 / below as f64)
}

impl ChannelStatistics {
    /// The banks' counts added up. `pending_cycles` and `service_cycles` are then bank-cycles.
    pub fn total(&self) -> BankStatistics {
        let mut total = BankStatistics::default();
        self.banks.iter().for_each(|bank| total.add(bank));
        total
    }

    /// Column commands to a row opened by an earlier one, over all column commands (OWL's RBL).
    pub fn row_hit_rate(&self) -> Option<f64> {
        let total = self.total();
        ratio(total.columns().saturating_sub(total.activations), total.columns())
    }

    /// Column commands per activation.
    pub fn row_locality(&self) -> Option<f64> {
        let total = self.total();
        ratio(total.columns(), total.activations)
    }

    /// Mean number of banks with an outstanding request, over cycles in which there is one.
    pub fn blp(&self) -> Option<f64> {
        ratio(self.total().pending_cycles, self.pending_cycles)
    }

    /// Mean number of banks being served, over cycles in which one is.
    pub fn blp_busy(&self) -> Option<f64> {
        ratio(self.total().service_cycles, self.service_cycles)
    }

    /// Data-bus cycles over all cycles.
    pub fn bandwidth_utilization(&self) -> Option<f64> {
        ratio(self.data_bus_cycles, self.data_buses * self.cycles)
    }

    /// Data-bus cycles over cycles in which requests are outstanding.
    pub fn dram_efficiency(&self) -> Option<f64> {
        ratio(self.data_bus_cycles, self.data_buses * self.pending_cycles)
    }

    /// Mean number of requests in the queues.
    pub fn queue_occupancy_mean(&self) -> Option<f64> {
        let weighted = self.occupancy_cycles.iter().zip(0..).map(|(&cycles, n)| cycles * n).sum();
        ratio(weighted, self.cycles)
    }
}

#[cfg(test)]
mod tests {
    use super::Span;
    use proptest::prelude::*;

    proptest! {
        /// Intervals with starts in order, closed in any order, against a set of cycles.
        #[test]
        fn a_span_is_the_union_of_its_intervals(
            gaps in prop::collection::vec((0u64..6, 1u64..20), 1..30)
        ) {
            let mut start = 0;
            let intervals: Vec<(u64, u64)> =
                gaps.iter().map(|&(gap, length)| { start += gap; (start, start + length) }).collect();
            let mut events: Vec<(u64, bool, u64)> = Vec::new();
            for &(s, e) in &intervals {
                events.push((s, true, e));
                // Closed a little ahead of its end, as a transfer is.
                events.push((e.saturating_sub(3).max(s), false, e));
            }
            events.sort_by_key(|&(at, opens, end)| (at, !opens, end));
            let mut span = Span::default();
            for (at, opens, end) in events {
                if opens { span.open(at) } else { span.close(end) }
            }
            let covered: std::collections::BTreeSet<u64> =
                intervals.iter().flat_map(|&(s, e)| s..e).collect();
            prop_assert_eq!(span.cycles(u64::MAX), covered.len() as u64);
        }
    }
}
