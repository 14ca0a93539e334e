//! From the network into the queue of a slice.

use super::slice::Slice;
use crate::engine::Context;
use warpmem_sim::{RequestId, Ticks};

impl Slice {
    /// Takes requests from the network, and lets those whose delay is over enter the queue.
    pub(super) fn arrive(&mut self, cycle: u64, now: Ticks, ctx: &mut Context) {
        for _ in 0..self.arrivals_per_cycle {
            if !self.take_request(now, ctx) {
                break;
            }
        }
        while let Some(id) = self.arriving.ready(now) {
            self.note_arrival(id, ctx);
            let request = ctx.requests.get(id);
            if !self.queue.accepts(request) {
                self.queue.refused();
                self.blocked = self.queue.is_blocked();
                self.account.refused(cycle);
                break;
            }
            self.queue.push(id, request);
            self.account.entered(cycle, self.queued);
            self.queued += 1;
            self.mark(id, now, ctx);
            self.arriving.pop();
        }
    }

    /// Takes a request from the network; whether there was one and room for it.
    fn take_request(&mut self, now: Ticks, ctx: &mut Context) -> bool {
        if !self.has_input_room() {
            return false;
        }
        let Some(request) = ctx.fabric.ready(self.ports.requests, now) else { return false };
        ctx.fabric.pop(self.ports.requests, now);
        let due = Ticks(now.0 + self.input_ticks);
        // Written now, while the request's row is in the host's cache after the network's step.
        ctx.requests.stamps_mut(request).llc_arrived = due;
        self.arriving.push(due, request);
        true
    }

    /// A request is about to enter the queue. On its first attempt it gets its Critical Field.
    fn note_arrival(&mut self, id: RequestId, ctx: &mut Context) {
        if ctx.requests.get(id).critical_field > 0 {
            return;
        }
        let field = ctx.side.fields.of(ctx.requests.get(id));
        ctx.requests.get_mut(id).critical_field = field;
        // A request that stood behind another on arrival finds that one in the queue now.
        self.account.arrived(field, self.queued > 0);
    }

    pub(super) fn has_input_room(&self) -> bool {
        self.arriving.len() as u32 + self.queued < self.input_capacity && !self.blocked
    }
}
