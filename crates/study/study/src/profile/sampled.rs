//! Tables of bounded size that keep the keys with a small hash.

use rustc_hash::FxHashMap;
use serde::Serialize;
use std::collections::hash_map::Entry;
use warpmem_support::random::mixed;

/// A number that was counted or, from a sample, estimated.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    pub value: u64,
    /// Standard error in the unit of the value; 0 if the value is exact.
    pub standard_error: f64,
}

impl Estimate {
    /// Converts the estimate to another unit, `unit` of which correspond to one counted item.
    pub(super) fn times(self, unit: u32) -> Estimate {
        Estimate {
            value: self.value.saturating_mul(unit.into()),
            standard_error: self.standard_error * f64::from(unit),
        }
    }
}

/// Values by key. Only the hash of a key decides whether it is kept, so the kept keys are a uniform
/// sample of all keys, independent of their accesses (spatial sampling: Waldspurger et al., SHARDS,
/// FAST 2015). The sampling rate begins at 1 and is halved whenever more than `limit` keys are
/// kept. The value of a kept key is the same as if the final rate had applied from the beginning.
pub(super) struct Sampled<T> {
    values: FxHashMap<u64, T>,
    limit: usize,
    /// Log2 of the keys per kept key.
    shift: u32,
}

/// Hashes a key with SplitMix64's output function, a bijection whose high bits depend on every bit
/// of the key.
pub(super) fn hash(key: u64) -> u64 {
    mixed(key.wrapping_add(0x9e37_79b9_7f4a_7c15))
}

impl<T> Sampled<T> {
    pub fn new(limit: usize) -> Sampled<T> {
        Sampled { values: FxHashMap::default(), limit: limit.max(1), shift: 0 }
    }

    /// Returns whether a key is in the sample.
    pub fn keeps(&self, key: u64) -> bool {
        self.shift == 0 || hash(key) >> (u64::BITS - self.shift) == 0
    }

    /// Returns whether every key is kept.
    pub fn is_exact(&self) -> bool {
        self.shift == 0
    }

    /// Returns the number of keys represented by a kept key.
    pub fn weight(&self) -> u64 {
        1 << self.shift
    }

    pub fn len(&self) -> usize {
        self.values.len()
    }

    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.values.values()
    }

    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.values.values_mut()
    }

    pub fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.values.iter().map(|(&key, value)| (key, value))
    }

    /// Returns the value of a kept key, and whether it was created.
    pub fn entry(&mut self, key: u64, new: impl FnOnce() -> T) -> (&mut T, bool) {
        match self.values.entry(key) {
            Entry::Occupied(known) => (known.into_mut(), false),
            Entry::Vacant(vacant) => (vacant.insert(new()), true),
        }
    }

    /// Halves the rate while too many keys are kept; `dropped` receives the removed values.
    pub fn shrink(&mut self, mut dropped: impl FnMut(&T)) {
        while self.values.len() > self.limit && self.shift < u64::BITS - 1 {
            self.shift += 1;
            let most = u64::MAX >> self.shift;
            self.values.retain(|&key, value| {
                let keeps = hash(key) <= most;
                if !keeps {
                    dropped(value);
                }
                keeps
            });
        }
    }

    /// Estimates the sum of `of` over all keys: the Horvitz-Thompson estimate for independently
    /// kept keys, with the square root of its estimated variance.
    pub fn sum(&self, of: impl Fn(&T) -> u64) -> Estimate {
        let weight = self.weight();
        let (mut sum, mut squares) = (0u64, 0.0);
        for value in self.values.values().map(of) {
            sum = sum.saturating_add(value);
            squares += (value as f64).powi(2);
        }
        let variance = squares * weight as f64 * (weight - 1) as f64;
        Estimate { value: sum.saturating_mul(weight), standard_error: variance.sqrt() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(limit: usize, keys: u64) -> Sampled<u64> {
        let mut table = Sampled::new(limit);
        for key in 0..keys {
            if table.keeps(key) {
                *table.entry(key, || 0).0 += 10;
                table.shrink(|_| ());
            }
        }
        table
    }

    #[test]
    fn small_tables_are_exact() {
        let table = table(100, 100);
        assert!(table.is_exact());
        assert_eq!(table.sum(|&value| value), Estimate { value: 1000, standard_error: 0.0 });
    }

    #[test]
    fn large_tables_keep_a_sample() {
        let table = table(1000, 100_000);
        assert_eq!(table.weight(), 128, "100,000 / 64 would not fit");
        assert!(table.len() <= 1000 && table.iter().all(|(key, _)| table.keeps(key)));
        let keys = table.sum(|_| 1);
        // On average 781 keys are kept: sqrt(781 (1 - 1/128)) is 28 keys, which represent 3560.
        assert!((keys.standard_error - 3560.0).abs() < 200.0, "{keys:?}");
        assert!((keys.value as f64 - 100_000.0).abs() < 3.0 * keys.standard_error, "{keys:?}");
        let tenfold = table.sum(|&value| value);
        assert_eq!(tenfold.value, 10 * keys.value);
        assert!((tenfold.standard_error - 10.0 * keys.standard_error).abs() < 1e-6);
    }

    #[test]
    fn kept_lines_do_not_depend_on_when_the_rate_fell() {
        let late = table(1000, 100_000);
        let again = (0..100_000).filter(|&key| late.keeps(key)).count();
        assert_eq!(again, late.len());
        assert!(late.values().all(|&value| value == 10));
    }

    #[test]
    fn dropped_values_are_reported() {
        let mut table = Sampled::new(3);
        let mut gone = Vec::new();
        for key in 0..64u64 {
            if table.keeps(key) {
                table.entry(key, || key);
                table.shrink(|&key| gone.push(key));
            }
        }
        let kept: Vec<u64> = table.values().copied().collect();
        assert!(kept.len() <= 3 && gone.iter().all(|key| !kept.contains(key)), "{kept:?} {gone:?}");
        assert!(!gone.is_empty());
    }
}
