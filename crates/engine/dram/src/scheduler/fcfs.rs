//! `fcfs`: strictly the oldest request of the channel; no request passes it.

use super::{BankView, Family, Scheduler, SchedulerContext, Slot, Traits};
use warpmem_params::{Choice, Complexity, Entry, PolicyInfo, Shape, choice, params};

const INFO: PolicyInfo = PolicyInfo {
    name: "fcfs",
    summary: "strictly the oldest request of the channel; no request passes it",
    source: "Yuan et al., MICRO 2009 (naive FIFO)",
    params: Options::params,
};

pub const ENTRY: Entry<dyn Family, SchedulerContext> = Entry {
    info: INFO,
    build: |context, params| {
        let Options { banks } = params.read();
        // Returning requests to the queue would lose their order.
        let dram = &context.dram;
        let sends_back = dram.write_queue > 0 || dram.timing.trefi > 0 || dram.timing.trefipb > 0;
        let valid = "`one-at-a-time` unless `dram.write_queue`, `dram.timing.trefi` and \
                     `dram.timing.trefipb` are 0";
        let keeps_order = banks == Banks::OneAtATime || !sends_back;
        INFO.require(keeps_order, "banks", banks.name(), valid)?;
        Ok(Box::new(move |_| Box::new(Fcfs { banks }) as _))
    },
};

params! {
    #[derive(Clone)]
    struct Options {
        /// `one-at-a-time`: a request is served after all older ones; `overlap`: requests go to
        /// their banks in order, one per cycle, each once its bank is idle, and banks work in
        /// parallel
        banks: Banks = Banks::OneAtATime;
    }
}

choice! {
    #[derive(PartialEq)]
    enum Banks {
        OneAtATime = "one-at-a-time",
        Overlap = "overlap",
    }
}

struct Fcfs {
    banks: Banks,
}

impl Scheduler for Fcfs {
    fn traits(&self) -> Traits {
        let overlaps = self.banks == Banks::Overlap;
        Traits {
            strictly_in_order: true,
            in_order_dispatch: overlaps,
            picks_per_cycle: overlaps.then_some(1),
            // An in-order controller has no logic to reorder writes either.
            orders_writes: true,
            ..Traits::default()
        }
    }

    fn pick(&mut self, bank: &BankView) -> Option<Slot> {
        bank.holds_channel_oldest.then(|| bank.oldest())
    }

    /// Returns no cost: the head of a FIFO is served without a comparison.
    fn complexity(&self, _: &Shape) -> Option<Complexity> {
        Some(Complexity::NONE)
    }
}
