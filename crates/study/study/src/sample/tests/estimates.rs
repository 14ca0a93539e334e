use super::super::{Census, Design, Estimate, Plan, Size, estimates};
use super::{Sizes, census, part};

const DRAWS: u64 = 800;

/// Estimates every quantity over many draws, with its true value.
fn drawn(census: &Census, ctas: &[u32], run: u32) -> Vec<(&'static str, f64, Vec<Estimate>)> {
    let design = Design { run: Some(run), ..Design::of(Size::Fraction(0.1)) };
    let plan = Plan::new(&part(ctas), census, &design);
    let mut all: Vec<(&str, f64, Vec<Estimate>)> = Vec::new();
    for seed in 0..DRAWS {
        for (at, row) in estimates(&plan, census, &plan.draw(seed)).into_iter().enumerate() {
            if seed == 0 {
                all.push((row.quantity.name, row.truth.unwrap(), Vec::new()));
            }
            all[at].2.push(row.estimate.unwrap());
        }
    }
    all
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

#[test]
fn totals_are_unbiased_and_their_errors_calibrated() {
    let ctas = [700, 90, 3, 1];
    for (sizes, run) in [(Sizes::Skewed, 1), (Sizes::Skewed, 4), (Sizes::Alike, 1)] {
        for (name, truth, drawn) in drawn(&census(&ctas, sizes), &ctas, run) {
            let average = mean(drawn.iter().map(|estimate| estimate.value));
            let spread = mean(drawn.iter().map(|e| (e.value - average).powi(2))).sqrt();
            // The mean of the draws is off by four of its standard errors once in ten thousand
            // times. A ratio of two totals has a bias below its spread divided by the square root
            // of the drawn runs (Cochran 6.8).
            let allowance =
                if name == "lines_per_load" { 0.1 } else { 4.0 / (DRAWS as f64).sqrt() };
            let off = (average - truth).abs() / spread;
            assert!(off < allowance, "{name} {sizes:?} {run}: {average} for {truth}, {off}");
            let said = mean(drawn.iter().map(|e| e.standard_error.powi(2))).sqrt();
            assert!(
                (said / spread - 1.0).abs() < 0.12,
                "{name} {sizes:?} {run}: {said} for {spread}"
            );
        }
    }
}

fn coverage(truth: f64, drawn: &[Estimate]) -> f64 {
    let covers = |estimate: &&Estimate| {
        let [low, high] = estimate.interval();
        (low..=high).contains(&truth)
    };
    let covering = drawn.iter().filter(covers);
    covering.count() as f64 / drawn.len() as f64
}

#[test]
fn intervals_cover_the_truth_in_95_of_100_samples() {
    let ctas = [1000];
    for (name, truth, drawn) in drawn(&census(&ctas, Sizes::Alike), &ctas, 1) {
        let share = coverage(truth, &drawn);
        assert!((0.93..0.975).contains(&share), "{name}: {share}");
    }
}

#[test]
fn intervals_of_skewed_populations_cover_less_often() {
    let ctas = [1000];
    for (name, truth, drawn) in drawn(&census(&ctas, Sizes::Skewed), &ctas, 1) {
        let share = coverage(truth, &drawn);
        assert!((0.8..0.975).contains(&share), "{name}: {share}");
    }
}

#[test]
fn stratification_reduces_the_standard_error() {
    let ctas = [1000];
    let census = census(&ctas, Sizes::Alike);
    let (_, _, drawn) = drawn(&census, &ctas, 1).swap_remove(1);
    let stratified = mean(drawn.iter().map(|e| e.standard_error.powi(2))).sqrt();
    let records: Vec<f64> = census.kernels[0].iter().map(|cta| cta.records as f64).collect();
    let average = mean(records.iter().copied());
    let variance = mean(records.iter().map(|r| (r - average).powi(2)));
    // 100 of 1000 drawn without stratification (Cochran 2.8).
    let anywhere = 1000.0 * (variance / 100.0 * 0.9).sqrt();
    assert!(stratified < 0.5 * anywhere, "{stratified} {anywhere}");
}

#[test]
fn a_full_sample_has_no_error() {
    let ctas = [40, 1];
    let census = census(&ctas, Sizes::Skewed);
    let plan = Plan::new(&part(&ctas), &census, &Design::of(Size::Fraction(1.0)));
    for row in estimates(&plan, &census, &plan.draw(1)) {
        let estimate = row.estimate.unwrap();
        assert_eq!((Some(estimate.value), estimate.standard_error), (row.truth, 0.0));
    }
}

#[test]
fn a_total_is_expanded_stratum_by_stratum() {
    // Two strata, in each two of four runs drawn: 40 to 43 and 100 to 103 records.
    let mut census = census(&[8], Sizes::Alike);
    for (cta, records) in census.kernels[0].iter_mut().zip([40, 41, 42, 43, 100, 101, 102, 103]) {
        cta.records = records;
    }
    let design = Design { run: Some(1), ..Design::of(Size::Ctas(4)) };
    let plan = Plan::new(&part(&[8]), &census, &design);
    let mut draw = plan.draw(1);
    draw.kernels[0] = vec![vec![0, 3], vec![4, 5]];
    let rows = estimates(&plan, &census, &draw);
    let records = rows.iter().find(|row| row.quantity.name == "records").unwrap();
    let estimate = records.estimate.unwrap();
    assert_eq!(estimate.value, 2.0 * (40.0 + 43.0) + 2.0 * (100.0 + 101.0));
    // 4 (4 - 2) / 2 times the variances 4.5 and 0.5.
    assert_eq!(estimate.standard_error, 20f64.sqrt());
    // Satterthwaite: (18 + 2)² / (18² + 2²).
    assert!((estimate.degrees - 400.0 / 328.0).abs() < 1e-12);
    assert_eq!(records.truth, Some(572.0));
}
