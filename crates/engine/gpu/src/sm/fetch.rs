//! Instruction fetch: chooses the warps that fetch in a cycle.

use warpmem_sim::WarpSlot;

/// Instructions per fetch.
pub(super) const FETCHED: u32 = 2;

/// Warps without an instruction, served round robin.
pub(super) struct Fetch {
    /// Warps that fetch per cycle; 0: fetch is ideal.
    warps_per_cycle: u32,
    /// Warps without an instruction, by slot.
    waiting: u64,
    /// Last slot to fetch. Initially 0, so that slot 1 fetches first (GPGPU-Sim,
    /// `m_last_warp_fetched`).
    last: WarpSlot,
}

impl Fetch {
    pub fn new(warps_per_cycle: u32) -> Fetch {
        Fetch { warps_per_cycle, waiting: 0, last: WarpSlot(0) }
    }

    /// Whether fetch is modelled.
    pub fn is_limited(&self) -> bool {
        self.warps_per_cycle > 0
    }

    pub fn warps_per_cycle(&self) -> u32 {
        self.warps_per_cycle
    }

    /// Warps without an instruction, by slot.
    #[inline]
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Queues the warp in `slot`, which has no instruction left.
    pub fn add(&mut self, slot: WarpSlot) {
        self.waiting |= slot.bit();
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warps_fetch_round_robin() {
        let mut fetch = Fetch::new(1);
        [3, 9, 60].into_iter().for_each(|slot| fetch.add(WarpSlot(slot)));
        assert_eq!([fetch.take(), fetch.take()], [3, 9].map(|slot| Some(WarpSlot(slot))));
        fetch.add(WarpSlot(5));
        assert_eq!([fetch.take(), fetch.take()], [60, 5].map(|slot| Some(WarpSlot(slot))));
        assert_eq!(fetch.take(), None);
    }
}
