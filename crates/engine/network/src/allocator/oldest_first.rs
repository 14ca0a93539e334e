//! Oldest first: the packet that has been in the network longest.

use super::{Allocator, AllocatorEntry, CandidateSet, Parameters, oldest};
use warpmem_params::PolicyInfo;

const INFO: PolicyInfo = PolicyInfo {
    name: "oldest-first",
    summary: "each takes the candidate with the oldest packet in the network",
    source: "a reference",
    params: Parameters::params,
};

pub(super) const ENTRY: AllocatorEntry = AllocatorEntry {
    info: INFO,
    build: |_, params| {
        let Parameters { iterations } = params.read();
        Ok(Box::new(OldestFirst { iterations }) as _)
    },
};

struct OldestFirst {
    iterations: u32,
}

impl Allocator for OldestFirst {
    fn iterations(&self) -> u32 {
        self.iterations
    }

    fn choose(&mut self, choice: &CandidateSet) -> usize {
        oldest(choice.set, choice.since)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::build;
    use crate::allocator::CandidateSet;
    use warpmem_sim::NetworkCycle;

    #[test]
    fn the_first_of_the_oldest_is_chosen() {
        let mut allocator = build("oldest-first", 1);
        let since = |candidate| NetworkCycle::new([30, 20, 10, 10][candidate % 64 % 4]);
        let mut choose =
            |set: &[u64]| allocator.choose(&CandidateSet { chooser: 0, set, since: &since });
        assert_eq!(choose(&[0b0111, 0]), 2);
        assert_eq!(choose(&[0b1011, 0b0100]), 3);
        assert_eq!(choose(&[0b0001, 0b0010]), 65);
        assert_eq!(choose(&[0b0001, 0b0010]), 65, "no pointer has advanced");
    }
}
