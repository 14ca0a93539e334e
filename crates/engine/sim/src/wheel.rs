//! The wake wheel: which units of one clock domain are to be stepped in which cycle.
//!
//! A wake-up is a pair of a unit and a cycle. The wheel is a ring of 256 slots, one for each of the
//! next 256 cycles. A slot holds one bit per unit, and a further word array has one bit per slot
//! that is not empty, so that the next cycle with a wake-up is found without looking at the slots.
//! Wake-ups that lie further ahead wait in a heap and move into the ring when their cycle comes
//! within reach. With three units, in cycle 514:
//!
//! ```text
//!                         now = 514
//!                             ▼
//!  slot          0      1     2     3    ...   255
//!  its cycle   768    769   514   515    ...   767      further ahead (heap)
//!  unit 0        .      .     1     .            .        cycle 770, unit 1
//!  unit 1        .      1     .     .            1        cycle 912, unit 0
//!  unit 2        .      .     1     .            .
//!  occupied      0      1     1     0            1
//! ```
//!
//! The units of a cycle are stepped in the order of their numbers: a step clears the lowest bit of
//! the slot. A wake-up for the current cycle joins it if the unit's number has not been passed, and
//! otherwise goes to the next cycle. Waking a unit twice in a cycle sets a bit that is set already,
//! so it costs nothing and the order in which units were woken has no effect: runs are
//! deterministic.

use crate::bits;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Cycles that the ring spans; wake-ups further ahead wait in a heap.
const SLOTS: u64 = 256;
const SLOT_WORDS: usize = (SLOTS / 64) as usize;

/// Wake-ups of the units of one clock domain; cycles are those of the domain.
pub struct Wheel {
    words_per_slot: usize,
    bits: Vec<u64>,
    /// One bit per slot, set if any unit is to be stepped in it.
    occupied: [u64; SLOT_WORDS],
    /// The cycle that is being stepped, or between cycles the first that has not been.
    cycle: u64,
    /// Units below this number can no longer be stepped in `cycle`.
    next_unit: usize,
    /// The words of `cycle`'s slot in which units are still looked for, and the number of the first
    /// unit of these words.
    words: Range<usize>,
    first_unit: usize,
    /// Wake-ups beyond the ring, earliest first: cycle and unit.
    far: BinaryHeap<Reverse<(u64, usize)>>,
}

impl Wheel {
    pub fn new(units: usize) -> Wheel {
        let words_per_slot = units.div_ceil(bits::WORD).max(1);
        Wheel {
            words_per_slot,
            bits: vec![0; words_per_slot * SLOTS as usize],
            occupied: [0; SLOT_WORDS],
            cycle: 0,
            next_unit: 0,
            words: 0..words_per_slot,
            first_unit: 0,
            far: BinaryHeap::new(),
        }
    }

    /// Wakes `unit` at `cycle`, or in the first later cycle in which it can still be stepped.
    #[inline]
    pub fn wake(&mut self, unit: usize, cycle: u64) {
        let earliest = self.cycle + u64::from(unit < self.next_unit);
        let cycle = cycle.max(earliest);
        if cycle - self.cycle >= SLOTS {
            return self.wake_far(unit, cycle);
        }
        self.set(unit, cycle);
    }

    #[cold]
    fn wake_far(&mut self, unit: usize, cycle: u64) {
        self.far.push(Reverse((cycle, unit)));
    }

    #[inline]
    fn set(&mut self, unit: usize, cycle: u64) {
        let slot = (cycle % SLOTS) as usize;
        self.bits[slot * self.words_per_slot + unit / bits::WORD] |= 1 << (unit % bits::WORD);
        self.occupied[slot / bits::WORD] |= 1 << (slot % bits::WORD);
    }

    /// The earliest cycle with a wake-up.
    #[inline]
    pub fn next_cycle(&self) -> Option<u64> {
        let near = self.next_occupied();
        let far = self.far.peek().map(|Reverse((cycle, _))| *cycle);
        match (near, far) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    fn next_occupied(&self) -> Option<u64> {
        let start = self.cycle % SLOTS;
        let slot = bits::round_robin(&self.occupied, start as usize)? as u64;
        Some(self.cycle + slot.wrapping_sub(start) % SLOTS)
    }

    /// Units that are to be woken in `cycle`, the earliest with a wake-up, as far as they were woken when
    /// it was within reach of the ring.
    pub fn near(&self, cycle: u64) -> u32 {
        let first = (cycle % SLOTS) as usize * self.words_per_slot;
        self.bits[first..first + self.words_per_slot].iter().map(|word| word.count_ones()).sum()
    }

    /// Begins `cycle`, which must be neither before the current one nor after the earliest wake-up.
    #[inline]
    pub fn begin(&mut self, cycle: u64) {
        debug_assert!(cycle >= self.cycle);
        debug_assert!(self.next_cycle().is_none_or(|next| next >= cycle));
        self.start(cycle);
        while let Some(&Reverse((far, unit))) = self.far.peek() {
            if far - cycle >= SLOTS {
                break;
            }
            self.far.pop();
            self.set(unit, far);
        }
    }

    fn start(&mut self, cycle: u64) {
        self.cycle = cycle;
        self.next_unit = 0;
        let first = (cycle % SLOTS) as usize * self.words_per_slot;
        (self.words, self.first_unit) = (first..first + self.words_per_slot, 0);
    }

    /// Takes the next unit to step in the current cycle, including units woken meanwhile whose
    /// number has not been passed.
    #[inline]
    pub fn take(&mut self) -> Option<usize> {
        while self.words.start < self.words.end {
            if let Some(bit) = bits::take_lowest(&mut self.bits[self.words.start]) {
                let unit = self.first_unit + bit;
                self.next_unit = unit + 1;
                return Some(unit);
            }
            self.words.start += 1;
            self.first_unit += bits::WORD;
        }
        None
    }

    /// Ends the current cycle.
    pub fn end(&mut self) {
        let slot = (self.cycle % SLOTS) as usize;
        bits::remove(&mut self.occupied, slot);
        self.start(self.cycle + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn run_next(wheel: &mut Wheel) -> Option<(u64, Vec<usize>)> {
        let cycle = wheel.next_cycle()?;
        wheel.begin(cycle);
        let units = std::iter::from_fn(|| wheel.take()).collect();
        wheel.end();
        Some((cycle, units))
    }

    #[test]
    fn units_of_a_cycle_are_stepped_once_in_order() {
        let mut wheel = Wheel::new(130);
        for unit in [129, 3, 64, 3] {
            wheel.wake(unit, 7);
        }
        assert_eq!(run_next(&mut wheel), Some((7, vec![3, 64, 129])));
        assert_eq!(run_next(&mut wheel), None);
    }

    #[test]
    fn a_unit_that_has_been_passed_is_stepped_in_the_next_cycle() {
        let mut wheel = Wheel::new(4);
        wheel.wake(2, 5);
        wheel.begin(5);
        assert_eq!(wheel.take(), Some(2));
        wheel.wake(1, 5);
        wheel.wake(3, 0);
        assert_eq!(wheel.take(), Some(3));
        assert_eq!(wheel.take(), None);
        wheel.end();
        assert_eq!(run_next(&mut wheel), Some((6, vec![1])));
    }

    proptest! {
        #[test]
        fn every_wake_up_happens_at_its_cycle(
            wakes in prop::collection::vec((0usize..70, 0u64..2000), 1..60)
        ) {
            let mut wheel = Wheel::new(70);
            let mut expected = BTreeSet::new();
            for &(unit, cycle) in &wakes {
                wheel.wake(unit, cycle);
                expected.insert((cycle, unit));
            }
            let mut seen = BTreeSet::new();
            while let Some((cycle, units)) = run_next(&mut wheel) {
                seen.extend(units.into_iter().map(|u| (cycle, u)));
            }
            prop_assert_eq!(seen, expected);
        }
    }
}
