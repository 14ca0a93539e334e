//! Replies of a slice: hits in their pipeline, and the replies of fills, on the way to the reply
//! network.

use super::answers::Answers;
use super::delay::DelayLine;
use crate::context::Context;
use crate::ports::SlicePorts;
use warpmem_machine::{Machine, ReplyOrder};
use warpmem_sim::{
    L2Clock, PeerSlices, PortId, Request, RequestId, RequestKind, RequestTable, SliceId, Ticks,
};

/// The port for replies to the peer slice.
struct ToPeer {
    peers: PeerSlices,
    own: SliceId,
    port: PortId,
}

/// The port for replies to page walkers.
struct ToWalkers {
    port: PortId,
    /// Latency of the link, ticks.
    link_ticks: u64,
}

/// Ports beside that to the reply network.
#[derive(Default)]
struct OtherPorts {
    peer: Option<ToPeer>,
    walkers: Option<ToWalkers>,
}

impl OtherPorts {
    /// Returns the port for the reply to a request; none if it goes to the network.
    fn of(&self, request: &Request) -> Option<PortId> {
        if request.kind == RequestKind::Walk {
            return self.walkers.as_ref().map(|walkers| walkers.port);
        }
        let peer = self.peer.as_ref()?;
        let is_for_peer =
            request.kind == RequestKind::Invalidate || peer.peers.is_from_peer(request, peer.own);
        is_for_peer.then_some(peer.port)
    }

    /// Returns the latency of the link behind a port, ticks.
    fn link_ticks(&self, port: PortId) -> u64 {
        let walkers = self.walkers.as_ref().filter(|walkers| walkers.port == port);
        walkers.map_or(0, |walkers| walkers.link_ticks)
    }
}

pub(super) struct Replies {
    port: PortId,
    /// None if all replies go to the network.
    others: Option<Box<OtherPorts>>,
    /// L2 cycles from the tags to the reply port.
    latency: u32,
    /// Ticks from a fill until its first reply enters the reply queue.
    fill_ticks: u64,
    /// Minimum time in the reply queue, ticks.
    queue_ticks: u64,
    order: ReplyOrder,
    /// Ticks in an L2 cycle.
    period: u64,
    /// Earliest time of the next reply to the network.
    free: Ticks,
    /// Fills that are not answered in full.
    answers: Answers,
    /// Hits between the tags and the reply port.
    hits: DelayLine,
}

impl Replies {
    pub fn new(machine: &Machine, ports: &SlicePorts, clock: L2Clock) -> Replies {
        let config = &machine.l2;
        let link_ticks = u64::from(machine.vm.walk.link_latency) * machine.clocks.periods().network;
        let to_walkers =
            |walks: warpmem_translation::SlicePorts| ToWalkers { port: walks.replies, link_ticks };
        let walkers = ports.walks.map(to_walkers);
        let others = walkers.map(|walkers| OtherPorts { walkers: Some(walkers), peer: None });
        let fill = if config.enabled { config.fill_latency } else { 0 };
        Replies {
            port: ports.replies,
            others: others.map(Box::new),
            latency: if config.enabled { config.latency } else { 0 },
            fill_ticks: u64::from(fill) * clock.period(),
            queue_ticks: u64::from(config.reply_latency) * clock.period(),
            order: config.reply_order,
            period: clock.period(),
            free: Ticks(0),
            answers: Answers::new(&config.cache),
            hits: DelayLine::new(),
        }
    }

    /// Sends replies of slice `own` to its peer through `port`.
    pub fn connect_peer(&mut self, peers: PeerSlices, own: SliceId, port: PortId) {
        self.others.get_or_insert_default().peer = Some(ToPeer { peers, own, port });
    }

    /// Returns the port for the reply to a request.
    #[inline]
    fn port_of(&self, id: RequestId, ctx: &Context) -> PortId {
        let Some(others) = &self.others else { return self.port };
        others.of(ctx.requests.get(id)).unwrap_or(self.port)
    }

    /// Sets the latency of hits, L2 cycles.
    pub fn set_latency(&mut self, latency: u32) {
        self.latency = latency;
    }

    /// Replies to a hit after the latency.
    pub fn hit(&mut self, id: RequestId, now: Ticks) {
        self.hits.push(Ticks(now.0 + u64::from(self.latency) * self.period), id);
    }

    /// Replies to `first` and the requests linked to it after the fill latency.
    pub fn fill(&mut self, first: RequestId, now: Ticks) {
        self.answers.push(first, Ticks(now.0 + self.fill_ticks));
    }

    /// Drops the slice's own reads at the head, which get no reply.
    pub fn skip_own_fetches(&mut self, requests: &mut RequestTable) {
        self.answers.skip_own_fetches(requests);
    }

    /// Fills that are not answered in full.
    pub fn unanswered_fills(&self) -> usize {
        self.answers.len()
    }

    /// Returns whether a fill has unanswered requests.
    pub fn has_unanswered_fills(&self) -> bool {
        !self.answers.is_empty()
    }

    /// Returns whether the hit pipeline has room.
    pub fn has_hit_room(&self) -> bool {
        self.hits.len() <= self.latency as usize
    }

    /// Returns whether the port has room; if not, the slice is woken when it does.
    pub fn has_port_room(&self, ctx: &mut Context) -> bool {
        ctx.fabric.room_or_wake(self.port)
    }

    /// Returns whether the port has room.
    #[inline]
    pub fn port_has_room(&self, ctx: &Context) -> bool {
        ctx.fabric.room(self.port) > 0
    }

    /// Returns whether the port to the peer has room; if not, the slice is woken when it does.
    pub fn has_peer_room(&self, ctx: &mut Context) -> bool {
        let peer = self.others.as_ref().and_then(|others| others.peer.as_ref());
        peer.is_some_and(|peer| ctx.fabric.room_or_wake(peer.port))
    }

    /// Sends at most one reply of a fill and one due hit. `l2.reply_order` decides which goes first
    /// when there is room for one.
    #[inline]
    pub fn send(&mut self, now: Ticks, ctx: &mut Context) {
        if self.hits.due() <= now || self.answers.due() <= now {
            self.send_due(now, ctx);
        }
    }

    /// Sends a hit that was served in this cycle and has no latency, where replies have a latency
    /// of their own (GPGPU-Sim, `memory_sub_partition::cache_cycle`): before the replies of this
    /// cycle's fill.
    #[inline]
    pub fn send_served(&mut self, now: Ticks, ctx: &mut Context) {
        if self.queue_ticks > 0 && self.hits.due() <= now {
            self.send_hit(now, ctx);
        }
    }

    fn send_due(&mut self, now: Ticks, ctx: &mut Context) {
        match self.order {
            ReplyOrder::FillsFirst => {
                self.send_fill_reply(now, ctx);
                self.send_hit(now, ctx);
            }
            ReplyOrder::HitsFirst => {
                self.send_hit(now, ctx);
                self.send_fill_reply(now, ctx);
            }
        }
    }

    fn send_fill_reply(&mut self, now: Ticks, ctx: &mut Context) {
        let Some(id) = self.answers.next(now) else { return };
        let port = self.port_of(id, ctx);
        if ctx.fabric.room_or_wake(port) {
            self.answers.pop(ctx.requests);
            self.send_reply(id, port, now, ctx);
        }
    }

    fn send_hit(&mut self, now: Ticks, ctx: &mut Context) {
        let Some(id) = self.hits.ready(now) else { return };
        let port = self.port_of(id, ctx);
        if ctx.fabric.room_or_wake(port) {
            self.hits.pop();
            self.send_reply(id, port, now, ctx);
        }
    }

    /// Forwards a reply of the peer to the network, which must have room.
    pub fn pass_on(&mut self, id: RequestId, now: Ticks, ctx: &mut Context) {
        self.send_reply(id, self.port, now, ctx);
    }

    /// Enqueues a reply. One reply per cycle leaves for the network (GPGPU-Sim,
    /// `gpgpu_sim::cycle`).
    fn send_reply(&mut self, id: RequestId, port: PortId, now: Ticks, ctx: &mut Context) {
        ctx.requests.stamps_mut(id).replied = now;
        let leaves = Ticks(now.0 + self.queue_ticks).max(self.free);
        self.free = Ticks(leaves.0 + self.period);
        let link_ticks = self.others.as_ref().map_or(0, |others| others.link_ticks(port));
        ctx.fabric.push(port, id, Ticks(leaves.0 + link_ticks));
    }

    /// Returns when a reply can leave. A reply without room is woken by the port.
    pub fn next_time(&self, now: Ticks, ctx: &mut Context) -> Ticks {
        if self.others.is_some() {
            return self.next_of_all_ports(now, ctx);
        }
        let due = self.hits.due().min(self.answers.due());
        if due > now || ctx.fabric.room_or_wake(self.port) { due } else { Ticks::NEVER }
    }

    fn next_of_all_ports(&self, now: Ticks, ctx: &mut Context) -> Ticks {
        let mut next = Ticks::NEVER;
        for (first, due) in
            [(self.answers.next(now), self.answers.due()), (self.hits.ready(now), self.hits.due())]
        {
            if first.is_none_or(|id| ctx.fabric.room_or_wake(self.port_of(id, ctx))) {
                next = next.min(due);
            }
        }
        next
    }

    /// Returns the number of hits in the pipeline.
    pub fn hits(&self) -> usize {
        self.hits.len()
    }

    pub fn is_empty(&self) -> bool {
        self.hits.is_empty() && self.answers.is_empty()
    }
}
