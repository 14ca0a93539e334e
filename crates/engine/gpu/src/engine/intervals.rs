//! Interval counts: the differences between the counts of the machine at successive boundaries.

use super::system::{FIRST_CYCLE, System};
use crate::results::{IntervalCounts, IntervalRow, RunResult, RunSink, Wanted};
use std::mem;
use warpmem_sim::Since;
use warpmem_sim::{CoreClock, CoreCycle, Ticks};

pub(super) struct Intervals {
    core: CoreClock,
    length: u64,
    /// First cycle of the current interval, the counts before it, and its end.
    start: CoreCycle,
    before: IntervalCounts,
    ends: Ticks,
}

impl Intervals {
    /// Returns none if the sink wants no intervals.
    pub fn new(wanted: &Wanted, core: CoreClock) -> Option<Intervals> {
        let length = wanted.intervals?.get();
        let before = IntervalCounts::default();
        let ends = end_of(core, FIRST_CYCLE, length);
        Some(Intervals { core, length, start: FIRST_CYCLE, before, ends })
    }

    /// Ends the intervals that end before the next event, at `now`.
    pub fn follow(&mut self, now: Ticks, system: &mut System, sink: &mut dyn RunSink) {
        while self.ends <= now {
            let counts = counted_before(self.ends, system);
            sink.interval(&IntervalRow {
                resident_warps: system.resident_warps(),
                requests_in_flight: system.requests_in_flight(),
                ..self.end(self.core.cycle_of(self.ends), counts)
            });
            self.ends = end_of(self.core, self.start, self.length);
        }
    }

    /// Ends the last interval at the end of the run.
    pub fn finish(mut self, result: &RunResult, sink: &mut dyn RunSink) {
        let end = FIRST_CYCLE + result.core_cycles;
        sink.interval(&self.end(end, IntervalCounts::of(result)));
    }

    /// Returns the interval that ends with `counts`, on an idle machine.
    fn end(&mut self, end: CoreCycle, counts: IntervalCounts) -> IntervalRow {
        let mut own = counts.clone();
        own.subtract(&mem::replace(&mut self.before, counts));
        let start = mem::replace(&mut self.start, end);
        IntervalRow {
            start_cycle: start.number(),
            cycles: end.since(start),
            counts: own,
            ..IntervalRow::default()
        }
    }
}

/// Returns the counts of the whole machine up to `now`, exclusive.
pub(super) fn counted_before(now: Ticks, system: &mut System) -> IntervalCounts {
    let (read_requests, read_latency) = system.reads();
    IntervalCounts { read_requests, read_latency, ..system.so_far(now) }
}

/// Returns the end of an interval that starts with this cycle, at most the largest time.
fn end_of(core: CoreClock, start: CoreCycle, length: u64) -> Ticks {
    let end = start.saturating_add(length);
    Ticks(end.number().saturating_mul(core.period()))
}
