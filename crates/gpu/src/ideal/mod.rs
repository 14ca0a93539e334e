//! Ideal modes: machines with one part made perfect, to find limits.

mod infinite_bandwidth_noc;
mod none;
mod perfect_dram;
mod perfect_l1;
mod perfect_l2;

use warpmem_machine::Machine;
use warpmem_params::{Entry, Registry};

/// What is ideal about a machine.
pub trait Ideal: Send {
    /// Every access hits in L1.
    fn perfect_l1(&self) -> bool {
        false
    }

    /// Every request hits in the LLC.
    fn perfect_l2(&self) -> bool {
        false
    }

    /// No packet waits for another.
    fn infinite_bandwidth_noc(&self) -> bool {
        false
    }

    /// DRAM answers at once.
    fn perfect_dram(&self) -> bool {
        false
    }
}

/// Every ideal mode.
pub static IDEALS: Registry<dyn Ideal, Machine> = Registry {
    slot: "ideal",
    entries: &[
        none::ENTRY,
        perfect_l1::ENTRY,
        perfect_l2::ENTRY,
        perfect_dram::ENTRY,
        infinite_bandwidth_noc::ENTRY,
    ],
};

type IdealEntry = Entry<dyn Ideal, Machine>;
