//! Configuration files of GPGPU-Sim and Accel-Sim (`gpgpusim.config`, `trace.config`) as machines.
//!
//! A file is a list of `-option value`. Options with a counterpart become values of keys, on top of
//! the preset that mirrors the simulator, each with its option and line. The others are collected
//! with the reason why they have no key. This module knows no units and policies; values are
//! checked like those of any machine file.

mod cache;
mod dram;
mod left_out;
mod mapping;
mod options;
mod sm;
mod toml_text;

#[cfg(test)]
mod tests;

use super::MachineError;
use super::error::Origin;
use mapping::Mapping;
use options::Options;
use std::path::{Path, PathBuf};
use toml::Value;

/// A machine described by configuration files.
#[derive(Debug)]
pub struct Conversion {
    /// Preset that supplies the values missing in the files.
    pub(super) base: &'static str,
    pub(super) name: String,
    pub(super) description: String,
    files: Vec<PathBuf>,
    pub(super) values: Vec<Mapped>,
    left_out: Vec<LeftOut>,
}

/// The value of a key from an option.
#[derive(Clone, Debug)]
pub(super) struct Mapped {
    pub(super) key: &'static str,
    pub(super) value: Value,
    /// Place of the option in the files; none for a default of the simulator.
    pub(super) origin: Option<Origin>,
    pub(super) source: String,
}

/// An option without a counterpart in the machine.
#[derive(Debug)]
struct LeftOut {
    /// `-option value`
    option: String,
    origin: Origin,
    reason: &'static str,
}

/// Whether a text is a list of options rather than TOML, whose keys never begin with a dash.
pub(super) fn is_configuration(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim_start);
    lines.find(|line| !line.is_empty() && !line.starts_with('#')).is_some_and(options::is_name)
}

/// Converts the options in `text`, the contents of `path`, with the files named by `-config` and
/// `trace.config` of the same folder.
///
/// # Errors
/// If a file cannot be read or an option has an invalid value.
pub(super) fn convert(path: &Path, text: &str) -> Result<Conversion, MachineError> {
    let options = Options::read(path, text)?;
    let files = options.files().to_vec();
    let names: Vec<String> = files.iter().map(|path| file_name(path)).collect();
    let mut mapping = Mapping::new(options, path);
    // HBM has two command buses.
    let is_hbm = mapping.take_or("-dram_dual_bus_interface", "0").flag()?;
    let base = if is_hbm { "accelsim-qv100" } else { "accelsim-rtx2060s" };
    sm::map(&mut mapping)?;
    dram::map(&mut mapping)?;
    cache::map(&mut mapping)?;
    let (values, left_out) = mapping.finish();
    let description = format!("options of {} on top of {base}", names.join(" and "));
    Ok(Conversion { base, name: name(path), description, files, values, left_out })
}

/// Returns the name of the folder for a file called `gpgpusim.config`, which all of them are.
fn name(path: &Path) -> String {
    let stem = path.file_stem().filter(|stem| *stem != "gpgpusim");
    let folder = path.parent().and_then(Path::file_name);
    let name = stem.or(folder).or(path.file_stem());
    name.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

impl Conversion {
    /// Returns the number of options without a counterpart.
    pub fn options_left_out(&self) -> usize {
        self.left_out.len()
    }
}
