//! Oldest instruction first.

use super::{WalkEntry, WalkScheduler, WalkView};
use warpmem_params::PolicyInfo;

const INFO: PolicyInfo = PolicyInfo {
    name: "warp-oldest",
    summary: "the instruction that was issued first",
    source: "a reference",
    params: Vec::new,
};

pub(super) const ENTRY: WalkEntry =
    WalkEntry { info: INFO, build: |_, _| Ok(Box::new(WarpOldest)) };

struct WarpOldest;

impl WalkScheduler for WarpOldest {
    fn choose(&mut self, view: &WalkView) -> usize {
        let oldest = (0..view.pending.len()).min_by_key(|&at| view.pending[at].issued);
        oldest.expect("a walk is pending")
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::choice;

    #[test]
    fn the_oldest_instruction_goes_first() {
        let walks = [(1, 7, 1, 0), (2, 5, 4, 0), (3, 5, 1, 0)];
        assert_eq!(choice("warp-oldest", 1, &walks), 1);
    }
}
