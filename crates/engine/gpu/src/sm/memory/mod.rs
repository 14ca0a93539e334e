//! The memory side of an SM: load/store unit, L1 and what is in flight below it.
//!
//! Lanes' addresses become sectors, and these go to the banks of L1, or past it. The rest of the SM
//! starts an instruction here and takes it back when it has completed; nothing else crosses.
//!
//! ```text
//!  start ─▶ coalescer ─▶ load/store unit ─┬─▶ L1 banks ─▶ tags ── miss ─▶ miss queue ─▶ network
//!                                         ├─▶ bypass of L1 ────────────────────────────▶ network
//!                                         ├─▶ shared memory of a cluster ──────────────▶ other SMs
//!                                         └─▶ shared memory        │ hit
//!  take_completed ◀── completions ◀── accesses ◀───────────────────┴── L1 fill ◀─ reply network
//! ```

mod access;
mod banks;
mod coalescer;
mod copies;
mod entry;
mod l1;
mod lookup;
mod lsu;
mod messages;
mod places;
mod reply;
mod sectors;
mod signals;
mod writeback;

pub(super) use access::{Access, AccessId};
pub(super) use entry::EntryId;
pub use messages::MessagePorts;
pub(super) use messages::Place;
pub(super) use reply::Completed;
pub(super) use signals::write_signals;

use super::code::{Static, passes_l1};
use super::scheduler::SchedulerId;
use crate::context::Context;
use crate::results::SmResult;
use access::AccessTable;
use banks::{Banks, Lookup, MissQueue};
use coalescer::{Coalescer, SharedPasses};
use copies::Copy;
use entry::{Entry, Work};
use l1::L1;
use lsu::Lsu;
use messages::{Messages, write_messages};
use places::Places;
use sectors::Sector;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use warpmem_cache::ReservationFail;
use warpmem_machine::Machine;
use warpmem_sim::{
    AddressMap, CoreClock, CoreCycle, Insertion, Location, PortId, Request, RequestId, RequestKind,
    Signal, SmId, Ticks, Twins, WarpId,
};
use warpmem_trace::{CacheOp, Eviction, Kind, L2Policy, MAX_REGISTER_WIDTH, Mbarrier, Space};
use writeback::WritebackPort;

/// Warp slots of an SM, by which its requests are critical or not.
#[derive(Clone, Copy)]
pub(super) struct Occupancy {
    pub waiting_for_memory: u64,
    pub present: u64,
}

/// The memory side of one SM.
pub(super) struct MemoryPipeline {
    sm: SmId,
    twins: Option<Twins>,
    max_warps: u32,
    schedulers: usize,
    clock: CoreClock,
    request_port: PortId,
    reply_port: PortId,
    constant_latency: u64,
    shared_latency: u64,
    operand_latency: u64,
    writeback_latency: u64,
    l1_enabled: bool,
    /// Async copies with the global cache operator bypass L1.
    async_bypass: bool,
    /// Every access hits in L1.
    perfect_l1: bool,
    /// The policy asks for misses and evictions of L1.
    reports_l1_events: bool,

    /// The cycle of the current step.
    cycle: CoreCycle,
    coalescer: Coalescer,
    shared_passes: SharedPasses,
    lsu: Lsu,
    l1: L1,
    banks: Banks,
    /// Cycle in which L1 was last filled.
    last_fill: CoreCycle,
    miss_queue: MissQueue,
    /// Requests that have left L1 and are not answered, and the most that may be.
    in_flight: u32,
    max_requests: u32,
    accesses: AccessTable,
    completions: BinaryHeap<Reverse<(CoreCycle, AccessId)>>,
    writeback: WritebackPort,
    /// To and from other SMs; none on a machine without clusters.
    messages: Option<Box<Messages>>,
    /// Copies in flight that others are told of.
    copies: Vec<Copy>,
    /// Changes of mbarriers that have not been made.
    signals: VecDeque<Signal>,
    /// What an instruction that bypasses L1 lacks, and since when.
    failing: Option<(ReservationFail, CoreCycle)>,
    places: Places,
    counts: Counts,
}

/// See the fields of the same names in [`SmResult`].
#[derive(Clone, Copy, Default)]
struct Counts {
    requesting_instructions: u64,
    requested_channels: u64,
    requested_banks: u64,
    shared_accesses: u64,
    shared_bank_conflict_cycles: u64,
    replies: u64,
    reply_ticks: u64,
}

impl MemoryPipeline {
    /// `request_port` leads to the request network, `reply_port` comes from the reply network.
    pub fn new(
        machine: &Machine,
        sm: SmId,
        clock: CoreClock,
        request_port: PortId,
        reply_port: PortId,
    ) -> MemoryPipeline {
        let config = &machine.sm;
        MemoryPipeline {
            sm,
            twins: machine.twins(),
            max_warps: config.max_warps,
            schedulers: config.schedulers as usize,
            clock,
            request_port,
            reply_port,
            constant_latency: u64::from(config.constant_latency),
            shared_latency: u64::from(config.shared.latency),
            operand_latency: u64::from(config.operand_latency),
            writeback_latency: u64::from(config.writeback_latency),
            l1_enabled: machine.l1.enabled,
            async_bypass: machine.l1.async_bypass,
            perfect_l1: false,
            reports_l1_events: false,
            cycle: CoreCycle::ZERO,
            coalescer: Coalescer::new(machine),
            shared_passes: SharedPasses::new(&config.shared),
            lsu: Lsu::new(config),
            l1: L1::new(&machine.l1),
            banks: Banks::new(machine.l1.latency, machine.l1.banks),
            last_fill: CoreCycle::NEVER,
            miss_queue: MissQueue::new(machine.l1.cache.miss_queue),
            in_flight: 0,
            max_requests: match config.max_requests {
                0 => u32::MAX,
                most => most,
            },
            accesses: AccessTable::default(),
            completions: BinaryHeap::new(),
            writeback: WritebackPort::default(),
            messages: None,
            copies: Vec::new(),
            signals: VecDeque::new(),
            failing: None,
            places: Places::new(&machine.dram),
            counts: Counts::default(),
        }
    }

    /// Makes every access hit in L1: no request to global or local memory leaves the SM.
    pub fn make_l1_perfect(&mut self) {
        self.perfect_l1 = true;
    }

    /// Reports misses and evictions of L1 to the warp scheduler, or not.
    pub fn report_l1_events(&mut self, reports: bool) {
        self.reports_l1_events = reports;
        if reports {
            self.l1.keep_owners();
        }
    }

    /// Empties L1 and gives it a new size, at the start of a kernel.
    pub fn reset_l1(&mut self, size_bytes: u32) {
        self.l1.reset(size_bytes);
    }

    /// Begins a step.
    pub fn begin(&mut self, cycle: CoreCycle) {
        self.cycle = cycle;
    }

    /// A memory instruction of a CTA at `place` has issued: it gets a row in the access table and an entry
    /// in the load/store queue.
    pub fn start(
        &mut self,
        access: Access,
        instruction: &Static,
        addresses: &[u64],
        place: Place,
        map: &AddressMap,
    ) -> (AccessId, Option<EntryId>) {
        let (slot, cycle) = (access.warp_slot(), access.issue_cycle());
        let access = self.accesses.add(access);
        if instruction.space == Space::Constant {
            let ready = cycle + self.operand_latency + self.constant_latency;
            self.accesses.get_mut(access).ready_cycle = ready;
            self.completions.push(Reverse((ready, access)));
            return (access, None);
        }
        let scheduler = SchedulerId::new(slot.index() % self.schedulers);
        let id = self.lsu.push(scheduler, cycle + self.operand_latency);
        let entry = self.lsu.entry_mut(id);
        entry.access = access;
        entry.sent = 0;
        entry.cache_op = instruction.cache_op;
        if instruction.kind == Kind::AsyncCopy
            && instruction.cache_op == CacheOp::Global
            && !self.async_bypass
        {
            entry.cache_op = CacheOp::Default;
        }
        let width = instruction.width;
        entry.bulk = width > MAX_REGISTER_WIDTH;
        entry.work = match (instruction.space, instruction.kind) {
            (Space::Shared, _) => {
                let passes = self.shared_passes.of(addresses.iter().copied(), width);
                Work::Shared { passes }
            }
            (Space::Cluster, _) => Work::Cluster,
            (space, Kind::Store) => Work::Store { local: space == Space::Local },
            (_, Kind::Atomic | Kind::Reduction) => Work::Atomic,
            _ => Work::Load,
        };
        entry.messages.clear();
        entry.signals.clear();
        if let Some(operation) = instruction.mbarrier.filter(|_| instruction.space == Space::Shared)
        {
            write_signals(operation, addresses, place.cta, &mut entry.signals);
        }
        entry.is_multicast = instruction.destinations != 0;
        match entry.work {
            Work::Shared { .. } => entry.sectors.clear(),
            Work::Cluster => {
                entry.sectors.clear();
                let passes = &mut self.shared_passes;
                write_messages(instruction, addresses, place, passes, &mut entry.messages);
            }
            Work::Atomic => self.coalescer.atomics(addresses, width, &mut entry.sectors),
            work => {
                let store = matches!(work, Work::Store { .. });
                self.coalescer.sectors(addresses, width, store, &mut entry.sectors);
            }
        }
        let sectors = entry.sectors.as_mut_slice();
        let (channels, banks) = self.places.count(sectors.iter_mut().map(|sector| {
            let place = map.locate(sector.address);
            sector.place = place;
            (place.channel, place.bank)
        }));
        let row = self.accesses.get_mut(access);
        let sectors_count = sectors.len() as u32;
        row.row.requests = sectors_count;
        row.waiting = row.row.requests + entry.messages.len() as u32;
        (row.row.channels, row.row.banks) = (channels, banks);
        self.counts.requesting_instructions += u64::from(channels > 0);
        self.counts.requested_channels += u64::from(channels);
        self.counts.requested_banks += u64::from(banks);
        let signals = matches!(instruction.mbarrier, Some(Mbarrier::Signal { .. }));
        let is_from_memory = instruction.space == Space::Global;
        if is_from_memory && (signals || instruction.destinations != 0) {
            let lanes = addresses.len() as u32;
            self.begin_copy(access, instruction, place, lanes, sectors_count);
        }
        (access, Some(id))
    }

    /// The unit works on its instruction, and takes the next.
    pub fn work(&mut self, occupancy: Occupancy, ctx: &mut Context) {
        let cycle = self.cycle;
        self.lsu.take(cycle);
        let is_free = self.lsu.busy_until <= cycle;
        if let Some(entry) = self.lsu.head().filter(|entry| is_free && entry.from <= cycle) {
            match entry.work {
                Work::Shared { passes } => self.pass_shared(entry.access, passes, cycle),
                Work::Cluster => self.send_message(cycle, ctx),
                _ => self.send_sectors(cycle, occupancy, ctx),
            }
        }
        self.lsu.take_next(cycle);
    }

    /// A shared-memory instruction takes its passes; the next instruction waits for them.
    fn pass_shared(&mut self, access: AccessId, passes: u32, cycle: CoreCycle) {
        let end = cycle + u64::from(passes);
        self.counts.shared_accesses += 1;
        self.counts.shared_bank_conflict_cycles += u64::from(passes - 1);
        self.lsu.busy_until = end;
        if let Some(entry) = self.lsu.head_mut() {
            self.signals.extend(entry.signals.drain(..));
        }
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
    fn send_sectors(&mut self, cycle: CoreCycle, occupancy: Occupancy, ctx: &mut Context) {
        let Some(entry) = self.lsu.head() else { return };
        if entry.sent == 0 {
            ctx.side.fields.begin(self.sm, entry.access.0, entry.sectors.as_slice().len());
        }
        let passes_l1 = self.passes_l1(entry);
        // A perfect L1 sends no requests, so loads are not tracked.
        if ctx.side.loads.is_some() && !self.perfect_l1 {
            self.begin_load(ctx);
        }
        if passes_l1 {
            self.send_one_past(cycle, occupancy, ctx);
        } else {
            self.enter_banks(cycle);
        }
        if self.lsu.head().is_some_and(Entry::is_sent) {
            self.lsu.pop();
        }
    }

    /// Whether the unit sends an instruction's requests straight to the network.
    fn passes_l1(&self, entry: &Entry) -> bool {
        match entry.work {
            Work::Load if entry.is_multicast => true,
            _ if self.perfect_l1 => false,
            Work::Atomic => true,
            Work::Store { .. } => !self.l1_enabled || entry.bulk,
            _ => !self.l1_enabled || passes_l1(entry.cache_op),
        }
    }

    fn enter_banks(&mut self, cycle: CoreCycle) {
        let Some(entry) = self.lsu.head_mut() else { return };
        let (access, work) = (entry.access, entry.work);
        let (store, local) =
            (matches!(work, Work::Store { .. }), work == Work::Store { local: true });
        let mut taken = 0u64;
        for &sector in &entry.sectors.as_slice()[entry.sent..] {
            let bank = self.l1.bank(sector.address);
            if taken >> bank.0 & 1 == 1 || !self.banks.has_room(bank) {
                break;
            }
            taken |= 1 << bank.0;
            self.banks.push(bank, Lookup { sector, access, store, local, entered: cycle });
        }
        entry.sent += taken.count_ones() as usize;
    }

    fn send_one_past(&mut self, cycle: CoreCycle, occupancy: Occupancy, ctx: &mut Context) {
        let Some(entry) = self.lsu.head() else { return };
        let (access, work) = (entry.access, entry.work);
        let sector = entry.sectors.as_slice()[entry.sent];
        self.end_fail(cycle);
        if !self.may_ask() || !ctx.fabric.room_or_wake(self.request_port) {
            self.failing = Some((ReservationFail::MissQueueFull, cycle));
            return;
        }
        let kind = match work {
            Work::Atomic => RequestKind::Atomic,
            Work::Store { .. } => RequestKind::Write,
            _ => RequestKind::Read,
        };
        match kind {
            RequestKind::Atomic => self.l1.pass_atomic(sector.address),
            RequestKind::Read => self.l1.pass_read(),
            _ => self.l1.pass_write(sector.address),
        }
        let request = self.request(access, &sector, kind, cycle, occupancy, ctx);
        ctx.requests.get_mut(request).bypass = true;
        let leaves = self.clock.at(cycle);
        ctx.requests.stamps_mut(request).l1_missed = leaves;
        ctx.fabric.push(self.request_port, request, leaves);
        self.in_flight += 1;
        if let Some(entry) = self.lsu.head_mut() {
            entry.sent += 1;
        }
    }

    /// Numbers a load before its first request is sent.
    fn begin_load(&mut self, ctx: &mut Context) {
        let Some(entry) = self.lsu.head() else { return };
        let access = self.accesses.get_mut(entry.access);
        if entry.work == Work::Load && access.load == u32::MAX {
            access.load = ctx.begin_load(entry.sectors.as_slice().iter().map(|s| s.address));
        }
    }

    fn request(
        &self,
        access: AccessId,
        sector: &Sector,
        kind: RequestKind,
        created: CoreCycle,
        occupancy: Occupancy,
        ctx: &mut Context,
    ) -> RequestId {
        let row = self.accesses.get(access);
        let request = Request {
            pc: row.row.pc as u32,
            bytes: sector.bytes,
            access: access.0,
            warp: WarpId(u32::from(self.sm.0) * self.max_warps + row.row.warp_slot),
            cta: row.cta,
            load: row.load,
            max_lanes_per_address: sector.max_lanes_per_address,
            critical: is_critical(occupancy, ctx),
            insertion: self.insertion(row.l2_policy, sector.address),
            ..self.blank_request(sector.address, kind, sector.place)
        };
        ctx.requests.add(request, self.clock.at(created))
    }

    /// Where the line that holds `address` is to be in the L2.
    fn insertion(&self, policy: Option<L2Policy>, address: u64) -> Insertion {
        match policy.map(|policy| policy.of_line(self.l1.line(address))) {
            None | Some(Eviction::Unchanged) => Insertion::Newest,
            Some(Eviction::Normal) => Insertion::Asked(warpmem_sim::Eviction::Normal),
            Some(Eviction::First) => Insertion::Asked(warpmem_sim::Eviction::First),
            Some(Eviction::Last) => Insertion::Asked(warpmem_sim::Eviction::Last),
        }
    }

    fn blank_request(&self, address: u64, kind: RequestKind, place: Location) -> Request {
        let entrance = |twins: Twins| twins.entrance(self.sm, place.slice);
        let slice = self.twins.map_or(place.slice, entrance);
        let place = Location { slice, ..place };
        Request { sm: self.sm, ..Request::of_slice(address, kind, place) }
    }

    fn end_fail(&mut self, cycle: CoreCycle) {
        if let Some((reason, since)) = self.failing.take() {
            self.l1.count_fail(reason, cycle.since(since));
        }
    }

    /// When the load/store unit can next do something without an outside event.
    pub fn next_unit_cycle(&self) -> CoreCycle {
        let waits = self.failing.is_some() || self.waits_for_bank() || self.waits_to_send();
        // What has ended its wait is not seen while a message has the banks.
        let has_tried = self.lsu.busy_until <= self.cycle;
        if waits && has_tried { CoreCycle::NEVER } else { self.lsu.next(self.cycle + 1) }
    }

    /// When the next reply comes or the next instruction ends.
    #[inline]
    pub fn next_end(&self, ctx: &Context) -> CoreCycle {
        let end = self.completions.peek().map_or(CoreCycle::NEVER, |&Reverse((at, _))| at);
        match ctx.fabric.head_ready(self.reply_port) {
            Ticks::NEVER => end,
            reply if reply <= self.clock.at(self.cycle + 1) => self.cycle + 1,
            reply => end.min(self.clock.cycle_from(reply)),
        }
    }

    /// When a lookup is next due at the tags.
    #[inline]
    pub fn next_lookup(&self, ctx: &mut Context) -> CoreCycle {
        // If nothing may leave L1, the reply or the network that makes room wakes the SM.
        let blocked = self.banks.any_lacks_room()
            && !(self.may_ask() && ctx.fabric.room_or_wake(self.request_port));
        self.banks.next(self.cycle + 1, blocked)
    }

    /// An mbarrier is to change.
    pub fn signal(&mut self, signal: Signal) {
        self.signals.push_back(signal);
    }

    /// The next change of an mbarrier.
    #[inline]
    pub fn take_signal(&mut self) -> Option<Signal> {
        self.signals.pop_front()
    }

    /// Whether an instruction ends in this cycle or has ended.
    #[inline]
    pub fn has_completed(&self) -> bool {
        self.completions.peek().is_some_and(|&Reverse((at, _))| at <= self.cycle)
    }

    /// Whether the next sector of the current instruction finds its bank full. A lookup at the tags
    /// makes room and wakes the SM.
    fn waits_for_bank(&self) -> bool {
        let full = |sector: &Sector| !self.banks.has_room(self.l1.bank(sector.address));
        self.lsu.head().is_some_and(|entry| {
            !self.passes_l1(entry) && entry.sectors.as_slice().get(entry.sent).is_some_and(full)
        })
    }

    /// Whether the load/store queue of a scheduler is full.
    #[inline]
    pub fn is_full(&self, scheduler: SchedulerId) -> bool {
        self.lsu.is_full(scheduler)
    }

    /// The schedulers whose register of the load/store unit holds an instruction, one bit each.
    #[inline]
    pub fn offers(&self) -> u64 {
        self.lsu.offers()
    }

    /// An instruction comes into the load/store unit's register in `cycle`.
    pub fn offer(&mut self, scheduler: SchedulerId, entry: EntryId, cycle: CoreCycle) {
        self.lsu.offer(scheduler, entry, cycle);
    }

    /// Whether the load/store unit has nothing to work on.
    pub fn unit_is_idle(&self) -> bool {
        self.lsu.head().is_none()
    }

    /// Misses that L1 has room for; none while a lookup waits at the tags.
    pub fn miss_room(&self) -> usize {
        if self.banks.any_fails() { 0 } else { self.l1.free_misses() }
    }

    /// Whether nothing is queued or in flight.
    pub fn is_idle(&self) -> bool {
        self.lsu.is_empty()
            && self.banks.is_empty()
            && self.accesses.len() == 0
            && self.in_flight == 0
            && self.l1.outstanding() == 0
    }

    /// What was counted so far.
    pub fn add_to(&self, result: &mut SmResult) {
        result.requesting_instructions += self.counts.requesting_instructions;
        result.requested_channels += self.counts.requested_channels;
        result.requested_banks += self.counts.requested_banks;
        result.shared_accesses += self.counts.shared_accesses;
        result.shared_bank_conflict_cycles += self.counts.shared_bank_conflict_cycles;
        if let Some(messages) = &self.messages {
            let [sent, bytes] = messages.counts();
            result.messages += sent;
            result.message_bytes += bytes;
        }
        result.replies += self.counts.replies;
        result.reply_ticks += self.counts.reply_ticks;
        result.l1 = self.l1.counts().clone();
    }

    /// State for the deadlock report.
    pub fn describe(&self) -> String {
        format!(
            "{} memory instructions in flight, {} in the load/store queue, {} on the way to L1, {} L1 \
             misses outstanding",
            self.accesses.len(),
            self.lsu.len(),
            self.banks.len(),
            self.l1.outstanding(),
        )
    }
}

/// Whether so many warps wait for memory that the SM's requests are critical now.
fn is_critical(occupancy: Occupancy, ctx: &Context) -> bool {
    ctx.side.critical.is_some_and(|share| {
        let waiting = occupancy.waiting_for_memory.count_ones();
        share.is_critical(waiting, occupancy.present.count_ones())
    })
}
