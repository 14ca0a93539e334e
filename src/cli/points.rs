//! Measured points: the options that select them, and their runs.

use super::exit::Interrupted;
use super::interrupt::Interrupt;
use super::output::note;
use super::progress::Board;
use super::suite::get::generate;
use crate::slots::List;
use crate::study::points::{self, Batch, Filter, Point, PointsError, Store, Summary, Traces};
use crate::study::suite::Generation;
use anyhow::Context;
use std::cell::Cell;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use warpmem_support::text::aligned;

/// Selection of points by class and GPU.
#[derive(clap::Args, Clone, Debug)]
pub struct Selection {
    /// Only points of these classes
    #[arg(long = "class", value_name = "CLASS,…", value_parser = List::parse, requires = "points")]
    classes: Option<List>,
    /// Only points of these GPUs
    #[arg(long = "gpu", value_name = "GPU,…", value_parser = List::parse, requires = "points")]
    gpus: Option<List>,
}

impl Selection {
    /// Returns the filter that also selects the kernels of the workloads.
    pub fn filter(&self, kernels: Option<&List>) -> Filter {
        let Selection { classes, gpus } = self.clone();
        Filter { classes, gpus, kernels: kernels.cloned() }
    }
}

/// Makes workloads and runs batches, with progress.
pub struct Runner {
    interrupt: Interrupt,
    jobs: usize,
    folder: PathBuf,
    /// Temporary folder, kept while it is used.
    temporary: Option<TempDir>,
    store: Store,
    runs: Cell<usize>,
}

impl Runner {
    /// Makes a runner that keeps traces and finished runs in `cache`, or in a temporary folder.
    pub fn new(cache: Option<&Path>, jobs: Option<NonZeroUsize>) -> anyhow::Result<Runner> {
        let temporary = match cache {
            Some(_) => None,
            None => Some(tempfile::tempdir().context("failed to create a temporary folder")?),
        };
        let folder = cache.or(temporary.as_ref().map(TempDir::path)).expect("one of them is there");
        let store = Store::open(folder)?;
        let interrupt = Interrupt::install()?;
        let jobs = jobs.map_or(0, NonZeroUsize::get);
        let folder = folder.to_owned();
        Ok(Runner { interrupt, jobs, folder, temporary, store, runs: Cell::new(0) })
    }

    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Returns the number of runs made so far, without those of the store.
    pub fn runs(&self) -> usize {
        self.runs.get()
    }

    /// Opens the traces of the points; missing ones are generated.
    pub fn traces(&self, points: &[&Point]) -> anyhow::Result<Traces> {
        let workloads = points.iter().flat_map(|point| point.workloads());
        let make = |work: &Generation<'_>| generate(work, &self.interrupt);
        let traces = points::generate(workloads, &self.folder, self.jobs, &make);
        traces.map_err(|error| self.explained(error))
    }

    /// Runs what is missing of a batch.
    pub fn run(&self, batch: &Batch<'_>) -> Result<(), PointsError> {
        let cells = batch.cells();
        if cells.is_empty() {
            return Ok(());
        }
        let ctas = cells.iter().map(|cell| cell.ctas()).sum();
        let instructions = cells.iter().map(|cell| cell.warp_instructions()).sum();
        let board = Board::new(self.interrupt.clone(), cells.len(), ctas, instructions);
        let ended = batch.run(self.jobs, &self.store, &board);
        let summary = board.finish();
        ended?;
        self.runs.set(self.runs.get() + cells.len());
        note(&summary);
        Ok(())
    }

    /// Adds to an interruption which results are kept.
    pub fn explained(&self, error: PointsError) -> anyhow::Error {
        if !error.is_interruption() {
            return error.into();
        }
        let kept = match self.temporary {
            Some(_) => "nothing is kept; --cache DIR keeps finished runs".to_owned(),
            None => {
                format!("finished runs are in {}; run it again to resume", self.folder.display())
            }
        };
        Interrupted { kept }.into()
    }
}

/// Formats errors by class and GPU.
pub fn summary_text(summaries: &[Summary]) -> String {
    let heading = [
        "class",
        "GPU",
        "points",
        "mean abs. error",
        "Warpmem / GPU",
        "within 15 %",
        "worst",
        "of",
    ];
    let line = |summary: &Summary| {
        let all = || "all".to_owned();
        vec![
            summary.class.clone().unwrap_or_else(all),
            summary.gpu.clone().unwrap_or_else(all),
            summary.points.to_string(),
            format!("{:.1} %", 100.0 * summary.mean_absolute_error),
            summary.ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}")),
            format!("{} %", 100 * summary.close / summary.points),
            percent(summary.worst_error),
            summary.worst.clone(),
        ]
    };
    let lines = [heading.map(str::to_owned).to_vec()].into_iter();
    aligned(&lines.chain(summaries.iter().map(line)).collect::<Vec<_>>(), &[2, 3, 4, 5, 6])
}

pub fn percent(error: f64) -> String {
    format!("{:+.1} %", 100.0 * error)
}
