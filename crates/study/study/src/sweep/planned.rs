//! Cells of a plan with their origin, and slots by the names that a plan gives.

use super::error::ExpandError;
use crate::cells::Cell;
use warpmem_gpu::slots::{PolicySlot, SLOTS};
use warpmem_params::{did_you_mean, nearest};

/// A cell and its origin in the plan.
pub struct Planned<'a> {
    pub cell: Cell<'a>,
    /// Name of the case; none for a point of the design.
    pub case: Option<String>,
    /// Label: `vecadd on li2015 with fr-fcfs, dram.read_queue=16`.
    pub label: String,
}

impl Planned<'_> {
    /// Returns the policy of every slot.
    pub fn policies(&self) -> impl Iterator<Item = (&'static str, String)> {
        let mut policies = self.cell.key.machine.policy.clone();
        SLOTS.iter().map(move |slot| (slot.name, slot.policy_of(&mut policies).clone()))
    }
}

/// Finds a slot by name.
///
/// # Errors
/// If there is none; the message lists the slots.
pub(super) fn slot(name: &str) -> Result<&'static PolicySlot, ExpandError> {
    PolicySlot::find(name).ok_or_else(|| {
        let meant = did_you_mean(nearest(name, SLOTS.iter().map(|slot| slot.name)));
        let valid = SLOTS.each_ref().map(|slot| slot.name).join(", ");
        ExpandError::UnknownSlot { name: name.to_owned(), meant, valid }
    })
}
