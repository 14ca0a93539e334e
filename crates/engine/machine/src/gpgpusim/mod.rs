//! Configuration files of GPGPU-Sim and Accel-Sim (`gpgpusim.config`, `trace.config`) as machines.
//!
//! A file is a list of `-option value`. Options with a counterpart become values of keys, on top of
//! the preset that mirrors that simulator; each remembers its option and line. The others are
//! collected with the reason why the machine does not have them. Units and policies are not known
//! here: values are checked as those of any machine file.

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

/// A machine that configuration files describe.
#[derive(Debug)]
pub struct Conversion {
    /// Preset whose values hold where the files are silent.
    pub(super) base: &'static str,
    pub(super) name: String,
    pub(super) description: String,
    files: Vec<PathBuf>,
    pub(super) values: Vec<Mapped>,
    left_out: Vec<LeftOut>,
}

/// A value that an option gives to a key.
#[derive(Clone, Debug)]
pub(super) struct Mapped {
    pub(super) key: &'static str,
    pub(super) value: Value,
    /// Where the files give the option; none for a default of the simulator.
    pub(super) origin: Option<Origin>,
    pub(super) source: String,
}

/// An option that the machine does not have.
#[derive(Debug)]
struct LeftOut {
    /// `-option value`
    option: String,
    origin: Origin,
    reason: &'static str,
}

/// Whether a text is a list of options, not TOML: no key of a machine begins with a dash.
pub(super) fn is_configuration(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim_start);
    lines.find(|line| !line.is_empty() && !line.starts_with('#')).is_some_and(options::is_name)
}

/// The machine that the options in `text`, the contents of `path`, describe. Files that `-config`
/// names are read too, and `trace.config` of the same folder.
///
/// # Errors
/// If a file cannot be read or an option has a value that it cannot have.
pub(super) fn convert(path: &Path, text: &str) -> Result<Conversion, MachineError> {
    let options = Options::read(path, text)?;
    let files = options.files().to_vec();
    let names: Vec<String> = files.iter().map(|path| file_name(path)).collect();
    let mut mapping = Mapping::new(options, path);
    // HBM has two command buses.
    let is_hbm = mapping.take_or("-dram_dual_bus_interface", "0").flag()?;
    let base = if is_hbm { "v100" } else { "rtx2060s" };
    sm::map(&mut mapping)?;
    dram::map(&mut mapping)?;
    cache::map(&mut mapping)?;
    let (values, left_out) = mapping.finish();
    let description = format!("options of {} on top of {base}", names.join(" and "));
    Ok(Conversion { base, name: name(path), description, files, values, left_out })
}

/// The folder's name where the file is called `gpgpusim.config`, as all of them are.
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
    /// Number of options that the machine does not have.
    pub fn options_left_out(&self) -> usize {
        self.left_out.len()
    }
}
