//! Instruction fetch: chooses the warps that fetch in a cycle, and makes warps wait for lines of the
//! instruction cache.

use super::read_only_cache::ReadOnlyCache;
use warpmem_machine::Sm as Config;
use warpmem_sim::WarpSlot;

/// Instructions per fetch.
pub(super) const FETCHED: u32 = 2;

/// Warps without an instruction.
///
/// ```text
///  needs an instruction ─▶ line absent: missing ─▶ waiting: fetches round robin ─▶ has one
/// ```
pub(super) struct Fetch {
    /// Warps that fetch per cycle; 0: any number, at once.
    warps_per_cycle: u32,
    /// None if every access hits.
    cache: Option<Box<ReadOnlyCache>>,
    instruction_bytes: u64,
    /// Warps that may fetch, and warps whose line is in flight, by slot.
    waiting: u64,
    missing: u64,
    /// Last slot to fetch. Initially 0, so that slot 1 fetches first (GPGPU-Sim,
    /// `m_last_warp_fetched`).
    last: WarpSlot,
}

impl Fetch {
    pub fn new(config: &Config) -> Fetch {
        Fetch {
            warps_per_cycle: config.fetch_warps,
            cache: ReadOnlyCache::new(&config.instruction_cache),
            instruction_bytes: u64::from(config.instruction_bytes),
            waiting: 0,
            missing: 0,
            last: WarpSlot(0),
        }
    }

    /// Whether lines may miss.
    #[inline]
    pub fn has_cache(&self) -> bool {
        self.cache.is_some()
    }

    /// Whether the warps that fetch per cycle are limited.
    pub fn is_limited(&self) -> bool {
        self.warps_per_cycle > 0
    }

    pub fn warps_per_cycle(&self) -> u32 {
        self.warps_per_cycle
    }

    /// Returns the instruction cache, and the line of instruction `position` of a kernel.
    pub fn line(&mut self, kernel: u32, position: u32) -> Option<(&mut ReadOnlyCache, u64)> {
        let address = u64::from(position) * self.instruction_bytes;
        let cache = self.cache.as_deref_mut()?;
        let line = cache.line_of(kernel, address);
        Some((cache, line))
    }

    /// Warps that may fetch, by slot.
    #[inline]
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Warps without an instruction, by slot.
    #[inline]
    pub fn absent(&self) -> u64 {
        self.waiting | self.missing
    }

    /// Queues the warp in `slot`, which has no instruction left.
    pub fn add(&mut self, slot: WarpSlot) {
        self.waiting |= slot.bit();
    }

    /// Makes the warp in `slot` wait for its line.
    pub fn miss(&mut self, slot: WarpSlot) {
        self.missing |= slot.bit();
    }

    /// Warps whose line is in flight, by slot.
    #[inline]
    pub fn missing(&self) -> u64 {
        self.missing
    }

    /// Ends the miss of these warps, whose line has arrived.
    pub fn end_misses(&mut self, warps: u64) {
        self.missing &= !warps;
    }

    /// Takes the next warp to fetch.
    pub fn take(&mut self) -> Option<WarpSlot> {
        if self.waiting == 0 {
            return None;
        }
        let after = self.waiting & (!1u64 << self.last.0);
        let slot = WarpSlot::lowest(if after != 0 { after } else { self.waiting });
        self.waiting &= !slot.bit();
        self.last = slot;
        Some(slot)
    }

    /// Returns the number of instruction lines that missed.
    pub fn misses(&self) -> u64 {
        self.cache.as_ref().map_or(0, |cache| cache.misses())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::machine;

    #[test]
    fn warps_fetch_round_robin() {
        let mut fetch = Fetch::new(&machine(&["sm.fetch_warps=1"]).sm);
        [3, 9, 60].into_iter().for_each(|slot| fetch.add(WarpSlot(slot)));
        assert_eq!([fetch.take(), fetch.take()], [3, 9].map(|slot| Some(WarpSlot(slot))));
        fetch.add(WarpSlot(5));
        assert_eq!([fetch.take(), fetch.take()], [60, 5].map(|slot| Some(WarpSlot(slot))));
        assert_eq!(fetch.take(), None);
    }
}
