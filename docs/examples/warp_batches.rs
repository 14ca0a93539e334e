//! `warp-batches`: a bank serves batches of requests of one warp.

use super::{BankView, Counter, Family, Queued, Scheduler, SchedulerContext, Slot};
use warpmem_params::{Entry, PolicyInfo, params};

const INFO: PolicyInfo = PolicyInfo {
    name: "warp-batches",
    summary: "a bank serves the requests of one warp before those of the next",
    source: "an example",
    params: Options::params,
};

params! {
    #[derive(Clone, Copy)]
    struct Options {
        /// most requests of a warp served in succession
        limit: u32 = 8, in 1.., unit "requests";
    }
}

pub const ENTRY: Entry<dyn Family, SchedulerContext> = Entry {
    info: INFO,
    build: |context, params| {
        let Options { limit } = params.read();
        let banks = vec![Batch::default(); context.dram.banks as usize];
        Ok(Box::new(move |_| Box::new(WarpBatches { limit, banks: banks.clone(), full: 0 }) as _))
    },
};

/// The batch of a bank: its warp and the number of requests served.
#[derive(Clone, Copy, Default)]
struct Batch {
    warp: Option<u32>,
    served: u32,
}

struct WarpBatches {
    /// Most requests of a batch.
    limit: u32,
    banks: Vec<Batch>,
    /// Batches that reached the limit.
    full: u64,
}

impl WarpBatches {
    /// Returns the oldest request that belongs to the bank's batch.
    fn next_of_batch(&self, bank: &BankView) -> Option<Slot> {
        let Batch { warp, served } = self.banks[bank.bank.index()];
        let belongs = |queued: &Queued| Some(queued.request.warp) == warp && served < self.limit;
        bank.requests().find_map(|(slot, queued)| belongs(queued).then_some(slot))
    }
}

impl Scheduler for WarpBatches {
    fn pick(&mut self, bank: &BankView) -> Option<Slot> {
        Some(self.next_of_batch(bank).unwrap_or_else(|| bank.oldest()))
    }

    fn on_service(&mut self, bank: &BankView, slot: Slot) {
        let warp = Some(bank.queue.get(slot).request.warp);
        let batch = &mut self.banks[bank.bank.index()];
        if batch.warp == warp && batch.served < self.limit {
            batch.served += 1;
            return;
        }
        self.full += u64::from(batch.served == self.limit);
        *batch = Batch { warp, served: 1 };
    }

    fn counters(&self) -> Vec<Counter> {
        vec![Counter { name: "full_batches", value: self.full }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::harness::{Stepping, context, drive, gddr5, read};
    use crate::{Channel, Request};
    use warpmem_params::Registry;

    static REGISTRY: Registry<dyn Family, SchedulerContext> =
        Registry { slot: "dram_scheduler", entries: &[ENTRY] };

    /// Serves requests of bank 0, given by warp and row in order of arrival, and returns the order of service.
    fn served(policy: &str, requests: &[(u32, u32)]) -> Vec<u32> {
        let family = REGISTRY.build(policy, &context(&gddr5())).unwrap();
        let mut channel = Channel::new(&gddr5(), family.scheduler(0)).unwrap();
        let request = |(id, &(warp, row))| (0, Request { warp, ..read(id, 0, row) });
        let requests: Vec<_> = (0..).zip(requests).map(request).collect();
        drive(&mut channel, &requests, Stepping::Events, |_| u32::MAX).order()
    }

    #[test]
    fn a_batch_spans_rows() {
        assert_eq!(
            served("warp-batches", &[(7, 0), (9, 0), (7, 1), (9, 1), (7, 2)]),
            [0, 2, 4, 1, 3]
        );
    }

    #[test]
    fn a_batch_ends_at_its_limit() {
        assert_eq!(
            served("warp-batches(limit=2)", &[(7, 0), (9, 0), (7, 1), (9, 1), (7, 2)]),
            [0, 2, 1, 3, 4]
        );
    }
}
