//! Cells: runs of a trace on a machine, in parallel.

use super::machines::Overrides;
use super::progress::Board;
use super::traces::NamedTrace;
use anyhow::Context;
use rayon::prelude::*;
use std::collections::HashMap;
use warpmem::gpu::cta::Dispatcher;
use warpmem::gpu::engine::{Progress, ProgressReport, RunError, simulate};
use warpmem::gpu::results::{RunResult, RunSink};
use warpmem::machine::Machine;
use warpmem::record::{Recorded, ResultsWriter, RunKey};
use warpmem::slots::check_policies;

/// One trace on one machine.
pub struct Cell<'a> {
    pub trace: &'a NamedTrace,
    pub key: RunKey,
}

impl<'a> Cell<'a> {
    /// Refuses a cell that could not run. `machine` includes the `overrides`; `command` runs this
    /// cell alone.
    pub fn new(
        trace: &'a NamedTrace,
        machine: Machine,
        overrides: &Overrides,
        command: String,
    ) -> anyhow::Result<Cell<'a>> {
        let hash = trace.trace.header().content_hash;
        let key = RunKey::new(&trace.name, hash, machine, command, None);
        let cell = Cell { trace, key: key.with_overrides(&overrides.overrides) };
        cell.check().with_context(|| cell.failure())?;
        Ok(cell)
    }

    fn check(&self) -> anyhow::Result<()> {
        let machine = &self.key.machine;
        check_policies(machine)?;
        machine.address_map()?;
        Dispatcher::new(machine, self.trace.trace.kernels())?;
        Ok(())
    }

    fn failure(&self) -> String {
        format!("failed to run {} on {}", self.trace.trace.path().display(), self.key.machine.name)
    }

    /// Runs the cell on this thread.
    pub fn simulate(&self, sink: &mut dyn RunSink, board: &Board) -> anyhow::Result<RunResult> {
        let mut watch = board.watch();
        let result = self.simulate_watched(sink, &mut watch)?;
        watch.done(&ProgressReport {
            ctas_ended: self.trace.ctas(),
            ctas: self.trace.ctas(),
            cycles: result.core_cycles,
            warp_instructions: self.trace.warp_instructions(),
        });
        Ok(result)
    }

    /// As [`Cell::simulate`], with any observer.
    pub fn simulate_watched(
        &self,
        sink: &mut dyn RunSink,
        progress: &mut dyn Progress,
    ) -> anyhow::Result<RunResult> {
        let result = simulate(&self.key.machine, &self.trace.trace, sink, progress);
        result.map_err(|error| match error {
            RunError::Interrupted => error.into(),
            error => anyhow::Error::new(error).context(self.failure()),
        })
    }

    fn record(
        &self,
        index: usize,
        writer: &ResultsWriter,
        recorded: Recorded,
        board: &Board,
    ) -> anyhow::Result<()> {
        let mut recorder = writer.begin_run(self.key.clone(), recorded)?;
        let result = self.simulate(&mut recorder, board)?;
        Ok(writer.finish_run(index, recorder, &result)?)
    }
}

/// Refuses cells that are the same run.
pub fn check_distinct(cells: &[Cell<'_>]) -> anyhow::Result<()> {
    let mut seen: HashMap<&str, &Cell<'_>> = HashMap::new();
    for cell in cells {
        if let Some(other) = seen.insert(cell.key.run_id(), cell) {
            let [one, two] = [other, cell].map(|cell| cell.trace.trace.path().display());
            anyhow::bail!("{one} and {two} hold the same trace: give it once");
        }
    }
    Ok(())
}

/// How a set of cells ended.
pub struct Ended {
    /// Cells whose results are with the writer.
    pub finished: usize,
    /// The first failure, by order of the cells. If there is none, unfinished cells were stopped by
    /// the user.
    pub failure: Option<anyhow::Error>,
}

/// Runs every cell, on `jobs` threads, and passes the finished ones to `writer` in their order.
/// After a failure the others are stopped.
pub fn run_all(
    cells: &[Cell<'_>],
    jobs: usize,
    writer: &ResultsWriter,
    recorded: Recorded,
    board: &Board,
) -> anyhow::Result<Ended> {
    let record = |index, cell: &Cell<'_>| cell.record(index, writer, recorded, board);
    let ends = side_by_side(cells, jobs, board, record)?;
    let finished = ends.iter().filter(|end| end.is_ok()).count();
    let failure = ends.into_iter().filter_map(Result::err).find(|error| !is_interruption(error));
    Ok(Ended { finished, failure })
}

/// Calls `work` with every cell and its index, on `jobs` threads. After a failure the others are
/// stopped.
pub fn side_by_side<T: Send>(
    cells: &[Cell<'_>],
    jobs: usize,
    board: &Board,
    work: impl Fn(usize, &Cell<'_>) -> anyhow::Result<T> + Sync,
) -> anyhow::Result<Vec<anyhow::Result<T>>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build();
    let pool = pool.context("failed to start threads")?;
    let work = |(index, cell): (usize, &Cell<'_>)| {
        if board.is_stopped() {
            return Err(RunError::Interrupted.into());
        }
        work(index, cell).inspect_err(|_| board.fail())
    };
    Ok(pool.install(|| cells.par_iter().enumerate().with_max_len(1).map(work).collect()))
}

/// Whether a cell was stopped, by the user or after the failure of another.
pub fn is_interruption(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(RunError::Interrupted))
}
