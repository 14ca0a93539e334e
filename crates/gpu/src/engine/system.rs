//! All units of a machine at work.

use super::wiring::Wiring;
use crate::context::{Context, Recording};
use crate::controller::Controller;
use crate::cta::{DispatchError, Dispatcher, KernelSource, Launch};
use crate::ideal::IDEALS;
use crate::llc::Slice;
use crate::llc::queue::{LLC_QUEUES, without_delay_before_tags};
use crate::results::{CounterResult, IntervalCounts, RunResult};
use crate::side::SideChannels;
use crate::sm::Sm;
use std::collections::VecDeque;
use warpmem_dram::scheduler::{Family, SCHEDULERS};
use warpmem_dram::{Channel, CommandSink};
use warpmem_machine::{Machine, MachineError, Policies};
use warpmem_network::Topology;
use warpmem_params::{Counter, PolicyError, policy_name};
use warpmem_sim::Total;
use warpmem_sim::{
    AddressMap, ClockDomain, CoreCycle, Cycle, Domain, DramCycle, Fabric, RequestTable, SmId,
    Ticks, UnitId, domain,
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
    fabric: Fabric,
    requests: RequestTable,
    map: AddressMap,
    side: SideChannels,
    sms: Vec<Sm>,
    networks: [Box<dyn Topology>; 2],
    slices: Vec<Slice>,
    controllers: Vec<Controller>,
    dispatcher: Dispatcher,
    launches: VecDeque<Launch>,
    steps: u64,
    /// Every unit is stepped in every cycle.
    polls: bool,
}

impl System {
    pub fn new(machine: &Machine, trace: &Trace) -> Result<System, BuildError> {
        let scene = machine.scheduler_context();
        let schedulers = SCHEDULERS.build(&machine.policy.dram_scheduler, &scene)?;
        System::with_schedulers(machine, trace, &*schedulers)
    }

    /// With these DRAM schedulers instead of those that the machine names.
    pub fn with_schedulers(
        machine: &Machine,
        trace: &Trace,
        schedulers: &dyn Family,
    ) -> Result<System, BuildError> {
        let scene = machine.scheduler_context();
        let map = machine.address_map()?;
        let dispatcher = Dispatcher::new(machine, trace.kernels())?;
        let ideal = *IDEALS.build(&machine.policy.ideal, machine)?;
        let needs = schedulers.needs();
        let queue = LLC_QUEUES.build(&machine.policy.llc_queue, &machine.llc)?;
        let unqueued = (!queue.holds_requests()).then(|| without_delay_before_tags(machine));
        let machine = unqueued.as_ref().unwrap_or(machine);
        let wiring = Wiring::new(machine, &needs, queue.entries_at_clusters());
        let sms = wiring.sms(machine, ideal)?;
        let mut slices = wiring.slices(machine, &needs, ideal)?;
        let channels = Channel::all(&scene, schedulers)?;
        let controllers = wiring.controllers(machine, channels, ideal)?;
        let of_channels = slices.chunks_mut(machine.llc.slices_per_channel as usize);
        for (controller, slices) in controllers.iter().zip(of_channels) {
            let Some(lines) = controller.cached_lines() else { continue };
            slices.iter_mut().for_each(|slice| slice.note_lines(lines.clone(), machine));
        }
        let networks = wiring.networks(machine, ideal)?;
        let mut fabric = wiring.fabric;
        fabric.wake_at(dispatcher_index(sms.len()), CoreCycle::ZERO);
        // Channels refresh whether requests come or not.
        controllers.iter().for_each(|controller| fabric.wake(controller.unit(), Ticks(0)));
        Ok(System {
            fabric,
            requests: RequestTable::default(),
            map,
            side: SideChannels::new(machine, &needs),
            sms,
            networks,
            slices,
            controllers,
            dispatcher,
            launches: VecDeque::new(),
            steps: 0,
            polls: false,
        })
    }

    /// The time of the next event, if there is one.
    pub fn next_time(&self) -> Option<Ticks> {
        self.fabric.next_time()
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
    pub fn step(
        &mut self,
        now: Ticks,
        record: &mut Recording,
        source: &mut dyn KernelSource,
    ) -> Result<(), TraceError> {
        let System { fabric, requests, map, side, networks, slices, controllers, .. } = self;
        let ctx = &mut Context { fabric, requests, map, record, side };
        let channels = step_due(ctx, now, |unit, cycle, ctx| controllers[unit].step(cycle, ctx));
        let llc = step_due(ctx, now, |unit, cycle, ctx| slices[unit].step(cycle, ctx));
        let network = step_due(ctx, now, |unit, cycle, ctx| {
            if let Some(next) = networks[unit].step(cycle, &mut ctx.network()) {
                ctx.fabric.wake_at(unit as u32, next.max(cycle + 1));
            }
        });
        self.steps += channels + llc + network;
        self.step_core(now, record, source)?;
        if self.polls {
            self.wake_all_after(now);
        }
        Ok(())
    }

    /// Steps the SMs that are due, then the dispatcher if it is.
    fn step_core(
        &mut self,
        now: Ticks,
        record: &mut Recording,
        source: &mut dyn KernelSource,
    ) -> Result<(), TraceError> {
        let Some(cycle) = self.fabric.begin_cycle(Domain::Core, now) else { return Ok(()) };
        let cycle = CoreCycle::new(cycle);
        while let Some(unit) = self.fabric.wheel(Domain::Core).take() {
            self.steps += 1;
            if unit == self.sms.len() {
                self.dispatch(cycle, source)?;
                continue;
            }
            let System { fabric, requests, map, side, .. } = self;
            self.sms[unit].step(cycle, &mut Context { fabric, requests, map, record, side })?;
            self.collect_ended(unit, cycle);
        }
        self.fabric.wheel(Domain::Core).end();
        Ok(())
    }

    /// Steps every unit in every cycle from now on, whether it asks or not.
    pub fn poll(&mut self) {
        self.polls = true;
        Domain::ALL.into_iter().for_each(|domain| self.wake_all(domain, 0));
    }

    /// Wakes the units of each domain in its first cycle after `now`.
    fn wake_all_after(&mut self, now: Ticks) {
        for domain in Domain::ALL {
            self.wake_all(domain, self.fabric.clock(domain).cycle_of(now) + 1);
        }
    }

    fn wake_all(&mut self, domain: Domain, cycle: u64) {
        let units = match domain {
            Domain::Dram => self.controllers.len(),
            Domain::Llc => self.slices.len(),
            Domain::Network => self.networks.len(),
            Domain::Core => self.sms.len() + 1,
        };
        for index in 0..units as u32 {
            self.fabric.wake_cycle(UnitId { domain, index }, cycle);
        }
    }

    /// Tells the dispatcher, which is stepped after the SMs, which CTAs of the SM in this place have
    /// ended.
    fn collect_ended(&mut self, sm: usize, cycle: CoreCycle) {
        let dispatcher = dispatcher_index(self.sms.len());
        while let Some(end) = self.sms[sm].take_ended() {
            let issued = || self.sms[sm].issued_by_ctas(end.kernel);
            self.dispatcher.cta_ended(end, &issued);
            self.fabric.wake_at(dispatcher, cycle);
        }
    }

    fn dispatch(
        &mut self,
        cycle: CoreCycle,
        source: &mut dyn KernelSource,
    ) -> Result<(), TraceError> {
        if self.dispatcher.observes(cycle) {
            for (id, sm) in SmId::all(self.sms.len()).zip(&mut self.sms) {
                self.dispatcher.observe(id, sm.idle_cycles(cycle));
            }
        }
        self.end_at_limit(cycle, source);
        let next = self.dispatcher.step(cycle, source, &mut self.launches)?;
        if self.dispatcher.pauses() {
            self.limit_running(cycle);
        }
        while let Some(launch) = self.launches.pop_front() {
            let sm = &mut self.sms[launch.sm.index()];
            sm.launch(launch.cta);
            self.fabric.wake_at(sm.unit().index, cycle + 1);
        }
        if let Some(next) = next {
            self.fabric.wake_at(dispatcher_index(self.sms.len()), next);
        }
        Ok(())
    }

    /// Ends kernels that have issued as many instructions as they may.
    fn end_at_limit(&mut self, cycle: CoreCycle, source: &mut dyn KernelSource) {
        while let Some(kernel) = self.dispatcher.to_count(cycle) {
            let resident = self.sms.iter().flat_map(|sm| sm.issued_by_ctas(kernel)).sum();
            if self.dispatcher.count_instructions(kernel, resident, cycle) {
                self.sms.iter_mut().for_each(|sm| sm.end_early(kernel));
                source.end(kernel as usize);
            }
        }
    }

    /// Tells SMs how many of their CTAs may issue from the next cycle on.
    fn limit_running(&mut self, cycle: CoreCycle) {
        for (id, sm) in SmId::all(self.sms.len()).zip(&mut self.sms) {
            if sm.limit_running(self.dispatcher.running_limit(id)) {
                self.fabric.wake_at(sm.unit().index, cycle + 1);
            }
        }
    }

    pub fn dispatcher(&self) -> &Dispatcher {
        &self.dispatcher
    }

    /// Unit steps so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Grows whenever anything gets anywhere: a warp issues, a CTA ends, a unit takes a request.
    pub fn progress(&self) -> u64 {
        let ended = self.dispatcher.ctas_ended() + u64::from(self.dispatcher.is_done());
        self.warp_instructions() + ended + self.fabric.moves()
    }

    /// Warp instructions issued so far.
    pub fn warp_instructions(&self) -> u64 {
        self.sms.iter().map(Sm::warp_instructions).sum()
    }

    /// Whether no request is in flight anywhere.
    pub fn is_drained(&self) -> bool {
        self.requests.in_flight() == 0 && !self.controllers.iter().any(Controller::is_prefetching)
    }

    /// What SMs, slices and channels have done before `now`.
    pub fn so_far(&mut self, now: Ticks) -> IntervalCounts {
        let core = self.fabric.clock_of::<domain::Core>().cycle_from(now);
        let llc = self.fabric.clock_of::<domain::Llc>().cycle_from(now);
        let dram = self.fabric.clock(Domain::Dram).cycle_from(now);
        let mut counts = IntervalCounts::default();
        self.sms.iter_mut().for_each(|sm| counts.sms.add(&sm.so_far(core)));
        for slice in &self.slices {
            counts.llc.add(slice.accesses());
            counts.llc_queues.add(&slice.queue_length(llc));
        }
        for controller in &self.controllers {
            counts.add_channel(controller.counts(DramCycle::new(dram)));
        }
        counts
    }

    /// Warps on all SMs.
    pub fn resident_warps(&self) -> u64 {
        self.sms.iter().map(|sm| u64::from(sm.resident_warps())).sum()
    }

    /// Requests between L1s and DRAM.
    pub fn requests_in_flight(&self) -> u64 {
        self.requests.in_flight() as u64
    }

    /// Stops prefetching in all channels from the DRAM cycle after `now` on.
    pub fn end_prefetching(&mut self, now: Ticks) {
        let cycle = self.fabric.clock(Domain::Dram).cycle_of(now) + 1;
        for controller in self.controllers.iter_mut().filter(|c| c.has_prefetcher()) {
            controller.end_prefetching(DramCycle::new(cycle));
            self.fabric.wake_cycle(controller.unit(), cycle);
        }
    }

    /// Starts the SMs' account of cycles at core cycle `cycle`.
    pub fn start_account(&mut self, cycle: CoreCycle) {
        self.sms.iter_mut().for_each(|sm| sm.start_account(cycle));
    }

    /// Ends the SMs' account of cycles at core cycle `cycle`, when the last CTA has ended.
    pub fn finish_sms(&mut self, cycle: CoreCycle, result: &mut RunResult) {
        result.sms = self.sms.iter_mut().map(|sm| sm.finish(cycle)).collect();
    }

    /// The results of everything but the SMs, when all requests are done, at time `now`.
    pub fn finish_memory(&mut self, now: Ticks, machine: &Machine, result: &mut RunResult) {
        let cycle = self.fabric.clock(Domain::Dram).cycle_from(now);
        let llc_cycle = self.fabric.clock_of::<domain::Llc>().cycle_from(now);
        result.slices = self.slices.iter_mut().map(|slice| slice.finish(llc_cycle)).collect();
        if machine.llc.enabled {
            result.mshr_cycles = self.side.mshrs.finish(llc_cycle);
        }
        let dram_cycle = DramCycle::new(cycle);
        result.channels = self.controllers.iter().map(|c| c.counts(dram_cycle)).collect();
        let sharing = self.controllers.iter().filter_map(Controller::row_sharing);
        sharing.for_each(|sharing| sharing.add_to(&mut result.row_sharing));
        let cycle = self.fabric.clock(Domain::Network).cycle_from(now);
        result.networks = self.networks.iter_mut().map(|network| network.finish(cycle)).collect();
        result.counters = self.counters(machine);
        result.kernels = self.dispatcher.results().to_vec();
        result.steps = self.steps;
    }

    /// What policies counted.
    fn counters(&self, machine: &Machine) -> Vec<CounterResult> {
        let policy = &machine.policy;
        let mut counters = self.channel_counters(machine);
        for (index, sm) in self.sms.iter().enumerate() {
            counters.extend(named("sm", index, &policy.warp_scheduler, sm.counters()));
        }
        for (index, slice) in self.slices.iter().enumerate() {
            counters.extend(named("slice", index, &policy.llc_queue, slice.queue_counters()));
        }
        let dispatcher = self.dispatcher.counters();
        counters.extend(named("machine", 0, &policy.cta_scheduler, dispatcher));
        counters
    }

    /// What DRAM schedulers and prefetchers counted in each channel, and for the former its slices
    /// together.
    fn channel_counters(&self, machine: &Machine) -> Vec<CounterResult> {
        let slices = self.slices.chunks(machine.llc.slices_per_channel as usize);
        let Policies { dram_scheduler: scheduler, prefetcher, ideal, .. } = &machine.policy;
        let mut counters = Vec::new();
        for (channel, (controller, slices)) in self.controllers.iter().zip(slices).enumerate() {
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
        self.controllers.iter_mut().for_each(Controller::enable_log);
    }

    /// Hands over the commands logged since the last call.
    pub fn take_command_logs(&mut self, sink: &mut dyn CommandSink) {
        for (channel, controller) in self.controllers.iter_mut().enumerate() {
            sink.commands(channel as u16, &controller.take_log());
        }
    }

    /// Every queue is empty: what must hold at the end of a run.
    pub fn leftovers(&self) -> Vec<String> {
        let sms = self.sms.iter().filter(|sm| !sm.is_idle()).map(Sm::describe);
        let slices = self.slices.iter().filter(|s| !s.is_idle()).map(Slice::describe);
        let channels =
            self.controllers.iter().filter(|c| !c.channel().is_empty()).map(Controller::describe);
        let networks = self.networks.iter().flat_map(|network| network.describe());
        sms.chain(networks).chain(slices).chain(channels).chain(self.fabric.occupied()).collect()
    }

    /// The state of everything that holds something.
    pub fn describe(&self) -> Vec<String> {
        self.dispatcher.describe().chain(self.leftovers()).collect()
    }
}

/// Steps the units of domain `D` that are due at `now`; returns how many.
fn step_due<D: ClockDomain>(
    ctx: &mut Context,
    now: Ticks,
    mut step: impl FnMut(usize, Cycle<D>, &mut Context),
) -> u64 {
    let Some(cycle) = ctx.fabric.begin_cycle(D::DOMAIN, now) else { return 0 };
    let mut steps = 0;
    while let Some(unit) = ctx.fabric.wheel(D::DOMAIN).take() {
        steps += 1;
        step(unit, Cycle::new(cycle), ctx);
    }
    ctx.fabric.wheel(D::DOMAIN).end();
    steps
}

/// The dispatcher among the units of the core domain: the one after the SMs.
fn dispatcher_index(sms: usize) -> u32 {
    sms as u32
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
