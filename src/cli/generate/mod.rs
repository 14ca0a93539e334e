//! `warpmem generate`: a subcommand per generator, from the registry, and one for suites.

mod kernel;
pub mod suite;

use super::list;
use super::output::print;
use crate::workload;
use crate::workload::generators;
use clap::error::ErrorKind;
use clap::{ArgMatches, Command, Error, FromArgMatches, Subcommand};

/// Run a kernel on generated data and write the trace
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP, arg_required_else_help = true, subcommand_value_name = "KERNEL", subcommand_help_heading = "Kernels")]
pub struct Args {
    /// List the kernels, one per line
    #[arg(long)]
    list: bool,
    #[command(subcommand)]
    target: Option<Target>,
}

const AFTER_HELP: &str = "\
The same kernel, parameters and seed give the same file, byte for byte. Numbers may be powers: 2^18.

Examples:
  warpmem generate bfs --help
  warpmem generate bfs --graph rmat --nodes 2^14 --seed 1 -o bfs.wmt
  warpmem generate bfs --graph rmat --nodes 2^14 --seeds 5 -o bfs.wmt
  warpmem generate spmv --variant vector --matrix banded -o spmv.wmt
  warpmem generate suite --size small -o suite/";

/// A workload, a suite of workloads, or a list of them.
#[derive(Clone, Debug)]
enum Target {
    Kernel(kernel::Kernel),
    Suite(suite::Args),
}

// No generator has this name; a test of the command line checks this.
const SUITE: &str = "suite";

impl Subcommand for Target {
    fn augment_subcommands(command: Command) -> Command {
        // Accepts unknown names, so that the error can list the known kernels.
        let command = command.subcommands(generators().iter().map(kernel::command));
        command.subcommand(suite::command(SUITE)).allow_external_subcommands(true)
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(_: &str) -> bool {
        true
    }
}

impl FromArgMatches for Target {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let Some((name, matches)) = matches.subcommand() else {
            return Err(Error::raw(ErrorKind::MissingSubcommand, "no kernel is named"));
        };
        if name == SUITE {
            return suite::Args::from_arg_matches(matches).map(Target::Suite);
        }
        let unknown =
            |error| Error::raw(ErrorKind::InvalidSubcommand, format!("{error}; or `{SUITE}`\n"));
        let generator = workload::find(name).map_err(unknown)?;
        Ok(Target::Kernel(kernel::Kernel::from_matches(generator, matches)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

pub fn execute(args: &Args) -> anyhow::Result<()> {
    match &args.target {
        Some(Target::Kernel(kernel)) => kernel::execute(kernel),
        Some(Target::Suite(args)) => suite::execute(args),
        None => print(&list::generators_as_text()),
    }
}
