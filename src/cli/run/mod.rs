//! `warpmem run`: replays one trace on one machine.

mod kernels;
mod ncu;
mod numbers;
mod summary;
mod timeline;

use crate::cli::convoy;
use crate::cli::files::{InputFile, OutputFile, OutputResults};
use crate::cli::format::{self, Format};
use crate::cli::idle_dram;
use crate::cli::interrupt::Interrupt;
use crate::cli::machines::{MACHINE_HELP, MachineName, RunOverrides, check_standard};
use crate::cli::output::{note, print};
use crate::cli::policies::PolicyOptions;
use crate::cli::progress::Board;
use crate::cli::recording::RecordingOptions;
use crate::cli::run_row;
use crate::gpu::results::{CyclesError, KernelResult, RunResult};
use crate::machine::{DEFAULT_MACHINE, Machine};
use crate::record::command_log::CommandLogWriter;
use crate::record::{ResultsWriter, RunOutputs, kernel_rows_json, request_convoy, run_row_json};
use crate::study::cells::{Cell, command};
use crate::study::traces::NamedTrace;
use clap::ValueHint;
use serde_json::{Map, Value};
use std::num::NonZeroUsize;
use std::thread::available_parallelism;
use timeline::TimelineOptions;

/// Replay a trace on a machine and print the results
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Trace to replay
    #[arg(value_name = "TRACE", value_hint = ValueHint::FilePath)]
    trace: InputFile,
    #[arg(long, value_name = "NAME|FILE", default_value = DEFAULT_MACHINE, help = MACHINE_HELP, value_hint = ValueHint::FilePath)]
    machine: MachineName,
    #[command(flatten)]
    overrides: RunOverrides,
    /// Directory for the tables of the run, with a row for every load; created if it does not exist
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    output: Option<OutputResults>,
    #[command(flatten)]
    recording: RecordingOptions,
    /// Log every DRAM command, for `warpmem dram check`; Parquet if the name ends in .parquet
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    command_log: Option<OutputFile>,
    /// Print every metric instead of the ten-line summary
    #[arg(long)]
    all: bool,
    /// Metrics to print instead of the summary: column names, separated by commas
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', conflicts_with = "all")]
    metrics: Vec<String>,
    /// Print the kernels of the trace instead, one per line; JSON and CSV have the table `kernels`
    #[arg(long, conflicts_with_all = ["all", "metrics"])]
    kernels: bool,
    /// Print the kernels under the metric names of Nsight Compute; CSV has the form of `ncu --page
    /// raw --csv`
    #[arg(long, conflicts_with_all = ["all", "metrics", "kernels"])]
    ncu: bool,
    /// Format of the output; JSON and CSV have every metric, or those of --metrics
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Threads that step the machine; by default one per processor. The results are the same with any
    /// number
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    #[command(flatten)]
    timeline: TimelineOptions,
    #[command(flatten)]
    policies: PolicyOptions,
}

const AFTER_HELP: &str = "\
Examples:
  warpmem run sample-traces/bfs-level.wmt
  warpmem run k.wmt --metrics ipc_warp,latency_p99,row_hit_rate
  warpmem run k.wmt --kernels
  warpmem run k.wmt --machine v100 --ncu --set run.cold_launches=true
  warpmem run k.wmt --machine v100 --threads 4
  warpmem run k.wmt --machine v100 --warp-scheduler lrr --format json
  warpmem run k.wmt --set dram.read_queue=128 --dram-scheduler 'fr-fcfs(row_hit_cap=4)' -o results/
  warpmem run k.wmt -o results/ --intervals 1000 --requests 1/64
  warpmem run decode-steps.wmt --machine a100 --error 1%
  warpmem run k.wmt --timeline k.json --timeline-window 2000..4000";

pub fn execute(args: &Args) -> anyhow::Result<()> {
    let overrides = args.overrides.all();
    let mut machine = overrides.apply(&args.machine)?;
    args.policies.0.apply(&mut machine);
    let outputs =
        [("--command-log", args.command_log.as_deref()), ("--timeline", args.timeline.path())];
    check_standard(&machine.dram, &outputs)?;
    run_row::check(&args.metrics)?;
    let trace = NamedTrace::open(&args.trace)?;
    let command = command(&args.trace, &args.machine, &args.policies.0, &overrides.overrides);
    let mut cell = Cell::new(&trace, machine, &overrides.overrides, command)?;
    let threads = args.threads.or_else(|| available_parallelism().ok());
    cell.threads = threads.map_or(1, NonZeroUsize::get);
    // Installed before creating anything that an interrupted process would leave behind.
    let interrupt = Interrupt::install()?;
    let writer = args.output.as_deref().map(ResultsWriter::create).transpose()?;
    let log = args.command_log.as_ref();
    let log = log.map(|path| CommandLogWriter::create(path, &cell.key.machine.dram)).transpose()?;
    let recorded = args.recording.recorded();
    let timeline = args.timeline.start(&cell.key.machine, &recorded)?;
    let begin = |writer: &ResultsWriter| writer.begin_run(cell.key.clone(), recorded);
    let recorder = writer.as_ref().map(begin).transpose()?;
    let mut outputs = RunOutputs { recorder, log, timeline };

    let board = Board::new(interrupt, 1, cell.ctas(), cell.warp_instructions());
    let result = cell.simulate(&mut outputs, &board)?;
    let RunOutputs { recorder, log, timeline } = outputs;
    if let (Some(writer), Some(recorder)) = (writer, recorder) {
        writer.finish_run(0, recorder, &result)?;
        writer.finish()?;
    }
    log.map(CommandLogWriter::finish).transpose()?;
    note(&board.finish());
    if let Some(timeline) = timeline {
        args.timeline.finish(timeline, result.core_cycles)?;
    }
    extrapolation(&result).iter().for_each(|text| note(text));
    convoy::warn_of([request_convoy(&result)]);
    if args.kernels {
        return print_kernels(
            args.format,
            &kernel_rows_json(&cell.key, &result),
            &cell.key.machine,
        );
    }
    if args.ncu {
        return print(&ncu::kernels(args.format, &cell.key, &result, &trace.trace));
    }
    let row = run_row_json(&cell.key, &result);
    let is_summary = args.format == Format::Table && args.metrics.is_empty() && !args.all;
    if is_summary {
        kernels_together(&result).iter().for_each(|text| note(text));
        idle_dram::note_of_run(&row);
    }
    let row = if args.metrics.is_empty() { row } else { run_row::selected(&row, &args.metrics) };
    print(&match args.format {
        Format::Json => format::json(&[row]),
        Format::Csv => format::csv(&[row]),
        Format::Table if is_summary => summary::summary(&row, &cell.key.machine),
        Format::Table if args.all => run_row::table(&run_row::abridged(row)),
        Format::Table => run_row::table(&row),
    })
}

/// Describes a run that simulated only some of its launches and CTAs.
fn extrapolation(result: &RunResult) -> Option<String> {
    let sum = |of: fn(&KernelResult) -> u64| result.kernels.iter().map(of).sum::<u64>();
    let all = [sum(|k| k.stands_for.into()), sum(|k| u64::from(k.stands_for) * k.ctas)];
    let simulated = [result.kernels.len() as u64, sum(|k| k.simulated_ctas)];
    let share =
        |error: &CyclesError| 100.0 * error.half_interval / result.core_cycles.max(1) as f64;
    let error = match result.cycles_error.as_ref().map(share) {
        Some(percent) => format!("cycles ± {percent:.2} % (95 % interval)"),
        None => "the error of the cycles is unknown".to_owned(),
    };
    let ([launches, ctas], [all_launches, all_ctas]) = (simulated, all);
    (simulated != all).then(|| {
        format!(
            "note: {launches} of {all_launches} launches and {ctas} of {all_ctas} CTAs simulated, the others extrapolated; {error}"
        )
    })
}

fn print_kernels(
    format: Format,
    rows: &[Map<String, Value>],
    machine: &Machine,
) -> anyhow::Result<()> {
    print(&match format {
        Format::Json => format::json(rows),
        Format::Csv => format::csv(rows),
        Format::Table => kernels::table(rows, machine),
    })
}

/// Describes a summary of several kernels.
fn kernels_together(result: &RunResult) -> Option<String> {
    let kernels: u32 = result.kernels.iter().map(|kernel| kernel.stands_for).sum();
    (kernels > 1).then(|| {
        format!(
            "note: these figures cover {kernels} kernels together; --kernels prints a line for each"
        )
    })
}
