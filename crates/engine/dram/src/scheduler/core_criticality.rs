//! `core-criticality`: requests of critical cores go first while they are few.

use super::{
    BankSet, BankView, ChannelView, Family, Queued, Ready, Scheduler, SchedulerContext, Slot,
    Traits,
};
use warpmem_params::{Complexity, Counter, Entry, PolicyInfo, Shape, bits, choice, params};
use warpmem_sim::{DramCycle, Needs};

const INFO: PolicyInfo = PolicyInfo {
    name: "core-criticality",
    summary: "requests of SMs with many stalled warps first, while they are few in the queue; otherwise FR-FCFS",
    source: "Jog et al., SIGMETRICS 2016 (CLAMS)",
    params: Options::params,
};

pub const ENTRY: Entry<dyn Family, SchedulerContext> = Entry {
    info: INFO,
    build: |_, params| {
        let options: Options = params.read();
        Ok(Box::new(options))
    },
};

params! {
    #[derive(Clone, Copy)]
    struct Options {
        /// share of waiting warps above which the requests of an SM are critical
        critical_share: f64 = 0.75, in 0.0..=1.0, unit "share of warps";
        /// share of critical requests in the queue below which they go first
        queue_share: f64 = 0.5, in 0.0..=1.0, unit "share of requests";
        /// `static`: `queue_share` is constant; `dynamic`: it becomes the mean share of the
        /// previous interval
        threshold: Threshold = Threshold::Static;
        /// time between updates of a dynamic threshold
        interval: u64 = 10_000, in 1.., unit "DRAM cycles";
    }
}

choice! {
    #[derive(PartialEq)]
    enum Threshold {
        Static = "static",
        Dynamic = "dynamic",
    }
}

impl Family for Options {
    fn scheduler(&self, _: usize) -> Box<dyn Scheduler> {
        Box::new(CoreCriticality {
            options: *self,
            threshold: self.queue_share,
            interval_ends: DramCycle::new(self.interval),
            seen: Share::default(),
            waiting: Share::default(),
            by_criticality: false,
            ask_again: false,
            critical_served: 0,
            switches: 0,
        })
    }

    fn share_state(&self) -> bool {
        false
    }

    fn needs(&self) -> Needs {
        Needs { critical_share: Some(self.critical_share), ..Needs::default() }
    }

    /// Every SM counts its warps that wait for memory.
    fn shared_complexity(&self, shape: &Shape) -> Complexity {
        Complexity { stored: shape.sms * bits(shape.warps + 1), compared: 0 }
    }
}

/// Number of critical requests among a number of requests.
#[derive(Clone, Copy, Default)]
struct Share {
    critical: u64,
    all: u64,
}

impl Share {
    fn value(self) -> f64 {
        self.critical as f64 / self.all.max(1) as f64
    }
}

struct CoreCriticality {
    options: Options,
    /// Share of critical requests in the queue below which they go first.
    threshold: f64,
    interval_ends: DramCycle,
    /// Sum over the arrivals of this interval of the queue that each found, including itself.
    seen: Share,
    waiting: Share,
    /// Whether critical requests currently go first.
    by_criticality: bool,
    ask_again: bool,
    critical_served: u64,
    switches: u64,
}

impl CoreCriticality {
    fn choose_order(&mut self) {
        let by_criticality = self.waiting.value() < self.threshold;
        if by_criticality != self.by_criticality {
            self.by_criticality = by_criticality;
            self.ask_again = true;
            self.switches += 1;
        }
    }

    fn adapt(&mut self, now: DramCycle) {
        if self.options.threshold == Threshold::Dynamic && now >= self.interval_ends {
            self.threshold = self.seen.value();
            self.seen = Share::default();
            self.interval_ends = (now + 1).next_multiple_of(self.options.interval);
        }
        self.seen.critical += self.waiting.critical;
        self.seen.all += self.waiting.all;
    }

    fn is_deferred(&self, queued: &Queued) -> bool {
        self.by_criticality && !queued.request.critical
    }
}

impl Scheduler for CoreCriticality {
    fn traits(&self) -> Traits {
        Traits { ranks_banks: true, ..Traits::default() }
    }

    fn pick(&mut self, bank: &BankView) -> Option<Slot> {
        bank.oldest_of_lowest(|_, queued, hit| (self.is_deferred(queued), !hit))
    }

    fn rank(&self, ready: &Ready) -> u64 {
        ready.queued.is_some_and(|queued| self.is_deferred(queued)).into()
    }

    fn next_tick(&self) -> DramCycle {
        if self.ask_again { DramCycle::ZERO } else { DramCycle::NEVER }
    }

    fn tick(&mut self, channel: &ChannelView) -> BankSet {
        self.ask_again = false;
        channel.banks()
    }

    fn on_arrival(&mut self, _: Slot, queued: &Queued) {
        self.waiting.critical += u64::from(queued.request.critical);
        self.waiting.all += 1;
        self.adapt(queued.arrived);
        self.choose_order();
    }

    fn on_service(&mut self, bank: &BankView, slot: Slot) {
        let critical = u64::from(bank.queue.get(slot).request.critical);
        self.critical_served += critical;
        self.waiting.critical -= critical;
        self.waiting.all -= 1;
        self.choose_order();
    }

    /// Returns the cost. Stored are a bit per request, which is compared, and the number of set
    /// bits; with a dynamic threshold also the sums of the interval.
    fn complexity(&self, shape: &Shape) -> Option<Complexity> {
        let dynamic = self.options.threshold == Threshold::Dynamic;
        let sum = bits(self.options.interval) + shape.queue_bits();
        let sums = if dynamic { 2 * sum + bits(self.options.interval) } else { 0 };
        Some(Complexity {
            stored: shape.queue + 2 * shape.queue_bits() + sums,
            compared: shape.row_search() + shape.queue,
        })
    }

    fn counters(&self) -> Vec<Counter> {
        vec![
            Counter { name: "critical_requests", value: self.critical_served },
            Counter { name: "order_switches", value: self.switches },
        ]
    }
}

#[cfg(test)]
mod tests {
    use crate::DramRequest;
    use crate::scheduler::SCHEDULERS;
    use crate::tests::harness::*;

    fn critical(id: u32, bank: u16, row: u32) -> DramRequest {
        DramRequest { critical: true, ..read(id, bank, row) }
    }

    #[test]
    fn a_critical_request_goes_before_an_older_one() {
        let requests = [read(0, 0, 1), critical(1, 0, 2), read(2, 0, 1)];
        assert_eq!(order_unlike_fr_fcfs("core-criticality", &requests), [1, 0, 2]);
    }

    #[test]
    fn a_critical_request_goes_before_row_hits_and_hits_go_first_among_critical_ones() {
        let mut requests: Vec<_> = (0..8).map(|id| read(id, 0, 1)).collect();
        requests.extend([critical(8, 0, 2), critical(9, 0, 3), critical(10, 0, 2)]);
        let order = order_unlike_fr_fcfs("core-criticality", &requests);
        assert_eq!(order, [8, 10, 9, 0, 1, 2, 3, 4, 5, 6, 7]);
    }

    /// Two of three requests are critical, then one of two; neither share is below half, so the
    /// order is FR-FCFS.
    #[test]
    fn many_critical_requests_are_served_as_by_fr_fcfs() {
        let requests = [read(0, 0, 1), critical(1, 0, 2), critical(2, 0, 1)];
        assert_eq!(run(&gddr5(), "core-criticality", &requests).order(), [0, 2, 1]);
        assert_eq!(order_unlike_fr_fcfs("core-criticality(queue_share=0.7)", &requests), [1, 2, 0]);
    }

    /// At 12 bank 0 chose its row hit, which is due at 15; the arrivals in bank 2 at 13 lower the
    /// share of critical requests.
    #[test]
    fn every_bank_is_asked_again_when_the_order_switches() {
        let mut requests = vec![(0, read(0, 0, 1)), (0, read(1, 0, 1)), (0, critical(2, 0, 2))];
        requests.extend((3..7).map(|id| (13, read(id, 2, id))));
        let order = |policy: &str| timed(&gddr5(), policy, &requests).order();
        assert_eq!(order("core-criticality(queue_share=0.3)"), [0, 3, 2, 4, 1, 5, 6]);
        assert_eq!(order("fr-fcfs"), [0, 1, 3, 2, 4, 5, 6]);
    }

    #[test]
    fn banks_with_critical_requests_go_first() {
        let requests = [read(0, 0, 1), read(1, 1, 1), critical(2, 2, 1)];
        assert_eq!(order_unlike_fr_fcfs("core-criticality", &requests), [2, 0, 1]);
    }

    /// The two arrivals of the first 100 cycles see no critical request of one and one of two: a
    /// third on average.
    #[test]
    fn a_dynamic_threshold_is_the_mean_share_of_the_interval_before() {
        let requests = [
            (0, read(0, 0, 1)),
            (0, critical(1, 1, 1)),
            (200, read(2, 0, 9)),
            (200, read(3, 0, 9)),
            (200, critical(4, 0, 2)),
        ];
        let order = |policy: &str| timed(&gddr5(), policy, &requests).order();
        // One of three is not less than a third.
        let dynamic = "core-criticality(threshold=dynamic,interval=100)";
        assert_eq!(order(dynamic), [0, 1, 2, 3, 4]);
        assert_eq!(order("core-criticality"), [0, 1, 4, 2, 3]);
        assert_eq!(order("core-criticality(threshold=dynamic,interval=300)"), [0, 1, 4, 2, 3]);
    }

    /// No bound: a request that is not critical waits as long as critical ones arrive and are few.
    #[test]
    fn other_requests_starve_while_few_critical_ones_come() {
        // The queue holds 64: 24 critical requests at a time.
        let others = (0..40).map(|id| read(id, 0, 1));
        let requests: Vec<_> = others.chain((40..140).map(|id| critical(id, 0, id % 3))).collect();
        let order = run(&gddr5(), "core-criticality", &requests).order();
        assert!(order[100..].iter().all(|&id| id < 40), "{order:?}");
    }

    #[test]
    fn counts_critical_requests_and_switches() {
        let requests = [read(0, 0, 1), read(1, 0, 1), critical(2, 0, 1), critical(3, 0, 1)];
        let run = run(&gddr5(), "core-criticality", &requests);
        assert_eq!(run.counted("critical_requests"), 2);
        // Critical requests go first from the first arrival to the fourth, and again when none is
        // left.
        assert_eq!(run.counted("order_switches"), 3);
    }

    #[test]
    fn critical_sms_are_marked() {
        let needs = |text: &str| SCHEDULERS.build(text, &context(&gddr5())).unwrap().needs();
        assert_eq!(needs("core-criticality").critical_share, Some(0.75));
        assert_eq!(needs("core-criticality(critical_share=0.6)").critical_share, Some(0.6));
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        assert_refused(&[
            "core-criticality(critical_share=1.5)",
            "core-criticality(queue_share=-1)",
            "core-criticality(interval=0)",
            "core-criticality(threshold=x)",
            "core-criticality(x=1)",
        ]);
    }
}
