//! Shared parts of the schedulers that sort requests into classes, most of them by source.

use super::{BankView, ChannelView, Queued, Ready, SchedulerContext, Slot};
use crate::DramRequest;
use crate::sets::BankSet;
use warpmem_sim::{BankId, DramCycle};

/// Sources of requests, for tables with one entry each: the SMs, and one for requests without a
/// waiting SM.
#[derive(Clone, Copy)]
pub(super) struct Sources {
    sms: usize,
    /// Whether writes have a separate queue, in which all sources are equal.
    split: bool,
}

impl Sources {
    pub fn of(context: &SchedulerContext) -> Sources {
        Sources { sms: context.sources as usize, split: context.dram.write_queue > 0 }
    }

    pub fn count(self) -> usize {
        self.sms + 1
    }

    pub fn index(self, request: &DramRequest) -> usize {
        usize::from(request.sm).min(self.sms)
    }

    /// Returns the entry of requests without a waiting SM; SMs are below it.
    pub fn no_sm(self) -> usize {
        self.sms
    }

    /// Returns the request that a command serves, if its source matters.
    pub fn ranked<'a>(self, ready: &Ready<'a>) -> Option<&'a Queued> {
        ready.queued.filter(|queued| !(self.split && queued.request.write))
    }
}

impl BankView<'_> {
    /// Returns the oldest request of the lowest class. `class` also receives whether the request
    /// goes to the open row.
    pub(super) fn oldest_of_lowest<K: Ord>(
        &self,
        class: impl Fn(Slot, &Queued, bool) -> K,
    ) -> Option<Slot> {
        let open_row = self.open_row();
        let hit = |queued: &Queued| Some(queued.request.row) == open_row;
        // The first of several minima is the oldest.
        let lowest = self.requests().min_by_key(|(slot, queued)| class(*slot, queued, hit(queued)));
        lowest.map(|(slot, _)| slot)
    }
}

impl ChannelView<'_> {
    /// Returns all banks of the channel.
    pub(super) fn banks(&self) -> BankSet {
        BankSet::MAX >> (BankSet::BITS as usize - self.queue.banks().len())
    }
}

/// Service time of requests in their banks: from the first command to the last column command and
/// its data cycles.
#[derive(Clone)]
pub(super) struct ServiceClock {
    /// Cycle in which the service of the current request began, by bank.
    began: Vec<DramCycle>,
    burst: u64,
}

impl ServiceClock {
    pub fn new(context: &SchedulerContext) -> ServiceClock {
        let began = vec![DramCycle::ZERO; context.dram.banks as usize];
        ServiceClock { began, burst: context.dram.burst_cycles().into() }
    }

    pub fn begin(&mut self, bank: BankId, now: DramCycle) {
        self.began[bank.index()] = now;
    }

    /// Returns the service cycles of the bank's request, whose last column command issues now.
    pub fn end(&self, bank: BankId, now: DramCycle) -> u64 {
        (now + self.burst).since(self.began[bank.index()])
    }
}

/// Returns the rank of each value, 0 for the lowest; equal values share a rank.
pub(super) fn ranks_of<T: PartialOrd + Copy>(values: &[T]) -> Vec<u16> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    let compare = |a: &usize, b: &usize| {
        values[*a].partial_cmp(&values[*b]).expect("values that can be compared")
    };
    order.sort_by(compare);
    let mut ranks = vec![0; values.len()];
    for pair in order.windows(2) {
        let higher = values[pair[1]] > values[pair[0]];
        ranks[pair[1]] = ranks[pair[0]] + u16::from(higher);
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::harness::{at, context, gddr5, read};

    #[test]
    fn equal_values_share_a_rank() {
        assert_eq!(ranks_of(&[3.5, 0.0, 3.5, 7.0, 0.0]), [1, 0, 1, 2, 0]);
        assert_eq!(ranks_of(&[(2, 1), (1, 9), (2, 0)]), [2, 0, 1]);
    }

    #[test]
    fn requests_without_an_sm_have_their_own_entry() {
        let sources = Sources::of(&context(&gddr5()));
        let of = |sm| sources.index(&DramRequest { sm, ..read(0, 0, 0) });
        assert_eq!((sources.count(), sources.no_sm()), (17, 16));
        assert_eq!((of(0), of(15), of(DramRequest::NO_SOURCE)), (0, 15, 16));
    }

    #[test]
    fn service_lasts_from_the_first_command_to_the_last_data_cycle() {
        let mut clock = ServiceClock::new(&context(&gddr5()));
        clock.begin(BankId(3), at(100));
        clock.begin(BankId(4), at(200));
        assert_eq!(clock.end(BankId(3), at(112)), 12 + 2);
    }
}
