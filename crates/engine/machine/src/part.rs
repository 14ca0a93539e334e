//! DRAM parts named by `dram.standard`: `hbm2:HBM2_8Gb:HBM2_2000Mbps`.

use super::{Machine, MachineError};
use std::path::{Path, PathBuf};
use toml::Value;
use warpmem_dram::standard::{PartName, Standard, is_file};

/// The key that names a standard or a part.
pub(super) const STANDARD: &str = "dram.standard";

/// Whether a value of `dram.standard` names a part rather than a standard alone.
pub(super) fn is_part(key: &str, value: &Value) -> bool {
    key == STANDARD && value.as_str().is_some_and(|text| text.contains(':'))
}

/// Replaces organisation, times, currents and clock of the machine's channels by those of a part, and
/// fits the address map to them. The number of channels, queues and policies stay.
///
/// # Errors
/// An unknown standard, organisation or speed, or a part that the model cannot run.
pub(super) fn fit(machine: &mut Machine, text: &str, folder: &Path) -> Result<(), MachineError> {
    let name = PartName::read(text);
    let dram = &mut machine.dram;
    let layout = dram.layout()?;
    let folder = if is_file(name.standard) { folder.to_owned() } else { PathBuf::new() };
    name.standard.clone_into(&mut dram.standard);
    dram.standard_folder.clone_from(&folder);
    let standard = Standard::of(dram)?;
    let (organisation, speed) = standard.part(&name)?;
    machine.clocks.dram_mhz = standard.apply(organisation, speed, dram)?.mhz();
    // The machine does not depend on the folder of the file.
    name.standard.clone_into(&mut dram.standard);
    dram.standard_folder = folder;
    let rows = standard.organisations()[organisation].rows;
    dram.address = dram.address_space()?.refit(&layout, rows);
    Ok(())
}
