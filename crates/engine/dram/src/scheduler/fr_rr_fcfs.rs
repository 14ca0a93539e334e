//! `fr-rr-fcfs`: row hits first, then round robin over sources, then the oldest.

use super::{
    BankSet, BankView, ChannelView, Family, Queued, Scheduler, SchedulerContext, Slot, one,
};
use warpmem_params::{Complexity, Entry, PolicyInfo, Shape};
use warpmem_sim::{BankId, DramCycle};

const INFO: PolicyInfo = PolicyInfo {
    name: "fr-rr-fcfs",
    summary: "row hits first, then the sources in round-robin order, then the oldest",
    source: "Jog et al., GPGPU-7 2014",
    params: Vec::new,
};

pub const ENTRY: Entry<dyn Family, SchedulerContext> = Entry {
    info: INFO,
    build: |context, _| {
        let sources = context.sources as usize;
        Ok(Box::new(move |_| Box::new(FrRrFcfs { sources, last: sources, ask: false }) as _))
    },
};

struct FrRrFcfs {
    /// Number of SMs; requests without an SM form one further source.
    sources: usize,
    /// Source of the last served request, in any bank.
    last: usize,
    /// Whether `last` has changed, and with it the choices of the banks.
    ask: bool,
}

impl FrRrFcfs {
    fn source(&self, queued: &Queued) -> usize {
        usize::from(queued.request.sm).min(self.sources)
    }

    /// Returns the number of sources before that of the request in the round robin.
    fn sources_before(&self, queued: &Queued) -> usize {
        let sources = self.sources + 1;
        (self.source(queued) + sources - 1 - self.last) % sources
    }
}

impl Scheduler for FrRrFcfs {
    fn pick(&mut self, bank: &BankView) -> Option<Slot> {
        let distance = |(_, queued): &(Slot, &Queued)| self.sources_before(queued);
        // `min_by_key` returns the first of equal elements, which is the oldest.
        let hit = bank.queue.hits_of(bank.bank).min_by_key(distance);
        let chosen = hit.or_else(|| bank.requests().min_by_key(distance));
        chosen.map(|(slot, _)| slot)
    }

    fn on_service(&mut self, bank: &BankView, slot: Slot) {
        let source = self.source(bank.queue.get(slot));
        self.ask |= source != self.last;
        self.last = source;
    }

    fn next_tick(&self) -> DramCycle {
        if self.ask { DramCycle::ZERO } else { DramCycle::NEVER }
    }

    fn tick(&mut self, channel: &ChannelView) -> BankSet {
        self.ask = false;
        let may_choose = |bank: &BankId| channel.queue.waiting(*bank) > 1;
        channel.queue.banks().filter(may_choose).fold(0, |banks, bank| banks | one(bank))
    }

    /// Returns the cost. Stored is the last source; every request's source is compared with it.
    fn complexity(&self, shape: &Shape) -> Option<Complexity> {
        let compared = shape.row_search() + shape.queue * shape.sm_bits();
        Some(Complexity { stored: shape.sm_bits(), compared })
    }
}

#[cfg(test)]
mod tests {
    use crate::DramRequest;
    use crate::tests::harness::*;

    fn from(sm: u16, request: DramRequest) -> DramRequest {
        DramRequest { sm, ..request }
    }

    /// Returns the orders under `fr-rr-fcfs` and under `fr-fcfs`.
    fn orders(requests: &[DramRequest]) -> [Vec<u32>; 2] {
        ["fr-rr-fcfs", "fr-fcfs"].map(|policy| run(&gddr5(), policy, requests).order())
    }

    #[test]
    fn closed_rows_are_opened_round_robin_over_sources() {
        let requests = [
            from(0, read(0, 0, 1)),
            from(0, read(1, 0, 2)),
            from(0, read(2, 0, 3)),
            from(2, read(3, 0, 4)),
            from(1, read(4, 0, 5)),
        ];
        assert_eq!(orders(&requests), [[0, 4, 3, 1, 2], [0, 1, 2, 3, 4]]);
    }

    #[test]
    fn row_hits_are_served_round_robin_over_sources() {
        let requests = [from(0, read(0, 0, 1)), from(0, read(1, 0, 1)), from(1, read(2, 0, 1))];
        assert_eq!(orders(&requests), [[0, 2, 1], [0, 1, 2]]);
    }

    /// Bank 0 serves source 0 in cycle 0, so bank 1 serves another source.
    #[test]
    fn the_round_robin_spans_all_banks() {
        let requests = [from(0, read(0, 0, 1)), from(0, read(1, 1, 1)), from(1, read(2, 1, 2))];
        assert_eq!(orders(&requests), [[0, 2, 1], [0, 1, 2]]);
    }

    #[test]
    fn a_row_hit_goes_before_the_next_source() {
        let requests = [from(0, read(0, 0, 1)), from(1, read(1, 0, 2)), from(0, read(2, 0, 1))];
        assert_eq!(orders(&requests), [[0, 2, 1], [0, 2, 1]]);
    }

    /// In a shared queue write-backs, which have no SM, count as one source of the round robin.
    #[test]
    fn requests_without_an_sm_form_one_source() {
        let requests = [
            from(0, read(0, 0, 1)),
            from(15, read(1, 0, 2)),
            from(DramRequest::NO_SOURCE, write(2, 0, 3)),
            from(DramRequest::NO_SOURCE, write(3, 0, 4)),
            from(0, read(4, 0, 5)),
        ];
        assert_eq!(run(&gddr3(), "fr-rr-fcfs", &requests).order(), [0, 1, 2, 4, 3]);
    }

    /// Among row misses and conflicts a source waits for at most one request of every other source.
    #[test]
    fn without_row_hits_a_source_waits_for_one_request_per_source() {
        let mut requests: Vec<_> =
            (0..40).map(|id| from((id % 4) as u16, read(id, 0, id))).collect();
        requests.push(from(4, read(40, 0, 100)));
        let place = |order: &[u32]| order.iter().position(|&id| id == 40);
        let [fair, first_come] = orders(&requests);
        assert_eq!((place(&fair), place(&first_come)), (Some(4), Some(40)));
    }

    /// No bound while row hits arrive.
    #[test]
    fn row_hits_of_one_source_starve_the_others() {
        let mut requests: Vec<_> = (0..50).map(|id| from(0, read(id, 0, 1))).collect();
        requests[1] = from(1, read(1, 0, 2));
        assert_eq!(run(&gddr5(), "fr-rr-fcfs", &requests).order().last(), Some(&1));
    }
}
