//! The runs of a sweep relative to their baselines.

use crate::cli::comparison::{Runs, comparison, text};
use crate::cli::format::Format;
use crate::slots::Baseline;
use crate::study::sweep::Baselines;
use std::path::Path;

/// Compares the runs whose tables are in `directory`; machines with the same baseline are compared
/// together.
pub fn compare(baselines: &Baselines, directory: &Path, format: Format) -> anyhow::Result<String> {
    let runs = Runs::read(directory)?;
    let compare = |(baseline, machines): (&Baseline, Vec<&str>)| {
        comparison(&runs.on(&machines), baseline, None, format)
    };
    let groups = baselines.groups().into_iter();
    Ok(text(&groups.map(compare).collect::<anyhow::Result<Vec<_>>>()?, format))
}
