//! Claims evaluated per workload: a mean may agree where most workloads do not, and vice versa.

use crate::error::{Error, Result};
use crate::line::with_noise;
use crate::noise::Measured;
use crate::samples::Samples;
use crate::study::Study;
use crate::verdict::{Verdict, verdict};
use warpmem_analysis::polars::df;
use warpmem_analysis::polars::prelude::{Column, DataFrame};
use warpmem_study::reproduce::{Claim, Ours, Paper};

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

/// Evaluates every claim on changes, bounds and similarities of several workloads, for each of
/// them. Sizes differ between workloads, and are left out.
///
/// # Errors
/// If an expression does not fit the results.
pub fn by_workload(paper: &Paper, study: &Study) -> Result<Vec<OfWorkload>> {
    let mut all = Vec::new();
    for claim in &paper.claims {
        let (Ours::Runs(runs) | Ours::Every(runs)) = &claim.ours else { continue };
        if claim.is_size() || claim.workload.is_some() || runs.than.is_some() {
            continue;
        }
        let failed = |source| Error::Claim { claim: claim.what.clone(), source: Box::new(source) };
        let samples = Samples::of(paper, study, runs).map_err(failed)?;
        let judged = |(workload, ours): (String, Measured)| {
            let verdict = verdict(claim, ours)?;
            let Measured { mean: ours, noise } = ours;
            Some(OfWorkload { workload, claim: claim.clone(), ours, noise, verdict })
        };
        all.extend(samples.measured_each(claim.shown).filter_map(judged));
    }
    Ok(all)
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

/// Makes a frame with a row for each workload and a column for each headline claim; empty without
/// one.
///
/// # Errors
/// If the dataframe engine fails.
pub(crate) fn headlines(paper: &Paper, study: &Study, found: &[OfWorkload]) -> Result<DataFrame> {
    let claims: Vec<&Claim> = paper.claims.iter().filter(|claim| claim.headline).collect();
    let of = |claim: &Claim, workload: &String| {
        let own = |one: &&OfWorkload| one.workload == *workload && one.claim.what == claim.what;
        let one = found.iter().find(own)?;
        Some(with_noise(claim, one.ours, one.noise))
    };
    let names = study.workloads();
    let columns: Vec<(&Claim, Vec<Option<String>>)> = claims
        .into_iter()
        .map(|claim| (claim, names.iter().map(|name| of(claim, name)).collect()))
        .filter(|(_, cells): &(_, Vec<Option<String>>)| cells.iter().any(Option::is_some))
        .collect();
    if columns.is_empty() {
        return Ok(DataFrame::empty());
    }
    let class = |name: &String| paper.program_of(name).and_then(|program| program.class.clone());
    let mut frame = df!(
        "workload" => names,
        "class in the paper" => names.iter().map(class).collect::<Vec<_>>(),
        "classes measured" => names.iter().map(|name| study.classes().of(name)).collect::<Vec<_>>(),
    )?;
    for (claim, cells) in columns {
        frame.with_column(Column::new(claim.what.as_str().into(), cells))?;
    }
    Ok(frame)
}

/// Counts a workload's claims with a verdict.
pub fn count(found: &[OfWorkload], workload: &str, verdict: Verdict) -> usize {
    let own = found.iter().filter(|one| one.workload == workload);
    own.filter(|one| one.verdict == verdict).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::tests::{study, varied};

    fn paper_text() -> &'static str {
        "title = 'T'\nmachine = 'li2015'\nworkloads.quick = []\n[schemes]\nX = []\nY = []\n"
    }

    fn paper(claims: &str) -> Paper {
        Paper::from_text("t", &[paper_text(), claims].concat()).unwrap().quickly()
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
        assert_eq!(count(&found, "a", Verdict::NoVerdict), 2, "a single run has no noise");
        let of_c = found.iter().filter(|one| one.workload == "c").count();
        assert_eq!(of_c, 0, "it lacks one of the configurations");
    }

    #[test]
    fn headline_results_have_a_column_each() {
        let headline = claim(10.0, "arithmetic").replace("published", "headline = true\npublished");
        let paper = paper(&[claim(3.0, "harmonic"), headline].concat());
        let frame = headlines(&paper, &study(), &by_workload(&paper, &study()).unwrap()).unwrap();
        assert_eq!((frame.height(), frame.width()), (3, 4));
        let cells = frame.column("w").unwrap().str().unwrap().iter().collect::<Vec<_>>();
        assert_eq!(cells, [Some("+100.0 %"), Some("+200.0 %"), None]);
    }

    #[test]
    fn a_workload_has_the_noise_of_its_own_runs() {
        let found = by_workload(&paper(&claim(10.0, "arithmetic")), &varied()).unwrap();
        assert!(found[0].noise.unwrap() > 0.0);
        let frame = by_workload_frame(&found).unwrap();
        assert_eq!(frame.height(), 1);
        assert_eq!(frame.column("noise").unwrap().null_count(), 0);
    }

    /// The mean size of a quantity does not apply to a single workload, nor does a claim on another.
    #[test]
    fn sizes_and_named_programs_are_left_out() {
        let size = "[[claim]]\nwhat = 'w'\nsource = 's'\npublished = 3\nshown = 'value'\nours.runs = { of = 'X' }\n";
        assert!(by_workload(&paper(size), &study()).unwrap().is_empty());
        let of_one = format!("programs = [{{ name = 'a' }}]\n{}", paper_text());
        let claim = claim(10.0, "arithmetic").replace("published", "workload = 'a'\npublished");
        let paper = Paper::from_text("t", &format!("{of_one}{claim}")).unwrap();
        assert!(by_workload(&paper, &study()).unwrap().is_empty());
    }
}
