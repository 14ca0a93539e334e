//! Experiments of papers.

use crate::error::{Error, OrRaise};
use crate::frame::{Frame, texts};
use crate::sweep::{Generating, run_on};
use crate::watched::{Board, watched};
use anyhow::ensure;
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use warpmem::study::reproduce::{Paper, Size, find, find_on, names};
use warpmem::study::suite::{GenerateError, Generation};
use warpmem::study::sweep::Plan;
use warpmem::study::traces::NamedTrace;
use warpmem_analysis::polars::prelude::DataFrame;
use warpmem_reproduce::{OnMap, Outcome, Place, Scope, Worker};

/// Options, as on the command line.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Asked {
    name: String,
    traces: Vec<PathBuf>,
    programs: Option<PathBuf>,
    size: Option<String>,
    launch_instructions: Option<u32>,
    /// Share in thousandths.
    error: Option<u32>,
    machine: Option<String>,
    stand_ins: bool,
    map: bool,
    quick: bool,
    /// Directory of the runs.
    directory: PathBuf,
    /// Whether to write tables and figures to the directory.
    writes: bool,
    jobs: usize,
}

impl Asked {
    fn scope(&self) -> PyResult<Scope> {
        let size = self.size.as_deref().map(|name| {
            let all = [Size::Small, Size::Medium, Size::Paper];
            let unknown =
                || Error::new_err(format!("no size `{name}`; valid: small, medium, paper"));
            all.into_iter().find(|size| size.name() == name).ok_or_else(unknown)
        });
        let (quick, size) = (self.quick, size.transpose()?);
        let (launch_instructions, error) = (self.launch_instructions, self.error);
        Ok(Scope { quick, size, launch_instructions, error })
    }

    fn paper(&self) -> PyResult<Paper> {
        let paper = match &self.machine {
            Some(machine) => find_on(&self.name, machine),
            None => find(&self.name),
        };
        Ok(self.scope()?.of(paper.or_raise()?))
    }

    /// Opens or generates the workloads, and adds the names of missing programs to `missing`. A map
    /// needs none.
    fn workloads(
        &self,
        paper: &Paper,
        place: &Place<'_>,
        missing: &mut Vec<String>,
    ) -> anyhow::Result<Vec<NamedTrace>> {
        let traces = match &self.programs {
            Some(folder) => self.captured(paper, folder, place, missing)?,
            None if self.traces.is_empty() && !self.map => {
                place.generated(paper, &paper.workloads()?)?
            }
            None => NamedTrace::open_all(&self.traces)?,
        };
        NamedTrace::check_distinct(&traces)?;
        Ok(traces)
    }

    /// Opens the captured programs in a folder.
    fn captured(
        &self,
        paper: &Paper,
        folder: &Path,
        place: &Place<'_>,
        missing: &mut Vec<String>,
    ) -> anyhow::Result<Vec<NamedTrace>> {
        let captured = paper.captured(folder, paper.program_size())?;
        let is_any = self.stand_ins || !captured.traces.is_empty();
        ensure!(is_any, "no program of {} is in {}", paper.name, folder.display());
        missing.extend(captured.missing.iter().map(|program| program.name.clone()));
        let mut traces = captured.traces;
        if self.stand_ins {
            traces.extend(place.generated(paper, &paper.stand_ins(&captured.missing)?)?);
        }
        Ok(traces)
    }

    /// Runs the experiments; returns their results.
    fn run(
        &self,
        paper: &Paper,
        board: &Board,
        missing: &mut Vec<String>,
    ) -> anyhow::Result<DataFrame> {
        let worker = Working { board, jobs: self.jobs };
        let place = Place { directory: &self.directory, jobs: self.jobs, worker: &worker };
        let traces = self.workloads(paper, &place, missing)?;
        if self.map {
            let on_map = OnMap::of(paper, &place, &traces)?;
            if self.writes {
                on_map.write(paper, &self.directory)?;
            }
            return on_map.frame(paper);
        }
        let outcome = Outcome::of(paper, &place, &traces)?;
        if self.writes {
            outcome.write(paper, &self.directory)?;
        }
        outcome.frame(paper)
    }
}

/// Generates workloads and runs plans, watched from Python.
struct Working<'a> {
    board: &'a Board,
    jobs: usize,
}

impl Worker for Working<'_> {
    fn generate(&self, work: &Generation<'_>) -> Result<(), GenerateError> {
        work.run(&Generating(self.board)).map(drop)
    }

    fn run(&self, plan: &Plan, traces: &[NamedTrace], directory: &Path) -> anyhow::Result<()> {
        run_on(plan, traces, directory, self.jobs, self.board)
    }
}

/// Runs the experiments of a paper; returns its results beside the published ones, and the missing
/// programs.
#[pyfunction]
pub fn reproduce(
    py: Python<'_>,
    asked: Asked,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Frame, Vec<String>)> {
    let paper = asked.paper()?;
    let board = Board::default();
    let mut missing = Vec::new();
    let frame = watched(py, &board, progress, || asked.run(&paper, &board, &mut missing))?;
    Ok((Frame(frame.or_raise()?), missing))
}

/// Lists the papers.
#[pyfunction]
pub fn papers() -> PyResult<Frame> {
    let row = |name: &str| {
        let paper = find(name).or_raise()?;
        Ok([name.to_owned(), paper.machine, paper.title])
    };
    texts(["name", "machine", "title"], names().map(row).collect::<PyResult<_>>()?).map(Frame)
}
