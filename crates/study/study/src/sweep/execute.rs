//! Runs the cells of a plan that have no results yet.

use super::baseline::Baselines;
use super::error::SweepError;
use super::expand::Expansion;
use super::planned::Planned;
use super::shard::Shard;
use crate::cells::{CellError, threads};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use warpmem_gpu::engine::Progress;
use warpmem_gpu::results::RunResult;
use warpmem_record::{CellStore, FinishedCells, Recorded, ResultsError, RunKey};

/// Watches the cells of a sweep, and can stop them.
pub trait Watcher: Sync {
    /// Watcher of a running cell; dropped if the cell fails.
    type Running<'a>: Progress
    where
        Self: 'a;

    /// Starts watching a cell.
    fn begin(&self, planned: &Planned<'_>) -> Self::Running<'_>;

    /// Reports the end of the cell with the index `at` in the plan.
    fn ended(
        &self,
        at: usize,
        planned: &Planned<'_>,
        running: Self::Running<'_>,
        result: &RunResult,
    );

    /// Reports that results cannot be written: running cells should stop, and no others begin.
    fn stop(&self);

    fn is_stopped(&self) -> bool;
}

/// Cells of a plan, and the directory with the results of those that have run.
pub struct Sweep<'a> {
    directory: PathBuf,
    pub(super) recorded: Recorded,
    pub(super) cells: Vec<Planned<'a>>,
    baselines: Baselines,
    pub(super) store: CellStore,
    shard: Option<Shard>,
}

impl<'a> Sweep<'a> {
    /// Opens the directory of results; `shard` selects the cells to run.
    ///
    /// # Errors
    /// If the directory cannot be opened, or holds other tables.
    pub fn open(
        expansion: Expansion<'a>,
        recorded: Recorded,
        directory: &Path,
        shard: Option<Shard>,
    ) -> Result<Sweep<'a>, SweepError> {
        let Expansion { cells, baselines, .. } = expansion;
        let store = CellStore::open(directory, keys(&cells), recorded)?;
        Ok(Sweep { directory: directory.to_owned(), recorded, cells, baselines, store, shard })
    }

    /// Returns the damaged tables, whose runs are repeated.
    pub fn damaged(&self) -> &[PathBuf] {
        self.store.damaged()
    }

    /// Returns the number of runs in the directory that are not in the plan.
    pub fn others(&self) -> usize {
        self.store.finished().others(&self.run_ids(None)).len()
    }

    /// Removes the runs that are not in the plan.
    ///
    /// # Errors
    /// If a run cannot be removed.
    pub fn prune(&mut self) -> Result<(), SweepError> {
        let run_ids = self.cells.iter().map(|planned| planned.cell.key.run_id()).collect();
        Ok(self.store.prune(&run_ids)?)
    }

    /// Starts the cells without results.
    pub fn start(self) -> Started<'a> {
        let mine = mine(&self.cells, self.shard);
        let is_there =
            |&at: &usize| self.store.finished().holds(&self.cells[at].cell.key, self.recorded);
        let (there, todo) = mine.iter().copied().partition(is_there);
        Started { sweep: self, mine, there, todo }
    }
}

pub(super) fn keys<'s>(cells: &'s [Planned<'_>]) -> impl Iterator<Item = &'s RunKey> {
    cells.iter().map(|planned| &planned.cell.key)
}

/// A sweep, and its cells to run.
pub struct Started<'a> {
    sweep: Sweep<'a>,
    /// Indices of the shard's cells, of those with results, and of those to run.
    mine: Vec<usize>,
    there: Vec<usize>,
    todo: Vec<usize>,
}

impl<'a> Started<'a> {
    /// Returns the number of cells of the plan, or of its shard.
    pub fn cells(&self) -> usize {
        self.mine.len()
    }

    /// Returns the number of cells that already had results.
    pub fn there(&self) -> usize {
        self.there.len()
    }

    /// Returns the cells to run.
    pub fn todo(&self) -> Vec<&Planned<'a>> {
        self.todo.iter().map(|&at| &self.sweep.cells[at]).collect()
    }

    /// Returns the index of each cell's baseline, if there is one.
    pub fn partners(&self) -> Vec<Option<usize>> {
        self.sweep.baselines.partners(&self.sweep.cells)
    }

    /// Skips the remaining cells: existing results can be assembled.
    pub fn skip(self) -> Run<'a> {
        Run { started: self, ends: Vec::new() }
    }

    /// Runs the cells on `jobs` threads.
    ///
    /// # Errors
    /// If no threads can be started.
    pub fn run(self, jobs: usize, watcher: &impl Watcher) -> Result<Run<'a>, SweepError> {
        let Sweep { cells, store, recorded, .. } = &self.sweep;
        let run = |at: usize| run_one(at, &cells[at], *recorded, store, watcher);
        let ends = run_all(cells, self.todo.clone(), &run, jobs, watcher)?;
        Ok(Run { started: self, ends })
    }
}

/// Index of a cell, and its outcome.
type End = (usize, Result<(), CellError>);

/// A sweep whose cells have run or failed.
pub struct Run<'a> {
    started: Started<'a>,
    ends: Vec<End>,
}

impl Run<'_> {
    /// Assembles the tables of all cells with results.
    ///
    /// # Errors
    /// If results cannot be written. Other failures are part of the outcome.
    pub fn assemble(self) -> Result<Outcome, SweepError> {
        let Run { started: Started { sweep, mine, there, .. }, ends } = self;
        let Sweep { directory, recorded, cells, baselines, store, .. } = sweep;
        let assembled = store.assemble(keys(&cells), recorded);
        let mut outcome = Outcome {
            cells: mine.len(),
            finished: there.len(),
            is_whole: false,
            failures: Vec::new(),
            interrupted: false,
            baselines,
        };
        for (at, end) in ends {
            match end {
                Ok(()) => outcome.finished += 1,
                Err(error) if error.is_interruption() => outcome.interrupted = true,
                Err(error) => {
                    outcome.failures.push(Failure { label: cells[at].label.clone(), error });
                }
            }
        }
        if outcome.interrupted || !outcome.failures.is_empty() {
            outcome.finished = left(&directory, &cells, &mine, recorded);
        }
        if let Some(source) = unwritten(&mut outcome.failures) {
            let kept = kept(&outcome, &directory);
            return Err(SweepError::Unwritten { kept, source });
        }
        outcome.is_whole = assembled? == cells.len();
        check_kept(&outcome, &directory, |directory| left(directory, &cells, &mine, recorded))?;
        Ok(outcome)
    }
}

/// Fails if finished cells have disappeared from the directory.
fn check_kept(
    outcome: &Outcome,
    directory: &Path,
    left: impl FnOnce(&Path) -> usize,
) -> Result<(), SweepError> {
    if outcome.is_whole || outcome.finished < outcome.cells {
        return Ok(());
    }
    match left(directory) {
        left if left == outcome.cells => Ok(()),
        left => {
            Err(SweepError::Lost { directory: directory.to_owned(), left, cells: outcome.cells })
        }
    }
}

/// Extracts the first failure that concerns the results and not a cell.
fn unwritten(failures: &mut Vec<Failure>) -> Option<ResultsError> {
    let is_of_results = |failure: &Failure| matches!(failure.error, CellError::Results(_));
    let at = failures.iter().position(is_of_results)?;
    match failures.swap_remove(at).error {
        CellError::Results(error) => Some(error),
        _ => None,
    }
}

fn kept(outcome: &Outcome, directory: &Path) -> String {
    match directory.is_dir() {
        true => {
            let (finished, cells) = (outcome.finished, outcome.cells);
            format!("{finished} of {cells} cells are kept; run it again to resume")
        }
        false => format!("{} is gone, and all cells with it", directory.display()),
    }
}

/// Outcome of a plan.
pub struct Outcome {
    /// Number of cells of the plan, or of its shard.
    pub cells: usize,
    /// Number of cells with results.
    pub finished: usize,
    /// Whether all cells of the plan have results, including those of other shards.
    pub is_whole: bool,
    /// Failed cells, in the order of the plan.
    pub failures: Vec<Failure>,
    pub interrupted: bool,
    /// The baselines of the cells.
    pub baselines: Baselines,
}

/// A failed cell.
pub struct Failure {
    pub label: String,
    pub error: CellError,
}

/// Counts the cells with these indices that still have results; the user may have removed some.
fn left(directory: &Path, cells: &[Planned<'_>], places: &[usize], recorded: Recorded) -> usize {
    let Ok(finished) = FinishedCells::read(directory) else { return 0 };
    places.iter().filter(|&&at| finished.holds(&cells[at].cell.key, recorded)).count()
}

/// A cell, and whether its results exist.
pub struct Listed<'c, 'a> {
    pub planned: &'c Planned<'a>,
    pub is_there: bool,
}

/// Lists the cells of the plan, or of its shard, without running any.
///
/// # Errors
/// If the directory cannot be read.
pub fn listed<'c, 'a>(
    cells: &'c [Planned<'a>],
    recorded: Recorded,
    directory: &Path,
    shard: Option<Shard>,
) -> Result<Vec<Listed<'c, 'a>>, ResultsError> {
    let finished = FinishedCells::read(directory)?;
    let listed = |at: usize| {
        let planned = &cells[at];
        let key = &planned.cell.key;
        let is_there = finished.holds(key, recorded) && finished.damaged(key, recorded)?.is_none();
        Ok(Listed { planned, is_there })
    };
    mine(cells, shard).into_iter().map(listed).collect()
}

/// Returns the indices of the shard's cells.
pub(super) fn mine(cells: &[Planned<'_>], shard: Option<Shard>) -> Vec<usize> {
    let Some(shard) = shard else {
        return (0..cells.len()).collect();
    };
    let weights: Vec<u64> = cells.iter().map(|planned| planned.cell.warp_instructions()).collect();
    let held = shard.holds(&weights);
    (0..cells.len()).filter(|&at| held[at]).collect()
}

/// Runs the cells with these indices, the longest first, to keep all threads busy until the end.
/// Returns the outcome of each, in their order.
fn run_all(
    cells: &[Planned<'_>],
    mut places: Vec<usize>,
    run: &(impl Fn(usize) -> Result<(), CellError> + Sync),
    jobs: usize,
    watcher: &impl Watcher,
) -> Result<Vec<End>, SweepError> {
    places.sort_by_key(|&at| Reverse(cells[at].cell.warp_instructions()));
    let work = |at: usize| {
        let end = match watcher.is_stopped() {
            true => Err(CellError::Interrupted),
            false => run(at),
        };
        if matches!(end, Err(CellError::Results(_))) {
            watcher.stop();
        }
        (at, end)
    };
    let places = places.into_iter().par_bridge();
    let mut ends: Vec<_> = threads(jobs)?.install(|| places.map(work).collect());
    ends.sort_by_key(|(at, _)| *at);
    Ok(ends)
}

fn run_one(
    at: usize,
    planned: &Planned<'_>,
    recorded: Recorded,
    store: &CellStore,
    watcher: &impl Watcher,
) -> Result<(), CellError> {
    let mut recorder = store.begin(planned.cell.key.clone(), recorded)?;
    let mut running = watcher.begin(planned);
    let result = planned.cell.simulate_watched(&mut recorder, &mut running)?;
    store.finish(recorder, &result)?;
    watcher.ended(at, planned, running, &result);
    Ok(())
}
