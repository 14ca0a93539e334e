//! `mshr-m`, `mshr-s`, `mshr-s+a`: requests with the most merges from other SMs go first.
//!
//! This file owns the controller's Merge Information Buffer, one entry per queue entry, as in Li
//! 2015, Section 4.4. The buffer of the L2 and the dummy requests between the two belong to the L2.

use super::{BankView, Event, Family, Queued, Scheduler, SchedulerContext, Slot, Tie, Traits};
use warpmem_params::{Complexity, Counter, Entry, Given, PolicyError, PolicyInfo, Shape, params};
use warpmem_sim::{CountedMerges, DramCycle, EarlyMerges, Needs, RowId};

#[cfg(test)]
mod tests;

const SOURCE: &str = "Li, Inter-core locality aware memory access scheduling, UBC 2015";

const MAXIMUM: PolicyInfo = PolicyInfo {
    name: "mshr-m",
    summary: "requests with the most merges first; the score of a row is the maximum over its requests",
    source: SOURCE,
    params: Options::params,
};

const SUM: PolicyInfo = PolicyInfo {
    name: "mshr-s",
    summary: "requests with the most merges first; the score of a row is the sum over its requests",
    source: SOURCE,
    params: Options::params,
};

const AGE: PolicyInfo = PolicyInfo {
    name: "mshr-s+a",
    summary: "requests with the highest total age of their merges first; the score of a row is the sum over its requests",
    source: SOURCE,
    params: Options::params,
};

pub const MSHR_M: Entry<dyn Family, SchedulerContext> =
    Entry { info: MAXIMUM, build: |context, params| family(context, params, Score::Maximum) };

pub const MSHR_S: Entry<dyn Family, SchedulerContext> =
    Entry { info: SUM, build: |context, params| family(context, params, Score::Sum) };

pub const MSHR_S_A: Entry<dyn Family, SchedulerContext> =
    Entry { info: AGE, build: |context, params| family(context, params, Score::Age) };

params! {
    #[derive(Clone, Copy)]
    struct Options {
        /// requests merged into an L2 MSHR that count: all, or those of SMs that did not yet wait for
        /// the data (`inter-core`)
        count: CountedMerges = CountedMerges::All;
        /// merges before the miss has left the L2: in a dummy request ahead of it, which the controller
        /// keeps (`reported`) or cannot use, so that the request arrives with a merge length of 1
        /// (`lost`), or in the miss (`carried`)
        early_merges: EarlyMerges = EarlyMerges::Reported;
        /// among rows with equal scores, that of the `oldest` request or the `lowest-row`
        tie: Tie = Tie::Oldest;
    }
}

/// The score that orders requests and rows.
#[derive(Clone, Copy, PartialEq)]
enum Score {
    /// Merge length; the score of a row is the maximum of its requests.
    Maximum,
    /// Merge length; the score of a row is the sum of its requests.
    Sum,
    /// Total age of all merged requests; the score of a row is the sum of its requests.
    Age,
}

/// Widths of the scores, bits (Li 2015, Section 4.5).
struct Widths {
    request: Complexity,
    row: Complexity,
}

/// Bits of the block address of a request.
const BLOCK_ADDRESS_BITS: u64 = 24;

impl Score {
    fn widths(self, shape: &Shape) -> Widths {
        let length = Complexity { stored: 4, compared: 4 };
        let sum = 4 + shape.queue_bits();
        // An age grows by the merge length, so both are stored; the thesis counts both for a row
        // too.
        let age = Complexity { stored: 4 + 15, compared: 15 };
        match self {
            Score::Maximum => Widths { request: length, row: length },
            Score::Sum => {
                Widths { request: length, row: Complexity { stored: sum, compared: sum } }
            }
            Score::Age => Widths { request: age, row: age },
        }
    }
}

struct Mshr {
    score: Score,
    options: Options,
    slots: usize,
}

fn family(
    context: &SchedulerContext,
    params: &Given,
    score: Score,
) -> Result<Box<dyn Family>, PolicyError> {
    Ok(Box::new(Mshr { score, options: params.read(), slots: context.slots() }))
}

impl Family for Mshr {
    fn scheduler(&self, _: usize) -> Box<dyn Scheduler> {
        Box::new(MergeAware {
            score: self.score,
            tie: self.options.tie,
            merged: vec![Merged::default(); self.slots],
            lengths: [0; MAX_LENGTH],
            dummies: 0,
        })
    }

    fn share_state(&self) -> bool {
        false
    }

    fn needs(&self) -> Needs {
        Needs {
            merges: Some(self.options.count),
            early_merges: self.options.early_merges,
            oldest_merges_first: self.score == Score::Age,
            ..Needs::default()
        }
    }

    /// Returns the cost of the L2's Merge Information Buffer: per MSHR its merges, and whether they
    /// have changed since the last update.
    fn shared_complexity(&self, shape: &Shape) -> Complexity {
        let entry = self.score.widths(shape).request.stored + 1;
        Complexity { stored: shape.slices * shape.mshr_entries * entry, compared: 0 }
    }
}

/// Most requests of an L2 MSHR entry (Li 2015, Section 4.5).
const MAX_LENGTH: usize = 16;

/// Saturation value of ages of requests and rows, from the 15-bit adders of Li 2015, Section 4.5.
const MAX_AGE: u64 = 1 << 15;

/// The requests merged into a waiting one, as known to the controller: an entry of its Merge
/// Information Buffer.
#[derive(Clone, Copy, Default)]
struct Merged {
    length: u8,
    /// Total age at `since`, DRAM cycles.
    age: u64,
    since: DramCycle,
}

impl Merged {
    fn age(&self, now: DramCycle) -> u64 {
        let grown = u64::from(self.length) * now.since(self.since);
        (self.age + grown).min(MAX_AGE)
    }
}

struct MergeAware {
    score: Score,
    tie: Tie,
    /// Merged requests, by slot.
    merged: Vec<Merged>,
    /// Scheduled requests, by merge length less one.
    lengths: [u64; MAX_LENGTH],
    dummies: u64,
}

impl MergeAware {
    fn request_score(&self, slot: Slot, now: DramCycle) -> u64 {
        let merged = &self.merged[slot.index()];
        match self.score {
            Score::Maximum | Score::Sum => merged.length.into(),
            Score::Age => merged.age(now),
        }
    }

    fn row_score(&self, bank: &BankView, row: RowId) -> u64 {
        let requests = bank.queue.requests_to(bank.bank, row);
        let scores = requests.map(|(slot, _)| self.request_score(slot, bank.now));
        match self.score {
            Score::Maximum => scores.max().unwrap_or(0),
            Score::Sum => scores.sum(),
            Score::Age => scores.sum::<u64>().min(MAX_AGE),
        }
    }

    /// Returns the request of a row with the highest score; among equals the oldest.
    fn first_of_row(&self, bank: &BankView, row: RowId) -> Option<Slot> {
        let requests = bank.queue.requests_to(bank.bank, row).map(|(slot, _)| slot);
        let best = |best, slot| {
            let score = |slot| self.request_score(slot, bank.now);
            if score(slot) > score(best) { slot } else { best }
        };
        requests.reduce(best)
    }

    fn set(&mut self, slot: Slot, merges: u32, age: u64, now: DramCycle) {
        let length = merges.clamp(1, MAX_LENGTH as u32) as u8;
        self.merged[slot.index()] = Merged { length, age, since: now };
    }
}

impl Scheduler for MergeAware {
    fn traits(&self) -> Traits {
        // Ages grow at different rates.
        let repick_at_issue = self.score == Score::Age;
        Traits { repick_at_issue, takes_events: true, ..Traits::default() }
    }

    fn pick(&mut self, bank: &BankView) -> Option<Slot> {
        let row = match bank.open_row() {
            Some(row) if bank.hits() > 0 => row,
            _ => bank.best_row_or(self.tie, |row| self.row_score(bank, row.row)).row,
        };
        self.first_of_row(bank, row)
    }

    fn on_arrival(&mut self, slot: Slot, queued: &Queued) {
        let request = &queued.request;
        self.set(slot, request.merges.into(), request.age.into(), queued.arrived);
    }

    fn on_service(&mut self, _: &BankView, slot: Slot) {
        self.lengths[usize::from(self.merged[slot.index()].length) - 1] += 1;
    }

    fn on_event(&mut self, event: Event, now: DramCycle) {
        let Event::Merged { slot, merges, age } = event else { return };
        self.dummies += 1;
        let grown = self.merged[slot.index()].age(now);
        self.set(slot, merges, grown + age, now);
    }

    /// Returns the cost by Section 4.5 of the thesis, without the adders. Stored per request are
    /// its block address, its merges and the score of its row. Compared are the scores of requests
    /// and rows.
    fn complexity(&self, shape: &Shape) -> Option<Complexity> {
        let Widths { request, row } = self.score.widths(shape);
        let row_entry = shape.row_bits + shape.bank_bits() + row.stored;
        let entries = Complexity {
            stored: BLOCK_ADDRESS_BITS + request.stored + row_entry,
            compared: request.compared + row.compared,
        };
        let search = Complexity { stored: 0, compared: shape.row_search() };
        Some(search + entries * shape.queue)
    }

    fn counters(&self) -> Vec<Counter> {
        let dummies = Counter { name: "dummy_requests", value: self.dummies };
        let lengths = LENGTHS.iter().zip(self.lengths);
        let lengths = lengths.map(|(name, value)| Counter { name, value });
        std::iter::once(dummies).chain(lengths).collect()
    }
}

const LENGTHS: [&str; MAX_LENGTH] = [
    "merge_length_1",
    "merge_length_2",
    "merge_length_3",
    "merge_length_4",
    "merge_length_5",
    "merge_length_6",
    "merge_length_7",
    "merge_length_8",
    "merge_length_9",
    "merge_length_10",
    "merge_length_11",
    "merge_length_12",
    "merge_length_13",
    "merge_length_14",
    "merge_length_15",
    "merge_length_16",
];
