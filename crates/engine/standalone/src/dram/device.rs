//! The channels that receive a stream.

use super::{Period, StandaloneError};
use warpmem_dram::Dram;
use warpmem_dram::standard::{Clock, Organisation, PartName, Standard, StandardError};
use warpmem_machine::{Machine, MachineError, clock_warnings, load_channels};
use warpmem_sim::{Address, IndexHash};

/// Channels and the length of their cycles.
#[derive(Clone, Debug)]
pub struct Device {
    /// Name of the machine, or of standard, organisation and speed.
    pub name: String,
    /// Configuration, valid like that of a machine.
    pub dram: Dram,
    pub period: Period,
    /// DRAM scheduler of the machine.
    pub scheduler: String,
    /// Warnings of times in cycles of another clock, see [`clock_warnings`].
    pub warnings: Vec<String>,
}

impl Device {
    /// Loads the channels of a machine (see [`load`](warpmem_machine::load)), with the overrides.
    ///
    /// With a standard, `name[:organisation[:speed]]`, the device is one channel of it, with the
    /// queues and policies of the machine, mapped row, bank, column from the most significant bit
    /// down. The default organisation is the first modelled one; the default speed has the name of
    /// the organisation, or is the first.
    ///
    /// # Errors
    /// Returns [`StandaloneError::Machine`] for an unknown name, or keys that do not fit.
    pub fn load(
        machine: &str,
        standard: Option<&str>,
        overrides: &[String],
    ) -> Result<Device, StandaloneError> {
        let mut chosen = None;
        let choose = |machine: &mut Machine| {
            if let Some(text) = standard {
                chosen = Some(apply(text, machine)?);
            }
            Ok::<(), MachineError>(())
        };
        let Machine { name, clocks, dram, policy, .. } = load_channels(machine, choose, overrides)?;
        let scheduler = policy.dram_scheduler;
        // An override of the clock takes precedence over the exact clock of the standard.
        let exact = chosen.as_ref().map(|(_, clock)| *clock);
        let exact = exact.filter(|clock| clock.mhz() == clocks.dram_mhz);
        let period = exact.map_or_else(|| Period::of_mhz(clocks.dram_mhz), Period::of_clock);
        let name = chosen.map_or(name, |(standard, _)| standard);
        let warnings = clock_warnings(&dram, clocks.dram_mhz);
        Ok(Device { name, dram, period, scheduler, warnings })
    }
}

/// Replaces the channels of the machine by one of a standard. Returns its full name and its clock.
fn apply(text: &str, machine: &mut Machine) -> Result<(String, Clock), StandardError> {
    let name = PartName::read(text);
    let standard = Standard::load(name.standard)?;
    let (organisation, speed) = standard.part(&name)?;
    let clock = standard.apply(organisation, speed, &mut machine.dram)?;
    machine.clocks.dram_mhz = clock.mhz();
    machine.dram.channels = 1;
    if let Some(organisation) = standard.organisations().get(organisation) {
        machine.dram.address = address(organisation, &machine.dram);
    }
    Ok((format!("{}:{organisation}:{speed}", name.standard), clock))
}

/// Returns the map row, bank, column from the most significant bit down.
fn address(organisation: &Organisation, dram: &Dram) -> Address {
    let columns = dram.row_bytes / dram.burst_bytes();
    let fields = [
        ("row", organisation.rows),
        ("stack", dram.stacks),
        ("bank", dram.banks_per_stack()),
        ("pseudo", dram.pseudo_channels),
        ("column", columns),
        ("burst", dram.burst_bytes()),
    ];
    let fields = fields.map(|(name, count)| (name, count.checked_ilog2().unwrap_or(0)));
    let spelt = fields.iter().filter(|(_, bits)| *bits > 0);
    let map = spelt.map(|(name, bits)| format!("{name}:{bits}")).collect::<Vec<_>>().join(" ");
    Address {
        map,
        interleave_bytes: INTERLEAVE.max(dram.burst_bytes()),
        partition_hash: IndexHash::Linear,
        bank_hash: IndexHash::Linear,
        partition_hash_bits: Vec::new(),
    }
}

/// Bytes between changes of the channel.
const INTERLEAVE: u32 = 256;

#[cfg(test)]
mod tests {
    use super::*;

    fn device(standard: &str, overrides: &[&str]) -> Result<Device, String> {
        let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
        Device::load("li2015", Some(standard), &overrides).map_err(|error| error.to_string())
    }

    #[test]
    fn every_organisation_at_every_speed_is_a_device() {
        let mut refused = Vec::new();
        for name in Standard::names() {
            let standard = Standard::load(name).unwrap();
            for (place, organisation) in standard.organisations() {
                for speed in standard.speeds().keys() {
                    let text = format!("{name}:{place}:{speed}");
                    let device = match device(&text, &[]) {
                        Ok(device) => device,
                        Err(error) => {
                            refused.push((text, error));
                            continue;
                        }
                    };
                    assert_eq!(device.name, text);
                    let map = device.dram.address_map(1).unwrap();
                    let row = u64::from(organisation.row_bytes) * u64::from(organisation.banks);
                    assert_eq!(map.capacity(), u64::from(organisation.rows) * row);
                }
            }
            match standard.organisations().len() {
                0 => assert!(device(name, &[]).unwrap_err().contains("with organisations")),
                _ => assert_eq!(device(name, &[]).err(), None, "{name}: the first that there is"),
            }
        }
        // One organisation, at each speed.
        let speeds = ["HBM3_6400Mbps", "HBM3_H100_5240Mbps"];
        let names: Vec<&str> = refused.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, speeds.map(|speed| format!("hbm3:HBM3_32Gb_16hi:{speed}")));
        for (name, error) in &refused {
            assert!(error.contains("at most 64"), "{name}: {error}");
        }
    }

    #[test]
    fn organisation_and_speed_are_optional() {
        assert_eq!(device("gddr5", &[]).unwrap().name, "gddr5:GDDR5_1Gb_x32:GDDR5_1Gb_x32");
        let named = device("gddr5:GDDR5_8Gb_x32", &[]).unwrap();
        assert_eq!(named.name, "gddr5:GDDR5_8Gb_x32:GDDR5_8Gb_x32");
        assert_eq!(named.period.nanoseconds(), 0.667);
    }

    #[test]
    fn overrides_come_last() {
        let device = device("gddr5", &["dram.timing.trcd=30", "clocks.dram_mhz=1000"]).unwrap();
        assert_eq!(device.dram.timing.trcd, 30);
        assert_eq!(device.period.nanoseconds(), 1.0);
    }

    #[test]
    fn the_rest_of_the_machine_need_not_fit() {
        // Bursts of 256 bytes, lines of 128.
        let wide = ["dram.bus_bytes=32", "dram.address.map=row:12 bank:4 column:4 burst:8"];
        let overrides = wide.map(str::to_owned);
        assert!(warpmem_machine::load("li2015", &overrides).is_err());
        assert!(Device::load("li2015", None, &overrides).is_ok());
    }

    #[test]
    fn unknown_names_are_refused_with_the_valid_ones() {
        for (text, parts) in [
            ("gddr9", ["gddr9", "gddr6"]),
            ("gddr5:GDDR5_2Gb", ["organisation `GDDR5_2Gb`", "GDDR5_1Gb_x32"]),
            ("gddr5:GDDR5_1Gb_x32:fast", ["speed `fast`", "GDDR5_1Gb_x32"]),
        ] {
            let error = device(text, &[]).unwrap_err();
            assert!(parts.iter().all(|part| error.contains(part)), "{error}");
        }
    }
}
