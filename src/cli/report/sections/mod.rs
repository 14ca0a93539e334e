//! The sections of a report, each from the runs to text, tables and charts.

mod banks;
mod caches;
mod definitions;
mod divergence;
mod dram;
mod energy;
mod latency;
mod parameters;
mod performance;
mod series;
mod sm_cycles;
mod what_was_run;

pub use definitions::definitions;
pub use what_was_run::counted;

use super::document::Section;
use super::frame::has_some;
use super::limits::Shown;
use super::study::Study;
use super::table::Table;
use polars::prelude::*;
use warpmem_analysis::polars;

/// What makes a section.
pub type MakeSection = fn(&Study, &Shown) -> anyhow::Result<Section>;

/// All but the last, which is about the others.
pub const SECTIONS: [MakeSection; 11] = [
    what_was_run::section,
    performance::section,
    divergence::section,
    latency::section,
    dram::section,
    banks::section,
    sm_cycles::section,
    caches::section,
    energy::section,
    series::section,
    parameters::section,
];

/// A section per setting that charts show: its name, and what to put behind names of charts and titles to tell
/// them apart.
struct Scope {
    runs: DataFrame,
    setting: String,
    /// ` on li2015`
    on: String,
    file: String,
}

fn scopes(study: &Study, shown: &Shown) -> anyhow::Result<Vec<Scope>> {
    let scope = |setting: &String| {
        let is_only = study.settings.len() == 1;
        Ok(Scope {
            runs: shown.runs(study, setting).collect()?,
            on: format!(" on {setting}"),
            file: if is_only { String::new() } else { format!("-{}", file_name(setting)) },
            setting: setting.clone(),
        })
    };
    shown.settings.iter().map(scope).collect()
}

/// Lower case letters and digits, with dashes for all else.
fn file_name(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-").to_ascii_lowercase()
}

/// A row per run, with these columns of `runs` as far as they are there and say something.
fn run_table(study: &Study, name: &str, title: &str, columns: &[&str]) -> anyhow::Result<Table> {
    let present = columns.iter().copied().filter(|column| has_some(&study.runs, column));
    let columns: Vec<&str> = study.keys().into_iter().chain(present).collect();
    Ok(Table::new(name, title, study.runs.select(columns)?))
}
