//! Cells: runs of a trace on a machine, executed in parallel.

use crate::traces::NamedTrace;
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use warpmem_gpu::cta::{DispatchError, Dispatcher};
use warpmem_gpu::engine::{Progress, ProgressReport, RunError, Simulation};
use warpmem_gpu::results::{RunResult, RunSink};
use warpmem_gpu::slots::{ChosenPolicies, PolicyChoices};
use warpmem_machine::{Machine, MachineError};
use warpmem_params::PolicyError;
use warpmem_record::{Recorded, ResultsError, ResultsWriter, RunKey};
use warpmem_support::program;
use warpmem_trace::{Kernel, Trace};
use warpmem_workload::shell::quoted;

/// Reason why a cell has no result.
#[derive(Debug, thiserror::Error)]
pub enum CellError {
    #[error(transparent)]
    Refused(Box<RefusedCell>),
    #[error(transparent)]
    Failed(Box<FailedCell>),
    /// The watcher stopped the cell.
    #[error("{}", RunError::Interrupted)]
    Interrupted,
    #[error("{} and {} hold the same trace: give it once", one.display(), two.display())]
    Twice { one: PathBuf, two: PathBuf },
    #[error(transparent)]
    Results(#[from] ResultsError),
    #[error(transparent)]
    Threads(#[from] ThreadsError),
}

impl CellError {
    /// Returns whether the cell was stopped, by the user or after the failure of another.
    pub fn is_interruption(&self) -> bool {
        matches!(self, CellError::Interrupted)
    }
}

/// A cell that could not run.
#[derive(Debug, thiserror::Error)]
#[error("failed to run {} on {machine}", trace.display())]
pub struct RefusedCell {
    pub trace: PathBuf,
    pub machine: String,
    pub source: Refusal,
}

/// A cell that failed while it ran.
#[derive(Debug, thiserror::Error)]
#[error("failed to run {} on {machine}", trace.display())]
pub struct FailedCell {
    pub trace: PathBuf,
    pub machine: String,
    pub source: RunError,
}

/// Reason why a cell could not run.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    #[error(transparent)]
    Policy(#[from] PolicyError),
    #[error(transparent)]
    Machine(#[from] MachineError),
    #[error(transparent)]
    Dispatch(#[from] DispatchError),
}

#[derive(Debug, thiserror::Error)]
#[error("failed to start threads")]
pub struct ThreadsError(#[from] ThreadPoolBuildError);

/// Starts a pool of `jobs` threads; 0 means one per processor.
pub(crate) fn threads(jobs: usize) -> Result<ThreadPool, ThreadsError> {
    Ok(ThreadPoolBuilder::new().num_threads(jobs).build()?)
}

/// Watches concurrent runs, and can stop them.
pub trait Watcher: Sync {
    type Progress<'a>: RunProgress
    where
        Self: 'a;

    /// Starts watching a run.
    fn watch(&self) -> Self::Progress<'_>;

    /// Records the failure of a run, which stops the others.
    fn fail(&self);

    /// Returns whether no further run may begin.
    fn is_stopped(&self) -> bool;
}

/// Watches a single run.
pub trait RunProgress: Progress {
    /// Records the end of the run and its totals.
    fn done(self, end: &ProgressReport);
}

/// A trace on a machine.
pub struct Cell<'a> {
    pub trace: &'a NamedTrace,
    pub key: RunKey,
    /// The policies of the machine, which fit it.
    pub policies: ChosenPolicies,
    /// Maximum number of threads of the run; the results do not depend on it.
    pub threads: usize,
}

impl<'a> Cell<'a> {
    /// Makes a cell. `machine` includes the `overrides`; `command` runs this cell alone.
    ///
    /// # Errors
    /// If the cell cannot run.
    pub fn new(
        trace: &'a NamedTrace,
        machine: Machine,
        overrides: &[String],
        command: String,
    ) -> Result<Cell<'a>, CellError> {
        let policies = checked(&machine, &trace.trace).map_err(|source| {
            let (trace, machine) = (trace.trace.path().to_owned(), machine.name.clone());
            CellError::Refused(Box::new(RefusedCell { trace, machine, source }))
        })?;
        let key = key_of(trace, machine, overrides, command);
        Ok(Cell { trace, key, policies, threads: 1 })
    }

    fn path(&self) -> PathBuf {
        self.trace.trace.path().to_owned()
    }

    fn machine(&self) -> String {
        self.key.machine.name.clone()
    }

    /// Runs the cell on [`Cell::threads`] threads, including the calling one.
    ///
    /// # Errors
    /// If the run fails or is stopped.
    pub fn simulate(
        &self,
        sink: &mut dyn RunSink,
        watcher: &impl Watcher,
    ) -> Result<RunResult, CellError> {
        let mut watch = watcher.watch();
        let result = self.simulate_watched(sink, &mut watch)?;
        watch.done(&self.end(&result));
        Ok(result)
    }

    /// Returns the number of warp instructions that the run issues, counting kernels that end early
    /// up to their limit.
    pub fn warp_instructions(&self) -> u64 {
        let limit = match self.key.machine.run.launch_instructions {
            0 => u64::MAX,
            limit => limit.into(),
        };
        self.sum(|kernel| kernel.warp_instructions.min(limit))
    }

    /// Returns the number of CTAs that the run starts or skips, unless kernels end early.
    pub fn ctas(&self) -> u64 {
        self.sum(|kernel| kernel.ctas.into())
    }

    /// Whether the run simulates only a part of its launches and CTAs.
    pub fn is_sampled(&self) -> bool {
        self.key.machine.run.error_permille > 0
    }

    /// Sums over all launches.
    fn sum(&self, of: impl Fn(&Kernel) -> u64) -> u64 {
        self.trace.trace.kernels().iter().map(of).sum()
    }

    /// Returns the last progress report of the run.
    pub fn end(&self, result: &RunResult) -> ProgressReport {
        ProgressReport {
            ctas_ended: result.kernels.iter().map(|kernel| kernel.ctas).sum(),
            ctas: self.ctas(),
            cycles: result.core_cycles,
            warp_instructions: result.kernels.iter().map(|kernel| kernel.warp_instructions).sum(),
        }
    }

    /// Runs the cell as [`Cell::simulate`] does, with any observer.
    ///
    /// # Errors
    /// As [`Cell::simulate`].
    pub fn simulate_watched(
        &self,
        sink: &mut dyn RunSink,
        progress: &mut dyn Progress,
    ) -> Result<RunResult, CellError> {
        let simulation = Simulation::new(&self.key.machine, &self.trace.trace);
        let simulation = simulation.policies(&self.policies);
        let result = simulation.threads(self.threads).progress(progress).run(sink);
        result.map_err(|error| match error {
            RunError::Interrupted => CellError::Interrupted,
            source => {
                let (trace, machine) = (self.path(), self.machine());
                CellError::Failed(Box::new(FailedCell { trace, machine, source }))
            }
        })
    }

    fn record(
        &self,
        index: usize,
        writer: &ResultsWriter,
        recorded: Recorded,
        watcher: &impl Watcher,
    ) -> Result<(), CellError> {
        let mut recorder = writer.begin_run(self.key.clone(), recorded)?;
        let result = self.simulate(&mut recorder, watcher)?;
        Ok(writer.finish_run(index, recorder, &result)?)
    }
}

/// Makes the key of a run of `trace` on `machine`, which includes the `overrides`.
pub fn key_of(
    trace: &NamedTrace,
    machine: Machine,
    overrides: &[String],
    command: String,
) -> RunKey {
    let hash = trace.trace.header().content_hash;
    let key = RunKey::new(&trace.name, hash, machine, command).with_overrides(overrides);
    match trace.seeded() {
        Some(seeded) => key.with_seed(seeded.workload, seeded.seed),
        None => key,
    }
}

/// Chooses the policies of a machine, and checks that it can run the trace with them.
fn checked(machine: &Machine, trace: &Trace) -> Result<ChosenPolicies, Refusal> {
    let policies = ChosenPolicies::choose(machine)?;
    policies.check(machine)?;
    machine.address_map()?;
    Dispatcher::new(machine, &policies.cta_scheduler, trace.kernels())?;
    Ok(policies)
}

/// Returns the shell command that runs a cell alone.
pub fn command(
    trace: &Path,
    machine: &str,
    policies: &PolicyChoices,
    overrides: &[String],
) -> String {
    let mut words =
        vec![program::name().to_owned(), "run".to_owned(), quoted(&trace.to_string_lossy())];
    words.extend(["--machine".to_owned(), quoted(machine)]);
    for text in overrides {
        words.extend(["--set".to_owned(), quoted(text)]);
    }
    for choice in policies.iter() {
        words.extend([format!("--{}", choice.slot.option()), quoted(&choice.given)]);
    }
    words.join(" ")
}

/// # Errors
/// If two cells are the same run.
pub fn check_distinct(cells: &[Cell<'_>]) -> Result<(), CellError> {
    let mut seen: HashMap<&str, &Cell<'_>> = HashMap::new();
    for cell in cells {
        if let Some(other) = seen.insert(cell.key.run_id(), cell) {
            return Err(CellError::Twice { one: other.path(), two: cell.path() });
        }
    }
    Ok(())
}

/// Outcome of a set of cells.
pub struct Ended {
    /// Number of cells whose results reached the writer.
    pub finished: usize,
    /// First failure, in the order of the cells. Without one, unfinished cells were stopped by the
    /// user.
    pub failure: Option<CellError>,
}

/// Runs every cell, on `jobs` threads, and passes the finished ones to `writer` in their order. A
/// failure stops the others.
///
/// # Errors
/// If no threads can be started.
pub fn run_all(
    cells: &[Cell<'_>],
    jobs: usize,
    writer: &ResultsWriter,
    recorded: Recorded,
    watcher: &impl Watcher,
) -> Result<Ended, ThreadsError> {
    let record = |index, cell: &Cell<'_>| cell.record(index, writer, recorded, watcher);
    let ends = side_by_side(cells, jobs, watcher, record)?;
    let finished = ends.iter().filter(|end| end.is_ok()).count();
    let failure = ends.into_iter().filter_map(Result::err).find(|error| !error.is_interruption());
    Ok(Ended { finished, failure })
}

/// Calls `work` with every cell and its index, on `jobs` threads. A failure stops the others.
///
/// # Errors
/// If no threads can be started.
pub fn side_by_side<T: Send>(
    cells: &[Cell<'_>],
    jobs: usize,
    watcher: &impl Watcher,
    work: impl Fn(usize, &Cell<'_>) -> Result<T, CellError> + Sync,
) -> Result<Vec<Result<T, CellError>>, ThreadsError> {
    let work = |(index, cell): (usize, &Cell<'_>)| {
        if watcher.is_stopped() {
            return Err(CellError::Interrupted);
        }
        work(index, cell).inspect_err(|_| watcher.fail())
    };
    Ok(threads(jobs)?.install(|| cells.par_iter().enumerate().with_max_len(1).map(work).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::machine;
    use warpmem_testing::{TestKernel, compute, trace};
    use warpmem_trace::OpClass::Integer;

    /// Builds kernels of one warp, with `lengths` instructions.
    fn kernels(lengths: &[usize]) -> NamedTrace {
        let kernel =
            |&length: &usize| TestKernel::new(vec![vec![vec![compute(Integer, &[]); length]]]);
        let kernels: Vec<TestKernel> = lengths.iter().map(kernel).collect();
        NamedTrace { name: "t".to_owned(), trace: trace(&kernels) }
    }

    #[test]
    fn a_cell_issues_as_many_instructions_as_its_kernels_may() {
        let trace = kernels(&[100, 30]);
        let issued = |overrides: &[&str]| {
            let cell = Cell::new(&trace, machine(overrides), &[], String::new()).unwrap();
            cell.warp_instructions()
        };
        assert_eq!(issued(&[]), 130);
        assert_eq!(issued(&["run.launch_instructions=50"]), 50 + 30);
    }
}
