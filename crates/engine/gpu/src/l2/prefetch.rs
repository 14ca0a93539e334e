//! The arrival of prefetched lines at a slice.

use super::slice::Slice;
use crate::context::Context;
use warpmem_cache::{Prefetch, ReservationFail};
use warpmem_sim::{Request, RequestId, Ticks};

impl Slice {
    /// Takes a prefetched line. It is allocated like any line, unless it is present, being fetched,
    /// or would have to wait for a victim.
    pub(super) fn fill_prefetch(&mut self, id: RequestId, now: Ticks, ctx: &mut Context) {
        ctx.pop(self.fill.port, now);
        let Request { address, place, sectors, .. } = *ctx.requests.get(id);
        ctx.requests.remove(id);
        let room = self.to_dram.room(ctx).saturating_sub(self.to_dram.reserved());
        let set_key = &self.spec.set_key;
        let prefetch =
            self.cache.prefetch(address, sectors.count_ones(), room, |_| set_key.of(place));
        match prefetch {
            Prefetch::Dropped(ReservationFail::MissQueueFull) => self.to_dram.wake_on_room(ctx),
            Prefetch::Inserted(allocated) => self.take_line(Some(allocated), address, now, ctx),
            _ => {}
        }
        // Counted last: the replaced line loses its mark first.
        self.prefetched.count(&prefetch, self.cache.lines());
    }
}
