//! Counts of a launch, extrapolated from its periods ([`Period`](crate::cta::Period)).

use std::mem;
use warpmem_sim::{Times, Weigh};

#[derive(Default)]
pub(super) struct Extrapolated<C> {
    /// Counts of the run before the current period.
    before: C,
    /// Counts of the periods of the launch that stand for themselves, and of those drawn, weighted.
    own: C,
    drawn: C,
}

impl<C: Weigh + Default> Extrapolated<C> {
    /// Ends a period of this weight with the `counts` of the run.
    pub fn end_period(&mut self, counts: C, weight: Option<u32>) {
        match weight {
            None => self.own.weigh(&self.before, &counts, Times::ONCE),
            Some(units) => self.drawn.weigh(&self.before, &counts, u64::from(units).into()),
        }
        self.before = counts;
    }

    /// Ends the launch with its last period; returns its counts. `scale`: weight of the drawn periods,
    /// in addition to their own.
    pub fn end_launch(&mut self, scale: Times) -> C {
        let (mut all, nothing) = (C::default(), C::default());
        all.weigh(&nothing, &mem::take(&mut self.drawn), scale);
        // Last, as what is no count takes the value of the last state.
        all.weigh(&nothing, &mem::take(&mut self.own), Times::ONCE);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_periods_are_weighted_and_scaled_and_those_that_warm_do_not_count() {
        let mut counts = Extrapolated::<u64>::default();
        for (count, weight) in
            [(10, None), (13, Some(0)), (20, Some(4)), (21, Some(0)), (30, Some(2)), (35, None)]
        {
            counts.end_period(count, weight);
        }
        // 10 and 5 of their own; 4 x 7 and 2 x 9 drawn, times 3/2.
        assert_eq!(counts.end_launch(Times::ratio(3, 2)), 15 + 69);
        counts.end_period(42, None);
        assert_eq!(counts.end_launch(Times::ONCE), 7);
    }
}
