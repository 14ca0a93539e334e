//! The barriers of a CTA. One for all warps is complete when all that have not ended wait, one for some of
//! them when as many have arrived as it is for, waiting or not (PTX ISA, "bar, barrier").

use super::Sm;
use super::scheduler::CtaSlot;
use warpmem_sim::{CoreCycle, WarpSlot};
use warpmem_trace::Barrier;

/// The barriers of a resident CTA.
#[derive(Default)]
pub(super) struct Barriers {
    /// Warps that wait at any of them, by slot.
    waiting: u64,
    /// Those for some warps at which some have arrived.
    begun: Vec<Begun>,
}

/// A barrier for some warps at which some have arrived.
#[derive(Default)]
struct Begun {
    id: u8,
    arrived: u8,
    /// Those that wait, by slot.
    waiting: u64,
}

impl Barriers {
    /// A warp arrives; `waiting`: its slot, if it waits. The warps that wait no longer, by slot: not those
    /// of a barrier for all warps.
    fn arrive(&mut self, barrier: Barrier, waiting: u64) -> u64 {
        self.waiting |= waiting;
        let Some(expected) = barrier.warps else { return 0 };
        let at = self.begun.iter().position(|one| one.id == barrier.id).unwrap_or_else(|| {
            self.begun.push(Begun { id: barrier.id, ..Begun::default() });
            self.begun.len() - 1
        });
        let begun = &mut self.begun[at];
        begun.arrived += 1;
        begun.waiting |= waiting;
        if begun.arrived < expected {
            return 0;
        }
        let complete = self.begun.swap_remove(at).waiting;
        self.waiting &= !complete;
        complete
    }

    /// The warps that wait no longer when `live` warps of the CTA have not ended, by slot: all, if none
    /// other is left, no matter at which barriers. Imported traces do not say for how many warps a barrier
    /// is, and groups of warps with barriers of their own would otherwise wait for each other for ever.
    fn complete(&mut self, live: u32) -> u64 {
        if self.waiting.count_ones() < live {
            return 0;
        }
        // Where warps have only arrived, others come later.
        self.begun.retain(|begun| begun.waiting == 0);
        self.give_up()
    }

    /// The warps that wait at any of them, by slot, wait no longer.
    pub fn give_up(&mut self) -> u64 {
        std::mem::take(&mut self.waiting)
    }
}

impl Sm {
    /// A warp arrives at a barrier of its CTA; `waiting`: its slot, if it waits for the others.
    pub(super) fn arrive_at_barrier(
        &mut self,
        slot: WarpSlot,
        barrier: Option<Barrier>,
        waiting: u64,
    ) {
        let cta = self.warp(slot).cta;
        let barrier = barrier.expect("a trace says the barrier of such an instruction");
        let state = self.residents.cta_mut(cta);
        let complete =
            if state.ends_early { waiting } else { state.barriers.arrive(barrier, waiting) };
        self.pass_barrier(complete);
        self.release_if_complete(cta);
    }

    /// Releases the warps of a CTA if all that have not ended wait.
    pub(super) fn release_if_complete(&mut self, cta: CtaSlot) {
        let state = self.residents.cta_mut(cta);
        let complete = state.barriers.complete(state.live);
        self.pass_barrier(complete);
    }

    /// These warps go on in the next cycle; those whose schedulers are yet to issue in this one, at once.
    fn pass_barrier(&mut self, warps: u64) {
        let at_once = warps & self.yet_to_issue;
        for (warps, from) in [(at_once, self.cycle), (warps & !at_once, self.cycle + 1)] {
            if warps != 0 {
                self.leave_barrier(warps, self.cycle, from);
            }
        }
    }

    /// These warps leave their barrier in `cycle` and may issue from `from` on.
    pub(super) fn leave_barrier(&mut self, warps: u64, cycle: CoreCycle, from: CoreCycle) {
        // Those at the end of their trace end in their own time.
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
    fn a_barrier_for_some_warps_is_complete_with_the_last_of_them() {
        let mut barriers = Barriers::default();
        let (one, other) = (Barrier::of_warps(1, 3), Barrier::of_warps(2, 1));
        assert_eq!(barriers.arrive(one, 0b1), 0);
        assert_eq!(barriers.arrive(one, 0), 0, "an arrival that does not wait");
        assert_eq!(barriers.arrive(other, 0b10), 0b10, "has a count of its own");
        assert_eq!(barriers.complete(3), 0, "two warps go on");
        assert_eq!(barriers.arrive(one, 0b100), 0b101);
        assert_eq!(barriers.arrive(one, 0b100), 0, "begins anew");
        assert_eq!(barriers.waiting, 0b100);
    }

    #[test]
    fn arrivals_outlast_a_barrier_for_all_warps() {
        let (all, some) = (Barrier::of_cta(0), Barrier::of_warps(1, 2));
        let mut barriers = Barriers::default();
        assert_eq!(barriers.arrive(some, 0), 0);
        assert_eq!(barriers.arrive(all, 0b1) | barriers.arrive(all, 0b10), 0);
        assert_eq!(barriers.complete(3), 0);
        assert_eq!(barriers.complete(2), 0b11);
        assert_eq!(barriers.arrive(some, 0b10), 0b10, "the second arrival");
    }

    #[test]
    fn those_who_wait_for_nobody_that_could_come_go_on_and_their_arrivals_are_forgotten() {
        let mut barriers = Barriers::default();
        assert_eq!(barriers.arrive(Barrier::of_warps(1, 2), 0b1), 0);
        assert_eq!(barriers.arrive(Barrier::of_cta(0), 0b10), 0);
        assert_eq!(barriers.complete(2), 0b11);
        assert_eq!(barriers.arrive(Barrier::of_warps(1, 2), 0b1), 0);
    }
}
