//! iSLIP: turns that only move on when a choice comes about, so that outputs fall out of step.

use super::{Allocator, AllocatorEntry, Choice, first_from};
use crate::registry::{ParamInfo, PolicyInfo};
use serde::Deserialize;

const INFO: PolicyInfo = PolicyInfo {
    name: "islip",
    summary: "each takes its candidates in turn, beginning behind the last one that it was matched with in a first iteration",
    source: "McKeown, IEEE/ACM Trans. Networking 1999",
    params: &[ParamInfo {
        name: "iterations",
        default: "1",
        unit: "iterations",
        range: "1 to 16",
        summary: "times that what is still free is matched in a cycle",
    }],
};

pub(super) const ENTRY: AllocatorEntry = AllocatorEntry {
    info: INFO,
    build: |context, params| {
        let Parameters { iterations } = params.parse(&INFO)?;
        INFO.require((1..=16).contains(&iterations), "`iterations` out of range")?;
        Ok(Box::new(Islip { iterations, next: vec![0; context.choosers] }) as _)
    },
};

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Parameters {
    iterations: u32,
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters { iterations: 1 }
    }
}

struct Islip {
    iterations: u32,
    /// By chooser, the candidate that has its turn first.
    next: Vec<u32>,
}

impl Allocator for Islip {
    fn iterations(&self) -> u32 {
        self.iterations
    }

    fn choose(&mut self, choice: &Choice) -> usize {
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
    use super::*;

    fn choose(islip: &mut Islip, set: &[u64]) -> usize {
        islip.choose(&Choice { chooser: 0, set, since: &|_| 0 })
    }

    #[test]
    fn turns_move_on_only_when_a_first_choice_is_accepted() {
        let mut islip = Islip { iterations: 2, next: vec![0; 2] };
        let set = [1 << 1 | 1 << 63, 1];
        assert_eq!([choose(&mut islip, &set), choose(&mut islip, &set)], [1, 1]);
        islip.accepted(0, 1, 1);
        islip.accepted(1, 7, 0);
        assert_eq!(
            choose(&mut islip, &set),
            1,
            "a later iteration and another's turn change nothing"
        );
        islip.accepted(0, 1, 0);
        assert_eq!(choose(&mut islip, &set), 63);
        islip.accepted(0, 63, 0);
        assert_eq!(choose(&mut islip, &set), 64);
        islip.accepted(0, 64, 0);
        assert_eq!(choose(&mut islip, &set), 1, "the last wraps around");
    }
}
