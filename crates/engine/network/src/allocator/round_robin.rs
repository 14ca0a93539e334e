//! Round robin: the pointer advances with every choice, even if it is not accepted.

use super::{Allocator, AllocatorEntry, CandidateSet, Parameters, first_from};
use warpmem_params::PolicyInfo;

const INFO: PolicyInfo = PolicyInfo {
    name: "round-robin",
    summary: "each takes its candidates in round-robin order, starting after its last choice",
    source: "the textbook rule that islip improves on",
    params: Parameters::params,
};

pub(super) const ENTRY: AllocatorEntry = AllocatorEntry {
    info: INFO,
    build: |context, params| {
        let Parameters { iterations } = params.read();
        Ok(Box::new(RoundRobin { iterations, next: vec![0; context.choosers] }) as _)
    },
};

struct RoundRobin {
    iterations: u32,
    /// Candidate with the highest priority, by chooser.
    next: Vec<u32>,
}

impl Allocator for RoundRobin {
    fn iterations(&self) -> u32 {
        self.iterations
    }

    fn choose(&mut self, choice: &CandidateSet) -> usize {
        let next = &mut self.next[choice.chooser];
        let chosen = first_from(choice.set, *next as usize);
        *next = chosen as u32 + 1;
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Switch, build, choose};

    #[test]
    fn pointers_advance_with_every_choice() {
        let mut allocator = build("round-robin", 2);
        let set = [1 << 1 | 1 << 63, 1];
        let order: Vec<usize> = (0..5).map(|_| choose(&mut *allocator, 0, &set)).collect();
        assert_eq!(order, [1, 63, 64, 1, 63]);
        assert_eq!(choose(&mut *allocator, 1, &set), 1, "each has its own pointer");
    }

    #[test]
    fn inputs_stay_in_step_and_choose_the_same_output() {
        assert_eq!(Switch::new(16, "round-robin").matched_of_full(100), 1.0 / 16.0);
    }
}
