//! `warpmem export`: traces in the formats of other tools.

use super::format::TextFormat;
use super::import::BarProgress;
use super::interrupt::Interrupt;
use super::output::print;
use crate::cli::files::{InputFile, OutputFolder};
use crate::import::{ExportOptions, ExportSummary, export_accel_sim};
use anyhow::Context;
use clap::{Subcommand, ValueHint, value_parser};
use warpmem_support::text::aligned;
use warpmem_trace::Trace;

/// Write a .wmt trace in the format of another tool
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    target: Target,
}

#[derive(Debug, Subcommand)]
enum Target {
    AccelSim(AccelSim),
}

/// Accel-Sim text: kernelslist.g and a grouped file of tracer version 5 per kernel
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP)]
struct AccelSim {
    /// Trace to export
    #[arg(value_name = "TRACE", value_hint = ValueHint::FilePath)]
    trace: InputFile,
    /// Folder to create
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    output: OutputFolder,
    /// Compress the kernel files with xz at this level, 0 to 9
    #[arg(long, value_name = "LEVEL", value_parser = value_parser!(u32).range(0..=9))]
    xz: Option<u32>,
    /// How to print the summary
    #[arg(long, value_enum, default_value_t = TextFormat::Table)]
    format: TextFormat,
}

const AFTER_HELP: &str = "\
Examples:
  warpmem export accel-sim k.wmt -o traces/
  warpmem export accel-sim k.wmt --xz 6 -o traces/";

pub fn execute(args: &Args) -> anyhow::Result<()> {
    let Target::AccelSim(AccelSim { trace: path, output, xz, format }) = &args.target;
    let trace = Trace::open(path)?;
    let watch = BarProgress::new("{spinner} {msg} · {elapsed}", Interrupt::install()?);
    let summary = export_accel_sim(&trace, output, ExportOptions { xz: *xz }, &watch)
        .with_context(|| format!("failed to export {}", path.display()))?;
    watch.bar.finish_and_clear();
    print(&match format {
        TextFormat::Table => text(&summary),
        TextFormat::Json => format!("{:#}\n", serde_json::to_value(&summary)?),
    })
}

fn text(summary: &ExportSummary) -> String {
    let row = |name: &str, value: u64| vec![name.to_owned(), value.to_string()];
    let rows = [
        row("kernels", summary.kernels),
        row("CTAs", summary.ctas),
        row("warps", summary.warps),
        row("warp instructions", summary.warp_instructions),
        row("bytes of text", summary.text_bytes),
        row("approximated dependences, waits and lanes", summary.approximated),
        row("instructions with more than 4 sources", summary.over_register_limit),
    ];
    aligned(&rows, &[1])
}
