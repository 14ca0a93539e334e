//! Replies from the network, and the completion of memory instructions.

use super::MemoryPipeline;
use super::access::AccessId;
use crate::context::Context;
use crate::sm::scheduler::WarpScheduler;
use warpmem_sim::{CacheLevel, CoreCycle, Request, RequestId, RequestKind, Ticks, WarpSlot};

/// A completed memory instruction.
pub(in crate::sm) struct Completed {
    pub access: AccessId,
    pub warp_slot: WarpSlot,
    pub issue_cycle: CoreCycle,
    /// Whether it returned data to a register.
    pub returns: bool,
    /// Whether its warp may have ended.
    pub outlives_warp: bool,
    /// Whether it blocked the issue of its warp.
    pub held_warp: bool,
    /// Whether its warp waits at mbarriers.
    pub waits_at_mbarrier: bool,
}

impl MemoryPipeline {
    /// Whether a reply has arrived.
    #[inline]
    pub fn has_reply(&self, ctx: &Context) -> bool {
        let now = self.config.clock.at(self.cycle);
        ctx.fabric.head_ready(self.network.reply_port) <= now
    }

    /// Takes the replies of this cycle from the network.
    #[inline(never)]
    pub fn take_replies(&mut self, policy: &mut dyn WarpScheduler, ctx: &mut Context) {
        let mut taken = 0;
        while taken < self.config.replies_per_cycle && self.take_reply(policy, ctx) {
            taken += 1;
        }
    }

    /// Takes a reply from the network; returns whether there was one to take.
    fn take_reply(&mut self, policy: &mut dyn WarpScheduler, ctx: &mut Context) -> bool {
        let cycle = self.cycle;
        let (now, port) = (self.config.clock.at(cycle), self.network.reply_port);
        let Some(request) = ctx.fabric.ready(port, now) else { return false };
        if !self.forward_copy(request, ctx) {
            return false;
        }
        ctx.pop(port, now);
        self.network.replied();
        self.counts.replies += 1;
        self.counts.reply_ticks += now.since(ctx.requests.stamps(request).created);
        let &Request { kind, bypass, address, access, .. } = ctx.requests.get(request);
        let fills_l1 = matches!(kind, RequestKind::Read | RequestKind::Fetch) && !bypass;
        if !fills_l1 {
            self.request_back(request, now, ctx);
            return true;
        }
        let room = self.network.room(cycle, ctx.fabric);
        let fill = self.tags.fill(address, room, cycle);
        self.allocate(AccessId(access), fill.allocated, policy, ctx);
        if fill.count == 1 {
            self.request_back(request, now, ctx);
        } else {
            self.all_back(request, fill.first, now, ctx);
        }
        true
    }

    /// Completes `request` and all requests merged with it, from `first` on.
    fn all_back(&mut self, request: RequestId, first: RequestId, now: Ticks, ctx: &mut Context) {
        let (row, stamps) = (*ctx.requests.get(request), *ctx.requests.stamps(request));
        let mut next = first;
        while next != RequestId::NONE {
            let merged = next;
            next = ctx.requests.next(merged, CacheLevel::L1);
            if merged != request {
                ctx.requests.share_reply(merged, &row, &stamps);
            }
            self.request_back(merged, now, ctx);
        }
    }

    /// Completes a request: removes it from the table and counts it for its instruction.
    fn request_back(&mut self, id: RequestId, now: Ticks, ctx: &mut Context) {
        let cycle = self.cycle;
        let (request, stamps) = (ctx.requests.get(id), ctx.requests.stamps(id));
        if request.kind == RequestKind::Read {
            ctx.record.latency(request, stamps, now);
        }
        let access = AccessId(request.access);
        if ctx.record.samples_request() {
            let (access, period) = (self.accesses.get(access), self.config.clock.period());
            ctx.record.request(access.request_row(request, stamps, now, period));
        }
        let row = self.accesses.get_mut(access);
        row.request_back(request, stamps, now.since(stamps.created));
        let returns = row.returns;
        ctx.requests.remove(id);
        let ready = if returns {
            // Arriving data are filled into L1 or buffered, then written to registers, one a cycle.
            let latency = self.config.writeback_latency;
            self.completions.write_back(cycle, cycle + 2 * latency)
        } else {
            cycle
        };
        self.complete_if_done(access, ready);
    }

    /// Takes the next memory instruction that completes by this cycle and frees its row in the
    /// access table.
    pub fn take_completed(&mut self, ctx: &mut Context) -> Option<Completed> {
        let access = self.completions.take(self.cycle)?;
        Some(self.complete(access, ctx))
    }

    fn complete(&mut self, id: AccessId, ctx: &mut Context) -> Completed {
        let access = self.accesses.get(id);
        let load = access.load;
        let completed = Completed {
            access: id,
            warp_slot: access.warp_slot(),
            issue_cycle: access.issue_cycle(),
            returns: access.returns,
            outlives_warp: access.outlives_warp,
            held_warp: access.holds_warp,
            waits_at_mbarrier: access.waits_at_mbarrier,
        };
        if access.returns && access.row.requests > 0 {
            let row = access.finished_row(self.cycle, self.config.clock.period());
            ctx.record.load(&row);
        }
        if access.is_tracked_copy {
            self.end_copy(id);
        }
        self.accesses.remove(id);
        ctx.finish_load(load);
        completed
    }
}
