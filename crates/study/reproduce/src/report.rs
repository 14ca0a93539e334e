//! The files of a reproduction: tables, figures, and a page with both in HTML and Markdown.

use crate::by_workload::{OfWorkload, by_workload_frame, count, headlines};
use crate::claims::Finding;
use crate::coverage::{coverage, unjudged};
use crate::error::{Error, Result};
use crate::experiments::{headline, summary};
use crate::study::Study;
use crate::table::{frame, legend, robustness, shown};
use crate::verdict::{LEGEND, Verdict};
use std::fs;
use std::path::Path;
use warpmem_analysis::polars::df;
use warpmem_analysis::polars::prelude::Column;
use warpmem_analysis::write_csv;
use warpmem_chart::Chart;
use warpmem_report::Table;
use warpmem_report::{Document, Prose, Section};
use warpmem_report::{html, markdown};
use warpmem_study::reproduce::Paper;
use warpmem_support::files::staged;
use warpmem_support::text::capitalised;

/// File name of the page.
pub const FILE: &str = "reproduction.html";
const MARKDOWN: &str = "reproduction.md";
const FIGURES: &str = "figures";
const CLAIMS: &str = "claims.csv";
const BY_WORKLOAD: &str = "by-workload.csv";

/// Results of a paper's experiments.
pub struct Reproduced<'a> {
    pub paper: &'a Paper,
    pub study: &'a Study,
    /// Workloads that cannot run on the machine.
    pub left_out: &'a [String],
    pub findings: &'a [Finding],
    pub of_workloads: &'a [OfWorkload],
}

/// Writes the claims as CSV, for all workloads and for each, the figures, and a page with
/// everything.
///
/// # Errors
/// If a file cannot be written.
pub fn write(results: &Reproduced<'_>, charts: Vec<Chart>, directory: &Path) -> Result<()> {
    let Reproduced { paper, findings, of_workloads, .. } = results;
    write_csv(&frame(findings)?, directory.join(CLAIMS))?;
    write_csv(&by_workload_frame(of_workloads)?, directory.join(BY_WORKLOAD))?;
    page(paper, sections(results)?, charts, directory)
}

/// Makes the sections with the tables: the claims, how they depend on single programs, and the
/// workloads.
fn sections(results: &Reproduced<'_>) -> Result<Vec<Section>> {
    let findings = results.findings;
    let caution = "No value is fitted to a gain. A number is the mean over irrelevant variants of the machine, the order of its SMs, the pages of the data, the parity of the DRAM queue, with half of its 95 % interval.";
    let mut claims = Section::new("claims", "Published and ours");
    if let Some(sentence) = headline(findings) {
        claims = claims.text(Prose::new(sentence));
    }
    let others = "A mean over programs may rest on one of them, and classes measured here may hold other programs than the paper's: the median, the mean without the program that changes it most, and the mean over the programs of the paper's own classes.";
    let mut sections = vec![
        claims
            .text(Prose::new(counts(results)))
            .text(Prose::new(caution))
            .table(Table::new("claims", "Claims", shown(findings)?))
            .table(Table::new("verdicts", "Verdicts", legend()?)),
        Section::new("robustness", "Other means").text(Prose::new(others)).table(Table::new(
            "robustness",
            "Other means",
            robustness(findings)?,
        )),
        workloads(results)?,
    ];
    sections.extend(unjudged(results.paper)?);
    Ok(sections)
}

/// Says how many experiments have which outcome, and how many published results have claims.
fn counts(results: &Reproduced<'_>) -> String {
    let counted = [Some(capitalised(&summary(results.findings))), coverage(results.paper)];
    let sentences = counted.into_iter().flatten().map(|part| format!("{part}."));
    sentences.collect::<Vec<_>>().join(" ")
}

/// Formats the results as a part of a page in Markdown: which headline results are reproduced, the
/// outcomes, the claims, how they depend on single programs, and the headline results by program.
///
/// # Errors
/// If the dataframe engine fails.
pub fn part(results: &Reproduced<'_>) -> Result<String> {
    let findings = results.findings;
    let programs = headlines(results.paper, results.study, results.of_workloads)?;
    let tables = [shown(findings)?, robustness(findings)?, programs];
    let tables = tables.into_iter().filter(|frame| frame.height() > 0);
    let tables = tables.map(|frame| markdown::rows(&Table::new("part", "", frame)));
    let tables = tables.collect::<anyhow::Result<Vec<_>>>()?;
    let texts =
        headline(findings).into_iter().chain([counts(results)]).map(|text| format!("{text}\n"));
    Ok(texts.chain(tables).collect::<Vec<_>>().join("\n"))
}

/// Writes the figures and a page of `sections` and figures.
///
/// # Errors
/// If a file cannot be written.
pub(crate) fn page(
    paper: &Paper,
    mut sections: Vec<Section>,
    charts: Vec<Chart>,
    directory: &Path,
) -> Result<()> {
    let folder = directory.join(FIGURES);
    if let Err(source) = fs::create_dir_all(&folder) {
        return Err(Error::Folder { folder, source });
    }
    charts.iter().try_for_each(|chart| chart.write_all(&folder).map(drop))?;
    let figures = Section::new("figures", "Figures");
    sections.push(charts.into_iter().fold(figures, Section::figure));
    let machine = Prose::new("Machine ").code(&paper.machine).words(". ").words(paper.about.trim());
    let document = Document { title: paper.title.clone(), lead: machine, sections };
    let pages =
        [(FILE, html::render(&document)?), (MARKDOWN, markdown::render(&document, FIGURES)?)];
    pages.iter().try_for_each(|(name, text)| {
        Ok(staged::write(&directory.join(name), |partial| Ok(fs::write(partial, text)?))?)
    })
}

/// Makes a section with a row for each workload: its classes, and the outcomes of the claims for
/// its runs alone.
fn workloads(results: &Reproduced<'_>) -> Result<Section> {
    let Reproduced { paper, study, left_out, of_workloads, .. } = results;
    let mut section = Section::new("workloads", "Workloads");
    if !left_out.is_empty() {
        let cannot = Prose::new("Left out because the machine cannot run them: ");
        section = section.text(cannot.codes(left_out.iter().cloned()));
    }
    let names = study.workloads();
    let published = |name: &String| {
        let program = paper.programs.iter().find(|program| program.name == *name);
        program.and_then(|program| program.class.clone()).unwrap_or_default()
    };
    let counted = |verdict: Verdict| -> Vec<u64> {
        names.iter().map(|name| count(of_workloads, name, verdict) as u64).collect()
    };
    let mut frame = df!(
        "workload" => names,
        "class in the paper" => names.iter().map(published).collect::<Vec<_>>(),
        "classes measured" => names.iter().map(|name| study.classes().of(name)).collect::<Vec<_>>(),
    )?;
    for (verdict, _) in LEGEND {
        if verdict != Verdict::OtherSize {
            frame.with_column(Column::new(verdict.name().into(), counted(verdict)))?;
        }
    }
    Ok(section.table(Table::new("workloads", "Workloads", frame)))
}
