//! SIMT-aware scheduling of page walks.

use super::{WalkEntry, WalkScheduler, WalkView};
use warpmem_params::{PolicyInfo, params};

const INFO: PolicyInfo = PolicyInfo {
    name: "simt-aware",
    summary: "walks of the instruction served last, then the instruction whose walks need the fewest loads",
    source: "Shin et al., ISCA 2018",
    params: Params::params,
};

params! {
    struct Params {
        /// younger walks that may start before a walk
        aging: u32 = 2_000_000, in 1.., unit "walks";
    }
}

pub(super) const ENTRY: WalkEntry = WalkEntry {
    info: INFO,
    build: |_, params| {
        let Params { aging } = params.read();
        Ok(Box::new(SimtAware { aging }))
    },
};

/// The rules of section IV: a walk that has been overtaken too often, then one of the instruction
/// whose walk has started last, then one of the instruction with the lowest score.
struct SimtAware {
    /// Younger walks that may start before a walk.
    aging: u32,
}

impl WalkScheduler for SimtAware {
    fn choose(&mut self, view: &WalkView) -> usize {
        let aged = view.pending.iter().position(|walk| walk.overtaken >= self.aging);
        let batched = || view.pending.iter().position(|walk| Some(walk.instruction) == view.last);
        aged.or_else(batched).unwrap_or_else(|| view.shortest())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::choice;

    #[test]
    fn walks_of_one_instruction_start_together() {
        let walks = [(1, 0, 1, 0), (2, 0, 4, 0), (2, 0, 4, 0)];
        assert_eq!(choice("simt-aware", 2, &walks), 1);
        assert_eq!(choice("simt-aware", 9, &walks), 0);
        assert_eq!(choice("sjf", 2, &walks), 0);
    }

    #[test]
    fn a_walk_that_has_been_overtaken_too_often_goes_first() {
        let walks = [(1, 0, 4, 3), (2, 0, 1, 0), (3, 0, 1, 0)];
        assert_eq!(choice("simt-aware(aging=3)", 3, &walks), 0);
        assert_eq!(choice("simt-aware(aging=4)", 3, &walks), 2);
        assert_eq!(choice("simt-aware(aging=4)", 9, &walks), 1);
    }
}
