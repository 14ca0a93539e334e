//! The runs of a sweep relative to their baselines.

use crate::cli::comparison::{comparison, text};
use crate::cli::format::Format;
use crate::slots::Baseline;
use crate::study::sweep::Baselines;
use std::path::Path;
use warpmem_analysis::Results;
use warpmem_analysis::polars::prelude::{col, lit};

/// Compares the runs whose tables are in `directory`; machines with the same baseline are compared
/// together.
pub fn compare(baselines: &Baselines, directory: &Path, format: Format) -> anyhow::Result<String> {
    let results = Results::open(directory)?;
    let compare = |(baseline, machines): (&Baseline, Vec<&str>)| {
        let is_one = |any, machine| col("machine").eq(lit(machine)).or(any);
        let runs = results.runs()?.filter(machines.into_iter().fold(lit(false), is_one));
        comparison(runs, baseline, None, format)
    };
    let groups = baselines.groups().into_iter();
    text(&groups.map(compare).collect::<anyhow::Result<Vec<_>>>()?, format)
}
