//! Greedy then oldest.

use super::{SchedulerId, WarpEntry, WarpScheduler, WarpView};
use warpmem_params::PolicyInfo;
use warpmem_sim::WarpSlot;

const INFO: PolicyInfo = PolicyInfo {
    name: "gto",
    summary: "greedy then oldest: issues from one warp until it stalls, then from the oldest ready warp",
    source: "Rogers et al., MICRO 2012",
    params: Vec::new,
};

pub(super) const ENTRY: WarpEntry =
    WarpEntry { info: INFO, build: |context, _| Ok(Box::new(Gto::new(context.schedulers()))) };

/// Greedy-then-oldest order; other policies build on it.
pub(super) struct Gto {
    /// Warp that issued last, by scheduler; none once it retires.
    last: Vec<Option<WarpSlot>>,
}

impl Gto {
    pub(super) fn new(schedulers: usize) -> Gto {
        Gto { last: vec![None; schedulers] }
    }

    /// Picks one of the non-empty set `candidates`.
    pub(super) fn choose(&mut self, candidates: u64, view: &WarpView) -> WarpSlot {
        let stays = self.stays_with(candidates, view.scheduler);
        let pick = stays.unwrap_or_else(|| oldest(candidates, view.ages));
        self.stay_with(pick, view.scheduler);
        pick
    }

    /// Returns the scheduler's current warp if it is one of `candidates`.
    pub(super) fn stays_with(&self, candidates: u64, scheduler: SchedulerId) -> Option<WarpSlot> {
        self.last[scheduler.index()].filter(|last| last.is_in(candidates))
    }

    /// Makes the warp in `slot` the scheduler's current warp.
    pub(super) fn stay_with(&mut self, slot: WarpSlot, scheduler: SchedulerId) {
        self.last[scheduler.index()] = Some(slot);
    }

    /// Drops the warp in `slot` as the current warp of any scheduler.
    pub(super) fn forget(&mut self, slot: WarpSlot) {
        self.last.iter_mut().filter(|last| **last == Some(slot)).for_each(|last| *last = None);
    }
}

impl WarpScheduler for Gto {
    fn pick(&mut self, candidates: u64, view: &WarpView) -> Option<WarpSlot> {
        Some(self.choose(candidates, view))
    }

    fn retired(&mut self, slot: WarpSlot) {
        self.forget(slot);
    }
}

/// Returns the oldest of the non-empty set `candidates`.
pub(super) fn oldest(candidates: u64, ages: &[u64]) -> WarpSlot {
    let mut best = WarpSlot::lowest(candidates);
    for slot in WarpSlot::each(candidates & (candidates - 1)) {
        if ages[slot.index()] < ages[best.index()] {
            best = slot;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::super::plain::{pick, retire};
    use super::*;

    fn view(ages: &[u64]) -> WarpView<'_> {
        WarpView { ages, ..WarpView::default() }
    }

    #[test]
    fn issues_greedily_until_a_stall_then_from_the_oldest_warp() {
        let mut gto = Gto::new(1);
        let mut pick = |candidates| pick(&mut gto, candidates, &view(&[7, 3, 9, 1]));
        assert_eq!(pick(0b0111), Some(1), "the oldest of three");
        assert_eq!(pick(0b1111), Some(1), "greedy, though slot 3 is older");
        assert_eq!(pick(0b0101), Some(0), "slot 1 stalls");
        assert_eq!(pick(0b1101), Some(0));
    }

    #[test]
    fn each_scheduler_is_greedy_for_its_own_warp() {
        let mut gto = Gto::new(2);
        let ages = [4, 3, 2, 1];
        let mut pick = |scheduler, candidates| {
            let scheduler = SchedulerId(scheduler);
            pick(&mut gto, candidates, &WarpView { scheduler, ..view(&ages) })
        };
        assert_eq!([pick(0, 0b0001), pick(1, 0b0010)], [Some(0), Some(1)]);
        assert_eq!([pick(0, 0b0101), pick(1, 0b1010)], [Some(0), Some(1)]);
    }

    #[test]
    fn greediness_ends_when_the_warp_retires() {
        let mut gto = Gto { last: vec![Some(WarpSlot(0))] };
        retire(&mut gto, 0);
        assert_eq!(pick(&mut gto, 0b11, &view(&[9, 4])), Some(1));
    }

    #[test]
    fn the_oldest_warp_issues_once_the_greedy_warp_stalls() {
        let mut gto = Gto { last: vec![Some(WarpSlot(2))] };
        assert_eq!(pick(&mut gto, 0b111, &view(&[5, 1, 7])), Some(2));
        assert_eq!(pick(&mut gto, 0b011, &view(&[5, 1, 7])), Some(1));
    }
}
