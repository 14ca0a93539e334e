//! Extrapolation of a sampled run: the counts of each launch are those of the launches that it
//! represents.

use super::extrapolated::Extrapolated;
use super::system::System;
use crate::results::RunResult;
use warpmem_sim::{Ticks, Times, Weigh};

#[derive(Default)]
pub(super) struct Weights {
    launch: Extrapolated<RunResult>,
    weighed: RunResult,
}

impl Weights {
    /// Returns none if the run simulates everything.
    pub fn new(system: &System) -> Option<Weights> {
        system.dispatcher().is_sampled().then(Weights::default)
    }

    /// Ends a period at `now`, when the next has begun.
    pub fn end_period(&mut self, now: Ticks, system: &mut System) {
        let counts = system.all_so_far(now);
        let (ended, next) = (system.dispatcher().ended_period(), system.dispatcher().period());
        self.launch.end_period(counts, ended.weight);
        if !next.is_part {
            self.end_launch(system, ended.stands_for);
        }
    }

    /// Ends the last period, and replaces the counts of the run by the weighted ones.
    pub fn finish(mut self, system: &System, result: &mut RunResult) {
        self.launch.end_period(result.clone(), system.dispatcher().period().weight);
        self.end_launch(system, system.dispatcher().period().stands_for);
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

    fn end_launch(&mut self, system: &System, stands_for: u32) {
        let counts = self.launch.end_launch(system.dispatcher().scale());
        self.weighed.weigh(&RunResult::default(), &counts, u64::from(stands_for).into());
    }
}

/// The counts of units and cycles; kernels, progress, policies' counters and steps are left out.
impl Weigh for RunResult {
    fn weigh(&mut self, before: &RunResult, after: &RunResult, times: Times) {
        self.core_cycles.weigh(&before.core_cycles, &after.core_cycles, times);
        self.sms.weigh(&before.sms, &after.sms, times);
        self.slices.weigh(&before.slices, &after.slices, times);
        self.mshr_cycles.weigh(&before.mshr_cycles, &after.mshr_cycles, times);
        self.channels.weigh(&before.channels, &after.channels, times);
        self.networks.weigh(&before.networks, &after.networks, times);
        self.translation.weigh(&before.translation, &after.translation, times);
        self.latency.weigh(&before.latency, &after.latency, times);
        self.loads.weigh(&before.loads, &after.loads, times);
    }
}
