//! The `warpmem` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    warpmem::cli().run()
}
