//! Properties of every allocator, and a switch to test them on.

use super::{ALLOCATORS, Allocator, AllocatorContext, CandidateSet, any, first_from, oldest};
use warpmem_sim::{NetworkCycle, bits};
use warpmem_support::random::Random;

pub fn build(allocator: &str, choosers: usize) -> Box<dyn Allocator> {
    ALLOCATORS.build(allocator, &AllocatorContext { choosers, seed: 1 }).unwrap()
}

/// Chooses among packets of equal age.
pub fn choose(allocator: &mut dyn Allocator, chooser: usize, set: &[u64]) -> usize {
    allocator.choose(&CandidateSet { chooser, set, since: &|_| NetworkCycle::ZERO })
}

/// A switch of `n` inputs and outputs, at most 64, with a packet at every input for every output.
pub struct Switch {
    n: usize,
    allocator: Box<dyn Allocator>,
}

impl Switch {
    pub fn new(n: usize, allocator: &str) -> Switch {
        Switch::seeded(n, allocator, 1)
    }

    pub fn seeded(n: usize, allocator: &str, seed: u64) -> Switch {
        let context = AllocatorContext { choosers: 2 * n, seed };
        Switch { n, allocator: ALLOCATORS.build(allocator, &context).unwrap() }
    }

    /// Performs one match; returns the input matched with each output.
    fn grants(&mut self) -> Vec<Option<usize>> {
        let mut granted = vec![None; self.n];
        let mut free = u64::MAX >> (64 - self.n);
        for iteration in 0..self.allocator.iterations() {
            let outputs = (0..self.n).filter(|&output| granted[output].is_none());
            let open = outputs.fold(0, |open, output| open | 1u64 << output);
            if open == 0 {
                break;
            }
            let mut wanted = vec![0u64; self.n];
            for input in bits::members(&[free]) {
                wanted[choose(&mut *self.allocator, input, &[open])] |= 1 << input;
            }
            for output in bits::members(&[open]).filter(|&output| wanted[output] != 0) {
                let input = choose(&mut *self.allocator, self.n + output, &[wanted[output]]);
                assert!(wanted[output] >> input & 1 == 1, "one of the inputs that chose it");
                self.allocator.accepted(input, output, iteration);
                self.allocator.accepted(self.n + output, input, iteration);
                granted[output] = Some(input);
                free &= !(1 << input);
            }
        }
        granted
    }

    pub fn grants_of_full(&mut self, matches: usize) -> Vec<Vec<Option<usize>>> {
        (0..matches).map(|_| self.grants()).collect()
    }

    /// Returns the mean share of matched outputs.
    pub fn matched_of_full(&mut self, matches: usize) -> f64 {
        let grants = self.grants_of_full(matches);
        let matched = grants.iter().flatten().flatten().count();
        matched as f64 / (matches * self.n) as f64
    }
}

#[test]
fn candidates_are_chosen_round_robin_or_by_age() {
    let set = [1 | 1 << 63, 0, 1 << 5];
    assert_eq!([0, 1, 64, 134].map(|first| first_from(&set, first)), [0, 63, 133, 0]);
    assert_eq!(oldest(&set, |member| NetworkCycle::new(200 - member as u64)), 133);
    assert_eq!(oldest(&set, |_| NetworkCycle::new(7)), 0);
}

#[test]
fn all_members_are_equally_likely() {
    let (set, mut random) = ([1 | 1 << 63, 0, 1 << 5], Random::new(1));
    let mut times = [0; 192];
    (0..3000).for_each(|_| times[any(&set, &mut random)] += 1);
    let times = [0, 63, 133].map(|member| times[member]);
    assert_eq!(times.iter().sum::<u32>(), 3000);
    // Within five standard deviations of a binomial count.
    assert!(times.iter().all(|times| (870..=1130).contains(times)), "{times:?}");
}

#[test]
fn every_allocator_chooses_candidates_and_takes_from_one_to_sixteen_iterations() {
    for name in ALLOCATORS.names() {
        let mut switch = Switch::new(5, name);
        switch.grants_of_full(100);
        assert_eq!(switch.allocator.iterations(), 1, "{name}");
        assert_eq!(build(&format!("{name}(iterations=16)"), 1).iterations(), 16, "{name}");
        for iterations in [0, 17] {
            let context = AllocatorContext { choosers: 1, seed: 1 };
            let text = format!("{name}(iterations={iterations})");
            let error = ALLOCATORS.build(&text, &context).map(drop).unwrap_err().to_string();
            assert!(error.contains("allocator") && error.contains("1 to 16"), "{error}");
        }
    }
}

#[test]
fn n_iterations_match_all_n_outputs() {
    for name in ALLOCATORS.names() {
        let mut switch = Switch::new(16, &format!("{name}(iterations=16)"));
        assert_eq!(switch.matched_of_full(50), 1.0, "{name}");
    }
}

#[test]
fn islip_desynchronises_until_it_matches_every_output() {
    let mut switch = Switch::new(16, "islip");
    assert_eq!(switch.matched_of_full(1), 1.0 / 16.0, "at first all choose the same");
    switch.grants_of_full(4 * 16);
    assert_eq!(switch.matched_of_full(100), 1.0);
}

#[test]
fn desynchronised_islip_serves_every_pair_equally() {
    let mut switch = Switch::new(8, "islip");
    switch.grants_of_full(4 * 8);
    let mut times = [[0; 8]; 8];
    for grants in switch.grants_of_full(80) {
        grants.iter().enumerate().for_each(|(output, input)| times[output][input.unwrap()] += 1);
    }
    assert_eq!(times, [[10; 8]; 8]);
}
