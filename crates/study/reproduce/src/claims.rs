//! Published results next to ours.

use crate::error::{Error, Result};
use crate::noise::Measured;
use crate::parts;
use crate::samples::Samples;
use crate::study::{Study, Value, mean};
use crate::verdict::{Judged, Verdict, verdict, verdict_of_every};
use warpmem_study::reproduce::{Best, Claim, Ours, Paper, Runs, Shown};

/// A row of the results: a claim and our result.
#[derive(Clone, Debug)]
pub struct Finding {
    pub claim: Claim,
    pub ours: Answer,
    /// Noise of our result: half of its 95 % interval over irrelevant variants of the machine, in
    /// the displayed unit.
    pub noise: Option<f64>,
    /// Verdict; none if the paper gives nothing to judge, and without a result.
    pub verdict: Option<Verdict>,
    /// Generated workload in place of the program that the claim names.
    pub stand_in: Option<String>,
    /// How a mean over several workloads depends on them.
    pub robustness: Option<Robustness>,
}

/// Our result.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Value in the displayed unit, with the number of workloads; results of single parts have
    /// none.
    Number { shown: f64, workloads: Option<usize> },
    /// Workloads by class, or for which a claim on each of them holds.
    Words { text: String, workloads: usize },
    /// Reason for the missing result.
    Nothing(String),
}

/// Other averages of the values behind a mean, in the displayed unit.
#[derive(Clone, Debug)]
pub struct Robustness {
    pub median: Measured,
    /// The workload without which the mean differs most, and the mean without it.
    pub without: Option<(String, Measured)>,
    /// The mean over the programs that the paper counts among the claim's classes.
    pub of_paper: Option<OfPaper>,
}

/// A mean over the programs of the paper's own classes.
#[derive(Clone, Debug)]
pub struct OfPaper {
    pub mean: Measured,
    pub workloads: usize,
    pub verdict: Option<Verdict>,
}

impl Finding {
    /// Makes a finding without noise or verdict.
    fn new(claim: &Claim, ours: Answer) -> Finding {
        Finding {
            claim: claim.clone(),
            ours,
            noise: None,
            verdict: None,
            stand_in: None,
            robustness: None,
        }
    }

    /// Makes a finding of a number, and judges it.
    fn judged(claim: &Claim, ours: Measured, workloads: Option<usize>) -> Finding {
        let answer = Answer::Number { shown: ours.mean, workloads };
        let verdict = verdict(claim, ours);
        Finding { noise: ours.noise, verdict, ..Finding::new(claim, answer) }
    }

    fn nothing(claim: &Claim, why: impl Into<String>) -> Finding {
        Finding::new(claim, Answer::Nothing(why.into()))
    }
}

/// Evaluates every claim of a paper.
///
/// # Errors
/// If an expression does not fit the results.
pub fn findings(paper: &Paper, study: &Study) -> Result<Vec<Finding>> {
    let find = |claim: &Claim| {
        let failed = |source| Error::Claim { claim: claim.what.clone(), source: Box::new(source) };
        finding(paper, study, claim).map_err(failed)
    };
    paper.claims.iter().map(find).collect()
}

fn finding(paper: &Paper, study: &Study, claim: &Claim) -> Result<Finding> {
    let exact = |value: f64| {
        let mean = claim.shown.scaled(value);
        Finding::judged(claim, Measured { mean, noise: None }, None)
    };
    Ok(match &claim.ours {
        Ours::Runs(runs) => of_runs(paper, study, claim, runs)?,
        Ours::Every(runs) => of_every(paper, study, claim, runs)?,
        Ours::Best(best) => of_best(paper, study, claim, best)?,
        Ours::Classes(classes) => Finding::new(claim, of_classes(study, classes)),
        Ours::Stream(stream) => exact(parts::efficiency(paper, stream)?),
        Ours::Bits(bits) => exact(parts::cost(paper, bits)?),
        Ours::Nothing(why) => Finding::nothing(claim, why),
    })
}

fn of_runs(paper: &Paper, study: &Study, claim: &Claim, runs: &Runs) -> Result<Finding> {
    let all = Samples::of(paper, study, &Runs { classes: Vec::new(), ..runs.clone() })?;
    if let Some(than) = &runs.than {
        return Ok(of_contrast(paper, study, &all, claim, runs, than));
    }
    if let Some(program) = &claim.workload {
        return Ok(of_program(paper, &all, claim, program));
    }
    let is_wanted = |name: &str| study.classes().holds(&runs.classes, name);
    let samples = all.only(is_wanted);
    let Some(ours) = samples.mean(runs.mean, claim.shown) else {
        return Ok(Finding::new(claim, nothing_of(study, runs)));
    };
    let count = samples.workloads().len();
    let of_paper = of_paper(paper, &all, claim, runs);
    let robustness = samples.median(claim.shown).filter(|_| count > 1).map(|median| Robustness {
        median,
        without: samples.without_one(runs.mean, claim.shown),
        of_paper,
    });
    Ok(Finding { robustness, ..Finding::judged(claim, ours, Some(count)) })
}

/// Evaluates a claim on one program: the program itself, or its stand-in.
fn of_program(paper: &Paper, all: &Samples, claim: &Claim, program: &str) -> Finding {
    let Some(workload) = present(paper, all, program) else {
        return Finding::nothing(claim, format!("{program} is not among the workloads"));
    };
    let each = all.only(|name| name == workload).measured_each(claim.shown).next();
    let Some((_, ours)) = each else { return Finding::nothing(claim, "nothing was counted") };
    let stand_in = (workload != program).then(|| workload.to_owned());
    Finding { stand_in, ..Finding::judged(claim, ours, Some(1)) }
}

/// Returns the workload that is a program, or else its stand-in.
fn present<'a>(paper: &'a Paper, all: &Samples, program: &'a str) -> Option<&'a str> {
    let stand_in = paper.program(program).and_then(|program| program.stand_in.as_deref());
    let is_there = |name: &&str| all.workloads().contains(name);
    [Some(program), stand_in].into_iter().flatten().find(is_there)
}

/// Evaluates a claim that compares the mean of one program, or of classes, with that of others.
fn of_contrast(
    paper: &Paper,
    study: &Study,
    all: &Samples,
    claim: &Claim,
    runs: &Runs,
    than: &[String],
) -> Finding {
    let program = claim.workload.as_deref().map(|program| present(paper, all, program));
    let is_own = |name: &str| match program {
        Some(workload) => workload == Some(name),
        None => study.classes().holds(&runs.classes, name),
    };
    let is_other = |name: &str| study.classes().holds(than, name);
    let part = |values: &[Value], is_in: &dyn Fn(&str) -> bool| {
        let within = values.iter().filter(|value| is_in(&value.workload));
        mean(&within.cloned().collect::<Vec<_>>(), runs.mean)
    };
    let ratio = |values: &[Value]| {
        let (own, others) = (part(values, &is_own)?, part(values, &is_other)?);
        Some(claim.shown.scaled(own / others)).filter(|ratio| ratio.is_finite())
    };
    let count = all.workloads().into_iter().filter(|name| is_own(name)).count();
    match all.measured(ratio) {
        Some(ours) => Finding::judged(claim, ours, Some(count)),
        None => Finding::nothing(claim, "one of the two groups has no workload"),
    }
}

/// Evaluates a claim by the paper's own classes; none for a claim on all workloads.
fn of_paper(paper: &Paper, all: &Samples, claim: &Claim, runs: &Runs) -> Option<OfPaper> {
    let class = |name: &str| paper.program_of(name).and_then(|program| program.class.as_ref());
    let is_in = |name: &str| class(name).is_some_and(|class| runs.classes.contains(class));
    let own = all.only(is_in);
    let mean = own.mean(runs.mean, claim.shown).filter(|_| !runs.classes.is_empty())?;
    Some(OfPaper { mean, workloads: own.workloads().len(), verdict: verdict(claim, mean) })
}

/// Evaluates a claim on every workload: for how many it holds, and which ones refute it.
fn of_every(paper: &Paper, study: &Study, claim: &Claim, runs: &Runs) -> Result<Finding> {
    let each = Samples::of(paper, study, runs)?.each(claim.shown).into_iter();
    let judged = |(workload, values): (String, Vec<f64>)| {
        let (likely, sure) = (Measured::of(&values)?, Measured::surely(&values)?);
        Some(Judged { workload, likely, sure })
    };
    let each: Vec<Judged> = each.filter_map(judged).collect();
    if each.is_empty() {
        return Ok(Finding::new(claim, nothing_of(study, runs)));
    }
    let of = |ours: Measured| verdict(claim, ours);
    let holding = each.iter().filter(|one| of(one.likely).is_some_and(Verdict::holds)).count();
    let refuting = each.iter().filter(|one| of(one.sure) == Some(Verdict::Opposite));
    let refuting: Vec<&str> = refuting.map(|one| one.workload.as_str()).collect();
    let mut text = format!("{holding} of {}", each.len());
    if !refuting.is_empty() {
        text += &format!(", opposite: {}", refuting.join(", "));
    }
    let answer = Answer::Words { text, workloads: each.len() };
    Ok(Finding { verdict: verdict_of_every(claim, &each), ..Finding::new(claim, answer) })
}

/// Explains why there is no mean.
fn nothing_of(study: &Study, runs: &Runs) -> Answer {
    let members = members(study, runs);
    Answer::Nothing(match members {
        0 => format!("no workload is {}", runs.classes.join(" or ")),
        _ => "nothing was counted".to_owned(),
    })
}

/// Finds the value of a sweep with the highest mean (among ties, the published one), or the
/// distance of that mean from its comparison. The best value is an extreme without noise and has
/// no verdict. The noise of the distance is that of the comparison: the sweep does not run in
/// variants.
fn of_best(paper: &Paper, study: &Study, claim: &Claim, best: &Best) -> Result<Finding> {
    let Best { setting, runs, .. } = best;
    let mut means = Vec::new();
    for (value, runs) in runs.swept(paper.swept(setting)) {
        if let Some(found) = mean(&study.values(&runs)?, runs.mean) {
            means.push((found, value));
        }
    }
    let Some(most) = means.iter().map(|(found, _)| *found).reduce(f64::max) else {
        return Ok(Finding::new(claim, nothing_of(study, runs)));
    };
    let Some(against) = best.against() else {
        let highest = means.iter().filter(|(found, _)| *found == most);
        let highest: Vec<f64> = highest.map(|(_, value)| number(value)).collect::<Result<_>>()?;
        let shown = claim.published.filter(|number| highest.contains(number)).unwrap_or(highest[0]);
        let answer = Answer::Number { shown, workloads: Some(members(study, runs)) };
        let verdict = Some(Verdict::NoVerdict);
        return Ok(Finding { verdict, ..Finding::new(claim, answer) });
    };
    let samples = Samples::of(paper, study, &against)?;
    let plain = mean(&study.values(&against)?, against.mean).ok_or(Error::NothingToCompare)?;
    let distance = |base: f64| Shown::Change.scaled(most / base);
    let measured = samples.measured(|values| mean(values, against.mean).map(distance));
    let noise = measured.and_then(|measured| measured.noise);
    let ours = Measured { mean: distance(plain), noise };
    Ok(Finding::judged(claim, ours, Some(samples.workloads().len())))
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
    fn the_mean_of_some_workloads_is_divided_by_that_of_others() {
        let contrast = |classes: &str, than: &str| {
            found(&format!(
                "shown = 'times'\nours.runs = {{ of = 'X', classes = [{classes}], than = [{than}] }}"
            ))
        };
        let ratio = |shown| Answer::Number { shown, workloads: Some(1) };
        assert_eq!(contrast("'HIL'", "'LIL'"), ratio(2.0 / 9.0));
        assert_eq!(contrast("'HIL'", ""), ratio(2.0 / (16.0 / 3.0)), "all workloads");
        assert!(matches!(contrast("'HIL'", "'insensitive'"), Answer::Nothing(_)));
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

    fn of_programs(ours: &str) -> Finding {
        let programs = "[{ name = 'KMN', stand-in = 'b' }, { name = 'a', class = 'LIL' }, { name = 'X', class = 'HIL', stand-in = 'c' }]";
        let text = format!(
            "title = 'T'\nmachine = 'li2015'\nworkloads.quick = []\nprograms = {programs}\n\
            [schemes]\nX = []\nY = []\n[[claim]]\nwhat = 'w'\nsource = 's'\npublished = 150\n{ours}"
        );
        let paper = Paper::from_text("t", &text).unwrap();
        let study = study().classified(Classes::known(&[("a", "HIL"), ("b", "LIL")]));
        findings(&paper, &study).unwrap().remove(0)
    }

    #[test]
    fn a_named_program_is_evaluated_alone_or_on_its_stand_in() {
        let of = |program: &str| {
            of_programs(&format!("workload = '{program}'\nours.runs = {{ of = 'X', over = 'Y' }}"))
        };
        let kmn = of("KMN");
        assert_eq!(kmn.ours, Answer::Number { shown: 200.0, workloads: Some(1) });
        assert_eq!((kmn.stand_in.as_deref(), kmn.verdict), (Some("b"), Some(Verdict::NoVerdict)));
        assert_eq!(of("a").stand_in, None);
        let missing = Answer::Nothing("X is not among the workloads".to_owned());
        assert_eq!(of("X").ours, missing, "its stand-in lacks a configuration");
    }

    #[test]
    fn means_by_the_papers_classes_stand_beside_those_by_measured_ones() {
        let found = of_programs("ours.runs = { of = 'X', over = 'Y', classes = ['LIL', 'HIL'] }");
        assert_eq!(found.ours, Answer::Number { shown: 150.0, workloads: Some(2) });
        let robustness = found.robustness.unwrap();
        assert_eq!(robustness.median.mean, 150.0);
        let (left_out, others) = robustness.without.unwrap();
        assert_eq!((left_out.as_str(), others.mean), ("a", 200.0));
        let of_paper = robustness.of_paper.unwrap();
        assert_eq!((of_paper.mean.mean, of_paper.workloads), (100.0, 1), "a alone");
        let all = of_programs("ours.runs = { of = 'X', over = 'Y' }");
        assert!(all.robustness.unwrap().of_paper.is_none(), "a claim on all workloads");
    }

    #[test]
    fn a_claim_on_every_workload_counts_those_for_which_it_holds() {
        let found = of_programs("direction = 'up'\nours.every = { of = 'X', over = 'Y' }");
        let text = "0 of 2".to_owned();
        assert_eq!(found.ours, Answer::Words { text, workloads: 2 });
        assert_eq!(found.verdict, Some(Verdict::NoVerdict), "single runs");
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
