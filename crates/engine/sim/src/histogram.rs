//! Histogram with fixed buckets, exact below 128 and within 1/64 (1.6 %) above.

use crate::times::Times;
use serde::Serialize;

/// Counts of values in buckets of equal width within each power of two. Every percentile is known
/// to 1.6 % over the whole range, at one increment per value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Histogram {
    counts: Vec<u64>,
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
}

/// Buckets per power of two.
const STEPS: u64 = 64;
const STEP_BITS: u32 = STEPS.trailing_zeros();

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram { counts: Vec::new(), count: 0, sum: 0, min: u64::MAX, max: 0 }
    }
}

impl Histogram {
    /// Counts one value.
    #[inline]
    pub fn record(&mut self, value: u64) {
        let bucket = bucket_of(value);
        match self.counts.get_mut(bucket) {
            Some(count) => *count += 1,
            None => self.count_first(bucket),
        }
        self.count += 1;
        self.sum += u128::from(value);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Counts the first value of a bucket beyond all others.
    #[cold]
    fn count_first(&mut self, bucket: usize) {
        self.counts.resize(bucket, 0);
        self.counts.push(1);
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Exact sum of the values.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// Exact mean; `None` without values.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// Exact smallest value.
    pub fn min(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min)
    }

    /// Exact largest value.
    pub fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }

    /// The smallest bucket value that at least the fraction `q` (0 to 1) of the values does not
    /// exceed.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        let rank = ((q * self.count as f64).ceil() as u64).clamp(1, self.count.max(1));
        let mut seen = 0;
        self.counts
            .iter()
            .position(|&n| {
                seen += n;
                seen >= rank
            })
            .map(|bucket| highest_in(bucket).min(self.max))
    }

    /// Adds another histogram's values.
    pub fn merge(&mut self, other: &Histogram) {
        if other.counts.len() > self.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Adds `times` the values by which `after` exceeds `before`, an earlier state of it. The
    /// extremes of the difference are unknown; those of `after` bound them.
    pub fn merge_since(&mut self, before: &Histogram, after: &Histogram, times: Times) {
        if times == Times::from(0) || after.count == before.count {
            return;
        }
        if after.counts.len() > self.counts.len() {
            self.counts.resize(after.counts.len(), 0);
        }
        for (at, (mine, count)) in self.counts.iter_mut().zip(&after.counts).enumerate() {
            *mine += times.of(count - before.counts.get(at).unwrap_or(&0));
        }
        self.count = self.counts.iter().sum();
        self.sum += times.of_sum(after.sum - before.sum);
        self.min = self.min.min(after.min);
        self.max = self.max.max(after.max);
    }

    /// Non-empty buckets: (lowest value, highest value, count), ascending.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        self.counts
            .iter()
            .enumerate()
            .filter(|&(_, &n)| n > 0)
            .map(|(bucket, &n)| (lowest_in(bucket), highest_in(bucket), n))
    }
}

fn bucket_of(value: u64) -> usize {
    if value < 2 * STEPS {
        return value as usize;
    }
    let shift = 63 - value.leading_zeros() - STEP_BITS;
    (u64::from(shift) * STEPS + (value >> shift)) as usize
}

fn lowest_in(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < 2 * STEPS {
        return bucket;
    }
    let shift = bucket / STEPS - 1;
    (bucket % STEPS + STEPS) << shift
}

fn highest_in(bucket: usize) -> u64 {
    let width_bits = (bucket as u64 / STEPS).saturating_sub(1);
    lowest_in(bucket) + ((1u64 << width_bits) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// 7 before; then 5 and 300, whose bucket has other values.
    #[test]
    fn a_weighted_difference_of_two_states_is_added() {
        let mut states = [Histogram::default(), Histogram::default()];
        states.iter_mut().for_each(|h| h.record(7));
        [5, 300].into_iter().for_each(|value| states[1].record(value));
        let mut sum = Histogram::default();
        sum.merge_since(&states[0], &states[1], 3.into());
        let buckets: Vec<(u64, u64, u64)> = sum.buckets().collect();
        assert_eq!(buckets, [(5, 5, 3), (300, 303, 3)]);
        assert_eq!((sum.count(), sum.sum(), sum.min(), sum.max()), (6, 915, Some(5), Some(300)));
        let before = sum.clone();
        sum.merge_since(&states[0], &states[1], 0.into());
        sum.merge_since(&states[1], &states[1], 4.into());
        assert_eq!(sum, before, "no values, or weight 0");
    }

    #[test]
    fn small_values_are_exact() {
        let mut h = Histogram::default();
        for v in 0..100 {
            h.record(v);
        }
        assert_eq!(h.quantile(0.5), Some(49));
        assert_eq!(h.quantile(0.99), Some(98));
        assert_eq!(h.quantile(1.0), Some(99));
        assert_eq!(h.mean(), Some(49.5));
    }

    #[test]
    fn empty_has_no_statistics() {
        let h = Histogram::default();
        assert_eq!((h.mean(), h.quantile(0.5), h.max()), (None, None, None));
    }

    proptest! {
        #[test]
        fn a_value_lies_in_its_bucket_and_buckets_are_narrow(value in 0u64..1 << 60) {
            let bucket = bucket_of(value);
            let (low, high) = (lowest_in(bucket), highest_in(bucket));
            prop_assert!(low <= value && value <= high);
            prop_assert!((high - low) as f64 <= value as f64 / 64.0);
        }

        #[test]
        fn merging_equals_recording_together(a in prop::collection::vec(0u64..1 << 40, 0..50),
                                             b in prop::collection::vec(0u64..1 << 40, 0..50)) {
            let fill = |values: &[u64]| {
                let mut h = Histogram::default();
                values.iter().for_each(|&v| h.record(v));
                h
            };
            let mut merged = fill(&a);
            merged.merge(&fill(&b));
            prop_assert_eq!(merged, fill(&[a, b].concat()));
        }
    }
}
