//! Replies of a slice on their way to the network: hits in their latency, and the answers of fills.

use super::answers::Answers;
use super::delay::DelayLine;
use crate::context::Context;
use warpmem_machine::{L2, ReplyOrder};
use warpmem_sim::{L2Clock, PortId, RequestId, RequestKind, RequestTable, SliceId, Ticks, Twins};

/// The way back to the twin.
struct ToTwin {
    twins: Twins,
    own: SliceId,
    port: PortId,
}

pub(super) struct Replies {
    port: PortId,
    to_twin: Option<ToTwin>,
    /// L2 cycles from the tags to the reply port.
    latency: u32,
    /// Ticks from a fill until its first answer enters the reply queue.
    fill_ticks: u64,
    /// Ticks in the reply queue, at least.
    queue_ticks: u64,
    order: ReplyOrder,
    /// Ticks in an L2 cycle.
    period: u64,
    /// When the next reply may enter the network.
    free: Ticks,
    /// Fills that are not answered in full.
    answers: Answers,
    /// From the tags to the reply port.
    hits: DelayLine,
}

impl Replies {
    /// `port` leads to the reply network.
    pub fn new(config: &L2, port: PortId, clock: L2Clock) -> Replies {
        let fill = if config.enabled { config.fill_latency } else { 0 };
        Replies {
            port,
            to_twin: None,
            latency: if config.enabled { config.latency } else { 0 },
            fill_ticks: u64::from(fill) * clock.period(),
            queue_ticks: u64::from(config.reply_latency) * clock.period(),
            order: config.reply_order,
            period: clock.period(),
            free: Ticks(0),
            answers: Answers::new(config.cache.mshr_entries),
            hits: DelayLine::new(),
        }
    }

    /// What `own` answers its twin goes to this port.
    pub fn share_with(&mut self, twins: Twins, own: SliceId, port: PortId) {
        self.to_twin = Some(ToTwin { twins, own, port });
    }

    /// Where an answer goes.
    #[inline]
    fn port_of(&self, id: RequestId, ctx: &Context) -> PortId {
        let Some(twin) = &self.to_twin else { return self.port };
        let request = ctx.requests.get(id);
        let is_twins =
            request.kind == RequestKind::Invalidate || twin.twins.is_from_twin(request, twin.own);
        if is_twins { twin.port } else { self.port }
    }

    /// Changes the latency of hits.
    pub fn set_latency(&mut self, latency: u32) {
        self.latency = latency;
    }

    /// A request has hit: it is answered after the latency.
    pub fn hit(&mut self, id: RequestId, now: Ticks) {
        self.hits.push(Ticks(now.0 + u64::from(self.latency) * self.period), id);
    }

    /// A fill answers `first` and the requests linked to it, after its latency.
    pub fn fill(&mut self, first: RequestId, now: Ticks) {
        self.answers.push(first, Ticks(now.0 + self.fill_ticks));
    }

    /// Drops reads that the slice made for itself: they get no reply.
    pub fn skip_own_fetches(&mut self, requests: &mut RequestTable) {
        self.answers.skip_own_fetches(requests);
    }

    /// Fills that are not answered in full.
    pub fn unanswered_fills(&self) -> usize {
        self.answers.len()
    }

    /// Whether a fill is not answered in full.
    pub fn has_unanswered_fills(&self) -> bool {
        !self.answers.is_empty()
    }

    /// Whether the latency has room for another hit.
    pub fn has_hit_room(&self) -> bool {
        self.hits.len() <= self.latency as usize
    }

    /// Whether the port has room; where not, the slice is woken when it has.
    pub fn has_port_room(&self, ctx: &mut Context) -> bool {
        ctx.fabric.room_or_wake(self.port)
    }

    /// Whether the port to the twin has room; where not, the slice is woken when it has.
    pub fn has_twin_room(&self, ctx: &mut Context) -> bool {
        self.to_twin.as_ref().is_some_and(|twin| ctx.fabric.room_or_wake(twin.port))
    }

    /// Hands replies to the network: one answer of a fill, and one hit whose latency is over. If
    /// there is room for one, `l2.reply_order` decides.
    #[inline]
    pub fn send(&mut self, now: Ticks, ctx: &mut Context) {
        if self.hits.due() <= now || self.answers.due() <= now {
            self.send_due(now, ctx);
        }
    }

    /// Hands over a hit that has just been served and has no latency, where replies have one of their own
    /// (GPGPU-Sim, memory_sub_partition::cache_cycle): before the answers of the fill of this cycle.
    #[inline]
    pub fn send_served(&mut self, now: Ticks, ctx: &mut Context) {
        if self.queue_ticks > 0 && self.hits.due() <= now {
            self.send_hit(now, ctx);
        }
    }

    fn send_due(&mut self, now: Ticks, ctx: &mut Context) {
        match self.order {
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

    /// Hands what the twin has answered to the network, which must have room.
    pub fn pass_on(&mut self, id: RequestId, now: Ticks, ctx: &mut Context) {
        self.send_reply(id, self.port, now, ctx);
    }

    /// Puts a reply into the reply queue, which one a cycle leaves for the network (GPGPU-Sim,
    /// gpgpu_sim::cycle).
    fn send_reply(&mut self, id: RequestId, port: PortId, now: Ticks, ctx: &mut Context) {
        ctx.requests.stamps_mut(id).replied = now;
        let leaves = Ticks(now.0 + self.queue_ticks).max(self.free);
        self.free = Ticks(leaves.0 + self.period);
        ctx.fabric.push(port, id, leaves);
    }

    /// When a reply can leave. One that waits for room is woken by it.
    pub fn next_time(&self, now: Ticks, ctx: &mut Context) -> Ticks {
        if self.to_twin.is_some() {
            return self.next_of_two_ports(now, ctx);
        }
        let due = self.hits.due().min(self.answers.due());
        if due > now || ctx.fabric.room_or_wake(self.port) { due } else { Ticks::NEVER }
    }

    fn next_of_two_ports(&self, now: Ticks, ctx: &mut Context) -> Ticks {
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

    /// Hits in their latency.
    pub fn hits(&self) -> usize {
        self.hits.len()
    }

    pub fn is_empty(&self) -> bool {
        self.hits.is_empty() && self.answers.is_empty()
    }
}
