//! Greedy then oldest.

use super::{WarpEntry, WarpScheduler, WarpView};
use crate::registry::PolicyInfo;

const INFO: PolicyInfo = PolicyInfo {
    name: "gto",
    summary: "greedy then oldest: stay with the warp until it stalls, then the oldest ready warp",
    source: "Rogers et al., MICRO 2012",
    params: &[],
};

pub(super) const ENTRY: WarpEntry = WarpEntry {
    info: INFO,
    build: |_, params| params.none(&INFO).map(|()| Box::new(Gto { last: None }) as _),
};

struct Gto {
    /// The warp to stay with, while it lives.
    last: Option<u32>,
}

impl WarpScheduler for Gto {
    fn pick(&mut self, candidates: u64, view: &WarpView) -> u32 {
        let pick = match self.last {
            Some(last) if candidates >> last & 1 == 1 => last,
            _ => oldest(candidates, view.ages),
        };
        self.last = Some(pick);
        pick
    }

    fn retired(&mut self, slot: u32) {
        if self.last == Some(slot) {
            self.last = None;
        }
    }
}

/// The oldest of `candidates`, which must not be empty.
fn oldest(candidates: u64, ages: &[u64]) -> u32 {
    let mut best = candidates.trailing_zeros();
    let mut rest = candidates & (candidates - 1);
    while rest != 0 {
        let slot = rest.trailing_zeros();
        if ages[slot as usize] < ages[best as usize] {
            best = slot;
        }
        rest &= rest - 1;
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stays_until_the_warp_stalls_then_takes_the_oldest() {
        let mut gto = Gto { last: None };
        let ages = [7, 3, 9, 1];
        let view = WarpView { ages: &ages };
        let mut pick = |candidates| gto.pick(candidates, &view);
        assert_eq!(pick(0b0111), 1, "the oldest of three");
        assert_eq!(pick(0b1111), 1, "greedy, though slot 3 is older");
        assert_eq!(pick(0b0101), 0, "stalled: the oldest of the others");
        assert_eq!(pick(0b1101), 0);
    }

    #[test]
    fn is_not_greedy_for_the_next_warp_in_the_same_slot() {
        let mut gto = Gto { last: Some(0) };
        gto.retired(0);
        assert_eq!(gto.pick(0b11, &WarpView { ages: &[9, 4] }), 1);
    }

    #[test]
    fn the_oldest_warp_is_never_passed_over_for_ever() {
        let mut gto = Gto { last: Some(2) };
        let ages = [5, 1, 7];
        assert_eq!(gto.pick(0b111, &WarpView { ages: &ages }), 2);
        assert_eq!(gto.pick(0b011, &WarpView { ages: &ages }), 1);
    }
}
