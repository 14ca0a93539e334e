//! How the times of a channel were given. The channel has them in cycles of its clock; whoever
//! changes the clock must know which of them were meant for another.

use std::collections::BTreeMap;

/// By key of `dram.timing`, without that prefix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GivenTimes {
    /// The clock that times are cycles of if they are not among `own`, MHz; none where that is not
    /// known.
    pub clock_mhz: Option<u32>,
    pub own: BTreeMap<String, GivenTime>,
}

/// How one time was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GivenTime {
    Picoseconds(u64),
    /// Cycles of a clock of so many MHz.
    CyclesOf(u32),
}

impl GivenTimes {
    /// All in cycles of a clock of `mhz`.
    pub fn of_clock(mhz: u32) -> GivenTimes {
        GivenTimes { clock_mhz: Some(mhz), own: BTreeMap::new() }
    }

    /// All that were given in cycles are cycles of a clock of `mhz`.
    pub fn set_clock(&mut self, mhz: u32) {
        self.clock_mhz = Some(mhz);
        self.own.retain(|_, given| matches!(given, GivenTime::Picoseconds(_)));
    }

    /// How the time of this key was given, if that is known.
    pub fn get(&self, key: &str) -> Option<GivenTime> {
        self.own.get(key).copied().or(self.clock_mhz.map(GivenTime::CyclesOf))
    }
}
