//! Requests per warp instruction: the divergence of the lanes' addresses.

use super::access::{Lines, Pattern};
use serde::Serialize;
use warpmem_record::metrics::quotient;
use warpmem_trace::Kind;

/// Kinds of warp instructions that access global memory; divergence is counted for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// Loads, asynchronous copies to shared memory, prefetches.
    Load,
    Store,
    /// Atomics and reductions.
    Atomic,
}

impl Access {
    pub const ALL: [Access; 3] = [Access::Load, Access::Store, Access::Atomic];

    /// Returns the access kind of a record with addresses; `None` for others.
    pub fn of(kind: Kind) -> Option<Access> {
        match kind {
            Kind::Load | Kind::AsyncCopy | Kind::Prefetch => Some(Access::Load),
            Kind::Store => Some(Access::Store),
            Kind::Atomic | Kind::Reduction => Some(Access::Atomic),
            Kind::Barrier | Kind::BarrierArrive | Kind::Fence | Kind::Exit | Kind::End => None,
            Kind::ClusterArrive | Kind::ClusterWait => None,
        }
    }

    pub fn writes(self) -> bool {
        self != Access::Load
    }

    pub fn reads(self) -> bool {
        self != Access::Store
    }
}

/// Histogram of small numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts(Vec<u64>);

impl Counts {
    pub fn add(&mut self, value: u32) {
        let index = value as usize;
        if index >= self.0.len() {
            self.0.resize(index + 1, 0);
        }
        self.0[index] += 1;
    }

    pub fn merge(&mut self, other: &Counts) {
        self.0.resize(self.0.len().max(other.0.len()), 0);
        self.0.iter_mut().zip(&other.0).for_each(|(mine, theirs)| *mine += theirs);
    }

    pub fn count(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Returns how often a number occurred.
    pub fn of(&self, value: usize) -> u64 {
        self.0.get(value).copied().unwrap_or(0)
    }

    pub fn sum(&self) -> u64 {
        self.0.iter().zip(0..).map(|(count, value): (_, u64)| count * value).sum()
    }

    /// Returns the smallest number that is at least as large as this fraction of all.
    fn quantile(&self, fraction: f64) -> Option<u32> {
        let rank = (fraction * self.count() as f64).ceil() as u64;
        let mut seen = 0;
        let reached = |&count: &u64| {
            seen += count;
            seen >= rank.max(1)
        };
        self.0.iter().position(reached).map(|value| value as u32)
    }

    pub fn distribution(&self) -> Distribution {
        let bins = self.0.iter().zip(0..).filter(|(count, _)| **count > 0);
        Distribution {
            mean: quotient(self.sum(), self.count()),
            p50: self.quantile(0.5),
            p95: self.quantile(0.95),
            max: self.0.iter().rposition(|&count| count > 0).map(|value| value as u32),
            histogram: bins.map(|(&count, value)| Bin { value, count }).collect(),
        }
    }
}

/// Distribution of a number per warp instruction.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Distribution {
    pub mean: Option<f64>,
    pub p50: Option<u32>,
    pub p95: Option<u32>,
    pub max: Option<u32>,
    /// Numbers that occurred, ascending.
    pub histogram: Vec<Bin>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Bin {
    pub value: u32,
    /// Number of warp instructions.
    pub count: u64,
}

/// Warp instructions by the pattern of their lanes' addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Patterns {
    /// A single active lane.
    pub single_lane: u64,
    /// All lanes at one address.
    pub uniform: u64,
    /// Neighbouring lanes at adjacent addresses, ascending or descending, by lane number or among
    /// the active lanes.
    pub unit_stride: u64,
    /// Another constant stride per lane number, over three lanes or more.
    pub strided: u64,
    /// Runs of adjacent or equal addresses, on average four lanes or longer, such as the rows of a
    /// two-dimensional block.
    pub runs: u64,
    pub irregular: u64,
}

/// Divergence of one kind of access, over the warp instructions with an active lane.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Divergence {
    pub access: Access,
    /// Warp instructions with an active lane.
    pub instructions: u64,
    /// Distinct lines per instruction.
    pub lines: Distribution,
    /// Distinct sectors per instruction.
    pub sectors: Distribution,
    pub patterns: Patterns,
}

/// Counts of one kind of access.
#[derive(Clone, Debug, Default)]
pub(super) struct RequestTally {
    pub lines: Counts,
    pub sectors: Counts,
    patterns: [u64; Pattern::COUNT],
}

impl RequestTally {
    pub fn add(&mut self, lines: &Lines, sectors: u32, pattern: Pattern) {
        self.lines.add(lines.as_slice().len() as u32);
        self.sectors.add(sectors);
        self.patterns[pattern as usize] += 1;
    }

    pub fn merge(&mut self, other: &RequestTally) {
        self.lines.merge(&other.lines);
        self.sectors.merge(&other.sectors);
        self.patterns.iter_mut().zip(other.patterns).for_each(|(mine, theirs)| *mine += theirs);
    }

    pub fn divergence(&self, access: Access) -> Divergence {
        let [single_lane, uniform, unit_stride, strided, runs, irregular] = self.patterns;
        Divergence {
            access,
            instructions: self.lines.count(),
            lines: self.lines.distribution(),
            sectors: self.sectors.distribution(),
            patterns: Patterns { single_lane, uniform, unit_stride, strided, runs, irregular },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_of_four_numbers() {
        let mut counts = Counts::default();
        [1, 1, 4, 32].into_iter().for_each(|value| counts.add(value));
        let bin = |value, count| Bin { value, count };
        let expected = Distribution {
            mean: Some(9.5),
            p50: Some(1),
            p95: Some(32),
            max: Some(32),
            histogram: vec![bin(1, 2), bin(4, 1), bin(32, 1)],
        };
        assert_eq!(counts.distribution(), expected);
        let mut twice = Counts::default();
        twice.add(33);
        twice.merge(&counts);
        counts.merge(&twice);
        assert_eq!((counts.count(), counts.sum()), (9, 38 + 38 + 33));
    }

    #[test]
    fn empty_distributions_have_no_mean() {
        assert_eq!(Counts::default().distribution(), Distribution::default());
    }

    #[test]
    fn a_median_is_reached_by_half() {
        let mut counts = Counts::default();
        [1, 2, 3, 4].into_iter().for_each(|value| counts.add(value));
        assert_eq!(counts.quantile(0.5), Some(2));
        assert_eq!(counts.quantile(0.51), Some(3));
    }
}
