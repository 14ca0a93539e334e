//! The machines that come with the program.

use super::{Machine, MachineError};
use warpmem_params::nearest;

const PRESETS: &[(&str, &str)] = &[
    ("li2015", include_str!("presets/li2015.toml")),
    ("owl2013", include_str!("presets/owl2013.toml")),
    ("calrs2015", include_str!("presets/calrs2015.toml")),
    ("yuan2009", include_str!("presets/yuan2009.toml")),
    ("warpedmc2023", include_str!("presets/warpedmc2023.toml")),
    ("v100", include_str!("presets/v100.toml")),
    ("rtx2060s", include_str!("presets/rtx2060s.toml")),
];

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
    Ok(toml::from_str(text).expect("presets are complete machines"))
}
