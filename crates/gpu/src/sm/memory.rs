//! Memory instructions in the load/store unit: lanes' addresses become sectors, and these go to the
//! banks of L1, or past it.

use super::Sm;
use super::access::{Access, AccessId};
use super::banks::Lookup;
use super::code::{Static, passes_l1};
use super::lsu::{Entry, Sector, Work};
use crate::engine::Context;
use crate::results::LoadRow;
use std::cmp::Reverse;
use warpmem_cache::ReservationFail;
use warpmem_sim::{AddressMap, Request, RequestId, RequestKind};
use warpmem_trace::{CacheOp, Kind, Space};

impl Sm {
    /// A memory instruction has issued: it gets a row in the access table and an entry in the
    /// load/store queue.
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
            warp_slot: slot,
            pc: instruction.pc,
            issue_cycle: cycle,
            ..LoadRow::default()
        };
        let access = self.accesses.add(Access::new(cta.number, returns, row));
        if instruction.space == Space::Constant {
            self.accesses.get_mut(access).ready_cycle =
                cycle + self.operand_latency + self.constant_latency;
            self.completions
                .push(Reverse((cycle + self.operand_latency + self.constant_latency, access)));
        } else {
            let width = u32::from(instruction.width);
            let entry = self.lsu.push(
                slot as usize % self.slots.len(),
                cycle,
                cycle + self.operand_latency,
            );
            entry.access = access;
            entry.cache_op = instruction.cache_op;
            if instruction.kind == Kind::AsyncCopy
                && instruction.cache_op == CacheOp::Global
                && !self.async_bypass
            {
                entry.cache_op = CacheOp::Default;
            }
            entry.sent = 0;
            entry.work = match (instruction.space, instruction.kind) {
                (Space::Shared, _) => {
                    Work::Shared { passes: self.shared_passes.of(addresses, width) }
                }
                (space, Kind::Store) => Work::Store { local: space == Space::Local },
                (_, Kind::Atomic | Kind::Reduction) => Work::Atomic,
                _ => Work::Load,
            };
            match entry.work {
                Work::Shared { .. } => entry.sectors.clear(),
                Work::Atomic => self.coalescer.atomics(addresses, &mut entry.sectors),
                work => self.coalescer.sectors(
                    addresses,
                    width,
                    matches!(work, Work::Store { .. }),
                    &mut entry.sectors,
                ),
            }
            let sectors = entry.sectors.as_mut_slice();
            let (channels, banks) = self.places.count(sectors.iter_mut().map(|sector| {
                let place = map.locate(sector.address);
                sector.slice = place.slice;
                (place.channel, place.bank)
            }));
            let access = self.accesses.get_mut(access);
            access.waiting = sectors.len() as u32;
            access.row.requests = access.waiting;
            (access.row.channels, access.row.banks) = (channels, banks);
            self.result.requesting_instructions += u64::from(channels > 0);
            self.result.requested_channels += u64::from(channels);
            self.result.requested_banks += u64::from(banks);
        }
        if returns {
            let stalls = self.stalls_on_loads && instruction.kind != Kind::AsyncCopy;
            warp.add_load(access, if stalls { 0 } else { instruction.use_distance });
        } else {
            warp.posted += 1;
        }
    }

    /// The unit works on its instruction, and takes the next.
    pub(super) fn work_lsu(&mut self, cycle: u64, ctx: &mut Context) {
        self.lsu.take(cycle);
        if let Some(entry) = self.lsu.head().filter(|entry| entry.from <= cycle) {
            match entry.work {
                Work::Shared { passes } => self.pass_shared(entry.access, passes, cycle),
                _ => self.send_sectors(cycle, ctx),
            }
        }
        self.lsu.take_next(cycle);
    }

    /// A shared-memory instruction takes its passes; the next instruction waits for them.
    fn pass_shared(&mut self, access: AccessId, passes: u32, cycle: u64) {
        let end = cycle + u64::from(passes);
        self.result.shared_accesses += 1;
        self.result.shared_bank_conflict_cycles += u64::from(passes - 1);
        self.lsu.busy_until = end;
        self.lsu.pop();
        // The first pass is part of a load's latency. A store is done after its passes, and writes
        // no register (GPGPU-Sim, `ldst_unit::cycle`).
        let ready = if self.accesses.get(access).returns {
            let ready = end - 1 + self.shared_latency + self.writeback_latency;
            self.writeback.take(cycle, ready)
        } else {
            end
        };
        self.completions.push(Reverse((ready, access)));
    }

    /// Sends sectors of the head instruction in order, at most one to each L1 bank, or one past L1.
    fn send_sectors(&mut self, cycle: u64, ctx: &mut Context) {
        let Some(entry) = self.lsu.head_mut() else { return };
        let mut entry = std::mem::replace(entry, Entry::blank());
        if entry.sent == 0 {
            ctx.side.fields.begin(self.id, entry.access.0, entry.sectors.as_slice().len());
        }
        // A perfect L1 sends no requests, so loads are not tracked.
        if ctx.side.loads.is_some() && !self.perfect_l1 {
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
            _ if self.perfect_l1 => false,
            Work::Atomic => true,
            Work::Store { .. } => !self.l1_enabled,
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
            let store = matches!(entry.work, Work::Store { .. });
            let local = entry.work == Work::Store { local: true };
            let access = entry.access;
            self.banks.push(bank, Lookup { sector, access, store, local, entered: cycle });
            entry.sent += 1;
        }
    }

    fn send_one_past(&mut self, entry: &mut Entry, cycle: u64, ctx: &mut Context) {
        let sector = entry.sectors.as_slice()[entry.sent];
        self.end_fail(cycle);
        if !self.may_ask() || !ctx.fabric.room_or_wake(self.request_port) {
            self.failing = Some((ReservationFail::MissQueueFull, cycle));
            return;
        }
        let kind = match entry.work {
            Work::Atomic => RequestKind::Atomic,
            Work::Store { .. } => RequestKind::Write,
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
        self.in_flight += 1;
        entry.sent += 1;
    }

    /// Numbers a load before its first request is sent.
    fn begin_load(&mut self, entry: &Entry, ctx: &mut Context) {
        let access = self.accesses.get_mut(entry.access);
        if entry.work == Work::Load && access.load == u32::MAX {
            access.load = ctx.begin_load(entry.sectors.as_slice().iter().map(|s| s.address));
        }
    }

    pub(super) fn request(
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
            warp: u32::from(self.id) * self.warps.len() as u32 + row.row.warp_slot,
            cta: row.cta,
            load: row.load,
            max_lanes_per_address: sector.max_lanes_per_address,
            critical: self.is_critical(ctx),
            ..self.blank_request(sector.address, kind, sector.slice)
        };
        ctx.requests.add(request, self.clock.at(created))
    }

    /// Whether so many warps wait for memory that the SM's requests are critical now.
    fn is_critical(&self, ctx: &Context) -> bool {
        let (waiting, resident) = (self.waiting_for_memory.count_ones(), self.present.count_ones());
        ctx.side.critical.is_some_and(|share| share.is_critical(waiting, resident))
    }

    pub(super) fn blank_request(&self, address: u64, kind: RequestKind, slice: u16) -> Request {
        Request { sm: self.id, ..Request::of_slice(address, kind, slice) }
    }

    fn end_fail(&mut self, cycle: u64) {
        if let Some((reason, since)) = self.failing.take() {
            self.l1.counts.reservation_fails[reason as usize] += cycle - since;
        }
    }

    /// When the unit can next do something without an outside event.
    pub(super) fn next_lsu_cycle(&self, cycle: u64) -> u64 {
        let waits = self.failing.is_some() || self.waits_for_bank();
        if waits { u64::MAX } else { self.lsu.next(cycle + 1) }
    }

    /// Whether the next sector of the current instruction finds its bank full. A lookup at the tags
    /// makes room and wakes the SM.
    fn waits_for_bank(&self) -> bool {
        let full = |sector: &Sector| !self.banks.has_room(self.l1.bank(sector.address) as usize);
        self.lsu.head().is_some_and(|entry| {
            !self.passes_l1(entry) && entry.sectors.as_slice().get(entry.sent).is_some_and(full)
        })
    }
}
