//! Verdicts on synthetic policies: numbers of workloads and variants with a known effect, and noise
//! as measured.
//!
//! The runs of a workload on either machine scatter independently; a claim's number is the mean over
//! workloads of the ratio of two such runs, in every variant.

use crate::noise::Measured;
use crate::samples::Samples;
use crate::study::Value;
use crate::verdict::{Verdict, verdict};
use warpmem_study::reproduce::{Claim, Mean, Ours};
use warpmem_support::random::Random;

/// Trials of a policy.
const TRIALS: usize = 2000;
/// The machine itself and five variants.
const RUNS: usize = 6;

/// A normally distributed number (Box and Muller).
fn normal(random: &mut Random) -> f64 {
    let mut uniform = || (random.bits() >> 11) as f64 / (1u64 << 53) as f64;
    let (radius, angle) = (1.0 - uniform(), uniform());
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

/// An experiment: its claim, the number of workloads, and the standard deviation of their runs, %.
struct Experiment {
    claim: Claim,
    workloads: usize,
    spread: f64,
}

impl Experiment {
    fn new(claim: &str, workloads: usize, spread: f64) -> Experiment {
        let claim = toml::from_str(&format!("what = 'w'\nsource = 's'\n{claim}")).unwrap();
        Experiment { claim, workloads, spread }
    }

    fn mean(&self) -> Mean {
        match &self.claim.ours {
            Ours::Runs(runs) => runs.mean,
            _ => Mean::Arithmetic,
        }
    }

    /// Makes the runs of a policy that changes the metric of every workload by `effect` %, half of
    /// them by more and half by less than that.
    fn samples(&self, effect: f64, random: &mut Random) -> Samples {
        let value = |workload: usize, random: &mut Random| {
            // Programs differ in noise by a factor of four, and in effect by one of three.
            let spread = self.spread / 100.0 * (0.5 + 1.5 * (workload % 4) as f64 / 3.0);
            let own_effect = effect * (1.0 + [0.0, 0.5, -0.5][workload % 3]);
            let mut run = || (spread * normal(random)).exp();
            let (own, base) = ((1.0 + own_effect / 100.0) * run(), run());
            let workload = workload.to_string();
            Value { workload, own, base: Some(base), value: Some(own / base) }
        };
        let variant =
            |random: &mut Random| (0..self.workloads).map(|at| value(at, random)).collect();
        Samples::new((0..RUNS).map(|_| variant(random)).collect())
    }

    fn outcome(&self, effect: f64, random: &mut Random) -> (Verdict, Measured) {
        let samples = self.samples(effect, random);
        let ours = samples.mean(self.mean(), self.claim.shown).unwrap();
        (verdict(&self.claim, ours).unwrap(), ours)
    }

    /// Returns the share of trials with an outcome.
    fn share(&self, effect: f64, wanted: Verdict) -> f64 {
        self.share_of(TRIALS, effect, wanted)
    }

    fn share_of(&self, trials: usize, effect: f64, wanted: Verdict) -> f64 {
        let mut random = Random::new(55);
        let hits = (0..trials).filter(|_| self.outcome(effect, &mut random).0 == wanted).count();
        hits as f64 / trials as f64
    }

    /// Returns the mean noise of a policy without effect, in the displayed unit.
    fn noise(&self) -> f64 {
        let mut random = Random::new(56);
        let noise = (0..500).map(|_| self.outcome(0.0, &mut random).1.noise.unwrap());
        noise.sum::<f64>() / 500.0
    }
}

/// Claims with the numbers and the workload counts of the papers. Single programs scatter by up to 4 %.
fn experiments() -> Vec<(Experiment, f64)> {
    let of = |mean: &str| format!("ours.runs = {{ of = 'X', over = 'Y', mean = '{mean}' }}");
    let claim = |published: f64, mean: &str, workloads, spread| {
        let text = format!("published = {published}\n{}", of(mean));
        (Experiment::new(&text, workloads, spread), published)
    };
    vec![
        claim(8.9, "arithmetic", 9, 1.5),
        claim(5.1, "arithmetic", 14, 1.5),
        claim(45.8, "arithmetic", 1, 4.0),
        claim(-43.2, "arithmetic", 9, 3.0),
        claim(-6.7, "arithmetic", 9, 1.5),
        claim(10.9, "harmonic", 4, 2.0),
        claim(2.6, "harmonic", 9, 1.0),
        claim(0.7, "harmonic", 4, 0.2),
        claim(-28.0, "arithmetic", 4, 2.0),
        claim(-18.0, "of-sums", 4, 3.0),
        claim(33.0, "arithmetic", 17, 3.0),
        claim(4.0, "geometric", 17, 2.0),
        claim(9.0, "arithmetic", 22, 3.0),
        claim(5.65, "arithmetic", 22, 3.0),
        claim(88.3, "harmonic", 6, 4.0),
    ]
}

#[test]
fn a_policy_without_effect_is_called_reproduced_in_at_most_one_trial_of_forty() {
    for (experiment, published) in experiments() {
        let share = experiment.share(0.0, Verdict::Reproduced);
        assert!(share <= 0.025, "{published}: {share}");
    }
}

/// The noise that passes most often is about half the published effect: less does not reach half of
/// it, and the limit of the width excludes more.
#[test]
fn no_noise_reproduces_a_published_effect() {
    let text = "published = 9\nours.runs = { of = 'X', over = 'Y', mean = 'geometric' }";
    for spread in [2.0, 4.0, 5.0, 6.0, 8.0, 12.0] {
        let experiment = Experiment::new(text, 1, spread);
        let share = experiment.share_of(10 * TRIALS, 0.0, Verdict::Reproduced);
        assert!(share <= 0.025, "{spread}: {share}");
    }
}

#[test]
fn a_policy_with_the_published_effect_is_called_reproduced_in_nine_trials_of_ten() {
    for (experiment, published) in experiments() {
        let noise = experiment.noise();
        assert!(noise <= published.abs() / 3.0, "{published}: {noise}");
        let share = experiment.share(published, Verdict::Reproduced);
        assert!(share >= 0.9, "{published}: {share}");
    }
}

#[test]
fn precise_experiments_call_a_policy_without_effect_null() {
    for (experiment, published) in experiments() {
        let share = experiment.share(0.0, Verdict::Null);
        assert!(share >= 0.9, "{published}: {share}");
    }
}

/// The maximum over 14 programs of a policy without effect is a gain beyond its noise, and "agreed"
/// with +45.8 % by its sign. Claims on extremes are refused; the program that the paper names has
/// no gain.
#[test]
fn the_best_of_several_workloads_gains_without_an_effect_and_a_named_one_does_not() {
    let text = "published = 45.8\nours.runs = { of = 'X', over = 'Y' }";
    let experiment = Experiment::new(text, 14, 2.0);
    let mut random = Random::new(57);
    let mut gains = [0, 0];
    for _ in 0..1000 {
        let samples = experiment.samples(0.0, &mut random);
        let greatest = samples.measured(|values| {
            let all = values.iter().filter_map(|value| value.value);
            all.reduce(f64::max).map(|ratio| 100.0 * (ratio - 1.0))
        });
        let named = samples.only(|name| name == "5").mean(Mean::Arithmetic, experiment.claim.shown);
        for (at, measured) in [greatest, named].into_iter().enumerate() {
            let measured = measured.unwrap();
            gains[at] += i32::from(measured.mean > measured.noise.unwrap());
        }
    }
    assert!(gains[0] >= 950 && gains[1] <= 40, "{gains:?}");
    let extreme = "published = 45.8\nours.runs = { of = 'X', over = 'Y', mean = 'greatest' }";
    let error = toml::from_str::<Claim>(&format!("what = 'w'\nsource = 's'\n{extreme}"));
    let error = error.unwrap_err().to_string();
    assert!(error.contains("no verdict is possible on an extreme (`greatest`)"), "{error}");
}
