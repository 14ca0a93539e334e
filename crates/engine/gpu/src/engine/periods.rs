//! Counts by kernel: the difference between the counts at the start of the next kernel and at its
//! own start.
//!
//! A *period* lasts from the start of a kernel with no other running to the next such start; the
//! last one lasts until memory is idle. It covers a whole kernel, the activity of memory for it
//! before the next one starts, and the cycles between the two. The periods of a run add up to the
//! run. The parts of a kernel in a sampled run are weighted.

use super::extrapolated::Extrapolated;
use super::intervals::counted_before;
use super::system::{FIRST_CYCLE, System};
use crate::results::{IntervalCounts, KernelResult, RunResult};
use std::mem;
use warpmem_sim::{CoreClock, CoreCycle, Ticks, Times};

pub(super) struct Periods {
    core: CoreClock,
    /// First cycle of the current period, and of its current part.
    start: CoreCycle,
    part: CoreCycle,
    cycles: Extrapolated<u64>,
    counts: Extrapolated<IntervalCounts>,
    /// First cycle, cycles and counts of the completed periods.
    over: Vec<(CoreCycle, Own)>,
}

/// Cycles and counts of a period.
type Own = (u64, IntervalCounts);

impl Periods {
    /// Starts the first period with the run.
    pub fn new(core: CoreClock) -> Periods {
        let (cycles, counts) = Default::default();
        Periods { core, start: FIRST_CYCLE, part: FIRST_CYCLE, cycles, counts, over: Vec::new() }
    }

    /// Ends the period, or its part, if the next one starts before the next event at `now`; returns
    /// its start.
    #[inline]
    pub fn follow(&mut self, now: Ticks, system: &mut System) -> Option<Ticks> {
        let next = *system.dispatcher().period();
        let begins = self.core.at(next.start);
        if next.start == self.part || begins > now {
            return None;
        }
        let counts = counted_before(begins, system);
        self.end_part(next.start, counts, system.dispatcher().ended_period().weight);
        if !next.is_part {
            self.end(system.dispatcher().scale());
        }
        Some(begins)
    }

    /// Ends the last period, and assigns the counts of each period to its kernel, if it has only
    /// one.
    pub fn finish(mut self, system: &System, result: &mut RunResult) {
        // The last part of a kernel, its end, stands for itself.
        self.end_part(FIRST_CYCLE + result.core_cycles, IntervalCounts::of(result), None);
        self.end(system.dispatcher().scale());
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
    fn take(&mut self, period: usize) -> Own {
        mem::take(&mut self.over[period].1)
    }

    /// Returns the last period that started no later than the kernel.
    fn period_of(&self, kernel: &KernelResult) -> usize {
        let begun = self.over.partition_point(|(start, _)| start.number() <= kernel.start_cycle);
        begun.saturating_sub(1)
    }

    /// Ends a part of the period with `counts`, and starts the next.
    fn end_part(&mut self, next: CoreCycle, counts: IntervalCounts, weight: Option<u32>) {
        self.part = next;
        self.cycles.end_period(next.since(FIRST_CYCLE), weight);
        self.counts.end_period(counts, weight);
    }

    /// Ends the period with its last part, and starts the next. `scale`: weight of its drawn parts, in
    /// addition to their own.
    fn end(&mut self, scale: Times) {
        let (cycles, mut counts) = (self.cycles.end_launch(scale), self.counts.end_launch(scale));
        counts.forget_retries();
        self.over.push((mem::replace(&mut self.start, self.part), (cycles, counts)));
    }
}
