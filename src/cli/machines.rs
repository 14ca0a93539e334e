//! Options that select the machine.

use super::files::NamesFiles;
use super::output::warn;
use crate::dram::Dram;
use crate::dram::standard::is_file;
use crate::files::claims::{Claims, Clash};
use crate::machine::{Machine, MachineError, load_with_conversion, preset_names};
use clap::Args;
use std::fmt;
use std::ops::Deref;
use std::path::Path;

/// Help of `--machine`, shared by the commands that take one or several.
pub const MACHINE_HELP: &str =
    "Name of a machine (see `warpmem list machines`), a TOML file or a gpgpusim.config";

/// Name of a machine, or a TOML file.
#[derive(Clone, Debug)]
pub struct MachineName(String);

impl From<String> for MachineName {
    fn from(name: String) -> MachineName {
        MachineName(name)
    }
}

impl fmt::Display for MachineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Deref for MachineName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl NamesFiles for MachineName {
    fn claim(&self, option: &str, claims: &mut Claims) {
        claim_machine(&self.0, option, claims);
    }
}

/// Adds the file of a machine that is not a preset.
pub fn claim_machine(name_or_path: &str, option: &str, claims: &mut Claims) {
    if preset_names().any(|preset| preset == name_or_path) {
        return;
    }
    let path = Path::new(name_or_path);
    claims.read(option, path);
    // A configuration of GPGPU-Sim is read together with `trace.config` in its folder.
    if path.extension().is_some_and(|extension| extension == "config") {
        claims.read(option, &path.with_file_name("trace.config"));
    }
}

/// Refuses outputs, given with their options, that would overwrite the file of a DRAM standard.
pub fn check_standard(dram: &Dram, outputs: &[(&str, Option<&Path>)]) -> Result<(), Clash> {
    let mut files = Claims::default();
    if is_file(&dram.standard) {
        files.read("DRAM standard", Path::new(&dram.standard));
    }
    for (option, path) in outputs {
        path.iter().for_each(|path| files.write(option, path));
    }
    files.check()
}

/// Overrides of machine parameters.
#[derive(Args, Clone, Debug)]
pub struct Overrides {
    /// Override a machine parameter, as in `dram.read_queue=128`; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub overrides: Vec<String>,
}

/// Overrides of machine parameters, and the accuracy of runs.
#[derive(Args, Clone, Debug)]
pub struct RunOverrides {
    #[command(flatten)]
    overrides: Overrides,
    /// Sample: simulate enough launches, and CTAs of long launches, to know the cycles of the run within
    /// SHARE (95 % interval), and extrapolate the others. `--error 1%` is short for
    /// `--set run.error_permille=10`
    #[arg(long, value_name = "SHARE", value_parser = parse_error)]
    error: Option<u32>,
    /// Start after the first N launches, with L2 as their accesses leave it. Short for `--set
    /// run.fast_forward=N`
    #[arg(long, value_name = "N")]
    fast_forward: Option<u32>,
}

impl RunOverrides {
    /// Returns all options as overrides.
    pub fn all(&self) -> Overrides {
        let mut all = self.overrides.clone();
        all.overrides.extend(self.error.map(|permille| format!("run.error_permille={permille}")));
        all.overrides.extend(self.fast_forward.map(|n| format!("run.fast_forward={n}")));
        all
    }
}

/// Reads a share such as `1%`, in thousandths.
pub fn parse_error(text: &str) -> Result<u32, String> {
    let number = text.strip_suffix('%').map(|percent| percent.trim_end().parse::<f64>());
    let permille = number.and_then(Result::ok).map(|percent| (10.0 * percent).round());
    let valid = permille.filter(|permille| (1.0..=200.0).contains(permille));
    valid
        .map(|permille| permille as u32)
        .ok_or_else(|| "valid are 0.1% to 20%, as in 1%".to_owned())
}

impl Overrides {
    /// Opens the machine with this name or file, and applies the overrides. Warns of a changed
    /// clock without its timings, and of options that the machine lacks.
    pub fn apply(&self, name_or_path: &str) -> Result<Machine, MachineError> {
        let (machine, conversion) = load_with_conversion(name_or_path, &self.overrides)?;
        if let Some(left_out) = conversion.map(|of| of.options_left_out()) {
            warn(&format!(
                "{name_or_path}: {left_out} options have no counterpart; `warpmem machine show {name_or_path}` lists them"
            ));
        }
        machine.clock_warnings().iter().for_each(|warning| warn(warning));
        Ok(machine)
    }
}
