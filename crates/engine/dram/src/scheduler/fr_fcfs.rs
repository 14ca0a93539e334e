//! `fr-fcfs`: row hits first, then the oldest request.

use super::{BankView, Event, Family, Queued, Ready, Scheduler, SchedulerContext, Slot, Traits};
use crate::page::PAGE_POLICIES;
use warpmem_params::{Complexity, Entry, PolicyInfo, Shape, bits, choice, params};
use warpmem_sim::DramCycle;

const INFO: PolicyInfo = PolicyInfo {
    name: "fr-fcfs",
    summary: "row hits first, then the oldest",
    source: "Rixner et al., ISCA 2000",
    params: Options::params,
};

pub const ENTRY: Entry<dyn Family, SchedulerContext> = Entry {
    info: INFO,
    build: |context, params| {
        let options: Options = params.read();
        if let Some(page) = &options.page {
            PAGE_POLICIES.build(page, &context.dram)?;
        }
        let banks = vec![BankCounts::default(); context.dram.banks as usize];
        let slots = vec![0; context.slots()];
        Ok(Box::new(move |_| {
            let (banks, first_bypass) = (banks.clone(), slots.clone());
            Box::new(FrFcfs { options: options.clone(), banks, first_bypass }) as _
        }))
    },
};

params! {
    #[derive(Clone)]
    struct Options {
        /// `row-hit-first`: a bank is not precharged while a row hit waits for it (except by the
        /// options below); `first-ready`: of a bank's oldest row hit and its oldest request, the
        /// one whose next command is legal first, so that a row may be closed while hits wait for
        /// it
        ready: Readiness = Readiness::RowHitFirst;
        /// value of the count of `cap_counts` from which the bank's oldest request goes before row
        /// hits
        row_hit_cap: u64 = 0, in 0.., zero "off", unit "requests";
        /// `hits-since-activate`: requests served since activation, including the first;
        /// `consecutive-hits-while-older-waits`: successive row hits that bypassed an older request
        /// of the bank; `bypasses-of-the-oldest`: younger requests of the bank served before its
        /// current oldest
        cap_counts: CapCounts = CapCounts::ConsecutiveHitsWhileOlderWaits;
        /// waiting time after which the oldest request of a bank goes before row hits
        starvation_limit: u64 = 0, in 0.., zero "off", unit "DRAM cycles";
        /// bank that issues if several can: `round-robin`: the next bank, with a separate pointer
        /// for each command bus and for assignments; `stepping`: the next bank, with one shared
        /// pointer, as in GPGPU-Sim; `oldest`: the bank of the oldest request
        banks: BankOrder = BankOrder::RoundRobin;
        /// page policy: when rows are closed
        page: Option<String> = None, in ("dram.page", "the name of a page policy");
        /// requests that may be assigned to idle banks in one cycle
        picks_per_cycle: Option<u32> = None, in ("dram.picks_per_cycle", 0..),
            zero "one for every idle bank", unit "requests";
    }
}

choice! {
    #[derive(PartialEq)]
    enum Readiness {
        RowHitFirst = "row-hit-first",
        FirstReady = "first-ready",
    }
}

choice! {
    #[derive(PartialEq)]
    enum CapCounts {
        HitsSinceActivate = "hits-since-activate",
        ConsecutiveHitsWhileOlderWaits = "consecutive-hits-while-older-waits",
        BypassesOfTheOldest = "bypasses-of-the-oldest",
    }
}

choice! {
    #[derive(PartialEq)]
    enum BankOrder {
        RoundRobin = "round-robin",
        Oldest = "oldest",
        Stepping = "stepping",
    }
}

#[derive(Clone, Copy, Default)]
struct BankCounts {
    /// Requests served since activation.
    since_activate: u64,
    /// Successive row hits that bypassed an older request to another row.
    passed: u64,
    arrived: u64,
    served: u64,
}

struct FrFcfs {
    options: Options,
    banks: Vec<BankCounts>,
    /// Earlier arrivals in the bank, by slot. Once the request is the oldest of its bank, every
    /// service beyond this number has bypassed it.
    first_bypass: Vec<u64>,
}

impl FrFcfs {
    fn oldest_is_due(&self, bank: &BankView) -> bool {
        let Options { row_hit_cap, starvation_limit, .. } = self.options;
        let capped = || row_hit_cap > 0 && self.counted(bank) >= row_hit_cap;
        if row_hit_cap == 0 && starvation_limit == 0 {
            return false;
        }
        let waited = || bank.now.since(bank.queue.get(bank.oldest()).arrived);
        capped() || (starvation_limit > 0 && waited() >= starvation_limit)
    }

    fn counted(&self, bank: &BankView) -> u64 {
        let counts = &self.banks[bank.bank.index()];
        match self.options.cap_counts {
            CapCounts::HitsSinceActivate => counts.since_activate,
            CapCounts::ConsecutiveHitsWhileOlderWaits => counts.passed,
            CapCounts::BypassesOfTheOldest => {
                counts.served - self.first_bypass[bank.oldest().index()]
            }
        }
    }
}

impl Scheduler for FrFcfs {
    fn traits(&self) -> Traits {
        let Options { ready, row_hit_cap, cap_counts, starvation_limit, banks, .. } = self.options;
        let first_ready = ready == Readiness::FirstReady;
        Traits {
            plain_fr_fcfs: !first_ready && row_hit_cap == 0 && starvation_limit == 0,
            follows_timing: first_ready,
            shared_round_robin: banks == BankOrder::Stepping,
            ranks_banks: banks == BankOrder::Oldest,
            takes_events: row_hit_cap > 0 && cap_counts == CapCounts::HitsSinceActivate,
            page: self.options.page.clone(),
            picks_per_cycle: self.options.picks_per_cycle,
            ..Traits::default()
        }
    }

    fn pick(&mut self, bank: &BankView) -> Option<Slot> {
        if self.oldest_is_due(bank) {
            return Some(bank.oldest());
        }
        let Some(hit) = bank.oldest_hit() else { return Some(bank.oldest()) };
        if self.options.ready == Readiness::RowHitFirst {
            return Some(hit);
        }
        let oldest = bank.oldest();
        let cycle = |slot| bank.next_command(slot).1.max(bank.now);
        Some(if cycle(oldest) <= cycle(hit) { oldest } else { hit })
    }

    fn changes_at(&self, bank: &BankView) -> Option<DramCycle> {
        let limit = self.options.starvation_limit;
        if limit == 0 {
            return None;
        }
        let due = bank.queue.get(bank.oldest()).arrived + limit;
        (due > bank.now).then_some(due)
    }

    fn rank(&self, ready: &Ready) -> u64 {
        ready.queued.map_or(u64::MAX, |queued| queued.order)
    }

    fn on_arrival(&mut self, slot: Slot, queued: &Queued) {
        let bank = &mut self.banks[queued.request.bank.index()];
        self.first_bypass[slot.index()] = bank.arrived;
        bank.arrived += 1;
    }

    fn on_service(&mut self, bank: &BankView, slot: Slot) {
        let counts = &mut self.banks[bank.bank.index()];
        // Only a row hit bypasses, and only requests to other rows.
        counts.passed = if slot == bank.oldest() { 0 } else { counts.passed + 1 };
        counts.since_activate += 1;
        counts.served += 1;
    }

    fn on_event(&mut self, event: Event, _: DramCycle) {
        if let Event::Activated { bank } = event {
            // The request that opens the row was counted before.
            self.banks[bank.index()].since_activate = 1;
        }
    }

    /// Returns the cost. Compared are row and bank of every request with the open rows (Yuan 2009,
    /// Table 1). A cap needs a counter per bank, a limit a time stamp per request.
    fn complexity(&self, shape: &Shape) -> Option<Complexity> {
        let Options { row_hit_cap, starvation_limit, .. } = self.options;
        let limits = shape.banks * bits(row_hit_cap + 1) + shape.queue * bits(starvation_limit + 1);
        Some(Complexity { stored: limits, compared: shape.row_search() + limits })
    }
}
