//! Our side of the comparison: the traces of the reference on our machines.

use super::super::exit::Interrupted;
use super::super::interrupt::Interrupt;
use super::super::output::note;
use super::super::progress::Board;
use super::Args;
use super::plan::{Planned, Skipped};
use super::traces::Traces;
use anyhow::Context;
use rayon::prelude::*;
use std::num::NonZeroUsize;
use std::path::Path;
use std::thread::available_parallelism;
use warpmem::gpu::engine::RunError;
use warpmem::gpu::results::Discard;
use warpmem::record::run_row_json;
use warpmem::slots::Choices;
use warpmem::study::cells::{Cell, Watcher as _, command};
use warpmem::study::correlate::{Comparison, Figures, KernelFigures};
use warpmem::study::traces::NamedTrace;
use warpmem_trace::Trace;

/// The outcome of the runs.
pub struct Outcome {
    /// In the order of the reference.
    pub comparisons: Vec<Comparison>,
    /// Traces that differ from those of the reference, each with its run and the difference.
    pub refused: Vec<String>,
    /// The first of the other failures.
    pub failure: Option<anyhow::Error>,
}

impl Outcome {
    /// Why the outcome is incomplete: the traces that differ, otherwise the first failure.
    pub fn error(self) -> Option<anyhow::Error> {
        let refused = self.refused.join("\n");
        if refused.is_empty() { self.failure } else { Some(anyhow::anyhow!(refused)) }
    }
}

impl Planned {
    /// How `path`, with these kernels, differs from the trace of the run; none if it does not.
    pub fn refusal(&self, path: &Path, kernels: &[KernelFigures]) -> Option<String> {
        let reason = self.reference.other_kernels(kernels)?;
        let (label, path) = (self.label(), path.display());
        Some(format!("{label}: {path} is not the trace of the reference: {reason}"))
    }

    /// The run with our figures and the reference's.
    pub fn beside(self, ours: Figures) -> Comparison {
        Comparison {
            trace: self.trace,
            machine: self.machine.name,
            configuration: self.configuration,
            dram_scheduler: self.reference.dram_scheduler,
            ours,
            reference: self.reference.figures,
        }
    }
}

/// Runs everything that can be run; `skipped` names the others.
pub fn run_all(
    args: &Args,
    planned: Vec<Planned>,
    skipped: &mut Skipped,
) -> anyhow::Result<Outcome> {
    let interrupt = Interrupt::install()?;
    let mut traces = Traces::new(args.places.cache.as_deref(), interrupt.clone())?;
    let mut runs: Vec<(Planned, NamedTrace)> = Vec::new();
    let mut refused = Vec::new();
    for run in planned {
        let trace = match traces.open(&run)? {
            Ok(trace) => trace,
            Err(reason) => {
                skipped.add(run.label(), reason);
                continue;
            }
        };
        match run.refusal(trace.trace.path(), &kernels_of(&trace.trace)) {
            Some(refusal) => refused.push(refusal),
            None => runs.push((run, trace)),
        }
    }
    let orders = args.orders.get();
    let first_sms: Vec<Vec<u32>> =
        runs.iter().map(|(run, _)| run.machine.first_sms(orders)).collect();
    let in_order = runs.iter().zip(&first_sms);
    let in_order = in_order.flat_map(|(run, first_sms)| first_sms.iter().map(move |&sm| (run, sm)));
    let in_order: Vec<(&(Planned, NamedTrace), u32)> = in_order.collect();
    let ctas = in_order.iter().map(|((_, trace), _)| trace.ctas()).sum();
    let instructions = in_order.iter().map(|((_, trace), _)| trace.warp_instructions()).sum();
    let board = Board::new(interrupt, in_order.len(), ctas, instructions);
    let jobs = if args.speed { Some(NonZeroUsize::MIN) } else { args.jobs };
    let jobs = jobs.or_else(|| available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs.min(in_order.len().max(1))).build();
    let pool = pool.context("failed to start threads")?;
    let run =
        |&((run, trace), first): &(&(Planned, NamedTrace), u32)| run_one(run, trace, first, &board);
    let figures: Vec<anyhow::Result<Figures>> =
        pool.install(|| in_order.par_iter().with_max_len(1).map(run).collect());
    let was_broken_off = board.is_stopped();
    let summary = board.finish();
    let all = runs.len();
    let mut figures = figures.into_iter();
    let mut outcome = Outcome { comparisons: Vec::new(), refused, failure: None };
    for ((run, _), first_sms) in runs.into_iter().zip(&first_sms) {
        let of_run: Vec<anyhow::Result<Figures>> = figures.by_ref().take(first_sms.len()).collect();
        match over_orders(of_run) {
            Ok(figures) => outcome.comparisons.push(run.beside(figures)),
            Err(error) => outcome.failure = outcome.failure.or(Some(error)),
        }
    }
    let finished = outcome.comparisons.len();
    if was_broken_off && finished < all {
        let kept = format!("{finished} of {all} runs had finished; nothing is kept of them");
        return Err(Interrupted { kept }.into());
    }
    if finished > 0 {
        note(&summary);
    }
    Ok(outcome)
}

/// The figures of a run in all its orders, the machine's own first.
fn over_orders(figures: Vec<anyhow::Result<Figures>>) -> anyhow::Result<Figures> {
    let mut figures = figures.into_iter();
    let own = figures.next().context("a run has an order")??;
    let others: Vec<Figures> = figures.collect::<anyhow::Result<_>>()?;
    Ok(own.over_orders(&others))
}

/// The kernels of a trace, without cycles.
fn kernels_of(trace: &Trace) -> Vec<KernelFigures> {
    let kernel = |kernel: &warpmem_trace::Kernel| KernelFigures {
        name: kernel.info.name.clone(),
        thread_instructions: Some(kernel.thread_instructions),
        ..KernelFigures::default()
    };
    trace.kernels().iter().map(kernel).collect()
}

/// Reopens the trace, so that the time includes all reading of it.
fn run_one(
    run: &Planned,
    trace: &NamedTrace,
    first_sm: u32,
    board: &Board,
) -> anyhow::Result<Figures> {
    if board.is_stopped() {
        return Err(RunError::Interrupted.into());
    }
    let begun = cpu_seconds();
    let path = trace.trace.path();
    let trace = NamedTrace { name: run.trace.clone(), trace: Trace::open(path)? };
    let command = command(path, &run.machine_name, &Choices::default(), &run.overrides.overrides);
    let mut machine = run.machine.clone();
    machine.run.first_sm = first_sm;
    let cell = Cell::new(&trace, machine, &run.overrides.overrides, command)?;
    let result = cell.simulate(&mut Discard, board)?;
    let cpu_seconds = cpu_seconds().zip(begun).map(|(end, begun)| end - begun);
    let kernels = result.kernels.iter().map(KernelFigures::from).collect();
    let figures = Figures::of_row(&run_row_json(&cell.key, &result), kernels)?;
    Ok(Figures { cpu_seconds, ..figures })
}

/// CPU time of the process, including the helper thread that inflates the trace.
#[cfg(unix)]
fn cpu_seconds() -> Option<f64> {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Some(time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9)
}

#[cfg(not(unix))]
fn cpu_seconds() -> Option<f64> {
    None
}
