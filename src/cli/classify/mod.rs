//! `warpmem classify`: the workload class of traces.

mod table;

use super::convoy;
use super::exit::Interrupted;
use super::format::{self, Format};
use super::interrupt::Interrupt;
use super::machines::{MACHINE_HELP, MachineName, Overrides, check_standard};
use super::output::{note, print};
use super::policies::PolicyOptions;
use super::progress::{Board, bar};
use crate::cli::files::{InputFile, OutputFile};
use crate::files::claims::Claims;
use crate::files::staged;
use crate::gpu::results::{Discard, RunResult};
use crate::machine::{DEFAULT_MACHINE, Machine};
use crate::record::request_convoy;
use crate::study::cells::{Cell, side_by_side};
use crate::study::classify::{
    Classified, RUNS, cells, classified, columns, machines, small_pages_per_instruction,
};
use crate::study::profile::Progress;
use crate::study::traces::NamedTrace;
use clap::ValueHint;
use std::fs;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::thread::available_parallelism;
use warpmem_trace::Kernel;

/// Classify traces by the workload classes of the papers
///
/// Replays every trace on the machine, and on the same machine with perfect DRAM, a perfect L1 and
/// a perfect L2. Prints the figures that determine the classes: speedups, inter-core locality,
/// off-chip accesses, DRAM use. Reads every trace once more for its pages per instruction.
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Traces to classify, or manifests (.toml) written by `suite get`
    #[arg(value_name = "TRACE", required = true, value_hint = ValueHint::FilePath)]
    traces: Vec<InputFile>,
    #[arg(long, value_name = "NAME|FILE", default_value = DEFAULT_MACHINE, help = MACHINE_HELP, value_hint = ValueHint::FilePath)]
    machine: MachineName,
    #[command(flatten)]
    overrides: Overrides,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<OutputFile>,
    /// Format of the output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Runs at a time; by default one per processor. The results are the same with any number
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    #[command(flatten)]
    policies: PolicyOptions,
}

const AFTER_HELP: &str = "\
This command sets the slot `ideal` itself; the machine has `none` there.

Examples:
  warpmem classify sample-traces/*.wmt
  warpmem classify a.wmt b.wmt --machine owl2013 --warp-scheduler lrr
  warpmem classify k.wmt --set dram.channels=4 --format json -o classes.json";

pub fn execute(args: &Args) -> anyhow::Result<()> {
    let machines = machines_of(args)?;
    args.output.as_deref().map_or(Ok(()), staged::check)?;
    let traces = NamedTrace::open_all(&args.traces)?;
    check_files(args, &machines[0], &traces)?;
    let Args { machine, policies, overrides, .. } = args;
    let cells = cells(&traces, &machines, machine, &policies.0, &overrides.overrides)?;
    let interrupt = Interrupt::install()?;
    let small_pages = small_pages(&traces, &interrupt)?;
    let results = run(args, interrupt, &cells)?;
    convoy::warn_of(results.iter().map(request_convoy));
    let classified = classified(&cells, results, &small_pages);
    let text = match args.format {
        Format::Table => table::text(&setting(args, &machines[0]), &classified),
        Format::Json => format::json(&rows(&classified)),
        Format::Csv => format::csv(&rows(&classified)),
    };
    match &args.output {
        None => print(&text),
        Some(path) => staged::write(path, |partial| Ok(fs::write(partial, &text)?)),
    }
}

/// Refuses an output that would overwrite a listed trace or the machine's DRAM standard.
fn check_files(args: &Args, machine: &Machine, traces: &[NamedTrace]) -> anyhow::Result<()> {
    let mut files = Claims::default();
    traces.iter().for_each(|trace| files.read("trace", trace.trace.path()));
    args.output.iter().for_each(|output| files.write("--output", output));
    files.check()?;
    Ok(check_standard(&machine.dram, &[("--output", args.output.as_deref())])?)
}

/// Describes the machine and its overrides.
fn setting(args: &Args, machine: &Machine) -> String {
    let policies = args.policies.0.iter();
    let policies = policies.map(|choice| format!("{}={}", choice.slot.name, choice.given));
    let set: Vec<String> = args.overrides.overrides.iter().cloned().chain(policies).collect();
    let with = if set.is_empty() { String::new() } else { format!(" with {}", set.join(", ")) };
    format!("on {}{with}", machine.name)
}

/// Makes the machine of every run of a trace.
fn machines_of(args: &Args) -> anyhow::Result<[Machine; RUNS]> {
    let mut plain = args.overrides.apply(&args.machine)?;
    args.policies.0.apply(&mut plain);
    Ok(machines(plain)?)
}

/// Reads the traces for their pages per instruction and shows progress.
fn small_pages(traces: &[NamedTrace], interrupt: &Interrupt) -> anyhow::Result<Vec<Option<f64>>> {
    let records = |trace: &NamedTrace| trace.sum(|kernel: &Kernel| kernel.records);
    let bar = bar("{bar:30} {percent:>3} % · traces read · {eta} left");
    bar.set_length(traces.iter().map(records).sum());
    let mut done = 0;
    let of = |trace: &NamedTrace| {
        let mut progress = |read: &Progress| {
            bar.set_position(done + read.records);
            if interrupt.is_asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let pages = small_pages_per_instruction(&trace.trace, &mut progress)?;
        done += records(trace);
        Ok(pages)
    };
    let small_pages = traces.iter().map(of).collect();
    bar.finish_and_clear();
    small_pages
}

/// Runs all cells, and returns their results in order.
fn run(args: &Args, interrupt: Interrupt, cells: &[Cell<'_>]) -> anyhow::Result<Vec<RunResult>> {
    let ctas = cells.iter().map(|cell| cell.ctas()).sum();
    let instructions = cells.iter().map(|cell| cell.warp_instructions()).sum();
    let board = Board::new(interrupt, cells.len(), ctas, instructions);
    let jobs = args.jobs.or_else(|| available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let simulate = |_, cell: &Cell<'_>| cell.simulate(&mut Discard, &board);
    let ends = side_by_side(cells, jobs.min(cells.len()), &board, simulate)?;
    let summary = board.finish();
    let mut results = Vec::new();
    let mut failures = Vec::new();
    for end in ends {
        match end {
            Ok(result) => results.push(result),
            Err(error) => failures.push(error),
        }
    }
    if failures.is_empty() {
        note(&summary);
        return Ok(results);
    }
    let kept = format!("{} of {} runs finished; no results are kept", results.len(), cells.len());
    let failure = failures.into_iter().find(|error| !error.is_interruption());
    Err(failure.map_or_else(|| Interrupted { kept }.into(), anyhow::Error::new))
}

fn rows(classified: &[Classified]) -> Vec<serde_json::Map<String, serde_json::Value>> {
    let columns = columns();
    let row = |trace| columns.iter().map(|c| (c.name.clone(), c.json(trace))).collect();
    classified.iter().map(row).collect()
}
