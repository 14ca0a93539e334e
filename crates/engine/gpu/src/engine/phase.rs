//! The phases of a time step that regions execute concurrently.

use warpmem_sim::Domain;

/// The steps that units of different regions may execute concurrently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// DRAM channels, then slices.
    Memory,
    /// SMs.
    Core,
}

impl Phase {
    pub const COUNT: usize = 2;

    /// Returns the clock domains of its units.
    pub fn domains(self) -> &'static [Domain] {
        match self {
            Phase::Memory => &[Domain::Dram, Domain::L2],
            Phase::Core => &[Domain::Core],
        }
    }
}
