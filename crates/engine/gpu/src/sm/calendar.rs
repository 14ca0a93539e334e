//! Calendar of warps with a known ready cycle.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use warpmem_sim::{CoreCycle, WarpSlot};

/// Cycles covered by the ring; later ones are in a heap.
const SLOTS: u64 = 128;

/// Waiting warps by ready cycle: a ring with a warp mask for each of the next cycles, and a heap
/// for later cycles.
///
/// ```text
///  cycle % SLOTS:  ... │ 41 │ 42 │ 43 │ ...      far: (cycle, slot), earliest first
///  ring:           ... │ 0  │ 11 │ 0  │ ...      occupied: a bit for each ring entry that is not 0
/// ```
pub(super) struct Calendar {
    ring: [u64; SLOTS as usize],
    occupied: u128,
    /// First cycle whose warps have not been taken.
    cycle: CoreCycle,
    /// Next cycle with a warp, or never.
    next: CoreCycle,
    far: BinaryHeap<Reverse<(CoreCycle, WarpSlot)>>,
}

impl Calendar {
    pub fn new() -> Calendar {
        Calendar {
            ring: [0; SLOTS as usize],
            occupied: 0,
            cycle: CoreCycle::ZERO,
            next: CoreCycle::NEVER,
            far: BinaryHeap::new(),
        }
    }

    /// Adds the warp in `slot`, ready at `cycle`, which must not have been taken.
    #[inline]
    pub fn add(&mut self, slot: WarpSlot, cycle: CoreCycle) {
        debug_assert!(cycle >= self.cycle);
        self.next = self.next.min(cycle);
        if cycle.since(self.cycle) < SLOTS {
            let at = cycle.number() % SLOTS;
            self.ring[at as usize] |= slot.bit();
            self.occupied |= 1 << at;
        } else {
            self.far.push(Reverse((cycle, slot)));
        }
    }

    /// Returns the next cycle with a warp, or never.
    #[inline]
    pub fn next(&self) -> CoreCycle {
        self.next
    }

    fn find_next(&self) -> CoreCycle {
        let near = if self.occupied == 0 {
            CoreCycle::NEVER
        } else {
            let first = (self.cycle.number() % SLOTS) as u32;
            let ahead = self.occupied.rotate_right(first).trailing_zeros();
            self.cycle + u64::from(ahead)
        };
        self.far.peek().map_or(near, |&Reverse((far, _))| near.min(far))
    }

    /// Takes the warps ready by `cycle`.
    #[inline]
    pub fn take(&mut self, cycle: CoreCycle) -> u64 {
        let warps = if self.next <= cycle { self.take_until(cycle) } else { 0 };
        self.cycle = self.cycle.max(cycle + 1);
        warps
    }

    fn take_until(&mut self, cycle: CoreCycle) -> u64 {
        let mut warps = 0;
        while self.next <= cycle {
            let next = self.next;
            let at = next.number() % SLOTS;
            if next.since(self.cycle) < SLOTS {
                warps |= std::mem::take(&mut self.ring[at as usize]);
                self.occupied &= !(1 << at);
            }
            while let Some(&Reverse((far, slot))) = self.far.peek() {
                if far > next {
                    break;
                }
                self.far.pop();
                warps |= slot.bit();
            }
            self.cycle = next;
            self.next = self.find_next();
        }
        warps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_warp_is_taken_at_its_ready_cycle(adds in prop::collection::vec(0u64..700, 1..64)) {
            let mut calendar = Calendar::new();
            for (slot, &cycle) in adds.iter().enumerate() {
                calendar.add(WarpSlot::new(slot), CoreCycle::new(cycle));
            }
            let mut seen = vec![None; adds.len()];
            while calendar.next() != CoreCycle::NEVER {
                let cycle = calendar.next();
                let warps = calendar.take(cycle);
                prop_assert!(warps != 0);
                for slot in (0..adds.len()).filter(|slot| warps >> slot & 1 == 1) {
                    seen[slot] = Some(cycle.number());
                }
            }
            prop_assert_eq!(seen, adds.into_iter().map(Some).collect::<Vec<_>>());
        }

        #[test]
        fn ready_cycles_are_exact_as_time_advances(steps in prop::collection::vec(1u64..300, 1..60)) {
            let mut calendar = Calendar::new();
            let mut now = CoreCycle::ZERO;
            for delay in steps {
                calendar.take(now);
                calendar.add(WarpSlot(5), now + delay);
                prop_assert_eq!(calendar.next(), now + delay);
                now += delay;
            }
        }
    }
}
