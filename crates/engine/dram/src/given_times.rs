//! The units in which the times of a channel were given. The channel holds them in cycles of its
//! clock; a change of the clock must convert the times given in nanoseconds and those meant for
//! another clock.

use std::collections::BTreeMap;

/// Units of the times, by key of `dram.timing` without that prefix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GivenTimes {
    /// Clock of the times that are not in `own`, MHz; none = unknown.
    pub clock_mhz: Option<u32>,
    pub own: BTreeMap<String, GivenTime>,
}

/// Unit of one time as given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GivenTime {
    Picoseconds(u64),
    /// Cycles of a clock of this many MHz.
    CyclesOf(u32),
}

impl GivenTimes {
    /// Marks all times as cycles of a clock of `mhz`.
    pub fn of_clock(mhz: u32) -> GivenTimes {
        GivenTimes { clock_mhz: Some(mhz), own: BTreeMap::new() }
    }

    /// Marks all times given in cycles as cycles of a clock of `mhz`.
    pub fn set_clock(&mut self, mhz: u32) {
        self.clock_mhz = Some(mhz);
        self.own.retain(|_, given| matches!(given, GivenTime::Picoseconds(_)));
    }

    /// Returns the unit in which the time of this key was given, if known.
    pub fn get(&self, key: &str) -> Option<GivenTime> {
        self.own.get(key).copied().or(self.clock_mhz.map(GivenTime::CyclesOf))
    }
}
