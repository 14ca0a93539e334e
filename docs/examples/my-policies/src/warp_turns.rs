//! `warp-turns`: the warps take turns at a bank.

use warpmem::policy::dram::{BankView, Entry, Queued, Scheduler, Slot};
use warpmem::policy::{Counter, PolicyInfo, params};

const INFO: PolicyInfo = PolicyInfo {
    name: "warp-turns",
    summary: "a bank serves requests of one warp, up to a limit, before those of the next",
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

pub const ENTRY: Entry = Entry {
    info: INFO,
    build: |context, params| {
        let Options { limit } = params.read();
        let banks = vec![Turn::default(); context.dram.banks as usize];
        Ok(Box::new(move |_| Box::new(WarpTurns { limit, banks: banks.clone(), full: 0 }) as _))
    },
};

/// The turn of a warp at a bank, and the requests served in it.
#[derive(Clone, Copy, Default)]
struct Turn {
    warp: Option<u32>,
    served: u32,
}

struct WarpTurns {
    /// Most requests of a turn.
    limit: u32,
    banks: Vec<Turn>,
    /// Turns that reached the limit.
    full: u64,
}

impl WarpTurns {
    /// Returns the oldest request of the warp whose turn it is.
    fn next_of_turn(&self, bank: &BankView) -> Option<Slot> {
        let Turn { warp, served } = self.banks[bank.bank.index()];
        let belongs = |queued: &Queued| Some(queued.request.warp) == warp && served < self.limit;
        bank.requests().find_map(|(slot, queued)| belongs(queued).then_some(slot))
    }
}

impl Scheduler for WarpTurns {
    fn pick(&mut self, bank: &BankView) -> Option<Slot> {
        Some(self.next_of_turn(bank).unwrap_or_else(|| bank.oldest()))
    }

    fn on_service(&mut self, bank: &BankView, slot: Slot) {
        let warp = Some(bank.queue.get(slot).request.warp);
        let turn = &mut self.banks[bank.bank.index()];
        if turn.warp == warp && turn.served < self.limit {
            turn.served += 1;
            return;
        }
        self.full += u64::from(turn.served == self.limit);
        *turn = Turn { warp, served: 1 };
    }

    fn counters(&self) -> Vec<Counter> {
        vec![Counter { name: "full_turns", value: self.full }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpmem::machine::load;
    use warpmem::policy::Registry;
    use warpmem::policy::dram::{BankId, DramRequest, RowId, order_of_service};

    /// Serves requests to bank 0, given by warp and row in order of arrival, and returns their
    /// numbers in order of service.
    fn served(policy: &str, requests: &[(u32, u32)]) -> Vec<u32> {
        let context = load("li2015", &[]).unwrap().scheduler_context();
        let registry = Registry::new("dram_scheduler", &[ENTRY]);
        let family = registry.build(policy, &context).unwrap();
        let read = |(id, &(warp, row))| DramRequest {
            warp,
            ..DramRequest::read(id, BankId(0), RowId(row))
        };
        let requests: Vec<_> = (0..).zip(requests).map(read).collect();
        order_of_service(&context, &*family, &requests)
    }

    #[test]
    fn a_turn_spans_rows() {
        let requests = [(7, 0), (9, 0), (7, 1), (9, 1), (7, 2)];
        assert_eq!(served("warp-turns", &requests), [0, 2, 4, 1, 3]);
    }

    #[test]
    fn a_turn_ends_at_its_limit() {
        let requests = [(7, 0), (9, 0), (7, 1), (9, 1), (7, 2)];
        assert_eq!(served("warp-turns(limit=2)", &requests), [0, 2, 1, 3, 4]);
    }
}
