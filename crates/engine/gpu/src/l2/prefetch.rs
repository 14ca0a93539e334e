//! Lines that DRAM has prefetched, as they come to a slice.

use super::slice::Slice;
use crate::context::Context;
use warpmem_cache::{Prefetch, ReservationFail};
use warpmem_sim::{Request, RequestId, Ticks};

impl Slice {
    /// A prefetched line has come. It is allocated as any line is, unless it is present, on its
    /// way, or would have to wait for a victim.
    pub(super) fn fill_prefetch(&mut self, id: RequestId, now: Ticks, ctx: &mut Context) {
        ctx.pop(self.fills, now);
        let Request { address, place, sectors, .. } = *ctx.requests.get(id);
        ctx.requests.remove(id);
        let room = self.to_dram.room(ctx).saturating_sub(self.to_dram.reserved());
        let set_key = &self.set_key;
        let prefetch =
            self.cache.prefetch(address, sectors.count_ones(), room, |_| set_key.of(place));
        match prefetch {
            Prefetch::Dropped(ReservationFail::MissQueueFull) => self.to_dram.wake_on_room(ctx),
            Prefetch::Inserted(allocated) => self.take_line(Some(allocated), address, now, ctx),
            _ => {}
        }
        // Last: the line that an inserted one replaces loses its mark first.
        self.prefetched.count(&prefetch, self.cache.lines());
    }
}
