//! The machines that come with the program. A preset states the values that differ from its base, another
//! preset, or from the neutral defaults of the keys.

use super::{Machine, MachineError};
use serde::Deserialize;
use toml::{Table, Value};
use warpmem_dram::GivenTimes;
use warpmem_params::nearest;

/// Names and texts of the files in `presets/`.
const PRESETS: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/presets.rs"));

/// Preset of commands and plans that name no machine: the chip with the most validation.
pub const DEFAULT_MACHINE: &str = "v100";

/// Returns the names of all presets.
pub fn preset_names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|&(name, _)| name)
}

/// Returns the TOML text of a preset, comments included.
pub fn preset_text(name: &str) -> Option<&'static str> {
    PRESETS.iter().find(|&&(n, _)| n == name).map(|&(_, text)| text)
}

/// Returns the preset called `name`.
pub(super) fn preset(name: &str) -> Result<Machine, MachineError> {
    let mut machine = Machine::deserialize(table(name)?).expect("presets are complete machines");
    machine.dram.given = GivenTimes::of_clock(machine.clocks.dram_mhz);
    Ok(machine)
}

/// Returns the values that a preset and its bases state.
fn table(name: &str) -> Result<Table, MachineError> {
    let text = preset_text(name).ok_or_else(|| MachineError::UnknownMachine {
        name: name.to_owned(),
        nearest: nearest(name, preset_names()),
        valid: preset_names().collect::<Vec<_>>().join(", "),
    })?;
    let mut own: Table = toml::from_str(text).expect("presets are TOML");
    let Some(base) = own.remove("base") else { return Ok(own) };
    let mut whole = table(base.as_str().expect("a base is a name"))?;
    replace(&mut whole, own);
    Ok(whole)
}

/// Replaces values by those of `own`, key by key.
fn replace(values: &mut Table, own: Table) {
    for (key, value) in own {
        match (values.get_mut(&key), value) {
            (Some(Value::Table(values)), Value::Table(own)) => replace(values, own),
            (_, value) => drop(values.insert(key, value)),
        }
    }
}
