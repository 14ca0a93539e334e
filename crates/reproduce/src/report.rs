//! The files of a reproduction: tables, figures, and a page with both in HTML and Markdown.

use crate::claims::Finding;
use crate::error::{Error, Result};
use crate::study::Study;
use crate::table::{frame, shown, summary};
use std::fs;
use std::path::Path;
use warpmem_analysis::polars::df;
use warpmem_analysis::write_csv;
use warpmem_chart::Chart;
use warpmem_files::staged;
use warpmem_report::Table;
use warpmem_report::{Document, Prose, Section};
use warpmem_report::{html, markdown};
use warpmem_study::reproduce::{Ours, Paper};

/// The page.
pub const FILE: &str = "reproduction.html";
const MARKDOWN: &str = "reproduction.md";
const FIGURES: &str = "figures";
const CLAIMS: &str = "claims.csv";

/// Writes the claims as CSV, the figures, and a page with both, which also names the workloads that
/// cannot run on the machine.
///
/// # Errors
/// If a file cannot be written.
pub fn write(
    paper: &Paper,
    study: &Study,
    left_out: &[&str],
    findings: &[Finding],
    charts: Vec<Chart>,
    directory: &Path,
) -> Result<()> {
    write_csv(&frame(findings)?, directory.join(CLAIMS))?;
    let caution = "Workloads are not the paper's own: directions compare, sizes do not. Nothing is fitted. The noise is how far \
        ours moves with the order of identical SMs, two standard deviations; less is below noise.";
    let counts = format!("{}.", summary(findings));
    let sections = vec![
        Section::new("claims", "Published and ours")
            .text(Prose::new(caution))
            .text(Prose::new(counts))
            .table(Table::new("claims", "Published and ours", shown(findings)?)),
        workloads(paper, study, left_out)?,
    ];
    page(paper, sections, charts, directory)
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
    let document = Document { title: paper.title.clone(), lead: vec![machine], sections };
    let pages =
        [(FILE, html::render(&document)?), (MARKDOWN, markdown::render(&document, FIGURES)?)];
    pages.iter().try_for_each(|(name, text)| {
        Ok(staged::write(&directory.join(name), |partial| Ok(fs::write(partial, text)?))?)
    })
}

/// Workloads by class; all in one line if the paper has no classes.
fn workloads(paper: &Paper, study: &Study, left_out: &[&str]) -> Result<Section> {
    let mut section = Section::new("workloads", "Workloads");
    if !left_out.is_empty() {
        let names = left_out.iter().map(|&name| name.to_owned());
        let cannot = Prose::new("Left out, as the machine cannot run them: ");
        section = section.text(cannot.codes(names));
    }
    let listed = paper.claims.iter().find_map(|claim| match &claim.ours {
        Ours::Classes(classes) => Some(classes),
        _ => None,
    });
    let Some(classes) = listed else {
        return Ok(section.text(Prose::default().codes(study.workloads().iter().cloned())));
    };
    let members = |class: &String| study.classes().members(class).join(", ");
    let members: Vec<String> = classes.iter().map(members).collect();
    let frame = df!("class" => classes.clone(), "workloads" => members)?;
    Ok(section.table(Table::new("workloads", "Workloads by class", frame)))
}
