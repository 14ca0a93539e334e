//! Replies from the memory below, and the end of memory instructions.

use super::MemoryPipeline;
use super::access::AccessId;
use crate::context::Context;
use crate::sm::scheduler::WarpScheduler;
use std::cmp::Reverse;
use warpmem_sim::{CacheLevel, Request, RequestId, RequestKind, Ticks, WarpSlot};

/// A memory instruction that has completed.
pub(in crate::sm) struct Completed {
    pub access: AccessId,
    pub warp_slot: WarpSlot,
    /// Whether a register waited for it.
    pub returns: bool,
    /// Whether its warp issued nothing meanwhile.
    pub held_warp: bool,
    /// Whether its warp waits at mbarriers.
    pub waits: bool,
}

impl MemoryPipeline {
    /// Takes at most one reply from the network.
    pub fn take_reply(&mut self, policy: &mut dyn WarpScheduler, ctx: &mut Context) {
        let cycle = self.cycle;
        let now = self.clock.at(cycle);
        let Some(request) = ctx.fabric.ready(self.reply_port, now) else { return };
        if !self.pass_on(request, ctx) {
            return;
        }
        ctx.pop(self.reply_port, now);
        self.in_flight -= 1;
        self.counts.replies += 1;
        self.counts.reply_ticks += now.since(ctx.requests.stamps(request).created);
        let &Request { kind, bypass, address, access, .. } = ctx.requests.get(request);
        let waits_in_l1 = matches!(kind, RequestKind::Read | RequestKind::Fetch) && !bypass;
        if !waits_in_l1 {
            self.request_back(request, now, ctx);
            return;
        }
        let room = self.room(ctx);
        let fill = self.l1.fill(address, room);
        self.last_fill = cycle;
        self.take_line(AccessId(access), fill.allocated, policy, ctx);
        if fill.count == 1 {
            self.request_back(request, now, ctx);
        } else {
            self.all_back(request, fill.first, now, ctx);
        }
    }

    /// The requests that waited for `request` are back with it, from `first` on.
    fn all_back(&mut self, request: RequestId, first: RequestId, now: Ticks, ctx: &mut Context) {
        let (row, stamps) = (*ctx.requests.get(request), *ctx.requests.stamps(request));
        let mut next = first;
        while next != RequestId::NONE {
            let waiting = next;
            next = ctx.requests.next(waiting, CacheLevel::L1);
            if waiting != request {
                ctx.requests.share_reply(waiting, &row, &stamps);
            }
            self.request_back(waiting, now, ctx);
        }
    }

    /// A request is back: it leaves the table, and its instruction is one request nearer its end.
    fn request_back(&mut self, id: RequestId, now: Ticks, ctx: &mut Context) {
        let cycle = self.cycle;
        let (request, stamps) = (ctx.requests.get(id), ctx.requests.stamps(id));
        if request.kind == RequestKind::Read {
            ctx.record.latency(request, stamps, now);
        }
        let access = AccessId(request.access);
        if ctx.record.samples_request() {
            let (access, period) = (self.accesses.get(access), self.clock.period());
            ctx.record.request(access.request_row(request, stamps, now, period));
        }
        let row = self.accesses.get_mut(access);
        row.request_back(request, stamps, now.since(stamps.created));
        ctx.requests.remove(id);
        if row.returns {
            // Arriving data are filled into L1 or buffered, then written to registers, one a cycle.
            let written = self.writeback.take(cycle, cycle + 2 * self.writeback_latency);
            row.ready_cycle = row.ready_cycle.max(written);
        } else {
            row.ready_cycle = row.ready_cycle.max(cycle);
        }
        if row.waiting == 0 {
            self.completions.push(Reverse((row.ready_cycle, access)));
        }
    }

    /// The next memory instruction whose last datum is there, which leaves the access table.
    pub fn take_completed(&mut self, ctx: &mut Context) -> Option<Completed> {
        let &Reverse((ready, access)) = self.completions.peek()?;
        if ready > self.cycle {
            return None;
        }
        self.completions.pop();
        Some(self.complete(access, ctx))
    }

    fn complete(&mut self, id: AccessId, ctx: &mut Context) -> Completed {
        let access = self.accesses.get(id);
        let (warp_slot, load) = (access.warp_slot(), access.load);
        let (returns, held_warp) = (access.returns, access.holds_warp);
        let (is_told, waits) = (access.is_told, access.waits);
        if returns && access.row.requests > 0 {
            let row = access.finished_row(self.cycle, self.clock.period());
            ctx.record.load(&row);
        }
        if is_told {
            self.end_copy(id);
        }
        self.accesses.remove(id);
        ctx.finish_load(load);
        Completed { access: id, warp_slot, returns, held_warp, waits }
    }
}
