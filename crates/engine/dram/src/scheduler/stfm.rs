//! `stfm`: if the slowdowns of sources are unequal, the most slowed source goes first.

mod slowdown;

use super::shared::Shared;
use super::sources::Sources;
use super::{
    BankSet, BankView, ChannelView, Family, Queued, Ready, Scheduler, SchedulerContext, Slot,
    Traits,
};
use crate::{DramRequest, Timing};
use slowdown::Slowdowns;
use warpmem_params::{Complexity, Counter, Entry, PolicyInfo, Real, Shape, bits, params};
use warpmem_sim::{BankId, DramCycle, RowId};

const INFO: PolicyInfo = PolicyInfo {
    name: "stfm",
    summary: "the source with the largest slowdown first if slowdowns differ too much, otherwise FR-FCFS",
    source: "Mutlu and Moscibroda, MICRO 2007",
    params: Options::params,
};

pub const ENTRY: Entry<dyn Family, SchedulerContext> = Entry {
    info: INFO,
    build: |context, params| {
        let options: Options = params.read();
        let (context, slowdowns) = (context.clone(), options.slowdowns(context));
        Ok(Box::new(StfmFamily { options, context, slowdowns }))
    },
};

/// Bits of a slowdown, and of alpha (the paper's table of its state).
const SLOWDOWN_BITS: u64 = 8;

struct StfmFamily {
    options: Options,
    context: SchedulerContext,
    slowdowns: Shared<Slowdowns>,
}

impl Family for StfmFamily {
    fn scheduler(&self, _: usize) -> Box<dyn Scheduler> {
        Box::new(Stfm::new(self.options, &self.context, &self.slowdowns))
    }

    fn share_state(&self) -> bool {
        true
    }

    /// Stored per source are stall time, delay, slowdown, and the number of banks that it waits for
    /// and that serve it; in addition the interval's clock and alpha.
    fn shared_complexity(&self, shape: &Shape) -> Complexity {
        let time = bits(self.options.interval);
        let source = 2 * time + SLOWDOWN_BITS + 2 * shape.bank_bits();
        Complexity { stored: shape.sms * source + time + SLOWDOWN_BITS, compared: 0 }
    }
}

params! {
    #[derive(Clone, Copy)]
    struct Options {
        /// ratio of the largest to the smallest slowdown beyond which the source with the largest
        /// goes first
        alpha: f64 = 1.1, in 1.0.., unit "ratio";
        /// divisor of the delay by another source's request in the same bank, per bank in which
        /// reads of the source wait
        gamma: f64 = 0.5, in Real::Above(0.0), unit "ratio";
        /// interval after which all slowdowns are measured anew
        interval: u64 = 100_000, in 1.., unit "DRAM cycles";
    }
}

impl Options {
    fn slowdowns(&self, context: &SchedulerContext) -> Shared<Slowdowns> {
        Shared::new(Slowdowns::new(Sources::of(context).count(), self.interval))
    }
}

/// DRAM cycles that a bank needs for a request.
#[derive(Clone, Copy)]
struct Costs {
    activate: u64,
    precharge: u64,
    /// Cycles of one column command on the data bus, and in its bank.
    burst: u64,
    column: u64,
}

impl Costs {
    fn of(context: &SchedulerContext) -> Costs {
        let Timing { trcd, trp, tccdl, .. } = context.dram.timing;
        let burst = context.dram.burst_cycles();
        let column = u64::from(tccdl.max(burst));
        Costs { activate: trcd.into(), precharge: trp.into(), burst: burst.into(), column }
    }

    /// Returns the cycles before the column commands, with this row open.
    fn row(&self, open: Option<RowId>, wanted: RowId) -> u64 {
        match open {
            Some(row) if row == wanted => 0,
            Some(_) => self.precharge + self.activate,
            None => self.activate,
        }
    }
}

/// Finds the first occurrence of each source in each of many rounds.
struct Once {
    /// Last round with each source.
    met: Vec<u64>,
    round: u64,
}

impl Once {
    fn begin(&mut self) {
        self.round += 1;
    }

    fn first(&mut self, source: usize) -> bool {
        std::mem::replace(&mut self.met[source], self.round) != self.round
    }
}

struct Stfm {
    options: Options,
    sources: Sources,
    banks: usize,
    costs: Costs,
    slowdowns: Shared<Slowdowns>,
    /// Requests in this channel's queue, by source.
    waiting: Vec<u32>,
    /// Requests in this channel's queue, by source and bank.
    waiting_in_bank: Vec<u32>,
    /// Row that would be open if the source ran alone, by source and bank.
    last_rows: Vec<Option<RowId>>,
    once: Once,
    /// Source that goes first, if slowdowns differ too much.
    favoured: Option<usize>,
    /// Whether a request has started or ended service since the last comparison of slowdowns.
    compare: bool,
    favoured_served: u64,
    changes: u64,
}

impl Stfm {
    fn new(options: Options, context: &SchedulerContext, slowdowns: &Shared<Slowdowns>) -> Stfm {
        let (sources, banks) = (Sources::of(context), context.dram.banks as usize);
        Stfm {
            options,
            sources,
            banks,
            costs: Costs::of(context),
            slowdowns: slowdowns.clone(),
            waiting: vec![0; sources.count()],
            waiting_in_bank: vec![0; sources.count() * banks],
            last_rows: vec![None; sources.count() * banks],
            once: Once { met: vec![0; sources.count()], round: 0 },
            favoured: None,
            compare: false,
            favoured_served: 0,
            changes: 0,
        }
    }

    /// Returns the source that waits for a request; none waits for a write.
    fn source(&self, request: &DramRequest) -> usize {
        if request.write { self.sources.no_sm() } else { self.sources.index(request) }
    }

    fn at(&self, source: usize, bank: BankId) -> usize {
        source * self.banks + bank.index()
    }

    fn is_deferred(&self, queued: &Queued) -> bool {
        let source = self.source(&queued.request);
        self.favoured.is_some_and(|favoured| favoured != source)
    }

    /// Adds to the delay of the request's own source the cost of the service beyond its cost when
    /// alone, where the row that it last used would be open. May be a gain.
    fn delay_itself(&mut self, bank: &BankView, source: usize, row: RowId) {
        let at = self.at(source, bank.bank);
        let alone = self.costs.row(self.last_rows[at].replace(row), row);
        let shared = self.costs.row(bank.open_row(), row);
        let mut slowdowns = self.slowdowns.get();
        let parallel = f64::from(slowdowns.serving_banks(source));
        slowdowns.delay(source, (shared as f64 - alone as f64) / parallel);
    }

    /// Delays the other sources that wait for the bank by the whole service, as far as their other
    /// banks do not hide it.
    fn delay_bank(&mut self, bank: &BankView, source: usize, cycles: u64) {
        let mut slowdowns = self.slowdowns.get();
        self.once.begin();
        for (_, waiting) in bank.requests() {
            let other = self.source(&waiting.request);
            if other != source && self.once.first(other) {
                let parallel = self.options.gamma * f64::from(slowdowns.waiting_banks(other));
                slowdowns.delay(other, cycles as f64 / parallel);
            }
        }
    }

    /// Delays the other sources with a row hit in another bank by the use of the data bus.
    fn delay_bus(&mut self, bank: &BankView, source: usize, cycles: u64) {
        let mut slowdowns = self.slowdowns.get();
        self.once.begin();
        let banks = bank.queue.banks().filter(|&other| other != bank.bank);
        for (_, hit) in banks.flat_map(|other| bank.queue.hits_of(other)) {
            let other = self.source(&hit.request);
            if other != source && self.once.first(other) {
                slowdowns.delay(other, cycles as f64);
            }
        }
    }

    /// Returns the most slowed of the sources waiting here, if its slowdown exceeds that of another
    /// by too much.
    fn most_slowed(&self, now: DramCycle) -> Option<usize> {
        let slowdowns = self.slowdowns.get();
        let waits = |source: &usize| self.waiting[*source] > 0;
        let of = |source| (slowdowns.slowdown(source, now), source);
        let mut waiting = (0..self.sources.no_sm()).filter(waits).map(of);
        let first = waiting.next()?;
        let (least, most) = waiting.fold((first.0, first), |(least, most), (slowdown, source)| {
            (least.min(slowdown), if slowdown > most.0 { (slowdown, source) } else { most })
        });
        (most.0 > self.options.alpha * least).then_some(most.1)
    }
}

impl Scheduler for Stfm {
    fn traits(&self) -> Traits {
        Traits { ranks_banks: true, ..Traits::default() }
    }

    fn pick(&mut self, bank: &BankView) -> Option<Slot> {
        bank.oldest_of_lowest(|_, queued, hit| (self.is_deferred(queued), !hit))
    }

    fn rank(&self, ready: &Ready) -> u64 {
        self.sources.ranked(ready).is_some_and(|queued| self.is_deferred(queued)).into()
    }

    fn next_tick(&self) -> DramCycle {
        if self.compare { DramCycle::ZERO } else { DramCycle::NEVER }
    }

    fn tick(&mut self, channel: &ChannelView) -> BankSet {
        self.compare = false;
        let favoured = self.most_slowed(channel.now);
        if favoured == self.favoured {
            return 0;
        }
        self.favoured = favoured;
        self.changes += 1;
        channel.banks()
    }

    fn on_arrival(&mut self, _: Slot, queued: &Queued) {
        let source = self.source(&queued.request);
        let at = self.at(source, queued.request.bank);
        self.waiting[source] += 1;
        self.waiting_in_bank[at] += 1;
        let first_in_bank = self.waiting_in_bank[at] == 1;
        self.slowdowns.get().arrive(source, first_in_bank, queued.arrived);
    }

    fn on_service(&mut self, bank: &BankView, slot: Slot) {
        let request = bank.queue.get(slot).request;
        let source = self.source(&request);
        let at = self.at(source, bank.bank);
        self.waiting[source] -= 1;
        self.waiting_in_bank[at] -= 1;
        let last_in_bank = self.waiting_in_bank[at] == 0;
        self.slowdowns.get().begin(source, last_in_bank, bank.now);
        let bursts = u64::from(request.bursts);
        let row = self.costs.row(bank.open_row(), request.row);
        self.delay_itself(bank, source, request.row);
        self.delay_bank(bank, source, row + bursts * self.costs.column);
        self.delay_bus(bank, source, bursts * self.costs.burst);
        self.favoured_served += u64::from(self.favoured == Some(source));
        self.compare = true;
    }

    fn on_column(&mut self, queued: &Queued, last: bool, now: DramCycle) {
        if last {
            self.slowdowns.get().end(self.source(&queued.request), now);
            self.compare = true;
        }
    }

    /// Returns the cost of the paper's table: with the shared state 1808 bits for 8 sources, 128
    /// requests, 8 banks of 16384 rows and an interval of 2^24 cycles. Stored are the source per
    /// request, and per source and bank the row that it would have open. Compared are the favoured
    /// source with every request's, and slowdowns with each other.
    fn complexity(&self, shape: &Shape) -> Option<Complexity> {
        let source = shape.sm_bits();
        Some(Complexity {
            stored: shape.queue * source + shape.sms * shape.banks * shape.row_bits,
            compared: shape.row_search() + shape.queue * source + shape.sms * SLOWDOWN_BITS,
        })
    }

    fn counters(&self) -> Vec<Counter> {
        vec![
            Counter { name: "favoured_requests", value: self.favoured_served },
            Counter { name: "favour_changes", value: self.changes },
        ]
    }
}

#[cfg(test)]
mod tests;
