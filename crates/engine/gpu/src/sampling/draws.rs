//! Random draws from items that pass in order: the launches of a group, or the waves of a launch.
//!
//! The items are divided into runs; one of each run is drawn and stands for all of them, so that the
//! sample covers drift. The length of a run is a power of two, decided when it begins from the values
//! drawn before. Runs are aligned to their length, and the draw of a run is that of one of its halves:
//! policies whose values vary more or less share draws.

use std::ops::Range;
use warpmem_support::random::mixed;
use warpmem_support::statistics::{Variance, successive_degrees};

/// Degrees of freedom for which the assumed spread counts in a variance.
const ASSUMED_DEGREES: f64 = 0.5;

/// The first draws stand for few items each, because their spread is not known yet: for a 32nd of all, or
/// [`FEW`].
const PILOTS: u32 = 3;
const PILOT_SHARE: u32 = 32;
const FEW: u32 = 16;

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

#[derive(Debug)]
pub(super) struct Draws {
    items: u32,
    /// Fewest runs into which the items are divided.
    least_runs: u32,
    /// Spread of the values, relative, that is assumed before any is known.
    assumed: f64,
    seed: u64,
    /// First item that belongs to no run yet.
    next: u32,
    /// Number of runs so far, and the variance that they add to the total, in variances of a value.
    runs: u32,
    weight: f64,
    /// Value of a similar item before the first.
    before: Option<f64>,
    /// Values drawn so far: all but that of the last run, perhaps.
    values: Vec<f64>,
}

impl Draws {
    pub fn new(items: u32, least_runs: u32, assumed: f64, seed: u64) -> Draws {
        Draws {
            items,
            least_runs,
            assumed,
            seed,
            next: 0,
            runs: 0,
            weight: 0.0,
            before: None,
            values: Vec::new(),
        }
    }

    /// Returns the number of items.
    pub fn items(&self) -> u32 {
        self.items
    }

    /// Begins the next run, of at most `most` items; none after the last item.
    pub fn next_run(&mut self, most: f64) -> Option<Run> {
        let (first, left) = (self.next, self.left());
        if left == 0 {
            return None;
        }
        let aligned = if first == 0 { u32::MAX } else { 1 << first.trailing_zeros() };
        let length = self.length(most).min(aligned).min(self.pilot_length());
        let drawn = if length <= left {
            draw(self.seed, first, length)
        } else {
            first + below(left, mixed_of(self.seed, first, 0))
        };
        let length = length.min(left);
        self.next = first + length;
        self.runs += 1;
        self.weight += f64::from(length) * f64::from(length - 1);
        Some(Run { items: first..self.next, drawn })
    }

    /// Returns the length of runs of at most `most` items, unless alignment shortens them.
    pub fn length(&self, most: f64) -> u32 {
        power_of_two_within((most as u32).min(self.items.div_ceil(self.least_runs)))
    }

    /// Returns the most items of the next run: few for a pilot, any number after the pilots.
    fn pilot_length(&self) -> u32 {
        let few = power_of_two_within(self.items / PILOT_SHARE).max(FEW);
        if self.runs < PILOTS { few } else { u32::MAX }
    }

    /// Returns the number of items that belong to no run yet.
    pub fn left(&self) -> u32 {
        self.items - self.next
    }

    /// Returns the number of runs so far.
    pub fn runs(&self) -> u32 {
        self.runs
    }

    /// Returns the variance of the total that the runs so far add, in variances of a value.
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// Records the value of a similar item before the first. It is no part of the total, and shows until
    /// two values have been drawn how much they may differ.
    pub fn note_before(&mut self, value: f64) {
        self.before = Some(value);
    }

    /// Records the value of the item drawn from the last run.
    pub fn add(&mut self, value: f64) {
        self.values.push(value);
    }

    /// Returns the mean of the values drawn so far, or the value before the first; none without any.
    pub fn mean(&self) -> Option<f64> {
        let count = self.values.len();
        let mean = (count > 0).then(|| self.values.iter().sum::<f64>() / count as f64);
        mean.or(self.before)
    }

    /// Returns the variance of the values relative to the square of their mean, with its degrees of
    /// freedom. Two or three values may be near each other by chance, so the assumed spread counts too: a
    /// moderated variance (Smyth, 2004).
    pub fn relative_variance(&self) -> Variance {
        let own = match (self.before, &self.values[..]) {
            (Some(before), &[only]) => Variance::of_successive(&[before, only]),
            (_, values) => Variance::of_successive(values),
        };
        let own = own.unwrap_or(Variance { value: 0.0, degrees: 0.0 });
        let square = self.mean().map_or(1.0, |mean| mean.max(1.0).powi(2));
        let assumed = ASSUMED_DEGREES * self.assumed.powi(2);
        let degrees = ASSUMED_DEGREES + own.degrees;
        Variance { value: (assumed + own.degrees * own.value / square) / degrees, degrees }
    }

    /// Returns the degrees of freedom of the variance that this many values have.
    pub fn degrees_of(values: f64) -> f64 {
        ASSUMED_DEGREES + successive_degrees(values)
    }

    /// Returns the variance of the estimated total; none if a single value stands for several items.
    pub fn variance_of_total(&self) -> Option<Variance> {
        if self.weight == 0.0 {
            return Some(Variance::NONE);
        }
        let square = self.mean()?.powi(2);
        (self.values.len() > 1).then(|| self.relative_variance().scaled(self.weight * square))
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

    fn next(draws: &mut Draws, bound: f64) -> Option<Run> {
        draws.next_run(bound * f64::from(draws.items) / draws.relative_variance().value)
    }

    /// Draws from `values`; returns the estimated total, its variance, and the drawn items.
    fn sample(values: &[f64], bound: f64, seed: u64) -> (f64, Option<Variance>, Vec<u32>) {
        let mut draws = Draws::new(values.len() as u32, 4, 0.01, seed);
        let (mut total, mut items) = (0.0, Vec::new());
        while let Some(run) = next(&mut draws, bound) {
            assert!(run.items.contains(&run.drawn));
            let value = values[run.drawn as usize];
            draws.add(value);
            total += value * f64::from(run.length());
            items.push(run.drawn);
        }
        (total, draws.variance_of_total(), items)
    }

    fn noise(random: &mut Random) -> f64 {
        (0..12).map(|_| random.below(1 << 20) as f64 / (1 << 20) as f64).sum::<f64>() - 6.0
    }

    #[test]
    fn equal_values_need_few_draws_and_have_the_error_of_the_assumed_spread() {
        for items in [1u32, 2, 7, 31, 100, 4096] {
            let (total, variance, drawn) = sample(&vec![3.0; items as usize], 1e-4, 1);
            assert_eq!(total, 3.0 * f64::from(items));
            let stated = variance.unwrap().value.sqrt() / total;
            assert!(stated <= 0.01, "{stated}");
            assert!(drawn.len() <= 10.max(items as usize / 8), "{items}: {drawn:?}");
        }
        assert!(sample(&[3.0; 4096], 1e-4, 1).2.len() <= 8);
    }

    /// The value before the first shows how much values may differ, until two have been drawn.
    #[test]
    fn a_value_before_the_first_counts_while_a_single_one_is_drawn() {
        let mut draws = Draws::new(64, 2, 0.01, 1);
        assert_eq!((draws.mean(), draws.relative_variance().value), (None, 1e-4));
        draws.note_before(80.0);
        assert_eq!(draws.mean(), Some(80.0));
        draws.add(100.0);
        // (0.5 of 1e-4 + 1 of 20² / 2 / 100²) / 1.5.
        let one = draws.relative_variance();
        assert!((one.value - (0.5e-4 + 0.02) / 1.5).abs() < 1e-12 && one.degrees == 1.5);
        draws.add(100.0);
        assert!((draws.relative_variance().value - 0.5e-4 / 1.5).abs() < 1e-12);
    }

    /// Of a large group the first draws stand for few items, so that a spread beyond the assumed one is known
    /// before one of them stands for half of the group.
    #[test]
    fn the_first_draws_stand_for_few_items() {
        let lengths = |items| -> Vec<u32> {
            let mut draws = Draws::new(items, 2, 0.01, 1);
            (0..4).map_while(|_| draws.next_run(f64::INFINITY)).map(|run| run.length()).collect()
        };
        assert_eq!(lengths(2048), [64, 64, 64, 64]);
        assert_eq!(lengths(40), [16, 16, 8]);
        let mut draws = Draws::new(2048, 2, 0.01, 1);
        let runs: Vec<u32> =
            std::iter::from_fn(|| draws.next_run(f64::INFINITY)).map(|run| run.length()).collect();
        assert_eq!(runs, [64, 64, 64, 64, 256, 512, 1024]);
    }

    #[test]
    fn runs_cover_every_item_once_in_order() {
        let mut draws = Draws::new(1000, 4, 0.01, 5);
        let mut end = 0;
        while let Some(run) = next(&mut draws, 1e-9) {
            assert_eq!(run.items.start, end);
            end = run.items.end;
            draws.add(f64::from(run.drawn % 7));
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
        const SEEDS: u64 = 1000;
        for shape in shapes {
            let (mut held, mut sum, mut drawn) = (0, 0.0, 0);
            for seed in 0..SEEDS {
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
            let (bias, share) = (sum / SEEDS as f64, drawn as f64 / (SEEDS * 500) as f64);
            assert!(held >= 900, "{held} of 1000 within two standard errors");
            assert!(bias.abs() < 5e-4 && share < 0.5, "bias {bias}, {share} of 500 drawn");
        }
    }
}
