//! Published results next to ours.

use crate::error::{Error, Result};
use crate::noise::{Measured, measured};
use crate::parts;
use crate::study::{Study, mean};
use crate::verdict::{self, Verdict};
use warpmem_study::reproduce::{Best, Claim, Ours, Paper, Runs, Shown};

/// A row of the results: a claim and our result.
#[derive(Clone, Debug)]
pub struct Finding {
    pub claim: Claim,
    pub ours: Answer,
    /// Noise of our result: half of its 95 % interval over irrelevant variants of the machine, in
    /// the displayed unit.
    pub noise: Option<f64>,
    /// Verdict; none for a claim about a size, and without a result.
    pub verdict: Option<Verdict>,
}

/// Our result.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Value in the displayed unit, with the number of workloads; results of single parts have
    /// none.
    Number { shown: f64, workloads: Option<usize> },
    /// Workloads by class.
    Words { text: String, workloads: usize },
    /// Reason for the missing result.
    Nothing(String),
}

/// Evaluates every claim of a paper.
///
/// # Errors
/// If an expression does not fit the results.
pub fn findings(paper: &Paper, study: &Study) -> Result<Vec<Finding>> {
    let find = |claim: &Claim| {
        let failed = |source| Error::Claim { claim: claim.what.clone(), source: Box::new(source) };
        let (ours, noise) = answer(paper, study, claim).map_err(failed)?;
        let verdict = match ours {
            Answer::Number { shown, .. } => verdict::verdict(claim, shown, noise),
            _ => None,
        };
        Ok(Finding { claim: claim.clone(), ours, noise, verdict })
    };
    paper.claims.iter().map(find).collect()
}

/// Computes our result and its noise.
fn answer(paper: &Paper, study: &Study, claim: &Claim) -> Result<(Answer, Option<f64>)> {
    let number =
        |value: f64, workloads| Answer::Number { shown: claim.shown.scaled(value), workloads };
    let ours = match &claim.ours {
        Ours::Runs(runs) => return of_runs(paper, study, runs, claim.shown),
        Ours::Best(best) => return of_best(paper, study, best, claim.published),
        Ours::Classes(classes) => of_classes(study, classes),
        Ours::Stream(stream) => number(parts::efficiency(paper, stream)?, None),
        Ours::Bits(bits) => number(parts::bits_compared(paper, bits)?, None),
        Ours::Nothing(why) => Answer::Nothing(why.clone()),
    };
    Ok((ours, None))
}

fn of_runs(
    paper: &Paper,
    study: &Study,
    runs: &Runs,
    shown: Shown,
) -> Result<(Answer, Option<f64>)> {
    let number = |runs: &Runs| -> Result<Option<f64>> {
        Ok(mean(&study.values(runs)?, runs.mean).map(|value| shown.scaled(value)))
    };
    Ok(match measured(paper, runs, number)? {
        Some(Measured { mean, noise }) => {
            let workloads = Some(study.values(runs)?.len());
            (Answer::Number { shown: mean, workloads }, noise)
        }
        None => (nothing_of(study, runs), None),
    })
}

/// Explains why there is no mean.
fn nothing_of(study: &Study, runs: &Runs) -> Answer {
    let is_there = |name: &String| study.classes().holds(&runs.classes, name);
    let members = study.workloads().iter().filter(|name| is_there(name)).count();
    Answer::Nothing(match members {
        0 => format!("no workload is {}", runs.classes.join(" or ")),
        _ => "nothing was counted".to_owned(),
    })
}

/// Finds the value of a sweep with the highest mean (among ties, the published one), or the
/// distance of that mean from its comparison. The noise is that of the latter: the sweep does not
/// run in variants.
fn of_best(
    paper: &Paper,
    study: &Study,
    best: &Best,
    published: Option<f64>,
) -> Result<(Answer, Option<f64>)> {
    let Best { setting, runs, .. } = best;
    let mut means = Vec::new();
    for (value, runs) in runs.swept(paper.swept(setting)) {
        if let Some(found) = mean(&study.values(&runs)?, runs.mean) {
            means.push((found, value));
        }
    }
    let Some(most) = means.iter().map(|(found, _)| *found).reduce(f64::max) else {
        return Ok((nothing_of(study, runs), None));
    };
    let Some(against) = best.against() else {
        let highest = means.iter().filter(|(found, _)| *found == most);
        let highest: Vec<f64> = highest.map(|(_, value)| number(value)).collect::<Result<_>>()?;
        let shown = published.filter(|number| highest.contains(number)).unwrap_or(highest[0]);
        return Ok((Answer::Number { shown, workloads: Some(members(study, runs)) }, None));
    };
    let values = study.values(&against)?;
    let base = mean(&values, against.mean).ok_or(Error::NothingToCompare)?;
    let number = |runs: &Runs| -> Result<Option<f64>> {
        Ok(mean(&study.values(runs)?, runs.mean).map(|value| Shown::Change.scaled(value / base)))
    };
    let noise = measured(paper, &against, number)?.and_then(|measured| measured.noise);
    let shown = Shown::Change.scaled(most / base);
    Ok((Answer::Number { shown, workloads: Some(values.len()) }, noise))
}

/// Parses `text` as a number.
///
/// # Errors
/// If it is not a number.
pub(crate) fn number(text: &str) -> Result<f64> {
    text.parse().map_err(|source| Error::Number { text: text.to_owned(), source })
}

fn members(study: &Study, runs: &Runs) -> usize {
    study.workloads().iter().filter(|name| study.classes().holds(&runs.classes, name)).count()
}

fn of_classes(study: &Study, classes: &[String]) -> Answer {
    let of = |class: &String| format!("{class} {}", study.classes().members(class).len());
    let text = classes.iter().map(of).collect::<Vec<_>>().join(", ");
    Answer::Words { text, workloads: study.workloads().len() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classes::Classes;
    use crate::study::tests::{study, swept};

    fn paper(ours: &str) -> Paper {
        let text = format!(
            "title = 'T'\nmachine = 'li2015'\nworkloads.quick = []\n\
            [schemes]\nX = []\nY = []\n[settings.n]\nset = ['dram.read_queue={{}}']\nvalues = [8, 16]\n\
            [[claim]]\nwhat = 'w'\nsource = 's'\npublished = 1\n{ours}"
        );
        Paper::from_text("t", &text).unwrap()
    }

    fn found(ours: &str) -> Answer {
        let study = study().classified(Classes::known(&[("a", "HIL"), ("b", "LIL")]));
        findings(&paper(ours), &study).unwrap().remove(0).ours
    }

    #[test]
    fn our_value_is_the_class_mean_with_its_count() {
        let ours = found("ours.runs = { of = 'X', over = 'Y' }");
        assert_eq!(ours, Answer::Number { shown: 150.0, workloads: Some(2) });
        let ours = found("ours.runs = { of = 'X', over = 'Y', classes = ['HIL'] }");
        assert_eq!(ours, Answer::Number { shown: 100.0, workloads: Some(1) });
        let ours = found("ours.runs = { of = 'X', over = 'Y', mean = 'of-sums' }");
        assert_eq!(ours, Answer::Number { shown: 175.0, workloads: Some(2) });
    }

    #[test]
    fn of_several_best_values_the_published_one_is_taken() {
        let best = |published: f64| {
            let mut paper =
                paper("ours.best = { setting = 'n', runs = { of = 'X @ n=*' } }\nshown = 'value'");
            paper.claims[0].published = Some(published);
            findings(&paper, &swept(&[("8", 2.0), ("16", 2.0)])).unwrap().remove(0).ours
        };
        let number = |shown| Answer::Number { shown, workloads: Some(1) };
        assert_eq!([8.0, 16.0, 32.0].map(best), [number(8.0), number(16.0), number(8.0)]);
    }

    #[test]
    fn uncomputable_claims_state_the_reason() {
        let ours = found("ours.runs = { of = 'X', classes = ['insensitive'] }");
        assert_eq!(ours, Answer::Nothing("no workload is insensitive".to_owned()));
        let ours = found("ours.runs = { of = 'Y', metric = 'counter_held' }");
        assert_eq!(ours, Answer::Nothing("nothing was counted".to_owned()));
        let nothing = "ours.nothing = 'the paper does not say'";
        assert_eq!(found(nothing), Answer::Nothing("the paper does not say".to_owned()));
    }

    #[test]
    fn workloads_are_counted_by_class() {
        let ours = found("ours.classes = ['HIL', 'insensitive']");
        let text = "HIL 1, insensitive 0".to_owned();
        assert_eq!(ours, Answer::Words { text, workloads: 3 });
    }
}
