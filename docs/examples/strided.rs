//! `strided`: round robin with a stride.

use super::{WarpEntry, WarpScheduler, WarpView, first_from};
use warpmem_params::{PolicyInfo, params};
use warpmem_sim::WarpSlot;

const INFO: PolicyInfo = PolicyInfo {
    name: "strided",
    summary: "round robin that advances by a stride after each issue",
    source: "an example",
    params: Params::params,
};

params! {
    struct Params {
        /// distance from the last issued warp to the first candidate
        stride: u32 = 2, in 1..=63, unit "warp slots";
    }
}

pub(super) const ENTRY: WarpEntry = WarpEntry {
    info: INFO,
    build: |context, params| {
        let Params { stride } = params.read();
        let next = vec![WarpSlot(0); context.schedulers()];
        Ok(Box::new(Strided { stride: stride as usize, next }) as _)
    },
};

struct Strided {
    stride: usize,
    /// First slot of the search, by scheduler.
    next: Vec<WarpSlot>,
}

impl WarpScheduler for Strided {
    fn pick(&mut self, candidates: u64, view: &WarpView) -> Option<WarpSlot> {
        let next = &mut self.next[view.scheduler.index()];
        let pick = first_from(candidates, *next);
        *next = WarpSlot::new((pick.index() + self.stride) % 64);
        Some(pick)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advances_by_the_stride() {
        let mut strided = Strided { stride: 2, next: vec![WarpSlot(0)] };
        let view = WarpView::default();
        let order: Vec<_> = (0..4).filter_map(|_| strided.pick(0b1_1111, &view)).collect();
        assert_eq!(order, [0, 2, 4, 0].map(WarpSlot));
    }
}
