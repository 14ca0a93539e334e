//! Loads of page walks that allocate no line in L2 (Ausavarungnirun et al., ASPLOS 2018).

use warpmem_cache::CacheCounts;
use warpmem_sim::{Insertion, Request};
use warpmem_translation::MAX_LEVELS;

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

/// Hit rates of the loads of walks in a slice since the start of the run.
#[derive(Default)]
pub(super) struct WalkBypass {
    /// By level of the page table, without loads that bypass.
    levels: [Rate; MAX_LEVELS as usize],
    bypassing: Rate,
}

impl WalkBypass {
    /// Returns the insertion of a load of a walk: nowhere if its level hits less often than data.
    /// `reads`: counts of the slice.
    pub fn insertion(&self, walk: &Request, reads: &CacheCounts) -> Insertion {
        let level = self.levels[walk.pc as usize];
        let bypasses = level.lookups >= WARM_UP && level.is_below(self.data(reads));
        if bypasses { Insertion::Nowhere } else { Insertion::Newest }
    }

    /// Counts a load of a walk.
    pub fn count(&mut self, walk: &Request, hit: bool) {
        let bypasses = walk.insertion == Insertion::Nowhere;
        let rate = if bypasses { &mut self.bypassing } else { &mut self.levels[walk.pc as usize] };
        rate.count(hit);
    }

    /// Returns the hit rate of reads other than loads of walks.
    fn data(&self, reads: &CacheCounts) -> Rate {
        let CacheCounts { read_hits, read_misses, .. } = *reads;
        let lookups = read_hits + read_misses + reads.read_sector_misses + reads.read_pending_hits;
        let data = Rate { hits: read_hits, lookups };
        self.levels.iter().chain([&self.bypassing]).fold(data, |data, walks| Rate {
            hits: data.hits - walks.hits,
            lookups: data.lookups - walks.lookups,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpmem_sim::{Location, RequestKind};

    #[test]
    fn a_level_that_hits_less_than_data_bypasses_after_its_warm_up() {
        let walk = |level| {
            let walk = Request::of_slice(0, RequestKind::Walk, Location::ZERO);
            Request { pc: level, ..walk }
        };
        let mut reads = CacheCounts::default();
        let mut rates = WalkBypass::default();
        let count =
            |reads: &mut CacheCounts, rates: &mut WalkBypass, walk: Option<Request>, hit| {
                let outcome = if hit { &mut reads.read_hits } else { &mut reads.read_misses };
                *outcome += 1;
                walk.inspect(|walk| rates.count(walk, hit));
            };
        for at in 0..WARM_UP {
            assert_eq!(rates.insertion(&walk(2), &reads), Insertion::Newest);
            count(&mut reads, &mut rates, None, at % 2 == 0);
            count(&mut reads, &mut rates, Some(walk(1)), at % 4 != 0);
            count(&mut reads, &mut rates, Some(walk(2)), at % 4 == 0);
        }
        assert_eq!(rates.insertion(&walk(1), &reads), Insertion::Newest);
        assert_eq!(rates.insertion(&walk(2), &reads), Insertion::Nowhere);
        // Bypassing loads change no rate; data that miss lower the rate to be reached.
        let bypassing = Request { insertion: Insertion::Nowhere, ..walk(2) };
        count(&mut reads, &mut rates, Some(bypassing), false);
        assert_eq!(rates.insertion(&walk(2), &reads), Insertion::Nowhere);
        (0..WARM_UP).for_each(|_| count(&mut reads, &mut rates, None, false));
        assert_eq!(rates.insertion(&walk(2), &reads), Insertion::Newest);
    }
}
