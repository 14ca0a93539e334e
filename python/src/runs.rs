//! Runs of traces on machines, with their tables in memory.

use crate::error::{Error, OrRaise, exception};
use crate::frame::{Frame, frames};
use crate::machine::Machine;
use crate::scheduler::{Own, Schedulers};
use crate::watched::{Board, watched};
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use warpmem::gpu::engine::{RunError, Simulation};
use warpmem::gpu::results::{RequestSample, RunResult};
use warpmem::record::{MemoryRecorder, MemoryTable, Recorded};
use warpmem::slots::{PolicyChoice, PolicyChoices, PolicySlot};
use warpmem::study::bound::bound;
use warpmem::study::cells::{
    Cell, CellError, RunProgress as _, ThreadsError, Watcher, check_distinct, command, key_of,
    side_by_side,
};
use warpmem::study::traces::NamedTrace;
use warpmem::study::variants::Variant;
use warpmem_analysis::polars::prelude::DataFrame;

/// Optional recordings besides the tables of every run.
#[derive(FromPyObject, Clone)]
#[pyo3(from_item_all)]
pub struct Recording {
    loads: bool,
    /// Interval in core cycles.
    intervals: Option<u64>,
    /// Sample of the requests, as on the command line: `1/64`, `all`.
    requests: Option<String>,
    commands: bool,
}

impl Recording {
    /// Records nothing beside the tables of every run.
    pub fn none() -> Recording {
        Recording { loads: false, intervals: None, requests: None, commands: false }
    }

    fn recorded(&self) -> PyResult<Recorded> {
        let intervals = self.intervals.map(|cycles| {
            let none = || Error::new_err("`intervals` must be at least 1 core cycle");
            NonZeroU64::new(cycles).ok_or_else(none)
        });
        let requests = self.requests.as_deref().map(|text| {
            text.parse::<RequestSample>().map_err(|error| {
                Error::new_err(format!("`requests` = `{text}` is not valid: {error}"))
            })
        });
        let (intervals, requests) = (intervals.transpose()?, requests.transpose()?);
        Ok(Recorded { loads: self.loads, intervals, requests })
    }
}

/// A policy of a slot: its name on the command line, or a DRAM scheduler written in Python.
#[derive(FromPyObject)]
pub enum Policy {
    Named(String),
    Own(Own),
}

impl Policy {
    pub fn name(&self) -> String {
        match self {
            Policy::Named(name) => name.clone(),
            Policy::Own(own) => own.name.clone(),
        }
    }
}

/// Returns the slot with this name.
pub fn slot(name: &str) -> PyResult<&'static PolicySlot> {
    PolicySlot::find(name).ok_or_else(|| Error::new_err(format!("there is no slot `{name}`")))
}

/// A cell, and the Python scheduler that it runs under, if any.
pub struct Planned<'a> {
    cell: Cell<'a>,
    own: Option<&'a Own>,
}

impl<'a> Planned<'a> {
    /// Plans `trace` on `variant` of `machine` under `policies`; `owns` holds the DRAM schedulers written
    /// in Python.
    pub fn new(
        trace: &'a NamedTrace,
        machine: &Machine,
        variant: &Variant,
        policies: &PolicyChoices,
        owns: &'a [Own],
    ) -> PyResult<Planned<'a>> {
        let mut simulated = variant.machine.clone();
        policies.apply(&mut simulated);
        let own = owns.iter().find(|own| own.name == simulated.policy.dram_scheduler);
        let path: &Path = trace.trace.path();
        let overrides = &machine.overrides;
        let all = [overrides.as_slice(), &variant.overrides].concat();
        let command = command(path, &machine.origin, policies, &all);
        let Some(own) = own else {
            let mut cell = Cell::new(trace, simulated, overrides, command).or_raise()?;
            cell.key.variant = variant.number;
            return Ok(Planned { cell, own: None });
        };
        // Everything except the scheduler is validated with the machine's own scheduler.
        let mut standing_in = simulated.clone();
        standing_in.policy.dram_scheduler.clone_from(&machine.machine.policy.dram_scheduler);
        let Cell { trace, policies, .. } =
            Cell::new(trace, standing_in, overrides, String::new()).or_raise()?;
        // No command reproduces this run.
        let mut key = key_of(trace, simulated, overrides, String::new());
        key.variant = variant.number;
        Ok(Planned { cell: Cell { trace, key, policies, threads: 1 }, own: Some(own) })
    }
}

/// Runs a cell, under its Python scheduler if there is one; the inner error is an exception raised
/// by it.
fn simulate(
    cell: &Cell<'_>,
    own: Option<&Own>,
    recorder: &mut MemoryRecorder,
    board: &Board,
) -> Result<PyResult<RunResult>, CellError> {
    let Some(own) = own else {
        return cell.simulate(recorder, board).map(Ok);
    };
    let mut watch = board.watch();
    let Cell { trace, key, policies, .. } = cell;
    let result = own.with_family(|family| {
        let mut watch = family.watch(&mut watch);
        let simulation = Simulation::new(&key.machine, &trace.trace).policies(policies);
        simulation.schedulers(family).progress(&mut watch).run(recorder)
    });
    match result {
        Ok(Ok(result)) => {
            watch.done(&cell.end(&result));
            Ok(Ok(result))
        }
        Ok(Err(RunError::Interrupted)) => Err(CellError::Interrupted),
        Ok(Err(error)) => Ok(Err(exception(&error))),
        Err(raised) => Ok(Err(raised)),
    }
}

/// Runs the cells on `jobs` threads, 0 for one per processor, after those that bound the effect of their
/// policies; returns the tables of all but the latter.
pub fn run_all(
    py: Python<'_>,
    planned: Vec<Planned<'_>>,
    bounds: &[Cell<'_>],
    recording: &Recording,
    jobs: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<BTreeMap<&'static str, DataFrame>> {
    let recorded = recording.recorded()?;
    let (mut cells, owns): (Vec<Cell<'_>>, Vec<Option<&Own>>) =
        planned.into_iter().map(|planned| (planned.cell, planned.own)).unzip();
    check_distinct(&cells).or_raise()?;
    let board = Board::of(cells.iter().chain(bounds).map(Cell::warp_instructions).sum());
    let work = || {
        let failure = bound(bounds, &mut cells, jobs, &board)?.failure;
        let ends = side_by_side(&cells, jobs, &board, |at, cell| {
            let mut recorder = MemoryRecorder::new(recorded, recording.commands);
            let result = simulate(cell, owns[at], &mut recorder, &board)?;
            if result.is_err() {
                board.fail();
            }
            Ok(result.map(|result| recorder.finish(&cell.key, &result)))
        })?;
        Ok::<_, ThreadsError>(failure.map(Err).into_iter().chain(ends).collect())
    };
    let ends = watched(py, &board, progress, work)?.or_raise()?;
    frames(tables(ends)?)
}

/// Returns the tables of each run, or the first failure; after a failure the other runs are
/// interrupted.
fn tables(
    ends: Vec<Result<PyResult<Vec<MemoryTable>>, CellError>>,
) -> PyResult<Vec<Vec<MemoryTable>>> {
    let (mut tables, mut failure, mut interrupted) = (Vec::new(), None, None);
    for end in ends {
        match end {
            Ok(Ok(run)) => tables.push(run),
            Ok(Err(raised)) => failure = failure.or(Some(raised)),
            Err(error) if error.is_interruption() => interrupted = Some(exception(&error)),
            Err(error) => failure = failure.or_else(|| Some(exception(&error))),
        }
    }
    failure.or(interrupted).map_or(Ok(tables), Err)
}

/// Runs a single cell; returns its tables by name.
#[pyfunction]
pub fn run(
    py: Python<'_>,
    trace: PathBuf,
    machine: &Machine,
    policies: Vec<(String, Policy)>,
    recording: Recording,
    progress: Option<Py<PyAny>>,
) -> PyResult<BTreeMap<&'static str, Frame>> {
    let trace = NamedTrace::open(&trace).or_raise()?;
    let choices = policies
        .iter()
        .map(|(name, policy)| Ok(PolicyChoice { slot: slot(name)?, given: policy.name() }));
    let choices = PolicyChoices::new(choices.collect::<PyResult<_>>()?);
    let owns = Schedulers::of(policies.into_iter())?.0;
    let [own] = Variant::first(&machine.machine, 1, []).try_into().expect("the machine itself");
    let planned = vec![Planned::new(&trace, machine, &own, &choices, &owns)?];
    let tables = run_all(py, planned, &[], &recording, 1, progress)?;
    Ok(tables.into_iter().map(|(name, frame)| (name, Frame(frame))).collect())
}
