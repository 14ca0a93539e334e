//! Imports an input end to end.

use std::path::Path;
use warpmem::import::{ImportError, ImportOptions, ImportSummary, import_accel_sim};

/// Imports the Accel-Sim file at `path` into a trace in memory and removes the trace.
pub fn import(path: &Path) -> Result<ImportSummary, ImportError> {
    let options = ImportOptions { jobs: 1, ..ImportOptions::default() };
    into_memory(|trace| import_accel_sim(path, trace, &options, &()))
}

/// Imports into a trace in memory and removes the trace.
pub fn into_memory(
    import: impl FnOnce(&Path) -> Result<ImportSummary, ImportError>,
) -> Result<ImportSummary, ImportError> {
    let trace = format!("{}/warpmem-fuzz-{}.wmt", crate::MEMORY, std::process::id());
    let trace = Path::new(&trace);
    let summary = import(trace);
    if summary.is_ok() {
        std::fs::remove_file(trace).expect("it has been written");
    }
    summary
}
