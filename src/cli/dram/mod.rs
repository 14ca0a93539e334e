//! `warpmem dram`: DRAM channels on their own.

mod map;

use clap::Subcommand;

/// Look at DRAM channels on their own
#[derive(clap::Args, Debug)]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Map(map::Args),
}

pub fn execute(args: &Args) -> anyhow::Result<()> {
    match &args.command {
        Command::Map(args) => map::execute(args),
    }
}
