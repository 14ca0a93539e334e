//! Counts by kernel: the difference between the counts at the start of the next kernel and at its
//! own start.
//!
//! A *period* lasts from the start of a kernel with no other running to the next such start; the
//! last one lasts until memory is idle. It covers a whole kernel, the activity of memory for it
//! before the next one starts, and the cycles between the two. The periods of a run add up to the
//! run.

use super::intervals::counted_before;
use super::system::{FIRST_CYCLE, System};
use crate::results::{IntervalCounts, KernelResult, RunResult};
use std::mem;
use warpmem_sim::{CoreClock, CoreCycle, Since, Ticks};

pub(super) struct Periods {
    core: CoreClock,
    /// First cycle of the current period, and the counts before it.
    start: CoreCycle,
    before: IntervalCounts,
    /// First cycle and counts of the completed periods.
    over: Vec<(CoreCycle, IntervalCounts)>,
}

impl Periods {
    /// Starts the first period with the run.
    pub fn new(core: CoreClock) -> Periods {
        let before = IntervalCounts::default();
        Periods { core, start: FIRST_CYCLE, before, over: Vec::new() }
    }

    /// Ends the period if the next one starts before the next event at `now`; returns its start.
    #[inline]
    pub fn follow(&mut self, now: Ticks, system: &mut System) -> Option<Ticks> {
        let next = system.dispatcher().period_start();
        let begins = self.core.at(next);
        if next == self.start || begins > now {
            return None;
        }
        let counts = counted_before(begins, system);
        self.end(next, counts);
        Some(begins)
    }

    /// Ends the last period, and assigns the counts of each period to its kernel, if it has only
    /// one.
    pub fn finish(mut self, result: &mut RunResult) {
        self.end(FIRST_CYCLE + result.core_cycles, IntervalCounts::of(result));
        let mut kernels_of = vec![0; self.over.len()];
        for kernel in result.kernels.iter().filter(|kernel| kernel.ctas > 0) {
            kernels_of[self.period_of(kernel)] += 1;
        }
        for kernel in &mut result.kernels {
            let period = self.period_of(kernel);
            let own = match (kernel.ctas, kernels_of[period]) {
                (0, _) => Some((0, IntervalCounts::default())),
                (_, 1) => Some(self.take(period)),
                _ => None,
            };
            (kernel.period, kernel.counts) = own.unzip();
        }
    }

    /// Takes the cycles and the counts of a period.
    fn take(&mut self, period: usize) -> (u64, IntervalCounts) {
        let next = self.over.get(period + 1).map_or(self.start, |(start, _)| *start);
        let (start, counts) = &mut self.over[period];
        (next.since(*start), mem::take(counts))
    }

    /// Returns the last period that started no later than the kernel.
    fn period_of(&self, kernel: &KernelResult) -> usize {
        let begun = self.over.partition_point(|(start, _)| start.number() <= kernel.start_cycle);
        begun.saturating_sub(1)
    }

    /// Ends the period with `counts`, and starts the next.
    fn end(&mut self, next: CoreCycle, counts: IntervalCounts) {
        let mut own = counts.clone();
        own.subtract(&mem::replace(&mut self.before, counts));
        own.forget_retries();
        self.over.push((mem::replace(&mut self.start, next), own));
    }
}
