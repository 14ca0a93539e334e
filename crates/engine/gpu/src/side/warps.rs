//! Types of warps by their hits in the L2 (Ausavarungnirun et al., PACT 2015).

use warpmem_machine::Machine;
use warpmem_sim::{L2Cycle, WarpId, WarpTypes};

/// How often a warp's reads hit in the L2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarpType {
    AllHit,
    MostlyHit,
    Balanced,
    MostlyMiss,
    AllMiss,
}

impl WarpType {
    pub const COUNT: usize = 5;

    /// Its requests go first in DRAM.
    pub fn is_hit_prone(self) -> bool {
        matches!(self, WarpType::AllHit | WarpType::MostlyHit)
    }

    /// It makes little use of the L2.
    pub fn is_miss_prone(self) -> bool {
        matches!(self, WarpType::MostlyMiss | WarpType::AllMiss)
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Warp {
    /// The sample being taken.
    reads: u32,
    hits: u32,
    /// The type that the last sample gave, and the cycle until which it holds.
    known: Option<WarpType>,
    until: L2Cycle,
}

/// The types of all warps of a machine, which all slices share.
pub struct WarpTable {
    types: WarpTypes,
    warps: Vec<Warp>,
}

impl WarpTable {
    pub(super) fn new(machine: &Machine, types: WarpTypes) -> WarpTable {
        let warps = vec![Warp::default(); (machine.sm.count * machine.sm.max_warps) as usize];
        WarpTable { types, warps }
    }

    /// The type of a warp in `cycle`; none while a sample is being taken.
    pub fn of(&self, warp: WarpId, cycle: L2Cycle) -> Option<WarpType> {
        self.warps.get(warp.index()).and_then(|warp| warp.known.filter(|_| cycle < warp.until))
    }

    /// Whether reads of such a warp bypass the L2.
    pub fn passes_by(&self, kind: Option<WarpType>) -> bool {
        self.types.bypass && kind.is_some_and(WarpType::is_miss_prone)
    }

    /// Counts a read of a warp whose type is not known. The type, if the sample is complete with
    /// it.
    pub fn sample(&mut self, warp: WarpId, hit: bool, cycle: L2Cycle) -> Option<WarpType> {
        let types = self.types;
        let warp = self.warps.get_mut(warp.index())?;
        if warp.known.is_some() && cycle < warp.until {
            return None;
        }
        warp.known = None;
        warp.reads += 1;
        warp.hits += u32::from(hit);
        if warp.reads < types.warm_up {
            return None;
        }
        let kind = classify(&types, warp.hits, warp.reads);
        *warp = Warp { known: Some(kind), until: cycle + types.resample, ..Warp::default() };
        Some(kind)
    }
}

fn classify(types: &WarpTypes, hits: u32, reads: u32) -> WarpType {
    let share = f64::from(hits) / f64::from(reads);
    match hits {
        0 => WarpType::AllMiss,
        _ if hits == reads => WarpType::AllHit,
        _ if share >= types.mostly_hit => WarpType::MostlyHit,
        _ if share <= types.mostly_miss => WarpType::MostlyMiss,
        _ => WarpType::Balanced,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPES: WarpTypes =
        WarpTypes { mostly_hit: 0.7, mostly_miss: 0.2, warm_up: 10, resample: 1000, bypass: true };

    #[test]
    fn types_follow_the_share_of_hits() {
        let kinds: Vec<WarpType> = (0..=10).map(|hits| classify(&TYPES, hits, 10)).collect();
        use WarpType::*;
        assert_eq!(kinds[..3], [AllMiss, MostlyMiss, MostlyMiss]);
        assert_eq!(kinds[3..7], [Balanced; 4]);
        assert_eq!(kinds[7..], [MostlyHit, MostlyHit, MostlyHit, AllHit]);
    }

    /// A read of warp 3 in a cycle.
    fn sample(table: &mut WarpTable, hit: bool, cycle: u64) -> Option<WarpType> {
        table.sample(WarpId(3), hit, L2Cycle::new(cycle))
    }

    #[test]
    fn a_type_is_known_after_its_sample_and_until_it_is_old() {
        let mut table = WarpTable::new(&warpmem_testing::machine(&[]), TYPES);
        for read in 1..10 {
            assert_eq!(sample(&mut table, read == 5, 100), None, "read {read}");
        }
        assert_eq!(table.of(WarpId(3), L2Cycle::new(100)), None);
        assert_eq!(sample(&mut table, false, 100), Some(WarpType::MostlyMiss));
        assert_eq!(table.of(WarpId(3), L2Cycle::new(100)), Some(WarpType::MostlyMiss));
        assert_eq!(table.of(WarpId(2), L2Cycle::new(100)), None, "another warp");
        assert_eq!(sample(&mut table, true, 1099), None, "nothing is counted while it holds");
        assert_eq!(table.of(WarpId(3), L2Cycle::new(1100)), None, "it is old");
        for read in 0..10 {
            assert_eq!(sample(&mut table, true, 1100).is_some(), read == 9, "read {read}");
        }
        assert_eq!(table.of(WarpId(3), L2Cycle::new(1100)), Some(WarpType::AllHit));
    }

    #[test]
    fn those_that_miss_pass_by_unless_told_otherwise() {
        let machine = warpmem_testing::machine(&[]);
        use WarpType::*;
        let all = [AllHit, MostlyHit, Balanced, MostlyMiss, AllMiss];
        let passes = |bypass| {
            let table = WarpTable::new(&machine, WarpTypes { bypass, ..TYPES });
            assert!(!table.passes_by(None));
            all.map(|kind| table.passes_by(Some(kind)))
        };
        assert_eq!(passes(true), [false, false, false, true, true]);
        assert_eq!(passes(false), [false; 5]);
    }
}
