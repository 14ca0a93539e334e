//! Durations, as unions of intervals. Nothing here runs per cycle.

use warpmem_sim::DramCycle;

/// Length of a union of intervals whose starts are in order; some may be open.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    open: u32,
    /// Start of the part that `total` does not include yet, or end of the part that it does.
    since: DramCycle,
    total: u64,
}

impl Span {
    #[inline]
    pub fn open(&mut self, now: DramCycle) {
        if self.open == 0 {
            self.since = self.since.max(now);
        }
        self.open += 1;
    }

    /// Closes one interval; `end` may lie in the future.
    #[inline]
    pub fn close(&mut self, end: DramCycle) {
        self.open -= 1;
        if end > self.since {
            self.total += end.since(self.since);
            self.since = end;
        }
    }

    pub fn add(&mut self, start: DramCycle, end: DramCycle) {
        self.open(start);
        self.close(end);
    }

    /// Returns the covered cycles, with open intervals counted up to `now`.
    pub fn cycles(&self, now: DramCycle) -> u64 {
        let running = if self.open > 0 { now.saturating_since(self.since) } else { 0 };
        self.total + running
    }
}

/// Times in which a bank or a channel had requests, see [`BankResult`](crate::BankResult).
#[derive(Clone, Default)]
#[repr(align(64))]
pub(super) struct Busy {
    pub pending: Span,
    pub service: Span,
}

impl Busy {
    /// Ends the service of a request whose last data are at `end`.
    #[inline]
    pub fn close(&mut self, end: DramCycle) {
        self.pending.close(end);
        self.service.close(end);
    }
}

/// Time spent at each value of a number.
#[derive(Clone, Debug)]
pub(super) struct Occupancy {
    value: usize,
    since: DramCycle,
    cycles: Vec<u64>,
}

impl Occupancy {
    pub fn new(capacity: usize) -> Occupancy {
        Occupancy { value: 0, since: DramCycle::ZERO, cycles: vec![0; capacity + 1] }
    }

    #[inline]
    pub fn set(&mut self, now: DramCycle, value: usize) {
        self.cycles[self.value] += now.since(self.since);
        self.since = now;
        self.value = value;
    }

    pub fn histogram(&self, now: DramCycle) -> Vec<u64> {
        let mut cycles = self.cycles.clone();
        cycles[self.value] += now.saturating_since(self.since);
        cycles
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compares a span with a set of cycles, for intervals with ordered starts and arbitrary
        /// ends.
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
                // Transfers too are closed ahead of their end.
                events.push((e.saturating_sub(3).max(s), false, e));
            }
            events.sort_by_key(|&(at, opens, end)| (at, !opens, end));
            let mut span = Span::default();
            for (at, opens, end) in events {
                let (at, end) = (DramCycle::new(at), DramCycle::new(end));
                if opens { span.open(at) } else { span.close(end) }
            }
            let covered: std::collections::BTreeSet<u64> =
                intervals.iter().flat_map(|&(s, e)| s..e).collect();
            prop_assert_eq!(span.cycles(DramCycle::NEVER), covered.len() as u64);
        }
    }
}
