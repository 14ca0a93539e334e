//! Credits, which limit the requests of its slices that a channel holds.

use std::collections::VecDeque;
use warpmem_machine::Machine;
use warpmem_sim::DramCycle;

/// A request takes a credit when it leaves its slice, and returns it when its data have been
/// transferred. Each slice has a credit of its own, taken first and returned first, so that no
/// slice can starve; the rest are shared (GPGPU-Sim,
/// `memory_partition_unit::arbitration_metadata`).
pub(super) struct Credits {
    shared: u32,
    /// By slice: whether its own credit is free.
    own: Box<[bool]>,
    /// Pending returns: cycle and slice, by cycle.
    due: VecDeque<(DramCycle, usize)>,
}

impl Credits {
    /// Returns none if the number of requests is unlimited.
    pub fn new(machine: &Machine, slices: usize) -> Option<Credits> {
        let shared = machine.l2.to_dram_credits;
        let own = vec![true; slices].into();
        (shared > 0).then_some(Credits { shared, own, due: VecDeque::new() })
    }

    /// Returns the credits that are due at `cycle`.
    #[inline]
    pub fn settle(&mut self, cycle: DramCycle) {
        while let Some((_, slice)) = self.due.pop_front_if(|&mut (due, _)| due <= cycle) {
            if self.own[slice] {
                self.shared += 1;
            } else {
                self.own[slice] = true;
            }
        }
    }

    /// Returns the first cycle in which the slice has a credit; any past cycle means now.
    /// [`DramCycle::NEVER`] until the completion of a held request is scheduled.
    #[inline]
    pub fn free_from(&self, slice: usize) -> DramCycle {
        if self.own[slice] || self.shared > 0 {
            return DramCycle::new(0);
        }
        self.due.front().map_or(DramCycle::NEVER, |&(due, _)| due)
    }

    /// Takes a free credit for a request of the slice.
    pub fn take(&mut self, slice: usize) {
        if self.own[slice] {
            self.own[slice] = false;
        } else {
            self.shared -= 1;
        }
    }

    /// Schedules the return of a credit: a request of the slice completes at `cycle`.
    pub fn give_back(&mut self, slice: usize, cycle: DramCycle) {
        // Pseudo channels, and reads and writes, complete out of command order.
        let ends_last = self.due.back().is_none_or(|&(due, _)| due <= cycle);
        if ends_last {
            self.due.push_back((cycle, slice));
        } else {
            let place = self.due.partition_point(|&(due, _)| due <= cycle);
            self.due.insert(place, (cycle, slice));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::machine;

    fn credits(shared: u32) -> Credits {
        let mut machine = machine(&[]);
        machine.l2.to_dram_credits = shared;
        Credits::new(&machine, 2).unwrap()
    }

    fn free(credits: &Credits) -> [bool; 2] {
        [0, 1].map(|slice| credits.free_from(slice) == DramCycle::new(0))
    }

    #[test]
    fn a_slice_takes_its_own_credit_before_shared_ones() {
        let mut credits = credits(1);
        credits.take(0);
        credits.take(0);
        assert_eq!(free(&credits), [false, true]);
        credits.take(1);
        assert_eq!(free(&credits), [false, false]);
    }

    #[test]
    fn the_own_credit_is_returned_first() {
        let mut credits = credits(1);
        credits.take(0);
        credits.take(0);
        credits.take(1);
        credits.give_back(0, DramCycle::new(5));
        credits.settle(DramCycle::new(5));
        assert_eq!(free(&credits), [true, false]);
        credits.give_back(0, DramCycle::new(6));
        credits.settle(DramCycle::new(6));
        assert_eq!(free(&credits), [true, true]);
    }

    #[test]
    fn credits_are_returned_in_time_order() {
        let mut credits = credits(1);
        credits.take(0);
        credits.take(1);
        credits.take(0);
        assert_eq!(credits.free_from(0), DramCycle::NEVER);
        credits.give_back(0, DramCycle::new(9));
        credits.give_back(1, DramCycle::new(7));
        assert_eq!(credits.free_from(0), DramCycle::new(7));
        credits.settle(DramCycle::new(6));
        assert_eq!(free(&credits), [false, false]);
        credits.settle(DramCycle::new(7));
        assert_eq!(free(&credits), [false, true]);
        credits.settle(DramCycle::new(9));
        assert_eq!(free(&credits), [true, true]);
    }
}
