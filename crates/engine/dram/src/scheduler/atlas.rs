//! `atlas`: sources with the least attained service go first.

use super::shared::Shared;
use super::sources::{ServiceClock, Sources, ranks_of};
use super::{BankView, Family, Queued, Ready, Scheduler, SchedulerContext, Slot, Traits};
use warpmem_params::{Complexity, Counter, Entry, PolicyInfo, Shape, bits, params};
use warpmem_sim::DramCycle;

const INFO: PolicyInfo = PolicyInfo {
    name: "atlas",
    summary: "overdue requests first, then the sources with the least attained service, then row hits, then the oldest",
    source: "Kim, Han, Mutlu, Harchol-Balter, HPCA 2010",
    params: Options::params,
};

pub const ENTRY: Entry<dyn Family, SchedulerContext> = Entry {
    info: INFO,
    build: |context, params| {
        let options: Options = params.read();
        let sources = Sources::of(context);
        let meta = Shared::new(Meta::new(options, sources.count()));
        let clock = ServiceClock::new(context);
        Ok(Box::new(AtlasFamily { options, sources, meta, clock }))
    },
};

struct AtlasFamily {
    options: Options,
    sources: Sources,
    meta: Shared<Meta>,
    clock: ServiceClock,
}

impl Family for AtlasFamily {
    fn scheduler(&self, _: usize) -> Box<dyn Scheduler> {
        Box::new(Atlas {
            options: self.options,
            sources: self.sources,
            meta: self.meta.clone(),
            clock: self.clock.clone(),
            overdue_served: 0,
        })
    }

    fn share_state(&self) -> bool {
        true
    }

    /// The meta controller keeps the service of all quanta in 32 bits per source.
    fn shared_complexity(&self, shape: &Shape) -> Complexity {
        Complexity { stored: shape.sms * 32, compared: 0 }
    }
}

params! {
    #[derive(Clone, Copy)]
    struct Options {
        /// waiting time after which a request goes before all requests that have waited less
        threshold: u64 = 100_000, in 1.., unit "DRAM cycles";
        /// weight of past quanta in a source's attained service; the last quantum has the remainder
        alpha: f64 = 0.875, in 0.0..=1.0, unit "share";
        /// time between rankings of the sources
        quantum: u64 = 10_000, in 1.., unit "DRAM cycles";
    }
}

/// The paper's meta controller: the service of each source over all channels, and the ranks derived
/// from it.
struct Meta {
    options: Options,
    quantum_ends: DramCycle,
    /// Bank cycles of service in the current quantum, by source.
    attained: Vec<u64>,
    /// Service in past quanta, exponentially weighted, by source.
    total: Vec<f64>,
    /// Rank of each source, least served first.
    ranks: Vec<u16>,
    quanta: u64,
}

impl Meta {
    fn new(options: Options, sources: usize) -> Meta {
        Meta {
            options,
            quantum_ends: DramCycle::new(options.quantum),
            attained: vec![0; sources],
            total: vec![0.0; sources],
            ranks: vec![0; sources],
            quanta: 0,
        }
    }

    /// Ends the quanta that have passed.
    fn advance(&mut self, now: DramCycle) {
        while now >= self.quantum_ends {
            let alpha = self.options.alpha;
            for (total, attained) in self.total.iter_mut().zip(&mut self.attained) {
                *total = alpha * *total + (1.0 - alpha) * std::mem::take(attained) as f64;
            }
            self.ranks = ranks_of(&self.total);
            self.quantum_ends += self.options.quantum;
            self.quanta += 1;
        }
    }
}

struct Atlas {
    options: Options,
    sources: Sources,
    meta: Shared<Meta>,
    clock: ServiceClock,
    overdue_served: u64,
}

impl Atlas {
    fn is_overdue(&self, queued: &Queued, now: DramCycle) -> bool {
        now.since(queued.arrived) >= self.options.threshold
    }
}

impl Scheduler for Atlas {
    fn traits(&self) -> Traits {
        Traits { ranks_banks: true, ..Traits::default() }
    }

    fn pick(&mut self, bank: &BankView) -> Option<Slot> {
        let mut meta = self.meta.get();
        meta.advance(bank.now);
        bank.oldest_of_lowest(|_, queued, hit| {
            let rank = meta.ranks[self.sources.index(&queued.request)];
            (!self.is_overdue(queued, bank.now), rank, !hit)
        })
    }

    fn changes_at(&self, bank: &BankView) -> Option<DramCycle> {
        let in_time = bank.requests().find(|(_, queued)| !self.is_overdue(queued, bank.now));
        let overdue =
            in_time.map_or(DramCycle::NEVER, |(_, queued)| queued.arrived + self.options.threshold);
        Some(overdue.min(self.meta.get().quantum_ends))
    }

    fn rank(&self, ready: &Ready) -> u64 {
        let Some(queued) = self.sources.ranked(ready) else { return 0 };
        let mut meta = self.meta.get();
        meta.advance(ready.now);
        let in_time = u64::from(!self.is_overdue(queued, ready.now));
        in_time << 16 | u64::from(meta.ranks[self.sources.index(&queued.request)])
    }

    fn on_service(&mut self, bank: &BankView, slot: Slot) {
        self.clock.begin(bank.bank, bank.now);
        self.overdue_served += u64::from(self.is_overdue(bank.queue.get(slot), bank.now));
    }

    fn on_column(&mut self, queued: &Queued, last: bool, now: DramCycle) {
        if last {
            let mut meta = self.meta.get();
            meta.advance(now);
            let source = self.sources.index(&queued.request);
            meta.attained[source] += self.clock.end(queued.request.bank, now);
        }
    }

    /// Returns the cost of the paper's table; its meta controller has 8896 bits for 24 sources, 4
    /// controllers of 128 requests and 4 banks, and quanta of 10 million cycles. Stored are an
    /// overdue bit, the source and its rank per request, and the service per source. Compared are
    /// the overdue bits and the ranks of the requests.
    fn complexity(&self, shape: &Shape) -> Option<Complexity> {
        let source = shape.sm_bits();
        let service = bits(self.options.quantum * shape.banks);
        Some(Complexity {
            stored: shape.queue * (1 + 2 * source) + shape.sms * service,
            compared: shape.row_search() + shape.queue * (1 + source),
        })
    }

    fn counters(&self) -> Vec<Counter> {
        vec![
            Counter { name: "quanta", value: self.meta.get().quanta },
            Counter { name: "overdue_requests", value: self.overdue_served },
        ]
    }
}

#[cfg(test)]
mod tests {
    use crate::scheduler::SCHEDULERS;
    use crate::tests::harness::*;
    use crate::{Channel, DramRequest};

    /// Returns requests that serve SM 0 twice and SM 1 once within the first 100 cycles.
    fn history() -> Vec<(u64, DramRequest)> {
        vec![(0, from(0, 0, 0, 1)), (0, from(0, 1, 1, 1)), (40, from(1, 2, 2, 1))]
    }

    /// Returns the service order of the requests that follow the history.
    fn order(policy: &str, later: &[(u64, DramRequest)]) -> Vec<u32> {
        let order = timed(&gddr5(), policy, &[&history(), later].concat()).order();
        assert_eq!(order[..3], [0, 1, 2]);
        order[3..].to_vec()
    }

    #[test]
    fn sources_served_less_go_before_older_requests() {
        let later = [(110, from(0, 3, 0, 2)), (110, from(1, 4, 0, 3)), (110, from(2, 5, 0, 4))];
        assert_eq!(order("atlas(quantum=100)", &later), [5, 4, 3]);
        assert_eq!(order("fr-fcfs", &later), [3, 4, 5]);
    }

    #[test]
    fn sources_served_less_go_before_row_hits_and_hits_before_age_within_a_source() {
        let later = [
            (110, from(0, 3, 0, 1)),
            (110, from(1, 4, 0, 3)),
            (110, from(2, 5, 0, 5)),
            (110, from(2, 6, 0, 6)),
            (110, from(2, 7, 0, 5)),
        ];
        assert_eq!(order("atlas(quantum=100)", &later), [5, 7, 6, 4, 3]);
        assert_eq!(order("fr-fcfs", &later), [3, 4, 5, 7, 6]);
    }

    #[test]
    fn before_the_first_quantum_ends_it_is_fr_fcfs() {
        let later = [(60, from(0, 3, 0, 2)), (60, from(1, 4, 0, 3)), (60, from(2, 5, 0, 2))];
        assert_eq!(order("atlas(quantum=1000)", &later), [3, 5, 4]);
    }

    /// The choice of cycle 98 is repeated at 100, before the row may be closed: it was opened at
    /// 90.
    #[test]
    fn banks_are_asked_again_when_a_quantum_ends() {
        let later = [(90, from(0, 3, 0, 7)), (98, from(0, 4, 0, 8)), (98, from(1, 5, 0, 9))];
        assert_eq!(order("atlas(quantum=100)", &later), [3, 5, 4]);
        assert_eq!(order("fr-fcfs", &later), [3, 4, 5]);
    }

    #[test]
    fn banks_are_ranked_too() {
        let later = [(110, from(0, 3, 3, 2)), (110, from(0, 4, 4, 3)), (110, from(1, 5, 5, 4))];
        assert_eq!(order("atlas(quantum=100)", &later), [5, 3, 4]);
        assert_eq!(order("fr-fcfs", &later), [3, 4, 5]);
    }

    /// SM 0 is served in the first quantum, SM 1, less, in the second: alpha decides which counts
    /// more.
    #[test]
    fn alpha_weighs_the_past() {
        let requests = [
            (0, from(0, 0, 0, 1)),
            (0, from(0, 1, 1, 1)),
            (110, from(1, 2, 2, 1)),
            (210, from(0, 3, 0, 2)),
            (210, from(1, 4, 0, 3)),
        ];
        let order = |policy: &str| timed(&gddr5(), policy, &requests).order();
        // 28 bank cycles for 2 (tRCD + burst), 14 for one.
        assert_eq!(order("atlas(quantum=100,alpha=0.4)"), [0, 1, 2, 3, 4]);
        assert_eq!(order("atlas(quantum=100,alpha=0.6)"), [0, 1, 2, 4, 3]);
    }

    /// SM 1 keeps bank 0 busy with row hits; SM 0, served more, waits until the threshold.
    #[test]
    fn an_overdue_request_goes_first() {
        let mut later: Vec<_> =
            (0..300).map(|n| (110 + 3 * n, from(1, 3 + n as u32, 0, 9))).collect();
        later.insert(1, (112, from(0, 1000, 0, 2)));
        let service = |policy: &str| {
            let run = timed(&gddr5(), policy, &[&history()[..], &later].concat());
            run.completions.iter().find(|done| done.id == 1000).unwrap().first_command.number()
        };
        // A row hit may have started; the row has long been open.
        let waited = service("atlas(quantum=100,threshold=400,alpha=1)") - 112;
        assert!((400..404).contains(&waited), "{waited}");
        assert!(service("atlas(quantum=2000)") > 110 + 3 * 290);
    }

    /// All requests are overdue when the row may be closed, at 118.
    #[test]
    fn overdue_requests_go_by_rank_too() {
        let later = [(90, from(1, 3, 0, 7)), (98, from(0, 4, 0, 8)), (99, from(1, 5, 0, 9))];
        assert_eq!(order("atlas(quantum=100,threshold=1)", &later), [3, 5, 4]);
    }

    /// Channel 0 serves SM 0, so channel 1 ranks it last.
    #[test]
    fn channels_share_attained_service() {
        let mut two = context(&gddr5());
        two.dram.channels = 2;
        let family = SCHEDULERS.build("atlas(quantum=100)", &two).unwrap();
        let mut channels = [0, 1].map(|n| Channel::new(&two.dram, family.scheduler(n)).unwrap());
        channels[0].push(DramCycle::ZERO, from(0, 0, 0, 1));
        for now in [0, 12].map(at) {
            channels[0].step(now, 9);
        }
        channels[1].push(at(200), from(0, 1, 0, 1));
        channels[1].push(at(200), from(1, 2, 0, 2));
        let mut now = at(200);
        while let Some(next) = channels[1].step(now, 9).filter(|_| !channels[1].is_empty()) {
            now = next;
        }
        let order: Vec<u32> = channels[1].take_completions().map(|done| done.id).collect();
        assert_eq!(order, [2, 1]);
    }

    #[test]
    fn counts_quanta_and_overdue_requests() {
        let requests =
            [&history()[..], &[(350, from(0, 3, 0, 1)), (350, from(0, 4, 0, 1))]].concat();
        let run = timed(&gddr5(), "atlas(quantum=100,threshold=3)", &requests);
        assert_eq!(run.counted("quanta"), 3);
        // The second of two row hits waits for tCCD_L = 3; the second request of SM 0 in the
        // history waits for tRRD.
        assert_eq!(run.counted("overdue_requests"), 2);
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        assert_refused(&[
            "atlas(threshold=0)",
            "atlas(alpha=1.5)",
            "atlas(alpha=-1)",
            "atlas(quantum=0)",
            "atlas(x=1)",
        ]);
    }
}
