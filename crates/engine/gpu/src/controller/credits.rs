//! How many requests of its slices a channel has in hand.

use std::collections::VecDeque;
use warpmem_machine::Machine;
use warpmem_sim::DramCycle;

/// A request takes a credit when it leaves its slice and gives it back when its data have been
/// transferred. Each slice has one of its own, which it takes first and gets back first, so that no other
/// slice stops it for good; the rest are for all (GPGPU-Sim,
/// memory_partition_unit::arbitration_metadata).
pub(super) struct Credits {
    shared: u32,
    /// By slice: whether its own is free.
    own: Box<[bool]>,
    /// Slices whose requests are done in a cycle to come, by cycle.
    due: VecDeque<(DramCycle, usize)>,
}

impl Credits {
    /// None if a channel may have any number of requests in hand.
    pub fn new(machine: &Machine, slices: usize) -> Option<Credits> {
        let shared = machine.l2.to_dram_credits;
        let own = vec![true; slices].into();
        (shared > 0).then_some(Credits { shared, own, due: VecDeque::new() })
    }

    /// Gives back what is due at `cycle`.
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

    /// The cycle from which the slice has one; any that is past stands for now. Never, as far as is
    /// known, until a request that is in hand has its time.
    #[inline]
    pub fn free_from(&self, slice: usize) -> DramCycle {
        if self.own[slice] || self.shared > 0 {
            return DramCycle::new(0);
        }
        self.due.front().map_or(DramCycle::NEVER, |&(due, _)| due)
    }

    /// A request of the slice takes one that is free.
    pub fn take(&mut self, slice: usize) {
        if self.own[slice] {
            self.own[slice] = false;
        } else {
            self.shared -= 1;
        }
    }

    /// A request of the slice is done at `cycle`.
    pub fn give_back(&mut self, slice: usize, cycle: DramCycle) {
        // Data buses of pseudo channels, and reads and writes, do not end in the order of their commands.
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
    use warpmem_testing::machine;

    fn credits(shared: u32) -> Credits {
        let mut machine = machine(&[]);
        machine.l2.to_dram_credits = shared;
        Credits::new(&machine, 2).unwrap()
    }

    fn free(credits: &Credits) -> [bool; 2] {
        [0, 1].map(|slice| credits.free_from(slice) == DramCycle::new(0))
    }

    #[test]
    fn a_slice_takes_its_own_first_and_then_those_for_all() {
        let mut credits = credits(1);
        credits.take(0);
        credits.take(0);
        assert_eq!(free(&credits), [false, true]);
        credits.take(1);
        assert_eq!(free(&credits), [false, false]);
    }

    #[test]
    fn a_slice_gets_its_own_back_first() {
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
    fn what_is_due_later_is_given_back_later_in_whatever_order_it_is_told() {
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
