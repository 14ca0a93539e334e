//! The barriers of a CTA. A barrier for all warps completes when all warps that have not retired
//! wait; a barrier for some warps completes when its number of warps has arrived, waiting or not
//! (PTX ISA, "bar, barrier").

use super::Sm;
use super::scheduler::CtaSlot;
use warpmem_sim::{CoreCycle, WarpSlot};
use warpmem_trace::Barrier;

/// The barriers of a resident CTA.
#[derive(Default)]
pub(super) struct Barriers {
    /// Warps that wait at any barrier, by slot.
    waiting: u64,
    /// Barriers for some warps with at least one arrival.
    partial: Vec<Partial>,
}

/// A barrier for some warps with at least one arrival.
#[derive(Default)]
struct Partial {
    id: u8,
    arrived: u8,
    /// Waiting warps, by slot.
    waiting: u64,
}

impl Barriers {
    /// Records an arrival; `waiting` is the warp's slot if it waits. Returns the warps that the
    /// arrival releases, except those of a barrier for all warps.
    fn arrive(&mut self, barrier: Barrier, waiting: u64) -> u64 {
        self.waiting |= waiting;
        let Some(expected) = barrier.warps else { return 0 };
        let at = self.partial.iter().position(|one| one.id == barrier.id).unwrap_or_else(|| {
            self.partial.push(Partial { id: barrier.id, ..Partial::default() });
            self.partial.len() - 1
        });
        let partial = &mut self.partial[at];
        partial.arrived += 1;
        partial.waiting |= waiting;
        if partial.arrived < expected {
            return 0;
        }
        let complete = self.partial.swap_remove(at).waiting;
        self.waiting &= !complete;
        complete
    }

    /// Releases all waiting warps if every one of the CTA's `live` warps waits, at whichever
    /// barriers. Imported traces omit the number of warps of a barrier, and groups of warps with
    /// separate barriers would otherwise deadlock.
    fn complete(&mut self, live: u32) -> u64 {
        if self.waiting.count_ones() < live {
            return 0;
        }
        // Barriers with arrivals but without waiting warps await later arrivals.
        self.partial.retain(|partial| partial.waiting == 0);
        self.release_all()
    }

    /// Releases all waiting warps and returns them.
    pub fn release_all(&mut self) -> u64 {
        std::mem::take(&mut self.waiting)
    }
}

impl Sm {
    /// Records the arrival of a warp at a barrier of its CTA; `waiting` is its slot if it waits.
    pub(super) fn arrive_at_barrier(
        &mut self,
        slot: WarpSlot,
        barrier: Option<Barrier>,
        waiting: u64,
    ) {
        let cta = self.warps.get(slot).cta;
        let barrier = barrier.expect("a barrier instruction names its barrier");
        let state = self.ctas.cta_mut(cta);
        let complete =
            if state.is_terminated { waiting } else { state.barriers.arrive(barrier, waiting) };
        self.pass_barrier(complete);
        self.release_if_complete(cta);
    }

    /// Releases the warps of a CTA if all that have not retired wait.
    pub(super) fn release_if_complete(&mut self, cta: CtaSlot) {
        let state = self.ctas.cta_mut(cta);
        let complete = state.barriers.complete(state.live);
        self.pass_barrier(complete);
    }

    /// Releases warps: those whose schedulers issue later in this cycle may issue in it, the others
    /// in the next.
    fn pass_barrier(&mut self, warps: u64) {
        let now = warps & self.issue.later();
        for (warps, from) in [(now, self.cycle), (warps & !now, self.cycle + 1)] {
            if warps != 0 {
                self.leave_barrier(warps, self.cycle, from);
            }
        }
    }

    /// Releases warps from their barrier in `cycle`; they may issue from `from` on.
    pub(super) fn leave_barrier(&mut self, warps: u64, cycle: CoreCycle, from: CoreCycle) {
        // Draining warps retire when their drain ends.
        for slot in WarpSlot::each(self.sets.leave_barrier(warps)) {
            if self.sets.has_ended(slot) {
                self.end_warp_if_done(slot);
            } else {
                self.sets.wake(slot, cycle);
                self.await_operands(slot, from);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partial_barrier_completes_with_its_last_arrival() {
        let mut barriers = Barriers::default();
        let (one, other) = (Barrier::of_warps(1, 3), Barrier::of_warps(2, 1));
        assert_eq!(barriers.arrive(one, 0b1), 0);
        assert_eq!(barriers.arrive(one, 0), 0, "an arrival without wait");
        assert_eq!(barriers.arrive(other, 0b10), 0b10, "a separate count");
        assert_eq!(barriers.complete(3), 0, "two warps do not wait");
        assert_eq!(barriers.arrive(one, 0b100), 0b101);
        assert_eq!(barriers.arrive(one, 0b100), 0, "the next phase");
        assert_eq!(barriers.waiting, 0b100);
    }

    #[test]
    fn arrivals_without_wait_survive_a_barrier_for_all_warps() {
        let (all, some) = (Barrier::of_cta(0), Barrier::of_warps(1, 2));
        let mut barriers = Barriers::default();
        assert_eq!(barriers.arrive(some, 0), 0);
        assert_eq!(barriers.arrive(all, 0b1) | barriers.arrive(all, 0b10), 0);
        assert_eq!(barriers.complete(3), 0);
        assert_eq!(barriers.complete(2), 0b11);
        assert_eq!(barriers.arrive(some, 0b10), 0b10, "the second arrival");
    }

    #[test]
    fn a_deadlocked_cta_is_released_and_its_partial_barriers_are_reset() {
        let mut barriers = Barriers::default();
        assert_eq!(barriers.arrive(Barrier::of_warps(1, 2), 0b1), 0);
        assert_eq!(barriers.arrive(Barrier::of_cta(0), 0b10), 0);
        assert_eq!(barriers.complete(2), 0b11);
        assert_eq!(barriers.arrive(Barrier::of_warps(1, 2), 0b1), 0);
    }
}
