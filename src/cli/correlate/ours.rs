//! Our side of the comparison: the traces of the reference on our machines.

use super::Args;
use super::traces::Traces;
use crate::cli::exit::Interrupted;
use crate::cli::interrupt::Interrupt;
use crate::cli::output::note;
use crate::cli::progress::Board;
use crate::study::cells::Watcher as _;
use crate::study::correlate::{
    Comparison, Figures, OursError, Planned, Skipped, kernels_of, over_orders, run,
};
use crate::study::traces::NamedTrace;
use anyhow::Context;
use rayon::prelude::*;
use std::num::NonZeroUsize;
use std::thread::available_parallelism;

/// Outcome of the runs.
pub struct Outcome {
    /// Comparisons, in the order of the reference.
    pub comparisons: Vec<Comparison>,
    /// Traces that differ from those of the reference, each with its run and the difference.
    pub refused: Vec<String>,
    /// First of the other failures.
    pub failure: Option<anyhow::Error>,
}

impl Outcome {
    /// Returns the reason for an incomplete outcome: the traces that differ, otherwise the first
    /// failure.
    pub fn error(self) -> Option<anyhow::Error> {
        let refused = self.refused.join("\n");
        if refused.is_empty() { self.failure } else { Some(anyhow::anyhow!(refused)) }
    }
}

/// Runs everything that can run; `skipped` collects the others.
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
    let run_one = |&((planned, trace), first): &(&(Planned, NamedTrace), u32)| {
        run(planned, trace.trace.path(), first, &board)
    };
    let figures: Vec<Result<Figures, OursError>> =
        pool.install(|| in_order.par_iter().with_max_len(1).map(run_one).collect());
    let was_broken_off = board.is_stopped();
    let summary = board.finish();
    let all = runs.len();
    let mut figures = figures.into_iter();
    let mut outcome = Outcome { comparisons: Vec::new(), refused, failure: None };
    for ((run, _), first_sms) in runs.into_iter().zip(&first_sms) {
        let mut of_run = figures.by_ref().take(first_sms.len());
        let own = of_run.next().context("a run has an order")?;
        let others: Vec<_> = of_run.collect();
        match over_orders(own, others.into_iter()) {
            Ok(figures) => outcome.comparisons.push(run.beside(figures)),
            Err(error) => outcome.failure = outcome.failure.or(Some(error.into())),
        }
    }
    let finished = outcome.comparisons.len();
    if was_broken_off && finished < all {
        let kept = format!("{finished} of {all} runs finished; no results are kept");
        return Err(Interrupted { kept }.into());
    }
    if finished > 0 {
        note(&summary);
    }
    Ok(outcome)
}
