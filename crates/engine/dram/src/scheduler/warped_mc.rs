//! `warped-mc`: row hits first, and among equals the request that completes its warp's load.
//!
//! Three rules (Jeong et al. 2023, Section 4.1, Algorithm 1): the priority of requests to the open
//! row, the score of the waiting rows, and the priority of banks.

use super::warp_table::{Options, Table, WarpTable, WarpTables};
use super::{
    BankView, DramRequest, Event, Family, Queued, Ready, Scheduler, SchedulerContext,
    SharingFamily, Slot, Traits,
};
use warpmem_params::{Complexity, Counter, Entry, PolicyInfo, Shape};
use warpmem_sim::{DramCycle, RowId};

#[cfg(test)]
mod tests;

const INFO: PolicyInfo = PolicyInfo {
    name: "warped-mc",
    summary: "row hits first; among row hits, rows and banks, those of the last pending request of a warp first",
    source: "Jeong et al., ICPP 2023 (Warped-MC)",
    params: Options::params,
};

pub const ENTRY: Entry<dyn Family, SchedulerContext> = Entry {
    info: INFO,
    build: |context, params| {
        let options: Options = params.read();
        let tables = WarpTables::new(context, &options, true);
        let (banks, slots) = (context.dram.banks as usize, context.slots());
        let one_queue = context.dram.write_queue == 0;
        Ok(Box::new(SharingFamily(move |_| {
            Box::new(WarpedMc {
                warps: tables.channel(),
                held: vec![Held::default(); slots],
                in_service: vec![Priority::Low; banks],
                one_queue,
                picks_per_cycle: options.picks_per_cycle,
                counts: Counts::default(),
            }) as _
        })))
    },
};

/// Priorities, highest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Priority {
    /// The last pending request of its warp.
    High,
    /// A request to a row that has served another request of its warp since it was opened.
    Medium,
    Low,
}

/// Marks of a waiting request.
#[derive(Clone, Copy, Default)]
struct Held {
    order: u64,
    /// Whether it became the last of its warp since its row was last chosen: the score of a row
    /// counts these.
    scores: bool,
    /// Whether a request of its warp has been scheduled to its row since the row was chosen.
    follows: bool,
}

/// Saturation of a row's score, a counter of four bits.
const MAX_SCORE: usize = 15;

#[derive(Default)]
struct Counts {
    requests: u64,
    rows: u64,
    banks: u64,
    /// Scheduled requests, by priority.
    priorities: [u64; 3],
}

struct WarpedMc {
    warps: WarpTable,
    held: Vec<Held>,
    /// Priority at which the request in service was scheduled, by bank.
    in_service: Vec<Priority>,
    one_queue: bool,
    picks_per_cycle: Option<u32>,
    counts: Counts,
}

impl WarpedMc {
    /// Marks requests of this channel that have become the last of their warps by `now`.
    fn update_scores(&mut self, now: DramCycle) {
        let held = &mut self.held;
        self.warps.take_last(now, |name| {
            let held = &mut held[name.slot().index()];
            held.scores |= name.has_order(held.order);
        });
    }

    fn row_score(&self, bank: &BankView, row: RowId) -> u64 {
        let requests = bank.queue.requests_to(bank.bank, row);
        let scoring = requests.filter(|(slot, _)| self.held[slot.index()].scores);
        scoring.take(MAX_SCORE).count() as u64
    }

    /// Returns the priority of a waiting request; `hits`: its row is open.
    fn priority(&self, warps: &Table, slot: Slot, request: &DramRequest, hits: bool) -> Priority {
        if warps.pending(request) == Some(1) {
            Priority::High
        } else if hits && self.held[slot.index()].follows {
            Priority::Medium
        } else {
            Priority::Low
        }
    }

    /// Returns the first request of a row by priority.
    fn first_of_row(&self, bank: &BankView, row: RowId) -> Option<Slot> {
        let hits = bank.open_row() == Some(row);
        let warps = self.warps.at(bank.now);
        let mut best = None;
        for (slot, queued) in bank.queue.requests_to(bank.bank, row) {
            let priority = self.priority(&warps, slot, &queued.request, hits);
            if priority == Priority::High {
                return Some(slot);
            }
            if best.is_none_or(|(of, _)| priority < of) {
                best = Some((priority, slot));
            }
        }
        best.map(|(_, slot)| slot)
    }

    /// Counts the rule that made another choice than FR-FCFS.
    fn count(&mut self, bank: &BankView, slot: Slot, priority: Priority) {
        let usual = bank.fr_fcfs();
        let row = |slot| bank.queue.get(slot).request.row;
        if row(slot) != row(usual) {
            self.counts.rows += 1;
        } else if slot != usual {
            self.counts.requests += 1;
        }
        self.counts.priorities[priority as usize] += 1;
    }
}

impl Scheduler for WarpedMc {
    fn traits(&self) -> Traits {
        Traits {
            // Other channels change the counts too.
            repick_at_issue: true,
            ranks_banks: true,
            takes_events: true,
            picks_per_cycle: self.picks_per_cycle,
            ..Traits::default()
        }
    }

    fn pick(&mut self, bank: &BankView) -> Option<Slot> {
        self.update_scores(bank.now);
        let row = match bank.open_row() {
            Some(row) if bank.hits() > 0 => row,
            _ => bank.best_row(|row| self.row_score(bank, row.row)).row,
        };
        self.first_of_row(bank, row)
    }

    fn rank(&self, ready: &Ready) -> u64 {
        let Some(queued) = ready.queued else { return Priority::Low as u64 };
        if queued.request.write && !self.one_queue {
            return Priority::Low as u64;
        }
        let priority = match ready.slot {
            Some(slot) => {
                let (warps, hits) = (self.warps.at(ready.now), ready.kind.is_column());
                self.priority(&warps, slot, &queued.request, hits)
            }
            None => self.in_service[queued.request.bank.index()],
        };
        priority as u64
    }

    fn on_arrival(&mut self, slot: Slot, queued: &Queued) {
        self.held[slot.index()] = Held { order: queued.order, ..Held::default() };
        if let Some(entry) = self.warps.entry(&queued.request) {
            self.warps.arrived(slot, queued, entry);
        }
    }

    fn on_service(&mut self, bank: &BankView, slot: Slot) {
        let queued = bank.queue.get(slot);
        let (row, hit) = (queued.request.row, bank.is_hit(slot));
        let priority = self.priority(&self.warps.at(bank.now), slot, &queued.request, hit);
        self.in_service[bank.bank.index()] = priority;
        self.count(bank, slot, priority);
        let entry = self.warps.entry(&queued.request);
        if let Some(entry) = entry {
            self.warps.scheduled(slot, queued, entry, bank.now);
        }
        for (other, queued) in bank.queue.requests_to(bank.bank, row) {
            let same_warp = entry.is_some() && self.warps.entry(&queued.request) == entry;
            let held = &mut self.held[other.index()];
            held.follows = same_warp || (hit && held.follows);
            held.scores &= hit;
        }
    }

    fn on_event(&mut self, event: Event, _: DramCycle) {
        self.counts.banks += u64::from(event == Event::Overtaken);
    }

    /// Returns the cost of Table 3 of the paper. Stored are the warp entry table, and per bank
    /// four-bit scores for the most rows that can wait and a bit for each request that can follow
    /// another. Compared are three priorities of requests and of banks, and row scores.
    fn complexity(&self, shape: &Shape) -> Option<Complexity> {
        let (priority, score) = (2, 4);
        Some(Complexity {
            stored: self.warps.bits() + shape.banks * shape.queue * (score + 1),
            compared: shape.row_search()
                + shape.queue * (priority + score)
                + shape.banks * priority,
        })
    }

    fn counters(&self) -> Vec<Counter> {
        let Counts { requests, rows, banks, priorities: [high, medium, low] } = self.counts;
        let mut counters = vec![
            Counter { name: "rescheduled_requests", value: requests },
            Counter { name: "rescheduled_rows", value: rows },
            Counter { name: "rescheduled_banks", value: banks },
            Counter { name: "priority_high", value: high },
            Counter { name: "priority_medium", value: medium },
            Counter { name: "priority_low", value: low },
        ];
        counters.extend(self.warps.counters());
        counters
    }
}
