//! What was published beside ours.

use super::parts;
use super::study::{Study, mean};
use anyhow::Context;
use warpmem::reproduce::{Best, Claim, Direction, Ours, Paper, Runs, Shown};

/// A line of the result: a claim and what ours is.
#[derive(Clone, Debug)]
pub struct Finding {
    pub claim: Claim,
    pub ours: Answer,
    /// Whether the direction agrees; none where that cannot be said.
    pub agrees: Option<bool>,
}

/// What ours is.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// As it is shown, and of how many workloads; those of single parts are of none.
    Number { shown: f64, workloads: Option<usize> },
    /// Workloads by class.
    Words { text: String, workloads: usize },
    /// Why there is none.
    Nothing(String),
}

/// Every claim of a paper.
///
/// # Errors
/// If an expression does not fit the results.
pub fn findings(paper: &Paper, study: &Study) -> anyhow::Result<Vec<Finding>> {
    let find = |claim: &Claim| {
        let ours =
            answer(paper, study, claim).with_context(|| format!("claim `{}`", claim.what))?;
        let agrees = match ours {
            Answer::Number { shown, .. } => agrees(claim, shown),
            _ => None,
        };
        Ok(Finding { claim: claim.clone(), ours, agrees })
    };
    paper.claims.iter().map(find).collect()
}

fn answer(paper: &Paper, study: &Study, claim: &Claim) -> anyhow::Result<Answer> {
    let number =
        |value: f64, workloads| Answer::Number { shown: claim.shown.scaled(value), workloads };
    Ok(match &claim.ours {
        Ours::Runs(runs) => of_runs(study, runs, claim.shown)?,
        Ours::Best(best) => of_best(paper, study, best, claim.published)?,
        Ours::Classes(classes) => of_classes(study, classes),
        Ours::Stream(stream) => number(parts::efficiency(paper, stream)?, None),
        Ours::Bits(bits) => number(parts::bits_compared(paper, bits)?, None),
        Ours::Nothing(why) => Answer::Nothing(why.clone()),
    })
}

fn of_runs(study: &Study, runs: &Runs, shown: Shown) -> anyhow::Result<Answer> {
    let values = study.values(runs)?;
    Ok(match mean(&values, runs.mean) {
        Some(value) => Answer::Number { shown: shown.scaled(value), workloads: Some(values.len()) },
        None => nothing_of(study, runs),
    })
}

/// Why there is no mean.
fn nothing_of(study: &Study, runs: &Runs) -> Answer {
    let is_there = |name: &String| study.classes().holds(&runs.classes, name);
    let members = study.workloads().iter().filter(|name| is_there(name)).count();
    Answer::Nothing(match members {
        0 => format!("no workload is {}", runs.classes.join(" or ")),
        _ => "nothing was counted".to_owned(),
    })
}

/// The value of a sweep with the highest mean (of several, the published one), or how far that is above what it is
/// compared with.
fn of_best(
    paper: &Paper,
    study: &Study,
    best: &Best,
    published: Option<f64>,
) -> anyhow::Result<Answer> {
    let Best { setting, runs, .. } = best;
    let mut means = Vec::new();
    for (value, runs) in runs.swept(paper, setting) {
        if let Some(found) = mean(&study.values(&runs)?, runs.mean) {
            means.push((found, value));
        }
    }
    let Some(most) = means.iter().map(|(found, _)| *found).reduce(f64::max) else {
        return Ok(nothing_of(study, runs));
    };
    let Some(against) = best.against() else {
        let highest = means.iter().filter(|(found, _)| *found == most);
        let number = |value: &str| value.parse().with_context(|| format!("`{value}` is no number"));
        let highest =
            highest.map(|(_, value)| number(value)).collect::<anyhow::Result<Vec<f64>>>()?;
        let shown = published.filter(|number| highest.contains(number)).unwrap_or(highest[0]);
        return Ok(Answer::Number { shown, workloads: Some(members(study, runs)) });
    };
    let values = study.values(&against)?;
    let base = mean(&values, against.mean).context("nothing to compare with")?;
    let shown = Shown::Change.scaled(most / base);
    Ok(Answer::Number { shown, workloads: Some(values.len()) })
}

fn members(study: &Study, runs: &Runs) -> usize {
    study.workloads().iter().filter(|name| study.classes().holds(&runs.classes, name)).count()
}

fn of_classes(study: &Study, classes: &[String]) -> Answer {
    let of = |class: &String| format!("{class} {}", study.classes().members(class).len());
    let text = classes.iter().map(of).collect::<Vec<_>>().join(", ");
    Answer::Words { text, workloads: study.workloads().len() }
}

/// Changes below the last digit that is shown are none.
fn direction(shown: f64, from: f64) -> f64 {
    let tenths = ((shown - from) * 10.0).round();
    if tenths == 0.0 { 0.0 } else { tenths.signum() }
}

/// Whether what we see goes the way that was published; none where that cannot be said.
fn agrees(claim: &Claim, ours: f64) -> Option<bool> {
    let from = match claim.shown {
        Shown::Change | Shown::Value => 0.0,
        Shown::Percent => 100.0,
        Shown::Times => 1.0,
    };
    let way = direction(ours, from);
    match claim.direction {
        Direction::Sign if claim.shown == Shown::Change => {
            claim.published.map(|published| direction(published, from) == way)
        }
        Direction::Sign => None,
        Direction::Up => Some(way > 0.0),
        Direction::Down => Some(way < 0.0),
        Direction::NotDown => Some(way >= 0.0),
        Direction::AtLeast(least) => Some(ours >= least),
        Direction::AtMost(most) => Some(ours <= most),
        Direction::Within(percent) => claim
            .published
            .map(|published| 100.0 * (ours - published).abs() <= percent * published.abs()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::classes::Classes;
    use super::super::study::tests::{study, swept};
    use super::*;

    fn claim(text: &str) -> Claim {
        let whole = format!("what = 'w'\nsource = 's'\nours.nothing = 'no'\n{text}");
        toml::from_str(&whole).unwrap()
    }

    fn agreement(text: &str, ours: f64) -> Option<bool> {
        agrees(&claim(text), ours)
    }

    #[test]
    fn changes_agree_by_their_sign_and_levels_not_at_all() {
        assert_eq!(agreement("published = 10.9", 0.9), Some(true));
        assert_eq!(agreement("published = 10.9", -0.9), Some(false));
        assert_eq!(agreement("published = 10.9", 0.04), Some(false), "no change is shown");
        assert_eq!(agreement("published = -2", -40.0), Some(true));
        assert_eq!(agreement("text = 'rises'", 3.0), None);
        assert_eq!(agreement("published = 40.6\nshown = 'value'", 40.6), None);
        assert_eq!(agreement("published = 56.2\nshown = 'percent'", 56.2), None);
    }

    #[test]
    fn directions_are_from_what_changes_nothing() {
        assert_eq!(agreement("direction = 'up'", 3.0), Some(true));
        assert_eq!(agreement("direction = 'down'\nshown = 'percent'", 99.0), Some(true));
        assert_eq!(agreement("direction = 'up'\nshown = 'percent'", 99.0), Some(false));
        assert_eq!(agreement("direction = 'up'\nshown = 'times'", 1.2), Some(true));
        assert_eq!(agreement("direction = 'not-down'", -0.04), Some(true));
        assert_eq!(agreement("direction = 'not-down'", -0.06), Some(false));
        assert_eq!(agreement("direction.at-least = 70.0\nshown = 'percent'", 71.0), Some(true));
        assert_eq!(agreement("direction.at-most = 10.0\nshown = 'percent'", 11.0), Some(false));
    }

    #[test]
    fn the_same_experiment_agrees_within_a_margin() {
        let within = "published = 200\nshown = 'value'\ndirection.within = 1.0";
        let agreement = |ours| agreement(within, ours);
        assert_eq!(
            [197.0, 198.0, 202.0, 203.0].map(agreement),
            [false, true, true, false].map(Some)
        );
    }

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
    fn ours_is_a_mean_over_the_class_and_says_of_how_many() {
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
    fn what_cannot_be_computed_says_why() {
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
