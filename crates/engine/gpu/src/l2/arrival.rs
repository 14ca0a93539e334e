//! The path from the request network into the queue of a slice.

use super::delay::DelayLine;
use super::queue::{L2Queue, QueueAccount, SliceQueue};
use super::warp_types;
use crate::context::Context;
use crate::ports::SlicePorts;
use crate::results::{QueueLength, QueueResult};
use crate::side::CriticalFields;
use warpmem_cache::CacheController;
use warpmem_machine::Machine;
use warpmem_params::Counter;
use warpmem_sim::{CoreClock, L2Cycle, PortId, Request, RequestId, Ticks};

/// Requests between the network and the tags: first in a delay line, then in the queue of the
/// policy. Fields read in every step come first.
#[repr(C)]
pub(super) struct Arrivals {
    port: PortId,
    /// From the page walkers.
    walks: Option<PortId>,
    delayed: DelayLine,
    gate: Gate,
    /// Requests enter the queue at the end of the cycle in which their delay ends, after the tags
    /// (GPGPU-Sim, `memory_sub_partition::cache_cycle`).
    queue_last: bool,
    /// Requests accepted from the network per cycle.
    per_cycle: u32,
    /// Requests in the delay line and the queue, and in the queue alone.
    held: u32,
    queued: u32,
    /// The queue blocks the network.
    blocked: bool,
    /// The queue, in its current state, refuses the request whose delay is over.
    refused: bool,
    delay_ticks: u64,
    queue: SliceQueue,
    account: QueueAccount,
}

/// The condition for accepting a request from the network.
#[derive(Clone, Copy)]
enum Gate {
    /// While the delay line and the queue together hold less.
    Held(u32),
    /// While the queue alone holds less (GPGPU-Sim, memory_sub_partition::full).
    Queued(u32),
}

impl Arrivals {
    /// `core`: clock of the delay.
    pub fn new(
        machine: &Machine,
        ports: &SlicePorts,
        core: CoreClock,
        queue: Box<dyn L2Queue>,
    ) -> Arrivals {
        let config = &machine.l2;
        let delay_ticks = u64::from(config.input_latency) * core.period();
        // The delay line holds the arrivals during the delay.
        let in_delay = delay_ticks.div_ceil(arrival_period(machine)) as u32;
        Arrivals {
            port: ports.requests,
            walks: ports.walks.map(|walks| walks.requests),
            delayed: DelayLine::new(),
            gate: match config.queue_reserve {
                0 => Gate::Held(queue.capacity().saturating_add(in_delay)),
                reserve => {
                    Gate::Queued(queue.capacity().saturating_add(1).saturating_sub(reserve).max(1))
                }
            },
            queue_last: config.queue_reserve > 0,
            per_cycle: match config.arrivals_per_cycle {
                0 => u32::MAX,
                most => most,
            },
            held: 0,
            queued: 0,
            blocked: false,
            refused: false,
            delay_ticks,
            queue: SliceQueue::new(queue),
            account: QueueAccount::default(),
        }
    }

    /// Accepts requests, loads of page walks first, and moves those whose delay is over into the queue,
    /// unless they enter last.
    #[inline]
    pub fn arrive(
        &mut self,
        cache: &CacheController,
        cycle: L2Cycle,
        now: Ticks,
        ctx: &mut Context,
    ) {
        if self.next_arrival(ctx) <= now {
            self.accept(now, ctx);
        }
        if !self.queue_last && self.delayed.due() <= now {
            self.enqueue(cache, cycle, now, ctx);
        }
    }

    /// Returns when the next request of a port can be accepted, given room.
    #[inline]
    fn next_arrival(&self, ctx: &Context) -> Ticks {
        let next = ctx.fabric.head_ready(self.port);
        self.walks.map_or(next, |walks| next.min(ctx.fabric.head_ready(walks)))
    }

    /// Accepts loads of page walks, then requests from the network.
    #[inline(never)]
    fn accept(&mut self, now: Ticks, ctx: &mut Context) {
        let left = if self.walks.is_some() { self.take_walks(now, ctx) } else { self.per_cycle };
        for _ in 0..left {
            if !self.take_request(self.port, now, ctx) {
                break;
            }
        }
    }

    /// Accepts loads of page walks. Returns how many requests may follow in this cycle.
    #[inline(never)]
    fn take_walks(&mut self, now: Ticks, ctx: &mut Context) -> u32 {
        let Some(walks) = self.walks else { return self.per_cycle };
        let mut left = self.per_cycle;
        while left > 0 && self.take_request(walks, now, ctx) {
            left -= 1;
        }
        left
    }

    /// Ends a cycle, in which the tags have been served: moves requests whose delay is over into
    /// the queue if they enter last. Returns whether one entered.
    #[inline]
    pub fn end_cycle(
        &mut self,
        cache: &CacheController,
        cycle: L2Cycle,
        now: Ticks,
        ctx: &mut Context,
    ) -> bool {
        let before = self.queued;
        if self.queue_last && self.delayed.due() <= now {
            self.enqueue(cache, cycle + 1, now, ctx);
        }
        self.queued > before
    }

    /// Moves requests whose delay is over into the queue, where they count from `cycle` on.
    fn enqueue(&mut self, cache: &CacheController, cycle: L2Cycle, now: Ticks, ctx: &mut Context) {
        while let Some(id) = self.delayed.ready(now) {
            let request = ctx.requests.get_mut(id);
            self.note_arrival(request, &ctx.side.fields);
            if !self.queue.accepts(request) {
                self.queue.refused();
                self.refused = true;
                self.blocked = self.queue.policy().is_blocked();
                self.account.refused(cycle);
                break;
            }
            self.refused = false;
            if self.queued < 2 {
                cache.will_be_looked_up(request.address);
            }
            self.queue.push(id, request);
            self.account.entered(cycle, self.queued);
            self.queued += 1;
            warp_types::mark(id, cycle, ctx);
            self.delayed.pop();
            // Prefetches the second only: the first may be due at once.
            if let Some(next) = self.delayed.second() {
                ctx.requests.will_be_read(next);
            }
        }
    }

    /// Accepts a request from a port. Returns whether there was one, and room for it.
    #[inline(always)]
    fn take_request(&mut self, port: PortId, now: Ticks, ctx: &mut Context) -> bool {
        if !self.has_room() {
            return false;
        }
        let Some(request) = ctx.fabric.ready(port, now) else { return false };
        ctx.fabric.pop(port, now);
        let due = Ticks(now.0 + self.delay_ticks);
        // Written now, while the request's row is in the host's caches after the step of the
        // network.
        ctx.requests.stamps_mut(request).l2_arrived = due;
        self.delayed.push(due, request);
        self.held += 1;
        true
    }

    /// Sets the Critical Field of a request at its first attempt to enter the queue.
    fn note_arrival(&mut self, request: &mut Request, fields: &CriticalFields) {
        if request.critical_field > 0 {
            return;
        }
        let field = fields.of(request);
        request.critical_field = field;
        // A request that arrived behind another finds that one in the queue now.
        self.account.arrived(field, self.queued > 0);
    }

    fn has_room(&self) -> bool {
        let room = match self.gate {
            Gate::Held(most) => self.held < most,
            Gate::Queued(most) => self.queued < most,
        };
        room && !self.blocked
    }

    /// Returns whether a request waits for the tags.
    #[inline]
    pub fn has_queued(&self) -> bool {
        self.queued > 0
    }

    /// Returns the next request for the tags.
    pub fn next(&self) -> Option<RequestId> {
        self.queue.next()
    }

    /// Returns the request that will reach the tags after `place` others, if it is known.
    pub fn peek(&self, place: usize) -> Option<RequestId> {
        self.queue.peek(place)
    }

    /// Removes the request from [`Arrivals::next`], which has been served `waited` ticks after its
    /// arrival.
    pub fn pop(&mut self, cycle: L2Cycle, critical_field: u8, waited: u64) {
        self.queue.pop();
        self.account.served(cycle, self.queued, critical_field, waited);
        self.held -= 1;
        self.queued -= 1;
        self.refused = false;
        self.blocked = self.blocked && self.queue.policy().is_blocked();
    }

    /// Returns when the next request can be accepted from the network or enter the queue.
    pub fn next_time(&self, now: Ticks, ctx: &Context) -> Ticks {
        let mut next = Ticks::NEVER;
        if self.has_room() {
            next = self.next_arrival(ctx);
        }
        // A refused request waits until another is served.
        let accepts = |id| !self.refused && self.queue.accepts(ctx.requests.get(id));
        if self.delayed.ready(now).is_none_or(accepts) {
            next = next.min(self.delayed.due());
        }
        next
    }

    /// Returns the occupancy of the queue up to L2 cycle `cycle`, exclusive.
    pub fn length_until(&self, cycle: L2Cycle) -> QueueLength {
        self.account.length_until(cycle, self.queued)
    }

    /// Returns the counts of the queue up to L2 cycle `cycle`. `period`: ticks per L2 cycle.
    pub fn so_far(&self, cycle: L2Cycle, period: u64) -> QueueResult {
        self.account.so_far(cycle, self.queued, self.queue.policy().rotations(), period)
    }

    /// Returns the counters of the queue policy.
    pub fn counters(&self) -> Vec<Counter> {
        self.queue.policy().counters()
    }

    pub fn is_empty(&self) -> bool {
        self.delayed.is_empty() && self.queue.policy().is_empty()
    }

    /// Returns the requests in the delay line, and in the queue.
    pub fn lengths(&self) -> (usize, usize) {
        (self.delayed.len(), self.queue.policy().len())
    }
}

/// Returns the ticks between two arrivals; without a limit of the slice, that of the network.
fn arrival_period(machine: &Machine) -> u64 {
    let periods = machine.clocks.periods();
    match machine.l2.arrivals_per_cycle {
        0 => periods.network.min(periods.l2),
        most => (periods.l2 / u64::from(most)).max(1),
    }
}
