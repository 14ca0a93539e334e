//! `fcfs`: strictly the oldest request of the channel; nothing passes it.

use super::{BankView, Family, Scheduler, SchedulerContext, Slot, Traits};
use serde::Deserialize;
use warpmem_params::{Complexity, Entry, ParamInfo, PolicyError, PolicyInfo, Shape};

const INFO: PolicyInfo = PolicyInfo {
    name: "fcfs",
    summary: "strictly the oldest request of the channel; nothing passes it",
    source: "Yuan et al., MICRO 2009 (naive FIFO)",
    params: &[ParamInfo {
        name: "banks",
        default: "one-at-a-time",
        unit: "-",
        range: "one-at-a-time | overlap",
        summary: "overlap: requests go to their banks in order, one a cycle, each once its bank is idle, and banks work at once",
    }],
};

pub const ENTRY: Entry<dyn Family, SchedulerContext> = Entry {
    info: INFO,
    build: |context, params| {
        let Options { banks } = params.parse(&INFO)?;
        // What sends requests back to the queue would lose their order.
        let dram = &context.dram;
        let sends_back = dram.write_queue > 0 || dram.timing.trefi > 0 || dram.timing.trefipb > 0;
        if banks == Banks::Overlap && sends_back {
            return Err(PolicyError::Params {
                slot: "policy",
                name: INFO.name.to_owned(),
                message:
                    "banks=overlap is for one queue without refresh; valid: dram.write_queue = 0, \
                          dram.timing.trefi = 0 and dram.timing.trefipb = 0"
                        .to_owned(),
            });
        }
        Ok(Box::new(move |_| Box::new(Fcfs { banks }) as _))
    },
};

#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Options {
    banks: Banks,
}

#[derive(Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Banks {
    #[default]
    OneAtATime,
    Overlap,
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

    /// The head of a FIFO is served, whatever it is.
    fn complexity(&self, _: &Shape) -> Option<Complexity> {
        Some(Complexity::NONE)
    }
}
