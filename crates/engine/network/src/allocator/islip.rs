//! iSLIP: a pointer advances only when its choice is accepted, which desynchronises the pointers of
//! the outputs.

use super::{Allocator, AllocatorEntry, CandidateSet, Parameters, first_from};
use warpmem_params::PolicyInfo;

const INFO: PolicyInfo = PolicyInfo {
    name: "islip",
    summary: "round robin, starting after the candidate last matched in a first iteration",
    source: "McKeown, IEEE/ACM Trans. Networking 1999",
    params: Parameters::params,
};

pub(super) const ENTRY: AllocatorEntry = AllocatorEntry {
    info: INFO,
    build: |context, params| {
        let Parameters { iterations } = params.read();
        Ok(Box::new(Islip { iterations, next: vec![0; context.choosers] }) as _)
    },
};

struct Islip {
    iterations: u32,
    /// Candidate with the highest priority, by chooser.
    next: Vec<u32>,
}

impl Allocator for Islip {
    fn iterations(&self) -> u32 {
        self.iterations
    }

    fn choose(&mut self, choice: &CandidateSet) -> usize {
        first_from(choice.set, self.next[choice.chooser] as usize)
    }

    fn accepted(&mut self, chooser: usize, chosen: usize, iteration: u32) {
        if iteration == 0 {
            self.next[chooser] = chosen as u32 + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::choose;
    use super::*;

    #[test]
    fn pointers_advance_only_when_a_first_choice_is_accepted() {
        let mut islip = Islip { iterations: 2, next: vec![0; 2] };
        let set = [1 << 1 | 1 << 63, 1];
        assert_eq!([choose(&mut islip, 0, &set), choose(&mut islip, 0, &set)], [1, 1]);
        islip.accepted(0, 1, 1);
        islip.accepted(1, 7, 0);
        assert_eq!(
            choose(&mut islip, 0, &set),
            1,
            "a later iteration and another chooser change nothing"
        );
        islip.accepted(0, 1, 0);
        assert_eq!(choose(&mut islip, 0, &set), 63);
        islip.accepted(0, 63, 0);
        assert_eq!(choose(&mut islip, 0, &set), 64);
        islip.accepted(0, 64, 0);
        assert_eq!(choose(&mut islip, 0, &set), 1, "the last wraps around");
    }
}
