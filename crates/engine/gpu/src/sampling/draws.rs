//! Random draws from items that pass in order: the launches of a group, or the waves of a launch.
//!
//! The items are divided into runs; one of each run is drawn and stands for all of them, so that the
//! sample covers drift. The length of a run is a power of two, decided when it begins from the values
//! drawn before, so that the variance of the total stays within a bound. Runs are aligned to their
//! length, and the draw of a run is that of one of its halves: policies whose values vary more or less
//! share draws.

use std::ops::Range;
use warpmem_support::random::mixed;

/// Values that are drawn before the variance is estimated.
const PILOT: usize = 3;
/// Runs into which the items are divided at first, and at least.
const FIRST_RUNS: u32 = 8;
const LEAST_RUNS: u32 = 4;

/// A run of items, represented by a drawn one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub items: Range<u32>,
    pub drawn: u32,
}

impl Run {
    /// Returns the number of items for which the drawn one stands.
    pub fn length(&self) -> u32 {
        self.items.end - self.items.start
    }
}

/// An estimated variance, with its degrees of freedom.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Variance {
    pub value: f64,
    pub freedom: f64,
}

/// A value, and the number of items that it represents.
#[derive(Clone, Copy)]
struct Drawn {
    value: f64,
    stands_for: u32,
}

pub(super) struct Draws {
    items: u32,
    seed: u64,
    /// Bound on the variance of the total, relative to its square.
    bound: f64,
    /// First item that belongs to no run yet.
    next: u32,
    drawn: Vec<Drawn>,
}

impl Draws {
    pub fn new(items: u32, bound: f64, seed: u64) -> Draws {
        Draws { items, seed, bound, next: 0, drawn: Vec::new() }
    }

    /// Returns the number of items.
    pub fn items(&self) -> u32 {
        self.items
    }

    /// Begins the next run; none after the last item.
    pub fn next_run(&mut self) -> Option<Run> {
        let (first, left) = (self.next, self.items - self.next);
        if left == 0 {
            return None;
        }
        let aligned = if first == 0 { u32::MAX } else { 1 << first.trailing_zeros() };
        let length = self.length().min(aligned);
        let drawn = if length <= left {
            draw(self.seed, first, length)
        } else {
            first + below(left, mixed_of(self.seed, first, 0))
        };
        self.next = first + length.min(left);
        Some(Run { items: first..self.next, drawn })
    }

    /// Records the value of the item drawn from a run of this length.
    pub fn add(&mut self, value: f64, stands_for: u32) {
        self.drawn.push(Drawn { value, stands_for });
    }

    /// Returns the length of the next run.
    fn length(&self) -> u32 {
        if self.drawn.len() < PILOT {
            return power_of_two_within(self.items / FIRST_RUNS);
        }
        let mean =
            self.drawn.iter().map(|drawn| drawn.value).sum::<f64>() / self.drawn.len() as f64;
        // A variance from few values may be far too small.
        let freedom = (self.drawn.len() - 1) as f64;
        let relative = self.variance() / (mean * mean) * (1.0 + 4.0 / freedom);
        let most = self.bound * f64::from(self.items) / relative;
        power_of_two_within((most as u32).min(self.items / LEAST_RUNS))
    }

    /// Returns the variance of the values, from the differences between successive ones, which does
    /// not count drift (von Neumann, 1941).
    fn variance(&self) -> f64 {
        let squares = self.drawn.windows(2).map(|pair| (pair[1].value - pair[0].value).powi(2));
        squares.sum::<f64>() / (2 * (self.drawn.len() - 1)) as f64
    }

    /// Returns the variance of the estimated total; none if a single value stands for several items.
    pub fn variance_of_total(&self) -> Option<Variance> {
        let chance = |drawn: &Drawn| {
            let items = f64::from(drawn.stands_for);
            items * (items - 1.0)
        };
        let weight: f64 = self.drawn.iter().map(chance).sum();
        if weight == 0.0 {
            return Some(Variance::default());
        }
        let freedom = 2.0 / 3.0 * (self.drawn.len() as f64 - 1.0);
        (freedom > 0.0).then(|| Variance { value: weight * self.variance(), freedom })
    }
}

/// Returns the largest power of two within `most`, at least 1.
fn power_of_two_within(most: u32) -> u32 {
    1 << most.max(1).ilog2()
}

/// Draws an item of the run of `length` items from `first` on, both aligned: one of its halves, and so
/// on.
fn draw(seed: u64, mut first: u32, mut length: u32) -> u32 {
    while length > 1 {
        let upper = mixed_of(seed, first, length) >> 63 == 1;
        length /= 2;
        first += if upper { length } else { 0 };
    }
    first
}

fn mixed_of(seed: u64, first: u32, length: u32) -> u64 {
    mixed(mixed(seed) ^ (u64::from(first) << 32 | u64::from(length)))
}

/// Maps 64 random bits to a number below `bound`.
fn below(bound: u32, bits: u64) -> u32 {
    ((u128::from(bits) * u128::from(bound)) >> 64) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpmem_support::random::Random;

    /// Draws from `values`; returns the estimated total, its variance, and the drawn items.
    fn sample(values: &[f64], bound: f64, seed: u64) -> (f64, Option<Variance>, Vec<u32>) {
        let mut draws = Draws::new(values.len() as u32, bound, seed);
        let (mut total, mut items) = (0.0, Vec::new());
        while let Some(run) = draws.next_run() {
            assert!(run.items.contains(&run.drawn));
            let value = values[run.drawn as usize];
            draws.add(value, run.length());
            total += value * f64::from(run.length());
            items.push(run.drawn);
        }
        (total, draws.variance_of_total(), items)
    }

    fn noise(random: &mut Random) -> f64 {
        (0..12).map(|_| random.below(1 << 20) as f64 / (1 << 20) as f64).sum::<f64>() - 6.0
    }

    #[test]
    fn equal_values_need_few_draws_and_have_no_error() {
        for items in [1u32, 2, 7, 31, 100, 4096] {
            let (total, variance, drawn) = sample(&vec![3.0; items as usize], 1e-4, 1);
            assert_eq!(total, 3.0 * f64::from(items));
            assert_eq!(variance.unwrap().value, 0.0);
            assert!(drawn.len() <= 10.max(items as usize / 8), "{items}: {drawn:?}");
        }
        assert!(sample(&[3.0; 4096], 1e-4, 1).2.len() <= 7);
    }

    #[test]
    fn runs_cover_every_item_once_in_order() {
        let mut draws = Draws::new(1000, 1e-9, 5);
        let mut end = 0;
        while let Some(run) = draws.next_run() {
            assert_eq!(run.items.start, end);
            end = run.items.end;
            draws.add(f64::from(run.drawn % 7), run.length());
        }
        assert_eq!(end, 1000);
    }

    #[test]
    fn draws_of_longer_runs_are_among_those_of_shorter_ones() {
        for seed in 0..100 {
            let short: Vec<u32> = (0..16).map(|run| draw(seed, 4 * run, 4)).collect();
            assert!((0..4).all(|run| short.contains(&draw(seed, 16 * run, 16))));
        }
    }

    #[test]
    fn every_item_of_a_run_is_drawn_alike_often() {
        let mut counts = [0; 16];
        (0..16_000).for_each(|seed| counts[draw(seed, 16, 16) as usize - 16] += 1);
        // Binomial: 1000 and 31 of standard deviation.
        assert!(counts.iter().all(|count| (850..1150).contains(count)), "{counts:?}");
    }

    /// With noise, with drift, and with two alternating levels.
    #[test]
    fn estimates_are_unbiased_and_their_errors_are_those_stated() {
        let shapes: [fn(u32, f64) -> f64; 3] = [
            |_, noise| 100.0 + 5.0 * noise,
            |item, noise| 100.0 + 0.1 * f64::from(item) + 2.0 * noise,
            |item, noise| if item % 2 == 0 { 100.0 } else { 110.0 } + noise,
        ];
        for shape in shapes {
            let (mut held, mut sum, mut drawn) = (0, 0.0, 0);
            for seed in 0..1000 {
                let mut random = Random::new(seed);
                let values: Vec<f64> = (0..500).map(|i| shape(i, noise(&mut random))).collect();
                let truth: f64 = values.iter().sum();
                let (total, variance, items) = sample(&values, 0.005f64.powi(2), seed);
                let error = (total - truth) / truth;
                let stated = 2.0 * variance.unwrap().value.sqrt() / truth;
                held += u32::from(error.abs() <= stated.max(1e-12));
                sum += error;
                drawn += items.len();
            }
            assert!(held >= 900, "{held} of 1000 within two standard errors");
            assert!((sum / 1000.0).abs() < 5e-4, "bias {}", sum / 1000.0);
            assert!(drawn / 1000 < 250, "{} of 500 drawn", drawn / 1000);
        }
    }
}
