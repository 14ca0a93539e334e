//! Sweeps over a plan, or over one of its shards.

use crate::error::{Error, OrRaise};
use crate::watched::{Board, BoardProgress, watched};
use pyo3::prelude::*;
use std::fs;
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use warpmem::gpu::engine::Progress;
use warpmem::gpu::results::RunResult;
use warpmem::study::cells::Watcher as _;
use warpmem::study::suite::{self, GenerateError, Generation};
use warpmem::study::sweep::{Outcome, Plan, Planned, Shard, Sweep, Watcher, expand, open};
use warpmem::study::traces::NamedTrace;
use warpmem::workload;

/// Converts a plan from JSON to TOML.
#[pyfunction]
pub fn plan_to_toml(json: &str) -> PyResult<String> {
    let table: toml::Table = serde_json::from_str(json).or_raise()?;
    toml::to_string(&table).or_raise()
}

/// A plan, and the locations of its traces and results.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Sweeping {
    /// Text of the plan, TOML.
    text: String,
    /// Folder to which the plan's file names are relative.
    path: PathBuf,
    /// Directory of the results.
    directory: PathBuf,
    /// Folder of suite traces.
    cache: PathBuf,
}

impl Sweeping {
    fn plan(&self) -> PyResult<Plan> {
        Plan::from_text(&self.text, &self.path).or_raise()
    }

    /// Returns the directory of a shard.
    fn shard(&self, number: usize) -> PathBuf {
        self.directory.join(SHARDS).join(number.to_string())
    }
}

/// Subfolder of the shards in the directory of a sweep.
const SHARDS: &str = "shards";

/// Distributes the cells without results over shards, and moves finished ones to the shards that
/// will run, so that each shard's tables are complete. Traces of suites are generated. Returns the
/// numbers of the shards to run, and their directories.
#[pyfunction]
pub fn deal_shards(
    py: Python<'_>,
    sweeping: Sweeping,
    shards: usize,
) -> PyResult<Vec<(usize, PathBuf)>> {
    let plan = sweeping.plan()?;
    let board = Board::default();
    watched(py, &board, None, || {
        let traces = traces(&plan, &sweeping.cache, 0, &board)?;
        let mut sweep = open_sweep(&plan, &traces, &sweeping, None)?;
        gather(&mut sweep, &sweeping)?;
        let mut to_run = Vec::new();
        for shard in
            Shard::all(shards).filter(|shard| sweep.missing(Some(*shard)) > 0).collect::<Vec<_>>()
        {
            let directory = sweeping.shard(shard.number());
            sweep.deal(shard, &directory).or_raise()?;
            to_run.push((shard.number(), directory));
        }
        Ok(to_run)
    })?
}

/// Runs the cells of a plan that its directory lacks, after gathering those of its shards; returns
/// the number of finished cells, and of all cells of the plan or the shard.
#[pyfunction]
pub fn sweep(
    py: Python<'_>,
    sweeping: Sweeping,
    shard: Option<String>,
    jobs: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<(usize, usize)> {
    let shard = shard.map(|text| text.parse::<Shard>().map_err(Error::new_err)).transpose()?;
    let plan = sweeping.plan()?;
    let board = Board::default();
    let outcome = watched(py, &board, progress, || run(&plan, &sweeping, shard, jobs, &board))??;
    complete(outcome).or_raise().map(|outcome| (outcome.finished, outcome.cells))
}

/// Refuses an incomplete outcome.
fn complete(mut outcome: Outcome) -> anyhow::Result<Outcome> {
    anyhow::ensure!(!outcome.interrupted, "interrupted");
    let failed = outcome.failures.len();
    let Some(failure) = outcome.failures.drain(..).next() else { return Ok(outcome) };
    let of = format!("{failed} of {} cells failed; the first, {}", outcome.cells, failure.label);
    Err(anyhow::Error::new(failure.error).context(of))
}

/// Runs the cells of a plan on these traces that a directory lacks.
pub fn run_on(
    plan: &Plan,
    traces: &[NamedTrace],
    directory: &Path,
    jobs: usize,
    board: &Board,
) -> anyhow::Result<()> {
    let sweep = Sweep::open(expand(plan, traces)?, plan.recorded(), directory, None)?;
    complete(execute(sweep, jobs, board)?).map(drop)
}

/// Runs the cells without results.
fn execute(sweep: Sweep<'_>, jobs: usize, board: &Board) -> anyhow::Result<Outcome> {
    let started = sweep.start();
    let instructions = started.todo().iter().map(|planned| planned.cell.warp_instructions()).sum();
    board.set(0, instructions);
    Ok(started.run(jobs, &Running(board))?.assemble()?)
}

fn run(
    plan: &Plan,
    sweeping: &Sweeping,
    shard: Option<Shard>,
    jobs: usize,
    board: &Board,
) -> PyResult<Outcome> {
    let traces = traces(plan, &sweeping.cache, jobs, board)?;
    let mut sweep = open_sweep(plan, &traces, sweeping, shard)?;
    gather(&mut sweep, sweeping)?;
    let outcome = execute(sweep, jobs, board).or_raise()?;
    match fs::remove_dir_all(sweeping.directory.join(SHARDS)) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error).or_raise(),
        _ => Ok(outcome),
    }
}

fn traces(plan: &Plan, cache: &Path, jobs: usize, board: &Board) -> PyResult<Vec<NamedTrace>> {
    let generate = |work: &Generation<'_>| -> Result<(), GenerateError> {
        work.run(&Generating(board)).map(drop)
    };
    open(plan, cache, jobs, &generate).or_raise()
}

fn open_sweep<'a>(
    plan: &Plan,
    traces: &'a [NamedTrace],
    sweeping: &Sweeping,
    shard: Option<Shard>,
) -> PyResult<Sweep<'a>> {
    let expansion = expand(plan, traces).or_raise()?;
    Sweep::open(expansion, plan.recorded(), &sweeping.directory, shard).or_raise()
}

/// Moves the results that shards have finished.
fn gather(sweep: &mut Sweep<'_>, sweeping: &Sweeping) -> PyResult<()> {
    let entries = match fs::read_dir(sweeping.directory.join(SHARDS)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries.or_raise()?,
    };
    for entry in entries {
        sweep.gather(&entry.or_raise()?.path()).or_raise()?;
    }
    Ok(())
}

/// Watches the generators of a suite.
pub struct Generating<'a>(pub &'a Board);

impl suite::Watcher for Generating<'_> {
    fn report(&self, _: &str, _: &workload::Progress) -> ControlFlow<()> {
        match self.0.is_stopped() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn stop(&self) -> workload::Stop {
        self.0.generator_stop()
    }

    fn made(&self) {
        self.0.add(1);
    }
}

/// Watches the cells.
struct Running<'b>(&'b Board);

impl Watcher for Running<'_> {
    type Running<'a>
        = BoardProgress<'a>
    where
        Self: 'a;

    fn begin(&self, _: &Planned<'_>) -> BoardProgress<'_> {
        self.0.watch()
    }

    fn ended(
        &self,
        _: usize,
        planned: &Planned<'_>,
        mut watch: BoardProgress<'_>,
        result: &RunResult,
    ) {
        watch.report(&planned.cell.end(result));
    }

    fn stop(&self) {
        self.0.stop();
    }

    fn is_stopped(&self) -> bool {
        self.0.is_stopped()
    }
}
