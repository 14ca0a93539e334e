//! A streaming multiprocessor: warps, scoreboard, issue, load/store unit and L1.
//!
//! Instruction fetch is ideal unless `sm.fetch_warps` limits it.

mod account;
mod barrier;
mod calendar;
mod cluster;
mod code;
mod collectors;
mod early_end;
mod fetch;
mod issue;
mod issue_slot;
mod mbarrier;
mod memory;
mod residents;
pub mod scheduler;
#[cfg(test)]
mod tests;
mod warp;
mod warp_sets;

use crate::context::Context;
use crate::results::{LoadRow, SmResult, WarpRow};
pub use account::IdleCycles;
use account::{Account, Stepped};
use calendar::Calendar;
pub use cluster::ClusterCta;
pub use code::Code;
use code::{CLASSES, CONTROL, Class, INTEGER, SYNC, Static};
use collectors::Collectors;
use fetch::Fetch;
use issue_slot::IssueSlot;
use mbarrier::LateArrival;
pub use memory::MessagePorts;
use memory::{Access, MemoryPipeline, Occupancy, Place};
use residents::Residents;
pub use residents::{CtaEnd, CtaLaunch, Issued};
use scheduler::{CtaSlot, Needs, SchedulerId, SmContext, WARP_SCHEDULERS, WarpScheduler};
use warp::Warp;
use warp_sets::WarpSets;
use warpmem_machine::{Machine, Sm as Config, Stall, SyncUnit, Unit};
use warpmem_params::Counter;
use warpmem_sim::{AddressMap, CoreClock, CoreCycle, Domain, PortId, SmId, UnitId, WarpSlot};
use warpmem_trace::{Kind, Mbarrier, TraceError};

/// One SM.
pub struct Sm {
    id: SmId,
    unit: UnitId,
    units: [Unit; CLASSES],
    /// The class through whose unit each class goes.
    ports: [Class; CLASSES],
    issue_interval: u64,
    /// Async copies with the global cache operator bypass L1.
    async_bypass: bool,
    /// Which scheduler issues first rotates in every cycle in which there are CTAs.
    rotating_schedulers: bool,
    /// Cycles without a CTA before those that are here came, and the cycle after the last end of one.
    cycles_without_ctas: u64,
    without_ctas_from: CoreCycle,
    /// A warp does not issue past a load whose data are not back.
    stalls_on_loads: bool,
    atomics_stall: bool,
    operand_latency: u64,
    writeback_latency: u64,
    barrier_latency: u64,
    /// Other SMs may send messages, or warps have met at mbarriers or at the barrier of a cluster. Most
    /// SMs have nothing of all that to look after.
    has_meetings: bool,
    /// Arrivals at mbarriers that wait for copies.
    late_arrivals: Vec<LateArrival>,
    /// Warps that waited for others when their kernel ended before its time, by slot.
    given_up: u64,

    /// The cycle of the current step.
    cycle: CoreCycle,
    warps: Vec<Option<Box<Warp>>>,
    sets: WarpSets,
    residents: Residents,
    /// Warps that have ended in this step.
    ended_warps: Vec<WarpRow>,

    calendar: Calendar,
    fetch: Fetch,
    slots: Vec<IssueSlot>,
    /// None where the schedulers' operand collectors have no limit.
    collectors: Option<Box<Collectors>>,
    /// Warps that wait for a unit to take an instruction of theirs.
    awaiting_unit: u64,
    /// Warps whose schedulers come later in the cycle, while instructions issue (GPGPU-Sim,
    /// `shader_core_ctx::issue`); 0 where those that leave a barrier go on in the next cycle.
    yet_to_issue: u64,
    /// The policy let none of its candidates issue in some slot in the last step.
    holds: bool,
    policy: Box<dyn WarpScheduler>,
    needs: Needs,

    memory: MemoryPipeline,
    account: Account,
    result: SmResult,
}

impl Sm {
    /// `request_port` leads to the request network, `reply_port` comes from the reply network.
    pub fn new(
        machine: &Machine,
        id: SmId,
        clock: CoreClock,
        request_port: PortId,
        reply_port: PortId,
    ) -> Result<Sm, warpmem_params::PolicyError> {
        let config = &machine.sm;
        let context = SmContext::of(machine, id);
        let slot = |scheduler| IssueSlot::new(scheduler, context.schedulers());
        let policy = WARP_SCHEDULERS.build(&machine.policy.warp_scheduler, &context)?;
        let needs = policy.needs();
        let mut memory = MemoryPipeline::new(machine, id, clock, request_port, reply_port);
        memory.report_l1_events(needs.l1_events);
        let max_warps = config.max_warps as usize;
        let limited = || Box::new(Collectors::new(config));
        Ok(Sm {
            id,
            unit: UnitId { domain: Domain::Core, index: id.0.into() },
            units: unit_table(config),
            ports: port_table(config),
            issue_interval: u64::from(config.issue_interval),
            async_bypass: machine.l1.async_bypass,
            rotating_schedulers: config.rotating_schedulers,
            cycles_without_ctas: 0,
            without_ctas_from: CoreCycle::ZERO,
            stalls_on_loads: config.stall == Stall::Load,
            atomics_stall: config.atomics_stall,
            operand_latency: u64::from(config.operand_latency),
            writeback_latency: u64::from(config.writeback_latency),
            barrier_latency: u64::from(machine.cluster.barrier_latency),
            has_meetings: false,
            late_arrivals: Vec::new(),
            given_up: 0,
            cycle: CoreCycle::ZERO,
            warps: (0..max_warps).map(|_| None).collect(),
            sets: WarpSets::new(),
            residents: Residents::new(config.max_ctas, config.max_warps),
            ended_warps: Vec::new(),
            calendar: Calendar::new(),
            fetch: Fetch::new(config.fetch_warps),
            slots: SchedulerId::all(context.schedulers()).map(slot).collect(),
            collectors: (config.collectors > 0).then(limited),
            awaiting_unit: 0,
            yet_to_issue: 0,
            holds: false,
            needs,
            policy,
            memory,
            account: Account::default(),
            result: SmResult::default(),
        })
    }

    /// The same SM with an L1 in which every access hits: no request to global or local memory
    /// leaves it.
    pub fn with_perfect_l1(mut self) -> Sm {
        self.memory.make_l1_perfect();
        self
    }

    /// The same SM with ways to others.
    pub fn with_messages(mut self, machine: &Machine, ports: MessagePorts) -> Sm {
        self.memory.connect(machine, ports);
        self.has_meetings = true;
        self
    }

    /// This SM as the fabric knows it.
    pub fn unit(&self) -> UnitId {
        self.unit
    }

    /// One step at core cycle `cycle`: replies, L1 lookups, completions, issue, the load/store
    /// unit.
    ///
    /// ```text
    ///  calendar ─▶ ready warps ─▶ issue ─▶ load/store unit ─▶ L1 ── miss ─▶ request network
    ///     ▲                                                   │ hit             ┆
    ///     └───────────────────── completed instructions ◀─────┴─ L1 fill ◀─ reply network
    /// ```
    ///
    /// Data come first: a reply or a hit of this cycle can make a warp ready that issues in it. A
    /// sector that enters an L1 bank reaches the tags in a later cycle.
    pub fn step(&mut self, cycle: CoreCycle, ctx: &mut Context) -> Result<(), TraceError> {
        self.cycle = cycle;
        self.memory.begin(cycle);
        self.collect_until(cycle.saturating_sub(1));
        self.account.count_until(cycle);
        if self.residents.has_launches() {
            self.start_ctas(cycle)?;
        }
        if self.given_up != 0 {
            self.go_on_alone(cycle);
        }
        if self.has_meetings {
            self.leave_clusters(cycle);
            self.memory.exchange(ctx);
        }
        self.memory.take_reply(&mut *self.policy, ctx);
        self.memory.look_up(self.occupancy(), &mut *self.policy, ctx);
        if self.memory.has_completed() {
            self.complete_accesses(cycle, ctx);
        }
        if self.has_meetings {
            self.take_signals(cycle, cycle);
        }
        let due = self.calendar.take(cycle);
        if due != 0 {
            let drained = self.sets.take_due(due);
            self.end_drained(drained);
        }
        let ready_before = count(self.ready_to_issue());
        if self.collectors.is_some() {
            // GPGPU-Sim, `shader_core_ctx::cycle`: execute, read operands, issue.
            self.memory.work(self.occupancy(), ctx);
            self.collect_until(cycle);
        }
        let issued = self.issue(cycle, ctx.map)?;
        if self.fetch.waiting() != 0 {
            self.fetch_instructions(cycle);
        }
        if self.collectors.is_none() {
            self.memory.work(self.occupancy(), ctx);
        }
        if self.has_meetings {
            self.take_signals(cycle, cycle + 1);
        }
        self.account_step(cycle, issued, ready_before);
        if !self.ended_warps.is_empty() {
            ctx.record.warps(&mut self.ended_warps);
        }
        self.schedule(cycle, issued, ctx);
        Ok(())
    }

    /// Ready warps of CTAs that do not pause.
    #[inline]
    fn ready_to_issue(&self) -> u64 {
        self.sets.ready() & !self.residents.paused()
    }

    /// Counts the cycle of a step in which `issued` instructions issued out of `ready_before` ready
    /// warps.
    fn account_step(&mut self, cycle: CoreCycle, issued: u32, ready_before: u32) {
        let (idle, ready) =
            (self.sets.idle_reason(self.residents.paused()), count(self.ready_to_issue()));
        let issue_interval = self.issue_interval;
        let step = Stepped { issued, issue_interval, ready_before, ready, idle };
        self.account.count_step(cycle, step);
    }

    /// Starts counting at `cycle`, where the run starts.
    pub fn start_account(&mut self, cycle: CoreCycle) {
        self.account.start(cycle);
    }

    /// How the SM was idle from the start of the account to the end of `cycle`, in which it has
    /// been stepped.
    pub fn idle_cycles(&mut self, cycle: CoreCycle) -> IdleCycles {
        self.account.count_until(cycle + 1);
        self.account.idle_cycles()
    }

    /// The warps by which requests are critical or not.
    fn occupancy(&self) -> Occupancy {
        Occupancy {
            waiting_for_memory: self.sets.waiting_for_memory(),
            present: self.sets.present(),
        }
    }

    /// A memory instruction has issued: its warp counts it, and the memory side begins with it.
    fn start_access(
        &mut self,
        slot: WarpSlot,
        instruction: &Static,
        cycle: CoreCycle,
        map: &AddressMap,
    ) {
        let warp = self.warps[slot.index()].as_mut().expect("the warp is present");
        let addresses = warp.record.active_addresses();
        if addresses.is_empty() {
            return;
        }
        let cta = self.residents.cta(warp.cta);
        let returns = matches!(instruction.kind, Kind::Load | Kind::Atomic | Kind::AsyncCopy);
        let row = LoadRow {
            kernel: cta.kernel,
            cta: cta.index,
            warp_in_cta: warp.warp_in_cta,
            sm: self.id.0.into(),
            warp_slot: slot.0.into(),
            pc: instruction.pc,
            issue_cycle: cycle.number(),
            ..LoadRow::default()
        };
        let is_atomic = matches!(instruction.kind, Kind::Atomic | Kind::Reduction);
        let waits = matches!(instruction.mbarrier, Some(Mbarrier::Wait { .. }));
        let holds_warp = self.atomics_stall && is_atomic || waits;
        warp.held += u32::from(holds_warp);
        let mut access = Access::new(cta.number, returns, holds_warp, row);
        access.waits = waits;
        access.l2_policy = instruction.l2_policy;
        let id = ClusterCta { kernel: cta.kernel, cta: cta.index };
        let place = Place { cta: id, sms: cta.cluster.sms(&self.id) };
        let (access, entry) = self.memory.start(access, instruction, addresses, place, map);
        if let (Some(collectors), Some(entry)) = (&mut self.collectors, entry) {
            let scheduler = SchedulerId::new(slot.index() % self.slots.len());
            collectors.issue_memory(scheduler, instruction.operands, entry);
        }
        if instruction.kind == Kind::AsyncCopy {
            warp.copies.push(access);
        }
        if returns {
            let stalls = self.stalls_on_loads && instruction.kind != Kind::AsyncCopy;
            warp.add_load(access, if stalls { 0 } else { instruction.use_distance });
        } else {
            warp.posted += 1;
        }
    }

    /// Takes the memory instructions whose last datum is there.
    fn complete_accesses(&mut self, cycle: CoreCycle, ctx: &mut Context) {
        while let Some(done) = self.memory.take_completed(ctx) {
            if done.waits {
                self.look_at_mbarriers(done.warp_slot);
            }
            let warp = self.warp_mut(done.warp_slot);
            warp.held -= u32::from(done.held_warp);
            if done.returns {
                warp.finish_load(done.access);
            } else {
                warp.posted -= 1;
            }
            if !warp.copies.is_empty() {
                self.end_copy(&done);
            }
            self.memory_back(done.warp_slot, cycle);
        }
    }

    fn start_warp(
        &mut self,
        slot: WarpSlot,
        warp: Warp,
        cycle: CoreCycle,
    ) -> Result<(), TraceError> {
        self.sets.launch(slot, cycle);
        self.warps[slot.index()] = Some(Box::new(warp));
        self.next_record(slot, cycle)
    }

    /// Moves a warp to its next record, or lets it end once its memory instructions are done.
    fn next_record(&mut self, slot: WarpSlot, cycle: CoreCycle) -> Result<(), TraceError> {
        let warp = self.warps[slot.index()].as_mut().expect("the warp is present");
        if warp.next_record()? {
            self.sets.set_records_left(slot, warp.records_left());
            self.count_record(slot);
            self.await_instruction(slot, cycle);
        } else {
            let (drained, cta) = (warp.drained.max(cycle), warp.cta);
            self.sets.set_class(slot, None);
            self.sets.drain(slot);
            self.await_drain(slot, drained);
            self.tell_if_arrived(cta);
        }
        Ok(())
    }

    /// Lets a warp at the end of its trace wait until its last instruction leaves the pipeline, not
    /// before `cycle`.
    fn await_drain(&mut self, slot: WarpSlot, cycle: CoreCycle) {
        if self.warp(slot).untaken > 0 {
            self.awaiting_unit |= slot.bit();
        } else {
            self.calendar.add(slot, cycle);
        }
    }

    /// Ends warps whose last instructions have left the pipeline, if nothing of them is in flight
    /// in memory.
    fn end_drained(&mut self, warps: u64) {
        self.sets.end_drained(warps);
        let mut rest = warps;
        while rest != 0 {
            let slot = WarpSlot::lowest(rest);
            self.end_warp_if_done(slot);
            // Those that waited at a barrier for this one to end may have ended with it.
            rest &= (rest - 1) & self.sets.present();
        }
    }

    /// Counts the threads of a record's instructions.
    fn count_record(&mut self, slot: WarpSlot) {
        let warp = self.warps[slot.index()].as_mut().expect("the warp is present");
        let record = &warp.record;
        let mut compute = 0;
        let by_class = &mut self.result.thread_instructions_by_class;
        for (sum, &lanes) in by_class.iter_mut().zip(&record.compute_lanes) {
            *sum += u64::from(lanes);
            compute += u64::from(lanes);
        }
        let kind = warp.code.get(record.instruction.0).kind;
        let own = if kind == warpmem_trace::Kind::End { 0 } else { record.mask.count_ones() };
        warp.thread_instructions += compute + u64::from(own);
        self.result.thread_instructions += compute + u64::from(own);
    }

    fn warp(&self, slot: WarpSlot) -> &Warp {
        self.warps[slot.index()].as_ref().expect("the warp is present")
    }

    fn warp_mut(&mut self, slot: WarpSlot) -> &mut Warp {
        self.warps[slot.index()].as_mut().expect("the warp is present")
    }

    /// Ends a warp whose trace is at its end when nothing of it is in flight.
    fn end_warp_if_done(&mut self, slot: WarpSlot) {
        let warp = self.warp(slot);
        let is_held = warp.held > 0 || slot.is_in(self.sets.at_barrier());
        if warp.loads > 0 || warp.posted > 0 || is_held {
            return;
        }
        let (cta, warp_in_cta) = (warp.cta, warp.warp_in_cta);
        let issued = Issued { warp: warp.index, thread: warp.thread_instructions };
        self.note_warp(slot, cta, warp_in_cta, issued.warp);
        self.warps[slot.index()] = None;
        self.sets.remove(slot);
        self.policy.retired(slot);
        let state = self.residents.cta_mut(cta);
        state.issued.warp += issued.warp;
        state.issued.thread += issued.thread;
        state.live -= 1;
        if state.live == 0 {
            self.end_cta(cta);
        } else {
            self.release_if_complete(cta);
        }
    }

    /// A warp of a CTA ends in this step.
    fn note_warp(&mut self, slot: WarpSlot, cta: CtaSlot, warp_in_cta: u32, instructions: u64) {
        let cta = self.residents.cta(cta);
        self.ended_warps.push(WarpRow {
            sm: self.id.0.into(),
            warp_slot: slot.0.into(),
            kernel: cta.kernel,
            cta: cta.index,
            warp_in_cta,
            launch_cycle: self.sets.launch_cycle(slot).number(),
            end_cycle: self.cycle.number(),
            instructions,
        });
    }

    /// Asks for the next step. `issued` instructions have issued in this one.
    fn schedule(&mut self, cycle: CoreCycle, issued: u32, ctx: &mut Context) {
        let next = self.next_step(cycle + 1, issued, ctx);
        if next != CoreCycle::NEVER {
            ctx.fabric.wake_at(self.unit.index, next);
        }
    }

    /// The first cycle from `soon` on in which there is something to do. What is quick to see comes
    /// first.
    fn next_step(&self, soon: CoreCycle, issued: u32, ctx: &mut Context) -> CoreCycle {
        let mut next = self.memory.next_end(ctx).min(self.calendar.next());
        if next <= soon || self.fetch.waiting() != 0 {
            return soon;
        }
        if self.has_meetings {
            next = next.min(self.next_release()).min(self.memory.next_message(soon, ctx));
        }
        next = next.min(self.memory.next_lookup(ctx));
        if next <= soon {
            return soon;
        }
        let unit = self.memory.next_unit_cycle().min(self.next_collect(soon));
        next.min(unit).min(self.next_issue_cycle(soon, issued)).max(soon)
    }

    /// What the SM did until core cycle `cycle`, where the run ended.
    pub fn finish(&mut self, cycle: CoreCycle) -> SmResult {
        self.account.count_until(cycle);
        let mut result = std::mem::take(&mut self.result);
        self.account.add_to(&mut result);
        self.memory.add_to(&mut result);
        result
    }

    /// What the SM has done before core cycle `cycle`; cycles in which an access waits when that
    /// has ended.
    pub fn so_far(&mut self, cycle: CoreCycle) -> SmResult {
        self.account.count_until(cycle);
        let mut result = self.result.clone();
        self.account.add_to(&mut result);
        self.memory.add_to(&mut result);
        result
    }

    /// Warps on the SM.
    pub fn resident_warps(&self) -> u32 {
        self.sets.present().count_ones()
    }

    /// Whether nothing is resident, queued or in flight.
    pub fn is_idle(&self) -> bool {
        self.sets.present() == 0 && !self.residents.has_launches() && self.memory.is_idle()
    }

    /// What the policy of its schedulers counted.
    pub fn counters(&self) -> Vec<Counter> {
        self.policy.counters()
    }

    /// Warp instructions issued so far.
    pub fn warp_instructions(&self) -> u64 {
        self.result.warp_instructions
    }

    /// State for the deadlock report.
    pub fn describe(&self) -> String {
        format!(
            "SM {}: {} warps present, {} ready, {} at a barrier, {} wait for memory; {}",
            self.id,
            self.sets.present().count_ones(),
            self.sets.ready().count_ones(),
            self.sets.at_barrier().count_ones(),
            self.sets.waiting_for_memory().count_ones(),
            self.memory.describe(),
        )
    }
}

/// Warps of a set. Most steps count empty sets.
#[inline]
fn count(warps: u64) -> u32 {
    if warps == 0 { 0 } else { warps.count_ones() }
}

/// Units by class. The load/store unit takes an instruction each cycle while its queue has room.
fn unit_table(config: &Config) -> [Unit; CLASSES] {
    let units = &config.units;
    let cycle = Unit { latency: 1, interval: 1 };
    [
        units.integer,
        units.fp32,
        units.fp64,
        units.sfu,
        units.tensor,
        units.control,
        units.uniform,
        units.other,
        units.fp16,
        cycle,
        if config.sync_unit == SyncUnit::Integer { cycle } else { units.control },
    ]
}

/// The class through whose unit each class goes.
fn port_table(config: &Config) -> [Class; CLASSES] {
    let sync = if config.sync_unit == SyncUnit::Integer { INTEGER } else { CONTROL };
    std::array::from_fn(|class| if class == SYNC.index() { sync } else { Class::new(class) })
}
