//! TLB-fill tokens (Ausavarungnirun et al., ASPLOS 2018): the warps whose walks may fill the
//! second-level TLB. Walks of the others fill a bypass cache, which is looked up with the TLB.

use crate::Vm;
use crate::tlb::Tlb;
use warpmem_sim::WarpId;

/// Change of the share of warps with a token, percent.
const STEP: u32 = 10;

/// Lookups of an epoch.
#[derive(Clone, Copy, Default)]
struct Epoch {
    lookups: u64,
    misses: u64,
}

impl Epoch {
    fn misses_less_than(self, other: Epoch) -> bool {
        u128::from(self.misses) * u128::from(other.lookups)
            < u128::from(other.misses) * u128::from(self.lookups)
    }
}

pub(crate) struct FillTokens {
    /// Lookups of an epoch.
    epoch: u64,
    /// Warp slots of an SM.
    warps: u32,
    /// Share of the slots with a token, percent.
    percent: u32,
    /// Whether the last change took tokens.
    took: bool,
    now: Epoch,
    before: Option<Epoch>,
    bypass: Tlb,
}

impl FillTokens {
    /// Creates the tokens, if the machine has them. `warps`: slots of an SM.
    pub fn new(vm: &Vm, warps: u32) -> Option<FillTokens> {
        let tokens = &vm.tokens;
        (tokens.epoch > 0).then(|| FillTokens {
            epoch: tokens.epoch.into(),
            warps,
            percent: tokens.percent,
            took: true,
            now: Epoch::default(),
            before: None,
            bypass: Tlb::new(tokens.bypass_entries, 0, 1),
        })
    }

    /// Looks a page up in the bypass cache.
    pub fn look_up(&mut self, page: u64) -> bool {
        self.bypass.look_up(page)
    }

    /// Counts a lookup. The number of tokens changes at the end of an epoch: in the same direction
    /// as before if the miss rate has fallen, else in the other one.
    pub fn count(&mut self, hit: bool) {
        self.now.lookups += 1;
        self.now.misses += u64::from(!hit);
        if self.now.lookups < self.epoch {
            return;
        }
        let now = std::mem::take(&mut self.now);
        self.took ^= self.before.is_some_and(|before| !now.misses_less_than(before));
        self.before = Some(now);
        self.percent = if self.took {
            self.percent.saturating_sub(STEP)
        } else {
            (self.percent + STEP).min(100)
        };
    }

    /// Whether the warp has a token: the warps of the first slots of every SM have one.
    fn has(&self, warp: WarpId) -> bool {
        warp.0 % self.warps * 100 < self.warps * self.percent
    }

    /// Adds a page to the bypass cache if no warp that waits for it has a token. Returns whether it
    /// did.
    pub fn diverts(&mut self, page: u64, mut warps: impl Iterator<Item = WarpId>) -> bool {
        let diverts = !warps.any(|warp| self.has(warp));
        if diverts {
            self.bypass.fill(page);
        }
        diverts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(epoch: u32, percent: u32) -> FillTokens {
        let mut vm = crate::tests::defaults();
        (vm.tokens.epoch, vm.tokens.percent) = (epoch, percent);
        FillTokens::new(&vm, 10).unwrap()
    }

    #[test]
    fn the_first_slots_of_every_sm_have_tokens() {
        let mut tokens = tokens(1000, 30);
        let with: Vec<u32> = (0..20).filter(|&warp| tokens.has(WarpId(warp))).collect();
        assert_eq!(with, [0, 1, 2, 10, 11, 12]);
        assert!(!tokens.diverts(7, [9, 12].map(WarpId).into_iter()));
        assert!(!tokens.look_up(7));
        assert!(tokens.diverts(7, [9, 13].map(WarpId).into_iter()));
        assert!(tokens.look_up(7));
    }

    #[test]
    fn the_number_of_tokens_follows_the_miss_rate() {
        let mut tokens = tokens(4, 80);
        let mut after = |misses: u64| {
            (0..4).for_each(|lookup| tokens.count(lookup >= misses));
            tokens.percent
        };
        // Fewer as long as misses become fewer, then more.
        let shares = [4, 3, 2, 3, 2, 2].map(&mut after);
        assert_eq!(shares, [70, 60, 50, 60, 70, 60]);
    }
}
