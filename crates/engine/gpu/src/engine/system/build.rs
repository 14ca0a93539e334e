//! Builds a machine: its units, and their distribution over the regions.

use super::System;
use crate::context::Recording;
use crate::controller::MemoryController;
use crate::cta::{DispatchError, Dispatcher};
use crate::engine::phase::Phase;
use crate::engine::region_units::RegionUnits;
use crate::engine::split::Split;
use crate::engine::wiring::Wiring;
use crate::ideal::Ideal;
use crate::l2::Slice;
use crate::l2::queue::without_delay_before_tags;
use crate::results::Wanted;
use crate::side::{SharedMshrs, SideChannels, share_tables};
use crate::slots::ChosenPolicies;
use crate::sm::Sm;
use std::collections::VecDeque;
use std::sync::Arc;
use std::vec;
use warpmem_dram::Channel;
use warpmem_dram::scheduler::Family;
use warpmem_machine::{Machine, MachineError};
use warpmem_params::PolicyError;
use warpmem_sim::{CoreCycle, Region, Ticks};
use warpmem_trace::Trace;
use warpmem_translation::Mmu;

/// Reason for refusing to build a machine.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error(transparent)]
    Policy(#[from] PolicyError),
    #[error(transparent)]
    Machine(#[from] MachineError),
    #[error(transparent)]
    Dispatch(#[from] DispatchError),
}

impl System {
    /// Builds a machine with these policies.
    pub fn new(
        machine: &Machine,
        policies: &ChosenPolicies,
        trace: &Trace,
        wanted: &Wanted,
        threads: usize,
    ) -> Result<System, BuildError> {
        let schedulers = policies.dram_scheduler.build(&machine.scheduler_context())?;
        System::with_schedulers(machine, policies, trace, &*schedulers, wanted, threads)
    }

    /// Builds a machine with these policies, but with `schedulers` as its DRAM schedulers.
    pub fn with_schedulers(
        machine: &Machine,
        policies: &ChosenPolicies,
        trace: &Trace,
        schedulers: &dyn Family,
        wanted: &Wanted,
        threads: usize,
    ) -> Result<System, BuildError> {
        let map = Arc::new(machine.address_map()?);
        let dispatcher = Dispatcher::new(machine, &policies.cta_scheduler, trace.kernels())?;
        let l2_resets = dispatcher.first_ctas(&l2_resets(machine, trace));
        let ideal = *policies.ideal.build(machine)?;
        let needs = schedulers.needs();
        let queue = policies.l2_queue.build(&machine.l2)?;
        let unqueued = (!queue.holds_requests()).then(|| without_delay_before_tags(machine));
        let machine = unqueued.as_ref().unwrap_or(machine);
        let split = Split::new(machine, regions(schedulers, wanted, threads));
        let wiring = Wiring::new(machine, &needs, queue.entries_at_nodes(), split.clone());
        let mut units = Units::new(machine, policies, &wiring, schedulers, ideal, &l2_resets)?;
        let networks = wiring.networks(machine, &policies.network, ideal)?;
        let peer_links = wiring.peer_links(machine, ideal);
        let sm_links = wiring.sm_links(machine, ideal);
        let mut mmu = wiring.mmu(machine, &policies.walk_scheduler)?;
        if wanted.requests.is_some() {
            mmu.iter_mut().for_each(Mmu::record_loads);
        }
        let mut regions = wiring.regions;
        let dispatcher_unit = machine.sm.count as usize;
        regions[0].fabric.wake_at(dispatcher_unit as u32, CoreCycle::ZERO);
        let per_channel = machine.l2.slices_per_channel as usize;
        let part = |(at, region): (usize, &mut Region)| {
            let (sms, channels) = (&split.sms[at], &split.channels[at]);
            let controllers: Vec<MemoryController> =
                units.controllers.by_ref().take(channels.len()).collect();
            // Channels refresh even without requests.
            controllers.iter().for_each(|c| region.fabric.wake(c.unit(), Ticks(0)));
            RegionUnits {
                first_sm: sms.start,
                sms: units.sms.by_ref().take(sms.len()).collect(),
                first_slice: channels.start * per_channel,
                slices: units.slices.by_ref().take(channels.len() * per_channel).collect(),
                first_controller: channels.start,
                controllers,
                map: Arc::clone(&map),
                side: SideChannels::new(machine, &needs, split.regions() > 1),
                record: Recording::new(machine.clocks.periods().core, wanted),
                ended: Vec::new(),
                arrived: Vec::new(),
                dispatcher: dispatcher_unit,
                dispatcher_due: false,
                steps: [0; Phase::COUNT],
                step_counts: None,
                error: None,
            }
        };
        let parts = regions.iter_mut().enumerate().map(part).collect();
        Ok(System {
            regions,
            parts,
            split,
            networks,
            peer_links,
            sm_links,
            mmu,
            peers: machine.peer_slices(),
            mshrs: SharedMshrs::default(),
            dispatcher,
            launches: VecDeque::new(),
            cta_launch_latency: u64::from(machine.sm.cta_launch_latency),
            cta_exit_latency: u64::from(machine.sm.cta_exit_latency),
            exiting: VecDeque::new(),
            barrier_latency: u64::from(machine.cluster.barrier_latency),
            steps: 0,
            balance: None,
            every_cycle: false,
        })
    }
}

/// The units of a machine that belong to no region yet, in the order of their numbers.
struct Units {
    sms: vec::IntoIter<Sm>,
    slices: vec::IntoIter<Slice>,
    controllers: vec::IntoIter<MemoryController>,
}

impl Units {
    fn new(
        machine: &Machine,
        policies: &ChosenPolicies,
        wiring: &Wiring,
        schedulers: &dyn Family,
        ideal: Ideal,
        l2_resets: &Arc<[u32]>,
    ) -> Result<Units, BuildError> {
        let sms = wiring.sms(machine, &policies.warp_scheduler, ideal)?;
        let slices =
            wiring.slices(machine, &policies.l2_queue, &schedulers.needs(), ideal)?.into_iter();
        let mut slices: Vec<Slice> =
            slices.map(|slice| slice.with_resets(Arc::clone(l2_resets))).collect();
        let channels = Channel::all(&machine.scheduler_context(), schedulers)?;
        let controllers = wiring.controllers(machine, channels, &policies.prefetcher, ideal)?;
        let of_channels = slices.chunks_mut(machine.l2.slices_per_channel as usize);
        for (controller, slices) in controllers.iter().zip(of_channels) {
            let Some(lines) = controller.cached_lines() else { continue };
            slices.iter_mut().for_each(|slice| slice.note_lines(lines.clone(), machine));
        }
        let (sms, slices) = (sms.into_iter(), slices.into_iter());
        Ok(Units { sms, slices, controllers: controllers.into_iter() })
    }
}

/// Returns the kernels before which L2 is reset.
fn l2_resets(machine: &Machine, trace: &Trace) -> Vec<u32> {
    let kernels = trace.kernels().len() as u32;
    if machine.run.cold_launches {
        (0..kernels).collect()
    } else {
        trace.header().l2_resets.clone()
    }
}

/// Returns the number of regions into which a machine may be divided for `threads`.
fn regions(schedulers: &dyn Family, wanted: &Wanted, threads: usize) -> usize {
    // A sample of requests depends on the order of their completion.
    let is_one =
        schedulers.share_state() || share_tables(&schedulers.needs()) || wanted.requests.is_some();
    if is_one { 1 } else { threads }
}
