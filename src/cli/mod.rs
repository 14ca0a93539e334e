//! The command line: one file per command, and what they share.
//!
//! Invariant: standard output carries only what a command was asked for; progress, notes and errors go to
//! standard error.

mod baseline;
mod cells;
mod classify;
mod compare;
mod complexity;
mod correlate;
mod descriptors;
mod dram;
mod exit;
mod export;
mod format;
mod generate;
mod import;
mod info;
mod interrupt;
mod list;
mod machines;
mod network;
mod output;
mod plot_file;
mod policies;
mod progress;
mod query;
mod recording;
mod report;
mod reproduce;
mod run;
mod run_row;
mod sample;
mod slots;
mod sweep;
mod traces;

use clap::{Parser, Subcommand};

pub use exit::{keep_panics_quiet, run};

/// Trace-driven, event-driven simulator of GPU memory systems.
///
/// Replays the memory instructions of GPU kernels, captured or generated, through SMs, L1, network, LLC and
/// DRAM under scheduling policies to choose from, and reports what came of it.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, after_help = AFTER_HELP)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Examples:
  warpmem compare sample-traces/*.wmt --dram-scheduler fcfs,banked-fifo,fr-fcfs --baseline fr-fcfs
  warpmem generate bfs --graph rmat --nodes 2^14 -o bfs.wmt
  warpmem run bfs.wmt --machine li2015 --dram-scheduler fr-fcfs

Exit status:
  0    done
  1    a failure of the program itself: please report it
  2    bad usage or bad input, or an output that cannot be written, as standard output
       that is full or closed; a reader that goes away (`| head`) is no failure
  130  interrupted; what had been finished is kept";

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Args),
    Compare(compare::Args),
    Sweep(sweep::Args),
    Classify(classify::Args),
    Correlate(Box<correlate::Args>),
    Reproduce(reproduce::Args),
    Generate(generate::Args),
    Import(import::Args),
    Export(export::Args),
    Dram(Box<dram::Args>),
    Network(Box<network::Args>),
    Sample(Box<sample::Args>),
    Query(query::Args),
    Info(info::Args),
    Report(report::Args),
    List(list::Args),
}

impl Cli {
    /// Carries out the command of the command line.
    pub fn main() -> anyhow::Result<()> {
        match Cli::try_parse() {
            Ok(cli) => cli.execute(),
            Err(error) if error.use_stderr() => error.exit(),
            Err(help) => output::written(|| help.print()),
        }
    }

    /// Carries out the command.
    fn execute(self) -> anyhow::Result<()> {
        match self.command {
            Command::Run(args) => run::execute(&args),
            Command::Compare(args) => compare::execute(&args),
            Command::Sweep(args) => sweep::execute(&args),
            Command::Classify(args) => classify::execute(&args),
            Command::Correlate(args) => correlate::execute(&args),
            Command::Reproduce(args) => reproduce::execute(&args),
            Command::Generate(args) => generate::execute(&args),
            Command::Import(args) => import::execute(&args),
            Command::Export(args) => export::execute(&args),
            Command::Dram(args) => dram::execute(&args),
            Command::Network(args) => network::execute(&args),
            Command::Sample(args) => sample::execute(&args),
            Command::Query(args) => query::execute(&args),
            Command::Info(args) => info::execute(&args),
            Command::Report(args) => report::execute(&args),
            Command::List(args) => list::execute(&args),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
