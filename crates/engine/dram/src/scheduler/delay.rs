//! `delay`: FR-FCFS that delays selected requests, to measure the cost of their latency.

use super::shared::Shared;
use super::{BankView, Event, Family, Queued, Scheduler, SchedulerContext, Slot, Traits};
use crate::DramRequest;
use warpmem_params::{Counter, Entry, PolicyInfo, choice, params};
use warpmem_sim::{CountedMerges, DramCycle, EarlyMerges, Needs};

#[cfg(test)]
mod tests;

const INFO: PolicyInfo = PolicyInfo {
    name: "delay",
    summary: "an experiment: FR-FCFS that delays selected requests with (or without) inter-core locality",
    source: "Li, Inter-core locality aware memory access scheduling, UBC 2015, Section 3.2",
    params: Options::params,
};

pub const ENTRY: Entry<dyn Family, SchedulerContext> = Entry {
    info: INFO,
    build: |context, params| {
        let options: Options = params.read();
        let assigns = context.dram.picks_per_cycle > 0;
        Ok(Box::new(Delays {
            options,
            assigns,
            slots: context.slots(),
            chosen: Shared::new(Chosen::default()),
        }))
    },
};

params! {
    #[derive(Clone, Copy)]
    struct Options {
        /// number of requests of the whole machine that are delayed, each once
        requests: u64 = 1000, in 0.., zero "none", unit "requests";
        /// requests that are delayed: those `with` inter-core locality (merged with requests of
        /// other SMs), or those `without`
        locality: Locality = Locality::With;
        /// delay of each request; the thesis does not state it
        cycles: u64 = 1000, in 1.., unit "DRAM cycles";
        /// number of matching requests that are served normally before the first delayed one
        first: u64 = 0, in 0.., unit "requests";
        /// period of the delayed requests among the matching ones, which spreads them over a run
        every: u64 = 1, in 1.., unit "requests";
        /// requests merged into an L2 MSHR that are reported and make locality: those of SMs that did
        /// not yet wait for the data (`inter-core`), or all
        count: CountedMerges = CountedMerges::InterCore;
        /// as for `mshr-m`
        early_merges: EarlyMerges = EarlyMerges::Reported;
    }
}

impl Options {
    /// Returns the number of matching requests served normally before the one after `held` delayed
    /// ones.
    fn passed_before(&self, held: u64) -> u64 {
        held.saturating_mul(self.every - 1).saturating_add(self.first)
    }
}

choice! {
    /// Whether requests of other SMs are known to have merged with this request.
    #[derive(PartialEq)]
    enum Locality {
        With = "with",
        Without = "without",
    }
}

/// Counts of the requests that match the locality, over all channels.
#[derive(Default)]
struct Chosen {
    /// Matching requests served normally.
    passed: u64,
    held: u64,
}

struct Delays {
    options: Options,
    assigns: bool,
    slots: usize,
    chosen: Shared<Chosen>,
}

impl Family for Delays {
    fn scheduler(&self, _: usize) -> Box<dyn Scheduler> {
        Box::new(Delay {
            options: self.options,
            assigns: self.assigns,
            chosen: self.chosen.clone(),
            waiting: vec![Waiting::default(); self.slots],
            count: Count::default(),
        })
    }

    fn share_state(&self) -> bool {
        true
    }

    /// Returns the same for both kinds and for none, so that the runs differ in nothing else.
    fn needs(&self) -> Needs {
        let Options { count, early_merges, .. } = self.options;
        Needs { merges: Some(count), early_merges, ..Needs::default() }
    }
}

/// The scheduler's knowledge of a waiting request.
#[derive(Clone, Copy, Default)]
struct Waiting {
    /// Number of SMs that wait for it, by the updates received so far.
    merges: u32,
    /// Cycle until which it is delayed; none if it never was.
    until: Option<DramCycle>,
}

#[derive(Default)]
struct Count {
    held: u64,
    merged_while_held: u64,
    with_locality: u64,
    without_locality: u64,
}

struct Delay {
    options: Options,
    /// Whether requests are assigned to banks, and then served whatever updates arrive.
    assigns: bool,
    chosen: Shared<Chosen>,
    /// Waiting requests, by slot.
    waiting: Vec<Waiting>,
    count: Count,
}

impl Delay {
    fn locality(&self, slot: Slot) -> Locality {
        if self.waiting[slot.index()].merges > 1 { Locality::With } else { Locality::Without }
    }

    /// Returns whether the request is passed over. The delay of a matching request starts when its
    /// command could issue or it would be assigned, because by then all updates that can arrive in
    /// time have arrived.
    fn holds(&mut self, bank: &BankView, slot: Slot, request: &DramRequest) -> bool {
        if let Some(until) = self.waiting[slot.index()].until {
            return until > bank.now;
        }
        let Options { requests, locality, cycles, .. } = self.options;
        let chosen = &mut *self.chosen.get();
        let held = chosen.held;
        let begins = is_waited_for(request)
            && self.locality(slot) == locality
            && held < requests
            && chosen.passed >= self.options.passed_before(held)
            && (self.assigns || bank.next_command(slot).1 <= bank.now);
        if begins {
            self.waiting[slot.index()].until = Some(bank.now + cycles);
            chosen.held += 1;
            self.count.held += 1;
        }
        begins
    }
}

/// Returns whether the request is a read that an SM waits for.
fn is_waited_for(request: &DramRequest) -> bool {
    !request.write && request.sm != DramRequest::NO_SOURCE
}

impl Scheduler for Delay {
    fn traits(&self) -> Traits {
        // The delay starts when a command could issue.
        Traits { repick_at_issue: true, takes_events: true, ..Traits::default() }
    }

    fn pick(&mut self, bank: &BankView) -> Option<Slot> {
        let queue = bank.queue;
        let hits = bank.open_row().into_iter().flat_map(|row| queue.requests_to(bank.bank, row));
        let mut in_order = hits.chain(bank.requests());
        let free = in_order.find(|(slot, queued)| !self.holds(bank, *slot, &queued.request));
        free.map(|(slot, _)| slot)
    }

    fn changes_at(&self, bank: &BankView) -> Option<DramCycle> {
        let ends = bank.requests().filter_map(|(slot, _)| self.waiting[slot.index()].until);
        ends.filter(|&until| until > bank.now).min()
    }

    fn on_arrival(&mut self, slot: Slot, queued: &Queued) {
        let merges = queued.request.merges.into();
        self.waiting[slot.index()] = Waiting { merges, until: None };
    }

    fn on_event(&mut self, event: Event, _: DramCycle) {
        if let Event::Merged { slot, merges, .. } = event {
            self.waiting[slot.index()].merges = merges;
        }
    }

    fn on_service(&mut self, bank: &BankView, slot: Slot) {
        if !is_waited_for(&bank.queue.get(slot).request) {
            return;
        }
        let (locality, held) = (self.locality(slot), self.waiting[slot.index()].until.is_some());
        let with = locality == Locality::With;
        *if with { &mut self.count.with_locality } else { &mut self.count.without_locality } += 1;
        if held {
            let joined = with && self.options.locality == Locality::Without;
            self.count.merged_while_held += u64::from(joined);
        } else if locality == self.options.locality {
            self.chosen.get().passed += 1;
        }
    }

    fn counters(&self) -> Vec<Counter> {
        let Count { held, merged_while_held, with_locality, without_locality } = self.count;
        let counter = |name, value| Counter { name, value };
        vec![
            counter("delayed_requests", held),
            counter("merged_while_delayed", merged_while_held),
            counter("requests_with_locality", with_locality),
            counter("requests_without_locality", without_locality),
        ]
    }
}
