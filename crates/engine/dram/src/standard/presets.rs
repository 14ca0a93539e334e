//! Organisations and speeds of a standard, and their application to a channel.

use super::values::scaled;
use super::{Standard, StandardError};
use crate::{Dram, GivenTimes, MAX_BANKS, Power, Timing};
use serde::Deserialize;
use std::collections::BTreeMap;
use warpmem_params::{Declared, Field, Invalid, nearest};

/// Banks, rows and data bus of one channel.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Organisation {
    /// Source of the numbers.
    pub source: String,
    #[serde(default = "one")]
    pub pseudo_channels: u32,
    /// Stacks of a pseudo channel.
    #[serde(default = "one")]
    pub stacks: u32,
    /// Banks of the channel over all its pseudo channels and stacks.
    pub banks: u32,
    /// Bank groups of a stack.
    pub bank_groups: u32,
    /// Rows of a bank.
    pub rows: u32,
    pub row_bytes: u32,
    /// Width of the data bus of a pseudo channel, bytes.
    pub bus_bytes: u32,
    /// Transfers per column command.
    pub burst_length: u32,
    /// Transfers per clock.
    pub transfers_per_clock: u32,
    /// Devices of the channel.
    #[serde(default = "one")]
    pub devices: u32,
    /// Time of an all-bank refresh, ns, for speeds that refresh; none = that of the speed.
    pub trfc_ns: Option<u32>,
}

impl Organisation {
    /// Returns the values of the channel's keys; a clock has `ticks` ticks.
    fn values(&self, ticks: u32) -> [(&'static str, u32); 9] {
        [
            ("pseudo_channels", self.pseudo_channels),
            ("stacks", self.stacks),
            ("banks", self.banks),
            ("bank_groups", self.bank_groups),
            ("row_bytes", self.row_bytes),
            ("bus_bytes", self.bus_bytes),
            ("burst_length", self.burst_length),
            ("transfers_per_clock", self.transfers_per_clock / ticks),
            ("devices", self.devices),
        ]
    }
}

fn one() -> u32 {
    1
}

/// Clock, timing and currents.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Speed {
    /// Source of the numbers.
    pub source: String,
    /// Period of a clock, picoseconds.
    pub tck_ps: u32,
    /// Timing, clocks.
    pub timing: Timing,
    /// Source of the currents; empty if they are unknown.
    #[serde(default)]
    pub power_source: String,
    #[serde(default)]
    pub power: Power,
}

/// The clock of a speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Period of a clock, picoseconds.
    pub tck_ps: u32,
    /// Cycles of the simulated command clock (`clocks.dram_mhz`) per clock.
    pub ticks_per_clock: u32,
}

impl Clock {
    /// Returns `clocks.dram_mhz`, rounded to the nearest MHz.
    pub fn mhz(self) -> u32 {
        let ticks = 1_000_000 * u64::from(self.ticks_per_clock);
        let tck = u64::from(self.tck_ps);
        ((ticks + tck / 2) / tck) as u32
    }
}

/// A standard with an organisation and a speed, as written in `name[:organisation[:speed]]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartName<'a> {
    pub standard: &'a str,
    pub organisation: Option<&'a str>,
    pub speed: Option<&'a str>,
}

impl<'a> PartName<'a> {
    pub fn read(text: &'a str) -> PartName<'a> {
        let mut names = text.splitn(3, ':');
        let standard = names.next().unwrap_or_default();
        PartName { standard, organisation: names.next(), speed: names.next() }
    }
}

impl Standard {
    /// Returns the organisation and the speed that a name selects: by default the first modelled
    /// organisation, and the speed of the same name or else the first.
    ///
    /// # Errors
    /// If the standard has none; names are not checked.
    pub fn part<'a>(&'a self, name: &PartName<'a>) -> Result<(&'a str, &'a str), StandardError> {
        let modelled = self.organisations.iter().find(|(_, place)| place.banks <= MAX_BANKS);
        let (Some((first, _)), Some((any, _))) = (modelled, self.speeds.first_key_value()) else {
            return Err(Invalid {
                key: "dram.standard".to_owned(),
                value: format!("\"{}\"", self.reference),
                valid: "a standard with organisations and speeds".to_owned(),
            }
            .into());
        };
        let organisation = name.organisation.unwrap_or(first);
        let like = self.speeds.get_key_value(organisation).map_or(any, |(name, _)| name);
        Ok((organisation, name.speed.unwrap_or(like)))
    }

    /// Returns its organisations by name.
    pub fn organisations(&self) -> &BTreeMap<String, Organisation> {
        &self.organisations
    }

    /// Returns its speeds by name.
    pub fn speeds(&self) -> &BTreeMap<String, Speed> {
        &self.speeds
    }

    /// Makes `dram` a channel of this standard with all-bank refresh: sets organisation, command
    /// buses, currents and timing. Queues, page policy and address map are unchanged.
    ///
    /// # Errors
    /// Returns an error for an unknown organisation or speed, more banks than are modelled, or
    /// timing that does not fit the burst.
    pub fn apply(
        &self,
        organisation: &str,
        speed: &str,
        dram: &mut Dram,
    ) -> Result<Clock, StandardError> {
        let place = self.find("organisation", &self.organisations, organisation)?;
        let preset = self.find("speed", &self.speeds, speed)?;
        let clock = Clock { tck_ps: preset.tck_ps, ticks_per_clock: self.ticks_per_clock };
        dram.standard.clone_from(&self.reference);
        dram.standard_folder.clear();
        dram.dual_command_bus = self.dual_command_bus;
        self.set_organisation(organisation, place, dram)?;
        dram.timing = scaled(&preset.timing, self.ticks_per_clock);
        if let (Some(trfc_ns), true) = (place.trfc_ns, dram.timing.trefi > 0) {
            let clocks = (trfc_ns * 1000).div_ceil(preset.tck_ps);
            dram.timing.trfc = clocks * self.ticks_per_clock;
        }
        dram.given = GivenTimes::of_clock(clock.mhz());
        dram.power.clone_from(&preset.power);
        (dram.timing.trefipb, dram.timing.trfcpb, dram.timing.trrefd) = (0, 0, 0);
        self.check(dram)?;
        Ok(clock)
    }

    /// Switches `dram`, a channel of this standard at `speed`, to single-bank refresh.
    ///
    /// # Errors
    /// Returns an error for an unknown speed, or one without times for single-bank refresh.
    pub fn refresh_per_bank(&self, speed: &str, dram: &mut Dram) -> Result<(), StandardError> {
        let preset = self.find("speed", &self.speeds, speed)?;
        if preset.timing.trefipb == 0 {
            return Err(Invalid {
                key: format!("speed.{speed}.timing.trefipb"),
                value: "0".to_owned(),
                valid: "a speed with times for a refresh of one bank".to_owned(),
            }
            .into());
        }
        let of_speed = scaled(&preset.timing, self.ticks_per_clock);
        dram.timing = Timing {
            trefi: 0,
            trfc: 0,
            trefipb: of_speed.trefipb,
            trfcpb: of_speed.trfcpb,
            trrefd: of_speed.trrefd,
            ..dram.timing.clone()
        };
        self.check(dram)
    }

    fn set_organisation(
        &self,
        name: &str,
        organisation: &Organisation,
        dram: &mut Dram,
    ) -> Result<(), StandardError> {
        let key = |key: &str| format!("organisation.{name}.{key}");
        let refuse = |key: String, value: u32, valid: String| {
            Err(Invalid { key, value: value.to_string(), valid }.into())
        };
        let Organisation { banks, transfers_per_clock, .. } = *organisation;
        if banks > MAX_BANKS {
            let valid =
                format!("at most {MAX_BANKS}, the most banks of a channel that are modelled");
            return refuse(key("banks"), banks, valid);
        }
        let ticks = self.ticks_per_clock;
        if transfers_per_clock == 0 || !transfers_per_clock.is_multiple_of(ticks) {
            let valid = format!("a multiple of the {ticks} ticks of a clock");
            return refuse(key("transfers_per_clock"), transfers_per_clock, valid);
        }
        let keys = <Dram as Field>::keys("", Declared::ROOT, &());
        for (name, value) in organisation.values(ticks) {
            let known = keys.iter().find(|known| known.path == name).expect("a key of a channel");
            if known.param.kind.parse(&value.to_string()).is_none() {
                return refuse(key(name), value, known.param.kind.expected());
            }
        }
        dram.pseudo_channels = organisation.pseudo_channels;
        dram.stacks = organisation.stacks;
        dram.banks = banks;
        dram.bank_groups = organisation.bank_groups;
        dram.row_bytes = organisation.row_bytes;
        dram.bus_bytes = organisation.bus_bytes;
        dram.burst_length = organisation.burst_length;
        dram.transfers_per_clock = transfers_per_clock / ticks;
        dram.devices = organisation.devices;
        Ok(())
    }

    fn find<'a, T>(
        &self,
        what: &'static str,
        presets: &'a BTreeMap<String, T>,
        name: &str,
    ) -> Result<&'a T, StandardError> {
        presets.get(name).ok_or_else(|| StandardError::UnknownPreset {
            what,
            name: name.to_owned(),
            standard: self.name.clone(),
            nearest: nearest(name, presets.keys().map(String::as_str)).map(str::to_owned),
            valid: presets.keys().cloned().collect::<Vec<_>>().join(", "),
        })
    }
}
