//! `banked-fifo`: one FIFO per bank; banks proceed independently.

use super::{BankView, Family, QueueView, Scheduler, SchedulerContext, Slot};
use crate::DramRequest;
use warpmem_params::{Complexity, Entry, PolicyInfo, Shape};

const INFO: PolicyInfo = PolicyInfo {
    name: "banked-fifo",
    summary: "one FIFO per bank; the FIFOs divide the queue's capacity equally",
    source: "Yuan et al., MICRO 2009 (BFIFO)",
    params: Vec::new,
};

pub const ENTRY: Entry<dyn Family, SchedulerContext> = Entry {
    info: INFO,
    build: |context, _| {
        let dram = &context.dram;
        INFO.fits(dram.read_queue >= dram.banks, "dram.read_queue", dram.read_queue, || {
            format!("at least one entry for each of the {} banks", dram.banks)
        })?;
        Ok(Box::new(|_| Box::new(BankedFifo) as _))
    },
};

struct BankedFifo;

impl Scheduler for BankedFifo {
    fn pick(&mut self, bank: &BankView) -> Option<Slot> {
        Some(bank.oldest())
    }

    fn accepts(&self, queue: &QueueView, _: &DramRequest) -> bool {
        queue.bank_waiting < queue.capacity / queue.banks
    }

    /// Returns no cost, as in Table 1 of the paper. Its text compares the row at the head of each
    /// bank with the open row, and the bank of an arriving request.
    fn complexity(&self, _: &Shape) -> Option<Complexity> {
        Some(Complexity::NONE)
    }
}
