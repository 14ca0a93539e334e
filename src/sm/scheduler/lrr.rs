//! Loose round robin.

use super::{WarpEntry, WarpScheduler, WarpView};
use crate::registry::PolicyInfo;

const INFO: PolicyInfo = PolicyInfo {
    name: "lrr",
    summary: "loose round robin: the next ready warp after the last issued",
    source: "common GPU baseline",
    params: &[],
};

pub(super) const ENTRY: WarpEntry = WarpEntry {
    info: INFO,
    build: |_, params| params.none(&INFO).map(|()| Box::new(Lrr { last: 63 }) as _),
};

struct Lrr {
    last: u32,
}

impl WarpScheduler for Lrr {
    fn pick(&mut self, candidates: u64, _: &WarpView) -> u32 {
        let after_last = self.last + 1;
        self.last = (candidates.rotate_right(after_last).trailing_zeros() + after_last) % 64;
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_turns_and_passes_over_those_not_ready() {
        let mut lrr = Lrr { last: 63 };
        let view = WarpView { ages: &[] };
        let order: Vec<u32> = [0b1011, 0b1011, 0b1011, 0b1011, 0b0100]
            .into_iter()
            .map(|candidates| lrr.pick(candidates, &view))
            .collect();
        assert_eq!(order, [0, 1, 3, 0, 2]);
    }

    #[test]
    fn no_warp_starves() {
        let mut lrr = Lrr { last: 63 };
        let view = WarpView { ages: &[] };
        let issued = (0..64).fold(0u64, |seen, _| seen | 1 << lrr.pick(u64::MAX, &view));
        assert_eq!(issued, u64::MAX);
    }
}
