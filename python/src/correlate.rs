//! Runs beside those of a reference simulator, and beside measured points.

use crate::error::{Error, OrRaise};
use crate::import::Importing;
use crate::machine::Machine;
use crate::sweep::Generating;
use crate::watched::{Board, watched};
use pyo3::prelude::*;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use warpmem::correlation::profile::{self, Profiled, Report, clock_notes, unmatched_notes};
use warpmem::correlation::{Outcome, Runs, Traces};
use warpmem::import::{ImportError, ImportOptions, ImportSummary, import_accel_sim};
use warpmem::slots::List;
use warpmem::study::correlate::{Past, Reference, RunFilter, Skipped, choose, object};
use warpmem::study::points::{self, Batch, Filter, PointsFile, Store, place, summaries};
use warpmem::study::suite::Generation;
use warpmem::study::traces::NamedTrace;
use warpmem_analysis::polars::prelude::LazyFrame;
use warpmem_analysis::{Results, table_to_json};

/// Options with a reference simulator, as on the command line.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Asked {
    references: Vec<PathBuf>,
    only: Option<Vec<String>>,
    exclude: Option<Vec<String>>,
    machines: Option<Vec<String>>,
    dram_schedulers: Option<Vec<String>>,
    map: Vec<(String, String)>,
    machine: Option<String>,
    traces: Option<PathBuf>,
    trace: Option<PathBuf>,
    cache: Option<PathBuf>,
    /// Tables of earlier runs, instead of running.
    results: Option<PathBuf>,
    overrides: Vec<String>,
    orders: u32,
    speed: bool,
    kernels: bool,
    jobs: usize,
}

impl Asked {
    fn filter(&self) -> RunFilter {
        let list = |names: &Option<Vec<String>>| names.clone().map(List);
        RunFilter {
            only: list(&self.only),
            exclude: list(&self.exclude),
            machines: list(&self.machines),
            dram_schedulers: list(&self.dram_schedulers),
            map: self.map.clone(),
            traces: self.traces.clone(),
            machine: self.machine.clone(),
            trace: self.trace.clone(),
            overrides: self.overrides.clone(),
        }
    }

    /// Compares all runs; `notes` collects those left out, and traces that differ.
    fn run(&self, board: &Board, notes: &mut Vec<String>) -> anyhow::Result<Value> {
        let references = self.references.iter().map(|path| Reference::read(path));
        let references = references.collect::<Result<Vec<_>, _>>()?;
        let mut skipped = Skipped::default();
        let mut note = |text: &str| notes.push(text.to_owned());
        let planned = choose(&self.filter(), references, &mut skipped, &mut note)?;
        let mut outcome = match &self.results {
            Some(directory) => Outcome::of_past(&past(directory)?, planned, &mut skipped)?,
            None => {
                let import = importer(board);
                let mut traces = Traces::new(self.cache.as_deref(), &import)?;
                let runs = Runs::open(planned, &mut traces, self.orders, &mut skipped)?;
                board.set(0, runs.sum(NamedTrace::warp_instructions));
                runs.run(if self.speed { 1 } else { self.jobs }, board)?
            }
        };
        notes.extend(skipped.notes());
        let compared = object(&outcome.comparisons, self.kernels, self.speed);
        let is_empty = outcome.comparisons.is_empty();
        // Traces that differ do not hide the other runs.
        if !is_empty && outcome.failure.is_none() {
            notes.append(&mut outcome.refused);
        }
        match outcome.error() {
            Some(error) => Err(error),
            None if is_empty => {
                anyhow::bail!("no run of the reference is left: {}", notes.join("; "))
            }
            None => Ok(compared),
        }
    }
}

/// Returns an import that is watched from Python.
fn importer(
    board: &Board,
) -> impl Fn(&str, &Path, &Path, &ImportOptions) -> Result<ImportSummary, ImportError> {
    move |_, place, output, options| import_accel_sim(place, output, options, &Importing(board))
}

/// Opens the tables of earlier runs.
fn past(directory: &Path) -> anyhow::Result<Past> {
    let results = Results::open(directory)?;
    let (runs, kernels) = (rows(results.runs()?)?, rows(results.table("kernels")?)?);
    Ok(Past { directory: directory.to_owned(), runs, kernels })
}

fn rows(table: LazyFrame) -> anyhow::Result<Vec<Map<String, Value>>> {
    let frame = table.collect().map_err(warpmem_analysis::Error::from)?;
    Ok(serde_json::from_str(&table_to_json(&frame)?)?)
}

/// Runs the traces of a reference simulator; returns both sides as JSON, and notes.
#[pyfunction]
pub fn correlate(
    py: Python<'_>,
    asked: Asked,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, Vec<String>)> {
    if asked.orders == 0 {
        return Err(Error::new_err("`orders` must be at least 1"));
    }
    let board = Board::default();
    let mut notes = Vec::new();
    let compared = watched(py, &board, progress, || asked.run(&board, &mut notes))?;
    Ok((compared.or_raise()?.to_string(), notes))
}

/// Options with measured points, as on the command line.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Points {
    points: PathBuf,
    classes: Option<Vec<String>>,
    gpus: Option<Vec<String>>,
    only: Option<Vec<String>>,
    map: Vec<(String, String)>,
    overrides: Vec<String>,
    /// Folder of traces and of the cycles of finished runs.
    cache: PathBuf,
    jobs: usize,
}

impl Points {
    fn run(&self, board: &Board) -> anyhow::Result<Value> {
        let file = PointsFile::read(&self.points)?;
        let list = |names: &Option<Vec<String>>| names.clone().map(List);
        let filter = Filter {
            classes: list(&self.classes),
            gpus: list(&self.gpus),
            kernels: list(&self.only),
        };
        let points = file.chosen(&filter)?;
        let placed = place(&file, &points, &self.map, &self.overrides)?;
        let store = Store::open(&self.cache)?;
        let workloads = points.iter().flat_map(|point| point.workloads());
        let make = |work: &Generation<'_>| work.run(&Generating(board)).map(drop);
        let traces = points::generate(workloads, &self.cache, self.jobs, &make)?;
        let setups: Vec<_> = placed.iter().flat_map(|placed| placed.setups(&traces)).collect();
        let batch = Batch::new(setups, &store)?;
        board.set(0, batch.cells().iter().map(|cell| cell.warp_instructions()).sum());
        batch.run(self.jobs, &store, board)?;
        let mut cycles = batch.cycles(&store).into_iter();
        let outcomes: Vec<_> = placed.iter().map(|placed| placed.outcome(&mut cycles)).collect();
        let rows: Vec<_> = outcomes.iter().map(points::Outcome::row).collect();
        Ok(json!({ "points": rows, "summary": summaries(&outcomes) }))
    }
}

/// Runs the workloads of measured points; returns both sides as JSON.
#[pyfunction]
pub fn correlate_points(
    py: Python<'_>,
    asked: Points,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let board = Board::default();
    let compared = watched(py, &board, progress, || asked.run(&board))?;
    Ok(compared.or_raise()?.to_string())
}

/// Options with profiles of a GPU, as on the command line.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Profiles {
    profiles: Vec<PathBuf>,
    trace: PathBuf,
    /// Whether caches are kept between kernels.
    warm: bool,
    cache: Option<PathBuf>,
}

impl Profiles {
    fn run(
        &self,
        machine: &Machine,
        board: &Board,
        notes: &mut Vec<String>,
    ) -> anyhow::Result<Value> {
        let import = importer(board);
        let trace = Traces::new(self.cache.as_deref(), &import)?.open_alone(&self.trace)?;
        let profiled = Profiled::read(&self.profiles, &trace.trace)?;
        let load = |overrides: &[String]| Ok(warpmem::machine::load(&machine.origin, overrides)?);
        let planned = profiled.plan(&machine.origin, &machine.overrides, self.warm, &load)?;
        board.set(0, planned.len() as u64 * trace.warp_instructions());
        let run = |(&profiler, planned)| Ok((profiler, profile::run(&trace, planned, board)?));
        let ours = planned.iter().map(run).collect::<anyhow::Result<_>>()?;
        let compared = profiled.compared(&planned, &ours);
        for one in &compared {
            notes.extend(clock_notes(one.profile, &planned[&one.profile.profiler].machine));
            notes.extend(unmatched_notes(one));
        }
        Report::new(&trace.name, &machine.machine.name, compared)?.object()
    }
}

/// Runs the trace of profiles; returns both sides as JSON, and notes.
#[pyfunction]
pub fn correlate_profiles(
    py: Python<'_>,
    asked: Profiles,
    machine: &Machine,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, Vec<String>)> {
    let board = Board::default();
    let mut notes = Vec::new();
    let compared = watched(py, &board, progress, || asked.run(machine, &board, &mut notes))?;
    Ok((compared.or_raise()?.to_string(), notes))
}
