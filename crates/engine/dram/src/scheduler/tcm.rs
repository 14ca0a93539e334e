//! `tcm`: sources with low memory intensity go first; the others are ordered by a ranking that is
//! shuffled over time.

mod clusters;
mod monitor;

use super::shared::Shared;
use super::sources::{ServiceClock, Sources};
use super::{
    BankView, Family, Queued, Ready, Scheduler, SchedulerContext, SharingFamily, Slot, Traits,
};
use clusters::Clusters;
use monitor::Monitor;
use warpmem_params::{Complexity, Counter, Entry, PolicyInfo, Shape, choice, params};
use warpmem_sim::{BankId, DramCycle, RowId};

const INFO: PolicyInfo = PolicyInfo {
    name: "tcm",
    summary: "latency-sensitive sources first, the others in shuffled order; then row hits, then the oldest",
    source: "Kim, Papamichael, Mutlu, Harchol-Balter, MICRO 2010",
    params: Options::params,
};

pub const ENTRY: Entry<dyn Family, SchedulerContext> = Entry {
    info: INFO,
    build: |context, params| {
        let options: Options = params.read();
        let sources = Sources::of(context);
        let banks = context.dram.banks as usize;
        let machine_banks = context.dram.banks * context.dram.channels;
        let meta = Shared::new(Meta {
            monitor: Monitor::new(sources.count()),
            clusters: Clusters::new(options, sources.count(), machine_banks),
        });
        let clock = ServiceClock::new(context);
        Ok(Box::new(SharingFamily(move |_| {
            Box::new(Tcm {
                sources,
                banks,
                meta: meta.clone(),
                clock: clock.clone(),
                outstanding: vec![0; sources.count() * banks],
                last_rows: vec![None; sources.count() * banks],
            }) as _
        })))
    },
};

params! {
    #[derive(Clone, Copy)]
    struct Options {
        /// maximum share of the last quantum's service that the latency-sensitive sources received
        /// together (the paper: 4/24)
        cluster_threshold: f64 = 0.1667, in 0.0..=1.0, unit "share of service";
        /// time between clusterings of the sources
        quantum: u64 = 10_000, in 1.., unit "DRAM cycles";
        /// time between changes of the order of bandwidth-sensitive sources
        shuffle_interval: u64 = 800, in 1.., unit "DRAM cycles";
        /// `insertion`: less nice sources are last for longer; `random`; `dynamic`: `insertion` if
        /// the sources differ enough (see `shuffle_threshold`), else `random`
        shuffle: Shuffle = Shuffle::Dynamic;
        /// difference in both bank-level parallelism (as a share of all banks) and row hit rate
        /// beyond which sources differ enough
        shuffle_threshold: f64 = 0.1, in 0.0..=1.0, unit "share";
    }
}

choice! {
    #[derive(PartialEq)]
    enum Shuffle {
        Dynamic = "dynamic",
        Insertion = "insertion",
        Random = "random",
    }
}

/// The paper's meta controller: the behaviour of each source over all channels, and the ranks
/// derived from it.
struct Meta {
    monitor: Monitor,
    clusters: Clusters,
}

impl Meta {
    fn advance(&mut self, now: DramCycle) {
        self.clusters.advance(now, &mut self.monitor);
    }
}

struct Tcm {
    sources: Sources,
    banks: usize,
    meta: Shared<Meta>,
    clock: ServiceClock,
    /// Requests in the channel, by source and bank.
    outstanding: Vec<u32>,
    /// Row that would be open if the source ran alone, by source and bank.
    last_rows: Vec<Option<RowId>>,
}

impl Tcm {
    fn at(&self, source: usize, bank: BankId) -> usize {
        source * self.banks + bank.index()
    }
}

impl Scheduler for Tcm {
    fn traits(&self) -> Traits {
        Traits { ranks_banks: true, ..Traits::default() }
    }

    fn pick(&mut self, bank: &BankView) -> Option<Slot> {
        let mut meta = self.meta.get();
        meta.advance(bank.now);
        let rank = |queued: &Queued| meta.clusters.rank(self.sources.index(&queued.request));
        bank.oldest_of_lowest(|_, queued, hit| (rank(queued), !hit))
    }

    fn changes_at(&self, _: &BankView) -> Option<DramCycle> {
        Some(self.meta.get().clusters.next_change())
    }

    fn rank(&self, ready: &Ready) -> u64 {
        let Some(queued) = self.sources.ranked(ready) else { return 0 };
        let mut meta = self.meta.get();
        meta.advance(ready.now);
        meta.clusters.rank(self.sources.index(&queued.request)).into()
    }

    fn on_arrival(&mut self, _: Slot, queued: &Queued) {
        let source = self.sources.index(&queued.request);
        let at = self.at(source, queued.request.bank);
        let row = Some(queued.request.row);
        let mut meta = self.meta.get();
        meta.advance(queued.arrived);
        meta.monitor.request(source, self.last_rows[at] == row);
        self.last_rows[at] = row;
        self.outstanding[at] += 1;
        if self.outstanding[at] == 1 {
            meta.monitor.bank_begins(source, queued.arrived);
        }
    }

    fn on_service(&mut self, bank: &BankView, _: Slot) {
        self.clock.begin(bank.bank, bank.now);
    }

    fn on_column(&mut self, queued: &Queued, last: bool, now: DramCycle) {
        if !last {
            return;
        }
        let source = self.sources.index(&queued.request);
        let at = self.at(source, queued.request.bank);
        let mut meta = self.meta.get();
        meta.advance(now);
        meta.monitor.served(source, self.clock.end(queued.request.bank, now));
        self.outstanding[at] -= 1;
        if self.outstanding[at] == 0 {
            meta.monitor.bank_ends(source, now);
        }
    }

    /// Returns the cost of the paper's table, less than 4 Kbit for 24 sources, 4 banks of 16384
    /// rows and 64 requests. Stored per source are its misses in ten bits and its number of active
    /// banks, current and mean; per source and bank its requests, the row that it would have open,
    /// and row hits in sixteen bits. Compared is the rank of every request's source.
    fn complexity(&self, shape: &Shape) -> Option<Complexity> {
        let per_bank = shape.queue_bits() + shape.row_bits + 16;
        let per_source = 10 + 2 * shape.bank_bits() + shape.banks * per_bank;
        Some(Complexity {
            stored: shape.sms * per_source,
            compared: shape.row_search() + shape.queue * shape.sm_bits(),
        })
    }

    fn counters(&self) -> Vec<Counter> {
        self.meta.get().clusters.counters()
    }
}

#[cfg(test)]
mod tests;
