//! Published results next to ours, as tables.

use crate::claims::{Answer, Finding, Robustness};
use crate::error::Result;
use crate::experiments::experiments;
use crate::line::{HEADINGS, Line, mean, or_dash, with_noise, workloads};
use crate::noise::Measured;
use crate::verdict::{LEGEND, Verdict, accepted};
use warpmem_analysis::polars::df;
use warpmem_analysis::polars::prelude::{Column, DataFrame};
use warpmem_study::reproduce::{Claim, Ours, Shown};

/// Headings of the table of robustness.
const ROBUSTNESS: [&str; 7] = [
    "what",
    "ours",
    "median",
    "without the most influential",
    "by the paper's classes",
    "workloads of these",
    "their verdict",
];

/// Formats the robustness of a mean; none for other numbers.
fn robust_cells(finding: &Finding) -> Option<[String; ROBUSTNESS.len()]> {
    let claim = &finding.claim;
    let Robustness { median, without, of_paper } = finding.robustness.as_ref()?;
    let spelt = |of: &Measured| with_noise(claim, of.mean, of.noise);
    let without = without.as_ref().map(|(name, mean)| format!("{} without {name}", spelt(mean)));
    let of_paper = of_paper.as_ref();
    let verdict = of_paper.and_then(|own| own.verdict).map(Verdict::name);
    let Line { what, ours, .. } = Line::of(finding);
    Some([
        what,
        ours,
        spelt(median),
        or_dash(without),
        or_dash(of_paper.map(|own| spelt(&own.mean))),
        or_dash(of_paper.map(|own| own.workloads)),
        or_dash(verdict),
    ])
}

/// Makes a frame of text.
fn of_text<const N: usize>(headings: [&str; N], rows: &[[String; N]]) -> Result<DataFrame> {
    let column = |(at, heading): (usize, &str)| {
        let cells: Vec<&str> = rows.iter().map(|row| row[at].as_str()).collect();
        Column::new(heading.into(), cells)
    };
    let columns: Vec<Column> = headings.into_iter().enumerate().map(column).collect();
    Ok(DataFrame::new(rows.len(), columns)?)
}

/// Makes a frame of the displayed rows.
///
/// # Errors
/// If the dataframe engine fails.
pub fn shown(findings: &[Finding]) -> Result<DataFrame> {
    let row = |finding| Line::of(finding).cells().map(str::to_owned);
    of_text(HEADINGS, &tabled(findings).map(row).collect::<Vec<_>>())
}

/// Returns the findings with a row in the displayed table: all but those on single entries of a
/// published table, which the files have.
pub fn tabled(findings: &[Finding]) -> impl Iterator<Item = &Finding> {
    findings.iter().filter(|finding| !finding.claim.detail)
}

/// Makes a frame with a row for each mean over several workloads: the median, the mean without the
/// most influential workload, and the mean by the paper's own classes.
///
/// # Errors
/// If the dataframe engine fails.
pub fn robustness(findings: &[Finding]) -> Result<DataFrame> {
    of_text(ROBUSTNESS, &findings.iter().filter_map(robust_cells).collect::<Vec<_>>())
}

/// Makes a frame with the definition of each outcome.
///
/// # Errors
/// If the dataframe engine fails.
pub fn legend() -> Result<DataFrame> {
    of_text(
        ["verdict", "meaning"],
        &LEGEND.map(|(verdict, meaning)| [verdict.name().to_owned(), meaning.to_owned()]),
    )
}

/// Makes a frame with a row for each paper, given with its findings: the number of its experiments
/// with each outcome.
///
/// # Errors
/// If the dataframe engine fails.
pub fn overview(papers: &[(&str, &[Finding])]) -> Result<DataFrame> {
    let of = |number: &dyn Fn(&[&Finding]) -> usize| -> Vec<u64> {
        papers.iter().map(|(_, findings)| number(&experiments(findings)) as u64).collect()
    };
    let mut frame = df!(
        "paper" => papers.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
        "experiments" => of(&|all| all.len()),
    )?;
    let verdicts = LEGEND.map(|(verdict, _)| (verdict.name(), Some(verdict)));
    for (name, verdict) in verdicts.into_iter().chain([("without a result", None)]) {
        let count = |all: &[&Finding]| all.iter().filter(|one| one.verdict == verdict).count();
        frame.with_column(Column::new(name.into(), of(&count)))?;
    }
    Ok(frame)
}

/// Makes a frame for programs: numbers as numbers, with their unit in a column.
///
/// # Errors
/// If the dataframe engine fails.
pub fn frame(findings: &[Finding]) -> Result<DataFrame> {
    let texts =
        |of: &dyn Fn(&Finding) -> Option<String>| findings.iter().map(of).collect::<Vec<_>>();
    let claim = |of: fn(&Claim) -> Option<String>| texts(&|finding| of(&finding.claim));
    let numbers =
        |of: &dyn Fn(&Finding) -> Option<f64>| findings.iter().map(of).collect::<Vec<_>>();
    let end = |at: usize| {
        move |finding: &Finding| {
            accepted(&finding.claim).map(|ends| ends[at]).filter(|end| end.is_finite())
        }
    };
    let counting = experiments(findings);
    let counts = |finding: &Finding| counting.iter().any(|one| std::ptr::eq(*one, finding));
    let robust = |of: fn(&Robustness) -> Option<Measured>| {
        move |finding: &Finding| finding.robustness.as_ref().and_then(of)
    };
    let median = robust(|robustness| Some(robustness.median));
    let without = robust(|robustness| robustness.without.as_ref().map(|(_, mean)| *mean));
    let of_paper = robust(|robustness| robustness.of_paper.as_ref().map(|own| own.mean));
    let mut frame = df!(
        "what" => claim(|claim| Some(claim.what.clone())),
        "paper" => claim(|claim| Some(claim.source.clone())),
        "experiment" => claim(|claim| Some(claim.experiment().to_owned())),
        "counts" => findings.iter().map(counts).collect::<Vec<_>>(),
        "headline" => findings.iter().map(|finding| finding.claim.headline).collect::<Vec<_>>(),
        "published" => numbers(&|finding| finding.claim.published),
        "published_text" => claim(|claim| claim.text.clone()),
        "accepted_from" => numbers(&end(0)),
        "accepted_to" => numbers(&end(1)),
        "ours" => numbers(&|finding| match finding.ours {
            Answer::Number { shown, .. } => Some(shown),
            _ => None,
        }),
        "ours_text" => texts(&|finding| match &finding.ours {
            Answer::Words { text, .. } => Some(text.clone()),
            _ => None,
        }),
        "unit" => claim(unit),
        "noise" => numbers(&|finding| finding.noise),
        "verdict" => texts(&|finding| finding.verdict.map(|verdict| verdict.name().to_owned())),
        "workloads" => findings
            .iter()
            .map(|finding| workloads(&finding.ours).map(|count| count as u64))
            .collect::<Vec<_>>(),
        "mean" => claim(|claim| mean(claim).map(|mean| mean.name().to_owned())),
        "stand_in" => texts(&|finding| finding.stand_in.clone()),
    )?;
    for (name, of) in [("median", &median), ("without_one", &without), ("paper_classes", &of_paper)]
    {
        let of: &dyn Fn(&Finding) -> Option<Measured> = of;
        let means = numbers(&|finding| of(finding).map(|measured| measured.mean));
        let noises = numbers(&|finding| of(finding).and_then(|measured| measured.noise));
        frame.with_column(Column::new(name.into(), means))?;
        frame.with_column(Column::new(format!("{name}_noise").into(), noises))?;
    }
    let left_out = texts(&|finding| {
        let (name, _) = finding.robustness.as_ref()?.without.as_ref()?;
        Some(name.clone())
    });
    let own_verdict = texts(&|finding| {
        let own = finding.robustness.as_ref()?.of_paper.as_ref()?;
        own.verdict.map(|verdict| verdict.name().to_owned())
    });
    let because = texts(&|finding| match &finding.ours {
        Answer::Nothing(why) => Some(why.clone()),
        _ => None,
    });
    let last = [
        ("left_out", left_out),
        ("paper_classes_verdict", own_verdict),
        ("nothing_because", because),
        ("note", claim(|claim| claim.note.clone())),
    ];
    for (name, column) in last {
        frame.with_column(Column::new(name.into(), column))?;
    }
    Ok(frame)
}

/// Returns the unit; none for textual values.
fn unit(claim: &Claim) -> Option<String> {
    if matches!(claim.ours, Ours::Classes(_) | Ours::Every(_)) {
        return None;
    }
    Some(match claim.shown {
        Shown::Change => "% change".to_owned(),
        Shown::Percent => "%".to_owned(),
        Shown::Times => "×".to_owned(),
        Shown::Value => claim.unit.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::OfPaper;

    fn finding(text: &str, ours: Answer, noise: Option<f64>) -> Finding {
        let whole = format!("what = 'w'\nsource = 'Fig 1'\nours.runs = {{ of = 'X' }}\n{text}");
        Finding {
            claim: toml::from_str(&whole).unwrap(),
            ours,
            noise,
            verdict: noise.map(|_| Verdict::Reproduced),
            stand_in: None,
            robustness: None,
        }
    }

    fn number(shown: f64) -> Answer {
        Answer::Number { shown, workloads: Some(3) }
    }

    #[test]
    fn numbers_are_printed_with_units() {
        let line = |text: &str, ours| {
            let line = Line::of(&finding(text, ours, None));
            [line.published, line.accepted, line.ours]
        };
        assert_eq!(
            line("published = 10.9", number(-0.04)),
            ["+10.9 %", "+5.3 to +23.0 %", "0.0 %"]
        );
        assert_eq!(
            line("published = 80.8\nshown = 'percent'", number(50.0)),
            ["80.8 %", "40.4 to 161.6 %", "50.0 %"]
        );
        let value = "published = 1570\nshown = 'value'\nunit = 'cycles'";
        assert_eq!(
            line(value, number(12.345)),
            ["1570 cycles", "785 to 3140 cycles", "12.35 cycles"]
        );
        let times = "text = 'much'\nrange = [2, 10]\nshown = 'times'\ndirection = 'up'";
        assert_eq!(line(times, number(1.26)), ["much", "2.0 to 10.0 ×", "1.3 ×"]);
        assert_eq!(
            line("text = 'over 70 %'\nshown = 'percent'\ndirection.at-least = 70", number(91.3)),
            ["over 70 %", "at least 70.0 %", "91.3 %"]
        );
        assert_eq!(
            line("text = 'rises'\ndirection = 'up'", number(3.0)),
            ["rises", "up", "+3.0 %"]
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
    fn a_stand_in_and_a_shared_experiment_are_noted() {
        let text = "published = 1\nexperiment = 'X over Y'";
        let one = finding(text, number(1.0), None);
        let line = Line::of(&Finding { stand_in: Some("kmeans".to_owned()), ..one });
        assert_eq!(line.note, "on its stand-in kmeans; experiment: X over Y");
    }

    #[test]
    fn the_frame_has_numbers_and_nulls() {
        let findings = [
            finding("published = 1", number(2.5), Some(0.5)),
            finding("text = 'rises'", Answer::Nothing("why".to_owned()), None),
        ];
        let frame = frame(&findings).unwrap();
        let column = |name: &str| frame.column(name).unwrap().f64().unwrap().to_vec();
        assert_eq!(column("ours"), [Some(2.5), None]);
        assert_eq!(column("published"), [Some(1.0), None]);
        assert_eq!(column("noise"), [Some(0.5), None]);
        assert_eq!(column("accepted_to").len(), 2);
        let verdicts = frame.column("verdict").unwrap().str().unwrap().iter();
        assert_eq!(verdicts.collect::<Vec<_>>(), [Some("reproduced"), None]);
        let counts = frame.column("counts").unwrap().bool().unwrap().iter();
        assert_eq!(counts.collect::<Vec<_>>(), [Some(true), Some(false)]);
    }

    #[test]
    fn papers_have_their_outcomes_counted() {
        let findings = [
            finding("published = 1", number(2.5), Some(0.5)),
            finding("published = 2\nexperiment = 'w'", number(2.5), Some(0.5)),
        ];
        let frame = overview(&[("li2015", &findings), ("owl2013", &[])]).unwrap();
        let column = |name: &str| frame.column(name).unwrap().u64().unwrap().to_vec();
        assert_eq!(column("experiments"), [Some(1), Some(0)]);
        assert_eq!(
            (column("reproduced"), column("null")),
            (vec![Some(1), Some(0)], vec![Some(0); 2])
        );
    }

    #[test]
    fn noise_has_the_unit_of_its_number() {
        let ours = |text: &str, noise| Line::of(&finding(text, number(1.0), Some(noise))).ours;
        assert_eq!(ours("published = 1", 0.54), "+1.0 ± 0.5 %");
        assert_eq!(ours("shown = 'percent'", 2.0), "1.0 ± 2.0 %");
        assert_eq!(ours("shown = 'times'", 0.2), "1.0 ± 0.2 ×");
        assert_eq!(ours("shown = 'value'\nunit = 'L2 cycles'", 12.345), "1 ± 12.35 L2 cycles");
        assert_eq!(ours("shown = 'value'", 0.0), "1 ± 0");
    }

    #[test]
    fn robustness_has_a_row_for_each_mean() {
        let of = |mean| Measured { mean, noise: Some(0.5) };
        let robustness = Robustness {
            median: of(11.0),
            without: Some(("KMN".to_owned(), of(11.4))),
            of_paper: Some(OfPaper {
                mean: of(20.0),
                workloads: 19,
                verdict: Some(Verdict::Reproduced),
            }),
        };
        let mean = Finding {
            robustness: Some(robustness),
            ..finding("published = 25", number(24.3), Some(1.0))
        };
        let cells = robust_cells(&mean).unwrap();
        let expected = [
            "w",
            "+24.3 ± 1.0 %",
            "+11.0 ± 0.5 %",
            "+11.4 ± 0.5 % without KMN",
            "+20.0 ± 0.5 %",
            "19",
            "reproduced",
        ];
        assert_eq!(cells, expected);
        let one = finding("published = 1", number(1.0), None);
        assert_eq!(super::robustness(&[mean, one]).unwrap().height(), 1);
    }
}
