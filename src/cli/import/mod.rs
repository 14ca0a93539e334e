//! `warpmem import`: converts traces of other tools to .wmt.

mod accel_sim;
mod assumptions;
mod mem_trace;
mod summary;
mod table;

use super::format::TextFormat;
use super::interrupt::Interrupt;
use super::output::print;
use super::progress::bar;
use crate::import::{Progress, import_csv, import_jsonl, import_parquet};
use anyhow::Context;
use clap::Subcommand;
use indicatif::ProgressBar;
use std::ops::RangeInclusive;

/// Convert a captured trace of another tool to a .wmt file
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    source: Source,
}

#[derive(Debug, Subcommand)]
enum Source {
    /// Text traces of Accel-Sim's NVBit tracer, of any tracer version, grouped or raw, compressed or not
    AccelSim(accel_sim::Args),
    /// Text printed by NVBit's mem_trace, compressed or not: memory instructions and their addresses
    MemTrace(mem_trace::Args),
    /// A CSV table of your own, compressed or not, with a row per warp instruction
    #[command(after_help = table::CSV_HELP)]
    Csv(table::Args),
    /// A table of JSON lines, compressed or not, with an object per warp instruction
    #[command(after_help = table::JSONL_HELP)]
    Jsonl(table::Args),
    /// A Parquet table with a row per warp instruction
    #[command(after_help = table::PARQUET_HELP)]
    Parquet(table::Args),
}

/// Parses `7` or `3..9`, both ends included.
fn parse_kernels(text: &str) -> Result<RangeInclusive<usize>, String> {
    let number = |text: &str| text.trim().parse::<usize>().ok();
    let range = match text.split_once("..") {
        Some((first, last)) => number(first).zip(number(last)),
        None => number(text).map(|only| (only, only)),
    };
    let (first, last) = range.ok_or("expected a number or FIRST..LAST, as in 3..9")?;
    Ok(first..=last)
}

pub fn execute(args: &Args) -> anyhow::Result<()> {
    let (path, format) = match &args.source {
        Source::AccelSim(args) => (&args.list, args.format),
        Source::MemTrace(args) => (&args.log, args.format),
        Source::Csv(args) | Source::Jsonl(args) | Source::Parquet(args) => {
            (&args.table, args.format)
        }
    };
    let template = "{bar:30} {bytes}/{total_bytes} · {bytes_per_sec} · {msg} · {eta} left";
    let watch = BarProgress::new(template, Interrupt::install()?);
    let summary = match &args.source {
        Source::AccelSim(args) => args.import(&watch),
        Source::MemTrace(args) => args.import(&watch),
        Source::Csv(args) => args.import("csv", import_csv, &watch),
        Source::Jsonl(args) => args.import("jsonl", import_jsonl, &watch),
        Source::Parquet(args) => args.import("parquet", import_parquet, &watch),
    };
    let summary = summary.with_context(|| format!("failed to import {}", path.display()))?;
    watch.bar.finish_and_clear();
    print(&match format {
        TextFormat::Table => summary::text(&summary),
        TextFormat::Json => format!("{:#}\n", serde_json::to_value(&summary)?),
    })
}

/// Shows the progress of an import or export, and stops it on request.
pub struct BarProgress {
    pub bar: ProgressBar,
    interrupt: Interrupt,
}

impl BarProgress {
    /// Makes a watch. The template may show input bytes read; its message shows completed kernels.
    pub fn new(template: &str, interrupt: Interrupt) -> BarProgress {
        BarProgress { bar: bar(template), interrupt }
    }
}

impl Progress for BarProgress {
    fn total(&self, bytes: u64) {
        self.bar.set_length(bytes);
    }

    fn advance(&self, bytes: u64) {
        self.bar.inc(bytes);
    }

    fn kernel(&self, done: usize, kernels: usize) {
        self.bar.set_message(format!("kernels {done}/{kernels}"));
    }

    fn cancelled(&self) -> bool {
        self.interrupt.is_asked()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_a_number_or_a_range() {
        assert_eq!(parse_kernels("7"), Ok(7..=7));
        assert_eq!(parse_kernels("3..9"), Ok(3..=9));
        for text in ["", "a", "1..", "..2", "1-2"] {
            assert!(parse_kernels(text).is_err(), "{text}");
        }
    }
}
