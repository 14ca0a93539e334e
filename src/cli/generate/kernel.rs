//! `warpmem generate KERNEL`: one trace.

use super::super::interrupt::Interrupt;
use super::super::output::{note, warn};
use super::super::program;
use super::super::progress::{bar, style};
use crate::cli::files::{InputFile, OutputFile};
use crate::params::parse_whole;
use crate::trace::Ranges;
use crate::workload::{self, Generated, Generator, Parameter, Progress, Request};
use anyhow::Context;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, ValueHint, value_parser};
use indicatif::HumanCount;
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;
use warpmem_support::text::capitalised;
use warpmem_trace::TraceSummary;

/// A kernel and its options.
#[derive(Clone, Debug)]
pub struct Kernel {
    request: Request,
    /// Number of successive seeds, each with a trace of its own; none for a single trace.
    seeds: Option<u64>,
    output: OutputFile,
}

// No generator has a parameter with one of these names; a test of the command line checks this.
const SEED: &str = "seed";
const SEEDS: &str = "seeds";
/// Largest number of seeds of a command.
const MOST_SEEDS: u64 = 10_000;
const KERNELS: &str = "kernels";
const OUTPUT: &str = "output";

impl Kernel {
    pub fn from_matches(generator: &Generator, matches: &ArgMatches) -> Kernel {
        // Passes only what was typed: some parameters exclude others, even with default values.
        let value = |parameter: &Parameter| {
            let typed = matches.value_source(parameter.name()) == Some(ValueSource::CommandLine);
            let text = text_of(parameter, matches).filter(|_| typed)?;
            Some((parameter.name().to_owned(), text))
        };
        let request = Request {
            kernel: generator.name.to_owned(),
            parameters: generator.parameters().filter_map(value).collect(),
            seed: matches.get_one(SEED).copied().unwrap_or_default(),
            launches: matches.get_one(KERNELS).cloned().unwrap_or_else(Ranges::all),
        };
        let output = matches.get_one(OUTPUT).cloned().expect("it is required");
        Kernel { request, seeds: matches.get_one(SEEDS).copied(), output }
    }

    /// Returns the traces to generate: files and requests.
    fn traces(&self) -> Vec<(PathBuf, Request)> {
        let Kernel { request, seeds, output } = self;
        let Some(seeds) = seeds else {
            return vec![(output.to_path_buf(), request.clone())];
        };
        let seeds = (0..*seeds).map_while(|further| request.seed.checked_add(further));
        let trace = |seed| (of_seed(output, seed), Request { seed, ..request.clone() });
        seeds.map(trace).collect()
    }
}

/// Returns the file of a seed: `bfs-seed3.wmt` for `bfs.wmt`.
fn of_seed(output: &Path, seed: u64) -> PathBuf {
    let mut name = output.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-seed{seed}"));
    if let Some(extension) = output.extension() {
        name.push(".");
        name.push(extension);
    }
    output.with_file_name(name)
}

/// Returns the value of a parameter.
fn text_of(parameter: &Parameter, matches: &ArgMatches) -> Option<String> {
    match parameter.is_path() {
        true => {
            let file = matches.get_one::<InputFile>(parameter.name())?;
            Some(file.to_string_lossy().into_owned())
        }
        false => matches.get_one(parameter.name()).cloned(),
    }
}

/// Returns the command of a generator. Its options and long help are added when the command is used.
pub fn command(generator: &Generator) -> Command {
    Command::new(generator.name).about(capitalised(generator.summary)).defer(|command| {
        let generator =
            workload::find(command.get_name()).expect("commands are named after generators");
        program::completed(with_options(command, generator))
    })
}

fn with_options(command: Command, generator: &Generator) -> Command {
    let seed = Arg::new(SEED)
        .long(SEED)
        .value_name("N")
        .value_parser(|text: &str| parse_whole(text).ok_or("valid: a whole number, as 7 or 2^10"))
        .default_value("1")
        .help("Seed of the random numbers");
    let seeds = Arg::new(SEEDS)
        .long(SEEDS)
        .value_name("N")
        .value_parser(value_parser!(u64).range(1..=MOST_SEEDS))
        .help(
            "Write a trace for each of N seeds, from --seed on, to NAME-seedS.wmt: repeats of one workload",
        );
    let kernels = Arg::new(KERNELS)
        .long(KERNELS)
        .value_name("A..B,…")
        .value_parser(str::parse::<Ranges>)
        .help("Launches to put into the trace, numbered from 0, B excluded; all by default");
    let output = Arg::new(OUTPUT)
        .long(OUTPUT)
        .short('o')
        .value_name("FILE")
        .value_parser(value_parser!(OutputFile))
        .value_hint(ValueHint::FilePath)
        .required(true)
        .help("Trace to write (.wmt)");
    command
        .long_about(format!("{}\n\n{}", capitalised(generator.summary), generator.description()))
        .after_help(format!("Source: {}", generator.source))
        .args(generator.parameters().map(option))
        .args([seed, seeds, kernels, output])
        .allow_negative_numbers(true)
}

fn option(parameter: &Parameter) -> Arg {
    let arg = Arg::new(parameter.name())
        .long(parameter.name())
        .default_value(parameter.default())
        .help(parameter.description());
    match parameter.choices() {
        choices if !choices.is_empty() => arg.value_name("NAME").value_parser(choices),
        _ if parameter.is_flag() => arg
            .value_name("BOOL")
            .value_parser(["false", "true"])
            .num_args(0..=1)
            .default_missing_value("true"),
        _ if parameter.is_path() => {
            let arg = arg.value_name("FILE").value_hint(ValueHint::FilePath);
            arg.value_parser(value_parser!(InputFile))
        }
        _ => {
            arg.value_name("N").help(format!("{} ({})", parameter.description(), parameter.range()))
        }
    }
}

pub fn execute(kernel: &Kernel) -> anyhow::Result<()> {
    let interrupt = Interrupt::install()?;
    let mut contents = HashSet::new();
    let traces = kernel.traces();
    for (output, request) in &traces {
        let trace = generate(request, output, &interrupt)?;
        contents.insert(trace.content_hash);
    }
    if contents.len() < traces.len() {
        warn("some of these traces are equal: the seed has little or no effect on this workload");
    }
    Ok(())
}

/// Generates a trace, and reports its size.
fn generate(
    request: &Request,
    output: &Path,
    interrupt: &Interrupt,
) -> anyhow::Result<TraceSummary> {
    let bar = bar("{spinner} making the input · {elapsed}");
    bar.enable_steady_tick(Duration::from_millis(200));
    let mut progress = |progress: &Progress| {
        if bar.length() == Some(0) {
            bar.set_style(style("{bar:30} {pos}/{len} CTAs of {msg} · {rate} · {eta} left"));
        }
        bar.set_length(progress.ctas);
        bar.set_position(progress.ctas_done);
        bar.set_message(format!("{}, launch {}", progress.kernel, progress.kernels_done));
        if interrupt.is_asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let Generated { trace, notes } = request
        .generate_until(&interrupt.stop(), output, &mut progress)
        .with_context(|| format!("failed to generate {}", output.display()))?;
    bar.finish_and_clear();
    notes.iter().for_each(|line| note(line));
    note(&format!(
        "{}: kernels {}, warp instructions {}, records {}, bytes {}",
        output.display(),
        trace.kernels,
        HumanCount(trace.warp_instructions),
        HumanCount(trace.records),
        HumanCount(trace.file_bytes)
    ));
    Ok(trace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_a_seed_keeps_folder_and_extension() {
        assert_eq!(of_seed(Path::new("a/b.c.wmt"), 3), Path::new("a/b.c-seed3.wmt"));
        assert_eq!(of_seed(Path::new("b"), 12), Path::new("b-seed12"));
    }
}
