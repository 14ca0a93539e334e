//! The SM's side of the networks: the miss queue, and the bound on requests in flight.

use super::access::AccessId;
use super::translation::Translation;
use crate::context::Context;
use warpmem_machine::{self as machine, Machine};
use warpmem_sim::{CoreClock, CoreCycle, Fabric, PortId, RequestId};

/// Request and reply ports of an SM.
pub(super) struct NetworkPort {
    clock: CoreClock,
    request_port: PortId,
    pub reply_port: PortId,
    miss_queue: MissQueue,
    /// Unanswered requests, and the most there may be.
    in_flight: u32,
    max_requests: u32,
    /// Cycle since which a request that bypasses L1 stalls for the port.
    stalled_since: Option<CoreCycle>,
    /// None on a machine without address translation.
    pub translation: Option<Box<Translation>>,
}

impl NetworkPort {
    pub fn new(
        machine: &Machine,
        clock: CoreClock,
        request_port: PortId,
        reply_port: PortId,
    ) -> NetworkPort {
        NetworkPort {
            clock,
            request_port,
            reply_port,
            miss_queue: MissQueue::new(&machine.l1),
            in_flight: 0,
            max_requests: match machine.sm.max_requests {
                0 => u32::MAX,
                most => most,
            },
            stalled_since: None,
            translation: None,
        }
    }

    /// Whether no request is in flight.
    pub fn is_idle(&self) -> bool {
        self.in_flight == 0
    }

    /// Whether one more request may be in flight.
    #[inline]
    fn may_send(&self) -> bool {
        self.in_flight < self.max_requests
    }

    /// Whether a request can be sent; if only the port is full, the SM is woken when it drains.
    #[inline]
    pub fn may_send_or_wake(&self, fabric: &mut Fabric) -> bool {
        let may_wait = self.translation.is_none() || self.room_behind_translation(usize::MAX) > 0;
        self.may_send() && may_wait && fabric.room_or_wake(self.request_port)
    }

    /// Returns the number of free miss-queue entries for requests that are answered.
    #[inline]
    pub fn room_for_requests(&self, cycle: CoreCycle, fabric: &Fabric) -> usize {
        if self.may_send() { self.room(cycle, fabric) } else { 0 }
    }

    /// Returns the number of free miss-queue entries.
    #[inline]
    pub fn room(&self, cycle: CoreCycle, fabric: &Fabric) -> usize {
        let room = self.miss_queue.room(cycle).min(fabric.room(self.request_port));
        if self.translation.is_some() { self.room_behind_translation(room) } else { room }
    }

    /// Returns how many requests may be sent if the port has room for `room`.
    #[inline(never)]
    fn room_behind_translation(&self, room: usize) -> usize {
        self.translation.as_ref().map_or(room, |translation| translation.room(room))
    }

    /// Sends a request that is answered through the miss queue.
    pub fn send(&mut self, request: RequestId, cycle: CoreCycle, ctx: &mut Context) {
        self.in_flight += 1;
        self.send_write_back(request, cycle, ctx);
    }

    /// Sends a write-back, which is not answered, through the miss queue.
    pub fn send_write_back(&mut self, request: RequestId, cycle: CoreCycle, ctx: &mut Context) {
        let leaves = self.miss_queue.push(cycle);
        self.push(request, leaves, ctx);
    }

    /// Sends a request that bypasses L1 and the miss queue.
    pub fn send_bypassing(&mut self, request: RequestId, cycle: CoreCycle, ctx: &mut Context) {
        self.in_flight += 1;
        self.push(request, cycle, ctx);
    }

    /// Sends a request that leaves L1 in `cycle`, if it need not wait for its translation.
    fn push(&mut self, request: RequestId, cycle: CoreCycle, ctx: &mut Context) {
        if self.translation.is_some() {
            self.translate(request, cycle, ctx);
        } else {
            self.leave(request, cycle, ctx);
        }
    }

    #[inline(never)]
    fn translate(&mut self, request: RequestId, cycle: CoreCycle, ctx: &mut Context) {
        let Some(translation) = &mut self.translation else { return };
        if let Some(cycle) = translation.translate(request, cycle, ctx) {
            self.leave(request, cycle, ctx);
        }
    }

    /// Sends the next translated request, if the port has room. Returns its access, and the cycles
    /// that it waited; if the port has no room, the SM is woken when it drains.
    pub fn send_translated(
        &mut self,
        cycle: CoreCycle,
        ctx: &mut Context,
    ) -> Option<(AccessId, u64)> {
        let translation = self.translation.as_mut().filter(|own| own.has_translated())?;
        if !ctx.fabric.room_or_wake(self.request_port) {
            return None;
        }
        let (waiting, leaves) = translation.take_translated(cycle)?;
        self.leave(waiting.request, leaves, ctx);
        Some((waiting.access, leaves.since(waiting.since)))
    }

    #[inline(always)]
    fn leave(&mut self, request: RequestId, cycle: CoreCycle, ctx: &mut Context) {
        let leaves = self.clock.at(cycle);
        ctx.requests.stamps_mut(request).l1_missed = leaves;
        ctx.fabric.push(self.request_port, request, leaves);
    }

    /// Records the arrival of a reply.
    pub fn replied(&mut self) {
        self.in_flight -= 1;
    }

    /// Begins a stall of a bypassing request.
    pub fn stall(&mut self, cycle: CoreCycle) {
        self.stalled_since = Some(cycle);
    }

    /// Ends the stall of a bypassing request, if any; returns its cycles.
    #[inline]
    pub fn end_stall(&mut self, cycle: CoreCycle) -> Option<u64> {
        self.stalled_since.take().map(|since| cycle.since(since))
    }

    /// Whether a bypassing request stalls.
    #[inline]
    pub fn is_stalled(&self) -> bool {
        self.stalled_since.is_some()
    }
}

/// Queue of requests that leave L1, a fixed number per cycle, one in each of its slots.
struct MissQueue {
    entries: u64,
    slots_per_cycle: u64,
    /// Slot in which the last request leaves.
    last: u64,
}

impl MissQueue {
    fn new(config: &machine::L1) -> MissQueue {
        MissQueue {
            entries: config.cache.miss_queue.into(),
            slots_per_cycle: config.requests_per_cycle.into(),
            last: 0,
        }
    }

    /// Returns the number of free entries in `cycle`.
    #[inline]
    fn room(&self, cycle: CoreCycle) -> usize {
        let waiting = self.last.saturating_sub(cycle.number() * self.slots_per_cycle);
        self.entries.saturating_sub(waiting) as usize
    }

    /// Takes an entry; returns the cycle in which the request leaves.
    #[inline]
    fn push(&mut self, cycle: CoreCycle) -> CoreCycle {
        self.last = self.last.max(cycle.number() * self.slots_per_cycle) + 1;
        CoreCycle::new(self.last.div_ceil(self.slots_per_cycle))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(requests_per_cycle: u32) -> MissQueue {
        let keys = [format!("l1.requests_per_cycle={requests_per_cycle}")];
        MissQueue::new(&machine::load("accelsim-qv100", &keys).unwrap().l1)
    }

    #[test]
    fn requests_leave_from_the_next_cycle_on_at_the_rate_of_the_queue() {
        let leave = |rate| {
            let mut queue = queue(rate);
            [7, 7, 7, 20].map(|cycle| queue.push(CoreCycle::new(cycle)).number())
        };
        assert_eq!(leave(1), [8, 9, 10, 21]);
        assert_eq!(leave(2), [8, 8, 9, 21]);
    }

    #[test]
    fn entries_are_free_once_their_requests_have_left() {
        let mut queue = queue(2);
        let entries = queue.room(CoreCycle::ZERO);
        for _ in 0..3 {
            queue.push(CoreCycle::new(7));
        }
        let room = [7, 8, 9].map(|cycle| entries - queue.room(CoreCycle::new(cycle)));
        assert_eq!(room, [3, 1, 0]);
    }
}
