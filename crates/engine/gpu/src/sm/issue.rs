//! Issue: from ready warps to the units.

use super::Sm;
use super::code::{CONTROL, MEMORY, Op, SYNC};
use super::collectors::{Compute, TO_UNIT, Taken};
use super::fetch::FETCHED;
use super::scheduler::SchedulerId;
use super::sub_core::HeldDecision;
use warpmem_sim::{AddressMap, CoreCycle, WarpSlot};
use warpmem_trace::{Kind, TraceError};

impl Sm {
    /// Issues at most one instruction per scheduler; returns how many issued.
    #[inline(always)]
    pub(super) fn issue_all(
        &mut self,
        cycle: CoreCycle,
        map: &AddressMap,
    ) -> Result<u32, TraceError> {
        self.issue.discard_held();
        if self.ready_to_issue() == 0 {
            return Ok(0);
        }
        let mut issued = 0;
        let mut s = self.issue.begin(self.ctas.occupied_cycles(cycle));
        for _ in self.issue.schedulers() {
            self.issue.reach(s);
            if let Some(warp) = self.pick(s, cycle) {
                self.issue_warp(s, warp, cycle, map)?;
                issued += 1;
            }
            s = self.issue.after(s);
        }
        self.issue.end();
        Ok(issued)
    }

    /// Returns the warp that scheduler `s` issues in `cycle`, if any.
    #[inline(always)]
    fn pick(&mut self, s: SchedulerId, cycle: CoreCycle) -> Option<WarpSlot> {
        let candidates = self.candidates(s, cycle);
        if candidates == 0 || self.issue.sub_core(s).next_issue() > cycle {
            return None;
        }
        let miss_room = if self.issue.needs.miss_room { self.memory.miss_room() } else { 0 };
        let (own, paused) = (self.issue.sub_core(s).warps(), self.ctas.paused());
        let view = self.sets.view(cycle, s, own, paused, miss_room);
        let Some(warp) = self.issue.policy.pick(candidates, &view) else {
            self.issue.hold(s, self.held_decision(candidates));
            return None;
        };
        debug_assert!(warp.is_in(candidates), "a scheduler picked a warp that cannot issue");
        Some(warp)
    }

    fn held_decision(&self, candidates: u64) -> HeldDecision {
        HeldDecision {
            candidates,
            waiting: self.sets.waiting_for_memory(),
            at_barrier: self.sets.at_barrier(),
            at_end: self.sets.at_end(),
            paused: self.ctas.paused(),
            memory: self.sets.of_class(MEMORY),
        }
    }

    /// Returns the warps of scheduler `s` that may issue in `cycle`: ready, with a free unit.
    #[inline(always)]
    fn candidates(&self, s: SchedulerId, cycle: CoreCycle) -> u64 {
        let ready = self.ready_to_issue() & self.issue.sub_core(s).warps();
        if ready == 0 {
            return 0;
        }
        let memory = if self.memory.is_full(s) { self.sets.of_class(MEMORY) } else { 0 };
        ready & !(memory | self.issue.blocked(s, cycle, &self.sets))
    }

    fn issue_warp(
        &mut self,
        s: SchedulerId,
        slot: WarpSlot,
        cycle: CoreCycle,
        map: &AddressMap,
    ) -> Result<(), TraceError> {
        let warp = self.warps.get_mut(slot);
        let op = warp.code.op(warp.op);
        let (class, unit) = (op.class, self.pipeline.unit(op.class));
        let port = self.pipeline.port(class);
        let latency = self.pipeline.operand_latency
            + u64::from(unit.latency)
            + self.pipeline.writeback_latency;
        let mut unit_interval = u64::from(unit.interval);
        match &mut self.issue.collectors {
            Some(collectors) if class != MEMORY => {
                unit_interval = 0;
                let compute = Compute { slot, index: warp.index, unit };
                match collectors.issue(s, port, cycle, op.operands, compute) {
                    Some(taken) => warp.set_result(taken + latency - TO_UNIT),
                    None => warp.set_untaken(),
                }
            }
            _ => warp.set_result(cycle + latency),
        }
        warp.index += 1;
        warp.op += 1;
        warp.fetched = warp.fetched.saturating_sub(1);
        let record_done = warp.op == warp.op_end;
        let issue_interval = self.pipeline.issue_interval;
        self.issue.sub_core_mut(s).issue(port, cycle, issue_interval, unit_interval);
        self.sets.issue(slot);
        self.result.warp_instructions += 1;
        if class == MEMORY {
            self.result.memory_instructions += 1;
        } else {
            let class = if class == SYNC { CONTROL } else { class };
            self.result.warp_instructions_by_class[class.index()] += 1;
        }
        if !record_done {
            self.await_instruction(slot, cycle + 1);
            return Ok(());
        }
        self.finish_record(slot, cycle, map)
    }

    /// Executes the effect of a record whose last instruction has issued, and moves the warp to its
    /// next record.
    fn finish_record(
        &mut self,
        slot: WarpSlot,
        cycle: CoreCycle,
        map: &AddressMap,
    ) -> Result<(), TraceError> {
        let warp = self.warps.get(slot);
        let instruction = *warp.code.get(warp.record.instruction.0);
        match instruction.kind {
            Kind::Barrier => {
                self.sets.wait_at_barrier(slot);
                self.next_record(slot, cycle + 1)?;
                self.arrive_at_barrier(slot, instruction.barrier, slot.bit());
            }
            Kind::BarrierArrive => {
                self.arrive_at_barrier(slot, instruction.barrier, 0);
                self.next_record(slot, cycle + 1)?;
            }
            Kind::ClusterArrive => {
                let cta = self.warps.get(slot).cta;
                self.arrive_at_cluster(slot);
                self.next_record(slot, cycle + 1)?;
                self.report_cluster_arrival(cta);
            }
            Kind::ClusterWait => {
                self.wait_at_cluster(slot);
                self.next_record(slot, cycle + 1)?;
            }
            Kind::Fence => {
                self.warps.get_mut(slot).fence = true;
                self.next_record(slot, cycle + 1)?;
            }
            Kind::Exit | Kind::End => self.next_record(slot, cycle + 1)?,
            _ => {
                if instruction.mbarrier.is_some() {
                    self.begin_mbarrier(slot, &instruction);
                }
                self.start_access(slot, &instruction, cycle, map);
                self.next_record(slot, cycle + 1)?;
            }
        }
        Ok(())
    }

    /// Makes a warp fetch its next instruction, or wait for the operands of the fetched one.
    #[inline]
    pub(super) fn await_instruction(&mut self, slot: WarpSlot, cycle: CoreCycle) {
        if !self.fetch.has_cache() || !self.miss_instruction(slot, cycle) {
            self.await_fetch(slot, cycle);
        }
    }

    /// Reads the line of a warp's next instruction if the warp enters it. Returns whether it
    /// misses: then the warp waits for it.
    #[cold]
    fn miss_instruction(&mut self, slot: WarpSlot, cycle: CoreCycle) -> bool {
        let warp = self.warps.get_mut(slot);
        let kernel = self.ctas.cta(warp.cta).kernel;
        let Some((cache, line)) = self.fetch.line(kernel, warp.op) else { return false };
        if warp.line == Some(line) {
            return false;
        }
        warp.line = Some(line);
        let arrival = cache.read(line, cycle);
        if arrival <= cycle {
            return false;
        }
        self.fetch.miss(slot);
        self.sets.set_class(slot, None);
        self.calendar.add(slot, arrival);
        true
    }

    /// Makes a warp whose line is present fetch, unless it has fetched its next instruction.
    fn await_fetch(&mut self, slot: WarpSlot, cycle: CoreCycle) {
        if self.fetch.is_limited() && self.warps.get(slot).fetched == 0 {
            self.fetch.add(slot);
            self.sets.set_class(slot, None);
        } else {
            self.await_operands(slot, cycle);
        }
    }

    /// Resumes warps whose line arrives in `cycle`, before the issue.
    #[cold]
    pub(super) fn resume_fetch(&mut self, warps: u64, cycle: CoreCycle) {
        self.fetch.end_misses(warps);
        self.issue.admit(warps);
        WarpSlot::each(warps).for_each(|slot| self.await_fetch(slot, cycle));
        self.issue.end();
    }

    /// Fetches the next instructions of up to `fetch_warps` warps, round robin. They are decoded
    /// one cycle after their fetch, those of the last warp two cycles after it.
    pub(super) fn fetch_instructions(&mut self, cycle: CoreCycle) {
        for left in (0..self.fetch.warps_per_cycle()).rev() {
            let Some(slot) = self.fetch.take() else { return };
            self.warps.get_mut(slot).fetched = FETCHED;
            self.await_operands(slot, cycle + 1 + u64::from(left == 0));
        }
    }

    /// Makes a warp wait, from `cycle` on, for the operands of its next instruction.
    pub(super) fn await_operands(&mut self, slot: WarpSlot, cycle: CoreCycle) {
        let warp = self.warps.get_mut(slot);
        let op: Op = warp.code.op(warp.op);
        let waits = warp.waits_for_memory();
        let ready = warp.operands_ready(cycle);
        let next = (self.pipeline.port(op.class), self.pipeline.reads_l1(op));
        self.sets.set_class(slot, Some(next));
        if slot.is_in(self.sets.at_barrier() | self.fetch.absent()) {
            return;
        }
        if waits {
            self.sets.wait_for_memory(slot);
            return;
        }
        let warp = self.warps.get_mut(slot);
        warp.fence = false;
        if warp.waits_for_unit() {
            self.issue.awaiting_unit |= slot.bit();
        } else if ready <= self.cycle && slot.is_in(self.issue.later()) {
            self.sets.take_due(slot.bit());
        } else {
            self.calendar.add(slot, ready);
        }
    }

    /// Advances the operand collectors through `cycle`, and the warps whose operands or drain
    /// depend on instructions that units have taken.
    #[inline]
    pub(super) fn collect_until(&mut self, cycle: CoreCycle) {
        let Some(collectors) = &mut self.issue.collectors else { return };
        if collectors.is_still(cycle, &self.memory) {
            collectors.skip_to(cycle);
        } else {
            self.collect_moving(cycle);
        }
    }

    #[inline(never)]
    fn collect_moving(&mut self, cycle: CoreCycle) {
        let Some(collectors) = &mut self.issue.collectors else { return };
        collectors.advance(cycle, &mut self.memory);
        while let Some(taken) = self.issue.collectors.as_mut().and_then(|c| c.take_taken()) {
            self.take_into_unit(taken);
        }
    }

    /// Sets the result cycle of an instruction that its unit has taken.
    fn take_into_unit(&mut self, Taken { compute, at }: Taken) {
        let unit = u64::from(compute.unit.latency);
        let pipeline = &self.pipeline;
        let latency = pipeline.operand_latency - TO_UNIT + unit + pipeline.writeback_latency;
        let slot = compute.slot;
        let warp = self.warps.get_mut(slot);
        warp.set_result_of(compute.index, at + latency);
        if !slot.is_in(self.issue.awaiting_unit) {
            return;
        }
        let drained = warp.drained;
        self.issue.awaiting_unit &= !slot.bit();
        if slot.is_in(self.sets.at_end()) {
            self.await_drain(slot, drained);
        } else {
            self.await_operands(slot, self.cycle);
        }
    }

    /// Returns the first cycle from `soon` on in which the collectors must advance because a warp
    /// or the load/store unit waits for them.
    pub(super) fn next_collect(&self, soon: CoreCycle) -> CoreCycle {
        let Some(collectors) = &self.issue.collectors else { return CoreCycle::NEVER };
        let ready = self.ready_to_issue();
        if self.issue.awaiting_unit != 0
            || self.issue.awaits_dispatch(collectors, ready, &self.sets)
        {
            return collectors.next(soon, &self.memory);
        }
        if self.memory.unit_is_idle() { collectors.next_memory(soon) } else { CoreCycle::NEVER }
    }

    /// Wakes a warp if the memory instruction that completed at `cycle` was the last it waited for.
    pub(super) fn memory_back(&mut self, slot: WarpSlot, cycle: CoreCycle) {
        if !slot.is_in(self.sets.waiting_for_memory()) {
            return;
        }
        if self.sets.has_ended(slot) {
            self.end_warp_if_done(slot);
        } else if !self.warps.get(slot).waits_for_memory() {
            self.sets.wake(slot, cycle);
            self.await_operands(slot, cycle);
        }
    }

    /// Returns the first cycle from `soon` on in which a ready warp may issue. `issued`
    /// instructions issued in the cycle before.
    pub(super) fn next_issue_cycle(&self, soon: CoreCycle, issued: u32) -> CoreCycle {
        if self.sets.ready() == 0 {
            return CoreCycle::NEVER;
        }
        let schedulers = self.issue.schedulers();
        schedulers.map(|s| self.next_issue_of(s, soon, issued)).min().unwrap_or(CoreCycle::NEVER)
    }

    /// Returns the first cycle from `soon` on in which scheduler `s` may issue a ready warp. Warps
    /// that wait for the load/store unit do not count: its own next cycle wakes the SM. Another
    /// scheduler's issue can change this policy's choice, so a held decision counts only if nothing
    /// has issued.
    fn next_issue_of(&self, s: SchedulerId, soon: CoreCycle, issued: u32) -> CoreCycle {
        let sub_core = self.issue.sub_core(s);
        let mut ready = self.ready_to_issue() & sub_core.warps();
        if self.memory.is_full(s) {
            ready &= !self.sets.of_class(MEMORY);
        }
        if let Some(collectors) = &self.issue.collectors {
            ready &= !collectors.blocked(s, &self.sets);
        }
        if ready == 0 {
            return CoreCycle::NEVER;
        }
        if let Some(held) = sub_core.held.filter(|_| issued == 0) {
            let candidates = self.candidates(s, soon);
            if held != self.held_decision(candidates) {
                return soon;
            }
            // A unit that becomes free gives the policy more candidates.
            let frees = sub_core.units_free(ready, &self.sets).filter(|&free| free > soon);
            let free = frees.min().unwrap_or(CoreCycle::NEVER);
            return self.issue.policy.changes_at(soon - 1).min(free).max(soon);
        }
        let soon = soon.max(sub_core.next_issue());
        if sub_core.has_free_units(soon) {
            return soon;
        }
        let free = sub_core.units_free(ready, &self.sets).min();
        free.map_or(CoreCycle::NEVER, |free| free.max(soon))
    }
}
