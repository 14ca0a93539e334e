//! `warpmem suite`: named and versioned sets of workloads.

pub mod get;
mod list;
mod name;

pub use name::SuiteName;

/// List suites of workloads, and generate their traces
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    List(list::Args),
    Get(get::Args),
}

const AFTER_HELP: &str = "\
Examples:
  warpmem suite list
  warpmem suite get llm --size small -o llm/";

pub fn execute(args: &Args) -> anyhow::Result<()> {
    match &args.command {
        Command::List(args) => list::execute(args),
        Command::Get(args) => get::execute(args),
    }
}
