//! `warpmem import`: traces of other tools to .wmt.

use super::format::TextFormat;
use super::interrupt::Interrupt;
use super::output::print;
use super::progress::bar;
use anyhow::Context;
use clap::{Subcommand, ValueEnum, ValueHint};
use indicatif::ProgressBar;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use warpmem::import::{
    EmptyMasks, ImportOptions, ImportSummary, KernelCounts, Progress, import_accel_sim,
};
use warpmem_text::aligned;

/// Convert a captured trace of another tool to a .wmt file
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    source: Source,
}

#[derive(Debug, Subcommand)]
enum Source {
    AccelSim(AccelSim),
}

/// Text traces of Accel-Sim's NVBit tracer, of any tracer version, grouped or raw, compressed or not
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP)]
struct AccelSim {
    /// Kernel list (kernelslist.g), a folder that contains one, or a single kernel file
    #[arg(value_name = "LIST", value_hint = ValueHint::AnyPath)]
    list: PathBuf,
    /// Trace to write (.wmt)
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: PathBuf,
    /// Only these kernels, by their position in the list from 1
    #[arg(long, value_name = "FIRST..LAST", value_parser = parse_kernels)]
    kernels: Option<RangeInclusive<usize>>,
    /// Kernel files read at a time
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// How to treat instructions without active lanes
    #[arg(long, value_name = "CHOICE", value_enum, default_value_t = EmptyMasksChoice::Keep)]
    empty_masks: EmptyMasksChoice,
    /// How to print the summary
    #[arg(long, value_enum, default_value_t = TextFormat::Table)]
    format: TextFormat,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum EmptyMasksChoice {
    /// Keep them; each takes its issue slot
    Keep,
    /// Leave them out of the trace
    Drop,
}

impl From<EmptyMasksChoice> for EmptyMasks {
    fn from(choice: EmptyMasksChoice) -> EmptyMasks {
        match choice {
            EmptyMasksChoice::Keep => EmptyMasks::Keep,
            EmptyMasksChoice::Drop => EmptyMasks::Drop,
        }
    }
}

const AFTER_HELP: &str = "\
Unknown opcodes are counted and listed. They are imported as instructions without memory traffic.

Examples:
  warpmem import accel-sim traces/kernelslist.g -o k.wmt
  warpmem import accel-sim kernel-7.traceg.xz -o kernel-7.wmt
  warpmem import accel-sim traces/ --kernels 10..19 -o part.wmt --format json";

/// `7` or `3..9`, both ends included.
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
    let Source::AccelSim(AccelSim { list, output, kernels, jobs, empty_masks, format }) =
        &args.source;
    let mut options = ImportOptions { kernels: kernels.clone(), ..ImportOptions::default() };
    options.jobs = jobs.map_or(options.jobs, NonZeroUsize::get);
    options.empty_masks = (*empty_masks).into();
    options.command = format!("warpmem import accel-sim {}", list.display());
    let template = "{bar:30} {bytes}/{total_bytes} · {bytes_per_sec} · {msg} · {eta} left";
    let watch = Watch::new(template, Interrupt::install()?);
    let summary = import_accel_sim(list, output, &options, &watch)
        .with_context(|| format!("failed to import {}", list.display()))?;
    watch.bar.finish_and_clear();
    print(&match format {
        TextFormat::Table => text(&summary),
        TextFormat::Json => format!("{:#}\n", serde_json::to_value(&summary)?),
    })
}

/// Shows the progress of an import or export, and ends it when the user wants.
pub struct Watch {
    pub bar: ProgressBar,
    interrupt: Interrupt,
}

impl Watch {
    /// The template may show bytes of input read; its message shows the kernels done.
    pub fn new(template: &str, interrupt: Interrupt) -> Watch {
        Watch { bar: bar(template), interrupt }
    }
}

impl Progress for Watch {
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

fn text(summary: &ImportSummary) -> String {
    let mut rows = Vec::new();
    let mut row = |name: String, value: u64| rows.push(vec![name, value.to_string()]);
    row("kernels".into(), summary.kernels.len() as u64);
    row("CTAs".into(), summary.ctas);
    row("warps".into(), summary.warps);
    row("warp instructions".into(), summary.warp_instructions);
    row("thread instructions".into(), summary.thread_instructions);
    for count in &summary.memory {
        let name = format!("{:?} {:?}", count.kind, count.space).to_lowercase();
        row(format!("  {name}"), count.instructions);
    }
    for (class, instructions) in &summary.compute {
        row(format!("  {class}"), *instructions);
    }
    row("barriers".into(), summary.barriers);
    row("fences".into(), summary.fences);
    row("exits".into(), summary.exits);
    row("32 B sectors of global accesses".into(), summary.global_sectors);
    row("bytes read".into(), summary.bytes_in);
    row("bytes of text".into(), summary.text_bytes);
    row("bytes written".into(), summary.bytes_out);
    let mut text = aligned(&rows, &[1]);
    text.push_str(&counts("unknown opcodes", &summary.unknown_opcodes));
    text.push_str(&counts(
        "memory instructions without addresses",
        &summary.memory_without_addresses,
    ));
    let kept = if summary.dropped > 0 { "left out" } else { "kept" };
    let title = format!("instructions without an active lane ({kept})");
    text.push_str(&counts(&title, &summary.without_lanes));
    text.push_str(&repairs(summary));
    text.extend(summary.notes.iter().map(|note| format!("note: {note}\n")));
    text
}

/// Which exits were repaired; empty if none.
fn repairs(summary: &ImportSummary) -> String {
    /// The JSON has the others.
    const NAMED: usize = 20;
    let repaired = summary.kernels.iter().filter(|kernel| kernel.repaired_exits > 0);
    let kernels: Vec<&KernelCounts> = repaired.collect();
    if kernels.is_empty() {
        return String::new();
    }
    let numbers = kernels.iter().take(NAMED).map(|kernel| kernel.number.to_string());
    let mut named = numbers.collect::<Vec<_>>().join(", ");
    if kernels.len() > NAMED {
        named += &format!(" and {} more", kernels.len() - NAMED);
    }
    let (exits, lanes) = (summary.repaired_exits, summary.repaired_lanes);
    format!(
        "exits repaired: {exits}, of {lanes} lanes that run on later, in {} kernels: {named}\n",
        kernels.len()
    )
}

/// Names and how often they occur; empty if there are none.
fn counts(title: &str, counts: &BTreeMap<impl Display, u64>) -> String {
    if counts.is_empty() {
        return String::new();
    }
    let sum: u64 = counts.values().sum();
    let lines: String = counts.iter().map(|(name, count)| format!("  {name}  {count}\n")).collect();
    format!("{title}: {sum}\n{lines}")
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

    #[test]
    fn repaired_exits_are_named_by_kernel() {
        let kernel = |number, repaired_exits| KernelCounts {
            number,
            repaired_exits,
            repaired_lanes: 2 * repaired_exits,
            ..KernelCounts::default()
        };
        let of = |kernels: Vec<KernelCounts>| ImportSummary {
            repaired_exits: kernels.iter().map(|kernel| kernel.repaired_exits).sum(),
            repaired_lanes: kernels.iter().map(|kernel| kernel.repaired_lanes).sum(),
            kernels,
            ..ImportSummary::default()
        };
        assert_eq!(repairs(&of(vec![kernel(1, 0)])), "");
        let text = repairs(&of(vec![kernel(6, 0), kernel(7, 3), kernel(8, 0), kernel(9, 1)]));
        assert_eq!(text, "exits repaired: 4, of 8 lanes that run on later, in 2 kernels: 7, 9\n");
        let many = repairs(&of((1..=25).map(|number| kernel(number, 1)).collect()));
        assert!(many.ends_with(", 19, 20 and 5 more\n"), "{many}");
    }
}
