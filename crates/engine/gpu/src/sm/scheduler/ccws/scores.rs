//! Lost-locality scores and the set of warps that may load.

use warpmem_sim::{CoreCycle, WarpSlot};

/// A warp with a score above the base.
#[derive(Clone, Copy)]
struct Raised {
    slot: WarpSlot,
    /// Launch order of the warp.
    age: u64,
    /// Cycle in which the score, which falls by one per cycle, is back at the base.
    until: CoreCycle,
}

/// Scores of an SM's warps as functions of time. Warps are sorted by score, highest first, and by
/// age among equals. The leading warps whose scores sum to at most the cutoff may load; the first
/// always may. Warps that wait for anything but memory are excluded: a warp at a barrier must not
/// hold back the warps it waits for.
pub(super) struct Scores {
    base: u64,
    next_age: u64,
    /// Launch order and slot of each warp, oldest first.
    warps: Vec<(u64, WarpSlot)>,
    /// Warps above the base in order of score; some may have fallen back to it.
    raised: Vec<Raised>,
    /// Excluded warps, and the warps that may load until cycle `holds_until`.
    out: u64,
    allowed: u64,
    holds_until: CoreCycle,
}

impl Scores {
    pub fn new(base: u64) -> Scores {
        Scores {
            base,
            next_age: 0,
            warps: Vec::with_capacity(64),
            raised: Vec::with_capacity(64),
            out: 0,
            allowed: 0,
            holds_until: CoreCycle::ZERO,
        }
    }

    /// Returns the cutoff: the sum of all scores at the base.
    pub fn cutoff(&self) -> u64 {
        self.base * self.warps.len() as u64
    }

    /// Adds a launched warp.
    pub fn add(&mut self, slot: WarpSlot) {
        self.warps.push((self.next_age, slot));
        self.next_age += 1;
        self.holds_until = CoreCycle::ZERO;
    }

    /// Removes a retired warp.
    pub fn remove(&mut self, slot: WarpSlot) {
        self.warps.retain(|&(_, other)| other != slot);
        self.raised.retain(|raised| raised.slot != slot);
        self.holds_until = CoreCycle::ZERO;
    }

    /// Raises the score of a resident warp to `score` at `cycle`; a higher score stays.
    pub fn raise(&mut self, slot: WarpSlot, score: u64, cycle: CoreCycle) {
        self.forget_fallen(cycle);
        let until = cycle.saturating_add(score.saturating_sub(self.base));
        let before = self.raised.iter().position(|raised| raised.slot == slot);
        if until <= before.map_or(cycle, |at| self.raised[at].until) {
            return;
        }
        if let Some(at) = before {
            self.raised.remove(at);
        }
        let warp = self.warps.iter().find(|&&(_, other)| other == slot);
        let &(age, _) = warp.expect("a warp that reads is present");
        let goes_after =
            |raised: &Raised| raised.until > until || (raised.until == until && raised.age < age);
        let at = self.raised.partition_point(goes_after);
        self.raised.insert(at, Raised { slot, age, until });
        self.holds_until = CoreCycle::ZERO;
    }

    fn forget_fallen(&mut self, cycle: CoreCycle) {
        self.raised.truncate(self.raised.partition_point(|raised| raised.until > cycle));
    }

    /// Returns the warps that may load in `cycle`, without the excluded warps `out`. Cycles must
    /// not decrease between calls.
    #[inline]
    pub fn may_load(&mut self, cycle: CoreCycle, out: u64) -> u64 {
        if cycle >= self.holds_until || out != self.out {
            self.out = out;
            self.forget_fallen(cycle);
            (self.allowed, self.holds_until) = self.sum_up(cycle);
        }
        self.allowed
    }

    /// Returns the first cycle after the last [`Scores::may_load`] in which its result may differ
    /// although no score was raised.
    pub fn changes_at(&self) -> CoreCycle {
        self.holds_until
    }

    /// Returns the warps that may load, and the cycle until which that holds.
    fn sum_up(&self, cycle: CoreCycle) -> (u64, CoreCycle) {
        let takes_part = |slot: WarpSlot| !slot.is_in(self.out);
        let count = self.warps.iter().filter(|&&(_, slot)| takes_part(slot)).count() as u64;
        let raised = self.raised.iter().filter(|raised| takes_part(raised.slot));
        let cutoff = self.base * count;
        let (mut sum, mut allowed, mut are_raised) = (0u64, 0, 0);
        // The order and the slope of the sums are constant until the next score reaches the base.
        let order_until = self.raised.last().map_or(CoreCycle::NEVER, |raised| raised.until);
        for (falling, raised) in (1..).zip(raised) {
            sum = sum.saturating_add(self.base + raised.until.since(cycle));
            if sum > cutoff && falling > 1 {
                let fits_at = cycle + (sum - cutoff).div_ceil(falling);
                return (allowed, fits_at.min(order_until));
            }
            allowed |= raised.slot.bit();
            are_raised = falling;
        }
        let room = cutoff.saturating_sub(sum) / self.base;
        let is_raised = allowed;
        let is_at_base = |slot: WarpSlot| takes_part(slot) && !slot.is_in(is_raised);
        let rest = self.warps.iter().filter(|&&(_, slot)| is_at_base(slot));
        let allowed = rest.take(room as usize).fold(allowed, |set, &(_, slot)| set | slot.bit());
        if room >= count - are_raised {
            return (allowed, CoreCycle::NEVER);
        }
        let above = sum + (room + 1) * self.base - cutoff;
        let fits_at = cycle + above.div_ceil(are_raised);
        (allowed, fits_at.min(order_until))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Scores driven with plain integers.
    struct Numbered(Scores);

    impl Numbered {
        fn new(base: u64) -> Numbered {
            Numbered(Scores::new(base))
        }

        fn add(&mut self, slot: u16) {
            self.0.add(WarpSlot(slot));
        }

        fn remove(&mut self, slot: u16) {
            self.0.remove(WarpSlot(slot));
        }

        fn raise(&mut self, slot: u16, score: u64, cycle: u64) {
            self.0.raise(WarpSlot(slot), score, CoreCycle::new(cycle));
        }

        fn may_load(&mut self, cycle: u64, out: u64) -> u64 {
            self.0.may_load(CoreCycle::new(cycle), out)
        }

        fn changes_at(&self) -> u64 {
            self.0.changes_at().number()
        }
    }

    /// Builds scores with base 10 for warps in these slots, oldest first.
    fn scores(slots: &[u16]) -> Numbered {
        let mut scores = Numbered::new(10);
        slots.iter().for_each(|&slot| scores.add(slot));
        scores
    }

    #[test]
    fn at_the_base_all_warps_may_load() {
        let mut scores = scores(&[3, 1, 2]);
        assert_eq!((scores.may_load(5, 0), scores.changes_at()), (0b1110, u64::MAX));
    }

    #[test]
    fn scores_decay_by_one_per_cycle_and_readmit_the_oldest_warp_first() {
        let mut scores = scores(&[3, 1, 2, 0]);
        scores.raise(2, 35, 100);
        // Of the cutoff of 40, warp 2 takes 35 at cycle 100, 30 at 105, 20 at 115 and 10 at 125.
        let expected = [
            (100, 0b0100, 105),
            (104, 0b0100, 105),
            (105, 0b1100, 115),
            (114, 0b1100, 115),
            (115, 0b1110, 125),
            (124, 0b1110, 125),
            (125, 0b1111, u64::MAX),
        ];
        for (cycle, allowed, until) in expected {
            assert_eq!(
                (scores.may_load(cycle, 0), scores.changes_at()),
                (allowed, until),
                "{cycle}"
            );
        }
    }

    #[test]
    fn several_scores_decay_together() {
        let mut scores = scores(&[0, 1, 2, 3]);
        scores.raise(1, 25, 0);
        scores.raise(3, 21, 0);
        // 25 + 21 exceeds 40 by 6, which two scores lose in 3 cycles: 22 + 18 = 40.
        assert_eq!((scores.may_load(0, 0), scores.changes_at()), (0b0010, 3));
        // The next warp fits at a sum of 30, 5 cycles later: 17 + 13 = 30.
        assert_eq!((scores.may_load(3, 0), scores.changes_at()), (0b1010, 8));
        // Warp 3 reaches the base in cycle 11: 14 + 10; warps 0 and 2 are older.
        assert_eq!((scores.may_load(8, 0), scores.changes_at()), (0b1011, 11));
        // 14 + 10 + 10 = 34: warp 3, the youngest at the base, does not fit.
        assert_eq!((scores.may_load(11, 0), scores.changes_at()), (0b0111, 15));
        assert_eq!((scores.may_load(15, 0), scores.changes_at()), (0b1111, u64::MAX));
    }

    #[test]
    fn equal_scores_are_ordered_by_age() {
        for order in [[2, 3], [3, 2]] {
            let mut scores = scores(&[0, 3, 2, 1]);
            order.iter().for_each(|&slot| scores.raise(slot, 21, 0));
            assert_eq!((scores.may_load(0, 0), scores.changes_at()), (0b1000, 1), "{order:?}");
        }
    }

    #[test]
    fn the_highest_score_may_always_load() {
        let mut scores = scores(&[0, 1]);
        scores.raise(1, 1000, 0);
        assert_eq!((scores.may_load(0, 0), scores.changes_at()), (0b10, 990));
        assert_eq!((scores.may_load(990, 0), scores.changes_at()), (0b11, u64::MAX));
    }

    #[test]
    fn excluded_warps_hold_no_warp_back() {
        let mut scores = scores(&[0, 1, 2]);
        scores.raise(0, 1000, 0);
        assert_eq!(scores.may_load(0, 0), 0b001);
        assert_eq!(scores.may_load(0, 0b001), 0b110);
        scores.raise(1, 15, 0);
        // Of the cutoff of 20, warp 1 takes 15, and 10 five cycles later.
        assert_eq!((scores.may_load(0, 0b001), scores.changes_at()), (0b010, 5));
        assert_eq!(scores.may_load(5, 0b001), 0b110);
        assert_eq!(scores.may_load(5, 0b110), 0b001);
        assert_eq!(scores.may_load(5, 0), 0b001);
    }

    #[test]
    fn raising_never_lowers_a_score() {
        let mut scores = scores(&[0, 1]);
        scores.raise(1, 30, 0);
        scores.raise(1, 15, 1);
        assert_eq!((scores.may_load(1, 0), scores.changes_at()), (0b10, 20));
        scores.raise(1, 40, 1);
        assert_eq!((scores.may_load(1, 0), scores.changes_at()), (0b10, 31));
    }

    #[test]
    fn launches_and_retirements_move_the_cutoff() {
        let mut scores = scores(&[0, 1]);
        scores.raise(0, 20, 0);
        assert_eq!(scores.may_load(0, 0), 0b01);
        scores.add(2);
        assert_eq!(scores.may_load(0, 0), 0b011, "20 + 10 of 30");
        scores.remove(0);
        assert_eq!((scores.may_load(0, 0), scores.changes_at()), (0b110, u64::MAX));
    }

    /// Applies the definition to scores that were decremented cycle by cycle.
    fn by_definition(scores: &[(u16, u64)], base: u64) -> u64 {
        let mut sorted: Vec<_> = scores.to_vec();
        sorted.sort_by_key(|&(_, score)| std::cmp::Reverse(score));
        let cutoff = base * scores.len() as u64;
        let sums = sorted.iter().scan(0, |sum, &(slot, score)| {
            *sum += score;
            Some((slot, *sum))
        });
        let fit = sums.enumerate().take_while(|&(at, (_, sum))| at == 0 || sum <= cutoff);
        fit.fold(0, |set, (_, (slot, _))| set | 1 << slot)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

        #[test]
        fn the_set_matches_its_definition_until_changes_at(
            warps in 1u16..8,
            base in 1u64..12,
            raises in prop::collection::vec((0u16..8, 1u64..60, 0u64..20), 0..12),
        ) {
            let mut scores = Numbered::new(base);
            // Slots in reverse launch order.
            let mut counted: Vec<(u16, u64)> = (0..warps).rev().map(|slot| (slot, base)).collect();
            counted.iter().for_each(|&(slot, _)| scores.add(slot));
            let (mut cycle, mut asked) = (0, (0, 0));
            for (slot, score, pause) in raises.into_iter().chain([(0, 0, 80)]) {
                let slot = slot % warps;
                scores.raise(slot, score, cycle);
                let warp = counted.iter_mut().find(|warp| warp.0 == slot).unwrap();
                warp.1 = warp.1.max(score);
                asked.1 = cycle;
                for _ in 0..=pause {
                    let expected = by_definition(&counted, base);
                    if cycle >= asked.1 {
                        asked = (scores.may_load(cycle, 0), scores.changes_at());
                        prop_assert!(asked.1 > cycle);
                    }
                    prop_assert_eq!(asked.0, expected);
                    counted.iter_mut().for_each(|warp| warp.1 = base.max(warp.1 - 1));
                    cycle += 1;
                }
            }
            prop_assert_eq!(asked.0.count_ones(), u32::from(warps), "all scores are back at the base");
        }
    }
}
