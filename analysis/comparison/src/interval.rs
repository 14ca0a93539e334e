//! Means of paired ratios over repeats and workloads, with 95 % intervals.
//!
//! A repeat is a seed of the workload's generator and a variant of the machine. In each, a policy and
//! its baseline run on the same trace and variant, so their ratio has no noise of either in common.
//! All sums are over logarithms of ratios, so the interval of a/b is the inverse of that of b/a.

use std::collections::BTreeMap;

use warpmem_support::statistics::Variance;

use crate::means::Mean;

/// Smallest distance of a ratio from 1 that tables show. Smaller differences are none.
const SMALLEST: f64 = 0.0005;

/// The ratio of a policy to its baseline in one repeat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pair<'a> {
    /// Name of the trace, one per seed.
    pub(crate) trace: &'a str,
    pub(crate) variant: i64,
    pub(crate) ratio: f64,
    /// Half of the 95 % interval of its logarithm due to sampling: 0 if both runs simulate everything,
    /// infinite if it is unknown.
    pub(crate) sampling: f64,
}

/// The mean of ratios, and its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Estimate {
    pub(crate) ratio: f64,
    /// Number of pairs with a ratio.
    pub(crate) pairs: usize,
    /// Noise of the mean; none if nothing was repeated.
    noise: Option<Variance>,
    /// Square of half the 95 % interval due to sampling; 0 if no run was sampled.
    sampling: f64,
    /// Whether no table shows a difference from 1, in any workload.
    is_invisible: bool,
}

/// Whether a ratio differs from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The interval includes 1, or no table shows the difference.
    Equal,
    Above,
    Below,
}

impl Estimate {
    /// Averages the ratios of a workload over its repeats, geometrically; none without a ratio.
    pub(crate) fn over_repeats(pairs: &[Pair<'_>]) -> Option<Estimate> {
        let pairs: Vec<&Pair> = pairs.iter().filter(|pair| pair.ratio > 0.0).collect();
        let logs: Vec<f64> = pairs.iter().map(|pair| pair.ratio.ln()).collect();
        // Seeds and variants are crossed: a trace's difference recurs in its variants, and a variant's
        // in the traces, so both spreads count.
        let traces = means_by(pairs.iter().map(|pair| pair.trace), &logs);
        let variants = means_by(pairs.iter().map(|pair| pair.variant), &logs);
        let noises = [&traces, &variants].map(|means| Variance::of_mean(means));
        let squares: Vec<f64> = pairs.iter().map(|pair| pair.sampling.powi(2)).collect();
        let ratio = match pairs.as_slice() {
            [] => return None,
            [pair] => pair.ratio,
            _ => mean(&logs).exp(),
        };
        Some(Estimate {
            ratio,
            pairs: pairs.len(),
            noise: noises
                .iter()
                .any(Option::is_some)
                .then(|| Variance::sum(noises.into_iter().flatten())),
            sampling: mean(&squares),
            is_invisible: is_invisible(ratio),
        })
    }

    /// Averages workloads; none without one. The noise is known if that of every workload is. Workloads
    /// are a fixed set: the interval covers their noise, not the choice of the workloads.
    pub(crate) fn over_workloads(workloads: &[Estimate], of: Mean) -> Option<Estimate> {
        let ratio = of.of(workloads.iter().map(|workload| Some(workload.ratio)))?;
        // Derivatives of the mean's logarithm by the logarithms of the ratios, squared.
        let power = |workload: &Estimate| match of {
            Mean::Arithmetic => workload.ratio,
            Mean::Geometric => 1.0,
            Mean::Harmonic => 1.0 / workload.ratio,
        };
        let sum: f64 = workloads.iter().map(power).sum();
        let weighed = workloads.iter().map(|workload| (workload, (power(workload) / sum).powi(2)));
        let noises = weighed.clone().map(|(one, square)| Some(one.noise?.scaled(square)));
        let noises = noises.collect::<Option<Vec<Variance>>>();
        Some(Estimate {
            ratio,
            pairs: workloads.iter().map(|workload| workload.pairs).sum(),
            noise: noises.map(|noises| Variance::sum(noises.into_iter())),
            sampling: weighed.map(|(one, square)| one.sampling * square).sum(),
            is_invisible: workloads.iter().all(|workload| workload.is_invisible),
        })
    }

    /// Returns half of the 95 % interval of the logarithm; none if neither repeats nor samples tell.
    fn half(&self) -> Option<f64> {
        let sampling = self.is_sampled().then_some(self.sampling);
        let noise = self.noise.map(|noise| noise.half_interval().powi(2));
        let both = noise.into_iter().chain(sampling).reduce(|sum, square| sum + square);
        both.map(f64::sqrt)
    }

    /// Returns the 95 % interval.
    pub(crate) fn bounds(&self) -> Option<[f64; 2]> {
        let (log, half) = (self.ratio.ln(), self.half()?);
        Some([(log - half).exp(), (log + half).exp()])
    }

    /// Returns whether the ratio differs from 1; none if its noise is unknown.
    pub(crate) fn verdict(&self) -> Option<Verdict> {
        match self.half() {
            None => self.is_invisible.then_some(Verdict::Equal),
            Some(half) if self.ratio.ln().abs() <= half => Some(Verdict::Equal),
            Some(_) if is_invisible(self.ratio) => Some(Verdict::Equal),
            Some(_) if self.ratio > 1.0 => Some(Verdict::Above),
            Some(_) => Some(Verdict::Below),
        }
    }

    /// Returns whether the interval covers the errors of sampled runs.
    pub(crate) fn is_sampled(&self) -> bool {
        self.sampling > 0.0
    }
}

impl Verdict {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Verdict::Equal => "equal",
            Verdict::Above => "above",
            Verdict::Below => "below",
        }
    }
}

fn is_invisible(ratio: f64) -> bool {
    (ratio - 1.0).abs() < SMALLEST
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns the mean of the values of each key.
fn means_by<K: Ord>(keys: impl Iterator<Item = K>, values: &[f64]) -> Vec<f64> {
    let mut groups: BTreeMap<K, Vec<f64>> = BTreeMap::new();
    keys.zip(values).for_each(|(key, value)| groups.entry(key).or_default().push(*value));
    groups.values().map(|group| mean(group)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpmem_support::random::Random;

    const TRACES: [&str; 5] = ["a", "b", "c", "d", "e"];

    fn pair(trace: &'static str, variant: i64, log: f64) -> Pair<'static> {
        Pair { trace, variant, ratio: log.exp(), sampling: 0.0 }
    }

    fn of(pairs: &[Pair<'_>]) -> Estimate {
        Estimate::over_repeats(pairs).unwrap()
    }

    fn close(estimate: &Estimate, log: f64, half: f64) {
        let (own, own_half) = (estimate.ratio.ln(), estimate.half().unwrap());
        assert!((own - log).abs() < 1e-9 && (own_half - half).abs() < 1e-5, "{own} {own_half}");
        let [low, high] = estimate.bounds().unwrap();
        assert!((low.ln() - (log - half)).abs() < 1e-5 && (high.ln() - (log + half)).abs() < 1e-5);
    }

    #[test]
    fn an_interval_is_students_over_the_variants() {
        // Mean 0.1, standard deviation 0.1, of three: 4.30265 · 0.1 / √3.
        close(&of(&[pair("a", 0, 0.0), pair("a", 1, 0.1), pair("a", 2, 0.2)]), 0.1, 0.248_414);
        // Of two: 12.7062 · √0.02 / √2.
        close(&of(&[pair("a", 0, 0.1), pair("b", 0, 0.3)]), 0.2, 1.270_62);
    }

    #[test]
    fn the_spreads_of_seeds_and_variants_add() {
        // Seeds 0.1 and 0.3, variants 0.1 and 0.3: variances 0.01 and 0.01, 1 + 1 degrees: 4.30265 · √0.02.
        let crossed = [pair("a", 0, 0.0), pair("a", 1, 0.2), pair("b", 0, 0.2), pair("b", 1, 0.4)];
        close(&of(&crossed), 0.2, 0.608_487);
        // Seeds 0.1 and 0.3, variants 0.2 and 0.2: variances 0.01 and 0: 12.7062 · 0.1.
        let seeds = [pair("a", 0, 0.1), pair("a", 1, 0.1), pair("b", 0, 0.3), pair("b", 1, 0.3)];
        close(&of(&seeds), 0.2, 1.270_62);
    }

    #[test]
    fn errors_of_sampled_runs_add_in_quadrature_and_do_not_shrink_with_repeats() {
        let sampled = |variant, log| Pair { sampling: 0.05, ..pair("a", variant, log) };
        close(&of(&[sampled(0, 0.1)]), 0.1, 0.05);
        close(&of(&[sampled(0, 0.1), sampled(1, 0.1)]), 0.1, 0.05);
        let both = (0.248_414_f64.powi(2) + 0.05_f64.powi(2)).sqrt();
        close(&of(&[sampled(0, 0.0), sampled(1, 0.1), sampled(2, 0.2)]), 0.1, both);
        let unknown = Pair { sampling: f64::INFINITY, ..pair("a", 0, 0.1) };
        assert_eq!(of(&[unknown]).verdict(), Some(Verdict::Equal), "nothing is known");
    }

    #[test]
    fn verdicts() {
        let verdict = |pairs: &[Pair<'_>]| of(pairs).verdict();
        assert_eq!(verdict(&[pair("a", 0, 0.1)]), None, "the noise is unknown");
        assert_eq!(verdict(&[pair("a", 0, 0.0004)]), Some(Verdict::Equal), "no table shows it");
        assert_eq!(verdict(&[pair("a", 0, 0.1), pair("a", 1, 0.11)]), Some(Verdict::Above));
        assert_eq!(verdict(&[pair("a", 0, -0.1), pair("a", 1, -0.11)]), Some(Verdict::Below));
        assert_eq!(verdict(&[pair("a", 0, -0.1), pair("a", 1, 0.11)]), Some(Verdict::Equal));
        assert!(Estimate::over_repeats(&[]).is_none());
    }

    #[test]
    fn means_of_workloads_propagate_their_noise() {
        // Ratios 1 and 3, each with half intervals of 0.1 from sampling alone.
        let one = |ratio: f64| of(&[Pair { ratio, sampling: 0.1, ..pair("a", 0, 0.0) }]);
        let workloads = [one(1.0), one(3.0)];
        let mean = |of| Estimate::over_workloads(&workloads, of).unwrap();
        // Weights 1/2 and 1/2: 0.1 / √2.
        close(&mean(Mean::Geometric), 3f64.sqrt().ln(), 0.070_711);
        // Weights 1/4 and 3/4: 0.1 · √(1 + 9) / 4.
        close(&mean(Mean::Arithmetic), 2f64.ln(), 0.079_057);
        // Weights 3/4 and 1/4.
        close(&mean(Mean::Harmonic), 1.5f64.ln(), 0.079_057);
        // Two workloads with variances 0.01 / 4 and 0.01 / 4, 1 + 1 degrees: 4.30265 · √0.005.
        let noisy = of(&[pair("a", 0, 0.1), pair("a", 1, 0.3)]);
        close(&Estimate::over_workloads(&[noisy, noisy], Mean::Geometric).unwrap(), 0.2, 0.304_243);
        let alone = of(&[pair("a", 0, 0.1)]);
        let some = Estimate::over_workloads(&[noisy, alone], Mean::Geometric).unwrap();
        assert_eq!(some.verdict(), None, "one workload has no repeats");
        assert!(Estimate::over_workloads(&[], Mean::Geometric).is_none());
        let opposite = [of(&[pair("a", 0, 0.5)]), of(&[pair("a", 0, -0.5)])];
        let opposite = Estimate::over_workloads(&opposite, Mean::Geometric).unwrap();
        assert_eq!(opposite.verdict(), None, "a mean of 1 hides the differences of the workloads");
    }

    /// Returns a number of about normal distribution with mean 0: the sum of twelve uniform ones.
    fn normal(random: &mut Random) -> f64 {
        (0..12).map(|_| random.index(1 << 20) as f64 / f64::from(1 << 20) - 0.5).sum()
    }

    /// Returns the share of trials in which a policy without effect is called different. Effects of
    /// seeds, of variants and of single runs have these standard deviations.
    fn false_verdicts(seeds: usize, variants: i64, [seed, variant, run]: [f64; 3]) -> f64 {
        const TRIALS: usize = 1000;
        let mut random = Random::new(7);
        let trial = |_: &usize| {
            let of_variant: Vec<f64> =
                (0..variants).map(|_| variant * normal(&mut random)).collect();
            let mut pairs = Vec::new();
            for &trace in &TRACES[..seeds] {
                let of_seed = seed * normal(&mut random);
                for (number, effect) in (0..).zip(&of_variant) {
                    let log = of_seed + effect + run * normal(&mut random);
                    pairs.push(pair(trace, number, log));
                }
            }
            of(&pairs).verdict() != Some(Verdict::Equal)
        };
        (0..TRIALS).filter(trial).count() as f64 / TRIALS as f64
    }

    #[test]
    fn a_policy_without_effect_is_called_different_in_one_trial_of_twenty_or_less() {
        for effects in [[0.02, 0.0, 0.01], [0.0, 0.02, 0.01], [0.02, 0.02, 0.01], [0.0, 0.0, 0.02]]
        {
            for (seeds, variants) in [(1, 3), (5, 1), (5, 3), (2, 2)] {
                // A single seed repeats no effect of the seed, and a single variant none of the variant.
                let seen =
                    [if seeds > 1 { 1.0 } else { 0.0 }, if variants > 1 { 1.0 } else { 0.0 }, 1.0];
                let effects = [0, 1, 2].map(|at| effects[at] * seen[at]);
                let share = false_verdicts(seeds, variants, effects);
                assert!(share < 0.065, "{seeds} seeds, {variants} variants, {effects:?}: {share}");
            }
        }
    }

    #[test]
    fn a_policy_with_an_effect_is_called_different() {
        let mut random = Random::new(3);
        let pairs: Vec<Pair<'_>> =
            (0..5).map(|variant| pair("a", variant, 0.1 + 0.01 * normal(&mut random))).collect();
        assert_eq!(of(&pairs).verdict(), Some(Verdict::Above));
    }
}
