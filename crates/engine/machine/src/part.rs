//! A DRAM part that `dram.standard` names: `hbm2:HBM2_8Gb:HBM2_2000Mbps`.

use super::{Machine, MachineError};
use std::path::{Path, PathBuf};
use toml::Value;
use warpmem_dram::standard::{PartName, Standard, is_file};

/// The key that names a standard, or a part of one.
pub(super) const STANDARD: &str = "dram.standard";

/// Whether a value of `dram.standard` names an organisation of it, not the standard alone.
pub(super) fn is_part(key: &str, value: &Value) -> bool {
    key == STANDARD && value.as_str().is_some_and(|text| text.contains(':'))
}

/// Makes the machine's channels, as many as it has, those of a part: organisation, times, currents
/// and clock. The address map is made to fit; queues and policies stay.
///
/// # Errors
/// An unknown standard, organisation or speed, or one that no channel can be.
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
    // The machine is the same wherever the file lies.
    name.standard.clone_into(&mut dram.standard);
    dram.standard_folder = folder;
    let rows = standard.organisations()[organisation].rows;
    dram.address = dram.address_space()?.refit(&layout, rows);
    Ok(())
}
