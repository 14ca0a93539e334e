//! Number of sending terminals.

use std::collections::VecDeque;
use warpmem_sim::RequestId;
use warpmem_support::random::Random;

/// The probability of an event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chance {
    /// Probability times 2^64.
    of: u128,
}

impl Chance {
    /// Builds the chance; `probability` is between 0 and 1.
    pub fn new(probability: f64) -> Chance {
        // A product with a power of two is exact.
        Chance { of: (probability * 2f64.powi(64)) as u128 }
    }

    /// Draws the event.
    pub fn falls(self, random: &mut Random) -> bool {
        u128::from(random.bits()) < self.of
    }
}

/// A terminal that generates packets into an infinite queue: at most one per cycle, with the same
/// probability in every cycle.
///
/// A packet is drawn only when it is the next to enter the network, however long ago it was
/// generated, so that the queue takes no memory.
pub(super) struct Source {
    random: Random,
    chance: Chance,
    /// First cycle not drawn yet, see [`Source::drawn`].
    cycle: u64,
    /// Packets in the port to the network, in order.
    pub in_port: VecDeque<RequestId>,
}

impl Source {
    /// Builds a source that generates no packet before `first`.
    pub fn new(random: Random, chance: Chance, first: u64) -> Source {
        Source { random, chance, cycle: first, in_port: VecDeque::new() }
    }

    /// Returns the first cycle that has not been drawn yet.
    pub fn drawn(&self) -> u64 {
        self.cycle
    }

    /// Returns the cycle in which its next packet is generated, if it is before `end`.
    pub fn generate(&mut self, end: u64) -> Option<u64> {
        while self.cycle < end {
            self.cycle += 1;
            if self.chance.falls(&mut self.random) {
                return Some(self.cycle - 1);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycles(probability: f64, first: u64, end: u64) -> Vec<u64> {
        let mut source = Source::new(Random::new(3), Chance::new(probability), first);
        std::iter::from_fn(|| source.generate(end)).collect()
    }

    #[test]
    fn certain_and_impossible_packets() {
        assert_eq!(cycles(1.0, 5, 9), [5, 6, 7, 8]);
        assert_eq!(cycles(0.0, 0, 1000), [0; 0]);
    }

    /// A Bernoulli process: the rate is met, and packets of successive cycles are independent.
    #[test]
    fn cycles_are_independent_of_each_other() {
        const END: usize = 100_000;
        let cycles = cycles(0.3, 0, END as u64);
        let within = |count: usize, probability: f64, of: usize| {
            let deviation = (of as f64 * probability * (1.0 - probability)).sqrt();
            let error = (count as f64 - of as f64 * probability).abs();
            assert!(error < 4.0 * deviation, "{count} of {of}");
        };
        within(cycles.len(), 0.3, END);
        let next = cycles.windows(2).filter(|pair| pair[1] == pair[0] + 1).count();
        within(next, 0.3, cycles.len() - 1);
    }

    #[test]
    fn a_higher_probability_adds_packets_to_those_of_a_lower() {
        let (few, many) = (cycles(0.2, 0, 1000), cycles(0.5, 0, 1000));
        assert!(few.len() < many.len() && few.iter().all(|cycle| many.contains(cycle)));
    }

    #[test]
    fn the_end_may_be_extended() {
        let mut source = Source::new(Random::new(3), Chance::new(0.1), 0);
        let mut parts = Vec::new();
        for end in [10, 50, 51, 400] {
            parts.extend(std::iter::from_fn(|| source.generate(end)));
        }
        assert_eq!(parts, cycles(0.1, 0, 400));
    }
}
