//! Runs the cells of a plan without results, and reports them.

use super::list;
use super::live::Live;
use crate::cli::exit::{Interrupted, is_fault};
use crate::cli::format::Format;
use crate::cli::interrupt::Interrupt;
use crate::cli::output::{complain, note, warn};
use crate::cli::suite::get::generate;
use crate::machine::Machine;
use crate::study::sweep::{
    Expansion, Outcome, Plan, Shard, Started, Sweep, TracesError, expand, listed, open,
};
use crate::study::traces::NamedTrace;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Options of a sweep.
#[derive(Clone, Debug)]
pub struct Options {
    /// Number of concurrent runs.
    pub jobs: usize,
    /// Shard of the cells; none for all of them.
    pub shard: Option<Shard>,
    /// Folder for generated suites; none for the directory of the results.
    pub cache: Option<PathBuf>,
    /// Whether to remove runs that are not in the plan.
    pub prune: bool,
}

impl Options {
    /// Returns the folder for generated suites.
    pub(super) fn cache_in(&self, directory: &Path) -> PathBuf {
        self.cache.clone().unwrap_or_else(|| directory.join("traces"))
    }
}

/// Refuses an incomplete outcome; the message states that `directory` has the rest. Among several
/// failures, a fault of the program decides the exit status, because it must be reported.
///
/// # Errors
/// If the sweep was interrupted, or cells failed, which are named on standard error.
pub fn complete(outcome: Outcome, directory: &Path) -> anyhow::Result<Outcome> {
    let place = directory.display();
    let kept = match directory.is_dir() {
        true => format!(
            "{} of {} cells are in {place}; run it again to resume",
            outcome.finished, outcome.cells
        ),
        false => format!("nothing is kept: {place} is gone"),
    };
    if outcome.interrupted {
        return Err(Interrupted { kept }.into());
    }
    if outcome.failures.is_empty() {
        return Ok(outcome);
    }
    let of = format!("{} of {} cells failed; {kept}", outcome.failures.len(), outcome.cells);
    let mut errors = Vec::new();
    for failure in outcome.failures {
        let error = anyhow::Error::new(failure.error);
        complain(&format!("failed: {}: {error:#}", failure.label));
        errors.push(error);
    }
    let fault = errors.iter().position(is_fault);
    Err(errors.swap_remove(fault.unwrap_or(0)).context(of))
}

/// Runs the cells of `plan` without results in `directory`, and assembles its tables. Failed cells
/// do not stop the others.
///
/// # Errors
/// If the plan cannot run, or results cannot be written. Finished runs are kept.
pub fn run(
    plan: &Plan,
    directory: &Path,
    options: &Options,
    interrupt: &Interrupt,
) -> anyhow::Result<Outcome> {
    let traces = open_traces(plan, directory, options, interrupt)?;
    run_on(plan, &traces, directory, options, interrupt)
}

/// Runs as [`run`] does, with these traces instead of the plan's.
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
    let started = open_sweep(expansion, plan, directory, options)?.start();
    let before = before(&started);
    let live = Live::new(interrupt, &started.todo(), started.partners());
    let run = started.run(options.jobs, &live)?;
    note(&format!("{}{before}", live.finish()));
    Ok(run.assemble()?)
}

/// Opens the results directory, and reports damaged and superfluous contents.
///
/// # Errors
/// If the directory cannot be opened, or holds other tables.
pub(super) fn open_sweep<'a>(
    expansion: Expansion<'a>,
    plan: &Plan,
    directory: &Path,
    options: &Options,
) -> anyhow::Result<Sweep<'a>> {
    let mut sweep = Sweep::open(expansion, plan.recorded(), directory, options.shard)?;
    for table in sweep.damaged() {
        note(&format!("note: {} is damaged; its run is repeated", table.display()));
    }
    look_over(&mut sweep, options.prune, directory)?;
    Ok(sweep)
}

/// Lists the cells of the plan, or of its shard, without running any.
///
/// # Errors
/// If the plan cannot run.
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
    let cells = listed(&expansion.cells, plan.recorded(), directory, options.shard)?;
    note(&list::summary(&cells));
    Ok(list::text(&cells, format))
}

/// Opens the traces of the plan; missing traces of suites are generated first.
pub(super) fn open_traces(
    plan: &Plan,
    directory: &Path,
    options: &Options,
    interrupt: &Interrupt,
) -> Result<Vec<NamedTrace>, TracesError> {
    open(plan, &options.cache_in(directory), options.jobs, &|work| generate(work, interrupt))
}

pub(super) fn tell(expansion: &Expansion<'_>) {
    for unfit in &expansion.unfit {
        complain(&format!("left out: {unfit}"));
    }
    if expansion.repeated > 0 {
        note(&format!("note: {} cells duplicate another run", expansion.repeated));
    }
    let machines = expansion.cells.iter().map(|planned| &planned.cell.key.machine);
    let warnings: BTreeSet<String> = machines.flat_map(Machine::clock_warnings).collect();
    warnings.iter().for_each(|warning| warn(warning));
}

/// Removes the runs that are not in the plan, or reports their number.
fn look_over(sweep: &mut Sweep<'_>, prune: bool, directory: &Path) -> anyhow::Result<()> {
    let others = sweep.others();
    if prune {
        sweep.prune()?;
    }
    if others > 0 && prune {
        note(&format!("removed {others} runs that are not in this plan"));
    } else if others > 0 {
        note(&format!(
            "note: {others} runs in {} are not in this plan and are excluded from the tables; --prune removes them",
            directory.display()
        ));
    }
    Ok(())
}

/// Describes the cells that already had results.
fn before(started: &Started<'_>) -> String {
    match started.there() {
        0 => String::new(),
        there => format!("; {there} of {} cells already existed", started.cells()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::engine::RunError;
    use crate::study::cells::{CellError, FailedCell};
    use crate::study::sweep::{Baselines, Failure};

    fn outcome(errors: impl IntoIterator<Item = CellError>) -> Outcome {
        let failure = |error| Failure { label: "a on li2015".to_owned(), error };
        let failures: Vec<Failure> = errors.into_iter().map(failure).collect();
        let baselines = Baselines::default();
        let (cells, interrupted) = (3, false);
        Outcome { cells, finished: 0, is_whole: false, failures, interrupted, baselines }
    }

    fn failed(source: RunError) -> CellError {
        let (trace, machine) = ("a.wmt".into(), "li2015".to_owned());
        CellError::Failed(Box::new(FailedCell { trace, machine, source }))
    }

    fn same(trace: &str) -> CellError {
        CellError::Twice { one: trace.into(), two: trace.into() }
    }

    #[test]
    fn program_faults_determine_the_exit_status() {
        let fault = failed(RunError::Deadlock { cycle: 1, state: Vec::new() });
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path();
        let end = |errors| complete(outcome(errors), place).map(|_| ()).unwrap_err();
        let both = end(vec![same("a"), fault]);
        assert!(is_fault(&both), "{both:#}");
        let kept = format!(
            "2 of 3 cells failed; 0 of 3 cells are in {}; run it again to resume",
            place.display()
        );
        assert_eq!(both.to_string(), kept);
        let inputs = end(vec![same("a"), same("b")]);
        let first = "a and a hold the same trace: give it once";
        assert!(!is_fault(&inputs) && inputs.root_cause().to_string() == first);
    }

    #[test]
    fn missing_directory_keeps_nothing() {
        let failed = complete(outcome([same("a")]), Path::new("none"));
        let kept = "1 of 3 cells failed; nothing is kept: none is gone";
        assert_eq!(failed.map(|_| ()).unwrap_err().to_string(), kept);
        let interrupted = Outcome { interrupted: true, ..outcome([]) };
        let interrupted = complete(interrupted, Path::new("none")).map(|_| ()).unwrap_err();
        assert_eq!(interrupted.to_string(), "interrupted: nothing is kept: none is gone");
    }
}
