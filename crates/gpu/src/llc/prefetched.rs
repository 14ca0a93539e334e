//! Lines that DRAM has prefetched: which are allocated in the cache, and what becomes of them.

use super::slice::Slice;
use crate::engine::Context;
use warpmem_cache::Slot;
use warpmem_sim::{AddressMap, CachedLines, RequestId, Row, Ticks};

/// Slots of prefetched lines that no request has used yet, one bit each.
#[derive(Default)]
pub(super) struct Unused(Vec<u64>);

impl Unused {
    fn mark(&mut self, slot: Slot, places: usize) {
        self.0.resize(places.div_ceil(64), 0);
        self.0[slot.index() / 64] |= 1 << (slot.index() % 64);
    }

    /// Takes the mark away; whether there was one.
    #[inline]
    fn clear(&mut self, slot: Slot) -> bool {
        let Some(word) = self.0.get_mut(slot.index() / 64) else { return false };
        let bit = 1 << (slot.index() % 64);
        let was_marked = *word & bit != 0;
        *word &= !bit;
        was_marked
    }

    fn count(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.count_ones())).sum()
    }
}

/// The channel's list of cached lines, where its prefetcher keeps one.
pub(super) struct Noted {
    pub lines: CachedLines,
    pub columns_per_line: u32,
}

impl Noted {
    fn place(&self, map: &AddressMap, address: u64) -> (Row, u32) {
        let place = map.locate(address);
        (Row { bank: place.bank, row: place.row }, place.column / self.columns_per_line)
    }
}

impl Slice {
    /// The line of `address` replaces the one at `leaving`.
    #[inline]
    pub(super) fn note_places(&self, leaving: Option<u64>, address: u64, ctx: &Context) {
        let Some(noted) = &self.noted else { return };
        if let Some(leaving) = leaving {
            let (row, line) = noted.place(ctx.map, leaving);
            noted.lines.remove(row, line);
        }
        let (row, line) = noted.place(ctx.map, address);
        noted.lines.add(row, line);
    }

    /// A prefetched line has come. It is allocated as any line is, unless it is present, on its
    /// way, or would have to wait for a victim.
    pub(super) fn fill_prefetch(&mut self, id: RequestId, now: Ticks, ctx: &mut Context) {
        ctx.fabric.pop(self.ports.fills, now);
        let address = ctx.requests.get(id).address;
        let sectors = ctx.requests.get(id).sectors;
        ctx.requests.remove(id);
        let first = self.geometry.sector(address);
        let awaited = (first..first + u64::from(sectors.count_ones()))
            .any(|sector| self.mshr.find(sector).is_some());
        self.result.prefetches.lines += 1;
        if awaited {
            self.result.prefetches.late += 1;
        } else if self.tags.find(self.geometry.line(address)).is_some() {
            self.result.prefetches.redundant += 1;
        } else if let Ok(slot) = self.allocate(address, self.entries_kept(), now, ctx) {
            (0..sectors.count_ones()).for_each(|sector| self.tags.fill(slot, sector));
            self.unused.mark(slot, self.tags.places());
        } else {
            self.result.prefetches.dropped += 1;
        }
    }

    /// A request has hit the line in `slot`.
    #[inline]
    pub(super) fn use_line(&mut self, slot: Slot) {
        self.result.prefetches.used += u64::from(self.unused.clear(slot));
    }

    /// Another line has replaced the one in `slot`.
    pub(super) fn evict_line(&mut self, slot: Slot) {
        self.result.prefetches.evicted_unused += u64::from(self.unused.clear(slot));
    }

    /// Counts the prefetched lines that were never used.
    pub(super) fn finish_prefetches(&mut self) {
        self.result.prefetches.unused = self.unused.count();
    }
}
