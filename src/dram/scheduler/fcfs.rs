//! `fcfs`: strictly the oldest request of the channel; nothing passes it.

use super::{BankView, Family, Scene, Scheduler, Slot};
use crate::registry::{Entry, PolicyInfo};

const INFO: PolicyInfo = PolicyInfo {
    name: "fcfs",
    summary: "strictly the oldest request of the channel; nothing passes it",
    source: "Yuan et al., MICRO 2009 (naive FIFO)",
    params: &[],
};

pub const ENTRY: Entry<dyn Family, Scene> = Entry {
    info: INFO,
    build: |_, params| {
        params.none(&INFO)?;
        Ok(Box::new(|_| Box::new(Fcfs) as _))
    },
};

struct Fcfs;

impl Scheduler for Fcfs {
    fn pick(&mut self, bank: &BankView) -> Option<Slot> {
        bank.holds_channel_oldest.then(|| bank.oldest())
    }

    fn strictly_in_order(&self) -> bool {
        true
    }

    /// An in-order controller has no logic to reorder writes either.
    fn orders_writes(&self) -> bool {
        true
    }
}
