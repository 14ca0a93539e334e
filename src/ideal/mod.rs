//! Ideal modes: machines with one part made perfect, to find limits.

mod none;
mod perfect_dram;

use crate::machine::Machine;
use crate::registry::{Entry, Registry};

/// What is ideal about a machine.
pub trait Ideal: Send {
    /// DRAM answers at once.
    fn perfect_dram(&self) -> bool {
        false
    }
}

/// Every ideal mode.
pub static IDEALS: Registry<dyn Ideal, Machine> =
    Registry { slot: "ideal", entries: &[none::ENTRY, perfect_dram::ENTRY] };

type IdealEntry = Entry<dyn Ideal, Machine>;
