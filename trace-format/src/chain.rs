use crate::record::{Instruction, MAX_DEPENDENCE, OpClass};

/// Returns the cycles from the issue of the first compute instruction of a segment to the earliest
/// issue of the record, for a warp alone on the SM: one instruction issues per cycle, in order, and
/// each waits for the results it depends on, which are ready `latency[class]` cycles after their
/// issue. 0 without compute. Dependences that reach back beyond the segment are taken as ready.
pub fn segment_chain_cycles(instruction: &Instruction, latency: &[u32; OpClass::COUNT]) -> u32 {
    const WINDOW: usize = MAX_DEPENDENCE as usize;
    let mut ready = [0u32; WINDOW];
    let earliest = |slot: usize, issue: u32, deps: &[u8], ready: &[u32; WINDOW]| {
        deps.iter()
            .map(|&distance| usize::from(distance))
            .filter(|&distance| distance <= slot.min(WINDOW))
            .fold(issue, |issue, distance| issue.max(ready[(slot - distance) % WINDOW]))
    };
    let mut next_issue = 0u32;
    for (slot, compute) in instruction.compute.iter().enumerate() {
        let issue = earliest(slot, next_issue, &compute.deps, &ready);
        ready[slot % WINDOW] = issue.saturating_add(latency[compute.class as usize]);
        next_issue = issue.saturating_add(1);
    }
    earliest(instruction.compute.len(), next_issue, &instruction.deps, &ready)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operands::Operands;
    use crate::record::{CacheOp, Compute, Kind, Space};

    const LATENCY: [u32; OpClass::COUNT] = [4, 6, 16, 20, 32, 2, 3, 5, 6];

    fn segment(compute: &[(OpClass, &[u8])], deps: &[u8]) -> Instruction {
        Instruction {
            pc: 0,
            kind: Kind::Load,
            space: Space::Global,
            cache_op: CacheOp::Default,
            width: 4,
            barrier: None,
            destinations: 0,
            mbarrier: None,
            l2_policy: None,
            deps: deps.to_vec(),
            operands: Operands::NONE,
            use_distance: None,
            address_from: None,
            compute: compute
                .iter()
                .map(|&(class, deps)| Compute {
                    class,
                    deps: deps.to_vec(),
                    operands: Operands::NONE,
                })
                .collect(),
        }
    }

    fn cycles(compute: &[(OpClass, &[u8])], deps: &[u8]) -> u32 {
        segment_chain_cycles(&segment(compute, deps), &LATENCY)
    }

    #[test]
    fn independent_instructions_take_one_issue_slot_each() {
        assert_eq!(cycles(&[], &[]), 0);
        assert_eq!(
            cycles(&[(OpClass::Sfu, &[]), (OpClass::Integer, &[]), (OpClass::Fp64, &[])], &[]),
            3
        );
    }

    #[test]
    fn a_chain_adds_its_latencies() {
        assert_eq!(cycles(&[(OpClass::Integer, &[])], &[1]), 4);
        assert_eq!(cycles(&[(OpClass::Integer, &[]), (OpClass::Fp32, &[1])], &[1]), 10);
        // The record needs only the first result, whose latency is hidden behind the issue of the
        // others.
        let five: [(OpClass, &[u8]); 5] = [(OpClass::Integer, &[]); 5];
        assert_eq!(cycles(&five, &[5]), 5);
        assert_eq!(cycles(&five[..2], &[2]), 4);
    }

    #[test]
    fn a_record_waits_for_its_slowest_dependence() {
        let compute: [(OpClass, &[u8]); 3] =
            [(OpClass::Sfu, &[]), (OpClass::Integer, &[]), (OpClass::Fp32, &[1, 2])];
        assert_eq!(cycles(&compute, &[1]), 26);
        assert_eq!(cycles(&compute, &[]), 21);
    }

    #[test]
    fn dependences_before_the_segment_are_ready() {
        assert_eq!(cycles(&[(OpClass::Integer, &[1, 2, 64])], &[2, 40]), 1);
    }

    #[test]
    fn the_longest_kept_distance_reaches_over_the_whole_window() {
        let mut compute: Vec<(OpClass, &[u8])> = vec![(OpClass::Integer, &[]); 64];
        compute[0].0 = OpClass::Sfu;
        let mut latency = [1; OpClass::COUNT];
        latency[OpClass::Sfu as usize] = 1000;
        assert_eq!(segment_chain_cycles(&segment(&compute, &[64]), &latency), 1000);
        assert_eq!(segment_chain_cycles(&segment(&compute, &[63]), &latency), 64);
    }

    #[test]
    fn huge_latencies_saturate() {
        let compute: [(OpClass, &[u8]); 2] = [(OpClass::Integer, &[]), (OpClass::Integer, &[1])];
        assert_eq!(
            segment_chain_cycles(&segment(&compute, &[1]), &[u32::MAX; OpClass::COUNT]),
            u32::MAX
        );
    }
}
