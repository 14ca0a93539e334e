//! `banked-fifo`: one FIFO per bank; banks proceed independently.

use super::{BankView, QueueView, Scheduler};
use crate::machine::Dram;
use crate::registry::{Entry, PolicyError, PolicyInfo};

const INFO: PolicyInfo = PolicyInfo {
    name: "banked-fifo",
    summary: "one FIFO per bank, which divide the queue's capacity equally",
    source: "Yuan et al., MICRO 2009 (BFIFO)",
    params: &[],
};

pub const ENTRY: Entry<dyn Scheduler, Dram> = Entry {
    info: INFO,
    build: |dram, params| {
        params.none(&INFO)?;
        if dram.read_queue < dram.banks {
            return Err(PolicyError::Params {
                slot: "policy",
                name: INFO.name.to_owned(),
                message: format!(
                    "a queue of {} requests cannot be divided among {} banks; valid: dram.read_queue >= dram.banks",
                    dram.read_queue, dram.banks
                ),
            });
        }
        Ok(Box::new(BankedFifo))
    },
};

struct BankedFifo;

impl Scheduler for BankedFifo {
    fn pick(&mut self, _: &BankView) -> Option<usize> {
        Some(0)
    }

    fn accepts(&self, queue: &QueueView) -> bool {
        queue.bank_waiting < queue.capacity / queue.banks
    }
}
