//! `fcfs`: strictly the oldest request of the channel; nothing passes it.

use super::{BankView, Scheduler};
use crate::machine::Dram;
use crate::registry::{Entry, PolicyInfo};

const INFO: PolicyInfo = PolicyInfo {
    name: "fcfs",
    summary: "strictly the oldest request of the channel; nothing passes it",
    source: "Yuan et al., MICRO 2009 (naive FIFO)",
    params: &[],
};

pub const ENTRY: Entry<dyn Scheduler, Dram> = Entry {
    info: INFO,
    build: |_, params| {
        params.none(&INFO)?;
        Ok(Box::new(Fcfs))
    },
};

struct Fcfs;

impl Scheduler for Fcfs {
    fn pick(&mut self, bank: &BankView) -> Option<usize> {
        bank.holds_channel_oldest.then_some(0)
    }

    fn strictly_in_order(&self) -> bool {
        true
    }

    /// An in-order controller has no logic to reorder writes either.
    fn orders_writes(&self) -> bool {
        true
    }
}
