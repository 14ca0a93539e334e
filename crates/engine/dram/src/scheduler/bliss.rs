//! `bliss`: a source that is served several times in succession is deprioritised.

use super::sources::Sources;
use super::{
    BankSet, BankView, ChannelView, Family, Queued, Ready, Scheduler, SchedulerContext, Slot,
    Traits,
};
use warpmem_params::{Complexity, Counter, Entry, PolicyInfo, Shape, bits, params};
use warpmem_sim::DramCycle;

const INFO: PolicyInfo = PolicyInfo {
    name: "bliss",
    summary: "requests of sources that are not blacklisted first, then row hits, then the oldest",
    source: "Subramanian et al., ICCD 2014",
    params: Options::params,
};

pub const ENTRY: Entry<dyn Family, SchedulerContext> = Entry {
    info: INFO,
    build: |context, params| {
        let options: Options = params.read();
        let sources = Sources::of(context);
        Ok(Box::new(move |_| {
            Box::new(Bliss {
                options,
                sources,
                blacklisted: vec![false; sources.count()],
                last: None,
                in_a_row: 0,
                clears_at: DramCycle::NEVER,
                ask_again: false,
                blacklistings: 0,
            }) as _
        }))
    },
};

params! {
    #[derive(Clone, Copy)]
    struct Options {
        /// number of successive requests of one source after which it is blacklisted
        threshold: u32 = 4, in 1.., unit "requests";
        /// interval at which the blacklist is cleared
        interval: u64 = 10_000, in 1.., unit "DRAM cycles";
    }
}

struct Bliss {
    options: Options,
    sources: Sources,
    blacklisted: Vec<bool>,
    /// Source served last, and the number of its requests served in succession.
    last: Option<usize>,
    in_a_row: u32,
    /// Cycle in which the blacklist is cleared; never while it is empty.
    clears_at: DramCycle,
    ask_again: bool,
    blacklistings: u64,
}

impl Bliss {
    fn is_deferred(&self, queued: &Queued) -> bool {
        self.blacklisted[self.sources.index(&queued.request)]
    }

    fn blacklist(&mut self, source: usize, now: DramCycle) {
        if std::mem::replace(&mut self.blacklisted[source], true) {
            return;
        }
        self.blacklistings += 1;
        self.ask_again = true;
        self.clears_at = (now + 1).next_multiple_of(self.options.interval);
    }
}

impl Scheduler for Bliss {
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
        if self.ask_again { DramCycle::ZERO } else { self.clears_at }
    }

    fn tick(&mut self, channel: &ChannelView) -> BankSet {
        self.ask_again = false;
        if channel.now >= self.clears_at {
            self.blacklisted.fill(false);
            self.clears_at = DramCycle::NEVER;
        }
        channel.banks()
    }

    fn on_service(&mut self, bank: &BankView, slot: Slot) {
        let source = self.sources.index(&bank.queue.get(slot).request);
        if self.last.replace(source) != Some(source) {
            self.in_a_row = 0;
        }
        self.in_a_row += 1;
        if self.in_a_row == self.options.threshold {
            self.in_a_row = 0;
            self.blacklist(source, bank.now);
        }
    }

    /// Returns the cost. Stored are a blacklist bit per source, the last source, the number of its
    /// requests served in succession, and the time of the next clearing. Compared are the bit of
    /// every request's source, and the last source with the next.
    fn complexity(&self, shape: &Shape) -> Option<Complexity> {
        let Options { threshold, interval } = self.options;
        let counters = bits(u64::from(threshold) + 1) + bits(interval);
        Some(Complexity {
            stored: shape.sms + shape.sm_bits() + counters,
            compared: shape.row_search() + shape.queue + shape.sm_bits(),
        })
    }

    fn counters(&self) -> Vec<Counter> {
        vec![Counter { name: "blacklistings", value: self.blacklistings }]
    }
}

#[cfg(test)]
mod tests {
    use crate::DramRequest;
    use crate::tests::harness::*;

    /// Returns nine row hits of SM 0 and a request of SM 1 to another row.
    fn hits_and_a_victim() -> Vec<DramRequest> {
        (0..9).map(|id| from(0, id, 0, 1)).chain([from(1, 9, 0, 2)]).collect()
    }

    /// The fourth in succession blacklists the source, no earlier one does: the victim is served
    /// fifth.
    #[test]
    fn the_fourth_request_in_a_row_blacklists_its_source() {
        let order = order_unlike_fr_fcfs("bliss", &hits_and_a_victim());
        assert_eq!(order, [0, 1, 2, 3, 9, 4, 5, 6, 7, 8]);
        let order = order_unlike_fr_fcfs("bliss(threshold=2)", &hits_and_a_victim());
        assert_eq!(order[..4], [0, 1, 9, 2]);
    }

    /// SM 1 is served third, which resets the count of SM 0; the sixth request of SM 0 is the
    /// fourth in succession.
    #[test]
    fn another_source_resets_the_count() {
        let mut requests = hits_and_a_victim();
        requests[2].sm = 1;
        let order = order_unlike_fr_fcfs("bliss", &requests);
        assert_eq!(order, [0, 1, 2, 3, 4, 5, 6, 9, 7, 8]);
    }

    /// The service of bank 0 blacklists SM 0; bank 1 had chosen its oldest request and is asked
    /// again.
    #[test]
    fn every_bank_is_asked_again_when_a_source_is_blacklisted() {
        let mut requests: Vec<_> = (0..4).map(|id| (0, from(0, id, 0, 1))).collect();
        // Bank 1 is busy until then, and its row may be closed from 61 on.
        requests.extend([(0, from(1, 4, 1, 9)), (13, from(0, 5, 1, 1)), (13, from(1, 6, 1, 2))]);
        let order = |policy: &str| timed(&gddr5(), policy, &requests).order();
        assert_eq!(order("fr-fcfs"), [0, 1, 4, 2, 3, 5, 6]);
        assert_eq!(order("bliss(threshold=2)"), [0, 1, 4, 2, 3, 6, 5]);
    }

    #[test]
    fn banks_of_sources_that_are_not_blacklisted_go_first() {
        let requests = [from(0, 0, 0, 1), from(0, 1, 1, 1), from(0, 2, 2, 1), from(1, 3, 3, 1)];
        assert_eq!(order_unlike_fr_fcfs("bliss(threshold=1)", &requests), [0, 3, 1, 2]);
    }

    /// The source is blacklisted at cycle 21; at 100 the list is cleared, and the older request
    /// goes first.
    #[test]
    fn the_blacklist_is_cleared_at_every_interval() {
        let mut requests: Vec<_> = (0..4).map(|id| (0, from(0, id, 0, 1))).collect();
        requests.extend([(95, from(0, 4, 0, 2)), (95, from(1, 5, 0, 3))]);
        let order = |policy: &str| timed(&gddr5(), policy, &requests).order();
        assert_eq!(order("bliss"), [0, 1, 2, 3, 5, 4]);
        assert_eq!(order("bliss(interval=90)"), [0, 1, 2, 3, 4, 5]);
        // The choice of cycle 95 is repeated at 96, before tRAS lets the row close.
        assert_eq!(order("bliss(interval=95)"), [0, 1, 2, 3, 4, 5]);
    }

    /// Requests without a waiting SM form a source like the others.
    #[test]
    fn write_backs_are_blacklisted_too() {
        let dram = gddr3();
        let back = |id, row| DramRequest { sm: DramRequest::NO_SOURCE, ..write(id, 0, row) };
        let mut requests: Vec<_> = (0..9).map(|id| back(id, 1)).collect();
        requests.push(from(1, 9, 0, 2));
        assert_eq!(run(&dram, "bliss", &requests).order()[4], 9);
        assert_eq!(run(&dram, "fr-fcfs", &requests).order()[9], 9);
    }

    /// Under row hits of another source a request waits for `threshold` of them; under row hits of
    /// its own source, blacklisted like itself, it waits as long as they arrive.
    #[test]
    fn a_request_is_starved_by_its_own_source_only() {
        let hits = (0..40).map(|id| from(0, id, 0, 1));
        let place = |victim: u16| {
            let requests: Vec<_> = hits.clone().chain([from(victim, 40, 0, 2)]).collect();
            run(&gddr5(), "bliss", &requests).order().iter().position(|&id| id == 40)
        };
        assert_eq!((place(1), place(0)), (Some(4), Some(40)));
    }

    #[test]
    fn counts_blacklistings() {
        assert_eq!(run(&gddr5(), "bliss", &hits_and_a_victim()).counted("blacklistings"), 1);
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        assert_refused(&["bliss(threshold=0)", "bliss(interval=0)", "bliss(x=1)"]);
    }
}
