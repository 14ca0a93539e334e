//! One scheduler of an SM and its functional units: when they take the next instruction.

use super::code::{CLASSES, Class};
use super::scheduler::SchedulerId;
use super::warp_sets::WarpSets;
use warpmem_sim::CoreCycle;

/// One scheduler of an SM with its functional units.
pub(super) struct IssueSlot {
    warps: u64,
    next_issue: CoreCycle,
    /// When each class's unit takes the next instruction, and when all do.
    unit_free: [CoreCycle; CLASSES],
    units_free: CoreCycle,
    /// Set if the policy let none of its candidates issue in the last step.
    pub held: Option<HeldDecision>,
}

/// A decision of the policy to issue nothing, and the state that it was made in. While the state is
/// the same the policy need not be asked again. State that changes only in a step of the SM before
/// the issue is left out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct HeldDecision {
    pub candidates: u64,
    pub waiting: u64,
    pub at_barrier: u64,
    pub at_end: u64,
    pub paused: u64,
    pub memory: u64,
}

impl IssueSlot {
    /// Scheduler `id` of so many, which share the warp slots in turn.
    pub fn new(id: SchedulerId, schedulers: usize) -> IssueSlot {
        IssueSlot {
            warps: (id.index()..64).step_by(schedulers).fold(0, |warps, slot| warps | 1 << slot),
            next_issue: CoreCycle::ZERO,
            unit_free: [CoreCycle::ZERO; CLASSES],
            units_free: CoreCycle::ZERO,
            held: None,
        }
    }

    /// The scheduler's own warp slots.
    #[inline]
    pub fn warps(&self) -> u64 {
        self.warps
    }

    /// The first cycle in which it may issue again.
    #[inline]
    pub fn next_issue(&self) -> CoreCycle {
        self.next_issue
    }

    /// An instruction of `class` issues in `cycle`: the scheduler may issue again after so many
    /// cycles, and the unit take another.
    #[inline]
    pub fn issue(
        &mut self,
        class: Class,
        cycle: CoreCycle,
        issue_interval: u64,
        unit_interval: u64,
    ) {
        self.next_issue = cycle + issue_interval;
        self.unit_free[class.index()] = cycle + unit_interval;
        self.units_free = self.units_free.max(self.unit_free[class.index()]);
    }

    /// Whether all units take an instruction in `cycle`.
    #[inline]
    pub fn has_free_units(&self, cycle: CoreCycle) -> bool {
        self.units_free <= cycle
    }

    /// Warps whose unit does not take an instruction in `cycle`.
    #[inline]
    pub fn blocked_by_units(&self, cycle: CoreCycle, sets: &WarpSets) -> u64 {
        let mut blocked = 0;
        if self.units_free > cycle {
            for (class, &free) in Class::all(CLASSES).zip(&self.unit_free) {
                if free > cycle {
                    blocked |= sets.of_class(class);
                }
            }
        }
        blocked
    }

    /// When the units of these warps take an instruction.
    pub fn units_free(&self, warps: u64, sets: &WarpSets) -> impl Iterator<Item = CoreCycle> {
        let units = Class::all(CLASSES).zip(&self.unit_free);
        units.filter(move |&(class, _)| warps & sets.of_class(class) != 0).map(|(_, &free)| free)
    }
}
