//! The wake wheel: the units of one clock domain to be stepped, by cycle.
//!
//! A wake-up is a pair of a unit and a cycle. The wheel is a ring of 256 buckets, one for each of
//! the next 256 cycles. A bucket has one bit per unit; a further word array has one bit per
//! non-empty bucket, so that the next cycle with a wake-up is found without scanning the buckets.
//! Later wake-ups wait in a heap and move into the ring when their cycle comes within range. With
//! three units, in cycle 514:
//!
//! ```text
//!                         now = 514
//!                             ▼
//!  bucket        0      1     2     3    ...   255
//!  its cycle   768    769   514   515    ...   767      further ahead (heap)
//!  unit 0        .      .     1     .            .        cycle 770, unit 1
//!  unit 1        .      1     .     .            1        cycle 912, unit 0
//!  unit 2        .      .     1     .            .
//!  occupied      0      1     1     0            1
//! ```
//!
//! The units of a cycle are stepped in the order of their numbers: a step clears the lowest bit of
//! the bucket. A wake-up for the current cycle takes effect in it if the unit's number has not been
//! passed, and otherwise in the next cycle. Waking a unit twice in a cycle sets the same bit twice,
//! so the order of wake-ups has no effect: runs are deterministic.

use crate::bits;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Cycles that the ring spans; later wake-ups wait in a heap.
const BUCKETS: u64 = 256;
const BUCKET_WORDS: usize = (BUCKETS / 64) as usize;

/// Wake-ups of the units of one clock domain, in cycles of that domain.
pub struct Wheel {
    words_per_bucket: usize,
    bits: Vec<u64>,
    /// One bit per bucket, set if a unit is due in it.
    occupied: [u64; BUCKET_WORDS],
    /// The current cycle; between cycles, the next one.
    cycle: u64,
    /// Lowest number of a unit that can still be stepped in `cycle`.
    next_unit: usize,
    /// The unsearched words of the current bucket, and the number of the first unit of these words.
    words: Range<usize>,
    first_unit: usize,
    /// Wake-ups beyond the ring, earliest first: cycle and unit.
    far: BinaryHeap<Reverse<(u64, usize)>>,
}

impl Wheel {
    pub fn new(units: usize) -> Wheel {
        let words_per_bucket = units.div_ceil(bits::WORD).max(1);
        Wheel {
            words_per_bucket,
            bits: vec![0; words_per_bucket * BUCKETS as usize],
            occupied: [0; BUCKET_WORDS],
            cycle: 0,
            next_unit: 0,
            words: 0..words_per_bucket,
            first_unit: 0,
            far: BinaryHeap::new(),
        }
    }

    /// Wakes `unit` at `cycle`, or in the first possible later cycle.
    #[inline]
    pub fn wake(&mut self, unit: usize, cycle: u64) {
        let earliest = self.cycle + u64::from(unit < self.next_unit);
        let cycle = cycle.max(earliest);
        if cycle - self.cycle >= BUCKETS {
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
        let bucket = (cycle % BUCKETS) as usize;
        self.bits[bucket * self.words_per_bucket + unit / bits::WORD] |= 1 << (unit % bits::WORD);
        self.occupied[bucket / bits::WORD] |= 1 << (bucket % bits::WORD);
    }

    /// Returns the earliest cycle with a wake-up.
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
        let start = self.cycle % BUCKETS;
        let bucket = bits::round_robin(&self.occupied, start as usize)? as u64;
        Some(self.cycle + bucket.wrapping_sub(start) % BUCKETS)
    }

    /// Returns the number of units due in `cycle`, the earliest with a wake-up, without those that
    /// still wait in the heap.
    pub fn near(&self, cycle: u64) -> u32 {
        let first = (cycle % BUCKETS) as usize * self.words_per_bucket;
        self.bits[first..first + self.words_per_bucket].iter().map(|word| word.count_ones()).sum()
    }

    /// Begins `cycle`, neither before the current one nor after the earliest wake-up.
    #[inline]
    pub fn begin(&mut self, cycle: u64) {
        debug_assert!(cycle >= self.cycle);
        debug_assert!(self.next_cycle().is_none_or(|next| next >= cycle));
        self.start(cycle);
        while let Some(&Reverse((far, unit))) = self.far.peek() {
            if far - cycle >= BUCKETS {
                break;
            }
            self.far.pop();
            self.set(unit, far);
        }
    }

    fn start(&mut self, cycle: u64) {
        self.cycle = cycle;
        self.next_unit = 0;
        let first = (cycle % BUCKETS) as usize * self.words_per_bucket;
        (self.words, self.first_unit) = (first..first + self.words_per_bucket, 0);
    }

    /// Takes the next unit due in the current cycle, including those woken meanwhile whose number
    /// has not been passed.
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
        let bucket = (self.cycle % BUCKETS) as usize;
        bits::remove(&mut self.occupied, bucket);
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
    fn a_passed_unit_is_stepped_in_the_next_cycle() {
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
