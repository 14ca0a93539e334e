//! Values of an expression for each workload, unmodified and in every irrelevant variant.

use crate::error::Result;
use crate::noise::Measured;
use crate::study::{Study, Value, mean};
use std::collections::HashMap;
use warpmem_study::reproduce::{Mean, Paper, Runs, Shown};

/// Values by variant, the unmodified ones first.
#[derive(Clone, Debug)]
pub(crate) struct Samples(Vec<Vec<Value>>);

impl Samples {
    /// Evaluates `runs` for the workloads of its classes.
    ///
    /// # Errors
    /// If an expression does not fit the results.
    pub fn of(paper: &Paper, study: &Study, runs: &Runs) -> Result<Samples> {
        let variants = paper.variants().into_iter().map(|number| runs.in_variant(number));
        let all = [runs.clone()].into_iter().chain(variants);
        Ok(Samples(all.map(|runs| study.values(&runs)).collect::<Result<_>>()?))
    }

    #[cfg(test)]
    pub fn new(values: Vec<Vec<Value>>) -> Samples {
        Samples(values)
    }

    /// Keeps the workloads for which `keep` is true.
    pub fn only(&self, keep: impl Fn(&str) -> bool) -> Samples {
        let kept = |values: &Vec<Value>| {
            values.iter().filter(|value| keep(&value.workload)).cloned().collect()
        };
        Samples(self.0.iter().map(kept).collect())
    }

    /// Returns the names of the workloads, in the order of the plan.
    pub fn workloads(&self) -> Vec<&str> {
        self.0[0].iter().map(|value| value.workload.as_str()).collect()
    }

    /// Measures a number by the unmodified runs and those of each variant; none without the
    /// former. Variants without a number are ignored.
    pub fn measured(&self, number: impl Fn(&[Value]) -> Option<f64>) -> Option<Measured> {
        number(&self.0[0])?;
        let all: Vec<f64> = self.0.iter().filter_map(|values| number(values)).collect();
        Measured::of(&all)
    }

    /// Measures the mean over workloads, as displayed.
    pub fn mean(&self, kind: Mean, shown: Shown) -> Option<Measured> {
        self.measured(|values| mean(values, kind).map(|value| shown.scaled(value)))
    }

    /// Measures the median over workloads, as displayed.
    pub fn median(&self, shown: Shown) -> Option<Measured> {
        self.measured(|values| {
            let mut all: Vec<f64> = values.iter().filter_map(|value| value.value).collect();
            all.sort_by(f64::total_cmp);
            let upper = *all.get(all.len() / 2)?;
            let lower = all[(all.len() - 1) / 2];
            Some(shown.scaled((lower + upper) / 2.0))
        })
    }

    /// Finds the workload without which the mean differs most, and measures the mean without it;
    /// none for a single workload.
    pub fn without_one(&self, kind: Mean, shown: Shown) -> Option<(String, Measured)> {
        let whole = self.mean(kind, shown)?.mean;
        let without = |left_out: &str| {
            let others = self.only(|workload| workload != left_out).mean(kind, shown)?;
            Some((left_out.to_owned(), others))
        };
        let all = self.workloads().into_iter().filter_map(without);
        let moved = |one: &(String, Measured)| (one.1.mean - whole).abs();
        all.reduce(|one, other| if moved(&other) > moved(&one) { other } else { one })
    }

    /// Returns the displayed values of each workload, the unmodified one first.
    pub fn each(&self, shown: Shown) -> Vec<(String, Vec<f64>)> {
        let number = |value: &Value| Some((value.workload.clone(), shown.scaled(value.value?)));
        let mut all: Vec<(String, Vec<f64>)> = self.0[0]
            .iter()
            .filter_map(number)
            .map(|(workload, value)| (workload, vec![value]))
            .collect();
        for values in &self.0[1..] {
            let mut of_variant: HashMap<String, f64> = values.iter().filter_map(number).collect();
            all.iter_mut().for_each(|(workload, own)| own.extend(of_variant.remove(workload)));
        }
        all
    }

    /// Measures each workload separately, as displayed.
    pub fn measured_each(&self, shown: Shown) -> impl Iterator<Item = (String, Measured)> {
        let each = self.each(shown).into_iter();
        each.filter_map(|(workload, values)| Some((workload, Measured::of(&values)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::tests::varied;

    fn paper() -> Paper {
        let text =
            "title = 'T'\nmachine = 'li2015'\nworkloads.quick = []\n[schemes]\nX = []\nY = []";
        Paper::from_text("t", text).unwrap().quickly()
    }

    fn of(ours: &str) -> Option<Measured> {
        let runs: Runs = toml::from_str(ours).unwrap();
        Samples::of(&paper(), &varied(), &runs).unwrap().mean(runs.mean, Shown::Times)
    }

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-3, "{found} {expected}");
    }

    /// X is 2.0 unmodified and 2.2, 1.8 and 2.0 in three variants; Y is 1.0, 1.0, 1.0 and 0.8.
    #[test]
    fn a_ratio_is_the_mean_of_pairs_that_differ_in_the_policy_alone() {
        let ratio = of("of = 'X'\nover = 'Y'").unwrap();
        let pairs = [2.0, 2.2, 1.8, 2.5];
        close(ratio.mean, pairs.iter().sum::<f64>() / 4.0);
        let squares: f64 = pairs.iter().map(|pair| (pair - ratio.mean).powi(2)).sum();
        close(ratio.noise.unwrap(), 3.182 * (squares / 3.0 / 4.0).sqrt());
        close(of("of = 'X'").unwrap().mean, 2.0);
        assert_eq!(of("of = 'Z'"), None);
    }

    fn samples(ratios: &[(&str, f64)]) -> Samples {
        let value = |&(workload, own): &(&str, f64)| Value {
            workload: workload.to_owned(),
            own,
            base: Some(1.0),
            value: Some(own),
        };
        Samples::new(vec![ratios.iter().map(value).collect(); 2])
    }

    #[test]
    fn the_most_influential_workload_is_left_out_and_named() {
        let all = samples(&[("a", 1.0), ("b", 1.1), ("KMN", 3.31), ("c", 1.0)]);
        close(all.mean(Mean::Arithmetic, Shown::Change).unwrap().mean, 60.25);
        let (name, others) = all.without_one(Mean::Arithmetic, Shown::Change).unwrap();
        assert_eq!(name, "KMN");
        close(others.mean, 10.0 / 3.0);
        close(all.median(Shown::Change).unwrap().mean, 5.0);
        let one = samples(&[("a", 1.2)]);
        assert!(one.without_one(Mean::Arithmetic, Shown::Change).is_none());
        close(one.median(Shown::Change).unwrap().mean, 20.0);
    }
}
