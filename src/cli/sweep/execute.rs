//! Runs the cells of a plan that have no results yet.

use super::super::cells::is_interruption;
use super::super::exit::{Interrupted, is_fault};
use super::super::format::Format;
use super::super::interrupt::Interrupt;
use super::super::output::note;
use super::super::traces::NamedTrace;
use super::baseline::Baselines;
use super::expand::{Expansion, Planned, expand};
use super::list::{self, Listed};
use super::live::Live;
use super::traces;
use anyhow::Context;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use warpmem::gpu::engine::RunError;
use warpmem::record::{CellStore, FinishedCells, Recorded, ResultsError};
use warpmem::study::sweep::{Plan, Shard};

/// Options of a sweep.
#[derive(Clone, Debug)]
pub struct Options {
    /// Runs at a time.
    pub jobs: usize,
    /// Which part of the cells; none for all of them.
    pub shard: Option<Shard>,
    /// Folder for generated suites; none for the directory of the results.
    pub cache: Option<PathBuf>,
    /// Remove runs that are not in the plan.
    pub prune: bool,
}

/// The outcome of a plan.
pub struct Outcome {
    /// Cells of the plan, or of its shard.
    pub cells: usize,
    /// Number of those with results.
    pub finished: usize,
    /// Whether all cells of the plan have results, including those of other shards.
    pub is_whole: bool,
    /// Cells that failed, in the order of the plan.
    pub failures: Vec<Failure>,
    pub interrupted: bool,
    /// The baselines of the cells.
    pub baselines: Baselines,
}

/// A cell that failed.
pub struct Failure {
    pub label: String,
    pub error: anyhow::Error,
}

impl Outcome {
    /// Refuses an incomplete outcome; the message says that `directory` has the rest. Of several
    /// failures, a fault of the program decides the exit status, because it has to be reported.
    ///
    /// # Errors
    /// If it was interrupted, or cells have failed, which are named on standard error.
    pub fn complete(mut self, directory: &Path) -> anyhow::Result<Outcome> {
        let place = directory.display();
        let kept = match directory.is_dir() {
            true => format!(
                "{} of {} cells are in {place}; run it again to go on",
                self.finished, self.cells
            ),
            false => format!("nothing is kept: {place} is gone"),
        };
        if self.interrupted {
            return Err(Interrupted { kept }.into());
        }
        if self.failures.is_empty() {
            return Ok(self);
        }
        for failure in &self.failures {
            note(&format!("failed: {}: {:#}", failure.label, failure.error));
        }
        let of = format!("{} of {} cells failed; {kept}", self.failures.len(), self.cells);
        let fault = self.failures.iter().position(|failure| is_fault(&failure.error));
        Err(self.failures.swap_remove(fault.unwrap_or(0)).error.context(of))
    }
}

/// Runs the cells of `plan` whose results `directory` does not have, and assembles its tables.
/// Cells that fail do not stop the others.
///
/// # Errors
/// If the plan cannot be run, or results cannot be written. Finished runs are kept.
pub fn run(
    plan: &Plan,
    directory: &Path,
    options: &Options,
    interrupt: &Interrupt,
) -> anyhow::Result<Outcome> {
    let traces = open_traces(plan, directory, options, interrupt)?;
    run_on(plan, &traces, directory, options, interrupt)
}

/// As [`run`], with these traces instead of those that the plan names.
///
/// # Errors
/// As [`run`].
pub fn run_on(
    plan: &Plan,
    traces: &[NamedTrace],
    directory: &Path,
    options: &Options,
    interrupt: &Interrupt,
) -> anyhow::Result<Outcome> {
    let expansion = expand(plan, traces)?;
    tell(&expansion);
    let Expansion { cells, baselines, .. } = expansion;
    let keys = || cells.iter().map(|planned| &planned.cell.key);
    let recorded = plan.recorded();
    let mut store = CellStore::open(directory, keys(), recorded)?;
    for table in store.damaged() {
        note(&format!("note: {} is damaged; its run is made again", table.display()));
    }
    look_over(&mut store, &cells, options.prune, directory)?;
    let mine = mine(&cells, options.shard);
    let is_there = |&at: &usize| store.finished().holds(&cells[at].cell.key, recorded);
    let (there, todo): (Vec<usize>, Vec<usize>) = mine.iter().copied().partition(is_there);
    let running: Vec<&Planned<'_>> = todo.iter().map(|&at| &cells[at]).collect();
    let live = Live::new(interrupt, &running, baselines.partners(&cells));
    let run = |at: usize| run_one(at, &cells[at], recorded, &store, &live);
    let ends = run_all(&cells, todo, &run, options.jobs, &live)?;
    note(&format!("{}{}", live.finish(), before(there.len(), mine.len())));
    let assembled = store.assemble(keys(), recorded);
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
            Err(error) if is_interruption(&error) => outcome.interrupted = true,
            Err(error) => outcome.failures.push(Failure { label: cells[at].label.clone(), error }),
        }
    }
    if outcome.interrupted || !outcome.failures.is_empty() {
        outcome.finished = left(directory, &cells, &mine, recorded);
    }
    let is_of_results = |failure: &Failure| failure.error.is::<ResultsError>();
    if let Some(at) = outcome.failures.iter().position(is_of_results) {
        let error = outcome.failures.swap_remove(at).error;
        let (finished, cells) = (outcome.finished, outcome.cells);
        let kept = format!("{finished} of {cells} cells are kept; run it again to go on");
        let gone = || format!("{} is gone, and all cells with it", directory.display());
        return Err(error.context(if directory.is_dir() { kept } else { gone() }));
    }
    outcome.is_whole = assembled? == cells.len();
    Ok(outcome)
}

/// How many of the cells with these indices have results. Whoever interrupts a sweep may also have
/// removed some.
fn left(directory: &Path, cells: &[Planned<'_>], places: &[usize], recorded: Recorded) -> usize {
    let Ok(finished) = FinishedCells::read(directory) else { return 0 };
    places.iter().filter(|&&at| finished.holds(&cells[at].cell.key, recorded)).count()
}

/// Lists the cells of the plan, or of its shard, without running any.
///
/// # Errors
/// If the plan cannot be run.
pub fn dry_run(
    plan: &Plan,
    directory: &Path,
    options: &Options,
    interrupt: &Interrupt,
    format: Format,
) -> anyhow::Result<String> {
    let traces = open_traces(plan, directory, options, interrupt)?;
    let expansion = expand(plan, &traces)?;
    tell(&expansion);
    let finished = FinishedCells::read(directory)?;
    let listed = |at: usize| {
        let planned = &expansion.cells[at];
        let (key, recorded) = (&planned.cell.key, plan.recorded());
        let is_there = finished.holds(key, recorded) && finished.damaged(key, recorded)?.is_none();
        Ok(Listed { planned, is_there })
    };
    let places = mine(&expansion.cells, options.shard).into_iter();
    let cells = places.map(listed).collect::<Result<Vec<Listed<'_, '_>>, ResultsError>>()?;
    note(&list::summary(&cells));
    Ok(list::text(&cells, format))
}

fn open_traces(
    plan: &Plan,
    directory: &Path,
    options: &Options,
    interrupt: &Interrupt,
) -> anyhow::Result<Vec<NamedTrace>> {
    let cache = options.cache.clone().unwrap_or_else(|| directory.join("traces"));
    traces::open(plan, &cache, options.jobs, interrupt)
}

fn tell(expansion: &Expansion<'_>) {
    for unfit in &expansion.unfit {
        note(&format!("left out: {unfit}"));
    }
    if expansion.repeated > 0 {
        note(&format!("note: {} cells are the same run as another", expansion.repeated));
    }
}

/// Removes the runs that are not in the plan, or says how many there are.
fn look_over(
    store: &mut CellStore,
    cells: &[Planned<'_>],
    prune: bool,
    directory: &Path,
) -> anyhow::Result<()> {
    let run_ids: HashSet<&str> = cells.iter().map(|planned| planned.cell.key.run_id()).collect();
    let others = store.finished().others(&run_ids).len();
    if prune {
        store.prune(&run_ids)?;
    }
    if others > 0 && prune {
        note(&format!("removed {others} runs that are not of this plan"));
    } else if others > 0 {
        note(&format!(
            "note: {others} runs in {} are not of this plan and stay out of the tables; --prune removes them",
            directory.display()
        ));
    }
    Ok(())
}

/// The cells that had results before.
fn before(there: usize, cells: usize) -> String {
    match there {
        0 => String::new(),
        there => format!("; {there} of {cells} cells had been there"),
    }
}

/// The indices of the shard's cells.
fn mine(cells: &[Planned<'_>], shard: Option<Shard>) -> Vec<usize> {
    let Some(shard) = shard else {
        return (0..cells.len()).collect();
    };
    let weights: Vec<u64> =
        cells.iter().map(|planned| planned.cell.trace.warp_instructions()).collect();
    let held = shard.holds(&weights);
    (0..cells.len()).filter(|&at| held[at]).collect()
}

/// Runs the cells with these indices, the longest first so that the last ones do not keep only one
/// thread busy. Returns how each ended, in their order.
fn run_all(
    cells: &[Planned<'_>],
    mut places: Vec<usize>,
    run: &(impl Fn(usize) -> anyhow::Result<()> + Sync),
    jobs: usize,
    live: &Live,
) -> anyhow::Result<Vec<(usize, anyhow::Result<()>)>> {
    places.sort_by_key(|&at| Reverse(cells[at].cell.trace.warp_instructions()));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build();
    let pool = pool.context("failed to start threads")?;
    let work = |at: usize| {
        let end = match live.is_stopped() {
            true => Err(RunError::Interrupted.into()),
            false => run(at),
        };
        if matches!(&end, Err(error) if error.is::<ResultsError>()) {
            live.stop();
        }
        (at, end)
    };
    let mut ends: Vec<_> = pool.install(|| places.into_iter().par_bridge().map(work).collect());
    ends.sort_by_key(|(at, _)| *at);
    Ok(ends)
}

fn run_one(
    at: usize,
    planned: &Planned<'_>,
    recorded: Recorded,
    store: &CellStore,
    live: &Live,
) -> anyhow::Result<()> {
    let mut recorder = store.begin(planned.cell.key.clone(), recorded)?;
    let mut running = live.begin(planned);
    let result = planned.cell.simulate_watched(&mut recorder, &mut running)?;
    store.finish(recorder, &result)?;
    running.done(&result);
    live.ended(at, planned, &result);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::anyhow;

    fn outcome(errors: impl IntoIterator<Item = anyhow::Error>) -> Outcome {
        let failure = |error| Failure { label: "a on li2015".to_owned(), error };
        let failures: Vec<Failure> = errors.into_iter().map(failure).collect();
        let baselines = Baselines::default();
        let (cells, interrupted) = (3, false);
        Outcome { cells, finished: 0, is_whole: false, failures, interrupted, baselines }
    }

    #[test]
    fn of_several_failures_a_fault_of_the_program_tells_the_exit_status() {
        let fault = || RunError::Deadlock { cycle: 1, state: Vec::new() }.into();
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path();
        let end = |errors| outcome(errors).complete(place).map(|_| ()).unwrap_err();
        let both = end(vec![anyhow!("a damaged trace"), fault()]);
        assert!(is_fault(&both), "{both:#}");
        let kept = format!(
            "2 of 3 cells failed; 0 of 3 cells are in {}; run it again to go on",
            place.display()
        );
        assert_eq!(both.to_string(), kept);
        let inputs = end(vec![anyhow!("a damaged trace"), anyhow!("another")]);
        assert!(!is_fault(&inputs) && inputs.root_cause().to_string() == "a damaged trace");
    }

    #[test]
    fn nothing_is_said_to_be_kept_in_a_directory_that_is_gone() {
        let failed = outcome([anyhow!("a damaged trace")]).complete(Path::new("none"));
        let kept = "1 of 3 cells failed; nothing is kept: none is gone";
        assert_eq!(failed.map(|_| ()).unwrap_err().to_string(), kept);
        let interrupted = Outcome { interrupted: true, ..outcome([]) };
        let interrupted = interrupted.complete(Path::new("none")).map(|_| ()).unwrap_err();
        assert_eq!(interrupted.to_string(), "interrupted: nothing is kept: none is gone");
    }
}
