//! Our side: the same PTX, executed and recorded without a GPU, and run on the machine.

use super::super::Args;
use crate::capture::{Options, Registers, Selection, capture_module};
use crate::cli::capture::Bar;
use crate::cli::exit::Interrupted;
use crate::cli::interrupt::Interrupt;
use crate::cli::output::note;
use crate::cli::progress::Board;
use crate::gpu::results::{Discard, KernelResult};
use crate::hardware::{Cycles, Figure, Measured, Work};
use crate::machine::Machine;
use crate::simt::Limits;
use crate::slots::PolicyChoices;
use crate::study::cells::{Cell, CellError, Watcher as _, command};
use crate::study::traces::NamedTrace;
use anyhow::Context;
use rayon::prelude::*;
use std::num::NonZeroUsize;
use std::path::Path;
use std::thread::available_parallelism;
use tempfile::TempDir;

/// Computes the figures of each measurement on the machine with this name.
pub fn run_all(
    args: &Args,
    measured: &[&Measured],
    folder: &Path,
    (name, machine): (&str, &Machine),
) -> anyhow::Result<Vec<Vec<Figure>>> {
    let interrupt = Interrupt::install()?;
    let works: Result<Vec<Work>, _> = measured.iter().map(|one| one.work(folder)).collect();
    let mut works = works?;
    let temporary = tempfile::tempdir().context("failed to create a temporary folder")?;
    let threads = available_parallelism().map_or(1, NonZeroUsize::get);
    let recorder = Recorder { folder: temporary, threads, interrupt: interrupt.clone() };
    let traces = works.iter_mut().map(|work| recorder.record_all(work));
    let traces = traces.collect::<anyhow::Result<Vec<Vec<NamedTrace>>>>()?;
    let all: Vec<&NamedTrace> = traces.iter().flatten().collect();
    let ctas = all.iter().map(|trace| trace.ctas()).sum();
    let instructions = all.iter().map(|trace| trace.warp_instructions()).sum();
    let board = Board::new(interrupt, all.len(), ctas, instructions);
    let jobs = args.jobs.map_or(threads, NonZeroUsize::get).min(all.len().max(1));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build();
    let pool = pool.context("failed to start threads")?;
    let overrides = &args.overrides.overrides;
    let run_one = |trace: &&NamedTrace| run(trace, name, machine, overrides, &board);
    let cycles: Vec<Result<Vec<f64>, CellError>> =
        pool.install(|| all.par_iter().with_max_len(1).map(run_one).collect());
    let is_stopped = board.is_stopped();
    let summary = board.finish();
    let cycles = cycles.into_iter().collect::<Result<Vec<_>, _>>();
    if is_stopped && cycles.as_ref().is_err_and(CellError::is_interruption) {
        return Err(Interrupted { kept: "nothing is kept".to_owned() }.into());
    }
    note(&summary);
    let mut cycles = cycles?.into_iter();
    let hz = f64::from(machine.clocks.core_mhz) * 1e6;
    let figures = works.iter().zip(&traces).map(|(work, traces)| {
        let launches = cycles.by_ref().take(traces.len()).collect();
        work.figures(&Cycles { launches, hz })
    });
    Ok(figures.collect())
}

/// Records programs into a temporary folder.
struct Recorder {
    folder: TempDir,
    threads: usize,
    interrupt: Interrupt,
}

impl Recorder {
    /// Records a trace for each program of the work, whose memory is released.
    fn record_all(&self, work: &mut Work) -> anyhow::Result<Vec<NamedTrace>> {
        let mut traces = Vec::new();
        for (number, program) in std::mem::take(&mut work.programs).into_iter().enumerate() {
            let path = self.folder.path().join(format!("{}-{number}.wmt", work.name));
            let options = Options {
                output: Some(path.clone()),
                selection: Selection::all(),
                limits: Limits { threads: self.threads, ..Limits::default() },
                registers: Registers::Estimated,
                command: "warpmem correlate --hardware".to_owned(),
            };
            let bar = Bar::new(self.interrupt.clone());
            let captured = capture_module(program.module, &program.plan, &options, &bar);
            bar.finish();
            let failure = || format!("failed to execute {} without a GPU", work.name);
            if captured.with_context(failure)?.interrupted {
                return Err(Interrupted { kept: "nothing is kept".to_owned() }.into());
            }
            traces.push(NamedTrace::open(&path)?);
        }
        Ok(traces)
    }
}

/// Runs a trace, and returns the cycles of each launch.
fn run(
    trace: &NamedTrace,
    name: &str,
    machine: &Machine,
    overrides: &[String],
    board: &Board,
) -> Result<Vec<f64>, CellError> {
    if board.is_stopped() {
        return Err(CellError::Interrupted);
    }
    let command = command(trace.trace.path(), name, &PolicyChoices::default(), overrides);
    let cell = Cell::new(trace, machine.clone(), overrides, command)?;
    let result = cell.simulate(&mut Discard, board)?;
    let cycles = |kernel: &KernelResult| (kernel.end_cycle - kernel.start_cycle) as f64;
    Ok(result.kernels.iter().map(cycles).collect())
}
