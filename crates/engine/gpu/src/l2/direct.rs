//! A slice without a cache (`l2.enabled` = false): requests pass to DRAM and data pass back.
//! Nothing is kept or merged.
//!
//! A store is posted: it is acknowledged once its data have an entry in the queue to DRAM, as under
//! write-through. An atomic is a read followed, when its data arrive, by a write of its sector.

use super::slice::Slice;
use crate::context::Context;
use warpmem_sim::{L2Cycle, Request, RequestId, RequestKind, Ticks};

impl Slice {
    /// Passes a request to DRAM, which must have room.
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
            | RequestKind::Walk
            | RequestKind::Prefetch
            | RequestKind::Invalidate
            | RequestKind::Atomic => {
                ctx.requests.get_mut(id).offchip = true;
                self.to_dram.send(id, now, ctx);
            }
            RequestKind::Message | RequestKind::Translation => {
                unreachable!("such requests never enter a slice")
            }
        }
        if request.kind == RequestKind::Atomic {
            self.hold_for_atomic(request, cycle);
        }
    }

    /// Returns the write that a store or an atomic sends to DRAM: whole sectors, without a reply.
    fn data_of(&self, request: &Request) -> Request {
        Request {
            sectors: request.sectors,
            sm: request.sm,
            cta: request.cta,
            ..Request::of_slice(request.address, RequestKind::Writeback, request.place)
        }
    }

    /// Passes the data of a request back. The result of an atomic waits in the slice for an entry
    /// of the queue to DRAM, so that no fill waits for a write.
    pub(super) fn pass_back(&mut self, id: RequestId, now: Ticks, ctx: &mut Context) {
        ctx.pop(self.fill.port, now);
        self.replies.fill(id, now);
        let request = *ctx.requests.get(id);
        if request.kind == RequestKind::Atomic {
            let data = ctx.requests.add(self.data_of(&request), now);
            self.to_dram.hold_result(data);
        }
    }
}
