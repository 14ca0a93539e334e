//! Reuse distances of lines, exact or sampled, and the resulting miss ratios.
//!
//! The distance of an access is the number of other lines accessed since the previous access to its
//! line (Mattson et al. 1970). If there are more lines than fit, a spatial sample is tracked, and
//! distances among its lines are scaled up (Waldspurger et al., "Efficient MRC Construction with
//! SHARDS", FAST 2015).

use super::sampled::{Sampled, hash};
use super::stack::Positions;
use serde::Serialize;
use warpmem_record::metrics::quotient;

/// Reuse of lines over a trace. An access is a distinct line of a warp instruction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reuse {
    /// Accesses to tracked lines; all accesses if every line is tracked.
    pub followed_accesses: u64,
    /// Lines per sampled line at the end; 1 means all lines, and every figure is exact.
    pub lines_per_followed: u64,
    /// First accesses to a line, as a share of all accesses; null without accesses.
    pub cold_share: Option<f64>,
    /// Accesses by distance, ascending, excluding cold ones.
    pub histogram: Vec<ReuseBin>,
    /// Miss ratios of caches of several sizes.
    pub caches: Vec<CacheMisses>,
}

/// Accesses with a distance in a range.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ReuseBin {
    /// Start of the range, lines; the next bin begins where this one ends.
    pub from: u64,
    /// End of the range, lines, exclusive.
    pub to: u64,
    /// Share of all accesses, including cold ones.
    pub share: f64,
    /// Miss ratio of a cache of `to` lines: accesses with a larger distance and cold ones, as a
    /// share of all; null if the sample is too coarse for so small a cache.
    pub miss_ratio: Option<f64>,
}

/// Misses of a fully associative LRU cache that allocates on every access.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CacheMisses {
    pub bytes: u64,
    /// Share of all accesses; null without accesses, or if the sample is too coarse for so small a
    /// cache.
    pub miss_ratio: Option<f64>,
    /// Standard error of the ratio; 0 if exact, null if undefined or too few accesses were sampled.
    pub standard_error: Option<f64>,
}

impl Reuse {
    /// Returns the smallest cache, in lines, whose misses are reported. Sampled distances are
    /// multiples of the lines per sampled line: near that number, rounding would decide between hit
    /// and miss, which no standard error shows.
    pub fn least_cache_lines(&self) -> u64 {
        match self.lines_per_followed {
            1 => 0,
            lines => lines.saturating_mul(COARSEST),
        }
    }
}

/// Minimum ratio of a cache's lines to the lines per sampled line.
const COARSEST: u64 = 8;
/// Groups of lines whose spread yields the sampling error.
const GROUPS: usize = 16;
/// Bins per power of two.
const STEPS: usize = 4;

pub(super) struct ReuseTally {
    /// Position of each tracked line's latest access.
    last: Sampled<u32>,
    positions: Positions,
    next: usize,
    cold: u64,
    /// Estimated accesses by bin of their distance.
    bins: Vec<u64>,
    /// Sizes of the examined caches, lines.
    caches: Vec<u64>,
    groups: Vec<Group>,
    followed: u64,
}

#[derive(Clone)]
struct Group {
    accesses: u64,
    /// Misses by cache.
    misses: Vec<u64>,
}

impl ReuseTally {
    /// Makes a tally that tracks at most `limit` lines. `caches` are sizes in lines.
    pub fn new(limit: usize, caches: Vec<u64>) -> ReuseTally {
        ReuseTally {
            last: Sampled::new(limit),
            positions: Positions::new(3 * limit.max(WORD_AT_LEAST), 0),
            next: 0,
            cold: 0,
            bins: Vec::new(),
            groups: vec![Group { accesses: 0, misses: vec![0; caches.len()] }; GROUPS],
            caches,
            followed: 0,
        }
    }

    pub fn access(&mut self, line: u64) {
        if !self.last.keeps(line) {
            return;
        }
        self.followed += 1;
        let weight = self.last.weight();
        let (last, is_first) = self.last.entry(line, || self.next as u32);
        let before = *last as usize;
        *last = self.next as u32;
        let distance = (!is_first).then(|| self.positions.behind(before) as u64 * weight);
        self.count(line, distance, weight);
        if !is_first {
            self.positions.free(before);
        }
        self.positions.take(self.next);
        self.next += 1;
        if is_first {
            self.last.shrink(|&position| self.positions.free(position as usize));
        }
        if self.next == self.positions.len() {
            self.compact();
        }
    }

    /// Counts an access that represents `weight` accesses; no distance if it is the line's first.
    fn count(&mut self, line: u64, distance: Option<u64>, weight: u64) {
        let group = &mut self.groups[hash(line) as usize % GROUPS];
        group.accesses += weight;
        for (misses, &lines) in group.misses.iter_mut().zip(&self.caches) {
            *misses += if distance.is_none_or(|distance| distance >= lines) { weight } else { 0 };
        }
        let Some(distance) = distance else {
            self.cold += weight;
            return;
        };
        let bin = bin_of(distance);
        if bin >= self.bins.len() {
            self.bins.resize(bin + 1, 0);
        }
        self.bins[bin] += weight;
    }

    /// Moves the occupied positions to the front, preserving their order.
    fn compact(&mut self) {
        for position in self.last.values_mut() {
            *position = self.positions.before(*position as usize) as u32;
        }
        self.next = self.last.len();
        self.positions = Positions::new(self.positions.len(), self.next);
    }

    pub fn figures(&self, line_bytes: u64) -> Reuse {
        let accesses: u64 = self.cold + self.bins.iter().sum::<u64>();
        let mut reuse = Reuse {
            followed_accesses: self.followed,
            lines_per_followed: self.last.weight(),
            cold_share: quotient(self.cold, accesses),
            histogram: Vec::new(),
            caches: Vec::new(),
        };
        let least = reuse.least_cache_lines();
        let mut nearer = 0;
        let occupied = self.bins.iter().enumerate().map(|(bin, &count)| {
            nearer += count;
            let (from, to) = (start_of(bin), start_of(bin + 1));
            let miss_ratio = quotient(accesses - nearer, accesses).filter(|_| to >= least);
            ReuseBin { from, to, share: count as f64 / accesses as f64, miss_ratio }
        });
        reuse.histogram = occupied.collect();
        let caches = self.caches.iter().enumerate().map(|(cache, &lines)| {
            let miss_ratio = self.miss_ratio(cache).filter(|_| lines >= least);
            let standard_error = miss_ratio.and_then(|ratio| self.standard_error(cache, ratio));
            CacheMisses { bytes: lines * line_bytes, miss_ratio, standard_error }
        });
        reuse.caches = caches.collect();
        reuse
    }

    fn miss_ratio(&self, cache: usize) -> Option<f64> {
        let accesses = self.groups.iter().map(|group| group.accesses).sum();
        let misses = self.groups.iter().map(|group| group.misses[cache]).sum();
        quotient(misses, accesses)
    }

    /// Returns the standard error of a ratio of sums over groups of lines, from the deviation of
    /// the groups (Cochran, Sampling Techniques, 1977, section 6.4), times the fraction of the
    /// lines outside the sample.
    fn standard_error(&self, cache: usize, ratio: f64) -> Option<f64> {
        if self.last.is_exact() {
            return Some(0.0);
        }
        let used: Vec<&Group> = self.groups.iter().filter(|group| group.accesses > 0).collect();
        let (n, accesses) =
            (used.len() as f64, used.iter().map(|g| g.accesses as f64).sum::<f64>());
        let off = |group: &&Group| group.misses[cache] as f64 - ratio * group.accesses as f64;
        let squares: f64 = used.iter().map(|group| off(group).powi(2)).sum();
        let left_out = 1.0 - 1.0 / self.last.weight() as f64;
        (n > 1.0).then(|| (left_out * n / (n - 1.0) * squares).sqrt() / accesses)
    }
}

/// Minimum number of lines whose positions are kept, so that compaction is rare.
const WORD_AT_LEAST: usize = 64;

/// Returns the bin of a distance: exact below [`STEPS`], then [`STEPS`] bins for each power of two.
fn bin_of(distance: u64) -> usize {
    if distance < STEPS as u64 {
        return distance as usize;
    }
    let shift = distance.ilog2() - STEPS.ilog2();
    STEPS * shift as usize + (distance >> shift) as usize
}

/// Returns the smallest distance of a bin.
fn start_of(bin: usize) -> u64 {
    if bin < 2 * STEPS {
        return bin as u64;
    }
    let shift = bin / STEPS - 1;
    ((bin % STEPS + STEPS) as u64) << shift
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use warpmem_support::random::Random;

    /// Counts the lines between two accesses, by definition.
    fn distances(accesses: &[u64]) -> Vec<Option<u64>> {
        let mut stack: Vec<u64> = Vec::new();
        let of = |&line: &u64| {
            let at = stack.iter().position(|&other| other == line);
            if let Some(at) = at {
                stack.remove(at);
            }
            stack.insert(0, line);
            at.map(|at| at as u64)
        };
        accesses.iter().map(of).collect()
    }

    fn followed(accesses: &[u64], limit: usize, caches: &[u64]) -> Reuse {
        let mut tally = ReuseTally::new(limit, caches.to_vec());
        accesses.iter().for_each(|&line| tally.access(line));
        tally.figures(128)
    }

    #[test]
    fn reuse_of_a_b_c_a_a_c_by_hand() {
        // Distances: cold, cold, cold, 2, 0, 1.
        let reuse = followed(&[1, 2, 3, 1, 1, 3], 100, &[1, 2, 3]);
        assert_eq!((reuse.followed_accesses, reuse.lines_per_followed), (6, 1));
        assert_eq!(reuse.cold_share, Some(0.5));
        let bins: Vec<_> =
            reuse.histogram.iter().map(|bin| (bin.from, bin.to, bin.share)).collect();
        assert_eq!(bins, [(0, 1, 1.0 / 6.0), (1, 2, 1.0 / 6.0), (2, 3, 1.0 / 6.0)]);
        let ratios: Vec<_> = reuse.histogram.iter().map(|bin| bin.miss_ratio).collect();
        assert_eq!(ratios, [Some(5.0 / 6.0), Some(4.0 / 6.0), Some(0.5)]);
        let caches: Vec<_> =
            reuse.caches.iter().map(|cache| (cache.bytes, cache.miss_ratio)).collect();
        assert_eq!(caches, [(128, Some(5.0 / 6.0)), (256, Some(4.0 / 6.0)), (384, Some(0.5))]);
        assert!(reuse.caches.iter().all(|cache| cache.standard_error == Some(0.0)));
    }

    #[test]
    fn empty_traces_have_no_miss_ratio() {
        let reuse = followed(&[], 100, &[1]);
        assert_eq!((reuse.cold_share, reuse.caches[0].miss_ratio), (None, None));
        assert_eq!(reuse.caches[0].standard_error, None);
    }

    #[test]
    fn bins_are_contiguous_and_contain_their_distances() {
        for distance in (0..5000).chain([1 << 40, (1 << 40) - 1]) {
            let bin = bin_of(distance);
            assert!((start_of(bin)..start_of(bin + 1)).contains(&distance), "{distance}");
        }
        assert_eq!(start_of(bin_of(49_152)), 49_152, "6 MB of 128-byte lines begin a bin");
    }

    proptest! {
        /// Positions are compacted many times.
        #[test]
        fn distances_match_the_definition(
            accesses in prop::collection::vec(0u64..40, 0..1200), size in 1u64..50,
        ) {
            let expected = distances(&accesses);
            let reuse = followed(&accesses, 40, &[size]);
            let misses = expected.iter().filter(|d| d.is_none_or(|d| d >= size)).count();
            let of_all = (!accesses.is_empty()).then(|| misses as f64 / accesses.len() as f64);
            prop_assert_eq!(reuse.caches[0].miss_ratio, of_all);
            for bin in reuse.histogram {
                let inside = |d: &&Option<u64>| d.is_some_and(|d| (bin.from..bin.to).contains(&d));
                let count = expected.iter().filter(inside).count();
                prop_assert_eq!(bin.share, count as f64 / accesses.len() as f64);
            }
        }
    }

    #[test]
    fn caches_too_small_for_the_sample_have_no_ratio() {
        let accesses: Vec<u64> = (0..3).flat_map(|_| 0..4096).collect();
        let reuse = followed(&accesses, 600, &[8, 63, 64, 4095]);
        assert_eq!((reuse.lines_per_followed, reuse.least_cache_lines()), (8, 64));
        let is_told =
            |cache: &CacheMisses| (cache.miss_ratio.is_some(), cache.standard_error.is_some());
        let told: Vec<_> = reuse.caches.iter().map(is_told).collect();
        assert_eq!(told, [(false, false), (false, false), (true, true), (true, true)]);
        for bin in &reuse.histogram {
            assert_eq!(bin.miss_ratio.is_some(), bin.to >= 64, "{bin:?}");
        }
        let exact = followed(&accesses, 1 << 20, &[1]);
        assert_eq!((exact.caches[0].miss_ratio, exact.least_cache_lines()), (Some(1.0), 0));
    }

    /// Skewed accesses to 20,000 lines, at most 2000 of them tracked: within 3 standard errors at
    /// every size.
    #[test]
    fn sampled_ratios_are_within_their_standard_errors() {
        let mut random = Random::new(5);
        let accesses: Vec<u64> = (0..200_000)
            .map(|_| {
                let range = 20_000 >> random.below(6);
                random.below(range)
            })
            .collect();
        let caches = [128, 500, 1000, 2000, 5000, 10_000, 19_000];
        let exact = followed(&accesses, 1 << 20, &caches);
        let sampled = followed(&accesses, 2000, &caches);
        assert_eq!((exact.lines_per_followed, sampled.lines_per_followed), (1, 16));
        for (exact, sampled) in exact.caches.iter().zip(&sampled.caches) {
            let (truth, estimate) = (exact.miss_ratio.unwrap(), sampled.miss_ratio.unwrap());
            let error = sampled.standard_error.unwrap();
            assert!(error > 0.0 && error < 0.05, "{sampled:?}");
            assert!((truth - estimate).abs() < 3.0 * error, "{truth} {sampled:?}");
        }
    }
}
