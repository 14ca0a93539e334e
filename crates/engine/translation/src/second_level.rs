//! The second-level TLB, and the bypass cache beside it.

use crate::Vm;
use crate::tlb::Tlb;
use crate::tokens::FillTokens;
use std::collections::BTreeSet;
use warpmem_sim::WarpId;

pub(crate) struct SecondLevel {
    tlb: Tlb,
    /// Pages looked up so far, under `vm.l2.warm`.
    seen: Option<BTreeSet<u64>>,
    tokens: Option<FillTokens>,
}

impl SecondLevel {
    /// `warps`: warp slots of an SM.
    pub fn new(vm: &Vm, warps: u32) -> SecondLevel {
        let l2 = &vm.l2;
        SecondLevel {
            tlb: Tlb::new(l2.entries, l2.ways, l2.pages_per_entry),
            seen: l2.warm.then(BTreeSet::new),
            tokens: FillTokens::new(vm, warps),
        }
    }

    /// Looks a page up. Returns whether it is present.
    pub fn look_up(&mut self, page: u64) -> bool {
        self.tlb.look_up(page)
            || self.tokens.as_mut().is_some_and(|tokens| tokens.look_up(page))
            || self.was_resident(page)
    }

    /// Enters a page that the TLB holds from before the run. Returns whether it does.
    fn was_resident(&mut self, page: u64) -> bool {
        let resident = self.seen.as_mut().is_some_and(|seen| seen.insert(page));
        if resident {
            self.tlb.fill(page);
        }
        resident
    }

    /// Counts a lookup that has been served.
    pub fn count(&mut self, hit: bool) {
        if let Some(tokens) = &mut self.tokens {
            tokens.count(hit);
        }
    }

    /// Enters a page that `warps` wait for. Returns whether it went to the bypass cache, because none
    /// of them has a token.
    pub fn fill(&mut self, page: u64, warps: impl Iterator<Item = WarpId>) -> bool {
        let diverted = self.tokens.as_mut().is_some_and(|tokens| tokens.diverts(page, warps));
        if !diverted {
            self.tlb.fill(page);
        }
        diverted
    }
}
