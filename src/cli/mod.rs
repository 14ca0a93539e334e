//! The command line: one file per command, and shared parts.
//!
//! Invariant: standard output carries only the requested results; progress, notes and errors go to
//! standard error.

mod calibrate;
#[cfg(feature = "capture")]
mod capture;
mod claims;
mod classify;
mod compare;
mod comparison;
mod completions;
mod complexity;
mod convoy;
#[cfg_attr(not(all(feature = "capture", feature = "tables")), path = "correlate/lean.rs")]
mod correlate;
mod descriptors;
mod dram;
mod exit;
mod export;
mod files;
mod format;
mod generate;
#[cfg(feature = "capture")]
mod hardware;
mod idle_dram;
mod import;
mod info;
mod interrupt;
mod list;
mod machine;
mod machines;
mod man;
mod network;
mod output;
mod points;
mod policies;
mod program;
mod program_size;
mod progress;
#[cfg(feature = "tables")]
mod query;
mod recording;
#[cfg(feature = "tables")]
mod report;
#[cfg(feature = "tables")]
mod reproduce;
mod run;
mod run_row;
mod sample;
mod suite;
mod sweep;
#[cfg_attr(not(feature = "tables"), path = "no_tables.rs")]
mod tables;
mod version;

use crate::policy::{AddError, Policy};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{FromArgMatches, Parser, Subcommand};
use std::env;
use std::process::ExitCode;

/// Returns the command line of Warpmem, to which a program may add policies of its own.
///
/// ```ignore
/// fn main() -> ExitCode {
///     warpmem::cli().with(warp_turns::ENTRY).run()
/// }
/// ```
pub fn cli() -> CommandLine {
    CommandLine { refused: None }
}

/// The command line of Warpmem and the policies that a program adds.
#[derive(Debug)]
pub struct CommandLine {
    /// First policy that could not be added.
    refused: Option<AddError>,
}

impl CommandLine {
    /// Adds a policy to the built-in ones of its slot: command line, machine files, `list`, help
    /// and errors know it by its name. If the name is taken or not valid, [`CommandLine::run`]
    /// reports it.
    #[must_use]
    pub fn with(self, policy: impl Policy) -> CommandLine {
        let refused = policy.add().err();
        CommandLine { refused: self.refused.or(refused) }
    }

    /// Executes the command line of the process and returns its exit status. Panics are caught and
    /// reported.
    pub fn run(self) -> ExitCode {
        exit::keep_panics_quiet();
        tables::keep_libraries_quiet();
        program::name_after_file();
        exit::run(|| match self.refused {
            Some(refused) => Err(refused.into()),
            None => Cli::main(),
        })
    }
}

/// Trace-driven, event-driven simulator of GPU memory systems.
///
/// Replays the memory instructions of GPU kernels, captured or generated, through SMs, L1, network,
/// L2 and DRAM under a choice of scheduling policies, and reports the results.
#[derive(Debug, Parser)]
#[command(version, arg = version::verbose_option(), max_term_width = 100, after_help = AFTER_HELP)]
struct Cli {
    /// Print only warnings, failures and omissions on standard error: no progress, notes or summary
    #[arg(short, long, global = true, display_order = 900)]
    quiet: bool,

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
  1    a fault of the program: please report it
  2    bad usage or input, or an output that cannot be written, such as a full or closed
       standard output; a reader that closes the pipe (`| head`) is no failure
  130  interrupted; finished results are kept";

/// Commands, in the order of the help. A command is a module with its arguments, `Args`, whose
/// documentation is its help, and `execute`, which executes it. Some need features of this crate.
macro_rules! commands {
    ($($command:ident => $module:ident $(if $features:meta)?,)*) => {
        #[derive(Debug, Subcommand)]
        enum Command {
            $($(#[cfg($features)])? $command(Box<$module::Args>),)*
        }

        impl Command {
            fn execute(&self) -> anyhow::Result<()> {
                match self {
                    $($(#[cfg($features)])? Command::$command(args) => $module::execute(args),)*
                }
            }
        }

        /// Commands that this build lacks.
        const ABSENT: &[&str] = &[$($(#[cfg(not($features))] stringify!($module),)?)*];
    };
}

commands! {
    Run => run,
    Compare => compare,
    Sweep => sweep,
    Classify => classify,
    Correlate => correlate,
    Calibrate => calibrate,
    Hardware => hardware if feature = "capture",
    Reproduce => reproduce if feature = "tables",
    Generate => generate,
    Suite => suite,
    Capture => capture if feature = "capture",
    Import => import,
    Export => export,
    Dram => dram,
    Network => network,
    Sample => sample,
    Query => query if feature = "tables",
    Info => info,
    Report => report if feature = "tables",
    Machine => machine,
    List => list,
    Completions => completions,
    Man => man,
}

/// Refuses a command that only other builds have.
fn check_present(error: &clap::Error) -> anyhow::Result<()> {
    match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(name)) if ABSENT.contains(&name.as_str()) => {
            anyhow::bail!("this build has no `{name}`: build with the default features")
        }
        _ => Ok(()),
    }
}

impl Cli {
    /// Executes the command of the command line. Refuses one whose outputs would overwrite its
    /// other files.
    fn main() -> anyhow::Result<()> {
        let mut command = program::command();
        let parsed = command.try_get_matches_from_mut(env::args_os()).and_then(|matches| {
            let cli =
                Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
            Ok((cli, claims::of(&command, &matches)))
        });
        match parsed {
            Ok((cli, files)) => {
                files.check()?;
                cli.execute()
            }
            Err(error) if error.use_stderr() => {
                check_present(&error)?;
                error.exit()
            }
            Err(asked) if asked.kind() == ErrorKind::DisplayVersion && version::is_verbose() => {
                output::print(&version::verbose())
            }
            Err(help) => output::written(|| help.print()),
        }
    }

    fn execute(&self) -> anyhow::Result<()> {
        if self.quiet {
            output::be_quiet();
        }
        self.command.execute()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{PolicyInfo, dram};
    use clap::CommandFactory;

    #[test]
    fn a_policy_with_a_taken_name_is_refused() {
        let info = PolicyInfo { name: "fr-fcfs", summary: "", source: "", params: Vec::new };
        let own = dram::Entry { info, build: |_, _| unreachable!() };
        let refused = cli().with(own).refused.unwrap().to_string();
        let expected =
            "dram_scheduler `fr-fcfs` cannot be added: another dram_scheduler has this name";
        assert_eq!(refused, expected);
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
