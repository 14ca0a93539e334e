//! From the network into the queue of a slice.

use super::delay::DelayLine;
use super::queue::{L2_QUEUES, L2Queue, QueueAccount};
use super::warp_types;
use crate::context::Context;
use crate::results::{QueueLength, QueueResult};
use crate::side::CriticalFields;
use warpmem_machine::Machine;
use warpmem_params::{Counter, PolicyError};
use warpmem_sim::{CoreClock, L2Cycle, PortId, Request, RequestId, Ticks};

/// Requests from the network until they are served at the tags: first in a delay, then in the queue
/// of the policy. What every step needs comes first.
#[repr(C)]
pub(super) struct Arrivals {
    port: PortId,
    delayed: DelayLine,
    gate: Gate,
    /// A request enters the queue at the end of the cycle in which its delay is over, after the tags have
    /// been served (GPGPU-Sim, memory_sub_partition::cache_cycle).
    queue_last: bool,
    /// Most requests that the network hands over in a cycle.
    per_cycle: u32,
    /// In the delay and the queue; in the queue.
    held: u32,
    queued: u32,
    /// The queue lets nothing be taken from the network.
    blocked: bool,
    /// The queue, as it is now, does not accept the request whose delay is over.
    refused: bool,
    delay_ticks: u64,
    queue: Box<dyn L2Queue>,
    account: QueueAccount,
}

/// When a request can be taken from the network.
#[derive(Clone, Copy)]
enum Gate {
    /// While the delay and the queue together hold less.
    Held(u32),
    /// While the queue alone holds less (GPGPU-Sim, memory_sub_partition::full).
    Queued(u32),
}

impl Arrivals {
    /// `port` comes from the request network; the delay is in cycles of the `core` clock.
    pub fn new(machine: &Machine, port: PortId, core: CoreClock) -> Result<Arrivals, PolicyError> {
        let config = &machine.l2;
        let delay_ticks = u64::from(config.input_latency) * core.period();
        let queue = L2_QUEUES.build(&machine.policy.l2_queue, config)?;
        // The delay line holds what arrives during the delay.
        let in_delay = delay_ticks.div_ceil(arrival_period(machine)) as u32;
        Ok(Arrivals {
            port,
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
            queue,
            account: QueueAccount::default(),
        })
    }

    /// Takes requests from the network, and lets those whose delay is over enter the queue, unless
    /// they come last.
    pub fn arrive(&mut self, cycle: L2Cycle, now: Ticks, ctx: &mut Context) {
        for _ in 0..self.per_cycle {
            if !self.take_request(now, ctx) {
                break;
            }
        }
        if !self.queue_last {
            self.enqueue(cycle, now, ctx);
        }
    }

    /// At the end of a cycle, in which the tags have been served, lets requests whose delay is over
    /// enter the queue where they come last; whether one has.
    #[inline]
    pub fn end_cycle(&mut self, cycle: L2Cycle, now: Ticks, ctx: &mut Context) -> bool {
        let before = self.queued;
        if self.queue_last && self.delayed.due() <= now {
            self.enqueue(cycle + 1, now, ctx);
        }
        self.queued > before
    }

    /// Lets requests whose delay is over enter the queue, in which they stand from `cycle` on.
    fn enqueue(&mut self, cycle: L2Cycle, now: Ticks, ctx: &mut Context) {
        while let Some(id) = self.delayed.ready(now) {
            let request = ctx.requests.get_mut(id);
            self.note_arrival(request, &ctx.side.fields);
            if !self.queue.accepts(request) {
                self.queue.refused();
                self.refused = true;
                self.blocked = self.queue.is_blocked();
                self.account.refused(cycle);
                break;
            }
            self.refused = false;
            self.queue.push(id, request);
            self.account.entered(cycle, self.queued);
            self.queued += 1;
            warp_types::mark(id, cycle, ctx);
            self.delayed.pop();
            // The first may be due at once: too late for it.
            if let Some(next) = self.delayed.second() {
                ctx.requests.will_be_read(next);
            }
        }
    }

    /// Takes a request from the network; whether there was one and room for it.
    fn take_request(&mut self, now: Ticks, ctx: &mut Context) -> bool {
        if !self.has_room() {
            return false;
        }
        let Some(request) = ctx.fabric.ready(self.port, now) else { return false };
        ctx.fabric.pop(self.port, now);
        let due = Ticks(now.0 + self.delay_ticks);
        // Written now, while the request's row is in the host's cache after the network's step.
        ctx.requests.stamps_mut(request).l2_arrived = due;
        self.delayed.push(due, request);
        self.held += 1;
        true
    }

    /// A request is about to enter the queue. On its first attempt it gets its Critical Field.
    fn note_arrival(&mut self, request: &mut Request, fields: &CriticalFields) {
        if request.critical_field > 0 {
            return;
        }
        let field = fields.of(request);
        request.critical_field = field;
        // A request that stood behind another on arrival finds that one in the queue now.
        self.account.arrived(field, self.queued > 0);
    }

    fn has_room(&self) -> bool {
        let room = match self.gate {
            Gate::Held(most) => self.held < most,
            Gate::Queued(most) => self.queued < most,
        };
        room && !self.blocked
    }

    /// Whether a request waits for the tags.
    #[inline]
    pub fn has_queued(&self) -> bool {
        self.queued > 0
    }

    /// The request that is served next.
    pub fn next(&self) -> Option<RequestId> {
        self.queue.next()
    }

    /// The request that [`Arrivals::next`] named has been served, `waited` ticks after it arrived.
    pub fn pop(&mut self, cycle: L2Cycle, critical_field: u8, waited: u64) {
        self.queue.pop();
        self.account.served(cycle, self.queued, critical_field, waited);
        self.held -= 1;
        self.queued -= 1;
        self.refused = false;
        self.blocked = self.blocked && self.queue.is_blocked();
    }

    /// When the next request can be taken from the network or enter the queue.
    pub fn next_time(&self, now: Ticks, ctx: &Context) -> Ticks {
        let mut next = Ticks::NEVER;
        if self.has_room() {
            next = ctx.fabric.head_ready(self.port);
        }
        // A request that is due and finds the queue full waits until another is served.
        let accepts = |id| !self.refused && self.queue.accepts(ctx.requests.get(id));
        if self.delayed.ready(now).is_none_or(accepts) {
            next = next.min(self.delayed.due());
        }
        next
    }

    /// For how long how many requests stood in the queue before L2 cycle `cycle`.
    pub fn length_until(&self, cycle: L2Cycle) -> QueueLength {
        self.account.length_until(cycle, self.queued)
    }

    /// The counts of the queue by L2 cycle `cycle`. `period` is that of the L2's clock, in ticks.
    pub fn so_far(&self, cycle: L2Cycle, period: u64) -> QueueResult {
        self.account.so_far(cycle, self.queued, self.queue.rotations(), period)
    }

    /// What the queue's policy counted.
    pub fn counters(&self) -> Vec<Counter> {
        self.queue.counters()
    }

    pub fn is_empty(&self) -> bool {
        self.delayed.is_empty() && self.queue.is_empty()
    }

    /// Requests in the delay, and in the queue.
    pub fn lengths(&self) -> (usize, usize) {
        (self.delayed.len(), self.queue.len())
    }
}

/// Ticks between two requests that the network hands over; without a limit of the slice, the
/// network's own.
fn arrival_period(machine: &Machine) -> u64 {
    let periods = machine.clocks.periods();
    match machine.l2.arrivals_per_cycle {
        0 => periods.network.min(periods.l2),
        most => (periods.l2 / u64::from(most)).max(1),
    }
}
