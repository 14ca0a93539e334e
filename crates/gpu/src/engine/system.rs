//! All units of a machine at work.

use super::part::{Part, Phase};
use super::split::Split;
use super::team::Team;
use super::wiring::Wiring;
use crate::context::Recording;
use crate::controller::Controller;
use crate::cta::{DispatchError, Dispatcher, KernelSource, Launch};
use crate::ideal::IDEALS;
use crate::llc::Slice;
use crate::llc::queue::{LLC_QUEUES, without_delay_before_tags};
use crate::results::{CounterResult, IntervalCounts, RunResult, Wanted};
use crate::side::{SharedMshrs, SideChannels, share_tables};
use crate::sm::Sm;
use std::collections::VecDeque;
use std::mem;
use std::ops::Range;
use std::sync::Arc;
use warpmem_dram::scheduler::{Family, SCHEDULERS};
use warpmem_dram::{Channel, CommandSink};
use warpmem_machine::{Machine, MachineError, Policies};
use warpmem_network::Topology;
use warpmem_params::{Counter, PolicyError, policy_name};
use warpmem_sim::{
    Clock, ClockDomain, Context, CoreCycle, Domain, NetworkCycle, Region, SmId, Ticks, Total,
    UnitId, domain, free_left,
};
use warpmem_trace::{Trace, TraceError};

/// Why a machine could not be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error(transparent)]
    Policy(#[from] PolicyError),
    #[error(transparent)]
    Machine(#[from] MachineError),
    #[error(transparent)]
    Dispatch(#[from] DispatchError),
}

/// A machine at work on a trace.
pub(super) struct System {
    regions: Vec<Region>,
    /// Each on its region.
    parts: Vec<Part>,
    split: Split,
    networks: [Box<dyn Topology>; 2],
    mshrs: SharedMshrs,
    dispatcher: Dispatcher,
    launches: VecDeque<Launch>,
    /// Steps of networks and of the dispatcher.
    steps: u64,
    /// Every unit is stepped in every cycle.
    polls: bool,
}

/// Units that are due from which on their steps are shared among threads: handing a part to a thread
/// and back costs about as much as two steps.
const WORTH_SHARING: u32 = 16;

impl System {
    pub fn new(
        machine: &Machine,
        trace: &Trace,
        wanted: &Wanted,
        threads: usize,
    ) -> Result<System, BuildError> {
        let scene = machine.scheduler_context();
        let schedulers = SCHEDULERS.build(&machine.policy.dram_scheduler, &scene)?;
        System::with_schedulers(machine, trace, &*schedulers, wanted, threads)
    }

    /// With these DRAM schedulers instead of those that the machine names.
    pub fn with_schedulers(
        machine: &Machine,
        trace: &Trace,
        schedulers: &dyn Family,
        wanted: &Wanted,
        threads: usize,
    ) -> Result<System, BuildError> {
        let scene = machine.scheduler_context();
        let map = Arc::new(machine.address_map()?);
        let dispatcher = Dispatcher::new(machine, trace.kernels())?;
        let ideal = *IDEALS.build(&machine.policy.ideal, machine)?;
        let needs = schedulers.needs();
        let queue = LLC_QUEUES.build(&machine.policy.llc_queue, &machine.llc)?;
        let unqueued = (!queue.holds_requests()).then(|| without_delay_before_tags(machine));
        let machine = unqueued.as_ref().unwrap_or(machine);
        let split = Split::new(machine, regions(schedulers, wanted, threads));
        let wiring = Wiring::new(machine, &needs, queue.entries_at_clusters(), split.clone());
        let mut sms = wiring.sms(machine, ideal)?.into_iter();
        let mut slices = wiring.slices(machine, &needs, ideal)?;
        let channels = Channel::all(&scene, schedulers)?;
        let controllers = wiring.controllers(machine, channels, ideal)?;
        let slices_per_channel = machine.llc.slices_per_channel as usize;
        let of_channels = slices.chunks_mut(slices_per_channel);
        for (controller, slices) in controllers.iter().zip(of_channels) {
            let Some(lines) = controller.cached_lines() else { continue };
            slices.iter_mut().for_each(|slice| slice.note_lines(lines.clone(), machine));
        }
        let networks = wiring.networks(machine, ideal)?;
        let mut regions = wiring.regions;
        let dispatcher_unit = sms.len();
        regions[0].fabric.wake_at(dispatcher_unit as u32, CoreCycle::ZERO);
        let (mut slices, mut controllers) = (slices.into_iter(), controllers.into_iter());
        let part = |(region, (sm, channel)): (&mut Region, (&Range<usize>, &Range<usize>))| {
            let controllers: Vec<Controller> = controllers.by_ref().take(channel.len()).collect();
            // Channels refresh whether requests come or not.
            controllers.iter().for_each(|c| region.fabric.wake(c.unit(), Ticks(0)));
            Part {
                first_sm: sm.start,
                sms: sms.by_ref().take(sm.len()).collect(),
                first_slice: channel.start * slices_per_channel,
                slices: slices.by_ref().take(channel.len() * slices_per_channel).collect(),
                first_controller: channel.start,
                controllers,
                map: Arc::clone(&map),
                side: SideChannels::new(machine, &needs, split.regions() > 1),
                record: Recording::new(machine.clocks.periods().core, wanted),
                ended: Vec::new(),
                dispatcher: dispatcher_unit,
                dispatcher_due: false,
                steps: 0,
                error: None,
            }
        };
        let ranges = split.sms.iter().zip(&split.channels);
        let parts = regions.iter_mut().zip(ranges).map(part).collect();
        Ok(System {
            regions,
            parts,
            split,
            networks,
            mshrs: SharedMshrs::default(),
            dispatcher,
            launches: VecDeque::new(),
            steps: 0,
            polls: false,
        })
    }

    /// Threads that step the machine beside the caller's.
    pub fn helpers(&self) -> usize {
        self.parts.len() - 1
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

    fn controllers_mut(&mut self) -> impl Iterator<Item = &mut Controller> {
        self.parts.iter_mut().flat_map(|part| &mut part.controllers)
    }

    fn controllers(&self) -> impl Iterator<Item = &Controller> {
        self.parts.iter().flat_map(|part| &part.controllers)
    }

    fn dispatcher_unit(&self) -> u32 {
        self.parts[0].dispatcher as u32
    }

    fn clock<D: ClockDomain>(&self) -> Clock<D> {
        self.regions[0].fabric.clock_of()
    }

    /// The time of the next event, if there is one.
    pub fn next_time(&self) -> Option<Ticks> {
        self.regions.iter().filter_map(|region| region.fabric.next_time()).min()
    }

    /// Steps all units that are due at `now`.
    ///
    /// A unit is due in a cycle of its clock domain if it asked for that cycle itself
    /// (`wake_cycle` at the end of its step), or if another unit pushed to or popped from a port
    /// that the unit waits on. A unit that is not due is not looked at.
    ///
    /// ```text
    ///  now ─▶ DRAM channels ─▶ LLC slices ─▶ networks ─▶ SMs, then the dispatcher ─▶ next due time
    ///         each domain only if one of its cycles begins at `now`; units by rising index
    /// ```
    ///
    /// DRAM goes first, so that room that is made below is seen above at the same time
    /// ([`Domain`]). The order is part of the model: another order gives other results. A unit
    /// whose domain has passed when it is woken is stepped in its next cycle.
    ///
    /// The parts of a machine that `team` steps side by side do not see each other but through the
    /// networks and what is brought together here, in the order of the parts: the results do not
    /// depend on their number.
    pub fn step(
        &mut self,
        now: Ticks,
        source: &mut dyn KernelSource,
        team: &Team,
    ) -> Result<(), TraceError> {
        self.step_parts(Phase::Memory, now, team);
        self.follow_mshrs();
        if !team.is_empty() {
            free_left(&mut self.regions);
        }
        self.step_networks(now);
        self.step_parts(Phase::Core, now, team);
        self.gather(now, source)?;
        if self.polls {
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
        let System { regions, networks, parts, .. } = self;
        let due = |region: &Region| region.fabric.due_cycle(Domain::Network, now);
        let Some(cycle) = regions.iter().find_map(due) else { return };
        let mut awake = [false; 2];
        for Region { fabric, .. } in &mut *regions {
            fabric.begin(Domain::Network, cycle, now);
            let wheel = fabric.wheel(Domain::Network);
            while let Some(unit) = wheel.take() {
                awake[unit] = true;
            }
            wheel.end();
        }
        let cycle = NetworkCycle::new(cycle);
        for (unit, network) in networks.iter_mut().enumerate().filter(|&(unit, _)| awake[unit]) {
            self.steps += 1;
            let ctx = &mut Context { regions, map: &parts[0].map };
            if let Some(next) = network.step(cycle, ctx) {
                regions[0].fabric.wake_at(unit as u32, next.max(cycle + 1));
            }
        }
    }

    /// Brings together what the SMs of the parts have done at `now`, and steps the dispatcher if it is
    /// due.
    fn gather(&mut self, now: Ticks, source: &mut dyn KernelSource) -> Result<(), TraceError> {
        let mut due = mem::take(&mut self.parts[0].dispatcher_due);
        if self.parts.len() > 1 {
            self.gather_rows();
            self.tell_fields();
        }
        for at in 0..self.parts.len() {
            if let Some(error) = self.parts[at].error.take() {
                return Err(error);
            }
            due |= !self.parts[at].ended.is_empty();
            self.collect_ended(at);
        }
        if due {
            self.steps += 1;
            self.dispatch(self.clock::<domain::Core>().cycle_of(now), source)?;
        }
        Ok(())
    }

    /// Puts the rows that all parts have recorded behind those of the first part.
    fn gather_rows(&mut self) {
        let (first, others) = self.parts.split_first_mut().expect("there is a part");
        others.iter_mut().for_each(|part| first.record.append_rows(&mut part.record));
    }

    /// Tells each part's slices what the SMs of the others have changed.
    fn tell_fields(&mut self) {
        for from in 0..self.parts.len() {
            let changes = self.parts[from].side.fields.take_changes();
            for (_, to) in self.parts.iter_mut().enumerate().filter(|&(to, _)| to != from) {
                to.side.fields.follow(&changes);
            }
            self.parts[from].side.fields.put_back(changes);
        }
    }

    /// Steps every unit in every cycle from now on, whether it asks or not.
    pub fn poll(&mut self) {
        self.polls = true;
        Domain::ALL.into_iter().for_each(|domain| self.wake_all(domain, 0));
    }

    /// Wakes the units of each domain in its first cycle after `now`.
    fn wake_all_after(&mut self, now: Ticks) {
        for domain in Domain::ALL {
            self.wake_all(domain, self.regions[0].fabric.clock(domain).cycle_of(now) + 1);
        }
    }

    fn wake_all(&mut self, domain: Domain, cycle: u64) {
        let dispatcher = self.dispatcher_unit();
        for (part, Region { fabric, .. }) in self.parts.iter().zip(&mut self.regions) {
            let (first, units) = match domain {
                Domain::Dram => (part.first_controller, part.controllers.len()),
                Domain::Llc => (part.first_slice, part.slices.len()),
                Domain::Network => (0, self.networks.len()),
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

    /// Tells the dispatcher, which is stepped after the SMs, which CTAs of a part have ended.
    fn collect_ended(&mut self, part: usize) {
        let Part { ended, sms, first_sm, .. } = &mut self.parts[part];
        for end in ended.drain(..) {
            let sm = &sms[end.sm.index() - *first_sm];
            let issued = || sm.issued_by_ctas(end.kernel);
            self.dispatcher.cta_ended(end, &issued);
        }
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
            sm.launch(launch.cta);
            self.regions[region].fabric.wake_at(sm.unit().index, cycle + 1);
        }
        if let Some(next) = next {
            let dispatcher = self.dispatcher_unit();
            self.regions[0].fabric.wake_at(dispatcher, next);
        }
        Ok(())
    }

    /// Ends kernels that have issued as many instructions as they may.
    fn end_at_limit(&mut self, cycle: CoreCycle, source: &mut dyn KernelSource) {
        while let Some(kernel) = self.dispatcher.to_count(cycle) {
            let resident = self.sms().flat_map(|sm| sm.issued_by_ctas(kernel)).sum();
            if self.dispatcher.count_instructions(kernel, resident, cycle) {
                self.sms_mut().for_each(|sm| sm.end_early(kernel));
                source.end(kernel as usize);
            }
        }
    }

    /// Tells SMs how many of their CTAs may issue from the next cycle on.
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

    /// Unit steps so far.
    pub fn steps(&self) -> u64 {
        self.steps + self.parts.iter().map(|part| part.steps).sum::<u64>()
    }

    /// Grows whenever anything gets anywhere: a warp issues, a CTA ends, a unit takes a request.
    pub fn progress(&self) -> u64 {
        let ended = self.dispatcher.ctas_ended() + u64::from(self.dispatcher.is_done());
        let moves: u64 = self.regions.iter().map(|region| region.fabric.moves()).sum();
        self.warp_instructions() + ended + moves
    }

    /// Warp instructions issued so far.
    pub fn warp_instructions(&self) -> u64 {
        self.sms().map(Sm::warp_instructions).sum()
    }

    /// Whether no request is in flight anywhere.
    pub fn is_drained(&self) -> bool {
        self.requests_in_flight() == 0 && !self.controllers().any(Controller::is_prefetching)
    }

    /// What SMs, slices and channels have done before `now`.
    pub fn so_far(&mut self, now: Ticks) -> IntervalCounts {
        let core = self.clock::<domain::Core>().cycle_from(now);
        let llc = self.clock::<domain::Llc>().cycle_from(now);
        let dram = self.clock::<domain::Dram>().cycle_from(now);
        let mut counts = IntervalCounts::default();
        self.sms_mut().for_each(|sm| counts.sms.add(&sm.so_far(core)));
        for slice in self.slices() {
            counts.llc.add(slice.accesses());
            counts.llc_queues.add(&slice.queue_length(llc));
        }
        for controller in self.controllers() {
            counts.add_channel(controller.counts(dram));
        }
        counts
    }

    /// Rows that have been recorded and not handed on.
    pub fn rows(&mut self) -> &mut Recording {
        &mut self.parts[0].record
    }

    /// Read requests that are back, and the sum of their latencies, core cycles.
    pub fn reads(&self) -> (u64, u64) {
        let totals = self.parts.iter().map(|part| &part.record.latency.total);
        totals.fold((0, 0), |(count, sum), total| (count + total.count(), sum + total.sum() as u64))
    }

    /// What has been recorded in all.
    pub fn take_record(&mut self, result: &mut RunResult) {
        self.gather_rows();
        let (first, others) = self.parts.split_first_mut().expect("there is a part");
        others.iter().for_each(|part| first.record.add(&part.record));
        let Recording { latency, loads, progress, .. } = &mut first.record;
        result.latency = mem::take(latency);
        result.loads = mem::take(loads);
        result.progress = mem::take(progress);
    }

    /// Warps on all SMs.
    pub fn resident_warps(&self) -> u64 {
        self.sms().map(|sm| u64::from(sm.resident_warps())).sum()
    }

    /// Requests between L1s and DRAM.
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

    /// Ends the SMs' account of cycles at core cycle `cycle`, when the last CTA has ended.
    pub fn finish_sms(&mut self, cycle: CoreCycle, result: &mut RunResult) {
        result.sms = self.sms_mut().map(|sm| sm.finish(cycle)).collect();
    }

    /// The results of everything but the SMs, when all requests are done, at time `now`.
    pub fn finish_memory(&mut self, now: Ticks, machine: &Machine, result: &mut RunResult) {
        let llc_cycle = self.clock::<domain::Llc>().cycle_from(now);
        let slices = self.parts.iter_mut().flat_map(|part| &mut part.slices);
        result.slices = slices.map(|slice| slice.finish(llc_cycle)).collect();
        if machine.llc.enabled {
            result.mshr_cycles = self.mshrs.finish(llc_cycle);
        }
        let dram_cycle = self.clock::<domain::Dram>().cycle_from(now);
        result.channels = self.controllers().map(|c| c.counts(dram_cycle)).collect();
        let sharing = self.controllers().filter_map(Controller::row_sharing);
        sharing.for_each(|sharing| sharing.add_to(&mut result.row_sharing));
        let cycle = self.clock::<domain::Network>().cycle_from(now).number();
        result.networks = self.networks.iter_mut().map(|network| network.finish(cycle)).collect();
        result.counters = self.counters(machine);
        result.kernels = self.dispatcher.results().to_vec();
        result.steps = self.steps();
    }

    /// What policies counted.
    fn counters(&self, machine: &Machine) -> Vec<CounterResult> {
        let policy = &machine.policy;
        let mut counters = self.channel_counters(machine);
        for (index, sm) in self.sms().enumerate() {
            counters.extend(named("sm", index, &policy.warp_scheduler, sm.counters()));
        }
        for (index, slice) in self.slices().enumerate() {
            counters.extend(named("slice", index, &policy.llc_queue, slice.queue_counters()));
        }
        let dispatcher = self.dispatcher.counters();
        counters.extend(named("machine", 0, &policy.cta_scheduler, dispatcher));
        counters
    }

    /// What DRAM schedulers and prefetchers counted in each channel, and for the former its slices
    /// together.
    fn channel_counters(&self, machine: &Machine) -> Vec<CounterResult> {
        let per_channel = machine.llc.slices_per_channel as usize;
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

    /// Keeps logs of all channels' commands.
    pub fn enable_command_logs(&mut self) {
        self.controllers_mut().for_each(Controller::enable_log);
    }

    /// Hands over the commands logged since the last call.
    pub fn take_command_logs(&mut self, sink: &mut dyn CommandSink) {
        for (channel, controller) in self.controllers_mut().enumerate() {
            sink.commands(channel as u16, &controller.take_log());
        }
    }

    /// Every queue is empty: what must hold at the end of a run.
    pub fn leftovers(&self) -> Vec<String> {
        let sms = self.sms().filter(|sm| !sm.is_idle()).map(Sm::describe);
        let slices = self.slices().filter(|s| !s.is_idle()).map(Slice::describe);
        let channels =
            self.controllers().filter(|c| !c.channel().is_empty()).map(Controller::describe);
        let ports = self.regions.iter().flat_map(|region| region.fabric.occupied());
        let networks = self.networks.iter().flat_map(|network| network.describe());
        sms.chain(networks).chain(slices).chain(channels).chain(ports).collect()
    }

    /// The state of everything that holds something.
    pub fn describe(&self) -> Vec<String> {
        self.dispatcher.describe().chain(self.leftovers()).collect()
    }
}

/// Into how many regions a machine may be parted that `threads` are to step.
fn regions(schedulers: &dyn Family, wanted: &Wanted, threads: usize) -> usize {
    // A sample of requests is one in so many in the order in which they are back.
    let is_one =
        schedulers.share_state() || share_tables(&schedulers.needs()) || wanted.requests.is_some();
    if is_one { 1 } else { threads }
}

/// What a policy counted in a unit, for the tables.
fn named(
    unit: &'static str,
    index: usize,
    policy: &str,
    counters: Vec<Counter>,
) -> impl Iterator<Item = CounterResult> {
    let (index, policy) = (index as u32, policy_name(policy).to_owned());
    counters.into_iter().map(move |Counter { name, value }| {
        let policy = policy.clone();
        CounterResult { unit, index, policy, counter: name, value }
    })
}

/// Adds up counters of one name, in the order of their first.
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
