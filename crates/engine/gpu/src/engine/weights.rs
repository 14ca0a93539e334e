//! Extrapolation of a run in which launches represent others that are not simulated: the counts of
//! the period of each launch ([`Periods`](super::periods::Periods)) are weighted by the number of
//! launches that it represents.

use super::system::System;
use crate::cta::Launches;
use crate::results::RunResult;
use warpmem_sim::{Ticks, Weigh};

pub(super) struct Weights {
    /// Weights of the launches whose periods are not over.
    left: std::vec::IntoIter<u32>,
    /// Counts at the start of the current period.
    before: RunResult,
    weighed: RunResult,
}

impl Weights {
    /// Returns none if every launch represents only itself.
    pub fn new(launches: &Launches, has_ctas: impl Fn(usize) -> bool) -> Option<Weights> {
        if launches.are_all() {
            return None;
        }
        let left = launches.iter().enumerate().filter(|&(launch, _)| has_ctas(launch));
        let left: Vec<u32> = left.filter_map(|(_, share)| share.stands_for).collect();
        let (before, weighed) = (RunResult::default(), RunResult::default());
        Some(Weights { left: left.into_iter(), before, weighed })
    }

    /// Ends a period at `now`.
    pub fn end_period(&mut self, now: Ticks, system: &mut System) {
        let counts = system.all_so_far(now);
        self.weigh(&counts);
        self.before = counts;
    }

    /// Ends the last period, and replaces the counts of the run by the weighted ones.
    pub fn finish(mut self, result: &mut RunResult) {
        self.weigh(result);
        let RunResult { core_cycles, sms, slices, mshr_cycles, .. } = self.weighed;
        result.core_cycles = core_cycles;
        (result.sms, result.slices, result.mshr_cycles) = (sms, slices, mshr_cycles);
        let RunResult { channels, networks, translation, latency, loads, .. } = self.weighed;
        (result.channels, result.networks) = (channels, networks);
        result.translation = translation;
        (result.latency, result.loads) = (latency, loads);
        for kernel in &result.kernels {
            if let Some(progress) = result.progress.get_mut(kernel.launch as usize) {
                progress.repeat(kernel.stands_for);
            }
        }
    }

    /// Adds the period that ends with `counts`, weighted.
    fn weigh(&mut self, counts: &RunResult) {
        let times = self.left.next().expect("every period has a kernel of its own").into();
        let (weighed, before) = (&mut self.weighed, &self.before);
        weighed.core_cycles.weigh(&before.core_cycles, &counts.core_cycles, times);
        weighed.sms.weigh(&before.sms, &counts.sms, times);
        weighed.slices.weigh(&before.slices, &counts.slices, times);
        weighed.mshr_cycles.weigh(&before.mshr_cycles, &counts.mshr_cycles, times);
        weighed.channels.weigh(&before.channels, &counts.channels, times);
        weighed.networks.weigh(&before.networks, &counts.networks, times);
        weighed.translation.weigh(&before.translation, &counts.translation, times);
        weighed.latency.weigh(&before.latency, &counts.latency, times);
        weighed.loads.weigh(&before.loads, &counts.loads, times);
    }
}
