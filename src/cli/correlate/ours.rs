//! Our side of the comparison: the traces of the reference on our machines.

use super::Args;
use crate::cli::exit::Interrupted;
use crate::cli::import::BarProgress;
use crate::cli::interrupt::Interrupt;
use crate::cli::output::note;
use crate::cli::progress::Board;
use crate::correlation::{Outcome, Runs, Traces};
use crate::import::{ImportError, ImportOptions, ImportSummary, import_accel_sim};
use crate::study::cells::Watcher as _;
use crate::study::correlate::{Planned, Skipped};
use crate::study::traces::NamedTrace;
use std::num::NonZeroUsize;
use std::path::Path;

/// Runs everything that can run; `skipped` collects the others.
pub fn run_all(
    args: &Args,
    planned: Vec<Planned>,
    skipped: &mut Skipped,
) -> anyhow::Result<Outcome> {
    let interrupt = Interrupt::install()?;
    let import = importer(interrupt.clone());
    let mut traces = Traces::new(args.places.cache.as_deref(), &import)?;
    let runs = Runs::open(planned, &mut traces, args.orders.get(), skipped)?;
    let (ctas, instructions) =
        (runs.sum(NamedTrace::ctas), runs.sum(NamedTrace::warp_instructions));
    let board = Board::new(interrupt, runs.len(), ctas, instructions);
    let jobs = if args.speed { Some(NonZeroUsize::MIN) } else { args.jobs };
    let all = runs.runs();
    let outcome = runs.run(jobs.map_or(0, NonZeroUsize::get), &board)?;
    let was_broken_off = board.is_stopped();
    let summary = board.finish();
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

/// Returns an import that shows its progress.
pub fn importer(
    interrupt: Interrupt,
) -> impl Fn(&str, &Path, &Path, &ImportOptions) -> Result<ImportSummary, ImportError> {
    move |name, place, output, options| {
        let template =
            format!("{{bar:30}} {name} · {{bytes}}/{{total_bytes}} · {{msg}} · {{eta}} left");
        let watch = BarProgress::new(&template, interrupt.clone());
        let imported = import_accel_sim(place, output, options, &watch);
        watch.bar.finish_and_clear();
        imported
    }
}
