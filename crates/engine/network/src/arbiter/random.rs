//! Random: any of the inputs that request an output.

use super::{Arbiter, ArbiterEntry, Contest, Output, PacketView};
use crate::allocator::any;
use warpmem_params::{Complexity, PolicyInfo, Shape};
use warpmem_support::random::Random as Stream;

const INFO: PolicyInfo = PolicyInfo {
    name: "random",
    summary: "a random one of the inputs that request an output, all equally likely",
    source: "a reference",
    params: Vec::new,
};

pub(super) const ENTRY: ArbiterEntry = ArbiterEntry {
    info: INFO,
    build: |context, _| Ok(Box::new(Random(Stream::numbered(0, context.direction as u64))) as _),
};

struct Random(Stream);

impl Arbiter for Random {
    fn designate(&mut self, contest: &Contest) -> Option<usize> {
        Some(any(contest.wanting, &mut self.0))
    }

    fn granted(&mut self, _: Output, _: usize, _: PacketView) {}

    /// Returns no cost: the paper's allocator already chooses at random.
    fn complexity(&self, _: &Shape) -> Option<Complexity> {
        Some(Complexity::NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Bench, draws};
    use crate::Direction;

    #[test]
    fn all_requesting_inputs_are_equally_likely() {
        let mut bench = Bench::new("random");
        let inputs = [0, 63, 64, 255];
        let mut times = [0; 4];
        for _ in 0..4000 {
            let chosen = bench.designate(0, &inputs).unwrap();
            times[inputs.iter().position(|&input| input == chosen).unwrap()] += 1;
        }
        // Within five standard deviations of a binomial count.
        assert!(times.iter().all(|times| (863..=1137).contains(times)), "{times:?}");
    }

    #[test]
    fn the_two_networks_draw_independent_reproducible_streams() {
        let requests = draws("random", Direction::Request);
        assert_eq!(requests, draws("random", Direction::Request));
        assert_ne!(requests, draws("random", Direction::Reply));
    }
}
