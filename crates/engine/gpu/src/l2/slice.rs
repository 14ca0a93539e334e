//! One slice of the last-level cache: queue, tags, MSHRs, replies.

use super::arrival::Arrivals;
use super::mshr_states::MshrStates;
use super::prefetched::Prefetched;
use super::replies::Replies;
use super::resets::Resets;
use super::set_key::SetKey;
use super::to_dram::ToDram;
use super::twin::{Twin, TwinPorts};
use super::warp_types::WarpCounts;
use crate::context::Context;
use crate::results::{QueueLength, SliceResult};
use std::sync::Arc;
use warpmem_cache::{
    CacheCounts, Controller, FetchUse, Fill, ReservationFail, Room, ThroughMiss, WriteAllocate,
    WritePolicy,
};
use warpmem_machine::{self as machine, Machine};
use warpmem_params::{Counter, PolicyError};
use warpmem_sim::{
    CacheLevel, CachedLines, ChannelId, CoreClock, Domain, Insertion, L2Clock, L2Cycle, Needs,
    PortId, Request, RequestId, RequestKind, SliceId, Ticks, Twins, UnitId,
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
    pub(super) id: SliceId,
    /// The fill at the head of its port waits for room on the way to DRAM.
    fill_waits: bool,
    /// The port from the DRAM channel.
    pub(super) fills: PortId,
    pub(super) clock: L2Clock,
    unit: UnitId,
    pub(super) rules: Rules,
    /// The tags are taken until this cycle (atomics, data of several cycles), and the fill port.
    pub(super) tags_free: L2Cycle,
    pub(super) fill_free: L2Cycle,
    /// Cycles for which the request at the tags has the data port.
    pub(super) port_busy: u64,
    /// What the next request at the tags waits for, and since when.
    waiting: Option<(Wait, L2Cycle)>,
    pub(super) replies: Replies,
    pub(super) to_dram: ToDram,
    arrivals: Arrivals,
    pub(super) twin: Option<Box<Twin>>,
    pub(super) to_dram_ticks: u64,
    pub(super) cache: Controller,
    pub(super) resets: Resets,
    mshr_states: MshrStates,
    pub(super) prefetched: Prefetched,
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
    /// L2 cycles of an atomic at the tags, for each lane at one address.
    pub atomic_cycles: u32,
    pub port_bytes: u32,
    /// Lines of a set that are kept at most.
    pub most_kept: u32,
    /// Reads that stores make necessary carry the store's SM, so that merges are counted for that
    /// SM (GPGPU-Sim, `data_cache::wr_miss_wa_naive`).
    pub fetches_have_sm: bool,
}

/// How a slice differs from other caches.
fn cache_rules(config: &machine::Cache) -> warpmem_cache::Rules {
    let rules = warpmem_cache::Rules::new(config, FetchUse::Join, ThroughMiss::Pass);
    match config.write {
        // A store updates a line that it finds, and is sent on: as under write-through.
        WritePolicy::WriteEvict => {
            warpmem_cache::Rules { write: WritePolicy::WriteThrough, ..rules }
        }
        _ => rules,
    }
}

/// What the next request at the tags waits for.
#[derive(Clone, Copy, Debug)]
enum Wait {
    /// An entry of the queue to DRAM: nothing is looked up before there is one.
    DramQueue,
    /// An entry of the queue to the twin.
    Twin,
    /// It was looked up and could not be served.
    Fail(ReservationFail),
}

impl Slice {
    /// `core` is the clock of the latencies given in core cycles,
    /// `needs` what the DRAM schedulers ask for.
    pub fn new(
        machine: &Machine,
        id: SliceId,
        clock: L2Clock,
        core: CoreClock,
        ports: SlicePorts,
        needs: &Needs,
    ) -> Result<Slice, PolicyError> {
        let config = &machine.l2;
        Ok(Slice {
            id,
            fill_waits: false,
            fills: ports.fills,
            clock,
            unit: UnitId { domain: Domain::L2, index: id.0.into() },
            rules: Rules {
                cached: config.enabled,
                perfect: false,
                atomic_cycles: config.atomic_cycles,
                port_bytes: config.port_bytes,
                most_kept: config.kept_ways,
                fetches_have_sm: config.cache.write_allocate == WriteAllocate::SendAndFetch,
            },
            tags_free: L2Cycle::ZERO,
            fill_free: L2Cycle::ZERO,
            port_busy: 0,
            waiting: None,
            replies: Replies::new(config, ports.replies, clock),
            to_dram: ToDram::new(machine, id, ports.misses, clock, needs),
            arrivals: Arrivals::new(machine, ports.requests, core)?,
            twin: None,
            to_dram_ticks: u64::from(config.to_dram_latency) * core.period(),
            cache: Controller::new(CacheLevel::L2, &config.cache, cache_rules(&config.cache)),
            resets: Resets::new([].into()),
            mshr_states: MshrStates::new(),
            prefetched: Prefetched::default(),
            warps: needs.warp_types.map(|_| Box::default()),
            set_key: SetKey::new(machine),
            result: SliceResult::default(),
        })
    }

    /// The same slice with a cache of this latency in which every request hits, whether or not the
    /// machine has a cache.
    pub fn perfect(mut self, latency: u32) -> Slice {
        self.rules.perfect = true;
        self.replies.set_latency(latency);
        self
    }

    /// The same slice with a twin, with which it exchanges copies of lines through `ports`.
    pub fn with_twin(mut self, twins: Twins, ports: TwinPorts) -> Slice {
        self.replies.share_with(twins, self.id, ports.answers);
        let lines = self.cache.lines();
        self.twin = Some(Box::new(Twin::new(twins, self.id, ports, lines)));
        self
    }

    /// The same slice with resets of the lines that it keeps: before the kernels of these first CTAs.
    pub fn with_resets(mut self, first_ctas: Arc<[u32]>) -> Slice {
        self.resets = Resets::new(first_ctas);
        self
    }

    /// Keeps `lines`, the channel's list of lines that are cached here, up to date.
    pub fn note_lines(&mut self, lines: CachedLines, machine: &Machine) {
        let columns_per_line = machine.l2.cache.line_bytes / machine.dram.burst_bytes();
        let channel = ChannelId::new(self.id.index() / machine.l2.slices_per_channel as usize);
        self.prefetched.note_lines(channel, lines, columns_per_line);
    }

    /// This slice as the fabric knows it.
    pub fn unit(&self) -> UnitId {
        self.unit
    }

    /// One step at L2 cycle `cycle`: arrivals, a fill, a reply, a request at the tags.
    ///
    /// ```text
    ///  request network ─▶ arrivals ─▶ tags ── hit ──▶ replies ─▶ reply network
    ///                                  │ miss            ▲
    ///  DRAM channel ◀──── to_dram ◀────┘                 │
    ///  DRAM channel ─▶ fill: line, MSHR entry ───────────┘
    /// ```
    ///
    /// With a twin, its requests are served at the tags too, and its answers are fills as well.
    pub fn step(&mut self, cycle: L2Cycle, ctx: &mut Context) {
        let now = self.clock.at(cycle);
        self.arrivals.arrive(cycle, now, ctx);
        self.fill(cycle, now, ctx);
        if self.twin.is_some() {
            self.take_answer(cycle, now, ctx);
        }
        self.replies.send(now, ctx);
        self.to_dram.send_results(now, ctx);
        if self.tags_free <= cycle {
            if self.twin.is_some() {
                self.serve_in_turn(cycle, now, ctx);
            } else {
                self.serve(cycle, now, ctx);
            }
            self.replies.send_served(now, ctx);
        }
        let entered = self.arrivals.end_cycle(cycle, now, ctx);
        let sent = self.to_dram.send_one(&self.cache, cycle, now, ctx);
        self.mshr_states.follow(self.cache.mshr(), cycle, &mut ctx.side.mshr_changes);
        // What has entered may go before the request that waits.
        if entered && self.waiting.is_some() {
            ctx.fabric.wake_at(self.unit.index, cycle + 1);
        } else {
            self.schedule(cycle, now, sent, ctx);
        }
    }

    /// Takes at most one fill from DRAM, whether or not the last one is answered (GPGPU-Sim,
    /// memory_sub_partition::cache_cycle). Without a cache it waits for that: nothing holds it but
    /// its port.
    fn fill(&mut self, cycle: L2Cycle, now: Ticks, ctx: &mut Context) {
        if self.fill_free > cycle {
            return;
        }
        let Some(id) = ctx.fabric.ready(self.fills, now) else { return };
        if ctx.requests.get(id).kind == RequestKind::Prefetch {
            self.fill_prefetch(id, now, ctx);
        } else if self.rules.cached {
            self.fill_waits = self.fill_line(id, now, ctx).is_err();
            if !self.fill_waits {
                self.fill_free = cycle + self.port_cycles(self.cache.geometry().sector_bytes());
            }
        } else if !self.replies.has_unanswered_fills() {
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
        let fill = self.keep_or_pass(id, address, now, ctx).inspect_err(|_| {
            self.to_dram.wake_on_room(ctx);
        })?;
        self.take_line(fill.allocated, address, now, ctx);
        ctx.pop(self.fills, now);
        self.to_dram.forget_merges(fill.entry, now);
        self.result.mshr_merge_length.record(u64::from(fill.count));
        self.replies.fill(fill.first, now);
        let mut next = fill.first;
        while next != RequestId::NONE {
            let (this, kind) = (next, ctx.requests.get(next).kind);
            next = ctx.requests.next(this, CacheLevel::L2);
            if let Some(slot) = fill.slot.filter(|_| kind == RequestKind::Atomic) {
                self.cache.modify(slot, address);
            }
            if this != id {
                ctx.requests.share_fill(this, id);
            }
            self.note_copy(fill.slot, this, ctx);
        }
        self.replies.skip_own_fetches(ctx.requests);
        Ok(())
    }

    /// Fills the line of the data, if they are to have one; an error while the dirty victim cannot
    /// leave.
    fn keep_or_pass(
        &mut self,
        id: RequestId,
        address: u64,
        now: Ticks,
        ctx: &mut Context,
    ) -> Result<Fill, ReservationFail> {
        let &Request { insertion, place, .. } = ctx.requests.get(id);
        let insertion = match insertion {
            Insertion::Nowhere if self.needs_line(address, ctx) => Insertion::Newest,
            insertion => insertion,
        };
        let (room, set_key) = (self.room(ctx), &self.set_key);
        match self.cache.fill(address, insertion, room, |_| set_key.of(place)) {
            // All lines of its set wait for later fills: the results of its atomics go on to DRAM.
            Err(ReservationFail::LineAlloc) if room.queue == 0 => {
                Err(ReservationFail::MissQueueFull)
            }
            Err(ReservationFail::LineAlloc) => {
                self.to_dram.write(address, 1, now, ctx);
                Ok(self.cache.fill_nothing(address))
            }
            fill => fill.inspect(|_| self.place_line(address, insertion)),
        }
    }

    /// Whether something that waits for the sector at `address` needs a line for it: an atomic.
    fn needs_line(&self, address: u64, ctx: &Context) -> bool {
        let entry = self.cache.outstanding(address);
        let mut next = entry.map_or(RequestId::NONE, |entry| self.cache.mshr().first(entry));
        while next != RequestId::NONE {
            if ctx.requests.get(next).kind == RequestKind::Atomic {
                return true;
            }
            next = ctx.requests.next(next, CacheLevel::L2);
        }
        false
    }

    /// What is free for a request at the tags, or a fill. Fills that are not answered in full hold
    /// their MSHR entries (GPGPU-Sim, mshr_table::next_access).
    pub(super) fn room(&self, ctx: &Context) -> Room {
        Room {
            queue: self.to_dram.room(ctx),
            held_mshrs: self.replies.unanswered_fills(),
            read_reserve: 0,
        }
    }

    /// Serves the next request of the queue at the tags, which are free; whether it did.
    #[inline]
    pub(super) fn serve(&mut self, cycle: L2Cycle, now: Ticks, ctx: &mut Context) -> bool {
        if !self.arrivals.has_queued() || !self.has_reply_room(ctx) {
            return false;
        }
        // While the queue to DRAM is full nothing is served, not even a hit (GPGPU-Sim,
        // memory_sub_partition::cache_cycle).
        let room = self.room(ctx);
        if room.queue <= self.to_dram.reserved() {
            self.wait(Wait::DramQueue, cycle, ctx);
            return false;
        }
        let Some(id) = self.arrivals.next() else { return false };
        if !self.has_twin_room(id, ctx) {
            self.wait(Wait::Twin, cycle, ctx);
            return false;
        }
        let stamps = ctx.requests.stamps_mut(id);
        stamps.l2_served = now;
        let waited = now.since(stamps.l2_arrived);
        let field = ctx.requests.get(id).critical_field;
        self.port_busy = 1;
        match self.access(id, room, cycle, now, ctx) {
            Ok(()) => {
                self.tags_free = self.tags_free.max(cycle + self.port_busy);
                self.arrivals.pop(cycle, field, waited);
                self.end_wait(cycle);
            }
            Err(reason) => {
                self.wait(Wait::Fail(reason), cycle, ctx);
                return false;
            }
        }
        true
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
        self.replies.has_hit_room() && (!self.rules.cached || self.replies.has_port_room(ctx))
    }

    fn wait(&mut self, wait: Wait, cycle: L2Cycle, ctx: &mut Context) {
        self.end_wait(cycle);
        self.waiting = Some((wait, cycle));
        if matches!(wait, Wait::DramQueue | Wait::Fail(ReservationFail::MissQueueFull)) {
            self.to_dram.wake_on_room(ctx);
        }
    }

    fn end_wait(&mut self, cycle: L2Cycle) {
        let Some((wait, since)) = self.waiting.take() else { return };
        let cycles = match wait {
            Wait::DramQueue => &mut self.result.dram_queue_full_cycles,
            Wait::Twin => {
                &mut self.twin.as_mut().expect("it waits for its twin").counts.full_cycles
            }
            Wait::Fail(reason) => &mut self.cache.counts.reservation_fails[reason as usize],
        };
        *cycles += cycle.since(since);
    }

    /// Asks for the next step. `sent`: the miss queue has one free entry more than the request at
    /// the tags found.
    fn schedule(&mut self, cycle: L2Cycle, now: Ticks, sent: bool, ctx: &mut Context) {
        let soon = self.clock.at(cycle + 1);
        let mut next = self.next_input(now, sent, ctx);
        // Whatever has something to do in the next cycle decides: the rest is not asked.
        if next > soon {
            next = next.min(self.replies.next_time(now, ctx));
        }
        if next > soon && self.may_serve(sent, ctx) {
            next = next.min(self.clock.at(self.tags_free));
        }
        if next > soon && self.to_dram.can_send_one(ctx) {
            next = soon;
        }
        if next > soon && self.twin.is_some() {
            next = next.min(self.next_of_twin(now, sent, ctx));
        }
        if next == Ticks::NEVER {
            return;
        }
        let next = if next <= soon { cycle + 1 } else { self.clock.cycle_from(next) };
        ctx.fabric.wake_at(self.unit.index, next);
    }

    /// Whether the next request at the tags lacks nothing but the tags, as far as is known.
    fn may_serve(&self, sent: bool, ctx: &mut Context) -> bool {
        let lacks_nothing = self.waiting.is_none() || sent || self.own_is_due();
        self.arrivals.has_queued() && lacks_nothing && self.has_reply_room(ctx)
    }

    /// When the slice can next take something from the network, the arrival delay or DRAM.
    fn next_input(&self, now: Ticks, sent: bool, ctx: &Context) -> Ticks {
        let mut next = self.arrivals.next_time(now, ctx);
        let fill = ctx.fabric.head_ready(self.fills).max(self.clock.at(self.fill_free));
        let waits =
            self.fill_waits && !sent || !self.rules.cached && self.replies.has_unanswered_fills();
        if fill > now || !waits {
            next = next.min(fill);
        }
        next
    }

    /// What was counted for the DRAM schedulers.
    pub fn counters(&self) -> Vec<Counter> {
        self.to_dram
            .counters()
            .chain(self.warps.iter().flat_map(|warps| warps.counters()))
            .collect()
    }

    /// What was counted of copies of lines.
    pub fn copy_counters(&self) -> Vec<Counter> {
        self.twin.iter().flat_map(|twin| twin.counters()).collect()
    }

    /// What the queue's policy counted.
    pub fn queue_counters(&self) -> Vec<Counter> {
        self.arrivals.counters()
    }

    /// What the slice has done before L2 cycle `cycle`; cycles in which an access waits when that
    /// has ended.
    pub fn so_far(&self, cycle: L2Cycle) -> SliceResult {
        let mut result = SliceResult {
            cache: self.cache.counts.clone(),
            queue: self.arrivals.so_far(cycle, self.clock.period()),
            prefetches: self.prefetched.counts().clone(),
            ..self.result.clone()
        };
        if self.rules.cached {
            result.mshr_cycles = self.mshr_states.so_far(cycle);
        }
        result
    }

    /// Whether it has a cache.
    pub fn is_cached(&self) -> bool {
        self.rules.cached
    }

    /// The run has ended: prefetched lines that nothing has found are unused.
    pub fn end_prefetches(&mut self) {
        self.prefetched.end();
    }

    /// What accesses have found so far; cycles in which one waits are counted when that has ended.
    pub fn accesses(&self) -> &CacheCounts {
        &self.cache.counts
    }

    /// For how long how many requests stood in the queue before L2 cycle `cycle`.
    pub fn queue_length(&self, cycle: L2Cycle) -> QueueLength {
        self.arrivals.length_until(cycle)
    }

    /// Whether nothing is queued or in flight.
    pub fn is_idle(&self) -> bool {
        self.arrivals.is_empty()
            && self.replies.is_empty()
            && self.to_dram.is_idle()
            && self.cache.mshr().is_empty()
    }

    /// State for the deadlock report.
    pub fn describe(&self) -> String {
        let (arriving, queued) = self.arrivals.lengths();
        format!(
            "slice {}: {} arriving, {} queued, {} misses outstanding, {} in the miss queue, {} hits on their way{}",
            self.id,
            arriving,
            queued,
            self.cache.mshr().len(),
            self.to_dram.len(),
            self.replies.hits(),
            self.waiting.map(|(wait, _)| format!(", waits: {wait:?}")).unwrap_or_default(),
        )
    }
}
