//! Dispatch in a sampled run ([`crate::sampling`]): launches and CTAs that are skipped, and the periods
//! in which units count for those that represent them.

use super::kernels::{Running, State};
use super::{Dispatcher, KernelSource};
use crate::sampling::{CyclesError, Part, Parts, Work};
use warpmem_sim::{CoreCycle, Times};
use warpmem_trace::TraceError;

/// A time from the start of a kernel with no other running, or of a part of a kernel, to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Period {
    /// First core cycle.
    pub start: CoreCycle,
    /// It continues the kernel of the period before.
    pub is_part: bool,
    /// Units of its kernel that it represents; none if it stands for itself alone, 0 if it only fills
    /// the caches.
    pub weight: Option<u32>,
    /// Launches that its kernel represents.
    pub stands_for: u32,
}

impl Period {
    pub const FIRST: Period = Period::of_launch(CoreCycle::new(1), 1);

    pub const fn of_launch(start: CoreCycle, stands_for: u32) -> Period {
        Period { start, is_part: false, weight: None, stands_for }
    }
}

/// Launches and CTAs that are skipped: those from `from` up to `to`, exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    pub from: Place,
    pub to: Place,
}

/// A CTA of a launch, in the order of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub launch: u32,
    pub cta: u32,
}

impl Place {
    const fn start_of(launch: usize) -> Place {
        Place { launch: launch as u32, cta: 0 }
    }
}

impl Dispatcher {
    /// Skips the first `launches`.
    pub(super) fn fast_forward(&mut self, launches: usize) {
        for (kernel, result) in self.kernels.iter_mut().zip(&mut self.results).take(launches) {
            (kernel.state, result.stands_for) = (State::Done, 0);
            self.ctas_ended += u64::from(kernel.ctas);
        }
        if launches > 0 {
            self.gap = Some(Gap { from: Place::start_of(0), to: Place::start_of(launches) });
        }
    }

    /// Whether launches and CTAs may represent others.
    pub fn is_sampled(&self) -> bool {
        self.sampling.is_some()
    }

    /// Returns the current period.
    pub(crate) fn period(&self) -> &Period {
        &self.period
    }

    /// Returns the period before the current one.
    pub(crate) fn ended_period(&self) -> &Period {
        &self.ended_period
    }

    /// Takes what was skipped before the last started CTA.
    pub(crate) fn take_gap(&mut self) -> Option<Gap> {
        self.gap.take()
    }

    /// Returns the error of the sampled cycles; none if it is unknown, or nothing was skipped.
    pub(crate) fn cycles_error(&self) -> Option<CyclesError> {
        self.sampling.as_ref()?.error()
    }

    pub(super) fn begin_period(&mut self, period: Period) {
        // The first kernel starts with the run.
        if period.start > self.period.start {
            self.ended_period = self.period;
        }
        self.period = period;
    }

    /// Passes over kernels from `first` on that are not simulated, when the one before has ended.
    pub(super) fn skip_kernels(&mut self, first: usize) {
        let Some(sampling) = &mut self.sampling else { return };
        let mut next = first;
        while let Some(kernel) = self.kernels.get_mut(next) {
            let result = &mut self.results[next];
            result.like = sampling.like(next as u32);
            result.stands_for = sampling.choose(next as u32).unwrap_or(0);
            if result.stands_for > 0 {
                break;
            }
            kernel.state = State::Done;
            self.ctas_ended += u64::from(kernel.ctas);
            next += 1;
        }
        if next > first && next < self.kernels.len() {
            self.gap = Some(Gap { from: Place::start_of(first), to: Place::start_of(next) });
        }
    }

    /// Returns the simulated parts of a starting kernel.
    pub(super) fn parts(&self, kernel: usize) -> Option<Parts> {
        self.sampling.as_ref()?.parts(kernel as u32, self.results[kernel].stands_for)
    }

    /// Returns the CTAs of a launch that the machine holds, and the capacity of L1 beside them, bytes.
    pub(crate) fn residency(&self, launch: u32) -> (u32, u32) {
        let kernel = &self.kernels[launch as usize];
        (kernel.wave(self.sms.len() as u32), kernel.l1_bytes)
    }

    /// Takes the number of warp instructions issued in the run so far.
    pub fn note_issued(&mut self, instructions: u64) {
        self.issued = instructions;
    }

    /// Returns the cycles and the instructions of the run up to the end of `cycle`.
    pub(super) fn work(&self, cycle: CoreCycle) -> Work {
        Work { cycles: cycle.number(), instructions: self.issued }
    }

    /// Goes on to the next part of running kernel `at`, if its current one has started all its CTAs.
    /// Returns whether a CTA may start in `cycle`: parts start in different cycles.
    pub(super) fn continue_parts(
        &mut self,
        at: usize,
        cycle: CoreCycle,
        source: &mut dyn KernelSource,
    ) -> Result<bool, TraceError> {
        let now = self.work(cycle);
        let running = &mut self.running[at];
        let Some(parts) = &mut running.parts else { return Ok(true) };
        if running.next_cta < parts.part().ctas.end {
            return Ok(true);
        }
        if running.before_part.cycles == now.cycles {
            return Ok(false);
        }
        parts.next(now.since(running.before_part));
        running.before_part = now;
        let Part { ctas, weight } = parts.part().clone();
        if ctas.start > running.next_cta {
            let place = |cta| Place { launch: running.kernel as u32, cta };
            self.gap = Some(Gap { from: place(running.next_cta), to: place(ctas.start) });
            let skipped = running.skip_to(ctas.start, source.seek(running.kernel, ctas.start)?);
            self.ctas_ended += u64::from(skipped);
        }
        self.begin_period(Period { start: cycle + 1, is_part: true, weight, ..self.period });
        Ok(true)
    }

    /// Records the cycles of a kernel that has ended, up to the start of the next.
    pub(super) fn end_sampled(&mut self, mut ended: Running) {
        let last = self.work(self.next_start);
        let Some(sampling) = &mut self.sampling else { return };
        let mut cycles = self.next_start.since(ended.start);
        let result = &mut self.results[ended.kernel];
        self.scale = Times::ONCE;
        if let Some(parts) = &mut ended.parts {
            cycles = parts.end(last.since(ended.before_part));
            self.scale = parts.scale();
            let after_end = self.next_start.number() + 1 - result.end_cycle;
            result.extrapolated_cycles = (!parts.are_all()).then_some(cycles - after_end);
        }
        sampling.end(ended.kernel as u32, result.stands_for, cycles, ended.parts.as_ref());
        self.skip_kernels(ended.kernel + 1);
    }

    /// Returns the weight of the drawn parts of the kernel that ended last, in addition to their own.
    pub(crate) fn scale(&self) -> Times {
        self.scale
    }
}
