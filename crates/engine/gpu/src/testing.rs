//! The machine of unit tests.

use warpmem_machine::Machine;

/// Returns [`warpmem_testing::small_machine`] with these overrides.
pub fn machine(overrides: &[&str]) -> Machine {
    warpmem_machine::load("li2015", &warpmem_testing::small_machine(overrides)).unwrap()
}
