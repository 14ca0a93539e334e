//! A run cut into intervals: what the machine had done by each boundary, less what it had done by
//! the one before.

use super::system::System;
use crate::results::{IntervalCounts, IntervalRow, RunResult, RunSink, Wanted};
use std::mem;
use warpmem_sim::Since;
use warpmem_sim::{CoreClock, CoreCycle, Ticks};

/// Core cycle of the machine's first step after the dispatcher's.
pub(super) const FIRST_CYCLE: CoreCycle = CoreCycle::new(1);

pub(super) struct Intervals {
    core: CoreClock,
    length: u64,
    /// First cycle of the interval that has begun, what was counted before it, and when it ends.
    start: CoreCycle,
    before: IntervalCounts,
    ends: Ticks,
}

impl Intervals {
    /// None if the sink wants no intervals.
    pub fn new(wanted: &Wanted, core: CoreClock) -> Option<Intervals> {
        let length = wanted.intervals?.get();
        let before = IntervalCounts::default();
        let ends = end_of(core, FIRST_CYCLE, length);
        Some(Intervals { core, length, start: FIRST_CYCLE, before, ends })
    }

    /// Ends the intervals that end before anything happens at `now`, the time of the next event.
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

    /// Ends the last interval, which lasts until the end of the run.
    pub fn finish(mut self, result: &RunResult, sink: &mut dyn RunSink) {
        let end = FIRST_CYCLE + result.core_cycles;
        sink.interval(&self.end(end, IntervalCounts::of(result)));
    }

    /// The interval that ends with all these counted. Nothing is on the machine.
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

/// What the whole machine has counted before `now`.
pub(super) fn counted_before(now: Ticks, system: &mut System) -> IntervalCounts {
    let (read_requests, read_latency) = system.reads();
    IntervalCounts { read_requests, read_latency, ..system.so_far(now) }
}

/// When an interval ends that begins with this cycle; never, if that is later than time goes.
fn end_of(core: CoreClock, start: CoreCycle, length: u64) -> Ticks {
    let end = start.saturating_add(length);
    Ticks(end.number().saturating_mul(core.period()))
}
