//! Criticality-aware scheduling: the slowest warp of a CTA issues first.

use super::gto::Gto;
use super::{ResidentCta, WarpEntry, WarpScheduler, WarpView};
use std::cmp::Reverse;
use warpmem_params::PolicyInfo;
use warpmem_sim::{CoreCycle, WarpSlot};

const INFO: PolicyInfo = PolicyInfo {
    name: "caws",
    summary: "issues from one warp until it stalls, then from the most critical warp: the one with most instructions left or most stall cycles",
    source: "Lee and Wu, PACT 2014; Lee et al., ISCA 2015",
    params: Vec::new,
};

pub(super) const ENTRY: WarpEntry =
    WarpEntry { info: INFO, build: |context, _| Ok(Box::new(Caws::new(context.schedulers()))) };

/// Fraction bits of [`Warp::pace`].
const FRACTION: u32 = 8;

/// State of a warp at its last issue.
#[derive(Clone, Copy, Default)]
struct Warp {
    /// Slot of the first warp of its CTA.
    cta: WarpSlot,
    /// Trace records in all, and not yet begun.
    records: u32,
    left: u32,
    issued: u64,
    first_issue: CoreCycle,
    /// Cycles since the first issue without an issue.
    stalled: u64,
    /// Cycles per record begun, in units of 2^-8.
    pace: u64,
}

impl Warp {
    /// Records an issue.
    fn issue(&mut self, cycle: CoreCycle, left: u32) {
        if self.issued == 0 {
            self.first_issue = cycle;
        }
        self.issued += 1;
        self.left = left;
        let elapsed = (cycle + 1).since(self.first_issue);
        self.stalled = elapsed - self.issued;
        let begun = u64::from(self.records.saturating_sub(left)).max(1);
        self.pace = (elapsed << FRACTION) / begun;
    }
}

struct Caws {
    gto: Gto,
    warps: Vec<Warp>,
    /// Fewest records left of any warp, by CTA.
    fewest_left: Vec<u32>,
}

impl Caws {
    fn new(schedulers: usize) -> Caws {
        Caws {
            gto: Gto::new(schedulers),
            warps: vec![Warp::default(); 64],
            fewest_left: vec![0; 64],
        }
    }

    /// Returns the criticality of a warp, in cycles: the time for the records it has left beyond
    /// the fastest warp of its CTA, plus its stall cycles.
    fn criticality(&self, slot: WarpSlot) -> u64 {
        let warp = &self.warps[slot.index()];
        let behind = u64::from(warp.left - self.fewest_left[warp.cta.index()]);
        ((behind * warp.pace) >> FRACTION) + warp.stalled
    }

    fn most_critical(&self, candidates: u64, ages: &[u64]) -> WarpSlot {
        let rank = |&slot: &WarpSlot| (self.criticality(slot), Reverse(ages[slot.index()]));
        WarpSlot::each(candidates).max_by_key(rank).expect("there are candidates")
    }
}

impl WarpScheduler for Caws {
    fn pick(&mut self, candidates: u64, view: &WarpView) -> Option<WarpSlot> {
        let stays = self.gto.stays_with(candidates, view.scheduler);
        let pick = stays.unwrap_or_else(|| self.most_critical(candidates, view.ages));
        self.gto.stay_with(pick, view.scheduler);
        let warp = &mut self.warps[pick.index()];
        warp.issue(view.cycle, view.records_left[pick.index()]);
        let fewest = &mut self.fewest_left[warp.cta.index()];
        *fewest = warp.left.min(*fewest);
        Some(pick)
    }

    fn launched(&mut self, cta: &ResidentCta) {
        let first = cta.warps.first().map_or(WarpSlot(0), |&(slot, _)| slot);
        for &(slot, records) in cta.warps {
            self.warps[slot.index()] =
                Warp { cta: first, records, left: records, ..Warp::default() };
        }
        if let Some(fewest) = cta.warps.iter().map(|&(_, records)| records).min() {
            self.fewest_left[first.index()] = fewest;
        }
    }

    fn retired(&mut self, slot: WarpSlot) {
        self.gto.forget(slot);
    }
}

#[cfg(test)]
mod tests {
    use super::super::SchedulerId;
    use super::super::plain::{launch, pick, retire};
    use super::*;

    const ALL: u64 = 0b1111;
    const AGES: &[u64] = &[3, 2, 1, 0];

    fn caws() -> Caws {
        Caws::new(1)
    }

    /// Issues the warp in `slot` at each (cycle, records left).
    fn issue(caws: &mut Caws, slot: u16, issues: &[(u64, u32)]) {
        for &(cycle, left) in issues {
            let records_left = &[left; 4];
            let cycle = CoreCycle::new(cycle);
            let view = WarpView { cycle, ages: AGES, records_left, ..WarpView::default() };
            assert_eq!(pick(caws, 1 << slot, &view), Some(slot));
        }
    }

    /// Returns the most critical of `candidates`.
    fn most_critical(caws: &Caws, candidates: u64) -> u16 {
        caws.most_critical(candidates, AGES).0
    }

    #[test]
    fn criticality_is_the_time_for_the_remaining_records_plus_stalls() {
        let mut caws = caws();
        launch(&mut caws, 0, &[(0, 10), (1, 30)]);
        assert_eq!(
            [0, 1].map(|slot| caws.criticality(WarpSlot(slot))),
            [0, 0],
            "no pace before the first issue"
        );
        // Warp 0 issues in cycles 100, 101 and 109: 10 cycles, 7 of them stalls, 2 records begun: 5
        // cycles each.
        issue(&mut caws, 0, &[(100, 9), (101, 9), (109, 8)]);
        // Warp 1 issues in cycles 102 and 106: 5 cycles, 3 of them stalls, 2 records begun: 2.5
        // cycles each.
        issue(&mut caws, 1, &[(102, 29), (106, 28)]);
        // Warp 0 has the fewest left, 8; warp 1 has 20 more: 20 x 2.5 + 3.
        assert_eq!([0, 1].map(|slot| caws.criticality(WarpSlot(slot))), [7, 53]);
    }

    #[test]
    fn criticality_compares_warps_of_one_cta() {
        let mut caws = caws();
        launch(&mut caws, 0, &[(0, 50), (1, 50)]);
        launch(&mut caws, 1, &[(2, 10), (3, 12)]);
        for (slot, left) in [(0, 49), (1, 49), (2, 9), (3, 11)] {
            issue(&mut caws, slot, &[(5, left)]);
        }
        assert_eq!([0, 1, 2, 3].map(|slot| caws.criticality(WarpSlot(slot))), [0, 0, 0, 2]);
        assert_eq!(most_critical(&caws, ALL), 3);
    }

    #[test]
    fn the_most_critical_warp_issues_and_the_oldest_among_equals() {
        let mut caws = caws();
        launch(&mut caws, 0, &[(0, 9), (1, 9), (2, 9), (3, 9)]);
        assert_eq!(most_critical(&caws, 0b0011), 1, "before any issue, the oldest");
        for (slot, cycles) in [
            (0, &[(10, 8), (14, 8)][..]),
            (1, &[(10, 8), (12, 8)]),
            (2, &[(10, 8)]),
            (3, &[(10, 8)]),
        ] {
            issue(&mut caws, slot, cycles);
        }
        assert_eq!(
            [most_critical(&caws, ALL), most_critical(&caws, 0b1110), most_critical(&caws, 0b1100)],
            [0, 1, 3]
        );
    }

    #[test]
    fn issues_from_one_warp_until_it_stalls() {
        let mut caws = caws();
        launch(&mut caws, 0, &[(0, 9), (1, 99)]);
        let records_left = &[8, 98, 0, 0];
        let view = |cycle| WarpView {
            cycle: CoreCycle::new(cycle),
            ages: AGES,
            records_left,
            ..WarpView::default()
        };
        let mut pick = |cycle, candidates| pick(&mut caws, candidates, &view(cycle)).unwrap();
        assert_eq!([pick(1, 0b10), pick(2, 0b01)], [1, 0]);
        assert_eq!(pick(3, 0b11), 0, "greedy, though warp 1 has more records left");
        assert_eq!(pick(4, 0b10), 1);
        assert_eq!(pick(5, 0b11), 1);
    }

    #[test]
    fn a_launch_resets_the_criticality_of_a_slot() {
        let mut caws = caws();
        launch(&mut caws, 0, &[(0, 9), (1, 9)]);
        issue(&mut caws, 0, &[(1, 8), (50, 7)]);
        retire(&mut caws, 0);
        launch(&mut caws, 1, &[(0, 9)]);
        assert_eq!(
            (caws.criticality(WarpSlot(0)), caws.gto.stays_with(1, SchedulerId(0))),
            (0, None)
        );
    }
}
