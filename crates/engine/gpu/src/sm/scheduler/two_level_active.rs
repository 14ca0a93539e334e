//! Two-level scheduling with an active set: round robin over a few active warps, the others
//! pending.

use super::lrr::next_round_robin;
use super::{Counter, WarpEntry, WarpScheduler, WarpView};
use warpmem_params::{PolicyInfo, params};
use warpmem_sim::{CoreCycle, WarpSlot};

const INFO: PolicyInfo = PolicyInfo {
    name: "two-level-active",
    summary: "round robin over a few active warps; an active warp that waits for memory or at a barrier is replaced",
    source: "Gebhart et al., ISCA 2011",
    params: Params::params,
};

params! {
    struct Params {
        /// active warps of each scheduler
        warps: u32 = 8, in 1.., unit "warps";
    }
}

pub(super) const ENTRY: WarpEntry = WarpEntry {
    info: INFO,
    build: |context, params| {
        let Params { warps } = params.read();
        Ok(Box::new(TwoLevelActive::new(warps, context.schedulers())) as _)
    },
};

struct TwoLevelActive {
    warps: u32,
    /// By scheduler.
    active: Vec<Active>,
    promotions: u64,
}

/// The active warps of a scheduler.
#[derive(Clone, Copy)]
struct Active {
    warps: u64,
    /// Cycle and slot of the last issue.
    cycle: CoreCycle,
    last: WarpSlot,
}

impl TwoLevelActive {
    fn new(warps: u32, schedulers: usize) -> TwoLevelActive {
        let active =
            vec![Active { warps: 0, cycle: CoreCycle::ZERO, last: WarpSlot(63) }; schedulers];
        TwoLevelActive { warps, active, promotions: 0 }
    }

    /// Returns the current active set: the warps of the stored set that have not waited since the
    /// last issue, refilled with the warps awake longest. The set is stored only at an issue. A
    /// warp begins to wait only by issuing, so until then no active warp drops out and the order
    /// of the pending warps is constant.
    fn active(&self, view: &WarpView) -> u64 {
        let Active { warps, cycle, .. } = self.active[view.scheduler.index()];
        let awake = view.awake();
        let stayed = |&slot: &WarpSlot| view.awake_since[slot.index()] <= cycle;
        let mut active =
            WarpSlot::each(warps & awake).filter(stayed).fold(0, |set, slot| set | slot.bit());
        let mut pending = awake & !active;
        while pending != 0 && active.count_ones() < self.warps {
            let first = longest_awake(pending, view);
            active |= first.bit();
            pending &= !first.bit();
        }
        active
    }
}

/// Returns the warp awake longest; among equals, the oldest.
fn longest_awake(warps: u64, view: &WarpView) -> WarpSlot {
    let order = |&slot: &WarpSlot| (view.awake_since[slot.index()], view.ages[slot.index()]);
    WarpSlot::each(warps).min_by_key(order).expect("there are warps")
}

impl WarpScheduler for TwoLevelActive {
    fn pick(&mut self, candidates: u64, view: &WarpView) -> Option<WarpSlot> {
        let active = self.active(view);
        let candidates = candidates & active;
        if candidates == 0 {
            return None;
        }
        let own = &mut self.active[view.scheduler.index()];
        let slot = next_round_robin(candidates, own.last);
        self.promotions += u64::from((active & !own.warps).count_ones());
        *own = Active { warps: active, cycle: view.cycle, last: slot };
        Some(slot)
    }

    fn counters(&self) -> Vec<Counter> {
        vec![Counter { name: "promotions", value: self.promotions }]
    }
}

#[cfg(test)]
mod tests {
    use super::super::plain::pick;
    use super::*;

    /// One scheduler with a few warps, each with its age and the cycle since which it is awake.
    struct Warps {
        policy: TwoLevelActive,
        ages: Vec<u64>,
        since: Vec<CoreCycle>,
    }

    impl Warps {
        fn new(active: u32, ages: &[u64]) -> Warps {
            let since = vec![CoreCycle::ZERO; ages.len()];
            Warps { policy: TwoLevelActive::new(active, 1), ages: ages.to_vec(), since }
        }

        /// Picks a warp while the warps in `waiting` wait for memory and, of the others, those in
        /// `ready` can issue.
        fn pick(&mut self, cycle: u64, waiting: u64, ready: u64) -> Option<u16> {
            let (own, present) = (u64::MAX, (1 << self.ages.len()) - 1);
            let (ages, awake_since) = (&self.ages[..], &self.since[..]);
            let cycle = CoreCycle::new(cycle);
            let view =
                WarpView { cycle, own, present, waiting, ages, awake_since, ..WarpView::default() };
            pick(&mut self.policy, view.awake() & ready, &view)
        }
    }

    fn cycles(numbers: &[u64]) -> Vec<CoreCycle> {
        numbers.iter().map(|&number| CoreCycle::new(number)).collect()
    }

    const ALL: u64 = u64::MAX;

    #[test]
    fn only_active_warps_issue_round_robin() {
        let mut warps = Warps::new(2, &[0, 1, 2, 3]);
        let order: Vec<_> = (0..3).map(|cycle| warps.pick(cycle, 0, ALL)).collect();
        assert_eq!(order, [0, 1, 0].map(Some));
        assert_eq!(
            warps.pick(3, 0, 0b1100),
            None,
            "active warps that do not wait keep their entries"
        );
        assert_eq!(warps.policy.counters()[0].value, 2);
    }

    #[test]
    fn the_oldest_warps_become_active_first() {
        let mut warps = Warps::new(2, &[3, 0, 2, 1]);
        let order: Vec<_> = (0..3).map(|cycle| warps.pick(cycle, 0, ALL)).collect();
        assert_eq!(order, [1, 3, 1].map(Some));
    }

    #[test]
    fn a_waiting_warp_is_replaced_by_the_warp_awake_longest() {
        let mut warps = Warps::new(2, &[0, 1, 2, 3]);
        warps.since = cycles(&[0, 0, 9, 8]);
        assert_eq!(warps.pick(10, 0, 0b01), Some(0));
        assert_eq!(warps.pick(11, 0b01, 0b1100), Some(3), "awake since cycle 8");
        warps.since[0] = CoreCycle::new(12);
        assert_eq!(warps.pick(12, 0, 0b0101), None, "slot 0 is back but pending");
        assert_eq!(
            warps.pick(13, 0b10, 0b0101),
            Some(2),
            "slot 2 has been awake longer than slot 0"
        );
        assert_eq!(warps.pick(14, 0b1010, 0b0001), Some(0));
    }

    #[test]
    fn a_warp_that_waited_since_the_last_issue_is_no_longer_active() {
        let mut warps = Warps::new(1, &[0, 1]);
        assert_eq!(warps.pick(10, 0, ALL), Some(0));
        warps.since = cycles(&[30, 0]);
        assert_eq!(warps.pick(30, 0, ALL), Some(1));
    }

    #[test]
    fn barriers_and_trace_ends_free_an_active_entry() {
        let view = |at_barrier, at_end| WarpView {
            own: 0b111,
            present: 0b111,
            at_barrier,
            at_end,
            ages: &[0, 1, 2],
            awake_since: &[CoreCycle::ZERO; 3],
            ..WarpView::default()
        };
        let mut policy = TwoLevelActive::new(1, 1);
        assert_eq!(pick(&mut policy, 0b111, &view(0, 0)), Some(0));
        assert_eq!(pick(&mut policy, 0b110, &view(0b001, 0)), Some(1));
        assert_eq!(pick(&mut policy, 0b100, &view(0b001, 0b010)), Some(2));
    }

    #[test]
    fn none_leaves_the_active_set_unchanged() {
        let mut asked = Warps::new(2, &[0, 1, 2]);
        let mut not_asked = Warps::new(2, &[0, 1, 2]);
        for warps in [&mut asked, &mut not_asked] {
            assert_eq!(warps.pick(5, 0b110, ALL), Some(0));
        }
        asked.since[2] = CoreCycle::new(6);
        assert_eq!(asked.pick(6, 0b011, 0), None);
        for warps in [&mut asked, &mut not_asked] {
            warps.since = cycles(&[0, 7, 6]);
            assert_eq!(warps.pick(7, 0b001, 0b010), Some(1));
        }
        assert_eq!(asked.policy.counters()[0].value, not_asked.policy.counters()[0].value);
    }

    #[test]
    fn no_warp_starves_as_the_others_begin_to_wait() {
        let mut warps = Warps::new(2, &[0, 1, 2, 3, 4, 5]);
        let mut served = 0u64;
        for cycle in 1..=6 {
            // The issuing warp waits for a cycle and loses its entry.
            let slot = warps.pick(cycle, 0, ALL).unwrap();
            served |= 1 << slot;
            warps.since[usize::from(slot)] = CoreCycle::new(cycle + 1);
        }
        assert_eq!(served, 0b11_1111);
    }
}
