//! Published results next to ours, as a table.

use crate::claims::{Answer, Finding};
use crate::error::Result;
use crate::verdict::Verdict;
use warpmem_analysis::polars::df;
use warpmem_analysis::polars::prelude::{Column, DataFrame};
use warpmem_study::reproduce::{Claim, Mean, Ours, Shown};

/// A displayed row: text, with units in the numbers.
pub struct Line {
    pub what: String,
    pub source: String,
    pub published: String,
    pub ours: String,
    pub noise: String,
    pub verdict: &'static str,
    pub workloads: String,
    pub mean: &'static str,
    pub note: String,
}

/// Headings of a [`Line`].
pub const HEADINGS: [&str; 9] =
    ["what", "paper", "published", "ours", "noise", "verdict", "workloads", "mean", "note"];

/// Index of the note in [`HEADINGS`].
pub const NOTE: usize = HEADINGS.len() - 1;

const NOTHING: &str = "–";

impl Line {
    pub fn of(finding: &Finding) -> Line {
        let claim = &finding.claim;
        let published = match (&claim.text, claim.published) {
            (Some(text), _) => text.clone(),
            (None, Some(number)) => spelt(claim, number),
            (None, None) => NOTHING.to_owned(),
        };
        let (ours, why) = match &finding.ours {
            Answer::Number { shown: number, .. } => (spelt(claim, *number), None),
            Answer::Words { text, .. } => (text.clone(), None),
            Answer::Nothing(why) => (NOTHING.to_owned(), Some(why.clone())),
        };
        let workloads = workloads(&finding.ours);
        let notes: Vec<String> = why.into_iter().chain(claim.note.clone()).collect();
        Line {
            what: claim.what.clone(),
            source: claim.source.clone(),
            published,
            ours,
            noise: finding.noise.map_or(NOTHING.to_owned(), |noise| within(claim, noise)),
            verdict: finding.verdict.map_or(NOTHING, Verdict::name),
            workloads: workloads.map_or(NOTHING.to_owned(), |count| count.to_string()),
            mean: mean(claim).map_or(NOTHING, Mean::name),
            note: notes.join("; "),
        }
    }

    pub fn cells(&self) -> [&str; HEADINGS.len()] {
        [
            &self.what,
            &self.source,
            &self.published,
            &self.ours,
            &self.noise,
            self.verdict,
            &self.workloads,
            self.mean,
            &self.note,
        ]
    }
}

fn workloads(ours: &Answer) -> Option<usize> {
    match ours {
        Answer::Number { workloads, .. } => *workloads,
        Answer::Words { workloads, .. } => Some(*workloads),
        Answer::Nothing(_) => None,
    }
}

fn mean(claim: &Claim) -> Option<Mean> {
    match &claim.ours {
        Ours::Runs(runs) => Some(runs.mean),
        Ours::Best(best) => Some(best.runs.mean),
        _ => None,
    }
}

/// Formats a number in its unit: three digits for values, one decimal for percentages.
fn spelt(claim: &Claim, number: f64) -> String {
    match claim.shown {
        Shown::Change => format!("{} %", signed(number)),
        Shown::Percent => format!("{number:.1} %"),
        Shown::Times => format!("{number:.1} ×"),
        Shown::Value => format!("{} {}", value(number), claim.unit).trim_end().to_owned(),
    }
}

/// Formats a change with its sign and one decimal; a change displayed as zero has no sign.
pub(crate) fn signed(change: f64) -> String {
    format!("{change:+.1}").replace("-0.0", "0.0").replace("+0.0", "0.0")
}

/// Formats a noise in the unit of the number.
fn within(claim: &Claim, noise: f64) -> String {
    match claim.shown {
        Shown::Change | Shown::Percent => format!("± {noise:.1} %"),
        Shown::Times => format!("± {noise:.1} ×"),
        Shown::Value => format!("± {} {}", value(noise), claim.unit).trim_end().to_owned(),
    }
}

fn value(number: f64) -> String {
    match number.abs() {
        0.0 => "0".to_owned(),
        below if below < 1.0 => format!("{number:.3}"),
        below if below < 100.0 && number.fract() != 0.0 => format!("{number:.2}"),
        _ => format!("{number:.0}"),
    }
}

/// Makes a frame of the displayed rows.
///
/// # Errors
/// If the dataframe engine fails.
pub fn shown(findings: &[Finding]) -> Result<DataFrame> {
    let lines: Vec<Line> = findings.iter().map(Line::of).collect();
    let column = |(at, heading): (usize, &str)| {
        let cells: Vec<&str> = lines.iter().map(|line| line.cells()[at]).collect();
        Column::new(heading.into(), cells)
    };
    let columns: Vec<Column> = HEADINGS.into_iter().enumerate().map(column).collect();
    Ok(DataFrame::new(lines.len(), columns)?)
}

/// Makes a frame for programs: numbers as numbers, with their unit in a column.
///
/// # Errors
/// If the dataframe engine fails.
pub fn frame(findings: &[Finding]) -> Result<DataFrame> {
    let texts =
        |of: &dyn Fn(&Finding) -> Option<String>| findings.iter().map(of).collect::<Vec<_>>();
    let claim = |of: fn(&Claim) -> Option<String>| texts(&|finding| of(&finding.claim));
    let numbers = |of: fn(&Finding) -> Option<f64>| findings.iter().map(of).collect::<Vec<_>>();
    Ok(df!(
        "what" => claim(|claim| Some(claim.what.clone())),
        "paper" => claim(|claim| Some(claim.source.clone())),
        "published" => numbers(|finding| finding.claim.published),
        "published_text" => claim(|claim| claim.text.clone()),
        "ours" => numbers(|finding| match finding.ours {
            Answer::Number { shown, .. } => Some(shown),
            _ => None,
        }),
        "ours_text" => texts(&|finding| match &finding.ours {
            Answer::Words { text, .. } => Some(text.clone()),
            _ => None,
        }),
        "unit" => claim(unit),
        "noise" => numbers(|finding| finding.noise),
        "verdict" => texts(&|finding| finding.verdict.map(|verdict| verdict.name().to_owned())),
        "workloads" => findings
            .iter()
            .map(|finding| workloads(&finding.ours).map(|count| count as u64))
            .collect::<Vec<_>>(),
        "mean" => claim(|claim| mean(claim).map(|mean| mean.name().to_owned())),
        "nothing_because" => texts(&|finding| match &finding.ours {
            Answer::Nothing(why) => Some(why.clone()),
            _ => None,
        }),
        "note" => claim(|claim| claim.note.clone()),
    )?)
}

/// Returns the unit; none for textual values.
fn unit(claim: &Claim) -> Option<String> {
    if matches!(claim.ours, Ours::Classes(_)) {
        return None;
    }
    Some(match claim.shown {
        Shown::Change => "% change".to_owned(),
        Shown::Percent => "%".to_owned(),
        Shown::Times => "×".to_owned(),
        Shown::Value => claim.unit.clone(),
    })
}

/// Summarizes findings: `12 agree, 5 are below noise, 7 disagree; 4 are sizes alone, 2 cannot be
/// computed`.
pub fn summary(findings: &[Finding]) -> String {
    let count = |verdict| findings.iter().filter(|finding| finding.verdict == verdict).count();
    let of = |verdict| count(Some(verdict));
    let is_nothing = |finding: &&Finding| matches!(finding.ours, Answer::Nothing(_));
    let nothing = findings.iter().filter(is_nothing).count();
    let sizes = count(None) - nothing;
    format!(
        "{} agree, {} are below noise, {} disagree; {sizes} are sizes alone, {nothing} cannot be computed",
        of(Verdict::Agrees),
        of(Verdict::BelowNoise),
        of(Verdict::Disagrees)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(text: &str, ours: Answer, noise: Option<f64>) -> Finding {
        let whole = format!("what = 'w'\nsource = 'Fig 1'\nours.runs = {{ of = 'X' }}\n{text}");
        let verdict = noise.map(|_| Verdict::Agrees);
        Finding { claim: toml::from_str(&whole).unwrap(), ours, noise, verdict }
    }

    fn number(shown: f64) -> Answer {
        Answer::Number { shown, workloads: Some(3) }
    }

    #[test]
    fn numbers_are_printed_with_units() {
        let line = |text: &str, ours| {
            let line = Line::of(&finding(text, ours, None));
            (line.published, line.ours)
        };
        let texts = |one: &str, other: &str| (one.to_owned(), other.to_owned());
        assert_eq!(line("published = 10.9", number(-0.04)), texts("+10.9 %", "0.0 %"));
        assert_eq!(
            line("published = 80.8\nshown = 'percent'", number(50.0)),
            texts("80.8 %", "50.0 %")
        );
        let value = "published = 1570\nshown = 'value'\nunit = 'cycles'";
        assert_eq!(line(value, number(12.345)), texts("1570 cycles", "12.35 cycles"));
        assert_eq!(
            line("text = '2 to 10 ×'\nshown = 'times'", number(1.26)),
            texts("2 to 10 ×", "1.3 ×")
        );
    }

    #[test]
    fn missing_values_are_dashes_with_reasons() {
        let nothing = Answer::Nothing("no workload is HIL".to_owned());
        let line = Line::of(&finding("published = 1\nnote = 'n'", nothing, None));
        assert_eq!((line.ours.as_str(), line.verdict, line.workloads.as_str()), ("–", "–", "–"));
        assert_eq!(line.note, "no workload is HIL; n");
    }

    #[test]
    fn the_frame_has_numbers_and_nulls() {
        let findings = [
            finding("published = 1", number(2.5), Some(0.5)),
            finding("text = 'rises'", Answer::Nothing("why".to_owned()), None),
        ];
        let frame = frame(&findings).unwrap();
        assert_eq!(frame.column("ours").unwrap().f64().unwrap().to_vec(), [Some(2.5), None]);
        assert_eq!(frame.column("published").unwrap().f64().unwrap().to_vec(), [Some(1.0), None]);
        assert_eq!(frame.column("noise").unwrap().f64().unwrap().to_vec(), [Some(0.5), None]);
        let verdicts = frame.column("verdict").unwrap().str().unwrap().iter();
        assert_eq!(verdicts.collect::<Vec<_>>(), [Some("agrees"), None]);
        assert_eq!(
            summary(&findings),
            "1 agree, 0 are below noise, 0 disagree; 0 are sizes alone, 1 cannot be computed"
        );
    }

    #[test]
    fn noise_has_the_unit_of_its_number() {
        let noise = |text: &str, noise| Line::of(&finding(text, number(1.0), Some(noise))).noise;
        assert_eq!(noise("published = 1", 0.54), "± 0.5 %");
        assert_eq!(noise("shown = 'percent'", 2.0), "± 2.0 %");
        assert_eq!(noise("shown = 'times'", 0.2), "± 0.2 ×");
        assert_eq!(noise("shown = 'value'\nunit = 'cycles'", 12.345), "± 12.35 cycles");
        assert_eq!(Line::of(&finding("published = 1", number(1.0), None)).noise, "–");
    }
}
