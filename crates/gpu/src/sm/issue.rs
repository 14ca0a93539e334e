//! The issue stage: scoreboard, schedulers, functional units, barriers.

use super::code::{MEMORY, Op};
use super::fetch::FETCHED;
use super::scheduler::WarpView;
use super::{HeldDecision, Sm};
use warpmem_sim::AddressMap;
use warpmem_trace::{Kind, TraceError};

impl Sm {
    /// Lets every scheduler issue one instruction if it can; how many did.
    pub(super) fn issue(&mut self, cycle: u64, map: &AddressMap) -> Result<u32, TraceError> {
        let mut issued = 0;
        let n = self.slots.len();
        for i in 0..n {
            // GPGPU-Sim, `shader_core_ctx::issue`: another scheduler is first in each cycle.
            let s = if self.rotating_schedulers { (i + cycle as usize) % n } else { i };
            self.slots[s].held = None;
            if self.slots[s].next_issue > cycle {
                continue;
            }
            let ready = self.ready_to_issue() & self.slots[s].warps;
            if ready == 0 {
                continue;
            }
            let candidates = ready & !self.blocked(s, cycle);
            if candidates == 0 {
                continue;
            }
            let view = WarpView {
                cycle,
                scheduler: s,
                own: self.slots[s].warps,
                ages: &self.ages,
                present: self.present,
                paused: self.residents.paused(),
                waiting: self.waiting_for_memory | self.residents.paused(),
                at_barrier: self.at_barrier,
                at_end: self.at_end,
                awake_since: &self.awake_since,
                memory: self.by_class[MEMORY],
                loads: self.loads,
                records_left: &self.records_left,
                miss_room: if self.needs.miss_room { self.memory.miss_room() } else { 0 },
            };
            let pick = self.policy.pick(candidates, &view);
            let Some(warp) = pick else {
                self.slots[s].held = Some(self.held_decision(candidates));
                continue;
            };
            debug_assert!(
                candidates >> warp & 1 == 1,
                "a scheduler picked a warp that cannot issue"
            );
            self.issue_warp(s, warp, cycle, map)?;
            issued += 1;
        }
        Ok(issued)
    }

    fn held_decision(&self, candidates: u64) -> HeldDecision {
        HeldDecision {
            candidates,
            waiting: self.waiting_for_memory,
            at_barrier: self.at_barrier,
            at_end: self.at_end,
            paused: self.residents.paused(),
            memory: self.by_class[MEMORY],
        }
    }

    /// Warps whose next instruction finds no room in its unit.
    fn blocked(&self, s: usize, cycle: u64) -> u64 {
        let slot = &self.slots[s];
        let mut blocked = if self.memory.is_full(s) { self.by_class[MEMORY] } else { 0 };
        if self.memory.holds_collectors_from(s) <= cycle {
            blocked |= !self.by_class[MEMORY];
        }
        if slot.units_free > cycle {
            for (class, &free) in slot.unit_free.iter().enumerate() {
                if free > cycle {
                    blocked |= self.by_class[class];
                }
            }
        }
        blocked
    }

    fn issue_warp(
        &mut self,
        s: usize,
        slot: u32,
        cycle: u64,
        map: &AddressMap,
    ) -> Result<(), TraceError> {
        let warp = self.warps[slot as usize].as_mut().expect("the warp is present");
        let op = warp.code.op(warp.op);
        let class = op.class as usize;
        let unit = self.units[class];
        let latency = self.operand_latency + u64::from(unit.latency) + self.writeback_latency;
        warp.set_result(cycle + latency);
        warp.index += 1;
        warp.op += 1;
        warp.fetched = warp.fetched.saturating_sub(1);
        let record_done = warp.op == warp.op_end;
        let scheduler = &mut self.slots[s];
        scheduler.next_issue = cycle + self.issue_interval;
        scheduler.unit_free[class] = cycle + u64::from(unit.interval);
        scheduler.units_free = scheduler.units_free.max(scheduler.unit_free[class]);
        self.ready &= !(1 << slot);
        self.result.warp_instructions += 1;
        if class == MEMORY {
            self.result.memory_instructions += 1;
        } else {
            self.result.warp_instructions_by_class[class] += 1;
        }
        if !record_done {
            self.await_instruction(slot, cycle + 1);
            return Ok(());
        }
        self.finish_record(slot, cycle, map)
    }

    /// The last instruction of a record has issued: what the record does happens now.
    fn finish_record(&mut self, slot: u32, cycle: u64, map: &AddressMap) -> Result<(), TraceError> {
        let warp = self.warp(slot);
        let instruction = *warp.code.get(warp.record.instruction.0);
        match instruction.kind {
            Kind::Barrier => {
                let cta = self.warp(slot).cta as usize;
                self.at_barrier |= 1 << slot;
                self.residents.cta_mut(cta).waiting |= 1 << slot;
                self.next_record(slot, cycle + 1)?;
                self.release_if_complete(cta);
            }
            Kind::Fence => {
                self.warp_mut(slot).fence = true;
                self.next_record(slot, cycle + 1)?;
            }
            Kind::Exit | Kind::End => self.next_record(slot, cycle + 1)?,
            _ => {
                self.start_access(slot, &instruction, cycle, map);
                self.next_record(slot, cycle + 1)?;
            }
        }
        Ok(())
    }

    /// Has a warp fetch its next instruction, or wait for the operands of the one it has.
    pub(super) fn await_instruction(&mut self, slot: u32, cycle: u64) {
        if self.fetch.is_limited() && self.warp(slot).fetched == 0 {
            self.fetch.add(slot);
            self.set_class(slot, None);
        } else {
            self.await_operands(slot, cycle);
        }
    }

    /// Fetches the next instructions of up to `fetch_warps` warps, round robin. A warp's
    /// instructions are decoded one cycle after their fetch, those of the last warp one cycle
    /// later.
    pub(super) fn fetch_instructions(&mut self, cycle: u64) {
        for left in (0..self.fetch.warps_per_cycle()).rev() {
            let Some(slot) = self.fetch.take() else { return };
            self.warp_mut(slot).fetched = FETCHED;
            self.await_operands(slot, cycle + 1 + u64::from(left == 0));
        }
    }

    /// Lets a warp wait from `cycle` on for the operands of its next instruction.
    pub(super) fn await_operands(&mut self, slot: u32, cycle: u64) {
        let warp = self.warps[slot as usize].as_mut().expect("the warp is present");
        let op: Op = warp.code.op(warp.op);
        let waits = warp.waits_for_memory();
        let ready = warp.operands_ready(cycle);
        self.set_class(slot, Some(op));
        if (self.at_barrier | self.fetch.waiting()) >> slot & 1 == 1 {
            return;
        }
        if waits {
            self.waiting_for_memory |= 1 << slot;
        } else {
            self.warp_mut(slot).fence = false;
            self.calendar.add(slot, ready);
        }
    }

    /// Sets the class of a warp's next instruction, if that is known.
    pub(super) fn set_class(&mut self, slot: u32, op: Option<Op>) {
        let old = self.classes[slot as usize] as usize;
        self.by_class[old] &= !(1 << slot);
        self.loads &= !(1 << slot);
        if let Some(op) = op {
            self.by_class[op.class as usize] |= 1 << slot;
            let reads_l1 = op.reads_l1 || op.copies_past && !self.async_bypass;
            self.loads |= u64::from(reads_l1) << slot;
            self.classes[slot as usize] = op.class;
        }
    }

    /// Something that a warp waited for has come back at `cycle`.
    pub(super) fn memory_back(&mut self, slot: u32, cycle: u64) {
        if self.waiting_for_memory >> slot & 1 == 0 {
            return;
        }
        if self.has_ended(slot) {
            self.end_warp_if_done(slot);
        } else if !self.warp(slot).waits_for_memory() {
            self.waiting_for_memory &= !(1 << slot);
            self.awake_since[slot as usize] = cycle;
            self.await_operands(slot, cycle);
        }
    }

    /// Releases the warps of a CTA when all that have not ended wait at a barrier, no matter at
    /// which one: a trace does not say how many warps a barrier is for, and groups of warps with
    /// barriers of their own would otherwise wait for each other for ever.
    pub(super) fn release_if_complete(&mut self, cta: usize) {
        let cycle = self.cycle;
        let state = self.residents.cta_mut(cta);
        let waiting = state.waiting;
        if waiting == 0 || waiting.count_ones() < state.live {
            return;
        }
        state.waiting = 0;
        self.at_barrier &= !waiting;
        // Those at the end of their trace end in their own time.
        let mut rest = waiting & !self.draining;
        while rest != 0 {
            let slot = rest.trailing_zeros();
            rest &= rest - 1;
            if self.has_ended(slot) {
                self.end_warp_if_done(slot);
            } else {
                self.waiting_for_memory &= !(1 << slot);
                self.awake_since[slot as usize] = cycle;
                self.await_operands(slot, cycle + 1);
            }
        }
    }

    /// When a ready warp may issue next; never, if none is ready. `issued` instructions have issued
    /// in this cycle.
    pub(super) fn next_issue_cycle(&self, cycle: u64, issued: u32) -> u64 {
        if self.ready == 0 {
            return u64::MAX;
        }
        let schedulers = 0..self.slots.len();
        schedulers.map(|s| self.next_issue_of(s, cycle + 1, issued)).min().unwrap_or(u64::MAX)
    }

    /// When scheduler `s` may issue one of its ready warps, from `soon` on. Warps that wait for the
    /// load/store unit do not count: its own next cycle wakes the SM. Another scheduler's issue can
    /// change this policy's choice, so a held decision counts only if nothing has issued.
    fn next_issue_of(&self, s: usize, soon: u64, issued: u32) -> u64 {
        let slot = &self.slots[s];
        let classes = || slot.unit_free.iter().zip(&self.by_class);
        let mut ready = self.ready_to_issue() & slot.warps;
        if self.memory.is_full(s) {
            ready &= !self.by_class[MEMORY];
        }
        if self.memory.holds_collectors_from(s) <= soon {
            ready &= self.by_class[MEMORY];
        }
        if ready == 0 {
            return u64::MAX;
        }
        if let Some(held) = slot.held.filter(|_| issued == 0) {
            let candidates = self.ready_to_issue() & slot.warps & !self.blocked(s, soon);
            if held != self.held_decision(candidates) {
                return soon;
            }
            // A unit that becomes free gives the policy more candidates.
            let frees = classes().filter(|&(&free, class)| ready & class != 0 && free > soon);
            let free = frees.map(|(&free, _)| free).min().unwrap_or(u64::MAX);
            return self.policy.changes_at(soon - 1).min(free).max(soon);
        }
        let soon = soon.max(slot.next_issue);
        if slot.units_free <= soon {
            return soon;
        }
        let free = classes().filter(|&(_, class)| ready & class != 0).map(|(&free, _)| free).min();
        free.map_or(u64::MAX, |free| free.max(soon))
    }
}
