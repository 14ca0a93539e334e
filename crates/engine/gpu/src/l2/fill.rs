//! Data from DRAM: the line they fill, and the requests they answer.

use super::slice::Slice;
use crate::context::Context;
use warpmem_cache::{Fill, ReservationFail};
use warpmem_sim::{CacheLevel, Insertion, L2Cycle, Request, RequestId, RequestKind, Ticks};

impl Slice {
    /// Takes the fill at the head of the port from DRAM, which must be free, whether or not the
    /// previous one is answered (GPGPU-Sim, `memory_sub_partition::cache_cycle`). Without a cache
    /// nothing but the port holds a fill, so it waits there until the previous one is answered.
    #[inline(never)]
    pub(super) fn fill(&mut self, cycle: L2Cycle, now: Ticks, ctx: &mut Context) {
        let Some(id) = ctx.fabric.ready(self.fill.port, now) else { return };
        if ctx.requests.get(id).kind == RequestKind::Prefetch {
            self.fill_prefetch(id, now, ctx);
        } else if self.spec.cached {
            self.fill.blocked = self.fill_line(id, now, ctx).is_err();
            if !self.fill.blocked {
                self.fill.free =
                    cycle + self.spec.port_cycles(self.cache.geometry().sector_bytes());
            }
        } else if !self.replies.has_unanswered_fills() {
            self.pass_back(id, now, ctx);
        }
    }

    /// Fills the line and answers all requests merged into its MSHR entry.
    fn fill_line(
        &mut self,
        id: RequestId,
        now: Ticks,
        ctx: &mut Context,
    ) -> Result<(), ReservationFail> {
        let address = ctx.requests.get(id).address;
        let fill = self.keep_or_pass(id, address, now, ctx).inspect_err(|_| {
            self.to_dram.wake_on_room(ctx);
        })?;
        self.take_line(fill.allocated, address, now, ctx);
        ctx.pop(self.fill.port, now);
        if let Some((_, next)) = ctx.fabric.head(self.fill.port) {
            self.cache.will_be_filled(ctx.requests.get(next).address);
        }
        self.to_dram.forget_merges(fill.entry, now);
        self.result.mshr_merge_length.record(u64::from(fill.count));
        self.replies.fill(fill.first, now);
        let mut next = fill.first;
        while next != RequestId::NONE {
            let (this, kind) = (next, ctx.requests.get(next).kind);
            next = ctx.requests.next(this, CacheLevel::L2);
            if let Some(slot) = fill.slot.filter(|_| kind == RequestKind::Atomic) {
                self.cache.modify(slot, address, self.room(ctx));
                self.write_back_cleaned(now, ctx);
            }
            if this != id {
                ctx.requests.share_fill(this, id);
            }
            self.note_copy(fill.slot, this, ctx);
        }
        self.replies.skip_own_fetches(ctx.requests);
        Ok(())
    }

    /// Fills a line unless the data bypass the cache. Fails while a dirty victim has no entry in the
    /// queue to DRAM.
    fn keep_or_pass(
        &mut self,
        id: RequestId,
        address: u64,
        now: Ticks,
        ctx: &mut Context,
    ) -> Result<Fill, ReservationFail> {
        let &Request { insertion, place, .. } = ctx.requests.get(id);
        let insertion = match insertion {
            Insertion::Nowhere if self.needs_line(address, ctx) => Insertion::Newest,
            insertion => insertion,
        };
        let (room, set_key) = (self.room(ctx), &self.spec.set_key);
        match self.cache.fill(address, insertion, room, |_| set_key.of(place)) {
            // Every line of the set waits for a later fill: the results of atomics go to DRAM.
            Err(ReservationFail::LineAlloc) if room.queue == 0 => {
                Err(ReservationFail::MissQueueFull)
            }
            Err(ReservationFail::LineAlloc) => {
                self.to_dram.write(address, 1, now, ctx);
                Ok(self.cache.fill_nothing(address))
            }
            fill => fill.inspect(|_| self.place_line(address, insertion)),
        }
    }

    /// Returns whether an atomic, which needs a line, waits for the sector at `address`.
    fn needs_line(&self, address: u64, ctx: &Context) -> bool {
        let entry = self.cache.outstanding(address);
        let mut next = entry.map_or(RequestId::NONE, |entry| self.cache.mshr().first(entry));
        while next != RequestId::NONE {
            if ctx.requests.get(next).kind == RequestKind::Atomic {
                return true;
            }
            next = ctx.requests.next(next, CacheLevel::L2);
        }
        false
    }
}
