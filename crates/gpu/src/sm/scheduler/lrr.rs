//! Loose round robin.

use super::{WarpEntry, WarpScheduler, WarpView};
use warpmem_params::PolicyInfo;

const INFO: PolicyInfo = PolicyInfo {
    name: "lrr",
    summary: "loose round robin: the next ready warp after the last issued",
    source: "common GPU baseline",
    params: Vec::new,
};

pub(super) const ENTRY: WarpEntry = WarpEntry {
    info: INFO,
    build: |context, params| {
        params.none(&INFO).map(|()| Box::new(Lrr::new(context.schedulers())) as _)
    },
};

struct Lrr {
    /// The slot that issued last, of each scheduler.
    last: Vec<u32>,
}

impl Lrr {
    fn new(schedulers: usize) -> Lrr {
        Lrr { last: vec![63; schedulers] }
    }
}

impl WarpScheduler for Lrr {
    fn pick(&mut self, candidates: u64, view: &WarpView) -> Option<u32> {
        let last = &mut self.last[view.scheduler];
        *last = next_in_turn(candidates, *last);
        Some(*last)
    }
}

/// The first of `candidates`, which must not be empty, behind the slot `last`, in turn.
pub(super) fn next_in_turn(candidates: u64, last: u32) -> u32 {
    let after_last = last + 1;
    (candidates.rotate_right(after_last).trailing_zeros() + after_last) % 64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_turns_and_passes_over_those_not_ready() {
        let mut lrr = Lrr::new(1);
        let order: Vec<_> = [0b1011, 0b1011, 0b1011, 0b1011, 0b0100]
            .into_iter()
            .filter_map(|candidates| lrr.pick(candidates, &WarpView::default()))
            .collect();
        assert_eq!(order, [0, 1, 3, 0, 2]);
    }

    #[test]
    fn each_scheduler_has_its_own_turns() {
        let mut lrr = Lrr::new(2);
        let mut pick = |scheduler| lrr.pick(0b1111, &WarpView { scheduler, ..WarpView::default() });
        assert_eq!([pick(0), pick(0), pick(1), pick(0)], [Some(0), Some(1), Some(0), Some(2)]);
    }

    #[test]
    fn no_warp_starves() {
        let mut lrr = Lrr::new(1);
        let mut pick = || lrr.pick(u64::MAX, &WarpView::default()).unwrap();
        let issued = (0..64).fold(0u64, |seen, _| seen | 1 << pick());
        assert_eq!(issued, u64::MAX);
    }
}
