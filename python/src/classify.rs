//! Workload classes of traces.

use crate::error::{OrRaise, exception};
use crate::frame::{Frame, described};
use crate::machine::Machine;
use crate::runs::slot;
use crate::watched::{Board, watched};
use pyo3::prelude::*;
use std::path::PathBuf;
use warpmem::gpu::results::{Discard, RunResult};
use warpmem::slots::{PolicyChoice, PolicyChoices};
use warpmem::study::cells::{Cell, CellError, side_by_side};
use warpmem::study::classify::{cells, classified, columns, machines, small_pages_per_instruction};
use warpmem::study::profile::Progress;
use warpmem::study::traces::NamedTrace;

/// Classifies traces: a row for each.
#[pyfunction]
pub fn classify(
    py: Python<'_>,
    traces: Vec<PathBuf>,
    machine: &Machine,
    policies: Vec<(String, String)>,
    jobs: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Frame> {
    let traces = NamedTrace::open_all(&traces).or_raise()?;
    let choice = |(name, given): (String, String)| Ok(PolicyChoice { slot: slot(&name)?, given });
    let policies = policies.into_iter().map(choice).collect::<PyResult<_>>()?;
    let policies = PolicyChoices::new(policies);
    let mut plain = machine.machine.clone();
    policies.apply(&mut plain);
    let machines = machines(plain).or_raise()?;
    let cells =
        cells(&traces, &machines, &machine.origin, &policies, &machine.overrides).or_raise()?;
    let pages = small_pages(py, &traces)?;
    let board = Board::of(cells.iter().map(Cell::warp_instructions).sum());
    let ends = watched(py, &board, progress, || {
        side_by_side(&cells, jobs, &board, |_, cell| cell.simulate(&mut Discard, &board))
    })?;
    let results = finished(ends.or_raise()?)?;
    described(&columns(), &classified(&cells, results, &pages)).map(Frame)
}

/// Reads the traces for their pages per instruction.
fn small_pages(py: Python<'_>, traces: &[NamedTrace]) -> PyResult<Vec<Option<f64>>> {
    let board = Board::default();
    let read = watched(py, &board, None, || {
        let mut tell = |read: &Progress| board.tell(read.records);
        let of = |trace: &NamedTrace| small_pages_per_instruction(&trace.trace, &mut tell);
        traces.iter().map(of).collect::<Result<Vec<_>, _>>()
    })?;
    read.or_raise()
}

/// Returns the results, or the first failure; after a failure the other runs are interrupted.
fn finished(ends: Vec<Result<RunResult, CellError>>) -> PyResult<Vec<RunResult>> {
    let mut results = Vec::new();
    let mut failures = Vec::new();
    for end in ends {
        match end {
            Ok(result) => results.push(result),
            Err(error) => failures.push(error),
        }
    }
    let of_a_run = failures.iter().find(|error| !error.is_interruption());
    match of_a_run.or(failures.first()) {
        Some(failure) => Err(exception(failure)),
        None => Ok(results),
    }
}
