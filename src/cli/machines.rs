//! Options that select the machine.

use super::output::warn;
use clap::Args;
use warpmem::machine::{Machine, MachineError, load};

/// Help of `--machine`, shared by the commands that take one or several.
pub const MACHINE_HELP: &str = "Name of a machine (see `warpmem list machines`) or a TOML file";

/// Overrides of machine parameters.
#[derive(Args, Clone, Debug)]
pub struct Overrides {
    /// Override a machine parameter, as in `dram.read_queue=128`; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub overrides: Vec<String>,
}

impl Overrides {
    /// The machine with this name or file, and the overrides. Warns of a clock without its times.
    pub fn apply(&self, name_or_path: &str) -> Result<Machine, MachineError> {
        let machine = load(name_or_path, &self.overrides)?;
        machine.clock_warnings().iter().for_each(|warning| warn(warning));
        Ok(machine)
    }
}
