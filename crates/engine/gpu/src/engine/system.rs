//! All units of a machine, and their stepping.

mod build;
mod outcome;
mod warm;

use super::instrumented::WorkBalance;
use super::phase::Phase;
use super::region_units::RegionUnits;
use super::split::Split;
use super::team::Team;
use crate::context::Recording;
use crate::controller::MemoryController;
use crate::cta::{Dispatcher, KernelSource, Launch, Release};
use crate::l2::Slice;
use crate::side::SharedMshrs;
use crate::sm::{CtaEnd, Sm};
pub use build::BuildError;
use std::collections::VecDeque;
use std::mem;
use warpmem_dram::CommandSink;
use warpmem_network::{PeerLinks, SmLinks, Topology};
use warpmem_sim::{
    Clock, ClockDomain, Context, CoreCycle, Domain, NetworkCycle, PeerSlices, Region, SmId, Ticks,
    UnitId, domain, free_left,
};
use warpmem_trace::TraceError;
use warpmem_translation::Mmu;

/// Core cycle of the first step of the machine, after that of the dispatcher.
pub(super) const FIRST_CYCLE: CoreCycle = CoreCycle::new(1);

/// A machine that runs a trace.
pub(super) struct System {
    regions: Vec<Region>,
    /// By region.
    pub(super) parts: Vec<RegionUnits>,
    split: Split,
    networks: [Box<dyn Topology>; 2],
    /// Links between peer slices: requests, replies.
    peer_links: Vec<PeerLinks>,
    /// Links between the SMs of GPCs: requests, replies.
    sm_links: Vec<SmLinks>,
    mmu: Option<Mmu>,
    /// Present where slices keep copies of remote lines.
    peers: Option<PeerSlices>,
    mshrs: SharedMshrs,
    dispatcher: Dispatcher,
    launches: VecDeque<Launch>,
    /// Latency from the dispatch of a CTA to its start, and from the end of its last warp until the
    /// dispatcher knows, core cycles.
    cta_launch_latency: u64,
    cta_exit_latency: u64,
    /// CTAs whose warps have ended, in order, until their resources are free.
    exiting: VecDeque<CtaEnd>,
    /// Latency from the arrival of a cluster to its release, core cycles.
    barrier_latency: u64,
    /// Steps of networks and of the dispatcher.
    steps: u64,
    /// Distribution of the steps over the regions, in instrumented runs.
    pub(super) balance: Option<Box<WorkBalance>>,
    /// Steps every unit in every cycle.
    every_cycle: bool,
}

/// Largest number of networks and links: two networks, two sets of links between peer slices, two
/// between SMs, and the translation unit.
const MAX_NETWORKS: usize = 7;

/// A step of the network domain.
struct NetworkStep<'a> {
    cycle: NetworkCycle,
    awake: [bool; MAX_NETWORKS],
    ctx: Context<'a>,
    /// Number of the next unit.
    first: usize,
    steps: u64,
}

impl NetworkStep<'_> {
    /// Steps the units that are awake; their numbers continue those of the last call.
    fn step<T>(
        &mut self,
        units: &mut [T],
        step: impl Fn(&mut T, NetworkCycle, &mut Context) -> Option<NetworkCycle>,
    ) {
        for (number, unit) in (self.first..).zip(&mut *units) {
            if !self.awake[number] {
                continue;
            }
            self.steps += 1;
            if let Some(next) = step(unit, self.cycle, &mut self.ctx) {
                let next = next.max(self.cycle + 1);
                self.ctx.regions[0].fabric.wake_at(number as u32, next);
            }
        }
        self.first += units.len();
    }
}

/// Number of due units above which a phase is shared among threads: the work of a region must
/// outweigh its handover. Chosen by measurement on one computer; results do not depend on it.
const WORTH_SHARING: u32 = 16;

impl System {
    /// Returns the number of threads in addition to the caller's.
    pub fn helpers(&self) -> usize {
        if self.balance.is_some() { 0 } else { self.parts.len() - 1 }
    }

    fn sms(&self) -> impl Iterator<Item = &Sm> {
        self.parts.iter().flat_map(|part| &part.sms)
    }

    fn sms_mut(&mut self) -> impl Iterator<Item = &mut Sm> {
        self.parts.iter_mut().flat_map(|part| &mut part.sms)
    }

    fn slices(&self) -> impl Iterator<Item = &Slice> {
        self.parts.iter().flat_map(|part| &part.slices)
    }

    fn controllers_mut(&mut self) -> impl Iterator<Item = &mut MemoryController> {
        self.parts.iter_mut().flat_map(|part| &mut part.controllers)
    }

    fn controllers(&self) -> impl Iterator<Item = &MemoryController> {
        self.parts.iter().flat_map(|part| &part.controllers)
    }

    fn dispatcher_unit(&self) -> u32 {
        self.parts[0].dispatcher as u32
    }

    fn clock<D: ClockDomain>(&self) -> Clock<D> {
        self.regions[0].fabric.clock_of()
    }

    /// Returns the time of the next event.
    pub fn next_time(&self) -> Option<Ticks> {
        self.regions.iter().filter_map(|region| region.fabric.next_time()).min()
    }

    /// Steps all units that are due at `now`.
    ///
    /// A unit is due in a cycle of its clock domain if it scheduled that cycle itself (`wake_cycle` at
    /// the end of its step), or if another unit pushed to or popped from a port that it waits on.
    /// Units that are not due cost nothing.
    ///
    /// ```text
    ///  now ─▶ DRAM channels ─▶ L2 slices ─▶ networks ─▶ SMs, then the dispatcher ─▶ next due time
    ///         each domain only if one of its cycles begins at `now`; units by rising index
    /// ```
    ///
    /// DRAM is first, so that the levels above see room that it frees at the same time ([`Domain`]).
    /// The order is part of the model: another order gives other results. A unit that is woken after
    /// its domain has been stepped runs in its next cycle.
    ///
    /// Regions that `team` steps concurrently interact only through the networks and through the
    /// outcomes merged here, in the order of the regions: results do not depend on their number.
    pub fn step(
        &mut self,
        now: Ticks,
        source: &mut dyn KernelSource,
        team: &Team,
    ) -> Result<(), TraceError> {
        self.step_parts(Phase::Memory, now, team);
        self.follow_mshrs();
        self.step_networks(now);
        self.step_parts(Phase::Core, now, team);
        self.gather(now, source)?;
        if let Some(balance) = &mut self.balance {
            balance.follow(self.parts.iter().map(|part| part.steps));
        }
        if self.every_cycle {
            self.wake_all_after(now);
        }
        Ok(())
    }

    fn step_parts(&mut self, phase: Phase, now: Ticks, team: &Team) {
        let System { parts, regions, .. } = self;
        let shares = !team.is_empty() && {
            let due = |region: &Region| -> u32 {
                phase.domains().iter().map(|&domain| region.fabric.due(domain, now)).sum()
            };
            let mut due = regions.iter().map(due);
            let (first, others) = (due.next().unwrap_or(0), due.sum::<u32>());
            others > 0 && first + others >= WORTH_SHARING
        };
        if shares {
            return team.step(phase, now, parts, regions);
        }
        for (part, region) in parts.iter_mut().zip(regions) {
            part.step(phase, now, region);
        }
    }

    fn follow_mshrs(&mut self) {
        for part in &mut self.parts {
            part.side.mshr_changes.drain(..).for_each(|change| self.mshrs.follow(change));
        }
    }

    fn step_networks(&mut self, now: Ticks) {
        let System { regions, networks, peer_links, sm_links, mmu, parts, .. } = self;
        let due = |region: &Region| region.fabric.due_cycle(Domain::Network, now);
        let Some(cycle) = regions.iter().find_map(due) else { return };
        let mut awake = [false; MAX_NETWORKS];
        for Region { fabric, .. } in &mut *regions {
            fabric.begin(Domain::Network, cycle, now);
            let wheel = fabric.wheel(Domain::Network);
            while let Some(unit) = wheel.take() {
                awake[unit] = true;
            }
            wheel.end();
        }
        let mut network_step = NetworkStep {
            cycle: NetworkCycle::new(cycle),
            awake,
            ctx: Context { regions, map: &parts[0].map },
            first: 0,
            steps: 0,
        };
        network_step.step(networks, |network, cycle, ctx| network.step(cycle, ctx));
        network_step.step(peer_links, PeerLinks::step);
        network_step.step(sm_links, SmLinks::step);
        network_step.step(mmu.as_mut_slice(), Mmu::step);
        self.steps += network_step.steps;
        if let Some(mmu) = mmu {
            mmu.take_loads().for_each(|load| parts[0].record.walk_load(&load));
        }
    }

    /// Merges the outcomes of all regions at `now`, and steps the dispatcher if it is due.
    fn gather(&mut self, now: Ticks, source: &mut dyn KernelSource) -> Result<(), TraceError> {
        let mut due = mem::take(&mut self.parts[0].dispatcher_due);
        if self.parts.len() > 1 {
            free_left(&mut self.regions);
            self.gather_rows();
            self.exchange_fields();
        }
        for part in &mut self.parts {
            part.arrived.drain(..).for_each(|cta| self.dispatcher.cta_arrived(cta));
        }
        for at in 0..self.parts.len() {
            if let Some(error) = self.parts[at].error.take() {
                return Err(error);
            }
            self.collect_ended(at);
        }
        if self.dispatcher.is_sampled() && (due || !self.exiting.is_empty()) {
            self.dispatcher.note_issued(self.warp_instructions());
        }
        due |= self.end_exited(now);
        self.release_clusters(now);
        if due {
            self.steps += 1;
            self.dispatch(self.clock::<domain::Core>().cycle_of(now), source)?;
        }
        Ok(())
    }

    /// Appends the rows of all regions to those of the first.
    fn gather_rows(&mut self) {
        let (first, others) = self.parts.split_first_mut().expect("there is a part");
        others.iter_mut().for_each(|part| first.record.append_rows(&mut part.record));
    }

    /// Applies the updates of Critical Fields to all other regions.
    fn exchange_fields(&mut self) {
        for from in 0..self.parts.len() {
            let changes = self.parts[from].side.fields.take_changes();
            for (_, to) in self.parts.iter_mut().enumerate().filter(|&(to, _)| to != from) {
                to.side.fields.follow(&changes);
            }
            self.parts[from].side.fields.put_back(changes);
        }
    }

    /// From now on, steps every unit in every cycle.
    pub fn step_every_cycle(&mut self) {
        self.every_cycle = true;
        Domain::ALL.into_iter().for_each(|domain| self.wake_all(domain, 0));
    }

    /// Wakes the units of each domain in its first cycle after `now`.
    fn wake_all_after(&mut self, now: Ticks) {
        for domain in Domain::ALL {
            self.wake_all(domain, self.regions[0].fabric.clock(domain).cycle_of(now) + 1);
        }
    }

    fn wake_all(&mut self, domain: Domain, cycle: u64) {
        let (dispatcher, networks) = (self.dispatcher_unit(), self.network_units());
        for (part, Region { fabric, .. }) in self.parts.iter().zip(&mut self.regions) {
            let (first, units) = match domain {
                Domain::Dram => (part.first_controller, part.controllers.len()),
                Domain::L2 => (part.first_slice, part.slices.len()),
                Domain::Network => (0, networks),
                Domain::Core => (part.first_sm, part.sms.len()),
            };
            for index in first as u32..(first + units) as u32 {
                fabric.wake_cycle(UnitId { domain, index }, cycle);
            }
        }
        if domain == Domain::Core {
            self.regions[0].fabric.wake_cycle(UnitId { domain, index: dispatcher }, cycle);
        }
    }

    /// Returns the number of networks, links and translation units.
    fn network_units(&self) -> usize {
        let links = self.peer_links.len() + self.sm_links.len();
        self.networks.len() + links + self.mmu.as_slice().len()
    }

    /// Releases clusters whose CTAs have all arrived at the barrier.
    fn release_clusters(&mut self, now: Ticks) {
        while let Some(Release { cta, sm }) = self.dispatcher.take_released() {
            let at = self.clock::<domain::Core>().cycle_of(now) + self.barrier_latency;
            let region = self.split.region_of_sm(sm.index());
            let part = &mut self.parts[region];
            let sm = &mut part.sms[sm.index() - part.first_sm];
            sm.release_cluster(cta, at);
            self.regions[region].fabric.wake_at(sm.unit().index, at);
        }
    }

    /// Collects the CTAs of a region whose warps have ended.
    fn collect_ended(&mut self, part: usize) {
        let dispatcher = self.dispatcher_unit();
        for end in self.parts[part].ended.drain(..) {
            let free = end.cycle + self.cta_exit_latency;
            self.exiting.push_back(CtaEnd { cycle: free, ..end });
            if self.cta_exit_latency > 0 {
                self.regions[0].fabric.wake_at(dispatcher, free);
            }
        }
    }

    /// Reports the CTAs whose resources are free at `now` to the dispatcher, which is stepped after
    /// the SMs. Returns whether there are any.
    fn end_exited(&mut self, now: Ticks) -> bool {
        if self.exiting.is_empty() {
            return false;
        }
        let cycle = self.clock::<domain::Core>().cycle_of(now);
        let mut any = false;
        while let Some(end) = self.exiting.pop_front_if(|end| end.cycle <= cycle) {
            let part = &self.parts[self.split.region_of_sm(end.sm.index())];
            let sm = &part.sms[end.sm.index() - part.first_sm];
            self.dispatcher.cta_ended(end, &|| sm.issued_by_ctas(end.kernel));
            any = true;
        }
        any
    }

    fn dispatch(
        &mut self,
        cycle: CoreCycle,
        source: &mut dyn KernelSource,
    ) -> Result<(), TraceError> {
        if self.dispatcher.observes(cycle) {
            let sms = self.parts.iter_mut().flat_map(|part| &mut part.sms);
            for (id, sm) in (0..).map(SmId).zip(sms) {
                self.dispatcher.observe(id, sm.idle_cycles(cycle));
            }
        }
        self.end_at_limit(cycle, source);
        let next = self.dispatcher.step(cycle, source, &mut self.launches)?;
        if self.dispatcher.pauses() {
            self.limit_running(cycle);
        }
        while let Some(launch) = self.launches.pop_front() {
            let region = self.split.region_of_sm(launch.sm.index());
            let part = &mut self.parts[region];
            let sm = &mut part.sms[launch.sm.index() - part.first_sm];
            let start = cycle + 1 + self.cta_launch_latency;
            sm.launch(launch.cta, start);
            self.regions[region].fabric.wake_at(sm.unit().index, start);
        }
        if let Some(next) = next {
            let dispatcher = self.dispatcher_unit();
            self.regions[0].fabric.wake_at(dispatcher, next);
        }
        Ok(())
    }

    /// Ends kernels that have reached the limit of instructions (`run.launch_instructions`).
    fn end_at_limit(&mut self, cycle: CoreCycle, source: &mut dyn KernelSource) {
        while let Some(kernel) = self.dispatcher.to_count(cycle) {
            let resident: u64 = self.sms().flat_map(|sm| sm.issued_by_ctas(kernel)).sum();
            let exiting = self.exiting.iter().filter(|end| end.kernel == kernel);
            let resident = resident + exiting.map(|end| end.issued.warp).sum::<u64>();
            if self.dispatcher.count_instructions(kernel, resident, cycle) {
                self.end_kernel_early(kernel, cycle);
                source.end(kernel as usize);
            }
        }
    }

    fn end_kernel_early(&mut self, kernel: u32, cycle: CoreCycle) {
        for (part, Region { fabric, .. }) in self.parts.iter_mut().zip(&mut self.regions) {
            for sm in part.sms.iter_mut() {
                if sm.end_early(kernel) {
                    fabric.wake_at(sm.unit().index, cycle + 1);
                }
            }
        }
    }

    /// Limits the CTAs of each SM that may issue from the next cycle on.
    fn limit_running(&mut self, cycle: CoreCycle) {
        for (part, Region { fabric, .. }) in self.parts.iter_mut().zip(&mut self.regions) {
            for (id, sm) in (part.first_sm..).map(SmId::new).zip(&mut part.sms) {
                if sm.limit_running(self.dispatcher.running_limit(id)) {
                    fabric.wake_at(sm.unit().index, cycle + 1);
                }
            }
        }
    }

    pub fn dispatcher(&self) -> &Dispatcher {
        &self.dispatcher
    }

    /// Returns the number of unit steps so far.
    pub fn steps(&self) -> u64 {
        self.steps + self.parts.iter().flat_map(|part| part.steps).sum::<u64>()
    }

    /// Returns a measure of progress, which grows whenever a warp issues, a CTA ends or a unit pops
    /// a request.
    pub fn progress(&self) -> u64 {
        let ended = self.dispatcher.ctas_ended() + u64::from(self.dispatcher.is_done());
        let moves: u64 = self.regions.iter().map(|region| region.fabric.moves()).sum();
        self.warp_instructions() + ended + moves
    }

    /// Returns the warp instructions issued so far.
    pub fn warp_instructions(&self) -> u64 {
        self.sms().map(Sm::warp_instructions).sum()
    }

    /// Returns whether no request is in flight.
    pub fn is_drained(&self) -> bool {
        self.requests_in_flight() == 0
            && !self.controllers().any(MemoryController::is_prefetching)
            && self.sms().all(Sm::is_idle)
    }

    /// Returns the recorded rows that have not reached the sink.
    pub fn rows(&mut self) -> &mut Recording {
        &mut self.parts[0].record
    }

    /// Returns the resident warps of all SMs.
    pub fn resident_warps(&self) -> u64 {
        self.sms().map(|sm| u64::from(sm.resident_warps())).sum()
    }

    /// Returns the requests in flight between L1 and DRAM.
    pub fn requests_in_flight(&self) -> u64 {
        self.regions.iter().map(|region| region.requests.in_flight() as u64).sum()
    }

    /// Stops prefetching in all channels from the DRAM cycle after `now` on.
    pub fn end_prefetching(&mut self, now: Ticks) {
        let cycle = self.clock::<domain::Dram>().cycle_of(now) + 1;
        for (part, Region { fabric, .. }) in self.parts.iter_mut().zip(&mut self.regions) {
            for controller in part.controllers.iter_mut().filter(|c| c.has_prefetcher()) {
                controller.end_prefetching(cycle);
                fabric.wake_at(controller.unit().index, cycle);
            }
        }
    }

    /// Starts the SMs' account of cycles at core cycle `cycle`.
    pub fn start_account(&mut self, cycle: CoreCycle) {
        self.sms_mut().for_each(|sm| sm.start_account(cycle));
    }

    /// Starts the command logs of all channels.
    pub fn enable_command_logs(&mut self) {
        self.controllers_mut().for_each(MemoryController::enable_log);
    }

    /// Passes the commands logged since the last call to `sink`.
    pub fn take_command_logs(&mut self, sink: &mut dyn CommandSink) {
        for (channel, controller) in self.controllers_mut().enumerate() {
            sink.commands(channel as u16, &controller.take_log());
        }
    }

    /// Describes everything that is not empty; must be empty at the end of a run.
    pub fn leftovers(&self) -> Vec<String> {
        let sms = self.sms().filter(|sm| !sm.is_idle()).map(Sm::describe);
        let slices = self.slices().filter(|s| !s.is_idle()).map(Slice::describe);
        let channels =
            self.controllers().filter(|c| !c.channel().is_empty()).map(MemoryController::describe);
        let ports = self.regions.iter().flat_map(|region| region.fabric.occupied());
        let networks = self.networks.iter().flat_map(|network| network.describe());
        let mmu = self.mmu.iter().filter(|mmu| !mmu.is_idle()).map(Mmu::describe);
        sms.chain(networks).chain(mmu).chain(slices).chain(channels).chain(ports).collect()
    }

    /// Describes the state of the machine for an error message.
    pub fn describe(&self) -> Vec<String> {
        self.dispatcher.describe().chain(self.leftovers()).collect()
    }
}
