//! A sub-core of an SM: one warp scheduler and its functional units.

use super::code::{CLASSES, Class};
use super::scheduler::SchedulerId;
use super::warp_sets::WarpSets;
use warpmem_sim::CoreCycle;

/// Warp slots of one scheduler, and the availability of the scheduler and its units.
pub(super) struct SubCore {
    warps: u64,
    next_issue: CoreCycle,
    /// First cycle in which the unit of each class accepts an instruction, and the latest of them.
    unit_free: [CoreCycle; CLASSES],
    units_free: CoreCycle,
    /// Set if the policy issued none of its candidates in the last step.
    pub held: Option<HeldDecision>,
}

/// A decision of the policy to issue nothing, with the state behind it. While that state is
/// unchanged the policy need not be asked again. State that changes only in a step of the SM
/// before the issue is omitted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct HeldDecision {
    pub candidates: u64,
    pub waiting: u64,
    pub at_barrier: u64,
    pub at_end: u64,
    pub paused: u64,
    pub memory: u64,
}

impl SubCore {
    /// Creates the sub-core of scheduler `id`; warp slots are interleaved over `schedulers`.
    pub fn new(id: SchedulerId, schedulers: usize) -> SubCore {
        SubCore {
            warps: (id.index()..64).step_by(schedulers).fold(0, |warps, slot| warps | 1 << slot),
            next_issue: CoreCycle::ZERO,
            unit_free: [CoreCycle::ZERO; CLASSES],
            units_free: CoreCycle::ZERO,
            held: None,
        }
    }

    /// Returns the scheduler's warp slots.
    #[inline]
    pub fn warps(&self) -> u64 {
        self.warps
    }

    /// Returns the first cycle in which the scheduler may issue again.
    #[inline]
    pub fn next_issue(&self) -> CoreCycle {
        self.next_issue
    }

    /// Issues an instruction of `class` in `cycle`: occupies the scheduler for `issue_interval` and
    /// the unit for `unit_interval` cycles.
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

    /// Whether all units accept an instruction in `cycle`.
    #[inline]
    pub fn has_free_units(&self, cycle: CoreCycle) -> bool {
        self.units_free <= cycle
    }

    /// Returns the warps whose unit accepts no instruction in `cycle`.
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

    /// Returns when each unit needed by `warps` accepts an instruction.
    pub fn units_free(&self, warps: u64, sets: &WarpSets) -> impl Iterator<Item = CoreCycle> {
        let units = Class::all(CLASSES).zip(&self.unit_free);
        units.filter(move |&(class, _)| warps & sets.of_class(class) != 0).map(|(_, &free)| free)
    }
}
