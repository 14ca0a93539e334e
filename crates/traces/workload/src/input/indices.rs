//! Streams of indices into a table.

use super::Random;
use crate::parameters::Choice;
use crate::stop;

/// The order of the indices into a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexPattern {
    /// Uniformly random.
    Uniform,
    /// Nine in ten within the first tenth of the table, the rest anywhere.
    Hot,
    /// Sequential.
    Sequential,
    /// Thirty-three elements apart: one line per lane, with changing banks.
    Strided,
}

impl Choice for IndexPattern {
    const NAMES: &'static [(&'static str, IndexPattern)] = &[
        ("uniform", IndexPattern::Uniform),
        ("hot", IndexPattern::Hot),
        ("sequential", IndexPattern::Sequential),
        ("strided", IndexPattern::Strided),
    ];
}

/// Generates `count` indices below `bound`; indices past the end wrap to 0.
pub fn indices(pattern: IndexPattern, count: u32, bound: u32, random: &mut Random) -> Vec<u32> {
    let wrapped = |step: u64, i: u32| (u64::from(i) * step % u64::from(bound)) as u32;
    let hot_part = bound.div_ceil(10);
    let index = |i| {
        stop::check();
        match pattern {
            IndexPattern::Uniform => random.index(bound),
            IndexPattern::Hot if random.below(10) < 9 => random.index(hot_part),
            IndexPattern::Hot => random.index(bound),
            IndexPattern::Sequential => wrapped(1, i),
            IndexPattern::Strided => wrapped(33, i),
        }
    };
    (0..count).map(index).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(pattern: IndexPattern) -> Vec<u32> {
        indices(pattern, 10_000, 1000, &mut Random::new(2))
    }

    #[test]
    fn every_pattern_stays_in_the_table() {
        for &(name, pattern) in IndexPattern::NAMES {
            assert!(draw(pattern).iter().all(|&i| i < 1000), "{name}");
        }
    }

    #[test]
    fn index_patterns_match_their_names() {
        assert_eq!(draw(IndexPattern::Sequential)[998..1002], [998, 999, 0, 1]);
        assert_eq!(draw(IndexPattern::Strided)[..3], [0, 33, 66]);
        let in_first_tenth = |p| draw(p).iter().filter(|&&i| i < 100).count();
        assert!((850..1150).contains(&in_first_tenth(IndexPattern::Uniform)));
        assert!((8950..9250).contains(&in_first_tenth(IndexPattern::Hot)));
    }
}
