//! One slice of the last-level cache: queue, tags, MSHRs, replies.

use super::arrival::Arrivals;
use super::fill_port::FillPort;
use super::mshr_states::MshrStates;
use super::peer_port::PeerPort;
use super::prefetched::Prefetched;
use super::queue::L2Queue;
use super::replies::Replies;
use super::resets::Resets;
use super::spec::{Spec, cache_rules};
use super::tag_stage::{TagStage, Wait};
use super::to_dram::ToDram;
use super::walk_bypass::WalkBypass;
use super::warp_types::WarpCounts;
use crate::context::Context;
use crate::ports::{DuplexPorts, SlicePorts};
use crate::results::{QueueLength, SliceResult};
use std::sync::Arc;
use warpmem_cache::{CacheController, CacheCounts, ReservationFail, Room};
use warpmem_machine::Machine;
use warpmem_params::Counter;
use warpmem_sim::{
    CacheLevel, CachedLines, ChannelId, CoreClock, L2Clock, L2Cycle, Needs, PeerSlices, SliceId,
    Ticks, UnitId,
};

/// A slice. It owns its cache and the stages around it; ports and requests belong to the region. The
/// fields that every step reads come first, because the slices of a machine exceed the host's L1.
#[repr(C)]
pub struct Slice {
    pub(super) spec: Spec,
    pub(super) fill: FillPort,
    pub(super) tags: TagStage,
    pub(super) replies: Replies,
    pub(super) to_dram: ToDram,
    arrivals: Arrivals,
    /// The slice has a cache, and its misses go directly to the port to the channel.
    is_plain: bool,
    /// Present where slices keep copies of remote lines (`l2.copies`).
    pub(super) peer: Option<Box<PeerPort>>,
    pub(super) cache: CacheController,
    pub(super) resets: Resets,
    mshr_states: MshrStates,
    pub(super) prefetched: Prefetched,
    /// Present where the DRAM scheduler distinguishes warps by their L2 hit rate.
    pub(super) warps: Option<Box<WarpCounts>>,
    /// Present under `vm.walk.l2_bypass`.
    pub(super) walk_bypass: Option<Box<WalkBypass>>,
    pub(super) result: SliceResult,
}

impl Slice {
    /// `core` is the clock of the latencies given in core cycles, `needs` the information that the
    /// DRAM schedulers require.
    pub fn new(
        machine: &Machine,
        id: SliceId,
        clock: L2Clock,
        core: CoreClock,
        ports: SlicePorts,
        queue: Box<dyn L2Queue>,
        needs: &Needs,
    ) -> Slice {
        let config = &machine.l2;
        let to_dram = ToDram::new(machine, id, ports.misses, clock, needs);
        Slice {
            spec: Spec::new(machine, id, clock, core),
            fill: FillPort::new(ports.fills),
            tags: TagStage::new(),
            replies: Replies::new(machine, &ports, clock),
            is_plain: config.enabled && !to_dram.follows_merges(),
            to_dram,
            arrivals: Arrivals::new(machine, &ports, core, queue),
            peer: None,
            cache: CacheController::new(CacheLevel::L2, &config.cache, cache_rules(&config.cache))
                .with_dirty_ways(config.dirty_ways),
            resets: Resets::new([].into()),
            mshr_states: MshrStates::new(),
            prefetched: Prefetched::default(),
            warps: needs.warp_types.map(|_| Box::default()),
            walk_bypass: machine.vm.walk.l2_bypass.then(Box::default),
            result: SliceResult::default(),
        }
    }

    /// Makes every request hit after `latency` L2 cycles, whether or not the machine has a cache.
    pub fn perfect(mut self, latency: u32) -> Slice {
        self.spec.perfect = true;
        self.replies.set_latency(latency);
        self
    }

    /// Connects the slice to its peer slice, for copies of remote lines.
    pub fn with_peer(mut self, peers: PeerSlices, ports: DuplexPorts) -> Slice {
        self.replies.connect_peer(peers, self.spec.id, ports.replies_out);
        let lines = self.cache.lines();
        self.peer = Some(Box::new(PeerPort::new(peers, self.spec.id, ports, lines)));
        self
    }

    /// Resets `evict_last` lines, or the whole cache under `run.cold_launches`, before the kernels
    /// that begin with these CTAs.
    pub fn with_resets(mut self, first_ctas: Arc<[u32]>) -> Slice {
        self.resets = Resets::new(first_ctas);
        self
    }

    /// Keeps `lines`, the channel's list of lines that are cached here, up to date.
    pub fn note_lines(&mut self, lines: CachedLines, machine: &Machine) {
        let columns_per_line = machine.l2.cache.line_bytes / machine.dram.burst_bytes();
        let slices_per_channel = machine.l2.slices_per_channel as usize;
        let channel = ChannelId::new(self.spec.id.index() / slices_per_channel);
        self.prefetched.note_lines(channel, lines, columns_per_line);
    }

    /// Returns the slice's unit in the fabric.
    pub fn unit(&self) -> UnitId {
        self.spec.unit
    }

    /// Executes L2 cycle `cycle`: arrivals, a fill, a reply, a request at the tags.
    ///
    /// ```text
    ///  request network ─▶ arrivals ─▶ tags ── hit ──▶ replies ─▶ reply network
    ///                                  │ miss            ▲
    ///  DRAM channel ◀──── to_dram ◀────┘                 │
    ///  DRAM channel ─▶ fill: line, MSHR entry ───────────┘
    /// ```
    ///
    /// Requests of the peer slice are served at the tags too, and its replies are fills.
    pub fn step(&mut self, cycle: L2Cycle, ctx: &mut Context) {
        let now = self.spec.clock.at(cycle);
        self.arrivals.arrive(&self.cache, cycle, now, ctx);
        if self.fill.free <= cycle && ctx.fabric.head_ready(self.fill.port) <= now {
            self.fill(cycle, now, ctx);
        }
        if let Some(peer) = &self.peer
            && ctx.fabric.head_ready(peer.ports.replies_in) <= now
        {
            self.take_peer_reply(cycle, now, ctx);
        }
        self.replies.send(now, ctx);
        if !self.is_plain {
            self.to_dram.send_results(now, ctx);
        }
        if self.tags.free() <= cycle {
            if self.peer.is_some() {
                if self.arrivals.has_queued() || self.has_peer_request(now, ctx) {
                    self.serve_alternately(cycle, now, ctx);
                }
            } else if self.arrivals.has_queued() {
                self.serve(cycle, now, ctx);
            }
            self.replies.send_served(now, ctx);
        }
        let entered = self.arrivals.end_cycle(&self.cache, cycle, now, ctx);
        let sent = !self.is_plain && self.to_dram.send_one(&self.cache, cycle, now, ctx);
        self.mshr_states.follow(self.cache.mshr(), cycle, &mut ctx.side.mshr_changes);
        // A request that has just entered the queue may overtake the one that waits.
        if entered && self.tags.is_waiting() {
            ctx.fabric.wake_at(self.spec.unit.index, cycle + 1);
        } else {
            self.schedule(cycle, now, sent, ctx);
        }
    }

    /// Returns the room for a request at the tags, or a fill. Fills that are not answered in full hold
    /// their MSHR entries (GPGPU-Sim, `mshr_table::next_access`).
    pub(super) fn room(&self, ctx: &Context) -> Room {
        Room {
            queue: self.to_dram.room(ctx),
            held_mshrs: self.replies.unanswered_fills(),
            read_reserve: 0,
        }
    }

    /// Serves the next request of the queue at the tags, which must be free. Returns whether it was
    /// served.
    #[inline]
    pub(super) fn serve(&mut self, cycle: L2Cycle, now: Ticks, ctx: &mut Context) -> bool {
        if !self.arrivals.has_queued() || !self.has_reply_room(ctx) {
            return false;
        }
        // A full queue to DRAM stalls everything, hits included (GPGPU-Sim,
        // `memory_sub_partition::cache_cycle`).
        let room = self.room(ctx);
        if room.queue <= self.to_dram.reserved() {
            self.wait(Wait::DramQueue, cycle, ctx);
            return false;
        }
        let Some(id) = self.arrivals.next() else { return false };
        if !self.has_peer_room(id, ctx) {
            self.wait(Wait::PeerQueue, cycle, ctx);
            return false;
        }
        let stamps = ctx.requests.stamps_mut(id);
        stamps.l2_served = now;
        let waited = now.since(stamps.l2_arrived);
        let field = ctx.requests.get(id).critical_field;
        self.tags.begin();
        match self.access(id, room, cycle, now, ctx) {
            Ok(()) => {
                self.tags.finish(cycle);
                self.arrivals.pop(cycle, field, waited);
                self.prefetch_next(ctx);
                self.end_wait(cycle);
            }
            Err(reason) => {
                self.wait(Wait::Fail(reason), cycle, ctx);
                return false;
            }
        }
        true
    }

    /// Prefetches what the next accesses read into the host's caches: the line of the request now
    /// first in the queue, the place of the second in the tags, the row of the third.
    #[inline]
    fn prefetch_next(&self, ctx: &Context) {
        let [first, second, third] = [0, 1, 2].map(|place| self.arrivals.peek(place));
        if let Some(first) = first {
            let (request, set_key) = (ctx.requests.get(first), &self.spec.set_key);
            self.cache.will_be_used(request.address, |_| set_key.of(request.place));
        }
        if let Some(second) = second {
            self.cache.will_be_looked_up(ctx.requests.get(second).address);
        }
        if let Some(third) = third {
            ctx.requests.will_be_read(third);
        }
    }

    /// Returns whether replies have room. Without it no request is served at the tags of a cache, not
    /// even a miss (GPGPU-Sim, `memory_sub_partition::cache_cycle`: `output_full`).
    fn has_reply_room(&self, ctx: &mut Context) -> bool {
        self.replies.has_hit_room() && (!self.spec.cached || self.replies.has_port_room(ctx))
    }

    fn wait(&mut self, wait: Wait, cycle: L2Cycle, ctx: &mut Context) {
        self.end_wait(cycle);
        self.tags.wait(wait, cycle);
        if matches!(wait, Wait::DramQueue | Wait::Fail(ReservationFail::MissQueueFull)) {
            self.to_dram.wake_on_room(ctx);
        }
    }

    /// Ends the wait at the tags, if there is one, and counts its cycles.
    fn end_wait(&mut self, cycle: L2Cycle) {
        let Some((wait, since)) = self.tags.take_wait() else { return };
        let cycles = match wait {
            Wait::DramQueue => &mut self.result.dram_queue_full_cycles,
            Wait::PeerQueue => {
                let peer = self.peer.as_mut().expect("only a slice with a peer waits for it");
                &mut peer.counts.full_cycles
            }
            Wait::Fail(reason) => &mut self.cache.counts.reservation_fails[reason as usize],
        };
        *cycles += cycle.since(since);
    }

    /// Schedules the next step. `sent`: the miss queue has one free entry more than the request at
    /// the tags found.
    fn schedule(&mut self, cycle: L2Cycle, now: Ticks, sent: bool, ctx: &mut Context) {
        let clock = self.spec.clock;
        if self.serves_next(cycle, ctx) {
            return ctx.fabric.wake_at(self.spec.unit.index, cycle + 1);
        }
        let soon = clock.at(cycle + 1);
        let mut next = self.next_input(now, sent, ctx);
        // Once something is due in the next cycle, the remaining checks are skipped.
        if next > soon {
            next = next.min(self.replies.next_time(now, ctx));
        }
        if next > soon && self.may_serve(sent, ctx) {
            next = next.min(clock.at(self.tags.free()));
        }
        if next > soon && self.to_dram.can_send_one(ctx) {
            next = soon;
        }
        if next > soon && self.peer.is_some() {
            next = next.min(self.next_from_peer(now, sent, ctx));
        }
        if next == Ticks::NEVER {
            return;
        }
        let next = if next <= soon { cycle + 1 } else { clock.cycle_from(next) };
        ctx.fabric.wake_at(self.spec.unit.index, next);
    }

    /// Returns whether the tags may serve the next request in the cycle after `cycle`. Changes
    /// nothing, unlike [`Slice::may_serve`], which is true then too.
    #[inline]
    fn serves_next(&self, cycle: L2Cycle, ctx: &Context) -> bool {
        self.arrivals.has_queued()
            && !self.tags.is_waiting()
            && self.tags.free() <= cycle + 1
            && self.replies.has_hit_room()
            && self.replies.port_has_room(ctx)
    }

    /// Returns whether the next request lacks nothing but free tags, as far as is known.
    fn may_serve(&self, sent: bool, ctx: &mut Context) -> bool {
        let lacks_nothing = !self.tags.is_waiting() || sent || self.retries_own();
        self.arrivals.has_queued() && lacks_nothing && self.has_reply_room(ctx)
    }

    /// Returns when the slice can next take something from the network, the arrival delay or DRAM.
    fn next_input(&self, now: Ticks, sent: bool, ctx: &Context) -> Ticks {
        let mut next = self.arrivals.next_time(now, ctx);
        let port = &self.fill;
        let fill = ctx.fabric.head_ready(port.port).max(self.spec.clock.at(port.free));
        let waits =
            port.blocked && !sent || !self.spec.cached && self.replies.has_unanswered_fills();
        if fill > now || !waits {
            next = next.min(fill);
        }
        next
    }

    /// Returns the counters kept for the DRAM schedulers.
    pub fn counters(&self) -> Vec<Counter> {
        self.to_dram
            .counters()
            .chain(self.warps.iter().flat_map(|warps| warps.counters()))
            .collect()
    }

    /// Returns the counters of copies of remote lines.
    pub fn copy_counters(&self) -> Vec<Counter> {
        self.peer.iter().flat_map(|peer| peer.counters()).collect()
    }

    /// Returns the counters of cold launches.
    pub fn cold_launch_counters(&self) -> Option<Counter> {
        let value = self.resets.dirty_sectors;
        self.spec.cold_launches.then_some(Counter { name: "dirty_sectors_flushed", value })
    }

    /// Returns the counters of the queue policy.
    pub fn queue_counters(&self) -> Vec<Counter> {
        self.arrivals.counters()
    }

    /// Returns the counts up to L2 cycle `cycle`, exclusive. Cycles of a wait at the tags are counted
    /// when the wait ends.
    pub fn so_far(&self, cycle: L2Cycle) -> SliceResult {
        let mut result = SliceResult {
            cache: self.cache.counts.clone(),
            queue: self.arrivals.so_far(cycle, self.spec.clock.period()),
            prefetches: self.prefetched.counts().clone(),
            ..self.result.clone()
        };
        if self.spec.cached {
            result.mshr_cycles = self.mshr_states.so_far(cycle);
        }
        result
    }

    /// Returns whether the slice has a cache.
    pub fn is_cached(&self) -> bool {
        self.spec.cached
    }

    /// Counts the prefetched lines that no request used. Called when the run has ended.
    pub fn end_prefetches(&mut self) {
        self.prefetched.end();
    }

    /// Returns the counts of the cache. Cycles of a wait at the tags are counted when it ends.
    pub fn accesses(&self) -> &CacheCounts {
        &self.cache.counts
    }

    /// Returns the occupancy of the queue up to L2 cycle `cycle`, exclusive.
    pub fn queue_length(&self, cycle: L2Cycle) -> QueueLength {
        self.arrivals.length_until(cycle)
    }

    /// Returns whether nothing is queued or in flight.
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
            "slice {}: {} arriving, {} queued, {} misses outstanding, {} in the miss queue, {} hits in flight{}",
            self.spec.id,
            arriving,
            queued,
            self.cache.mshr().len(),
            self.to_dram.len(),
            self.replies.hits(),
            self.tags.describe(),
        )
    }
}
