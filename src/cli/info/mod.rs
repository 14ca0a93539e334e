//! `warpmem info`: contents and properties of a trace.

mod index;
#[cfg(feature = "tables")]
mod plot;
mod profile;
mod text;

use super::format::TextFormat;
use super::interrupt::Interrupt;
use super::machines::{MACHINE_HELP, MachineName, Overrides};
use super::output::print;
use super::progress::bar;
#[cfg(not(feature = "tables"))]
use super::tables as plot;
use super::tables::{PlotFile, check_plot, parse_plot};
use crate::cli::files::InputFile;
use crate::machine::DEFAULT_MACHINE;
use crate::study::index::object;
use crate::study::profile::{Options, Profile, Progress};
use crate::study::traces::NamedTrace;
use clap::ValueHint;
use serde_json::json;
use std::ops::ControlFlow;
use warpmem_trace::Kernel;

/// Describe a trace: its origin, its contents, and its memory accesses
///
/// The first part is read from the trace's index. For the rest, all records are read once, at
/// millions per second: instruction mix, requests and pages per instruction, footprint, reuse
/// distances, sharing among CTAs, spread over the machine's channels, operations per byte, and
/// chains of dependent loads. Nothing is simulated: the counts describe the accesses of the trace,
/// before any cache.
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Trace to describe
    #[arg(value_name = "TRACE", value_hint = ValueHint::FilePath)]
    trace: InputFile,
    /// Print only what the index contains, without reading the records
    #[arg(long, conflicts_with_all = ["plot", "machine", "overrides", "line", "sector", "top"])]
    brief: bool,
    #[arg(long, value_name = "NAME|FILE", default_value = DEFAULT_MACHINE, help = MACHINE_HELP, value_hint = ValueHint::FilePath)]
    machine: MachineName,
    #[command(flatten)]
    overrides: Overrides,
    /// Bytes of a line, the unit of requests, footprint, reuse and sharing
    #[arg(long, value_name = "BYTES", default_value_t = Options::default().line_bytes)]
    line: u32,
    /// Bytes of a sector of a line
    #[arg(long, value_name = "BYTES", default_value_t = Options::default().sector_bytes)]
    sector: u32,
    /// Kernels and static instructions to print in each table; JSON has all
    #[arg(long, value_name = "N", default_value_t = 8)]
    top: usize,
    /// Draw the figures, as SVG, PDF or PNG according to the file name
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, value_parser = parse_plot)]
    plot: Option<PlotFile>,
    /// Format of the output
    #[arg(long, value_enum, default_value_t = TextFormat::Table)]
    format: TextFormat,
}

const AFTER_HELP: &str = "\
Examples:
  warpmem info sample-traces/bfs-level.wmt
  warpmem info k.wmt --brief
  warpmem info k.wmt --machine v100 --plot k.svg
  warpmem info k.wmt --format json";

pub fn execute(args: &Args) -> anyhow::Result<()> {
    check_plot(args.plot.as_ref())?;
    let trace = NamedTrace::open(&args.trace)?;
    let profile = if args.brief { None } else { Some(read(args, &trace)?) };
    if let Some((path, profile)) = args.plot.as_ref().zip(profile.as_ref()) {
        plot::draw(path, (&trace.name, profile))?;
    }
    print(&match (args.format, &profile) {
        (TextFormat::Table, None) => index::brief(&trace),
        (TextFormat::Table, Some(profile)) => {
            format!("{}{}", index::head(&trace), profile::text(profile, args.top))
        }
        (TextFormat::Json, profile) => {
            let mut object = object(&trace);
            if let Some(profile) = profile {
                object["profile"] = json!(profile);
            }
            format!("{object:#}\n")
        }
    })
}

/// Reads the records and shows progress.
fn read(args: &Args, trace: &NamedTrace) -> anyhow::Result<Profile> {
    let machine = args.overrides.apply(&args.machine)?;
    let options =
        Options { line_bytes: args.line, sector_bytes: args.sector, ..Options::default() };
    let interrupt = Interrupt::install()?;
    let bar =
        bar("{bar:30} {percent:>3} % · records {human_pos}/{human_len} · {per_sec} · {eta} left");
    bar.set_length(trace.sum(|kernel: &Kernel| kernel.records));
    let mut progress = |read: &Progress| {
        bar.set_position(read.records);
        if interrupt.is_asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let profile = crate::study::profile::profile(&trace.trace, &machine, &options, &mut progress)?;
    bar.finish_and_clear();
    Ok(profile)
}
