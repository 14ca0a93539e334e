//! `warpmem generate`: one subcommand per generator, from their registry.

use super::format::capitalised;
use super::interrupt::Interrupt;
use super::list;
use super::output::{note, print};
use super::progress::bar;
use anyhow::Context;
use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Command, Error, FromArgMatches, Subcommand, ValueHint, value_parser};
use indicatif::HumanCount;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use warpmem::workload::{self, Generator, Parameter, Progress, generators};

/// Run a kernel on data made for it and write the trace
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP, arg_required_else_help = true, subcommand_value_name = "KERNEL", subcommand_help_heading = "Kernels")]
pub struct Args {
    /// List the kernels with their parameters
    #[arg(long)]
    list: bool,
    #[command(subcommand)]
    kernel: Option<Kernel>,
}

const AFTER_HELP: &str = "\
The same kernel, parameters and seed give the same file, byte for byte. Numbers may be powers: 2^18.

Examples:
  warpmem generate bfs --help
  warpmem generate bfs --graph rmat --nodes 2^14 --seed 1 -o bfs.wmt
  warpmem generate spmv --variant vector --matrix banded -o spmv.wmt";

/// A kernel and what it is told.
#[derive(Clone, Debug)]
struct Kernel {
    name: String,
    parameters: BTreeMap<String, String>,
    seed: u64,
    output: PathBuf,
}

// No parameter of a generator is called as these are; a test of the command line sees to it.
const SEED: &str = "seed";
const OUTPUT: &str = "output";

impl Subcommand for Kernel {
    fn augment_subcommands(command: Command) -> Command {
        // A name that is no kernel's comes through too, to be answered with those that are.
        command.subcommands(generators().iter().map(subcommand)).allow_external_subcommands(true)
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(_: &str) -> bool {
        true
    }
}

impl FromArgMatches for Kernel {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let Some((name, matches)) = matches.subcommand() else {
            return Err(Error::raw(ErrorKind::MissingSubcommand, "no kernel is named"));
        };
        let value = |parameter: &Parameter| {
            let text = matches.get_one::<String>(parameter.name)?;
            Some((parameter.name.to_owned(), text.clone()))
        };
        let unknown = |error| Error::raw(ErrorKind::InvalidSubcommand, format!("{error}\n"));
        let generator = workload::find(name).map_err(unknown)?;
        Ok(Kernel {
            name: name.to_owned(),
            parameters: generator.parameters().filter_map(value).collect(),
            seed: matches.get_one(SEED).copied().unwrap_or_default(),
            output: matches.get_one(OUTPUT).cloned().unwrap_or_default(),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn subcommand(generator: &Generator) -> Command {
    let seed = Arg::new(SEED)
        .long(SEED)
        .value_name("N")
        .value_parser(value_parser!(u64))
        .default_value("1")
        .help("What chance is drawn from");
    let output = Arg::new(OUTPUT)
        .long(OUTPUT)
        .short('o')
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .value_hint(ValueHint::FilePath)
        .required(true)
        .help("Trace to write (.wmt)");
    Command::new(generator.name)
        .about(capitalised(generator.summary))
        .after_help(format!("Source: {}", generator.source))
        .args(generator.parameters().map(option))
        .args([seed, output])
}

fn option(parameter: &Parameter) -> Arg {
    let arg = Arg::new(parameter.name)
        .long(parameter.name)
        .default_value(parameter.default())
        .help(parameter.summary);
    match parameter.choices() {
        choices if !choices.is_empty() => arg.value_name("NAME").value_parser(choices),
        _ => arg.value_name("N").help(format!("{} ({})", parameter.summary, parameter.range())),
    }
}

pub fn execute(args: &Args) -> anyhow::Result<()> {
    match &args.kernel {
        Some(kernel) => generate(kernel),
        None => print(&list::generators_as_text()),
    }
}

fn generate(kernel: &Kernel) -> anyhow::Result<()> {
    let interrupt = Interrupt::install()?;
    let bar = bar("{bar:30} {pos}/{len} CTAs of {msg}");
    let mut progress = |progress: &Progress| {
        bar.set_length(progress.ctas);
        bar.set_position(progress.ctas_done);
        bar.set_message(format!("{}, launch {}", progress.kernel, progress.kernels_done + 1));
        if interrupt.is_asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let Kernel { name, parameters, seed, output } = kernel;
    let trace = workload::generate(name, parameters, *seed, output, &mut progress)
        .with_context(|| format!("failed to generate {}", output.display()))?;
    bar.finish_and_clear();
    note(&format!(
        "{}: kernels {}, warp instructions {}, records {}, bytes {}",
        output.display(),
        trace.kernels,
        HumanCount(trace.warp_instructions),
        HumanCount(trace.records),
        HumanCount(trace.file_bytes)
    ));
    Ok(())
}
