//! Directories of results: [`ResultsWriter`] writes all tables at the end, [`CellStore`] stores each
//! run when it finishes. Both write to a hidden directory and rename, so that no file has its final
//! name before it is complete.

mod cells;
mod files;
mod finished;
mod recorder;
mod staging;
mod writer;

use cells::{INCOMPLETE, UNFINISHED};
use finished::{CELLS, SUPERSEDED};
use staging::{LOCK, PREFIX};
use std::path::Path;
use writer::CONTENTS;

pub use cells::CellStore;
pub use finished::{FinishedCells, cell_names};
#[cfg(test)]
pub(crate) use recorder::STREAMED;
pub use recorder::{Recorded, RunRecorder};
pub use writer::ResultsWriter;

/// Whether a path relative to a results directory is part of the results: a table, a cell, or a mark
/// of missing runs. The directory may hold other files.
pub fn is_part_of_results(within: &Path) -> bool {
    const OTHERS: [&str; 5] = [CELLS, SUPERSEDED, UNFINISHED, INCOMPLETE, LOCK];
    let first = within.iter().next().unwrap_or_default().to_string_lossy();
    let is_table = |name: &str| {
        let table = |content: &str| content.strip_suffix(".parquet").unwrap_or(content) == name;
        CONTENTS.into_iter().any(table)
    };
    OTHERS.contains(&&*first)
        || first.starts_with(PREFIX)
        || is_table(first.strip_suffix(".parquet").unwrap_or(&first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema;

    #[test]
    fn tables_are_part_of_results_and_other_files_are_not() {
        for table in schema() {
            assert!(is_part_of_results(Path::new(&format!("{}.parquet", table.name))));
        }
        for part in ["cells/0/runs.parquet", "loads/0.parquet", "incomplete", ".lock"] {
            assert!(is_part_of_results(Path::new(part)), "{part}");
        }
        for other in ["report.html", "commands.parquet", "traces/a.wmt", "runs.csv"] {
            assert!(!is_part_of_results(Path::new(other)), "{other}");
        }
    }
}
