//! One slice of the last-level cache: queue, tags, MSHRs, replies.

use super::answers::Answers;
use super::delay::DelayLine;
use super::mshr_states::MshrStates;
use super::path::{Item, MergePath};
use super::prefetched::{Noted, Unused};
use super::queue::{LLC_QUEUES, LlcQueue, QueueAccount};
use super::set_key::SetKey;
use super::warp_types::WarpCounts;
use crate::engine::{Context, Sent};
use crate::results::{QueueLength, SliceResult};
use std::collections::VecDeque;
use warpmem_cache::{
    ALL_BYTES, CacheCounts, Geometry, Mshr, ReadAllocate, ReservationFail, Slot, Tags,
    WriteAllocate, WritePolicy,
};
use warpmem_machine::{Machine, ReplyOrder};
use warpmem_params::{Counter, PolicyError};
use warpmem_sim::{
    CacheLevel, CachedLines, Clock, Domain, Insertion, Needs, PortId, Request, RequestId,
    RequestKind, Ticks, UnitId,
};

/// Where a slice's ports lead.
#[derive(Clone, Copy, Debug)]
pub struct SlicePorts {
    /// From the request network.
    pub requests: PortId,
    /// To the reply network.
    pub replies: PortId,
    /// To the DRAM channel.
    pub misses: PortId,
    /// From the DRAM channel.
    pub fills: PortId,
}

/// A slice. What every step needs comes first: a machine has too many slices for the host's first
/// cache.
#[repr(C)]
pub struct Slice {
    pub(super) ports: SlicePorts,
    pub(super) clock: Clock,
    unit: UnitId,
    /// From the network to the queue, and at most this many requests in both together.
    pub(super) arriving: DelayLine,
    pub(super) input_capacity: u32,
    /// Most requests that the network hands over in a cycle.
    pub(super) arrivals_per_cycle: u32,
    /// Requests in the queue.
    pub(super) queued: u32,
    /// The queue lets nothing be taken from the network.
    pub(super) blocked: bool,
    /// Fills that are not answered in full.
    pub(super) answers: Answers,
    /// When the next reply may enter the network.
    reply_free: Ticks,
    /// The fill at the head of its port waits for room on the way to DRAM.
    fill_waits: bool,
    pub(super) index: u16,
    pub(super) rules: Rules,
    /// From the tags to the reply port.
    pub(super) hits: DelayLine,
    /// The tags are taken until this cycle (atomics, data of several cycles), and the fill port.
    pub(super) tags_free: u64,
    fill_free: u64,
    /// Cycles for which the request at the tags has the data port.
    pub(super) port_busy: u64,
    /// What the next request at the tags waits for, and since when.
    waiting: Option<(Wait, u64)>,
    /// What waits for DRAM where the DRAM scheduler follows merges; elsewhere it waits in the port.
    pub(super) path: Option<Box<MergePath>>,
    /// Without a cache: results of atomics that wait for an entry on the way to DRAM.
    pub(super) results: VecDeque<RequestId>,
    /// Entries behind the queue to DRAM, reserved for what one request sends down.
    miss_queue: u32,
    pub(super) input_ticks: u64,
    pub(super) queue: Box<dyn LlcQueue>,
    pub(super) account: QueueAccount,
    pub(super) to_dram_ticks: u64,
    pub(super) mshr: Mshr,
    mshr_states: MshrStates,
    pub(super) tags: Tags,
    pub(super) geometry: Geometry,
    pub(super) unused: Unused,
    /// Kept where the channel's prefetcher skips lines that are cached here.
    pub(super) noted: Option<Noted>,
    /// Kept where the DRAM scheduler distinguishes warps by their hits here.
    pub(super) warps: Option<Box<WarpCounts>>,
    pub(super) set_key: SetKey,
    pub(super) result: SliceResult,
}

/// The part of the configuration that a request at the tags needs.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    /// There is a cache.
    pub cached: bool,
    /// Every request hits.
    pub perfect: bool,
    /// LLC cycles from the tags to the reply port, and of an atomic at the tags.
    pub latency: u32,
    pub atomic_cycles: u32,
    pub port_bytes: u32,
    pub reply_order: ReplyOrder,
    pub read_allocate: ReadAllocate,
    pub write: WritePolicy,
    pub write_allocate: WriteAllocate,
}

/// What the next request at the tags waits for.
#[derive(Clone, Copy, Debug)]
enum Wait {
    /// An entry of the queue to DRAM: nothing is looked up before there is one.
    DramQueue,
    /// It was looked up and could not be served.
    Fail(ReservationFail),
}

impl Slice {
    /// Slice `index` of the machine. `core` is the clock of the latencies given in core cycles,
    /// `needs` what the DRAM schedulers ask for.
    pub fn new(
        machine: &Machine,
        index: usize,
        clock: Clock,
        core: Clock,
        ports: SlicePorts,
        needs: &Needs,
    ) -> Result<Slice, PolicyError> {
        let config = &machine.llc;
        let input_ticks = u64::from(config.input_latency) * core.period();
        let queue = LLC_QUEUES.build(&machine.policy.llc_queue, config)?;
        Ok(Slice {
            ports,
            clock,
            unit: UnitId { domain: Domain::Llc, index: index as u32 },
            arriving: DelayLine::new(),
            // The delay line holds what arrives during the delay.
            input_capacity: (queue.capacity())
                .saturating_add(input_ticks.div_ceil(arrival_period(machine)) as u32),
            arrivals_per_cycle: match config.arrivals_per_cycle {
                0 => u32::MAX,
                most => most,
            },
            queued: 0,
            blocked: false,
            answers: Answers::new(config.cache.mshr_entries),
            reply_free: Ticks(0),
            fill_waits: false,
            index: index as u16,
            rules: Rules {
                cached: config.enabled,
                perfect: false,
                latency: if config.enabled { config.latency } else { 0 },
                atomic_cycles: config.atomic_cycles,
                port_bytes: config.port_bytes,
                reply_order: config.reply_order,
                read_allocate: config.cache.read_allocate,
                write: config.cache.write,
                write_allocate: config.cache.write_allocate,
            },
            hits: DelayLine::new(),
            tags_free: 0,
            fill_free: 0,
            port_busy: 0,
            waiting: None,
            path: MergePath::new(machine, needs).map(Box::new),
            results: VecDeque::new(),
            miss_queue: config.cache.miss_queue,
            input_ticks,
            queue,
            account: QueueAccount::default(),
            to_dram_ticks: u64::from(config.to_dram_latency) * core.period(),
            mshr: Mshr::new(CacheLevel::Llc, config.cache.mshr_entries, config.cache.mshr_merges),
            mshr_states: MshrStates::new(),
            tags: Tags::new(&config.cache, config.cache.size_bytes),
            geometry: Geometry::new(&config.cache),
            unused: Unused::default(),
            noted: None,
            warps: needs.warp_types.map(|_| Box::default()),
            set_key: SetKey::new(machine),
            result: SliceResult::default(),
        })
    }

    /// The same slice with a cache of this latency in which every request hits, whether or not the
    /// machine has a cache.
    pub fn perfect(mut self, latency: u32) -> Slice {
        (self.rules.perfect, self.rules.latency) = (true, latency);
        self
    }

    /// Keeps `lines`, the channel's list of lines that are cached here, up to date.
    pub fn note_lines(&mut self, lines: CachedLines, machine: &Machine) {
        let columns_per_line = machine.llc.cache.line_bytes / machine.dram.burst_bytes();
        self.noted = Some(Noted { lines, columns_per_line });
    }

    /// This slice as the fabric knows it.
    pub fn unit(&self) -> UnitId {
        self.unit
    }

    /// One step at LLC cycle `cycle`: arrivals, a fill, a reply, a request at the tags.
    ///
    /// ```text
    ///  request network ─▶ arriving (delay) ─▶ queue ─▶ tags ─ hit ─▶ hits (delay) ──┐
    ///                                                   │ miss                       ├─▶ reply network
    ///                              DRAM channel ◀───────┘                           │
    ///                              DRAM channel ─▶ fill: line, MSHR ─▶ answers ──────┘
    /// ```
    pub fn step(&mut self, cycle: u64, ctx: &mut Context) {
        let now = self.clock.at(cycle);
        self.arrive(cycle, now, ctx);
        self.fill(cycle, now, ctx);
        self.reply(now, ctx);
        self.send_results(now, ctx);
        self.serve(cycle, now, ctx);
        let sent = self.send_one(cycle, now, ctx);
        self.mshr_states.follow(&self.mshr, cycle, &mut ctx.side.mshrs);
        self.schedule(cycle, now, sent, ctx);
    }

    /// Takes at most one fill from DRAM, whether or not the last one is answered (GPGPU-Sim,
    /// memory_sub_partition::cache_cycle). Without a cache it waits for that: nothing holds it but
    /// its port.
    fn fill(&mut self, cycle: u64, now: Ticks, ctx: &mut Context) {
        if self.fill_free > cycle {
            return;
        }
        let Some(id) = ctx.fabric.ready(self.ports.fills, now) else { return };
        if ctx.requests.get(id).kind == RequestKind::Prefetch {
            self.fill_prefetch(id, now, ctx);
        } else if self.rules.cached {
            self.fill_waits = self.fill_line(id, now, ctx).is_err();
            if !self.fill_waits {
                self.fill_free = cycle + self.port_cycles(self.geometry.sector_bytes());
            }
        } else if self.answers.is_empty() {
            self.pass_back(id, now, ctx);
        }
    }

    /// Data from DRAM go into the cache and to all requests that wait for them.
    fn fill_line(
        &mut self,
        id: RequestId,
        now: Ticks,
        ctx: &mut Context,
    ) -> Result<(), ReservationFail> {
        let address = ctx.requests.get(id).address;
        let slot = self.fill_slot(id, address, now, ctx).inspect_err(|_| {
            ctx.fabric.wake_writer(self.ports.misses);
        })?;
        ctx.fabric.pop(self.ports.fills, now);
        let (sector, part) = (self.geometry.sector(address), self.geometry.sector_in_line(address));
        if let Some(slot) = slot {
            self.tags.fill(slot, part);
        }
        self.forget_merges(sector, now);
        let (first, count) = self.mshr.close(sector).expect("a fill answers a miss");
        self.result.mshr_merge_length.record(u64::from(count));
        self.answers.push(first);
        let mut next = first;
        while next != RequestId::NONE {
            let (this, kind) = (next, ctx.requests.get(next).kind);
            next = ctx.requests.next(this, CacheLevel::Llc);
            if let Some(slot) = slot.filter(|_| kind == RequestKind::Atomic) {
                self.tags.write(slot, part, ALL_BYTES, true);
            }
            if this != id {
                ctx.requests.share_fill(this, id);
            }
        }
        self.answers.skip_own_fetches(ctx.requests);
        Ok(())
    }

    /// The line of a fill, if it is to have one; an error while the dirty victim cannot leave.
    fn fill_slot(
        &mut self,
        id: RequestId,
        address: u64,
        now: Ticks,
        ctx: &mut Context,
    ) -> Result<Option<Slot>, ReservationFail> {
        let sector = self.geometry.sector(address);
        let kept = self.mshr.place(sector);
        let found = kept.or_else(|| self.tags.find(self.geometry.line(address)));
        if found.is_some() {
            return Ok(found);
        }
        let insertion = ctx.requests.get(id).insertion;
        if insertion == Insertion::Nowhere && !self.needs_line(sector, ctx) {
            return Ok(None);
        }
        match self.allocate(address, 0, now, ctx) {
            // All lines of its set wait for later fills: the results of its atomics go on to DRAM.
            Err(ReservationFail::LineAlloc) => {
                let sector = Request::of_slice(address, RequestKind::Write, self.index);
                self.pass_on(&sector, now, ctx).map(|()| None)
            }
            Ok(slot) if insertion == Insertion::Oldest => {
                self.tags.demote(slot);
                Ok(Some(slot))
            }
            slot => slot.map(Some),
        }
    }

    /// Hands replies to the network: one answer of a fill, and one hit whose latency is over. If
    /// there is room for one, `llc.reply_order` decides.
    fn reply(&mut self, now: Ticks, ctx: &mut Context) {
        match self.rules.reply_order {
            ReplyOrder::FillsFirst => {
                self.send_answer(now, ctx);
                self.send_hit(now, ctx);
            }
            ReplyOrder::HitsFirst => {
                self.send_hit(now, ctx);
                self.send_answer(now, ctx);
            }
        }
    }

    fn send_answer(&mut self, now: Ticks, ctx: &mut Context) {
        let Some(id) = self.answers.next() else { return };
        if ctx.fabric.room_or_wake(self.ports.replies) {
            self.answers.pop(ctx.requests);
            self.send_reply(id, now, ctx);
        }
    }

    fn send_hit(&mut self, now: Ticks, ctx: &mut Context) {
        let Some(id) = self.hits.ready(now) else { return };
        if ctx.fabric.room_or_wake(self.ports.replies) {
            self.hits.pop();
            self.send_reply(id, now, ctx);
        }
    }

    /// Puts a reply into the reply queue, which one a cycle leaves for the network (GPGPU-Sim,
    /// gpgpu_sim::cycle).
    fn send_reply(&mut self, id: RequestId, now: Ticks, ctx: &mut Context) {
        ctx.requests.stamps_mut(id).replied = now;
        let leaves = now.max(self.reply_free);
        self.reply_free = Ticks(leaves.0 + self.clock.period());
        ctx.fabric.push(self.ports.replies, id, leaves);
    }

    /// Serves the next request of the queue at the tags.
    fn serve(&mut self, cycle: u64, now: Ticks, ctx: &mut Context) {
        if self.queued == 0 || self.tags_free > cycle || !self.has_reply_room(ctx) {
            return;
        }
        if self.waits_for_dram(ctx) {
            self.wait(Wait::DramQueue, cycle, ctx);
            return;
        }
        let Some(id) = self.queue.next() else { return };
        let stamps = ctx.requests.stamps_mut(id);
        stamps.llc_served = now;
        let waited = now.since(stamps.llc_arrived);
        let field = ctx.requests.get(id).critical_field;
        self.port_busy = 1;
        match self.access(id, cycle, now, ctx) {
            Ok(()) => {
                self.tags_free = self.tags_free.max(cycle + self.port_busy);
                self.queue.pop();
                self.account.served(cycle, self.queued, field, waited);
                self.queued -= 1;
                self.blocked = self.blocked && self.queue.is_blocked();
                self.end_wait(cycle);
            }
            Err(reason) => self.wait(Wait::Fail(reason), cycle, ctx),
        }
    }

    /// Cycles in which so many bytes pass a port.
    pub(super) fn port_cycles(&self, bytes: u32) -> u64 {
        match self.rules.port_bytes {
            0 => 1,
            port => bytes.div_ceil(port).max(1).into(),
        }
    }

    /// No request is served at the tags of a cache, not even a miss, while replies have no room
    /// (GPGPU-Sim, memory_sub_partition::cache_cycle: `output_full`).
    fn has_reply_room(&self, ctx: &mut Context) -> bool {
        self.hits.len() <= self.rules.latency as usize
            && (!self.rules.cached || ctx.fabric.room_or_wake(self.ports.replies))
    }

    /// While the queue to DRAM is full nothing is served at the tags, not even a hit (GPGPU-Sim,
    /// memory_sub_partition::cache_cycle).
    fn waits_for_dram(&self, ctx: &Context) -> bool {
        self.room_below(ctx) <= self.entries_kept()
    }

    /// Entries on the way to DRAM reserved for what a request at the tags or a fill sends down.
    pub(super) fn entries_kept(&self) -> usize {
        self.miss_queue as usize
    }

    fn wait(&mut self, wait: Wait, cycle: u64, ctx: &mut Context) {
        self.end_wait(cycle);
        self.waiting = Some((wait, cycle));
        if matches!(wait, Wait::DramQueue | Wait::Fail(ReservationFail::MissQueueFull)) {
            ctx.fabric.wake_writer(self.ports.misses);
        }
    }

    fn end_wait(&mut self, cycle: u64) {
        let Some((wait, since)) = self.waiting.take() else { return };
        let cycles = match wait {
            Wait::DramQueue => &mut self.result.dram_queue_full_cycles,
            Wait::Fail(reason) => &mut self.result.cache.reservation_fails[reason as usize],
        };
        *cycles += cycle - since;
    }

    /// Sends one item from the miss queue to DRAM, or a report of merges instead; whether it did.
    fn send_one(&mut self, cycle: u64, now: Ticks, ctx: &mut Context) -> bool {
        let (mshr, geometry, index) = (&self.mshr, &self.geometry, self.index);
        let Some(path) = &mut self.path else { return false };
        if path.is_idle() || !ctx.fabric.room_or_wake(self.ports.misses) {
            return false;
        }
        let Some(item) = path.take(now, cycle) else { return false };
        let dram = ctx.fabric.clock(Domain::Dram);
        let (id, sent) = match item {
            Item::Dummy(entry) => {
                let address = ctx.requests.get(mshr.first(entry)).address;
                let dummy = Request::of_slice(address, RequestKind::Read, index);
                (ctx.requests.add(dummy, now), path.report(entry, now, dram))
            }
            Item::Request(id) => {
                let entry = mshr.find(geometry.sector(ctx.requests.get(id).address));
                let sent = match entry.filter(|&entry| path.opens(entry, id)) {
                    Some(entry) => path.report(entry, now, dram),
                    None => Sent { about: id, merges: 1, age: 0 },
                };
                (id, sent)
            }
        };
        if let Some(news) = &mut ctx.side.merges {
            news.push(index, sent);
        }
        ctx.fabric.push(self.ports.misses, id, Ticks(now.0 + self.clock.period()));
        true
    }

    /// The data of a sector are back.
    fn forget_merges(&mut self, sector: u64, now: Ticks) {
        if let Some(path) = &mut self.path
            && let Some(entry) = self.mshr.find(sector)
        {
            path.closed(entry, self.clock.cycle_of(now));
        }
    }

    /// Free entries for misses and dirty data.
    pub(super) fn room_below(&self, ctx: &Context) -> usize {
        let port = || ctx.fabric.room(self.ports.misses);
        self.path.as_ref().map_or_else(port, |path| path.room())
    }

    /// Asks for the next step. `sent`: the miss queue has one free entry more than the request at
    /// the tags found.
    fn schedule(&mut self, cycle: u64, now: Ticks, sent: bool, ctx: &mut Context) {
        let mut next = self.next_input(now, sent, ctx).min(self.next_reply(now, ctx));
        if self.queued > 0 && (self.waiting.is_none() || sent) && self.has_reply_room(ctx) {
            next = next.min(self.clock.at(self.tags_free));
        }
        if let Some(path) = &self.path
            && !path.is_idle()
            && ctx.fabric.room_or_wake(self.ports.misses)
        {
            next = now;
        }
        if next == Ticks::NEVER {
            return;
        }
        let soon = next <= self.clock.at(cycle + 1);
        let next = if soon { cycle + 1 } else { self.clock.cycle_from(next) };
        ctx.fabric.wake_cycle(self.unit, next);
    }

    /// When the slice can next take something from the network, the arrival delay or DRAM.
    fn next_input(&self, now: Ticks, sent: bool, ctx: &Context) -> Ticks {
        let mut next = Ticks::NEVER;
        if self.has_input_room() {
            next = ctx.fabric.head_ready(self.ports.requests);
        }
        // A request that is due and finds the queue full waits until another is served.
        let arrived = self.arriving.ready(now);
        if arrived.is_none_or(|id| self.queue.accepts(ctx.requests.get(id))) {
            next = next.min(self.arriving.due());
        }
        let fill = ctx.fabric.head_ready(self.ports.fills).max(self.clock.at(self.fill_free));
        let waits = self.fill_waits && !sent || !self.rules.cached && !self.answers.is_empty();
        if fill > now || !waits {
            next = next.min(fill);
        }
        next
    }

    /// When a reply can leave. One that waits for room is woken by it.
    fn next_reply(&self, now: Ticks, ctx: &mut Context) -> Ticks {
        let due = if self.answers.is_empty() { self.hits.due() } else { now };
        if due > now || ctx.fabric.room_or_wake(self.ports.replies) { due } else { Ticks::NEVER }
    }

    /// What was counted for the DRAM schedulers.
    pub fn counters(&self) -> Vec<Counter> {
        let merges = self.path.iter().flat_map(|path| path.counters());
        merges.chain(self.warps.iter().flat_map(|warps| warps.counters())).collect()
    }

    /// What the queue's policy counted.
    pub fn queue_counters(&self) -> Vec<Counter> {
        self.queue.counters()
    }

    /// What the slice did until LLC cycle `cycle`, where the run ended.
    pub fn finish(&mut self, cycle: u64) -> SliceResult {
        self.finish_prefetches();
        if self.rules.cached {
            self.result.mshr_cycles = self.mshr_states.finish(cycle);
        }
        let queue = self.account.finish(self.queue.rotations(), self.clock.period());
        SliceResult { queue, ..std::mem::take(&mut self.result) }
    }

    /// What accesses have found so far; cycles in which one waits are counted when that has ended.
    pub fn accesses(&self) -> &CacheCounts {
        &self.result.cache
    }

    /// For how long how many requests stood in the queue before LLC cycle `cycle`.
    pub fn queue_length(&self, cycle: u64) -> QueueLength {
        self.account.length_until(cycle, self.queued)
    }

    /// Whether nothing is queued or in flight.
    pub fn is_idle(&self) -> bool {
        self.arriving.is_empty()
            && self.queue.is_empty()
            && self.hits.is_empty()
            && self.answers.is_empty()
            && self.results.is_empty()
            && self.mshr.is_empty()
            && self.path.as_ref().is_none_or(|path| path.is_idle())
    }

    /// State for the deadlock report.
    pub fn describe(&self) -> String {
        format!(
            "slice {}: {} arriving, {} queued, {} misses outstanding, {} in the miss queue, {} hits on their way{}",
            self.index,
            self.arriving.len(),
            self.queue.len(),
            self.mshr.len(),
            self.path.as_ref().map_or(0, |path| path.len()) + self.results.len(),
            self.hits.len(),
            self.waiting.map(|(wait, _)| format!(", waits: {wait:?}")).unwrap_or_default(),
        )
    }
}

/// Ticks between two requests that the network hands over; without a limit of the slice, the
/// network's own.
fn arrival_period(machine: &Machine) -> u64 {
    let periods = machine.clocks.periods();
    match machine.llc.arrivals_per_cycle {
        0 => periods.network.min(periods.llc),
        most => (periods.llc / u64::from(most)).max(1),
    }
}
