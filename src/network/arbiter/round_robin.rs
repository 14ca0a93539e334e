//! Round robin: fair to all inputs.

use super::{Arbiter, ArbiterEntry, Inputs};
use crate::registry::PolicyInfo;

const INFO: PolicyInfo = PolicyInfo {
    name: "round-robin",
    summary: "each output takes its inputs in turn, starting after the last one granted",
    source: "Yuan et al., MICRO 2009 (baseline)",
    params: &[],
};

pub(super) const ENTRY: ArbiterEntry = ArbiterEntry {
    info: INFO,
    build: |context, params| {
        params.none(&INFO).map(|()| Box::new(RoundRobin { next: vec![0; context.outputs] }) as _)
    },
};

struct RoundRobin {
    /// Per output, the input that has its turn first.
    next: Vec<u32>,
}

impl Arbiter for RoundRobin {
    fn pick(&mut self, output: usize, wanting: &Inputs) -> usize {
        let first = self.next[output] as usize;
        let pick = first_from(wanting, first).or_else(|| first_from(wanting, 0));
        let pick = pick.expect("some input wants the output");
        self.next[output] = pick as u32 + 1;
        pick
    }
}

/// The first input of the set from `first` on.
fn first_from(set: &Inputs, first: usize) -> Option<usize> {
    (first / 64..set.len()).find_map(|word| {
        let below = if word == first / 64 { (1u64 << (first % 64)) - 1 } else { 0 };
        let bits = set[word] & !below;
        (bits != 0).then(|| word * 64 + bits.trailing_zeros() as usize)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(inputs: &[usize]) -> Inputs {
        let mut set = [0; 4];
        for input in inputs {
            set[input / 64] |= 1 << (input % 64);
        }
        set
    }

    #[test]
    fn inputs_take_turns_per_output() {
        let mut arbiter = RoundRobin { next: vec![0; 2] };
        let wanting = set(&[1, 63, 64, 200]);
        let order: Vec<usize> = (0..5).map(|_| arbiter.pick(0, &wanting)).collect();
        assert_eq!(order, [1, 63, 64, 200, 1]);
        assert_eq!(arbiter.pick(1, &wanting), 1);
    }

    #[test]
    fn the_last_input_wraps_around() {
        let mut arbiter = RoundRobin { next: vec![0] };
        assert_eq!(arbiter.pick(0, &set(&[255])), 255);
        assert_eq!(arbiter.pick(0, &set(&[0, 255])), 0);
    }
}
