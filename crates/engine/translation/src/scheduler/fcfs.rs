//! First come, first served.

use super::{WalkEntry, WalkScheduler, WalkView};
use warpmem_params::PolicyInfo;

const INFO: PolicyInfo = PolicyInfo {
    name: "fcfs",
    summary: "first come, first served",
    source: "a reference",
    params: Vec::new,
};

pub(super) const ENTRY: WalkEntry = WalkEntry { info: INFO, build: |_, _| Ok(Box::new(Fcfs)) };

struct Fcfs;

impl WalkScheduler for Fcfs {
    fn choose(&mut self, _: &WalkView) -> usize {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::choice;

    #[test]
    fn the_first_walk_goes_first() {
        assert_eq!(choice("fcfs", 2, &[(1, 9, 4, 5), (2, 1, 1, 9)]), 0);
    }
}
