//! The `warpmem` command.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::keep_panics_quiet();
    cli::keep_libraries_quiet();
    cli::run(cli::Cli::main)
}
