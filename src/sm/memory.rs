//! The load/store unit at work: memory instructions become requests, and replies finish them.

use super::Sm;
use super::access::{Access, AccessId};
use super::banks::Lookup;
use super::coalescer::shared_passes;
use super::code::Static;
use super::l1::{Dirty, Read, Write};
use super::lsu::{Entry, Sector, Work};
use crate::dram::AddressMap;
use crate::engine::{CacheLevel, Context, Request, RequestId, RequestKind};
use crate::machine::Dram;
use crate::record::{LoadRow, ReservationFail};
use std::cmp::Reverse;
use warpmem_trace::{CacheOp, Kind, Space};

/// Counts the different channels and banks among a few requests.
pub(super) struct Places {
    banks: usize,
    seen: Vec<u64>,
    touched: Vec<u32>,
}

impl Places {
    pub fn new(dram: &Dram) -> Places {
        let total = (dram.channels * dram.banks) as usize;
        Places {
            banks: dram.banks as usize,
            seen: vec![0; total.div_ceil(64)],
            touched: Vec::new(),
        }
    }

    /// Different channels and different (channel, bank) pairs.
    fn count(&mut self, places: impl Iterator<Item = (u16, u16)>) -> (u32, u32) {
        self.touched.clear();
        let mut channels = 0u128;
        for (channel, bank) in places {
            channels |= 1 << channel;
            let place = channel as usize * self.banks + bank as usize;
            if self.seen[place / 64] >> (place % 64) & 1 == 0 {
                self.seen[place / 64] |= 1 << (place % 64);
                self.touched.push(place as u32);
            }
        }
        for &place in &self.touched {
            self.seen[place as usize / 64] = 0;
        }
        (channels.count_ones(), self.touched.len() as u32)
    }
}

impl Sm {
    /// A memory instruction has issued: it gets a row, and a place in the load/store queue.
    pub(super) fn start_access(
        &mut self,
        slot: u32,
        instruction: &Static,
        cycle: u64,
        map: &AddressMap,
    ) {
        let warp = self.warps[slot as usize].as_mut().expect("the warp is present");
        let addresses = warp.record.active_addresses();
        if addresses.is_empty() {
            return;
        }
        let cta = self.ctas[warp.cta as usize].as_ref().expect("the CTA is present");
        let returns = matches!(instruction.kind, Kind::Load | Kind::Atomic | Kind::AsyncCopy);
        let row = LoadRow {
            kernel: cta.kernel,
            cta: cta.index,
            warp_in_cta: warp.warp_in_cta,
            sm: u32::from(self.id),
            pc: instruction.pc,
            issue_cycle: cycle,
            ..LoadRow::default()
        };
        let access = self.accesses.add(Access::new(slot, returns, row));
        if instruction.space == Space::Constant {
            self.accesses.get_mut(access).ready_cycle = cycle + self.operand_latency + self.constant_latency;
            self.completions.push(Reverse((cycle + self.operand_latency + self.constant_latency, access)));
        } else {
            let width = u32::from(instruction.width);
            let entry = self.lsu.push(slot as usize % self.slots.len(), cycle + self.operand_latency);
            entry.access = access;
            entry.cache_op = instruction.cache_op;
            entry.sent = 0;
            entry.work = match (instruction.space, instruction.kind) {
                (Space::Shared, _) => Work::Shared {
                    passes: shared_passes(
                        addresses,
                        width,
                        self.shared.banks,
                        self.shared.bank_bytes,
                    ),
                },
                (_, Kind::Store) => Work::Store,
                (_, Kind::Atomic | Kind::Reduction) => Work::Atomic,
                _ => Work::Load,
            };
            match entry.work {
                Work::Shared { .. } => entry.sectors.clear(),
                Work::Atomic => self.coalescer.atomics(addresses, &mut entry.sectors),
                work => self.coalescer.sectors(
                    addresses,
                    width,
                    work == Work::Store,
                    &mut entry.sectors,
                ),
            }
            let sectors = entry.sectors.as_slice();
            let (channels, banks) = self.places.count(sectors.iter().map(|s| {
                let place = map.locate(s.address);
                (place.channel, place.bank)
            }));
            let access = self.accesses.get_mut(access);
            access.waiting = sectors.len() as u32;
            access.row.requests = access.waiting;
            (access.row.channels, access.row.banks) = (channels, banks);
        }
        if returns {
            warp.add_load(access, instruction.use_distance);
        } else {
            warp.posted += 1;
        }
    }

    /// The unit works on the instruction at the head of its queue.
    pub(super) fn work_lsu(&mut self, cycle: u64, ctx: &mut Context) {
        if self.lsu.busy_until > cycle {
            return;
        }
        let Some(entry) = self.lsu.head().filter(|entry| entry.from <= cycle) else { return };
        let (work, access) = (entry.work, entry.access);
        self.lsu.begin();
        match work {
            Work::Shared { passes } => {
                self.pass_shared(access, passes, cycle);
            }
            _ => self.send_sectors(cycle, ctx),
        }
    }

    /// A shared-memory instruction takes its passes; the next instruction waits for them.
    fn pass_shared(&mut self, access: AccessId, passes: u32, cycle: u64) {
        let end = cycle + u64::from(passes);
        self.result.shared_accesses += 1;
        self.result.shared_bank_conflict_cycles += u64::from(passes - 1);
        self.lsu.busy_until = end;
        self.lsu.pop();
        // One pass is part of the latency.
        let ready = end - 1 + u64::from(self.shared.latency) + self.writeback_latency;
        let ready = ready.max(self.written_back + 1);
        self.written_back = ready;
        self.completions.push(Reverse((ready, access)));
    }

    /// Sends sectors of the head instruction in order, at most one to each L1 bank, or one past L1.
    fn send_sectors(&mut self, cycle: u64, ctx: &mut Context) {
        let Some(entry) = self.lsu.head_mut() else { return };
        let mut entry = std::mem::replace(entry, Entry::blank());
        if ctx.side.loads.is_some() {
            self.begin_load(&entry, ctx);
        }
        if self.passes_l1(&entry) {
            self.send_one_past(&mut entry, cycle, ctx);
        } else {
            self.enter_banks(&mut entry, cycle);
        }
        let done = entry.sent == entry.sectors.as_slice().len();
        *self.lsu.head_mut().expect("the instruction is at the head") = entry;
        if done {
            self.lsu.pop();
        }
    }

    /// Whether the unit sends an instruction's requests straight to the network.
    fn passes_l1(&self, entry: &Entry) -> bool {
        match entry.work {
            Work::Atomic => true,
            Work::Store => !self.l1_enabled,
            _ => !self.l1_enabled || passes_l1(entry.cache_op),
        }
    }

    fn enter_banks(&mut self, entry: &mut Entry, cycle: u64) {
        let mut taken = 0u64;
        for &sector in &entry.sectors.as_slice()[entry.sent..] {
            let bank = self.l1.bank(sector.address) as usize;
            if taken >> bank & 1 == 1 || !self.banks.has_room(bank) {
                break;
            }
            taken |= 1 << bank;
            let (access, store) = (entry.access, entry.work == Work::Store);
            self.banks.push(bank, Lookup { sector, access, store, entered: cycle });
            entry.sent += 1;
        }
    }

    fn send_one_past(&mut self, entry: &mut Entry, cycle: u64, ctx: &mut Context) {
        let sector = entry.sectors.as_slice()[entry.sent];
        self.end_fail(cycle);
        if ctx.fabric.room(self.request_port) == 0 {
            self.failing = Some((ReservationFail::MissQueueFull, cycle));
            ctx.fabric.wake_writer(self.request_port);
            return;
        }
        let kind = match entry.work {
            Work::Atomic => RequestKind::Atomic,
            Work::Store => RequestKind::Write,
            _ => RequestKind::Read,
        };
        match kind {
            RequestKind::Atomic => self.l1.pass_atomic(sector.address),
            RequestKind::Read => self.l1.pass_read(),
            _ => {}
        }
        let request = self.request(entry.access, &sector, kind, cycle, ctx);
        ctx.requests.get_mut(request).bypass = true;
        let leaves = self.clock.at(cycle);
        ctx.requests.stamps_mut(request).l1_missed = leaves;
        ctx.fabric.push(self.request_port, request, leaves);
        entry.sent += 1;
    }

    /// Numbers a load before its first request is sent.
    fn begin_load(&mut self, entry: &Entry, ctx: &mut Context) {
        let access = self.accesses.get_mut(entry.access);
        if entry.work == Work::Load && access.load == u32::MAX {
            access.load = ctx.begin_load(entry.sectors.as_slice().iter().map(|s| s.address));
        }
    }

    /// The tags of every bank serve what is there; nothing happens to what fails.
    pub(super) fn look_up(&mut self, cycle: u64, ctx: &mut Context) {
        if self.banks.is_empty() {
            return;
        }
        for bank in 0..self.banks.count() {
            let Some(&lookup) = self.banks.at_tags(bank, cycle) else { continue };
            if self.still_fails(bank, ctx) {
                continue;
            }
            if let Some((reason, cycles)) = self.banks.end_fail(bank, cycle) {
                self.l1.counts.reservation_fails[reason as usize] += cycles;
            }
            let outcome = if lookup.store { self.store(&lookup, ctx) } else { self.load(&lookup, ctx) };
            match outcome {
                Ok(()) => self.banks.pop(bank),
                Err(reason) => {
                    self.banks.fail(bank, reason, cycle);
                    if reason == ReservationFail::MissQueueFull && ctx.fabric.room(self.request_port) == 0 {
                        ctx.fabric.wake_writer(self.request_port);
                    }
                }
            }
        }
    }

    /// What failed for want of a place fails again while there is none: what it asks for can only have been asked
    /// for by its own bank.
    fn still_fails(&self, bank: usize, ctx: &Context) -> bool {
        match self.banks.failing(bank) {
            Some(ReservationFail::MissQueueFull) => self.room(ctx) == 0,
            Some(ReservationFail::MshrEntry) => self.l1.is_full(),
            _ => false,
        }
    }

    /// Free places for requests that leave L1.
    fn room(&self, ctx: &Context) -> usize {
        self.miss_queue.room(self.cycle).min(ctx.fabric.room(self.request_port))
    }

    fn load(&mut self, lookup: &Lookup, ctx: &mut Context) -> Result<(), ReservationFail> {
        let Lookup { access, sector, entered, .. } = *lookup;
        match self.l1.read(&sector, self.room(ctx)) {
            Read::Fail(reason) => return Err(reason),
            Read::Hit => {
                self.hit(access);
                self.answered_in_l1(access, &sector, ctx);
            }
            Read::Pending => {
                let request = self.request(access, &sector, RequestKind::Read, entered, ctx);
                self.l1.join(sector.address, request, ctx.requests);
                self.answered_in_l1(access, &sector, ctx);
            }
            Read::Miss { writeback } => {
                self.write_back(writeback, ctx);
                self.fetch(lookup, RequestKind::Read, ctx);
            }
        }
        Ok(())
    }

    fn answered_in_l1(&self, access: AccessId, sector: &Sector, ctx: &mut Context) {
        let load = self.accesses.get(access).load;
        ctx.answered_in_l1(load, sector.address, self.clock.at(self.cycle));
    }

    fn store(&mut self, lookup: &Lookup, ctx: &mut Context) -> Result<(), ReservationFail> {
        let Lookup { access, sector, entered, .. } = *lookup;
        match self.l1.write(&sector, self.room(ctx)) {
            Write::Fail(reason) => return Err(reason),
            Write::Through => {
                let request = self.request(access, &sector, RequestKind::Write, entered, ctx);
                self.push(request, ctx);
            }
            Write::Absorbed { writeback } => {
                self.write_back(writeback, ctx);
                self.hit(access);
            }
            Write::Fetch { writeback } => {
                self.write_back(writeback, ctx);
                self.fetch(lookup, RequestKind::Fetch, ctx);
            }
        }
        Ok(())
    }

    /// Asks for a sector that L1 then waits for.
    fn fetch(&mut self, lookup: &Lookup, kind: RequestKind, ctx: &mut Context) {
        let Lookup { access, sector, entered, .. } = *lookup;
        let request = self.request(access, &sector, kind, entered, ctx);
        self.l1.open(sector.address, request, ctx.requests);
        self.push(request, ctx);
    }

    fn write_back(&mut self, dirty: Option<Dirty>, ctx: &mut Context) {
        let Some(dirty) = dirty else { return };
        let request = Request {
            sectors: dirty.sectors,
            bytes: u32::MAX,
            ..self.blank_request(dirty.address, RequestKind::Writeback, ctx)
        };
        let request = ctx.requests.add(request, self.clock.at(self.cycle));
        self.push(request, ctx);
    }

    fn request(
        &self,
        access: AccessId,
        sector: &Sector,
        kind: RequestKind,
        created: u64,
        ctx: &mut Context,
    ) -> RequestId {
        let row = self.accesses.get(access);
        let request = Request {
            pc: row.row.pc as u32,
            bytes: sector.bytes,
            access: access.0,
            warp: u32::from(self.id) * self.warps.len() as u32 + row.warp,
            load: row.load,
            serial: sector.serial,
            critical: self.is_critical(ctx),
            ..self.blank_request(sector.address, kind, ctx)
        };
        ctx.requests.add(request, self.clock.at(created))
    }

    /// Whether so many warps wait for memory that what the SM asks for now is critical.
    fn is_critical(&self, ctx: &Context) -> bool {
        let (waiting, resident) = (self.waiting_for_memory.count_ones(), self.present.count_ones());
        ctx.side.critical.is_some_and(|share| share.is_critical(waiting, resident))
    }

    fn blank_request(&self, address: u64, kind: RequestKind, ctx: &Context) -> Request {
        let slice = ctx.map.locate(address).slice;
        Request { sm: self.id, ..Request::of_slice(address, kind, slice) }
    }

    /// A request leaves L1 through its miss queue.
    fn push(&mut self, request: RequestId, ctx: &mut Context) {
        let leaves = self.clock.at(self.miss_queue.push(self.cycle));
        ctx.requests.stamps_mut(request).l1_missed = leaves;
        ctx.fabric.push(self.request_port, request, leaves);
    }

    fn hit(&mut self, access: AccessId) {
        let row = self.accesses.get_mut(access);
        row.waiting -= 1;
        row.ready_cycle = row.ready_cycle.max(self.cycle);
        if row.waiting == 0 {
            self.completions.push(Reverse((row.ready_cycle, access)));
        }
    }

    fn end_fail(&mut self, cycle: u64) {
        if let Some((reason, since)) = self.failing.take() {
            self.l1.counts.reservation_fails[reason as usize] += cycle - since;
        }
    }

    /// When the unit can next do something of its own accord.
    pub(super) fn next_lsu_cycle(&self, cycle: u64) -> Option<u64> {
        if self.failing.is_some() {
            return None;
        }
        let busy_until = self.lsu.busy_until;
        let entry = self.lsu.head()?;
        let next = entry.from.max(busy_until).max(cycle + 1);
        let sector = entry.sectors.as_slice().get(entry.sent).copied();
        let entry_passes = matches!(entry.work, Work::Shared { .. }) || self.passes_l1(entry);
        let blocked = !entry_passes && sector.is_some_and(|sector| !self.banks.has_room(self.l1.bank(sector.address) as usize));
        (!blocked).then_some(next)
    }

    /// When the tags can next serve something of their own accord: a place in the miss queue is free in the next cycle.
    pub(super) fn next_lookup_cycle(&self, cycle: u64) -> Option<u64> {
        if self.banks.is_empty() {
            return None;
        }
        let queued = (0..self.banks.count())
            .any(|bank| self.banks.failing(bank) == Some(ReservationFail::MissQueueFull));
        let retry = queued.then_some(cycle + 1);
        let moving = self.banks.next().map(|at| at.max(cycle + 1));
        retry.into_iter().chain(moving).min()
    }

    /// Takes at most one reply from the network.
    pub(super) fn take_reply(&mut self, cycle: u64, ctx: &mut Context) {
        let now = self.clock.at(cycle);
        let Some(request) = ctx.fabric.ready(self.reply_port, now) else { return };
        ctx.fabric.pop(self.reply_port, now);
        let row = *ctx.requests.get(request);
        let waits_in_l1 = matches!(row.kind, RequestKind::Read | RequestKind::Fetch) && !row.bypass;
        if !waits_in_l1 {
            self.request_back(request, cycle, ctx);
            return;
        }
        let room = self.room(ctx);
        let (mut next, writeback) = self.l1.fill(row.address, room);
        self.write_back(writeback, ctx);
        let stamps = *ctx.requests.stamps(request);
        while next != RequestId::NONE {
            let waiting = next;
            next = ctx.requests.next(waiting, CacheLevel::L1);
            if waiting != request {
                ctx.requests.share_reply(waiting, &row, &stamps);
            }
            self.request_back(waiting, cycle, ctx);
        }
    }

    /// A request is back: it leaves the table, and its instruction is one request nearer its end.
    fn request_back(&mut self, id: RequestId, cycle: u64, ctx: &mut Context) {
        let now = self.clock.at(cycle);
        let request = *ctx.requests.get(id);
        let stamps = *ctx.requests.stamps(id);
        ctx.requests.remove(id);
        if request.kind == RequestKind::Read {
            ctx.record.latency(&request, &stamps, now);
        }
        let access = AccessId(request.access);
        let row = self.accesses.get_mut(access);
        row.request_back(&request, &stamps, now.since(stamps.created));
        if row.returns {
            // A datum that arrives is filled in or buffered, then written to its register, one a cycle.
            self.written_back = (cycle + 2 * self.writeback_latency).max(self.written_back + 1);
            row.ready_cycle = row.ready_cycle.max(self.written_back);
        } else {
            row.ready_cycle = row.ready_cycle.max(cycle);
        }
        if row.waiting == 0 {
            self.completions.push(Reverse((row.ready_cycle, access)));
        }
    }

    /// Finishes the memory instructions whose last datum is there.
    pub(super) fn complete_accesses(&mut self, cycle: u64, ctx: &mut Context) {
        while let Some(&Reverse((ready, access))) = self.completions.peek() {
            if ready > cycle {
                break;
            }
            self.completions.pop();
            self.complete(access, cycle, ctx);
        }
    }

    fn complete(&mut self, id: AccessId, cycle: u64, ctx: &mut Context) {
        let access = self.accesses.get(id);
        let (slot, returns, load) = (access.warp, access.returns, access.load);
        if returns && access.row.requests > 0 {
            let row = access.finished_row(cycle, self.clock.period());
            ctx.record.load(&row);
        }
        self.accesses.remove(id);
        ctx.finish_load(load);
        let warp = self.warp_mut(slot);
        if returns {
            warp.finish_load(id);
        } else {
            warp.posted -= 1;
        }
        self.memory_back(slot, cycle);
    }
}

/// Whether reads with this operator are not cached in L1.
fn passes_l1(op: CacheOp) -> bool {
    matches!(op, CacheOp::Global | CacheOp::Volatile | CacheOp::StrongGpu)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_once_each_time() {
        let dram = crate::machine::load("li2015", &[]).unwrap().dram;
        let mut places = Places::new(&dram);
        for _ in 0..2 {
            let got = places.count([(0, 3), (0, 3), (0, 4), (5, 3)].into_iter());
            assert_eq!(got, (2, 3));
        }
    }
}
