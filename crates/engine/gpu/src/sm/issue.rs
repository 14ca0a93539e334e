//! The issue stage: scoreboard, schedulers, functional units.

use super::Sm;
use super::code::{CONTROL, MEMORY, Op, SYNC};
use super::collectors::{Collectors, Compute, TO_UNIT, Taken};
use super::fetch::FETCHED;
use super::issue_slot::HeldDecision;
use super::scheduler::SchedulerId;
use warpmem_sim::{AddressMap, CoreCycle, WarpSlot};
use warpmem_trace::{Kind, TraceError};

impl Sm {
    /// Lets every scheduler issue one instruction if it can; how many did.
    pub(super) fn issue(&mut self, cycle: CoreCycle, map: &AddressMap) -> Result<u32, TraceError> {
        if self.holds {
            self.slots.iter_mut().for_each(|slot| slot.held = None);
            self.holds = false;
        }
        if self.ready_to_issue() == 0 {
            return Ok(0);
        }
        let mut issued = 0;
        let n = self.slots.len();
        let first = if self.rotating_schedulers { self.rotation(cycle) % n } else { 0 };
        self.yet_to_issue = if self.collectors.is_some() { u64::MAX } else { 0 };
        for s in (first..n).chain(0..first).map(SchedulerId::new) {
            self.yet_to_issue &= !self.slots[s.index()].warps();
            let candidates = self.candidates(s, cycle);
            if candidates == 0 || self.slots[s.index()].next_issue() > cycle {
                continue;
            }
            let miss_room = if self.needs.miss_room { self.memory.miss_room() } else { 0 };
            let (own, paused) = (self.slots[s.index()].warps(), self.residents.paused());
            let view = self.sets.view(cycle, s, own, paused, miss_room);
            let pick = self.policy.pick(candidates, &view);
            let Some(warp) = pick else {
                self.slots[s.index()].held = Some(self.held_decision(candidates));
                self.holds = true;
                continue;
            };
            debug_assert!(warp.is_in(candidates), "a scheduler picked a warp that cannot issue");
            self.issue_warp(s, warp, cycle, map)?;
            issued += 1;
        }
        self.yet_to_issue = 0;
        Ok(issued)
    }

    /// Cycles before this one in which the SM had CTAs: another scheduler is first in each of them
    /// (GPGPU-Sim, `shader_core_ctx::issue`, `Issue_Prio`).
    fn rotation(&self, cycle: CoreCycle) -> usize {
        (cycle.number() - self.cycles_without_ctas) as usize
    }

    fn held_decision(&self, candidates: u64) -> HeldDecision {
        HeldDecision {
            candidates,
            waiting: self.sets.waiting_for_memory(),
            at_barrier: self.sets.at_barrier(),
            at_end: self.sets.at_end(),
            paused: self.residents.paused(),
            memory: self.sets.of_class(MEMORY),
        }
    }

    /// Warps of scheduler `s` that may issue in `cycle`: ready, and with room in their unit.
    #[inline(always)]
    fn candidates(&self, s: SchedulerId, cycle: CoreCycle) -> u64 {
        let ready = self.ready_to_issue() & self.slots[s.index()].warps();
        if ready == 0 { 0 } else { ready & !self.blocked(s, cycle) }
    }

    /// Warps whose next instruction finds no room in its unit.
    fn blocked(&self, s: SchedulerId, cycle: CoreCycle) -> u64 {
        let memory = self.sets.of_class(MEMORY);
        let blocked = if self.memory.is_full(s) { memory } else { 0 };
        if let Some(collectors) = &self.collectors {
            return blocked | collectors.blocked(s, &self.sets);
        }
        blocked | self.slots[s.index()].blocked_by_units(cycle, &self.sets)
    }

    fn issue_warp(
        &mut self,
        s: SchedulerId,
        slot: WarpSlot,
        cycle: CoreCycle,
        map: &AddressMap,
    ) -> Result<(), TraceError> {
        let warp = self.warps[slot.index()].as_mut().expect("the warp is present");
        let op = warp.code.op(warp.op);
        let (class, unit) = (op.class, self.units[op.class.index()]);
        let port = self.ports[class.index()];
        let latency = self.operand_latency + u64::from(unit.latency) + self.writeback_latency;
        let mut unit_interval = u64::from(unit.interval);
        match &mut self.collectors {
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
        self.slots[s.index()].issue(port, cycle, self.issue_interval, unit_interval);
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

    /// The last instruction of a record has issued: what the record does happens now.
    fn finish_record(
        &mut self,
        slot: WarpSlot,
        cycle: CoreCycle,
        map: &AddressMap,
    ) -> Result<(), TraceError> {
        let warp = self.warp(slot);
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
                let cta = self.warp(slot).cta;
                self.arrive_at_cluster(slot);
                self.next_record(slot, cycle + 1)?;
                self.tell_if_arrived(cta);
            }
            Kind::ClusterWait => {
                self.wait_at_cluster(slot);
                self.next_record(slot, cycle + 1)?;
            }
            Kind::Fence => {
                self.warp_mut(slot).fence = true;
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

    /// Has a warp fetch its next instruction, or wait for the operands of the one it has.
    pub(super) fn await_instruction(&mut self, slot: WarpSlot, cycle: CoreCycle) {
        if self.fetch.is_limited() && self.warp(slot).fetched == 0 {
            self.fetch.add(slot);
            self.sets.set_class(slot, None);
        } else {
            self.await_operands(slot, cycle);
        }
    }

    /// Fetches the next instructions of up to `fetch_warps` warps, round robin. A warp's
    /// instructions are decoded one cycle after their fetch, those of the last warp one cycle
    /// later.
    pub(super) fn fetch_instructions(&mut self, cycle: CoreCycle) {
        for left in (0..self.fetch.warps_per_cycle()).rev() {
            let Some(slot) = self.fetch.take() else { return };
            self.warp_mut(slot).fetched = FETCHED;
            self.await_operands(slot, cycle + 1 + u64::from(left == 0));
        }
    }

    /// Lets a warp wait from `cycle` on for the operands of its next instruction.
    pub(super) fn await_operands(&mut self, slot: WarpSlot, cycle: CoreCycle) {
        let warp = self.warps[slot.index()].as_mut().expect("the warp is present");
        let op: Op = warp.code.op(warp.op);
        let waits = warp.waits_for_memory();
        let ready = warp.operands_ready(cycle);
        let reads_l1 = op.reads_l1 || op.copies_past && !self.async_bypass;
        self.sets.set_class(slot, Some((self.ports[op.class.index()], reads_l1)));
        if slot.is_in(self.sets.at_barrier() | self.fetch.waiting()) {
            return;
        }
        if waits {
            self.sets.wait_for_memory(slot);
            return;
        }
        let warp = self.warp_mut(slot);
        warp.fence = false;
        if warp.waits_for_unit() {
            self.awaiting_unit |= slot.bit();
        } else if ready <= self.cycle && slot.is_in(self.yet_to_issue) {
            self.sets.take_due(slot.bit());
        } else {
            self.calendar.add(slot, ready);
        }
    }

    /// What is on its way to the units moves on until the end of `cycle`; warps whose operands or ends
    /// depend on it wait no longer.
    pub(super) fn collect_until(&mut self, cycle: CoreCycle) {
        let Some(collectors) = &mut self.collectors else { return };
        collectors.advance(cycle, &mut self.memory);
        while let Some(taken) = self.collectors.as_mut().and_then(|c| c.take_taken()) {
            self.take_into_unit(taken);
        }
    }

    /// A unit has taken an instruction: it is known when its result is there.
    fn take_into_unit(&mut self, Taken { compute, at }: Taken) {
        let unit = u64::from(compute.unit.latency);
        let latency = self.operand_latency - TO_UNIT + unit + self.writeback_latency;
        let slot = compute.slot;
        let warp = self.warp_mut(slot);
        warp.set_result_of(compute.index, at + latency);
        if !slot.is_in(self.awaiting_unit) {
            return;
        }
        self.awaiting_unit &= !slot.bit();
        if slot.is_in(self.sets.at_end()) {
            let drained = self.warp(slot).drained;
            self.await_drain(slot, drained);
        } else {
            self.await_operands(slot, self.cycle);
        }
    }

    /// When something on its way to the units is waited for, from `soon` on.
    pub(super) fn next_collect(&self, soon: CoreCycle) -> CoreCycle {
        let Some(collectors) = &self.collectors else { return CoreCycle::NEVER };
        if self.awaiting_unit != 0 || self.is_dispatch_waited_for(collectors) {
            return collectors.next(soon, &self.memory);
        }
        if self.memory.unit_is_idle() { collectors.next_memory(soon) } else { CoreCycle::NEVER }
    }

    /// Whether a warp could issue but for the dispatch register of its instruction.
    fn is_dispatch_waited_for(&self, collectors: &Collectors) -> bool {
        let ready = self.ready_to_issue();
        ready != 0
            && SchedulerId::all(self.slots.len()).any(|s| {
                let own = ready & self.slots[s.index()].warps();
                own & collectors.blocked(s, &self.sets) != 0
            })
    }

    /// Something that a warp waited for has come back at `cycle`.
    pub(super) fn memory_back(&mut self, slot: WarpSlot, cycle: CoreCycle) {
        if !slot.is_in(self.sets.waiting_for_memory()) {
            return;
        }
        if self.sets.has_ended(slot) {
            self.end_warp_if_done(slot);
        } else if !self.warp(slot).waits_for_memory() {
            self.sets.wake(slot, cycle);
            self.await_operands(slot, cycle);
        }
    }

    /// When a ready warp may issue, from `soon` on; never, if none is ready. `issued` instructions
    /// have issued in the cycle before.
    pub(super) fn next_issue_cycle(&self, soon: CoreCycle, issued: u32) -> CoreCycle {
        if self.sets.ready() == 0 {
            return CoreCycle::NEVER;
        }
        let schedulers = SchedulerId::all(self.slots.len());
        schedulers.map(|s| self.next_issue_of(s, soon, issued)).min().unwrap_or(CoreCycle::NEVER)
    }

    /// When scheduler `s` may issue one of its ready warps, from `soon` on. Warps that wait for the
    /// load/store unit do not count: its own next cycle wakes the SM. Another scheduler's issue can
    /// change this policy's choice, so a held decision counts only if nothing has issued.
    fn next_issue_of(&self, s: SchedulerId, soon: CoreCycle, issued: u32) -> CoreCycle {
        let slot = &self.slots[s.index()];
        let memory = self.sets.of_class(MEMORY);
        let mut ready = self.ready_to_issue() & slot.warps();
        if self.memory.is_full(s) {
            ready &= !memory;
        }
        if let Some(collectors) = &self.collectors {
            ready &= !collectors.blocked(s, &self.sets);
        }
        if ready == 0 {
            return CoreCycle::NEVER;
        }
        if let Some(held) = slot.held.filter(|_| issued == 0) {
            let candidates = self.candidates(s, soon);
            if held != self.held_decision(candidates) {
                return soon;
            }
            // A unit that becomes free gives the policy more candidates.
            let frees = slot.units_free(ready, &self.sets).filter(|&free| free > soon);
            let free = frees.min().unwrap_or(CoreCycle::NEVER);
            return self.policy.changes_at(soon - 1).min(free).max(soon);
        }
        let soon = soon.max(slot.next_issue());
        if slot.has_free_units(soon) {
            return soon;
        }
        let free = slot.units_free(ready, &self.sets).min();
        free.map_or(CoreCycle::NEVER, |free| free.max(soon))
    }
}
