//! The way from a slice to DRAM where the DRAM scheduler follows merges: the queue of misses, and
//! the Merge Information Buffer beside it (Li 2015, Section 4.4 and Figure 4.2).
//!
//! A miss takes the number of its merges along. Requests that merge after it has left make their
//! entry *valid*: it has merges to report. A valid entry goes before the miss queue, as a dummy
//! request.
//!
//! ```text
//!  misses, dirty data ─▶ miss queue ───────────────┐
//!                                                  ├─▶ port to DRAM, one item a cycle
//!  late merges ─▶ valid entries, best score first ─┘
//! ```

use crate::side::Sent;
use std::cmp::Reverse;
use std::collections::VecDeque;
use warpmem_cache::MshrEntry;
use warpmem_machine::Machine;
use warpmem_params::Counter;
use warpmem_sim::{CountedMerges, DramClock, L2Cycle, Needs, RequestId, Ticks, bits};

/// Largest merge length and largest age that are sent (Li 2015, Section 4.5: 4 and 15 bits).
const MOST_MERGES: u32 = 16;
const MOST_AGE: u64 = 1 << 15;

/// What is known of one MSHR entry.
#[derive(Clone, Copy)]
struct Information {
    /// The request that opened the entry, by which DRAM knows it.
    first: RequestId,
    /// Requests that wait, of the kind that is counted.
    merges: u32,
    /// How many of these have not been reported to DRAM, and the sum of their creation times.
    unreported: u64,
    created: u64,
    /// The first request has left for DRAM.
    sent: bool,
}

/// An item to be sent.
pub(super) enum Item {
    /// A miss, or dirty data.
    Request(RequestId),
    /// A dummy request that reports the merges of this MSHR entry.
    Dummy(MshrEntry),
}

/// The queue of misses and the Merge Information Buffer of a slice, with an entry for each MSHR
/// entry.
pub(super) struct MergePath {
    count: CountedMerges,
    oldest_first: bool,
    capacity: usize,
    queue: VecDeque<RequestId>,
    entries: Vec<Information>,
    /// Entries with merges to report that came after their miss had left, one bit each.
    valid: Vec<u64>,
    counts: Counts,
}

#[derive(Default)]
struct Counts {
    dummies: u64,
    displaced: u64,
    saturated: u64,
    /// Sum over L2 cycles of the valid entries, counted up to `since`.
    valid_cycles: u64,
    valid: u64,
    since: L2Cycle,
}

impl MergePath {
    /// None where the DRAM scheduler does not follow merges.
    pub fn new(machine: &Machine, needs: &Needs) -> Option<MergePath> {
        let cache = &machine.l2.cache;
        let entries = cache.mshr_entries as usize;
        let blank = Information {
            first: RequestId::NONE,
            merges: 0,
            unreported: 0,
            created: 0,
            sent: false,
        };
        needs.merges.map(|count| MergePath {
            count,
            oldest_first: needs.oldest_merges_first,
            capacity: (machine.l2.to_dram_queue + cache.miss_queue) as usize,
            queue: VecDeque::new(),
            entries: vec![blank; entries],
            valid: vec![0; entries.div_ceil(bits::WORD)],
            counts: Counts::default(),
        })
    }

    /// Free entries of the queue.
    pub fn room(&self) -> usize {
        self.capacity - self.queue.len()
    }

    /// A miss, or dirty data, enters the queue.
    pub fn push(&mut self, id: RequestId) {
        self.queue.push_back(id);
    }

    /// A miss has opened an MSHR entry.
    pub fn opened(&mut self, entry: MshrEntry, first: RequestId, created: Ticks) {
        self.entries[entry.index()] =
            Information { first, merges: 1, unreported: 1, created: created.0, sent: false };
    }

    /// A request has merged into an MSHR entry; `same_sm`: another request of its SM waits there.
    pub fn joined(&mut self, entry: MshrEntry, same_sm: bool, created: Ticks, cycle: L2Cycle) {
        if same_sm && self.count == CountedMerges::InterCore {
            return;
        }
        let information = &mut self.entries[entry.index()];
        information.merges += 1;
        information.unreported += 1;
        information.created += created.0;
        self.counts.saturated += u64::from(information.merges > MOST_MERGES);
        if information.sent {
            self.set_valid(entry, true, cycle);
        }
    }

    /// The data of an MSHR entry are back: it has nothing to report any more.
    pub fn closed(&mut self, entry: MshrEntry, cycle: L2Cycle) {
        self.set_valid(entry, false, cycle);
    }

    /// Whether anything waits to be sent.
    pub fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.counts.valid == 0
    }

    /// Requests in the miss queue.
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Takes the next item: the valid entry of the largest score, else the head of the miss queue.
    pub fn take(&mut self, now: Ticks, cycle: L2Cycle) -> Option<Item> {
        let Some(entry) = self.best(now) else { return self.queue.pop_front().map(Item::Request) };
        self.counts.dummies += 1;
        self.counts.displaced += u64::from(!self.queue.is_empty());
        self.set_valid(entry, false, cycle);
        Some(Item::Dummy(entry))
    }

    /// The report that goes with the request that opened `entry`, or with a dummy request about it.
    pub fn report(&mut self, entry: MshrEntry, now: Ticks, dram: DramClock) -> Sent {
        let information = &mut self.entries[entry.index()];
        let age = information.age(now) / dram.period();
        let merges = information.merges.min(MOST_MERGES);
        (information.unreported, information.created, information.sent) = (0, 0, true);
        Sent { about: information.first, merges: merges as u8, age: age.min(MOST_AGE) as u32 }
    }

    /// Whether `id` is the request that opened `entry`.
    pub fn opens(&self, entry: MshrEntry, id: RequestId) -> bool {
        self.entries[entry.index()].first == id
    }

    /// The valid entry of the largest score; of equals, the lowest.
    fn best(&self, now: Ticks) -> Option<MshrEntry> {
        let score = |&entry: &MshrEntry| Reverse(self.score(entry, now));
        bits::members(&self.valid).map(MshrEntry::new).min_by_key(score)
    }

    fn score(&self, entry: MshrEntry, now: Ticks) -> u64 {
        let information = &self.entries[entry.index()];
        if self.oldest_first { information.age(now) } else { information.merges.into() }
    }

    fn set_valid(&mut self, entry: MshrEntry, valid: bool, cycle: L2Cycle) {
        let set = if valid { bits::insert } else { bits::remove };
        let counts = &mut self.counts;
        counts.valid_cycles += counts.valid * cycle.since(counts.since);
        counts.since = cycle;
        counts.valid -= u64::from(bits::contains(&self.valid, entry.index()));
        counts.valid += u64::from(valid);
        set(&mut self.valid, entry.index());
    }

    /// What was counted.
    pub fn counters(&self) -> [Counter; 4] {
        let Counts { dummies, displaced, saturated, valid_cycles, .. } = self.counts;
        let counter = |name, value| Counter { name, value };
        [
            counter("dummy_requests_sent", dummies),
            counter("dummy_requests_before_misses", displaced),
            counter("merges_beyond_16", saturated),
            counter("merge_information_cycles", valid_cycles),
        ]
    }
}

impl Information {
    /// Sum of the ticks that the requests not reported have waited.
    fn age(&self, now: Ticks) -> u64 {
        self.unreported * now.0 - self.created
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_reported_about_data_that_are_back() {
        let needs = Needs { merges: Some(CountedMerges::All), ..Needs::default() };
        let mut path = MergePath::new(&warpmem_testing::machine(&[]), &needs).unwrap();
        let entry = MshrEntry::new(63);
        path.opened(entry, RequestId(7), Ticks(0));
        path.report(entry, Ticks(5), DramClock::new(1));
        path.joined(entry, false, Ticks(10), L2Cycle::new(10));
        assert!(!path.is_idle());
        path.closed(entry, L2Cycle::new(30));
        assert!(path.is_idle() && path.take(Ticks(31), L2Cycle::new(31)).is_none());
        let cycles = path.counters().into_iter().find(|c| c.name == "merge_information_cycles");
        assert_eq!(cycles.unwrap().value, 20);
    }
}
