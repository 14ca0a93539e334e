//! Sweeps over a plan, or over one of several parts of it.

use crate::error::{Error, OrRaise, exception};
use crate::watched::{Board, Watch, watched};
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use warpmem::gpu::engine::Progress;
use warpmem::gpu::results::RunResult;
use warpmem::study::cells::Watcher as _;
use warpmem::study::suite::{self, GenerateError, Generation};
use warpmem::study::sweep::{Outcome, Plan, Planned, Shard, Sweep, Watcher, expand, open};
use warpmem::workload;

/// A plan, given as JSON, as TOML.
#[pyfunction]
pub fn plan_to_toml(json: &str) -> PyResult<String> {
    let table: toml::Table = serde_json::from_str(json).or_raise()?;
    toml::to_string(&table).or_raise()
}

/// Runs the cells of a plan that `directory` does not have; so many as there are then, and as the
/// plan has, or the shard. `path` is what the names of files in the plan are relative to.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn sweep(
    py: Python<'_>,
    text: &str,
    path: PathBuf,
    directory: PathBuf,
    cache: PathBuf,
    shard: Option<String>,
    jobs: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<(usize, usize)> {
    let shard = shard.map(|text| text.parse::<Shard>().map_err(Error::new_err)).transpose()?;
    let plan = Plan::from_text(text, &path).or_raise()?;
    let board = Board::default();
    let outcome =
        watched(py, &board, progress, || run(&plan, &directory, &cache, shard, jobs, &board))??;
    match outcome.failures.first() {
        _ if outcome.interrupted => Err(Error::new_err("interrupted")),
        Some(failure) => {
            let of = format!("{} of {} cells failed", outcome.failures.len(), outcome.cells);
            let cause = exception(&failure.error);
            Err(Error::new_err(format!("{of}; the first, {}: {cause}", failure.label)))
        }
        None => Ok((outcome.finished, outcome.cells)),
    }
}

fn run(
    plan: &Plan,
    directory: &Path,
    cache: &Path,
    shard: Option<Shard>,
    jobs: usize,
    board: &Board,
) -> PyResult<Outcome> {
    let generate = |work: &Generation<'_>| -> Result<(), GenerateError> {
        work.run(&Generating(board)).map(drop)
    };
    let traces = open(plan, cache, jobs, &generate).or_raise()?;
    let expansion = expand(plan, &traces).or_raise()?;
    let sweep = Sweep::open(expansion, plan.recorded(), directory, shard).or_raise()?;
    let started = sweep.start();
    let instructions = started.todo().iter().map(|planned| planned.cell.warp_instructions()).sum();
    board.set(0, instructions);
    started.run(jobs, &Running(board)).or_raise()?.assemble().or_raise()
}

/// Watches the generators of a suite.
struct Generating<'a>(&'a Board);

impl suite::Watcher for Generating<'_> {
    fn report(&self, _: &str, _: &workload::Progress) -> ControlFlow<()> {
        match self.0.is_stopped() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn made(&self) {}
}

/// Watches the cells.
struct Running<'b>(&'b Board);

impl Watcher for Running<'_> {
    type Running<'a>
        = Watch<'a>
    where
        Self: 'a;

    fn begin(&self, _: &Planned<'_>) -> Watch<'_> {
        self.0.watch()
    }

    fn ended(&self, _: usize, planned: &Planned<'_>, mut watch: Watch<'_>, result: &RunResult) {
        watch.report(&planned.cell.end(result));
    }

    fn stop(&self) {
        self.0.stop();
    }

    fn is_stopped(&self) -> bool {
        self.0.is_stopped()
    }
}
