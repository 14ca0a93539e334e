//! Random numbers of generated workloads, random policies and random traffic.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A ChaCha8 stream keyed by a seed. It uses integers only, so a seed gives the same numbers on every
/// platform.
pub struct Random(ChaCha8Rng);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random::numbered(seed, 0)
    }

    /// Creates one of many independent streams of a seed; stream 0 equals [`Random::new`].
    pub fn numbered(seed: u64, number: u64) -> Random {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(&number.to_le_bytes());
        Random(ChaCha8Rng::from_seed(key))
    }

    /// Returns a uniform 64-bit number.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a number below `bound`, which must not be zero. Multiply-shift: the bias is below
    /// `bound` / 2^64.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "no number is below zero");
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns a 32-bit index, as [`Random::below`].
    #[inline]
    pub fn index(&mut self, bound: u32) -> u32 {
        self.below(u64::from(bound)) as u32
    }

    /// Shuffles uniformly (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        self.shuffle_watched(items, || ());
    }

    /// Shuffles as [`Random::shuffle`], with a call per item of `watch`, which may stop it.
    pub fn shuffle_watched<T>(&mut self, items: &mut [T], mut watch: impl FnMut()) {
        for last in (1..items.len()).rev() {
            watch();
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }

    /// Returns a uniform permutation with a single cycle through `0..n` (Sattolo 1986): entry `i` is
    /// the successor of `i`.
    pub fn cycle(&mut self, n: u32) -> Vec<u32> {
        let mut next: Vec<u32> = (0..n).collect();
        for last in (1..n).rev() {
            next.swap(last as usize, self.index(last) as usize);
        }
        next
    }
}

/// Applies the finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): a bijection whose output
/// bits depend on all input bits.
pub fn mixed(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8439's construction with 8 rounds and an all-zero key: first words of the keystream as
    /// published in draft-strombergson-chacha-test-vectors-01, TC1.
    #[test]
    fn the_stream_is_chacha8_by_the_published_vector() {
        assert_eq!(
            Random::new(0).bits().to_le_bytes(),
            [0x3e, 0x00, 0xef, 0x2f, 0x89, 0x5f, 0x40, 0xd6]
        );
    }

    /// The first numbers of SplitMix64 from the seed 1234567, as published with the reference
    /// implementation.
    #[test]
    fn mixing_is_that_of_splitmix64() {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let number = |n: u64| mixed(1_234_567u64.wrapping_add(STEP.wrapping_mul(n)));
        assert_eq!([1, 2].map(number), [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

    #[test]
    fn numbered_streams_differ() {
        let first = |seed, number| Random::numbered(seed, number).bits();
        assert_eq!(first(3, 0), Random::new(3).bits());
        assert_ne!(first(3, 1), first(3, 0));
        assert_ne!(first(3, 1), first(4, 1));
    }

    #[test]
    fn below_covers_exactly_its_range() {
        let mut random = Random::new(7);
        let mut seen = [0u32; 6];
        for _ in 0..600 {
            seen[random.below(6) as usize] += 1;
        }
        assert!(seen.iter().all(|&n| (50..200).contains(&n)), "{seen:?}");
    }

    #[test]
    fn a_cycle_visits_every_node_once() {
        let next = Random::new(3).cycle(1000);
        let mut at = 0;
        let mut seen = vec![false; 1000];
        for _ in 0..1000 {
            assert!(!std::mem::replace(&mut seen[at as usize], true));
            at = next[at as usize];
        }
        assert_eq!(at, 0);
    }
}
