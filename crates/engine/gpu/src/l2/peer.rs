//! Traffic between a slice and its peer: copies of lines whose home is in the remote partition.
//!
//! An SM sends requests only to slices of its own partition. For a line of the remote partition, that
//! is the peer of the home slice. The peer keeps a copy: it reads the line from the home once, and
//! later reads of its partition hit the copy. Stores and atomics pass the peer and are carried out at
//! the home. Either slice drops a copy that becomes stale.
//!
//! ```text
//!  SM ─▶ tags of the peer ── copy ──▶ SM
//!           │ no copy              ▲
//!           ▼ request        reply │
//!         tags of the home ────────┘      stores and atomics pass the peer in both directions
//!           │ miss         ▲
//!           ▼    DRAM      │
//! ```
//!
//! Requests from the peer have a queue of their own, so that two slices whose queues are full of
//! requests for each other cannot deadlock: a request that arrives here needs only DRAM and the way
//! back.

use super::peer_port::PeerPort;
use super::slice::Slice;
use crate::context::Context;
use warpmem_cache::{Fill, LineSlot, Miss, ReservationFail, Room};
use warpmem_sim::{
    CacheLevel, L2Cycle, Location, PortId, Request, RequestId, RequestKind, Ticks, bits,
};

/// Requests of the own partition for remote lines.
impl Slice {
    /// Returns whether the home of the line at `place` is the peer slice.
    #[inline]
    pub(super) fn is_remote(&self, place: Location) -> bool {
        self.peer.as_ref().is_some_and(|peer| peer.is_remote(place))
    }

    /// Returns whether a request that may go to the peer finds room in the queue there. If not, the
    /// slice is woken when there is.
    pub(super) fn has_peer_room(&self, id: RequestId, ctx: &mut Context) -> bool {
        let Some(peer) = &self.peer else { return true };
        !peer.is_remote(ctx.requests.get(id).place)
            || ctx.fabric.room_or_wake(peer.ports.requests_out)
    }

    /// Returns the room for a read of a remote line. Half of the MSHR entries are reserved for home
    /// lines: two slices whose entries all wait for each other would deadlock. For the same reason
    /// a copy reserves no line before its data arrive.
    pub(super) fn room_for_copy(&self, room: Room) -> Room {
        let kept = (self.cache.mshr().len() + self.cache.mshr().free()).div_ceil(2);
        Room { held_mshrs: room.held_mshrs + kept, ..room }
    }

    /// Counts a hit in a copy.
    pub(super) fn count_copy_hit(&mut self, request: &Request) {
        if let Some(peer) = self.peer.as_mut().filter(|peer| peer.is_remote(request.place)) {
            peer.counts.hits += 1;
        }
    }

    /// Reads a sector that has no copy here from its home.
    pub(super) fn request_from_peer(
        &mut self,
        id: RequestId,
        miss: Miss,
        now: Ticks,
        ctx: &mut Context,
    ) {
        self.cache.open(miss, id, ctx.requests);
        let (request, stamps) = (*ctx.requests.get(id), *ctx.requests.stamps(id));
        let peer = self.peer.as_mut().expect("the line is remote");
        peer.counts.misses += 1;
        let place = Location { slice: peer.peers.peer(peer.own), ..request.place };
        let blank = Request::of_slice(request.address, request.kind, place);
        let ask = Request { place, next: blank.next, ..request };
        let ask = ctx.requests.add(ask, stamps.created);
        ctx.fabric.push(peer.ports.requests_out, ask, Ticks(now.0 + self.spec.clock.period()));
    }

    /// Forwards a store or an atomic to the home of its line.
    pub(super) fn forward_to_peer(
        &mut self,
        id: RequestId,
        request: &Request,
        now: Ticks,
        ctx: &mut Context,
    ) {
        self.drop_copies(request.address, request.sectors);
        let peer = self.peer.as_mut().expect("the line is remote");
        ctx.requests.get_mut(id).place.slice = peer.peers.peer(peer.own);
        ctx.fabric.push(peer.ports.requests_out, id, Ticks(now.0 + self.spec.clock.period()));
    }

    /// Drops the copies of these sectors, which have become stale.
    fn drop_copies(&mut self, address: u64, sectors: u8) {
        let sector_bytes = u64::from(self.cache.geometry().sector_bytes());
        let peer = self.peer.as_mut().expect("only a slice with a peer has copies");
        for sector in bits::members(&[sectors.into()]) {
            let address = address + sector as u64 * sector_bytes;
            if self.cache.outstanding(address).is_some() {
                peer.stale.push(address);
            }
            peer.counts.dropped += u64::from(self.cache.drop_sector(address));
        }
    }

    /// Takes at most one reply from the peer.
    #[inline(never)]
    pub(super) fn take_peer_reply(&mut self, cycle: L2Cycle, now: Ticks, ctx: &mut Context) {
        let Some(peer) = &self.peer else { return };
        let (own, port) = (peer.own, peer.ports.replies_in);
        let Some(id) = ctx.fabric.ready(port, now) else { return };
        let request = *ctx.requests.get(id);
        match request.kind {
            RequestKind::Read | RequestKind::Fetch | RequestKind::Prefetch => {
                if self.fill.free <= cycle {
                    let waits = self.fill_copy(id, &request, port, cycle, now, ctx).is_err();
                    self.peer.as_mut().expect("it has replied").reply_blocked = waits;
                }
            }
            RequestKind::Message | RequestKind::Translation | RequestKind::Walk => {
                unreachable!("slices do not reply to such requests of their peers")
            }
            RequestKind::Invalidate => {
                ctx.fabric.pop(port, now);
                self.drop_copies(request.address, request.sectors);
                ctx.requests.remove(id);
            }
            RequestKind::Write | RequestKind::Writeback | RequestKind::Atomic => {
                // Bypasses the hit pipeline, where it could wait behind a reply to the peer.
                if self.replies.has_port_room(ctx) {
                    ctx.fabric.pop(port, now);
                    ctx.requests.get_mut(id).place.slice = own;
                    self.replies.pass_on(id, now, ctx);
                }
            }
        }
    }

    /// Fills the copy of a sector that the peer has sent, and answers all requests merged into its
    /// MSHR entry.
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
        let (room, set_key) = (self.room(ctx), &self.spec.set_key);
        let fill = self.cache.fill(address, request.insertion, room, |_| set_key.of(request.place));
        let fill = match fill {
            // Every line of the set waits for a fill from DRAM.
            Err(ReservationFail::LineAlloc) => self.cache.fill_nothing(address),
            fill => fill.inspect_err(|_| self.to_dram.wake_on_room(ctx))?,
        };
        ctx.fabric.pop(port, now);
        self.take_line(fill.allocated, address, now, ctx);
        self.place_line(address, request.insertion);
        self.reply_from_peer(&fill, id, now, ctx);
        let stale = &mut self.peer.as_mut().expect("it has replied").stale;
        if stale.contains(&address) {
            stale.retain(|&other| other != address);
            self.cache.drop_sector(address);
        }
        ctx.requests.remove(id);
        self.fill.free = cycle + self.spec.port_cycles(self.cache.geometry().sector_bytes());
        Ok(())
    }

    /// Answers the requests of a fill, with the stamps that `first` received at the home.
    fn reply_from_peer(&mut self, fill: &Fill, first: RequestId, now: Ticks, ctx: &mut Context) {
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

/// Requests of the peer for home lines.
impl Slice {
    /// Serves a request at the tags, which must be free: alternately one of the peer and one of the
    /// slice's own queue while both have requests.
    #[inline(never)]
    pub(super) fn serve_alternately(&mut self, cycle: L2Cycle, now: Ticks, ctx: &mut Context) {
        let peer_last = self.peer.as_ref().is_some_and(|peer| peer.served_last);
        let peer_first = !peer_last && self.serve_peer(cycle, now, ctx);
        let own = !peer_first && self.serve(cycle, now, ctx);
        let served_peer = peer_first || peer_last && !own && self.serve_peer(cycle, now, ctx);
        // A resource that the other request lacked may have become free while the tags were busy.
        let peer = self.peer.as_mut().expect("the caller has checked");
        peer.retry_own = served_peer;
        if served_peer || own {
            peer.served_last = served_peer;
        }
        if own {
            peer.blocked = false;
        }
    }

    /// Returns whether the slice's own request must be retried although it lacked a resource.
    pub(super) fn retries_own(&self) -> bool {
        self.peer.as_ref().is_some_and(|peer| peer.retry_own)
    }

    /// Returns whether a request of the peer has arrived.
    pub(super) fn has_peer_request(&self, now: Ticks, ctx: &Context) -> bool {
        let port = self.peer.as_ref().map(|peer| peer.ports.requests_in);
        port.is_some_and(|port| ctx.fabric.head_ready(port) <= now)
    }

    /// Serves the next request of the peer. Returns whether it was served.
    fn serve_peer(&mut self, cycle: L2Cycle, now: Ticks, ctx: &mut Context) -> bool {
        let Some(peer) = &self.peer else { return false };
        let port = peer.ports.requests_in;
        let Some(id) = ctx.fabric.ready(port, now) else { return false };
        if !self.replies.has_hit_room() || !self.replies.has_peer_room(ctx) {
            return false;
        }
        let room = self.room(ctx);
        let served = room.queue > self.to_dram.reserved() && {
            self.tags.begin();
            self.access(id, room, cycle, now, ctx).is_ok()
        };
        if served {
            self.tags.finish(cycle);
            ctx.fabric.pop(port, now);
        } else {
            self.to_dram.wake_on_room(ctx);
        }
        self.peer.as_mut().expect("it has sent a request").blocked = !served;
        served
    }

    /// Records that the peer receives a copy of the sector in `slot`, if `request` is from the peer.
    pub(super) fn note_copy(&mut self, slot: Option<LineSlot>, request: RequestId, ctx: &Context) {
        let Some(peer) = &mut self.peer else { return };
        let request = ctx.requests.get(request);
        if let Some(slot) = slot
            && matches!(request.kind, RequestKind::Read | RequestKind::Fetch)
            && peer.peers.is_from_peer(request, peer.own)
        {
            peer.note_copied(slot);
        }
    }

    /// Forgets the copy of the line in `slot`, which is being replaced.
    pub(super) fn forget_copy(&mut self, slot: LineSlot) {
        if let Some(peer) = &mut self.peer {
            peer.take_copied(slot);
        }
    }

    /// Invalidates the peer's copy of a home line that a store or an atomic of this partition changes.
    /// `slot` is the line, if it was present; otherwise the peer may have a copy unknown to this slice.
    pub(super) fn invalidate_copy(
        &mut self,
        request: &Request,
        slot: Option<LineSlot>,
        now: Ticks,
        ctx: &mut Context,
    ) {
        let Some(peer) = &mut self.peer else { return };
        if peer.peers.is_from_peer(request, peer.own) {
            return;
        }
        if slot.is_none_or(|slot| peer.take_copied(slot)) {
            peer.counts.invalidations += 1;
            let geometry = self.cache.geometry();
            let line = geometry.line_address(geometry.line(request.address));
            let blank = Request::of_slice(line, RequestKind::Invalidate, request.place);
            let sectors = geometry.all_sectors();
            let id = ctx.requests.add(Request { sectors, ..blank }, now);
            self.replies.hit(id, now);
        }
    }

    /// Returns when the slice can next take a reply or a request from the peer.
    #[inline(never)]
    pub(super) fn next_from_peer(&self, now: Ticks, sent: bool, ctx: &mut Context) -> Ticks {
        let Some(peer) = &self.peer else { return Ticks::NEVER };
        self.next_reply(peer, now, sent, ctx).min(self.next_request(peer, sent, ctx))
    }

    fn next_reply(&self, peer: &PeerPort, now: Ticks, sent: bool, ctx: &mut Context) -> Ticks {
        let Some((ready, id)) = ctx.fabric.head(peer.ports.replies_in) else { return Ticks::NEVER };
        match ctx.requests.get(id).kind {
            RequestKind::Read | RequestKind::Fetch | RequestKind::Prefetch => {
                let free = ready.max(self.spec.clock.at(self.fill.free));
                if peer.reply_blocked && !sent && free <= now { Ticks::NEVER } else { free }
            }
            RequestKind::Invalidate => ready,
            RequestKind::Message | RequestKind::Translation | RequestKind::Walk => {
                unreachable!("slices do not reply to such requests of their peers")
            }
            RequestKind::Write | RequestKind::Writeback | RequestKind::Atomic => {
                if self.replies.has_port_room(ctx) { ready } else { Ticks::NEVER }
            }
        }
    }

    fn next_request(&self, peer: &PeerPort, sent: bool, ctx: &mut Context) -> Ticks {
        let ready = ctx.fabric.head_ready(peer.ports.requests_in);
        let may = ready < Ticks::NEVER
            && (!peer.blocked || sent)
            && self.replies.has_hit_room()
            && self.replies.has_peer_room(ctx);
        if may { ready.max(self.spec.clock.at(self.tags.free())) } else { Ticks::NEVER }
    }
}
