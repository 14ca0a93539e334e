//! Oldest first: the packet that has waited longest goes first.

use super::{Arbiter, ArbiterEntry, Contest, Output, PacketView};
use crate::allocator::oldest;
use warpmem_params::PolicyInfo;

const INFO: PolicyInfo = PolicyInfo {
    name: "oldest-first",
    summary: "the packet that could enter the network first",
    source: "a reference",
    params: Vec::new,
};

pub(super) const ENTRY: ArbiterEntry =
    ArbiterEntry { info: INFO, build: |_, _| Ok(Box::new(OldestFirst)) };

struct OldestFirst;

impl Arbiter for OldestFirst {
    fn designate(&mut self, contest: &Contest) -> Option<usize> {
        Some(oldest(contest.wanting, |input| (contest.packet)(input).since))
    }

    fn granted(&mut self, _: Output, _: usize, _: PacketView) {}
}

#[cfg(test)]
mod tests {
    use super::super::tests::Bench;
    use warpmem_sim::NetworkCycle;

    #[test]
    fn the_oldest_packet_goes_first_and_the_lowest_input_among_equals() {
        let mut bench = Bench::new("oldest-first");
        for (input, since) in [(1, 30), (2, 20), (70, 10), (200, 10)] {
            bench.wants(input).since = NetworkCycle::new(since);
        }
        assert_eq!(bench.designate(0, &[1, 2, 70, 200]), Some(70));
        assert_eq!(bench.designate(0, &[1, 2, 200]), Some(200));
        bench.grant(0, 200);
        bench.wants(200).since = NetworkCycle::new(40);
        assert_eq!(bench.designate_late(0, &[1, 2, 200]), Some(2));
    }
}
