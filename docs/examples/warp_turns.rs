//! `warp-turns`: a bank serves the requests of one warp before those of the next.

use super::{BankView, Counter, Family, Queued, Scheduler, SchedulerContext, Slot};
use warpmem_params::{Entry, PolicyInfo, params};

const INFO: PolicyInfo = PolicyInfo {
    name: "warp-turns",
    summary: "a bank serves the requests of one warp before those of the next",
    source: "an example",
    params: Options::params,
};

params! {
    #[derive(Clone, Copy)]
    struct Options {
        /// requests that a warp may have served in succession
        turn: u32 = 8, in 1.., unit "requests";
    }
}

pub const ENTRY: Entry<dyn Family, SchedulerContext> = Entry {
    info: INFO,
    build: |context, params| {
        let Options { turn } = params.parse(&INFO)?;
        let banks = vec![Turn::default(); context.dram.banks as usize];
        Ok(Box::new(move |_| Box::new(WarpTurns { turn, banks: banks.clone(), ended: 0 }) as _))
    },
};

/// The warp whose turn it is at a bank, and how many of its requests have been served.
#[derive(Clone, Copy, Default)]
struct Turn {
    warp: Option<u32>,
    served: u32,
}

struct WarpTurns {
    turn: u32,
    banks: Vec<Turn>,
    /// Turns that ended while the warp had more.
    ended: u64,
}

impl WarpTurns {
    /// The oldest request of the warp whose turn it is.
    fn next_of_turn(&self, bank: &BankView) -> Option<Slot> {
        let Turn { warp, served } = self.banks[bank.bank.index()];
        let has_turn = |queued: &Queued| Some(queued.request.warp) == warp && served < self.turn;
        bank.requests().find_map(|(slot, queued)| has_turn(queued).then_some(slot))
    }
}

impl Scheduler for WarpTurns {
    fn pick(&mut self, bank: &BankView) -> Option<Slot> {
        Some(self.next_of_turn(bank).unwrap_or_else(|| bank.oldest()))
    }

    fn on_service(&mut self, bank: &BankView, slot: Slot) {
        let warp = Some(bank.queue.get(slot).request.warp);
        let turn = &mut self.banks[bank.bank.index()];
        if turn.warp == warp && turn.served < self.turn {
            turn.served += 1;
            return;
        }
        self.ended += u64::from(turn.served == self.turn);
        *turn = Turn { warp, served: 1 };
    }

    fn counters(&self) -> Vec<Counter> {
        vec![Counter { name: "turns_ended", value: self.ended }]
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

    /// Requests of bank 0, by warp and row, in order of arrival; in the order in which they are served.
    fn served(policy: &str, requests: &[(u32, u32)]) -> Vec<u32> {
        let family = REGISTRY.build(policy, &context(&gddr5())).unwrap();
        let mut channel = Channel::new(&gddr5(), family.scheduler(0)).unwrap();
        let request = |(id, &(warp, row))| (0, Request { warp, ..read(id, 0, row) });
        let requests: Vec<_> = (0..).zip(requests).map(request).collect();
        drive(&mut channel, &requests, Stepping::Events, |_| u32::MAX).order()
    }

    #[test]
    fn a_warp_is_finished_before_the_next_though_its_rows_differ() {
        assert_eq!(
            served("warp-turns", &[(7, 0), (9, 0), (7, 1), (9, 1), (7, 2)]),
            [0, 2, 4, 1, 3]
        );
    }

    #[test]
    fn a_turn_ends_after_so_many() {
        assert_eq!(
            served("warp-turns(turn=2)", &[(7, 0), (9, 0), (7, 1), (9, 1), (7, 2)]),
            [0, 2, 1, 3, 4]
        );
    }
}
