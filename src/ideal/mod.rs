//! Ideal modes: machines with one part made perfect, to find limits.

mod none;

use crate::machine::Machine;
use crate::registry::{Entry, Registry};

/// What is ideal about a machine.
pub trait Ideal: Send {}

/// Every ideal mode.
pub static IDEALS: Registry<dyn Ideal, Machine> =
    Registry { slot: "ideal", entries: &[none::ENTRY] };

type IdealEntry = Entry<dyn Ideal, Machine>;
