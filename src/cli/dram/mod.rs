//! `warpmem dram`: stand-alone DRAM channels.

pub mod check;
mod map;
mod rows;
mod stream;

use clap::Subcommand;

/// Drive stand-alone DRAM channels with generated requests or those of a file
#[derive(clap::Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true, subcommand_negates_reqs = true, arg_required_else_help = true,
    after_help = stream::AFTER_HELP
)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    stream: stream::StreamArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    Map(map::Args),
    Check(check::Args),
}

pub fn execute(args: &Args) -> anyhow::Result<()> {
    match &args.command {
        Some(Command::Map(args)) => map::execute(args),
        Some(Command::Check(args)) => check::execute(args),
        None => stream::execute(&args.stream),
    }
}
