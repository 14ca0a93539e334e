//! Contents and properties of a trace.

use crate::error::OrRaise;
use crate::machine::Machine;
use crate::watched::{Board, watched};
use pyo3::prelude::*;
use serde_json::json;
use std::path::PathBuf;
use warpmem::study::index;
use warpmem::study::profile::{Options, Progress, profile};
use warpmem::study::traces::NamedTrace;

/// Returns the index of a trace and, on a machine, its profile, as JSON.
#[pyfunction]
pub fn info(
    py: Python<'_>,
    trace: PathBuf,
    machine: Option<&Machine>,
    line: u32,
    sector: u32,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let trace = NamedTrace::open(&trace).or_raise()?;
    let mut object = index::object(&trace);
    if let Some(machine) = machine {
        let options = Options { line_bytes: line, sector_bytes: sector, ..Options::default() };
        let board = Board::of(trace.sum(|kernel| kernel.records));
        let read = watched(py, &board, progress, || {
            let mut tell = |read: &Progress| board.tell(read.records);
            profile(&trace.trace, &machine.machine, &options, &mut tell)
        })?;
        object["profile"] = json!(read.or_raise()?);
    }
    Ok(object.to_string())
}

/// Returns the default bytes of a line, and of a sector.
pub fn units() -> (u32, u32) {
    let Options { line_bytes, sector_bytes, .. } = Options::default();
    (line_bytes, sector_bytes)
}
