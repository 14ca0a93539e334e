//! What the units count for each kernel: what they had counted when the next kernel started, less
//! what they had when this one did.
//!
//! A *period* lasts from the start of a kernel beside which none runs to the next such start; the
//! last one until memory is done. It has the whole of a kernel, what memory finishes for it before
//! the next one starts, and the cycles between the two. The periods of a run add up to the run.

use super::intervals::{FIRST_CYCLE, counted_before};
use super::system::System;
use crate::results::{IntervalCounts, KernelResult, RunResult};
use std::mem;
use warpmem_sim::{CoreClock, CoreCycle, Since, Ticks};

pub(super) struct Periods {
    core: CoreClock,
    /// First cycle of the period that has begun, and what was counted before it.
    start: CoreCycle,
    before: IntervalCounts,
    /// First cycle and counts of the periods that are over.
    over: Vec<(CoreCycle, IntervalCounts)>,
}

impl Periods {
    /// The first period begins with the run.
    pub fn new(core: CoreClock) -> Periods {
        let before = IntervalCounts::default();
        Periods { core, start: FIRST_CYCLE, before, over: Vec::new() }
    }

    /// Ends the period if the next begins before anything happens at `now`, the time of the next
    /// event; when that is, if it does.
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

    /// Ends the last period, and gives its counts to each kernel that was alone in its period.
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

    /// The cycles and the counts of a period.
    fn take(&mut self, period: usize) -> (u64, IntervalCounts) {
        let next = self.over.get(period + 1).map_or(self.start, |(start, _)| *start);
        let (start, counts) = &mut self.over[period];
        (next.since(*start), mem::take(counts))
    }

    /// The last of the periods that began no later than the kernel.
    fn period_of(&self, kernel: &KernelResult) -> usize {
        let begun = self.over.partition_point(|(start, _)| start.number() <= kernel.start_cycle);
        begun.saturating_sub(1)
    }

    /// The period ends with all these counted, and the next begins.
    fn end(&mut self, next: CoreCycle, counts: IntervalCounts) {
        let mut own = counts.clone();
        own.subtract(&mem::replace(&mut self.before, counts));
        own.forget_retries();
        self.over.push((mem::replace(&mut self.start, next), own));
    }
}
