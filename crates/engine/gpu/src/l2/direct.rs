//! A slice without a cache (`l2.enabled` = false): what comes from the network goes on to DRAM,
//! what comes from DRAM goes back. Nothing is kept and nothing is merged.
//!
//! A store is posted: it is acknowledged once its data have an entry on the way to DRAM, as with a
//! cache that writes through. An atomic is a read, and when its data are back a write of its
//! sector.

use super::slice::Slice;
use crate::context::Context;
use warpmem_sim::{L2Cycle, Request, RequestId, RequestKind, Ticks};

impl Slice {
    /// A request goes on to DRAM, where it has an entry.
    pub(super) fn pass_down(
        &mut self,
        id: RequestId,
        request: &Request,
        cycle: L2Cycle,
        now: Ticks,
        ctx: &mut Context,
    ) {
        match request.kind {
            RequestKind::Writeback => self.to_dram.send(id, now, ctx),
            RequestKind::Write => {
                let data = ctx.requests.add(self.data_of(request), now);
                self.to_dram.send(data, now, ctx);
                self.replies.hit(id, now);
            }
            RequestKind::Read
            | RequestKind::Fetch
            | RequestKind::Prefetch
            | RequestKind::Invalidate
            | RequestKind::Atomic => {
                ctx.requests.get_mut(id).offchip = true;
                self.to_dram.send(id, now, ctx);
            }
            RequestKind::Message => unreachable!("it goes to an SM"),
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
            ..Request::of_slice(request.address, RequestKind::Writeback, request.place)
        }
    }

    /// The data of a request are back. The result of an atomic waits in the slice for an entry on
    /// the way to DRAM, so that no fill waits for DRAM to take a write.
    pub(super) fn pass_back(&mut self, id: RequestId, now: Ticks, ctx: &mut Context) {
        ctx.pop(self.fills, now);
        self.replies.fill(id, now);
        let request = *ctx.requests.get(id);
        if request.kind == RequestKind::Atomic {
            let data = ctx.requests.add(self.data_of(&request), now);
            self.to_dram.hold_result(data);
        }
    }
}
