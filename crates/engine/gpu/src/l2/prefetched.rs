//! Lines that DRAM has prefetched: their marks in the cache, and their outcomes.

use crate::results::PrefetchCounts;
use warpmem_cache::{LineSlot, Prefetch};
use warpmem_sim::{AddressMap, BankRow, CachedLines, ChannelId};

/// Slots of prefetched lines that no request has used yet, one bit each.
#[derive(Default)]
struct Unused(Vec<u64>);

impl Unused {
    fn mark(&mut self, slot: LineSlot, places: usize) {
        self.0.resize(places.div_ceil(64), 0);
        self.0[slot.index() / 64] |= 1 << (slot.index() % 64);
    }

    /// Clears the mark. Returns whether there was one.
    #[inline]
    fn clear(&mut self, slot: LineSlot) -> bool {
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

/// The channel's list of cached lines, kept for its prefetcher.
struct LineList {
    channel: ChannelId,
    lines: CachedLines,
    columns_per_line: u32,
}

impl LineList {
    /// Returns the row and the line number in the channel; none for a copy of another channel's
    /// line.
    fn place(&self, map: &AddressMap, address: u64) -> Option<(BankRow, u32)> {
        let place = map.locate(address);
        let row = BankRow { bank: place.bank, row: place.row };
        let line = u32::from(place.column) / self.columns_per_line;
        (place.channel == self.channel).then_some((row, line))
    }
}

/// State of the lines that the channel has prefetched into a slice.
#[derive(Default)]
pub(super) struct Prefetched {
    unused: Unused,
    noted: Option<LineList>,
    counts: PrefetchCounts,
}

impl Prefetched {
    /// Keeps `lines`, the channel's list of lines that are cached here, up to date.
    pub fn note_lines(&mut self, channel: ChannelId, lines: CachedLines, columns_per_line: u32) {
        self.noted = Some(LineList { channel, lines, columns_per_line });
    }

    /// Updates the list: the line of `address` replaces the one at `leaving`.
    #[inline]
    pub fn note_replaced(&self, leaving: Option<u64>, address: u64, map: &AddressMap) {
        let Some(noted) = &self.noted else { return };
        if let Some(leaving) = leaving {
            self.note_left(leaving, map);
        }
        if let Some((row, line)) = noted.place(map, address) {
            noted.lines.add(row, line);
        }
    }

    /// Updates the list: the line of `address` has left the cache.
    pub fn note_left(&self, address: u64, map: &AddressMap) {
        let Some(noted) = &self.noted else { return };
        if let Some((row, line)) = noted.place(map, address) {
            noted.lines.remove(row, line);
        }
    }

    /// Counts an arrived prefetched line and its outcome in a cache of `lines` lines.
    pub fn count(&mut self, prefetch: &Prefetch, lines: usize) {
        self.counts.lines += 1;
        match prefetch {
            Prefetch::Late => self.counts.late += 1,
            Prefetch::Redundant => self.counts.redundant += 1,
            Prefetch::Dropped(_) => self.counts.dropped += 1,
            Prefetch::Inserted(allocated) => self.unused.mark(allocated.slot, lines),
        }
    }

    /// Records a hit of the line in `slot`.
    #[inline]
    pub fn use_line(&mut self, slot: LineSlot) {
        self.counts.used += u64::from(self.unused.clear(slot));
    }

    /// Records the eviction of the line in `slot`.
    pub fn evict_line(&mut self, slot: LineSlot) {
        self.counts.evicted_unused += u64::from(self.unused.clear(slot));
    }

    /// Counts the marked lines as unused, at the end of the run.
    pub fn end(&mut self) {
        self.counts.unused = self.unused.count();
    }

    pub fn counts(&self) -> &PrefetchCounts {
        &self.counts
    }
}
