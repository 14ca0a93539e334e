//! The sections of a report. Each turns the runs into text, tables and charts.

mod banks;
mod caches;
mod definitions;
mod divergence;
mod dram;
mod energy;
mod latency;
mod one_run;
mod parameters;
mod performance;
mod series;
mod sm_cycles;
mod summary;
mod what_was_run;

pub use definitions::definitions;

use super::document::Section;
use super::frame::{distinct, has_some, values};
use super::limits::Shown;
use super::prose::Prose;
use super::table::Table;
use crate::columns::{IS_BASELINE, POLICY};
use crate::study::Study;
use polars::prelude::*;
use warpmem_analysis::polars;

/// Builds a section.
pub type MakeSection = fn(&Study, &Shown) -> anyhow::Result<Section>;

/// All sections except those about the others: the answer first, the configuration last.
pub const SECTIONS: [MakeSection; 13] = [
    summary::section,
    performance::section,
    parameters::section,
    divergence::section,
    latency::section,
    dram::section,
    banks::section,
    sm_cycles::section,
    caches::section,
    energy::dram,
    energy::gpu,
    series::section,
    what_was_run::section,
];

/// A setting shown in charts: its name, and the suffix that distinguishes the names of its charts
/// and titles.
struct Scope {
    runs: DataFrame,
    setting: String,
    /// Baseline of its runs, in words.
    baseline: String,
    /// Suffix of titles: ` on li2015`.
    on: String,
    file: String,
}

impl Scope {
    /// Returns the policy of the baseline if there is only one.
    fn only_baseline(&self) -> anyhow::Result<Option<String>> {
        let of_baseline = self.runs.clone().lazy().filter(col(IS_BASELINE)).collect()?;
        let mut found = distinct(&of_baseline, POLICY)?;
        Ok(found.pop().filter(|_| found.is_empty()))
    }
}

/// Returns the scopes of charts that compare runs; none for a single run.
fn compared_scopes(study: &Study, shown: &Shown) -> anyhow::Result<Vec<Scope>> {
    if study.only_run().is_some() { Ok(Vec::new()) } else { scopes(study, shown) }
}

fn scopes(study: &Study, shown: &Shown) -> anyhow::Result<Vec<Scope>> {
    let scope = |setting: &String| {
        let is_only = study.settings.len() == 1;
        let runs = shown.runs(study, setting).collect()?;
        let machine = distinct(&runs, "machine")?.pop().unwrap_or_default();
        Ok(Scope {
            runs,
            baseline: study.baseline_on(&machine).to_owned(),
            on: format!(" on {setting}"),
            file: if is_only { String::new() } else { format!("-{}", file_name(setting)) },
            setting: setting.clone(),
        })
    };
    shown.settings.iter().map(scope).collect()
}

/// Converts text to a file name: lower-case letters and digits; everything else becomes a dash.
fn file_name(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-").to_ascii_lowercase()
}

/// Rows above which a table is folded: charts show the runs first.
const OPEN: usize = 12;

/// Makes a table with a row per run and those of the `columns` that are not 0 in every run; a note
/// names the others.
fn run_table(study: &Study, name: &str, title: &str, columns: &[&str]) -> anyhow::Result<Table> {
    let (present, rest): (Vec<&str>, Vec<&str>) =
        columns.iter().partition(|column| has_some(&study.runs, column));
    let (unknown, zero): (Vec<&str>, Vec<&str>) =
        rest.iter().partition(|column| values(&study.runs, column).is_empty());
    let columns: Vec<&str> = study.keys().into_iter().chain(present).collect();
    let mut table = Table::new(name, title, study.runs.select(columns)?);
    table.left_out = left_out(&zero, &unknown);
    Ok(folded_if_long(table))
}

fn folded_if_long(table: Table) -> Table {
    if table.rows() > OPEN { table.folded() } else { table }
}

/// Names the columns that are 0 in all runs, and columns without any value.
fn left_out(zero: &[&str], unknown: &[&str]) -> Option<Prose> {
    let prose = Prose::new("Left out are ");
    Some(match (zero, unknown) {
        ([], []) => return None,
        (zero, []) => prose.codes(zero.iter().copied()).words(", 0 in every run."),
        ([], unknown) => {
            prose.codes(unknown.iter().copied()).words(", without a value in every run.")
        }
        (zero, unknown) => prose
            .codes(zero.iter().copied())
            .words(", 0 in every run, and ")
            .codes(unknown.iter().copied())
            .words(", without a value in every run."),
    })
}
