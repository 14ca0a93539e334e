//! Claims evaluated per workload: a mean may agree where most workloads do not, and vice versa.

use crate::error::{Error, Result};
use crate::noise::Measured;
use crate::study::{Study, Value};
use crate::verdict::{Verdict, verdict};
use std::collections::HashMap;
use warpmem_analysis::polars::df;
use warpmem_analysis::polars::prelude::DataFrame;
use warpmem_study::reproduce::{Claim, Mean, Ours, Paper, Runs, Shown};

/// A claim's number for one workload.
#[derive(Clone, Debug)]
pub struct OfWorkload {
    pub workload: String,
    pub claim: Claim,
    /// Result in the displayed unit.
    pub ours: f64,
    /// Half of the 95 % interval over the variants.
    pub noise: Option<f64>,
    pub verdict: Verdict,
}

/// Evaluates every claim with a direction that is a mean over workloads, for each of its workloads.
///
/// # Errors
/// If an expression does not fit the results.
pub fn by_workload(paper: &Paper, study: &Study) -> Result<Vec<OfWorkload>> {
    let mut all = Vec::new();
    for claim in &paper.claims {
        let Ours::Runs(runs) = &claim.ours else { continue };
        if matches!(runs.mean, Mean::Least | Mean::Greatest) {
            continue;
        }
        let found = of_claim(paper, study, claim, runs);
        let failed = |source| Error::Claim { claim: claim.what.clone(), source: Box::new(source) };
        all.extend(found.map_err(failed)?);
    }
    Ok(all)
}

fn of_claim(paper: &Paper, study: &Study, claim: &Claim, runs: &Runs) -> Result<Vec<OfWorkload>> {
    let each = of_each(paper, study, runs, claim.shown)?.into_iter();
    let judged = |(workload, Measured { mean: ours, noise })| {
        let verdict = verdict(claim, ours, noise)?;
        Some(OfWorkload { workload, claim: claim.clone(), ours, noise, verdict })
    };
    Ok(each.filter_map(judged).collect())
}

/// Evaluates `runs` for each of its workloads separately, in the displayed unit.
///
/// # Errors
/// If an expression does not fit the results.
pub(crate) fn of_each(
    paper: &Paper,
    study: &Study,
    runs: &Runs,
    shown: Shown,
) -> Result<Vec<(String, Measured)>> {
    let values = |runs: &Runs| -> Result<Vec<(String, f64)>> {
        let values = study.values(runs)?.into_iter();
        let shown = |value: Value| Some((value.workload, shown.scaled(value.value?)));
        Ok(values.filter_map(shown).collect())
    };
    let mut all: Vec<(String, Vec<f64>)> =
        values(runs)?.into_iter().map(|(workload, value)| (workload, vec![value])).collect();
    for variant in paper.variants() {
        let mut of_variant: HashMap<String, f64> =
            values(&runs.in_variant(variant))?.into_iter().collect();
        all.iter_mut().for_each(|(workload, values)| values.extend(of_variant.remove(workload)));
    }
    let measured =
        |(workload, values): (String, Vec<f64>)| Some((workload, Measured::of(&values)?));
    Ok(all.into_iter().filter_map(measured).collect())
}

/// Makes a frame with a row for each result.
///
/// # Errors
/// If the dataframe engine fails.
pub fn by_workload_frame(found: &[OfWorkload]) -> Result<DataFrame> {
    let texts = |of: fn(&OfWorkload) -> &str| found.iter().map(of).collect::<Vec<_>>();
    Ok(df!(
        "workload" => texts(|one| &one.workload),
        "what" => texts(|one| &one.claim.what),
        "paper" => texts(|one| &one.claim.source),
        "published" => found.iter().map(|one| one.claim.published).collect::<Vec<_>>(),
        "ours" => found.iter().map(|one| one.ours).collect::<Vec<_>>(),
        "noise" => found.iter().map(|one| one.noise).collect::<Vec<_>>(),
        "verdict" => texts(|one| one.verdict.name()),
    )?)
}

/// Counts a workload's claims that agree, are below noise, and disagree.
pub fn counts(found: &[OfWorkload], workload: &str) -> [usize; 3] {
    [Verdict::Agrees, Verdict::BelowNoise, Verdict::Disagrees].map(|verdict| {
        let own = found.iter().filter(|one| one.workload == workload);
        own.filter(|one| one.verdict == verdict).count()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::tests::{study, varied};

    fn paper(claims: &str) -> Paper {
        let text = format!(
            "title = 'T'\nmachine = 'li2015'\nworkloads.quick = []\n[schemes]\nX = []\nY = []\n{claims}"
        );
        Paper::from_text("t", &text).unwrap().quickly()
    }

    fn claim(published: f64, mean: &str) -> String {
        format!(
            "[[claim]]\nwhat = 'w'\nsource = 's'\npublished = {published}\n\
            ours.runs = {{ of = 'X', over = 'Y', mean = '{mean}' }}\n"
        )
    }

    #[test]
    fn each_workload_has_a_verdict_of_its_own() {
        let paper = paper(&[claim(10.0, "harmonic"), claim(-10.0, "arithmetic")].concat());
        let found = by_workload(&paper, &study()).unwrap();
        let names: Vec<&str> = found.iter().map(|one| one.workload.as_str()).collect();
        assert_eq!(names, ["a", "b", "a", "b"]);
        assert_eq!(counts(&found, "a"), [1, 0, 1]);
        assert_eq!(counts(&found, "c"), [0, 0, 0], "it lacks one of the configurations");
    }

    #[test]
    fn a_workload_has_the_noise_of_its_own_runs() {
        let found = by_workload(&paper(&claim(10.0, "arithmetic")), &varied()).unwrap();
        assert!(found[0].noise.unwrap() > 0.0);
        let frame = by_workload_frame(&found).unwrap();
        assert_eq!(frame.height(), 1);
        assert_eq!(frame.column("noise").unwrap().null_count(), 0);
    }

    /// The worst of several workloads, and a size without a direction, do not apply to a single
    /// workload.
    #[test]
    fn extremes_and_sizes_are_left_out() {
        let size = "[[claim]]\nwhat = 'w'\nsource = 's'\ntext = 'big'\nours.runs = { of = 'X' }\n";
        let claims = [claim(10.0, "least"), size.to_owned()].concat();
        assert!(by_workload(&paper(&claims), &study()).unwrap().is_empty());
    }
}
