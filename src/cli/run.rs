//! `warpmem run`: one trace on one machine.

use super::cells::Cell;
use super::format::{self, Format};
use super::interrupt::Interrupt;
use super::machines::{MACHINE_HELP, Overrides};
use super::output::{note, print};
use super::policies::PolicyOptions;
use super::progress::Board;
use super::report;
use super::traces::NamedTrace;
use clap::ValueHint;
use std::path::PathBuf;
use warpmem::dram::log::{CommandLogWriter, CommandSink};
use warpmem::record::{NoLoads, ResultsWriter, run_row_json};

/// Replay a trace on a machine and print what came of it
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Trace to replay
    #[arg(value_name = "TRACE", value_hint = ValueHint::FilePath)]
    trace: PathBuf,
    #[arg(long, value_name = "NAME|FILE", default_value = "li2015", help = MACHINE_HELP, value_hint = ValueHint::FilePath)]
    machine: String,
    #[command(flatten)]
    overrides: Overrides,
    /// Directory for the tables of the run, with a row for every load; created if need be
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    output: Option<PathBuf>,
    /// Log every DRAM command, for `warpmem dram check`; Parquet if the name ends in .parquet
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    command_log: Option<PathBuf>,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    #[command(flatten)]
    policies: PolicyOptions,
}

const AFTER_HELP: &str = "\
Examples:
  warpmem run sample-traces/bfs-rmat.wmt
  warpmem run k.wmt --machine v100 --warp-scheduler lrr --format json
  warpmem run k.wmt --set dram.read_queue=128 --dram-scheduler 'fr-fcfs(row_hit_cap=4)' -o results/";

pub fn execute(args: &Args) -> anyhow::Result<()> {
    let mut machine = args.overrides.apply(&args.machine)?;
    args.policies.apply(&mut machine);
    let trace = NamedTrace::open(&args.trace)?;
    let command = report::command(&args.trace, &args.machine, &args.policies, &args.overrides);
    let cell = Cell::new(&trace, machine, command)?;
    let writer = args.output.as_deref().map(ResultsWriter::create).transpose()?;
    let create = |path: &PathBuf| CommandLogWriter::create(path, &cell.key.machine.dram);
    let mut log = args.command_log.as_ref().map(create).transpose()?;
    let commands = log.as_mut().map(|log| log as &mut dyn CommandSink);

    let board = Board::new(Interrupt::install()?, 1, trace.ctas(), trace.warp_instructions());
    let result = match writer {
        None => cell.simulate(&mut NoLoads, commands, &board)?,
        Some(writer) => {
            let mut recorder = writer.begin_run(0, cell.key.clone())?;
            let result = cell.simulate(&mut recorder, commands, &board)?;
            writer.finish_run(recorder, &result)?;
            writer.finish()?;
            result
        }
    };
    if let Some(log) = log {
        log.finish()?;
    }
    note(&board.finish());
    let row = run_row_json(&cell.key, &result);
    print(&match args.format {
        Format::Table => report::table(&row),
        Format::Json => format::json(&[row]),
        Format::Csv => format::csv(&[row]),
    })
}
