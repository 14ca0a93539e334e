//! A streaming multiprocessor (SM): resident CTAs and warps, issue, and the memory pipeline with
//! L1. It owns all state of its warps; it reaches the rest of the machine only through ports.
//!
//! Instruction fetch is ideal unless `sm.fetch_warps` limits it or `sm.instruction_cache` misses.

mod account;
mod barrier;
mod calendar;
mod cluster;
mod code;
mod collectors;
mod early_end;
mod fetch;
mod issue;
mod issue_stage;
mod mbarrier;
mod memory;
mod pipeline;
mod read_only_cache;
mod residents;
pub mod scheduler;
mod sub_core;
#[cfg(test)]
mod tests;
mod warp;
mod warp_sets;
mod warp_sync;
mod warps;

use crate::context::Context;
use crate::ports::DuplexPorts;
use crate::results::{LoadRow, SmResult, WarpRow};
pub use account::IdleCycles;
use account::{Account, Stepped};
use calendar::Calendar;
pub use cluster::ClusterCta;
pub use code::Code;
use code::Static;
use fetch::Fetch;
use issue_stage::IssueStage;
use memory::{Access, ClusterMember, Completed, MemoryPipeline, Occupancy};
pub use memory::{Replay, ReplayedAccess};
use pipeline::Pipeline;
use residents::Residents;
pub use residents::{CtaEnd, CtaLaunch, Issued};
use scheduler::WarpScheduler;
use warp::Warp;
use warp_sets::WarpSets;
use warp_sync::WarpSync;
use warpmem_machine::Machine;
use warpmem_params::Counter;
use warpmem_sim::{AddressMap, CoreClock, CoreCycle, Domain, PortId, SmId, UnitId, WarpSlot};
use warpmem_trace::{Kind, TraceError};
use warpmem_translation::SmPorts;
use warps::Warps;

/// One SM.
pub struct Sm {
    id: SmId,
    unit: UnitId,
    pipeline: Pipeline,
    /// Cycle of the current step.
    cycle: CoreCycle,
    warps: Warps,
    sets: WarpSets,
    ctas: Residents,
    /// Warps with operands ready at a known cycle.
    calendar: Calendar,
    fetch: Fetch,
    issue: IssueStage,
    sync: WarpSync,
    memory: MemoryPipeline,
    account: Account,
    result: SmResult,
}

impl Sm {
    /// Builds an SM that sends requests to `request_port` and receives replies from `reply_port`.
    pub fn new(
        machine: &Machine,
        id: SmId,
        clock: CoreClock,
        request_port: PortId,
        reply_port: PortId,
        policy: Box<dyn WarpScheduler>,
    ) -> Sm {
        let config = &machine.sm;
        let issue = IssueStage::new(config, policy);
        let mut memory = MemoryPipeline::new(machine, id, clock, request_port, reply_port);
        memory.report_l1_events(issue.needs.l1_events);
        Sm {
            id,
            unit: UnitId { domain: Domain::Core, index: id.0.into() },
            pipeline: Pipeline::new(machine),
            cycle: CoreCycle::ZERO,
            warps: Warps::new(config.max_warps),
            sets: WarpSets::new(),
            ctas: Residents::new(config.max_ctas, config.max_warps),
            calendar: Calendar::new(),
            fetch: Fetch::new(config),
            issue,
            sync: WarpSync::new(machine.cluster.barrier_latency),
            memory,
            account: Account::default(),
            result: SmResult::default(),
        }
    }

    /// Makes every access hit in L1: no request to global or local memory leaves the SM.
    pub fn with_perfect_l1(mut self) -> Sm {
        self.memory.make_l1_perfect();
        self
    }

    /// Connects the SM to the other SMs of its GPC.
    pub fn with_messages(mut self, machine: &Machine, ports: DuplexPorts) -> Sm {
        self.memory.connect(machine, ports);
        self.sync.activate();
        self
    }

    /// Connects the SM to the translation unit.
    pub fn with_translation(mut self, machine: &Machine, ports: SmPorts) -> Sm {
        self.memory.connect_translation(machine, ports);
        self
    }

    /// Returns the id of this SM in the fabric.
    pub fn unit(&self) -> UnitId {
        self.unit
    }

    /// Steps the SM at core cycle `cycle`: replies, L1 lookups, completions, issue, load/store
    /// unit.
    ///
    /// ```text
    ///  calendar ─▶ ready warps ─▶ issue ─▶ load/store unit ─▶ L1 ── miss ─▶ request network
    ///     ▲                                                   │ hit             ┆
    ///     └───────────────────── completed instructions ◀─────┴─ L1 fill ◀─ reply network
    /// ```
    ///
    /// Data come first: a reply or hit of this cycle can make a warp ready that issues in it. A
    /// sector that enters an L1 bank reaches the tags in a later cycle.
    pub fn step(&mut self, cycle: CoreCycle, ctx: &mut Context) -> Result<(), TraceError> {
        self.cycle = cycle;
        self.memory.begin(cycle);
        self.collect_until(cycle.saturating_sub(1));
        self.account.count_until(cycle);
        if self.ctas.next_start() <= cycle {
            self.start_ctas(cycle)?;
        }
        if self.sync.released != 0 {
            self.resume_released(cycle);
        }
        if self.sync.is_active() {
            self.leave_clusters(cycle);
            self.memory.exchange(ctx);
        }
        if self.memory.has_translated(ctx) {
            self.memory.translate(ctx);
        }
        if self.memory.has_reply(ctx) {
            self.memory.take_replies(&mut *self.issue.policy, ctx);
        }
        if self.memory.has_lookup() {
            self.memory.look_up(self.occupancy(), &mut *self.issue.policy, ctx);
        }
        if self.memory.has_completed() {
            self.complete_accesses(cycle, ctx);
        }
        if self.sync.is_active() {
            self.take_signals(cycle, cycle);
        }
        let due = self.calendar.take(cycle);
        if due != 0 {
            let fetched = due & self.fetch.missing();
            if fetched != 0 {
                self.resume_fetch(fetched, cycle);
            }
            let drained = self.sets.take_due(due & !fetched);
            self.end_drained(drained);
        }
        let ready_before = count(self.ready_to_issue());
        if self.issue.collectors.is_some() {
            // GPGPU-Sim, `shader_core_ctx::cycle`: execute, read operands, issue.
            if self.memory.has_work() {
                self.memory.work(self.occupancy(), ctx);
            }
            self.collect_until(cycle);
        }
        let issued = self.issue_all(cycle, ctx.map)?;
        if self.fetch.waiting() != 0 {
            self.fetch_instructions(cycle);
        }
        if self.issue.collectors.is_none() && self.memory.has_work() {
            self.memory.work(self.occupancy(), ctx);
        }
        if self.sync.is_active() {
            self.take_signals(cycle, cycle + 1);
        }
        self.account_step(cycle, issued, ready_before);
        if !self.warps.retired_mut().is_empty() {
            ctx.record.warps(self.warps.retired_mut());
        }
        self.schedule(cycle, issued, ctx);
        Ok(())
    }

    /// Returns the ready warps of CTAs that are not paused.
    #[inline]
    fn ready_to_issue(&self) -> u64 {
        self.sets.ready() & !self.ctas.paused()
    }

    /// Counts the cycle of a step that issued `issued` instructions from `ready_before` ready
    /// warps.
    fn account_step(&mut self, cycle: CoreCycle, issued: u32, ready_before: u32) {
        let (idle, ready) =
            (self.sets.idle_reason(self.ctas.paused()), count(self.ready_to_issue()));
        let issue_interval = self.pipeline.issue_interval;
        let step = Stepped { issued, issue_interval, ready_before, ready, idle };
        self.account.count_step(cycle, step);
    }

    /// Starts the accounting at `cycle`, the start of the run.
    pub fn start_account(&mut self, cycle: CoreCycle) {
        self.account.start(cycle);
    }

    /// Returns the idle cycles from the start of the account through `cycle`, which has been
    /// stepped.
    pub fn idle_cycles(&mut self, cycle: CoreCycle) -> IdleCycles {
        self.account.count_until(cycle + 1);
        self.account.idle_cycles()
    }

    /// Returns the warps that determine whether requests are critical.
    fn occupancy(&self) -> Occupancy {
        Occupancy {
            waiting_for_memory: self.sets.waiting_for_memory(),
            present: self.sets.present(),
        }
    }

    /// Starts a memory instruction that has issued.
    fn start_access(
        &mut self,
        slot: WarpSlot,
        instruction: &Static,
        cycle: CoreCycle,
        map: &AddressMap,
    ) {
        let warp = self.warps.get_mut(slot);
        let addresses = warp.record.active_addresses();
        if addresses.is_empty() {
            return;
        }
        let cta = self.ctas.cta(warp.cta);
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
        let mut access = Access::new(instruction, cta.number, self.pipeline.atomics_stall, row);
        access.outlives_warp = !access.holds_warp && self.pipeline.outlives_warp(instruction);
        warp.held += u32::from(access.holds_warp);
        warp.outliving += u32::from(access.outlives_warp);
        let id = ClusterCta { kernel: cta.kernel, cta: cta.index };
        let member = ClusterMember { cta: id, sms: cta.cluster.sms(&self.id) };
        let returns = access.returns;
        let scheduler = self.issue.scheduler_of(slot);
        let (access, entry) =
            self.memory.start(access, scheduler, instruction, addresses, member, map);
        if let (Some(collectors), Some(entry)) = (&mut self.issue.collectors, entry) {
            let operands = instruction.operands;
            collectors.issue_memory(scheduler, cycle, operands, entry, &mut self.memory);
        }
        if instruction.kind == Kind::AsyncCopy {
            warp.copies.push(access);
        }
        if returns {
            let stalls = self.pipeline.stalls_on_loads && instruction.kind != Kind::AsyncCopy;
            warp.add_load(access, if stalls { 0 } else { instruction.use_distance });
        } else {
            warp.posted += 1;
        }
    }

    /// Completes the memory instructions whose last datum has arrived.
    fn complete_accesses(&mut self, cycle: CoreCycle, ctx: &mut Context) {
        while let Some(done) = self.memory.take_completed(ctx) {
            if done.outlives_warp && self.has_ended_before(&done) {
                continue;
            }
            if done.waits_at_mbarrier {
                self.wait_at_mbarriers(done.warp_slot);
            }
            let warp = self.warps.get_mut(done.warp_slot);
            warp.held -= u32::from(done.held_warp);
            warp.outliving -= u32::from(done.outlives_warp);
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

    /// Whether the warp of an instruction has ended; there may be another in its slot.
    fn has_ended_before(&self, done: &Completed) -> bool {
        let slot = done.warp_slot;
        !slot.is_in(self.sets.present()) || done.issue_cycle < self.sets.launch_cycle(slot)
    }

    fn start_warp(
        &mut self,
        slot: WarpSlot,
        warp: Warp,
        cycle: CoreCycle,
    ) -> Result<(), TraceError> {
        self.sets.launch(slot, cycle);
        self.warps.launch(slot, warp);
        self.next_record(slot, cycle)
    }

    /// Moves a warp to its next record; at the end of its trace, starts its drain.
    fn next_record(&mut self, slot: WarpSlot, cycle: CoreCycle) -> Result<(), TraceError> {
        let warp = self.warps.get_mut(slot);
        if warp.next_record()? {
            self.sets.set_records_left(slot, warp.records_left());
            self.count_record(slot);
            self.await_instruction(slot, cycle);
        } else {
            let (drained, cta) = (warp.drained.max(cycle), warp.cta);
            self.sets.set_class(slot, None);
            self.sets.drain(slot);
            self.await_drain(slot, drained);
            self.report_cluster_arrival(cta);
        }
        Ok(())
    }

    /// Schedules the end of a warp's drain: when its last instruction leaves the pipeline, at
    /// `cycle` or later.
    fn await_drain(&mut self, slot: WarpSlot, cycle: CoreCycle) {
        if self.warps.get(slot).untaken > 0 {
            self.issue.awaiting_unit |= slot.bit();
        } else {
            self.calendar.add(slot, cycle);
        }
    }

    /// Retires drained warps that have nothing in flight in memory.
    fn end_drained(&mut self, warps: u64) {
        self.sets.end_drained(warps);
        let mut rest = warps;
        while rest != 0 {
            let slot = WarpSlot::lowest(rest);
            self.end_warp_if_done(slot);
            // Retiring this warp may have released others from a barrier and retired them.
            rest &= (rest - 1) & self.sets.present();
        }
    }

    /// Counts the thread instructions of a record.
    fn count_record(&mut self, slot: WarpSlot) {
        let warp = self.warps.get_mut(slot);
        let record = &warp.record;
        let mut compute = 0;
        let by_class = &mut self.result.thread_instructions_by_class;
        for (sum, &lanes) in by_class.iter_mut().zip(&record.compute_lanes) {
            *sum += u64::from(lanes);
            compute += u64::from(lanes);
        }
        let kind = warp.code.get(record.instruction.0).kind;
        let own = if kind == Kind::End { 0 } else { record.mask.count_ones() };
        warp.thread_instructions += compute + u64::from(own);
        self.result.thread_instructions += compute + u64::from(own);
    }

    /// Retires a warp at the end of its trace if it has nothing in flight.
    fn end_warp_if_done(&mut self, slot: WarpSlot) {
        let warp = self.warps.get(slot);
        let is_held = warp.held > 0 || slot.is_in(self.sets.at_barrier());
        if warp.loads > 0 || warp.posted > warp.outliving || is_held {
            return;
        }
        let cta = warp.cta;
        let issued = Issued { warp: warp.index, thread: warp.thread_instructions };
        self.warps.retire(slot, self.warp_row(slot, warp));
        self.sets.remove(slot);
        self.issue.policy.retired(slot);
        let state = self.ctas.cta_mut(cta);
        state.issued.warp += issued.warp;
        state.issued.thread += issued.thread;
        state.live -= 1;
        if state.live == 0 {
            self.ctas.end(cta, self.id, self.cycle);
        } else {
            self.release_if_complete(cta);
        }
    }

    /// Returns the row of a warp that retires in this step.
    fn warp_row(&self, slot: WarpSlot, warp: &Warp) -> WarpRow {
        let cta = self.ctas.cta(warp.cta);
        WarpRow {
            sm: self.id.0.into(),
            warp_slot: slot.0.into(),
            kernel: cta.kernel,
            cta: cta.index,
            warp_in_cta: warp.warp_in_cta,
            launch_cycle: self.sets.launch_cycle(slot).number(),
            end_cycle: self.cycle.number(),
            instructions: warp.index,
        }
    }

    /// Schedules the next step. `issued` instructions issued in this one.
    fn schedule(&mut self, cycle: CoreCycle, issued: u32, ctx: &mut Context) {
        let next = self.next_step(cycle + 1, issued, ctx);
        if next != CoreCycle::NEVER {
            ctx.fabric.wake_at(self.unit.index, next);
        }
    }

    /// Returns the first cycle from `soon` on with work to do. Cheap checks come first.
    fn next_step(&self, soon: CoreCycle, issued: u32, ctx: &mut Context) -> CoreCycle {
        let mut next = self.memory.next_end(ctx).min(self.calendar.next());
        if next <= soon || self.fetch.waiting() != 0 {
            return soon;
        }
        if self.sync.is_active() {
            next = next.min(self.sync.next_release()).min(self.memory.next_message(soon, ctx));
        }
        if self.memory.translates() {
            next = next.min(self.memory.next_translation(ctx));
        }
        next = next.min(self.memory.next_lookup(ctx));
        if next <= soon {
            return soon;
        }
        let unit = self.memory.next_unit_cycle().min(self.next_collect(soon));
        next.min(unit).min(self.next_issue_cycle(soon, issued)).max(soon)
    }

    /// Returns the results at the end of the run, at core cycle `cycle`.
    pub fn finish(&mut self, cycle: CoreCycle) -> SmResult {
        self.account.count_until(cycle);
        let mut result = std::mem::take(&mut self.result);
        self.add_own_counts(&mut result);
        result
    }

    /// Adds the counts of the memory side to `result`, when the stores of ended warps have been
    /// acknowledged too.
    pub fn finish_memory(&self, result: &mut SmResult) {
        self.memory.add_to(result);
    }

    /// Returns the results up to core cycle `cycle`. Stalls of an access are counted when they end.
    pub fn so_far(&mut self, cycle: CoreCycle) -> SmResult {
        self.account.count_until(cycle);
        let mut result = self.result.clone();
        self.add_own_counts(&mut result);
        self.memory.add_to(&mut result);
        result
    }

    /// Adds the counts of issue and fetch to `result`.
    fn add_own_counts(&self, result: &mut SmResult) {
        self.account.add_to(result);
        result.instruction_cache_misses = self.fetch.misses();
    }

    /// Returns the number of resident warps.
    pub fn resident_warps(&self) -> u32 {
        self.sets.present().count_ones()
    }

    /// Whether nothing is resident, queued or in flight.
    pub fn is_idle(&self) -> bool {
        self.sets.present() == 0
            && self.ctas.next_start() == CoreCycle::NEVER
            && self.memory.is_idle()
    }

    /// Returns the counters of the warp scheduler.
    pub fn counters(&self) -> Vec<Counter> {
        self.issue.counters()
    }

    /// Returns the number of warp instructions issued so far.
    pub fn warp_instructions(&self) -> u64 {
        self.result.warp_instructions
    }

    /// Describes the SM for the deadlock report.
    pub fn describe(&self) -> String {
        format!(
            "SM {}: {} resident warps, {} ready, {} at a barrier, {} waiting for memory; {}",
            self.id,
            self.sets.present().count_ones(),
            self.sets.ready().count_ones(),
            self.sets.at_barrier().count_ones(),
            self.sets.waiting_for_memory().count_ones(),
            self.memory.describe(),
        )
    }
}

/// Returns the number of warps in a set. Most sets are empty.
#[inline]
fn count(warps: u64) -> u32 {
    if warps == 0 { 0 } else { warps.count_ones() }
}
