//! Copies of far lines: what a slice and its twin in the other partition ask of each other.
//!
//! An SM asks the slices of its own partition only. Of a line that is at home in the other one, it asks
//! the twin of its home, which keeps a copy: the home is asked once, and the SMs of the partition read
//! the copy from then on. Stores and atomics pass the twin and are carried out at home. A copy that one
//! of them changes is dropped, wherever the copy is.
//!
//! ```text
//!  SM ─▶ tags of the twin ── copy ──▶ SM
//!              │ none               ▲
//!              ▼ asks       answers │
//!            tags at home ──────────┘      stores, atomics: pass the twin, and the answer passes it too
//!              │ miss         ▲
//!              ▼    DRAM      │
//! ```
//!
//! A request that was served at the twin's tags has a queue of its own here, so that two slices whose
//! queues are full of requests for each other do not wait for ever: what came from the twin needs DRAM
//! and the way back only.

use super::slice::Slice;
use crate::context::Context;
use warpmem_cache::{Fill, Miss, ReservationFail, Room, Slot};
use warpmem_params::Counter;
use warpmem_sim::{
    CacheLevel, L2Cycle, Location, PortId, Request, RequestId, RequestKind, SliceId, Ticks, Twins,
    bits,
};

/// Where the ports between a slice and its twin lead.
#[derive(Clone, Copy, Debug)]
pub struct TwinPorts {
    /// To the twin: requests for its lines.
    pub asks: PortId,
    /// From the twin: requests for lines of this slice.
    pub asked: PortId,
    /// To the twin: answers.
    pub answers: PortId,
    /// From the twin: answers.
    pub answered: PortId,
}

/// What a slice keeps of its twin.
pub(super) struct Twin {
    twins: Twins,
    own: SliceId,
    ports: TwinPorts,
    /// The tags served a request of the twin last.
    was_served: bool,
    /// The request at the head of its port could not be served, and nothing has changed since.
    waits: bool,
    /// The slice's own request was not tried since the tags served one of the twin.
    own_is_due: bool,
    /// The answer at the head of its port waits for room on the way to DRAM.
    answer_waits: bool,
    /// Slots of lines of which the twin may have a copy, one bit each.
    copied: Vec<u64>,
    /// Sectors on their way from the twin that a store has overtaken: they are not kept.
    stale: Vec<u64>,
    pub counts: Counts,
}

#[derive(Default)]
pub(super) struct Counts {
    hits: u64,
    misses: u64,
    dropped: u64,
    invalidations: u64,
    pub full_cycles: u64,
}

impl Twin {
    /// Of slice `own`, which holds so many lines.
    pub fn new(twins: Twins, own: SliceId, ports: TwinPorts, lines: usize) -> Twin {
        Twin {
            twins,
            own,
            ports,
            was_served: false,
            waits: false,
            own_is_due: false,
            answer_waits: false,
            copied: vec![0; lines.div_ceil(bits::WORD)],
            stale: Vec::new(),
            counts: Counts::default(),
        }
    }

    /// Whether a line is at home in the twin.
    #[inline]
    fn is_far(&self, place: Location) -> bool {
        !self.twins.is_at_home(self.own, place.channel)
    }

    /// Whether the twin may have a copy of the line in `slot`; it has none from now on.
    fn take_copied(&mut self, slot: Slot) -> bool {
        let was_copied = bits::contains(&self.copied, slot.index());
        bits::remove(&mut self.copied, slot.index());
        was_copied
    }

    /// What was counted.
    pub fn counters(&self) -> [Counter; 5] {
        let Counts { hits, misses, dropped, invalidations, full_cycles } = self.counts;
        let counter = |name, value| Counter { name, value };
        [
            counter("copy_hits", hits),
            counter("copy_misses", misses),
            counter("copies_dropped", dropped),
            counter("invalidations_sent", invalidations),
            counter("twin_queue_full_cycles", full_cycles),
        ]
    }
}

/// What a slice does for the SMs of its own partition.
impl Slice {
    /// Whether a line that is at `place` is at home in the twin.
    #[inline]
    pub(super) fn is_far(&self, place: Location) -> bool {
        self.twin.as_ref().is_some_and(|twin| twin.is_far(place))
    }

    /// Whether what this request may need of the twin has room; where not, the slice is woken when it
    /// has.
    pub(super) fn has_twin_room(&self, id: RequestId, ctx: &mut Context) -> bool {
        let Some(twin) = &self.twin else { return true };
        !twin.is_far(ctx.requests.get(id).place) || ctx.fabric.room_or_wake(twin.ports.asks)
    }

    /// What is free for a read of a far line. Half of the MSHR entries are kept for lines that are at
    /// home here: if those of both twins waited for each other, none would ever be free. For the same
    /// reason no line is reserved for a copy before its data come.
    pub(super) fn room_for_copy(&self, room: Room) -> Room {
        let kept = (self.cache.mshr().len() + self.cache.mshr().free()).div_ceil(2);
        Room { held_mshrs: room.held_mshrs + kept, ..room }
    }

    /// A copy is here.
    pub(super) fn count_copy_hit(&mut self, request: &Request) {
        if let Some(twin) = self.twin.as_mut().filter(|twin| twin.is_far(request.place)) {
            twin.counts.hits += 1;
        }
    }

    /// Asks the twin for a sector of which there is no copy here.
    pub(super) fn ask_twin(&mut self, id: RequestId, miss: Miss, now: Ticks, ctx: &mut Context) {
        self.cache.open(miss, id, ctx.requests);
        let (request, stamps) = (*ctx.requests.get(id), *ctx.requests.stamps(id));
        let twin = self.twin.as_mut().expect("the line is far");
        twin.counts.misses += 1;
        let place = Location { slice: twin.twins.twin(twin.own), ..request.place };
        let blank = Request::of_slice(request.address, request.kind, place);
        let ask = Request { place, next: blank.next, ..request };
        let ask = ctx.requests.add(ask, stamps.created);
        ctx.fabric.push(twin.ports.asks, ask, Ticks(now.0 + self.clock.period()));
    }

    /// Passes a store or an atomic on to the home of its line.
    pub(super) fn pass_to_twin(
        &mut self,
        id: RequestId,
        request: &Request,
        now: Ticks,
        ctx: &mut Context,
    ) {
        self.drop_copies(request.address, request.sectors);
        let twin = self.twin.as_mut().expect("the line is far");
        ctx.requests.get_mut(id).place.slice = twin.twins.twin(twin.own);
        ctx.fabric.push(twin.ports.asks, id, Ticks(now.0 + self.clock.period()));
    }

    /// Copies of these sectors are no longer what the twin has.
    fn drop_copies(&mut self, address: u64, sectors: u8) {
        let sector_bytes = u64::from(self.cache.geometry().sector_bytes());
        let twin = self.twin.as_mut().expect("only copies are dropped");
        for sector in bits::members(&[sectors.into()]) {
            let address = address + sector as u64 * sector_bytes;
            if self.cache.outstanding(address).is_some() {
                twin.stale.push(address);
            }
            twin.counts.dropped += u64::from(self.cache.drop_sector(address));
        }
    }

    /// Takes at most one answer from the twin.
    #[inline(never)]
    pub(super) fn take_answer(&mut self, cycle: L2Cycle, now: Ticks, ctx: &mut Context) {
        let Some(twin) = &self.twin else { return };
        let (own, port) = (twin.own, twin.ports.answered);
        let Some(id) = ctx.fabric.ready(port, now) else { return };
        let request = *ctx.requests.get(id);
        match request.kind {
            RequestKind::Read | RequestKind::Fetch | RequestKind::Prefetch => {
                if self.fill_free <= cycle {
                    let waits = self.fill_copy(id, &request, port, cycle, now, ctx).is_err();
                    self.twin.as_mut().expect("it has answered").answer_waits = waits;
                }
            }
            RequestKind::Message => unreachable!("it goes to an SM"),
            RequestKind::Invalidate => {
                ctx.fabric.pop(port, now);
                self.drop_copies(request.address, request.sectors);
                ctx.requests.remove(id);
            }
            RequestKind::Write | RequestKind::Writeback | RequestKind::Atomic => {
                // Not in the latency of hits, where it could wait behind an answer to the twin.
                if self.replies.has_port_room(ctx) {
                    ctx.fabric.pop(port, now);
                    ctx.requests.get_mut(id).place.slice = own;
                    self.replies.pass_on(id, now, ctx);
                }
            }
        }
    }

    /// A sector has come from the twin: it is kept and answers all that wait for it.
    fn fill_copy(
        &mut self,
        id: RequestId,
        request: &Request,
        port: PortId,
        cycle: L2Cycle,
        now: Ticks,
        ctx: &mut Context,
    ) -> Result<(), ReservationFail> {
        let address = request.address;
        let (room, set_key) = (self.room(ctx), &self.set_key);
        let fill = self.cache.fill(address, request.insertion, room, |_| set_key.of(request.place));
        let fill = match fill {
            // All lines of its set wait for fills from DRAM.
            Err(ReservationFail::LineAlloc) => self.cache.fill_nothing(address),
            fill => fill.inspect_err(|_| self.to_dram.wake_on_room(ctx))?,
        };
        ctx.fabric.pop(port, now);
        self.take_line(fill.allocated, address, now, ctx);
        self.place_line(address, request.insertion);
        self.answer_from_twin(&fill, id, now, ctx);
        let stale = &mut self.twin.as_mut().expect("it has answered").stale;
        if stale.contains(&address) {
            stale.retain(|&other| other != address);
            self.cache.drop_sector(address);
        }
        ctx.requests.remove(id);
        self.fill_free = cycle + self.port_cycles(self.cache.geometry().sector_bytes());
        Ok(())
    }

    /// The requests that waited for a sector are answered as `first` was at home.
    fn answer_from_twin(&mut self, fill: &Fill, first: RequestId, now: Ticks, ctx: &mut Context) {
        let offchip = ctx.requests.get(first).offchip;
        self.result.mshr_merge_length.record(u64::from(fill.count));
        self.replies.fill(fill.first, now);
        let mut next = fill.first;
        while next != RequestId::NONE {
            let this = next;
            next = ctx.requests.next(this, CacheLevel::L2);
            ctx.requests.get_mut(this).offchip = offchip;
            if offchip {
                ctx.requests.share_fill(this, first);
            }
        }
    }
}

/// What a slice does for its twin.
impl Slice {
    /// Serves a request at the tags, which are free: one of the twin and one of the slice's own queue
    /// take turns, if there are both.
    #[inline(never)]
    pub(super) fn serve_in_turn(&mut self, cycle: L2Cycle, now: Ticks, ctx: &mut Context) {
        let was_twins = self.twin.as_ref().is_some_and(|twin| twin.was_served);
        let twins_first = !was_twins && self.serve_twin(cycle, now, ctx);
        let own = !twins_first && self.serve(cycle, now, ctx);
        let twins = twins_first || was_twins && !own && self.serve_twin(cycle, now, ctx);
        // What the other one lacked may have come while the tags were taken.
        let twin = self.twin.as_mut().expect("there is one");
        twin.own_is_due = twins;
        if twins || own {
            twin.was_served = twins;
        }
        if own {
            twin.waits = false;
        }
    }

    /// Whether the slice's own request is to be tried, though it lacked something.
    pub(super) fn own_is_due(&self) -> bool {
        self.twin.as_ref().is_some_and(|twin| twin.own_is_due)
    }

    /// Serves the next request of the twin; whether it did.
    fn serve_twin(&mut self, cycle: L2Cycle, now: Ticks, ctx: &mut Context) -> bool {
        let Some(twin) = &self.twin else { return false };
        let port = twin.ports.asked;
        let Some(id) = ctx.fabric.ready(port, now) else { return false };
        if !self.replies.has_hit_room() || !self.replies.has_twin_room(ctx) {
            return false;
        }
        let room = self.room(ctx);
        let served = room.queue > self.to_dram.reserved() && {
            self.port_busy = 1;
            self.access(id, room, cycle, now, ctx).is_ok()
        };
        if served {
            self.tags_free = self.tags_free.max(cycle + self.port_busy);
            ctx.fabric.pop(port, now);
        } else {
            self.to_dram.wake_on_room(ctx);
        }
        self.twin.as_mut().expect("it has asked").waits = !served;
        served
    }

    /// The twin gets the sector that `request` reads, which is in `slot`.
    pub(super) fn note_copy(&mut self, slot: Option<Slot>, request: RequestId, ctx: &Context) {
        let Some(twin) = &mut self.twin else { return };
        let request = ctx.requests.get(request);
        if let Some(slot) = slot
            && matches!(request.kind, RequestKind::Read | RequestKind::Fetch)
            && twin.twins.is_from_twin(request, twin.own)
        {
            bits::insert(&mut twin.copied, slot.index());
        }
    }

    /// Another line takes this slot.
    pub(super) fn forget_copy(&mut self, slot: Slot) {
        if let Some(twin) = &mut self.twin {
            bits::remove(&mut twin.copied, slot.index());
        }
    }

    /// A store or an atomic of this partition changes a line that is at home here. A copy of it in the
    /// twin is dropped. Of a line that was not here, the slice does not know whether the twin has one.
    pub(super) fn invalidate_copy(
        &mut self,
        request: &Request,
        slot: Option<Slot>,
        now: Ticks,
        ctx: &mut Context,
    ) {
        let Some(twin) = &mut self.twin else { return };
        if twin.twins.is_from_twin(request, twin.own) {
            return;
        }
        if slot.is_none_or(|slot| twin.take_copied(slot)) {
            twin.counts.invalidations += 1;
            let geometry = self.cache.geometry();
            let line = geometry.line_address(geometry.line(request.address));
            let blank = Request::of_slice(line, RequestKind::Invalidate, request.place);
            let sectors = geometry.all_sectors();
            let id = ctx.requests.add(Request { sectors, ..blank }, now);
            self.replies.hit(id, now);
        }
    }

    /// When the slice can next take something from its twin.
    #[inline(never)]
    pub(super) fn next_of_twin(&self, now: Ticks, sent: bool, ctx: &mut Context) -> Ticks {
        let Some(twin) = &self.twin else { return Ticks::NEVER };
        self.next_answer(twin, now, sent, ctx).min(self.next_asked(twin, sent, ctx))
    }

    fn next_answer(&self, twin: &Twin, now: Ticks, sent: bool, ctx: &mut Context) -> Ticks {
        let Some((ready, id)) = ctx.fabric.head(twin.ports.answered) else { return Ticks::NEVER };
        match ctx.requests.get(id).kind {
            RequestKind::Read | RequestKind::Fetch | RequestKind::Prefetch => {
                let free = ready.max(self.clock.at(self.fill_free));
                if twin.answer_waits && !sent && free <= now { Ticks::NEVER } else { free }
            }
            RequestKind::Invalidate => ready,
            RequestKind::Message => unreachable!("it goes to an SM"),
            RequestKind::Write | RequestKind::Writeback | RequestKind::Atomic => {
                if self.replies.has_port_room(ctx) { ready } else { Ticks::NEVER }
            }
        }
    }

    fn next_asked(&self, twin: &Twin, sent: bool, ctx: &mut Context) -> Ticks {
        let ready = ctx.fabric.head_ready(twin.ports.asked);
        let may = ready < Ticks::NEVER
            && (!twin.waits || sent)
            && self.replies.has_hit_room()
            && self.replies.has_twin_room(ctx);
        if may { ready.max(self.clock.at(self.tags_free)) } else { Ticks::NEVER }
    }
}
