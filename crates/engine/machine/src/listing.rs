//! The text of a preset with all values of the machine, for readers.

use super::load::{flatten, leaves};
use super::presets::{preset, preset_text};
use std::fmt::Write;
use toml::Table;

/// Returns the text of a preset, followed by the values that it takes from its base and from the
/// neutral defaults, as comments.
pub fn preset_listing(name: &str) -> Option<String> {
    let mut text = preset_text(name)?.to_owned();
    let own: Table = toml::from_str(&text).expect("presets are TOML");
    let base = own.get("base").and_then(|base| base.as_str());
    text += &match base {
        Some(base) => format!("\n# From {base} and the neutral defaults:\n"),
        None => "\n# Neutral defaults:\n".to_owned(),
    };
    let stated = leaves(own);
    let machine = preset(name).expect("a preset with a text is a machine");
    for (key, value) in flatten(&machine) {
        if stated.iter().all(|(own, _)| *own != key) {
            writeln!(text, "# {key} = {value}").expect("text grows");
        }
    }
    Some(text)
}
