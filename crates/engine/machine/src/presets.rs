//! The machines that come with the program.

use super::{Machine, MachineError};
use warpmem_dram::GivenTimes;
use warpmem_params::nearest;

/// Name and text of each file in `presets/`.
const PRESETS: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/presets.rs"));

/// Names of all presets.
pub fn preset_names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|&(name, _)| name)
}

/// The TOML text of a preset, comments included.
pub fn preset_text(name: &str) -> Option<&'static str> {
    PRESETS.iter().find(|&&(n, _)| n == name).map(|&(_, text)| text)
}

/// The preset called `name`.
pub(super) fn preset(name: &str) -> Result<Machine, MachineError> {
    let text = preset_text(name).ok_or_else(|| MachineError::UnknownMachine {
        name: name.to_owned(),
        nearest: nearest(name, preset_names()),
        valid: preset_names().collect::<Vec<_>>().join(", "),
    })?;
    let mut machine: Machine = toml::from_str(text).expect("presets are complete machines");
    machine.dram.given = GivenTimes::of_clock(machine.clocks.dram_mhz);
    Ok(machine)
}
