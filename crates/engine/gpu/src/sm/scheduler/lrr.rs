//! Loose round robin.

use super::{WarpEntry, WarpScheduler, WarpView, first_from};
use warpmem_params::PolicyInfo;
use warpmem_sim::WarpSlot;

const INFO: PolicyInfo = PolicyInfo {
    name: "lrr",
    summary: "loose round robin: the next ready warp after the last to issue",
    source: "common GPU baseline",
    params: Vec::new,
};

pub(super) const ENTRY: WarpEntry =
    WarpEntry { info: INFO, build: |context, _| Ok(Box::new(Lrr::new(context.schedulers()))) };

struct Lrr {
    /// Slot that issued last, by scheduler.
    last: Vec<WarpSlot>,
}

impl Lrr {
    fn new(schedulers: usize) -> Lrr {
        Lrr { last: vec![WarpSlot(63); schedulers] }
    }
}

impl WarpScheduler for Lrr {
    fn pick(&mut self, candidates: u64, view: &WarpView) -> Option<WarpSlot> {
        let last = &mut self.last[view.scheduler.index()];
        *last = next_round_robin(candidates, *last);
        Some(*last)
    }
}

/// Returns the first of the non-empty set `candidates` after the slot `last`, wrapping around.
pub(super) fn next_round_robin(candidates: u64, last: WarpSlot) -> WarpSlot {
    first_from(candidates, WarpSlot(last.0 + 1))
}

#[cfg(test)]
mod tests {
    use super::super::SchedulerId;
    use super::super::plain::pick;
    use super::*;

    #[test]
    fn skips_warps_that_are_not_ready() {
        let mut lrr = Lrr::new(1);
        let order: Vec<_> = [0b1011, 0b1011, 0b1011, 0b1011, 0b0100]
            .into_iter()
            .filter_map(|candidates| pick(&mut lrr, candidates, &WarpView::default()))
            .collect();
        assert_eq!(order, [0, 1, 3, 0, 2]);
    }

    #[test]
    fn each_scheduler_has_its_own_round_robin_pointer() {
        let mut lrr = Lrr::new(2);
        let mut pick = |scheduler| {
            pick(
                &mut lrr,
                0b1111,
                &WarpView { scheduler: SchedulerId(scheduler), ..WarpView::default() },
            )
        };
        assert_eq!([pick(0), pick(0), pick(1), pick(0)], [Some(0), Some(1), Some(0), Some(2)]);
    }

    #[test]
    fn no_warp_starves() {
        let mut lrr = Lrr::new(1);
        let mut pick = || pick(&mut lrr, u64::MAX, &WarpView::default()).unwrap();
        let issued = (0..64).fold(0u64, |seen, _| seen | 1 << pick());
        assert_eq!(issued, u64::MAX);
    }
}
