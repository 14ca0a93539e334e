//! A claim and its result as a line of text, with units in the numbers.

use crate::claims::{Answer, Finding};
use crate::verdict::{Verdict, accepted};
use warpmem_study::reproduce::{Claim, Direction, Mean, Ours, Shown};

/// A displayed row: text, with units in the numbers.
pub struct Line {
    pub what: String,
    pub source: String,
    pub published: String,
    /// Results that count as reproduced.
    pub accepted: String,
    pub ours: String,
    pub verdict: &'static str,
    pub workloads: String,
    pub mean: &'static str,
    pub note: String,
}

/// Headings of a [`Line`].
pub const HEADINGS: [&str; 9] =
    ["what", "paper", "published", "reproduced if", "ours", "verdict", "workloads", "mean", "note"];

/// Index of the note in [`HEADINGS`].
pub const NOTE: usize = HEADINGS.len() - 1;

const NOTHING: &str = "–";

impl Line {
    pub fn of(finding: &Finding) -> Line {
        let claim = &finding.claim;
        let (ours, why) = match &finding.ours {
            Answer::Number { shown, .. } => (with_noise(claim, *shown, finding.noise), None),
            Answer::Words { text, .. } => (text.clone(), None),
            Answer::Nothing(why) => (NOTHING.to_owned(), Some(why.clone())),
        };
        let stand_in = finding.stand_in.as_ref();
        let stand_in = stand_in.map(|name| format!("on its stand-in {name}"));
        let same = claim.experiment.as_ref().map(|name| format!("experiment: {name}"));
        let notes = why.into_iter().chain(stand_in).chain(same).chain(claim.note.clone());
        Line {
            what: claim.what.clone(),
            source: claim.source.clone(),
            published: published(claim),
            accepted: admitted(claim),
            ours,
            verdict: finding.verdict.map_or(NOTHING, Verdict::name),
            workloads: or_dash(workloads(&finding.ours)),
            mean: mean(claim).map_or(NOTHING, Mean::name),
            note: notes.collect::<Vec<_>>().join("; "),
        }
    }

    pub fn cells(&self) -> [&str; HEADINGS.len()] {
        [
            &self.what,
            &self.source,
            &self.published,
            &self.accepted,
            &self.ours,
            self.verdict,
            &self.workloads,
            self.mean,
            &self.note,
        ]
    }
}

/// Formats a value; a dash for none.
pub(crate) fn or_dash(value: Option<impl ToString>) -> String {
    value.map_or(NOTHING.to_owned(), |value| value.to_string())
}

/// Formats the published result.
fn published(claim: &Claim) -> String {
    match (&claim.text, claim.range, claim.published) {
        (Some(text), ..) => text.clone(),
        (_, Some([low, high]), _) => format!("{} to {}", bare(claim, low), spelt(claim, high)),
        (.., Some(number)) => spelt(claim, number),
        _ => NOTHING.to_owned(),
    }
}

/// Formats the results that count as reproduced.
fn admitted(claim: &Claim) -> String {
    match (claim.direction, accepted(claim)) {
        (Direction::AtLeast(bound), _) => format!("at least {}", spelt(claim, bound)),
        (Direction::AtMost(bound), _) => format!("at most {}", spelt(claim, bound)),
        (_, Some([low, high])) => format!("{} to {}", bare(claim, low), spelt(claim, high)),
        (Direction::Up, None) => "up".to_owned(),
        (Direction::Down, None) => "down".to_owned(),
        _ => NOTHING.to_owned(),
    }
}

/// Returns the number of workloads of a result.
pub(crate) fn workloads(ours: &Answer) -> Option<usize> {
    match ours {
        Answer::Number { workloads, .. } => *workloads,
        Answer::Words { workloads, .. } => Some(*workloads),
        Answer::Nothing(_) => None,
    }
}

/// Returns the mean over the workloads of a claim.
pub(crate) fn mean(claim: &Claim) -> Option<Mean> {
    match &claim.ours {
        Ours::Runs(runs) if claim.workload.is_none() => Some(runs.mean),
        Ours::Best(best) => Some(best.runs.mean),
        _ => None,
    }
}

/// Formats a number in its unit: three digits for values, one decimal for percentages.
fn spelt(claim: &Claim, number: f64) -> String {
    let unit = match claim.shown {
        Shown::Change | Shown::Percent => "%",
        Shown::Times => "×",
        Shown::Value => &claim.unit,
    };
    format!("{} {unit}", bare(claim, number)).trim_end().to_owned()
}

/// Formats a number without its unit.
fn bare(claim: &Claim, number: f64) -> String {
    match claim.shown {
        Shown::Change => signed(number),
        Shown::Percent | Shown::Times => format!("{number:.1}"),
        Shown::Value => value(number),
    }
}

/// Formats a number with its noise, in its unit.
pub(crate) fn with_noise(claim: &Claim, number: f64, noise: Option<f64>) -> String {
    let Some(noise) = noise else { return spelt(claim, number) };
    let noise_text = match claim.shown {
        Shown::Value => value(noise),
        _ => format!("{noise:.1}"),
    };
    let number = spelt(claim, number);
    match number.split_once(' ') {
        Some((number, unit)) => format!("{number} ± {noise_text} {unit}"),
        None => format!("{number} ± {noise_text}"),
    }
}

/// Formats a change with its sign and one decimal; a change displayed as zero has no sign.
pub(crate) fn signed(change: f64) -> String {
    format!("{change:+.1}").replace("-0.0", "0.0").replace("+0.0", "0.0")
}

fn value(number: f64) -> String {
    match number.abs() {
        0.0 => "0".to_owned(),
        below if below < 1.0 => format!("{number:.3}"),
        below if below < 100.0 && number.fract() != 0.0 => format!("{number:.2}"),
        _ => format!("{number:.0}"),
    }
}
