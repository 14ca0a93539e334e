//! `mask`: loads of page walks first, in order; then FR-FCFS.

use super::{BankView, Family, Queued, Ready, Scheduler, SchedulerContext, Slot, Traits};
use warpmem_params::{Complexity, Counter, Entry, PolicyInfo, Shape};

const INFO: PolicyInfo = PolicyInfo {
    name: "mask",
    summary: "loads of page walks first, the oldest of them; then row hits, then the oldest",
    source: "Ausavarungnirun et al., ASPLOS 2018 (MASK)",
    params: Vec::new,
};

pub const ENTRY: Entry<dyn Family, SchedulerContext> =
    Entry { info: INFO, build: |_, _| Ok(Box::new(|_| Box::new(Mask::default()) as _)) };

/// The golden queue of a channel and the normal queue of one program.
#[derive(Default)]
struct Mask {
    walks: u64,
    /// Walks served before the request that FR-FCFS would have chosen.
    preferred: u64,
}

fn is_data(queued: &Queued) -> bool {
    !queued.request.walk
}

impl Scheduler for Mask {
    fn traits(&self) -> Traits {
        Traits { ranks_banks: true, ..Traits::default() }
    }

    fn pick(&mut self, bank: &BankView) -> Option<Slot> {
        bank.oldest_of_lowest(|_, queued, hit| (is_data(queued), is_data(queued) && !hit))
    }

    fn rank(&self, ready: &Ready) -> u64 {
        ready.queued.is_none_or(is_data).into()
    }

    fn on_service(&mut self, bank: &BankView, slot: Slot) {
        let walk = bank.queue.get(slot).request.walk;
        self.walks += u64::from(walk);
        self.preferred += u64::from(walk && bank.fr_fcfs() != slot);
    }

    /// Returns the cost: a bit per request, which is compared.
    fn complexity(&self, shape: &Shape) -> Option<Complexity> {
        Some(Complexity { stored: shape.queue, compared: shape.row_search() + shape.queue })
    }

    fn counters(&self) -> Vec<Counter> {
        vec![
            Counter { name: "walk_loads", value: self.walks },
            Counter { name: "walk_loads_preferred", value: self.preferred },
        ]
    }
}

#[cfg(test)]
mod tests {
    use crate::DramRequest;
    use crate::tests::harness::*;

    fn walk(id: u32, bank: u16, row: u32) -> DramRequest {
        DramRequest { walk: true, ..read(id, bank, row) }
    }

    #[test]
    fn walks_go_before_older_requests_and_row_hits_in_order() {
        let requests = [read(0, 0, 1), read(1, 0, 1), walk(2, 0, 2), walk(3, 0, 1), read(4, 0, 2)];
        assert_eq!(order_unlike_fr_fcfs("mask", &requests), [2, 3, 0, 1, 4]);
    }

    #[test]
    fn a_walk_goes_before_requests_of_other_banks() {
        let requests = [read(0, 0, 1), read(1, 1, 1), read(2, 2, 1), walk(3, 3, 1)];
        assert_eq!(order_unlike_fr_fcfs("mask", &requests), [3, 0, 1, 2]);
    }
}
