//! The counts of a machine, during a run and at its end.

use super::{FIRST_CYCLE, System};
use crate::context::Recording;
use crate::controller::MemoryController;
use crate::engine::region_units::RegionUnits;
use crate::l2::Slice;
use crate::results::{CounterResult, IntervalCounts, KernelResult, RunResult};
use std::mem;
use warpmem_machine::{Machine, Policies};
use warpmem_params::{Counter, policy_name};
use warpmem_sim::{CoreCycle, Ticks, Total, domain};
use warpmem_translation::{Mmu, TranslationResult};

impl System {
    /// Returns the counts of SMs, slices and channels up to `now`, exclusive.
    pub fn so_far(&mut self, now: Ticks) -> IntervalCounts {
        let core = self.clock::<domain::Core>().cycle_from(now);
        let l2 = self.clock::<domain::L2>().cycle_from(now);
        let dram = self.clock::<domain::Dram>().cycle_from(now);
        let mut counts = IntervalCounts::default();
        self.sms_mut().for_each(|sm| counts.sms.add(&sm.so_far(core)));
        for slice in self.slices() {
            counts.l2.add(slice.accesses());
            counts.l2_queues.add(&slice.queue_length(l2));
        }
        for controller in self.controllers() {
            counts.add_channel(controller.counts(dram));
        }
        counts
    }

    /// Returns all counts that are weighted by kernels, up to `now`, exclusive, unit by unit.
    pub fn all_so_far(&mut self, now: Ticks) -> RunResult {
        let core = self.clock::<domain::Core>().cycle_from(now);
        let mut result = RunResult {
            core_cycles: core.since(FIRST_CYCLE),
            sms: self.sms_mut().map(|sm| sm.so_far(core)).collect(),
            ..RunResult::default()
        };
        self.memory_so_far(now, &mut result);
        let network = self.clock::<domain::Network>().cycle_from(now).number();
        result.networks = self.networks.iter().map(|n| n.so_far(network)).collect();
        result.translation = self.translation_so_far();
        for RegionUnits { record, .. } in &self.parts {
            result.latency.add(&record.latency);
            result.loads.add(&record.loads);
        }
        result
    }

    /// Adds the counts of slices and channels up to `now`, exclusive.
    fn memory_so_far(&mut self, now: Ticks, result: &mut RunResult) {
        let l2 = self.clock::<domain::L2>().cycle_from(now);
        result.slices = self.slices().map(|slice| slice.so_far(l2)).collect();
        if self.slices().any(Slice::is_cached) {
            result.mshr_cycles = self.mshrs.so_far(l2);
        }
        let dram = self.clock::<domain::Dram>().cycle_from(now);
        result.channels = self.controllers().map(|c| c.counts(dram)).collect();
    }

    fn translation_so_far(&self) -> TranslationResult {
        self.mmu.as_ref().map(Mmu::so_far).unwrap_or_default()
    }

    /// Returns the completed read requests, and the sum of their latencies in core cycles.
    pub fn reads(&self) -> (u64, u64) {
        let totals = self.parts.iter().map(|part| &part.record.latency.total);
        totals.fold((0, 0), |(count, sum), total| (count + total.count(), sum + total.sum() as u64))
    }

    /// Moves everything that was recorded into `result`.
    pub fn take_record(&mut self, result: &mut RunResult) {
        self.gather_rows();
        let (first, others) = self.parts.split_first_mut().expect("there is a part");
        others.iter().for_each(|part| first.record.add(&part.record));
        let Recording { latency, loads, progress, .. } = &mut first.record;
        result.latency = mem::take(latency);
        result.loads = mem::take(loads);
        result.progress = mem::take(progress);
    }

    /// Ends the SMs' account of cycles at core cycle `cycle`, when the last CTA has ended.
    pub fn finish_sms(&mut self, cycle: CoreCycle, result: &mut RunResult) {
        result.sms = self.sms_mut().map(|sm| sm.finish(cycle)).collect();
    }

    /// Adds the results of the memory sides of SMs and of all units below them, when all requests are
    /// done, at time `now`.
    pub fn finish_memory(&mut self, now: Ticks, machine: &Machine, result: &mut RunResult) {
        for (sm, result) in self.sms().zip(&mut result.sms) {
            sm.finish_memory(result);
        }
        self.parts.iter_mut().flat_map(|part| &mut part.slices).for_each(Slice::end_prefetches);
        self.memory_so_far(now, result);
        let sharing = self.controllers().filter_map(MemoryController::row_sharing);
        sharing.for_each(|sharing| sharing.add_to(&mut result.row_sharing));
        let cycle = self.clock::<domain::Network>().cycle_from(now).number();
        result.networks = self.networks.iter_mut().map(|network| network.finish(cycle)).collect();
        result.translation = self.translation_so_far();
        result.counters = self.counters(machine);
        let launches = self.dispatcher.results().iter();
        let simulated = launches.filter(|kernel| kernel.stands_for > 0);
        result.kernels =
            simulated.map(|k| KernelResult { simulated_ctas: k.ctas, ..k.clone() }).collect();
        result.cycles_error = self.dispatcher.cycles_error();
        result.steps = self.steps();
    }

    /// Returns the counters of all policies.
    fn counters(&self, machine: &Machine) -> Vec<CounterResult> {
        let policy = &machine.policy;
        let mut counters = self.channel_counters(machine);
        for (index, sm) in self.sms().enumerate() {
            counters.extend(named("sm", index, &policy.warp_scheduler, sm.counters()));
        }
        for (index, slice) in self.slices().enumerate() {
            counters.extend(named("slice", index, &policy.l2_queue, slice.queue_counters()));
            counters.extend(named("slice", index, "l2.copies", slice.copy_counters()));
            let of_cold_launches = slice.cold_launch_counters();
            counters.extend(named("slice", index, "run.cold_launches", of_cold_launches));
        }
        let dispatcher = self.dispatcher.counters();
        counters.extend(named("machine", 0, &policy.cta_scheduler, dispatcher));
        counters
    }

    /// Returns the counters of DRAM schedulers and prefetchers by channel; those of a scheduler
    /// include its slices.
    fn channel_counters(&self, machine: &Machine) -> Vec<CounterResult> {
        let per_channel = machine.l2.slices_per_channel as usize;
        let slices = self.parts.iter().flat_map(|part| part.slices.chunks(per_channel));
        let Policies { dram_scheduler: scheduler, prefetcher, ideal, .. } = &machine.policy;
        let mut counters = Vec::new();
        for (channel, (controller, slices)) in self.controllers().zip(slices).enumerate() {
            let own = if controller.is_perfect() { ideal } else { scheduler };
            counters.extend(named("channel", channel, own, controller.counters()));
            let prefetches = controller.channel().prefetch_counters();
            counters.extend(named("channel", channel, prefetcher, prefetches));
            let slices = sum_by_name(slices.iter().flat_map(Slice::counters));
            counters.extend(named("channel", channel, scheduler, slices));
        }
        counters
    }
}

/// Converts the counters of a policy in a unit for the tables.
fn named(
    unit: &'static str,
    index: usize,
    policy: &str,
    counters: impl IntoIterator<Item = Counter>,
) -> impl Iterator<Item = CounterResult> {
    let (index, policy) = (index as u32, policy_name(policy).to_owned());
    counters.into_iter().map(move |Counter { name, value }| {
        let policy = policy.clone();
        CounterResult { unit, index, policy, counter: name, value }
    })
}

/// Adds up counters of the same name, in order of first occurrence.
fn sum_by_name(counters: impl Iterator<Item = Counter>) -> Vec<Counter> {
    let mut sums: Vec<Counter> = Vec::new();
    for counter in counters {
        match sums.iter_mut().find(|sum| sum.name == counter.name) {
            Some(sum) => sum.value += counter.value,
            None => sums.push(counter),
        }
    }
    sums
}
