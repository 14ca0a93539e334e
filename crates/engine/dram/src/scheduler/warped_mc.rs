//! `warped-mc`: row hits first, and among equals the request that completes its warp's load.
//!
//! Three rules (Jeong et al. 2023, Section 4.1, Algorithm 1): the priority of requests to the open
//! row, the score of the waiting rows, and the priority of banks.

use super::warp_table::{self, Entry as WarpEntry, Reports, Table, WarpTable, WarpTables};
use super::{
    BankView, DramRequest, Event, Family, Queued, Ready, Scheduler, SchedulerContext,
    SharingFamily, Slot, Traits,
};
use warpmem_params::{Complexity, Counter, Entry, PolicyInfo, Shape, choice, params};
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
        let reports = match options.high {
            High::Only => Reports::All,
            High::Left => Reports::Left,
        };
        let tables = WarpTables::new(context, &options.warps, reports);
        let (banks, slots) = (context.dram.banks as usize, context.slots());
        let one_queue = context.dram.write_queue == 0;
        Ok(Box::new(SharingFamily(move |_| {
            Box::new(WarpedMc {
                warps: tables.channel(),
                held: vec![Held::default(); slots],
                in_service: vec![Priority::Low; banks],
                one_queue,
                options: options.clone(),
                counts: Counts::default(),
            }) as _
        })))
    },
};

choice! {
    /// The request of a warp that has high priority.
    #[derive(PartialEq, Eq)]
    enum High {
        /// The only pending one: "the last request of the corresponding warp, or the warp creates only
        /// one off-chip request" (section 4.2).
        Only = "only",
        /// The one that the others have left: raised "if schedule request" (Algorithm 1, lines 5 to
        /// 8).
        Left = "left",
    }
}

choice! {
    /// The row hits that have medium priority.
    #[derive(PartialEq, Eq)]
    enum Medium {
        /// "Pending requests of warp A" when one of them is scheduled (Algorithm 1, line 10).
        Warp = "warp",
        /// Of these, the requests to the same row.
        Row = "row",
        /// "If a request of the warp that has multiple pending requests in the pending queue hits the
        /// open row" (section 4.1).
        Hit = "hit",
    }
}

choice! {
    /// Pools of banks, served one after the other.
    enum Pools {
        /// Banks of high priority, and the others: the "higher-priority bank pool" is of "the slowest
        /// request" (section 4.1).
        High = "high",
        /// Banks of high or medium priority, and the others.
        Medium = "medium",
        /// A pool for each priority.
        Three = "three",
    }
}

params! {
    #[derive(Clone)]
    struct Options {
        /// request with high priority: the `only` pending one of its warp, or that one if other
        /// requests of its warp have been scheduled before it (`left`)
        high: High = High::Only;
        /// row hits with medium priority: those that waited when another request of their `warp` was
        /// scheduled in the channel, of these those to the same `row`, or every `hit` of a warp with
        /// several pending requests
        medium: Medium = Medium::Warp;
        /// pools of banks, the first of which issues first: high priority and the rest (`high`), high or
        /// medium and the rest (`medium`), or one for each of the `three` priorities
        pools: Pools = Pools::High;
        ..warps: warp_table::Options;
    }
}

/// Priorities, highest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Priority {
    /// The last pending request of its warp.
    High,
    /// A row hit by [`Medium`].
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
    /// Whether another request of its warp has been scheduled: to its row since the row was chosen
    /// ([`Medium::Row`]), or in the channel ([`Medium::Warp`]).
    follows: bool,
    /// Entry of its warp in the table.
    warp: Option<WarpEntry>,
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
    options: Options,
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
        let pending = warps.pending(request);
        let is_high = match self.options.high {
            High::Only => pending == Some(1),
            High::Left => warps.is_left_alone(request),
        };
        if is_high {
            return Priority::High;
        }
        let is_medium = match self.options.medium {
            Medium::Warp | Medium::Row => self.held[slot.index()].follows,
            Medium::Hit => pending.is_some_and(|pending| pending > 1),
        };
        if hits && is_medium { Priority::Medium } else { Priority::Low }
    }

    /// Marks the waiting requests that follow the one in `slot`, which is being scheduled, and clears
    /// the score of its row when that is chosen.
    fn mark_followers(&mut self, bank: &BankView, slot: Slot) {
        let (warp, hit) = (self.held[slot.index()].warp, bank.is_hit(slot));
        let row = bank.queue.get(slot).request.row;
        for (other, _) in bank.queue.requests_to(bank.bank, row) {
            let held = &mut self.held[other.index()];
            held.scores &= hit;
            if self.options.medium == Medium::Row {
                let same_warp = warp.is_some() && held.warp == warp;
                held.follows = same_warp || (hit && held.follows);
            }
        }
        if self.options.medium == Medium::Warp && warp.is_some() {
            for (other, _) in bank.queue.iter() {
                let held = &mut self.held[other.index()];
                held.follows |= held.warp == warp;
            }
        }
    }

    /// Returns the rank of banks of this priority.
    fn pool(&self, priority: Priority) -> u64 {
        match self.options.pools {
            Pools::High => u64::from(priority != Priority::High),
            Pools::Medium => u64::from(priority == Priority::Low),
            Pools::Three => priority as u64,
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
            picks_per_cycle: self.options.warps.picks_per_cycle,
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
        let low = self.pool(Priority::Low);
        let Some(queued) = ready.queued else { return low };
        if queued.request.write && !self.one_queue {
            return low;
        }
        let priority = match ready.slot {
            Some(slot) => {
                let (warps, hits) = (self.warps.at(ready.now), ready.kind.is_column());
                self.priority(&warps, slot, &queued.request, hits)
            }
            None => self.in_service[queued.request.bank.index()],
        };
        self.pool(priority)
    }

    fn on_arrival(&mut self, slot: Slot, queued: &Queued) {
        let warp = self.warps.entry(&queued.request);
        self.held[slot.index()] = Held { order: queued.order, warp, ..Held::default() };
        if let Some(entry) = warp {
            self.warps.arrived(slot, queued, entry);
        }
    }

    fn on_service(&mut self, bank: &BankView, slot: Slot) {
        let queued = bank.queue.get(slot);
        let hit = bank.is_hit(slot);
        let priority = self.priority(&self.warps.at(bank.now), slot, &queued.request, hit);
        self.in_service[bank.bank.index()] = priority;
        self.count(bank, slot, priority);
        if let Some(entry) = self.held[slot.index()].warp {
            self.warps.scheduled(slot, queued, entry, bank.now);
        }
        self.mark_followers(bank, slot);
    }

    fn on_column(&mut self, queued: &Queued, last: bool, now: DramCycle) {
        if last {
            self.warps.served(queued, now);
        }
    }

    fn on_event(&mut self, event: Event, _: DramCycle) {
        self.counts.banks += u64::from(event == Event::Overtaken);
    }

    /// Returns the cost of Table 3 of the paper. Stored are the warp entry table, and per bank
    /// four-bit scores for the most rows that can wait and a bit for each request that can follow
    /// another, which is the paper's priority table. Compared are three priorities of requests and of banks, and row scores.
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
