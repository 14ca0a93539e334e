//! The command line of Warpmem with two more policies.

mod strided;
mod warp_turns;

use std::process::ExitCode;

fn main() -> ExitCode {
    warpmem::cli().with(warp_turns::ENTRY).with(strided::ENTRY).run()
}
