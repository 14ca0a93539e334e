//! Warp types by L2 hit rate (Ausavarungnirun et al., PACT 2015).

use warpmem_machine::Machine;
use warpmem_sim::{L2Cycle, WarpId, WarpTypes};

/// Class of a warp's L2 hit rate.
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

    /// Returns whether its requests have priority in DRAM.
    pub fn is_hit_prone(self) -> bool {
        matches!(self, WarpType::AllHit | WarpType::MostlyHit)
    }

    /// Returns whether it makes little use of the L2.
    pub fn is_miss_prone(self) -> bool {
        matches!(self, WarpType::MostlyMiss | WarpType::AllMiss)
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Warp {
    /// The current sample.
    reads: u32,
    hits: u32,
    /// Result of the last sample, and the cycle of its expiry.
    known: Option<WarpType>,
    until: L2Cycle,
}

/// The types of all warps of a machine, shared by all slices.
pub struct WarpTable {
    types: WarpTypes,
    warps: Vec<Warp>,
}

impl WarpTable {
    pub(super) fn new(machine: &Machine, types: WarpTypes) -> WarpTable {
        let warps = vec![Warp::default(); (machine.sm.count * machine.sm.max_warps) as usize];
        WarpTable { types, warps }
    }

    /// Returns the type of a warp in `cycle`; none while it is being sampled.
    pub fn of(&self, warp: WarpId, cycle: L2Cycle) -> Option<WarpType> {
        self.warps.get(warp.index()).and_then(|warp| warp.known.filter(|_| cycle < warp.until))
    }

    /// Returns whether reads of a warp of this type bypass the L2.
    pub fn bypasses(&self, kind: Option<WarpType>) -> bool {
        self.types.bypass && kind.is_some_and(WarpType::is_miss_prone)
    }

    /// Counts a read of a warp that is being sampled. Returns the type if the read completes the
    /// sample.
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
    fn types_follow_the_hit_rate() {
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
    fn a_type_is_known_from_its_sample_until_it_expires() {
        let mut table = WarpTable::new(&crate::testing::machine(&[]), TYPES);
        for read in 1..10 {
            assert_eq!(sample(&mut table, read == 5, 100), None, "read {read}");
        }
        assert_eq!(table.of(WarpId(3), L2Cycle::new(100)), None);
        assert_eq!(sample(&mut table, false, 100), Some(WarpType::MostlyMiss));
        assert_eq!(table.of(WarpId(3), L2Cycle::new(100)), Some(WarpType::MostlyMiss));
        assert_eq!(table.of(WarpId(2), L2Cycle::new(100)), None, "another warp");
        assert_eq!(
            sample(&mut table, true, 1099),
            None,
            "nothing is counted while the type is valid"
        );
        assert_eq!(table.of(WarpId(3), L2Cycle::new(1100)), None, "it has expired");
        for read in 0..10 {
            assert_eq!(sample(&mut table, true, 1100).is_some(), read == 9, "read {read}");
        }
        assert_eq!(table.of(WarpId(3), L2Cycle::new(1100)), Some(WarpType::AllHit));
    }

    #[test]
    fn miss_prone_warps_bypass_if_configured() {
        let machine = crate::testing::machine(&[]);
        use WarpType::*;
        let all = [AllHit, MostlyHit, Balanced, MostlyMiss, AllMiss];
        let passes = |bypass| {
            let table = WarpTable::new(&machine, WarpTypes { bypass, ..TYPES });
            assert!(!table.bypasses(None));
            all.map(|kind| table.bypasses(Some(kind)))
        };
        assert_eq!(passes(true), [false, false, false, true, true]);
        assert_eq!(passes(false), [false; 5]);
    }
}
