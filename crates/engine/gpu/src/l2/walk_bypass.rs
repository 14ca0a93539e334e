//! Loads of page walks that allocate no line in L2 (Ausavarungnirun et al., ASPLOS 2018).

use warpmem_sim::{Insertion, Request, RequestKind};

/// Levels of a page table at most.
const LEVELS: usize = 6;
/// Lookups of a level before its hit rate decides.
const WARM_UP: u64 = 32;

#[derive(Clone, Copy, Default)]
struct Rate {
    hits: u64,
    lookups: u64,
}

impl Rate {
    fn count(&mut self, hit: bool) {
        self.lookups += 1;
        self.hits += u64::from(hit);
    }

    fn is_below(self, other: Rate) -> bool {
        u128::from(self.hits) * u128::from(other.lookups)
            < u128::from(other.hits) * u128::from(self.lookups)
    }
}

/// Hit rates in a slice since the start of the run: of data, and of each level of the page table.
#[derive(Default)]
pub(super) struct WalkBypass {
    data: Rate,
    levels: [Rate; LEVELS],
}

impl WalkBypass {
    /// Returns the insertion of a load of a walk: nowhere if its level hits less often than data.
    pub fn insertion(&self, walk: &Request) -> Insertion {
        let level = self.levels[walk.pc as usize];
        let bypasses = level.lookups >= WARM_UP && level.is_below(self.data);
        if bypasses { Insertion::Nowhere } else { Insertion::Newest }
    }

    /// Counts a read. Loads that bypass do not count.
    pub fn count(&mut self, request: &Request, hit: bool) {
        match request.kind {
            RequestKind::Walk if request.insertion == Insertion::Nowhere => {}
            RequestKind::Walk => self.levels[request.pc as usize].count(hit),
            _ => self.data.count(hit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpmem_sim::Location;

    #[test]
    fn a_level_that_hits_less_than_data_bypasses_after_its_warm_up() {
        let walk = |level| {
            let walk = Request::of_slice(0, RequestKind::Walk, Location::ZERO);
            Request { pc: level, ..walk }
        };
        let data = Request::of_slice(0, RequestKind::Read, Location::ZERO);
        let mut rates = WalkBypass::default();
        for at in 0..WARM_UP {
            assert_eq!(rates.insertion(&walk(2)), Insertion::Newest);
            rates.count(&data, at % 2 == 0);
            rates.count(&walk(1), at % 4 != 0);
            rates.count(&walk(2), at % 4 == 0);
        }
        assert_eq!(rates.insertion(&walk(1)), Insertion::Newest);
        assert_eq!(rates.insertion(&walk(2)), Insertion::Nowhere);
        // Bypassing loads do not count; data that miss lower the rate to be reached.
        rates.count(&Request { insertion: Insertion::Nowhere, ..walk(2) }, false);
        (0..WARM_UP).for_each(|_| rates.count(&data, false));
        assert_eq!(rates.insertion(&walk(2)), Insertion::Newest);
    }
}
