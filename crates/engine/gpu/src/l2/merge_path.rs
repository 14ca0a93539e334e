//! The path from a slice to DRAM for DRAM schedulers that follow merges: the miss queue, and the
//! Merge Information Buffer beside it (Li 2015, Section 4.4 and Figure 4.2).
//!
//! Requests that merge into an entry make it *valid*: it has merges to report. A dummy request
//! reports a valid entry, ahead of the miss queue. Merges before the miss has left are reported in
//! the same way, or carried by the miss ([`EarlyMerges`]).
//!
//! ```text
//!  misses, dirty data ─▶ miss queue ───────────────┐
//!                                                  ├─▶ port to DRAM, one item a cycle
//!       merges ─▶ valid entries, best score first ─┘
//! ```

use crate::side::Sent;
use std::cmp::Reverse;
use std::collections::VecDeque;
use warpmem_cache::MshrEntry;
use warpmem_machine::Machine;
use warpmem_params::Counter;
use warpmem_sim::{CountedMerges, DramClock, EarlyMerges, L2Cycle, Needs, RequestId, Ticks, bits};

/// Limits of the merge length and of the age in a report (Li 2015, Section 4.5: 4 and 15 bits).
const MOST_MERGES: u32 = 16;
const MOST_AGE: u64 = 1 << 15;

/// Merge information of an MSHR entry.
#[derive(Clone, Copy)]
struct Information {
    /// The request that opened the entry, which identifies it in DRAM.
    first: RequestId,
    /// Merged requests of the counted kind.
    merges: u32,
    /// Creation time of the first request, and the sum of those of all merges.
    first_created: u64,
    created: u64,
    /// Number of unreported merges, and the sum of their creation times.
    unreported: u64,
    unreported_created: u64,
    /// The first request has left for DRAM.
    sent: bool,
}

/// An item for DRAM.
pub(super) enum Item {
    /// A miss, or dirty data.
    Request(RequestId),
    /// A dummy request that reports the merges of this MSHR entry.
    Dummy(MshrEntry),
}

/// The miss queue and the Merge Information Buffer of a slice, with one entry per MSHR entry.
pub(super) struct MergePath {
    count: CountedMerges,
    early: EarlyMerges,
    oldest_first: bool,
    capacity: usize,
    queue: VecDeque<RequestId>,
    entries: Vec<Information>,
    /// Entries with merges to report, one bit each.
    valid: Vec<u64>,
    counts: Counts,
}

#[derive(Default)]
struct Counts {
    dummies: u64,
    displaced: u64,
    saturated: u64,
    /// Valid entries summed over L2 cycles up to `since`.
    valid_cycles: u64,
    valid: u64,
    since: L2Cycle,
}

impl MergePath {
    /// Returns none if the DRAM scheduler does not follow merges.
    pub fn new(machine: &Machine, needs: &Needs) -> Option<MergePath> {
        let cache = &machine.l2.cache;
        let entries = cache.mshr_entries as usize;
        let blank = Information {
            first: RequestId::NONE,
            merges: 0,
            first_created: 0,
            created: 0,
            unreported: 0,
            unreported_created: 0,
            sent: false,
        };
        needs.merges.map(|count| MergePath {
            count,
            early: needs.early_merges,
            oldest_first: needs.oldest_merges_first,
            capacity: (machine.l2.to_dram_queue + cache.miss_queue) as usize,
            queue: VecDeque::new(),
            entries: vec![blank; entries],
            valid: vec![0; entries.div_ceil(bits::WORD)],
            counts: Counts::default(),
        })
    }

    /// Returns the free entries of the queue.
    pub fn room(&self) -> usize {
        self.capacity - self.queue.len()
    }

    /// Enqueues a miss or dirty data.
    pub fn push(&mut self, id: RequestId) {
        self.queue.push_back(id);
    }

    /// Starts the record of an MSHR entry that a miss has opened.
    pub fn opened(&mut self, entry: MshrEntry, first: RequestId, created: Ticks) {
        self.entries[entry.index()] = Information {
            first,
            merges: 1,
            first_created: created.0,
            created: created.0,
            unreported: 1,
            unreported_created: created.0,
            sent: false,
        };
    }

    /// Records a merge into an MSHR entry. `same_sm`: another request of its SM is in the entry.
    pub fn joined(&mut self, entry: MshrEntry, same_sm: bool, created: Ticks, cycle: L2Cycle) {
        if same_sm && self.count == CountedMerges::InterCore {
            return;
        }
        let information = &mut self.entries[entry.index()];
        information.merges += 1;
        information.unreported += 1;
        information.created += created.0;
        information.unreported_created += created.0;
        self.counts.saturated += u64::from(information.merges > MOST_MERGES);
        if information.sent || self.early != EarlyMerges::Carried {
            self.set_valid(entry, true, cycle);
        }
    }

    /// Ends the record of an MSHR entry whose data have arrived.
    pub fn closed(&mut self, entry: MshrEntry, cycle: L2Cycle) {
        self.set_valid(entry, false, cycle);
    }

    /// Returns whether nothing waits to be sent.
    pub fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.counts.valid == 0
    }

    /// Returns the length of the miss queue.
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Takes the next item: the valid entry with the largest score, otherwise the head of the miss
    /// queue.
    pub fn take(&mut self, now: Ticks, cycle: L2Cycle) -> Option<Item> {
        let Some(entry) = self.best(now) else { return self.queue.pop_front().map(Item::Request) };
        self.counts.dummies += 1;
        self.counts.displaced += u64::from(!self.queue.is_empty());
        self.set_valid(entry, false, cycle);
        Some(Item::Dummy(entry))
    }

    /// Returns the report of a dummy request for `entry`.
    pub fn report(&mut self, entry: MshrEntry, now: Ticks, dram: DramClock) -> Sent {
        let information = &mut self.entries[entry.index()];
        let (merges, age) = (information.merges, information.unreported_age(now));
        (information.unreported, information.unreported_created) = (0, 0);
        sent(information.first, merges, age, dram)
    }

    /// Returns the information that the controller has when the request that opened `entry` arrives:
    /// that sent with it, or with dummy requests before it.
    pub fn depart(&mut self, entry: MshrEntry, now: Ticks, dram: DramClock) -> Sent {
        let early = self.early;
        let information = &mut self.entries[entry.index()];
        let (merges, age) = match early {
            EarlyMerges::Lost => (1, now.0 - information.first_created),
            // All dummy requests precede the miss.
            EarlyMerges::Reported | EarlyMerges::Carried => {
                (information.merges, information.age(now))
            }
        };
        (information.unreported, information.unreported_created) = (0, 0);
        information.sent = true;
        sent(information.first, merges, age, dram)
    }

    /// Returns whether `id` opened `entry`.
    pub fn opens(&self, entry: MshrEntry, id: RequestId) -> bool {
        self.entries[entry.index()].first == id
    }

    /// Returns the valid entry with the largest score, the lowest in case of a tie.
    fn best(&self, now: Ticks) -> Option<MshrEntry> {
        let score = |&entry: &MshrEntry| Reverse(self.score(entry, now));
        bits::members(&self.valid).map(MshrEntry::new).min_by_key(score)
    }

    fn score(&self, entry: MshrEntry, now: Ticks) -> u64 {
        let information = &self.entries[entry.index()];
        if self.oldest_first { information.unreported_age(now) } else { information.merges.into() }
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

/// Returns a report, limited to its bits; `age` is in ticks.
fn sent(about: RequestId, merges: u32, age: u64, dram: DramClock) -> Sent {
    let (merges, age) = (merges.min(MOST_MERGES), (age / dram.period()).min(MOST_AGE));
    Sent { about, merges: merges as u8, age: age as u32 }
}

impl Information {
    /// Returns the total age of the merges, ticks.
    fn age(&self, now: Ticks) -> u64 {
        u64::from(self.merges) * now.0 - self.created
    }

    /// Returns the total age of the unreported merges, ticks.
    fn unreported_age(&self, now: Ticks) -> u64 {
        self.unreported * now.0 - self.unreported_created
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_entry_is_not_reported() {
        let needs = Needs { merges: Some(CountedMerges::All), ..Needs::default() };
        let mut path = MergePath::new(&crate::testing::machine(&[]), &needs).unwrap();
        let entry = MshrEntry::new(63);
        path.opened(entry, RequestId(7), Ticks(0));
        path.depart(entry, Ticks(5), DramClock::new(1));
        path.joined(entry, false, Ticks(10), L2Cycle::new(10));
        assert!(!path.is_idle());
        path.closed(entry, L2Cycle::new(30));
        assert!(path.is_idle() && path.take(Ticks(31), L2Cycle::new(31)).is_none());
        let cycles = path.counters().into_iter().find(|c| c.name == "merge_information_cycles");
        assert_eq!(cycles.unwrap().value, 20);
    }
}
