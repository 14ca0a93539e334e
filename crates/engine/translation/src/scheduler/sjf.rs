//! Shortest job first: without batching and aging.

use super::{WalkEntry, WalkScheduler, WalkView};
use warpmem_params::PolicyInfo;

const INFO: PolicyInfo = PolicyInfo {
    name: "sjf",
    summary: "the instruction whose pending walks need the fewest loads",
    source: "Shin et al., ISCA 2018",
    params: Vec::new,
};

pub(super) const ENTRY: WalkEntry = WalkEntry { info: INFO, build: |_, _| Ok(Box::new(Sjf)) };

struct Sjf;

impl WalkScheduler for Sjf {
    fn choose(&mut self, view: &WalkView) -> usize {
        view.shortest()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::choice;

    #[test]
    fn the_shortest_instruction_goes_first_and_the_oldest_among_equals() {
        assert_eq!(choice("sjf", 1, &[(1, 0, 4, 0), (2, 0, 3, 0), (1, 0, 4, 0), (3, 0, 3, 0)]), 1);
    }
}
