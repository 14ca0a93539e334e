//! A slice without a cache (`llc.enabled` = false): what comes from the network goes on to DRAM,
//! what comes from DRAM goes back. Nothing is kept and nothing is merged.
//!
//! A store is posted: it is acknowledged once its data have an entry on the way to DRAM, as with a
//! cache that writes through. An atomic is a read, and when its data are back a write of its
//! sector.

use super::slice::Slice;
use crate::engine::Context;
use warpmem_sim::{Request, RequestId, RequestKind, Ticks};

impl Slice {
    /// A request goes on to DRAM, where it has an entry.
    pub(super) fn pass_down(
        &mut self,
        id: RequestId,
        request: &Request,
        cycle: u64,
        now: Ticks,
        ctx: &mut Context,
    ) {
        match request.kind {
            RequestKind::Writeback => self.send(id, now, ctx),
            RequestKind::Write => {
                let data = ctx.requests.add(self.data_of(request), now);
                self.send(data, now, ctx);
                self.hit(id, now);
            }
            RequestKind::Read
            | RequestKind::Fetch
            | RequestKind::Prefetch
            | RequestKind::Atomic => {
                ctx.requests.get_mut(id).offchip = true;
                self.send(id, now, ctx);
            }
        }
        if request.kind == RequestKind::Atomic {
            self.hold_for_atomic(request, cycle);
        }
    }

    /// The write that DRAM does for a store or an atomic: whole sectors, without an answer.
    fn data_of(&self, request: &Request) -> Request {
        Request {
            sectors: request.sectors,
            sm: request.sm,
            cta: request.cta,
            ..Request::of_slice(request.address, RequestKind::Writeback, self.index)
        }
    }

    /// The data of a request are back. The result of an atomic waits in the slice for an entry on
    /// the way to DRAM, so that no fill waits for DRAM to take a write.
    pub(super) fn pass_back(&mut self, id: RequestId, now: Ticks, ctx: &mut Context) {
        ctx.fabric.pop(self.ports.fills, now);
        self.answers.push(id);
        let request = *ctx.requests.get(id);
        if request.kind == RequestKind::Atomic {
            let data = ctx.requests.add(self.data_of(&request), now);
            self.results.push_back(data);
        }
    }

    /// Sends results of atomics to DRAM as far as there is room, before requests from the network.
    pub(super) fn send_results(&mut self, now: Ticks, ctx: &mut Context) {
        while let Some(&data) = self.results.front() {
            if self.room_below(ctx) == 0 {
                ctx.fabric.wake_writer(self.ports.misses);
                return;
            }
            self.results.pop_front();
            self.send(data, now, ctx);
        }
    }
}
