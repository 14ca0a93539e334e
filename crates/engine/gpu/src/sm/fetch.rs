//! Instruction fetch: which warps get their next instructions.

use warpmem_sim::WarpSlot;

/// Instructions that a warp gets at a time.
pub(super) const FETCHED: u32 = 2;

/// The warps that have no instruction left, served round robin.
pub(super) struct Fetch {
    /// Warps that fetch instructions in a cycle; 0: fetch is ideal.
    warps_per_cycle: u32,
    /// Warps without an instruction, by slot.
    waiting: u64,
    /// At first slot 0, so that slot 1 is the first to fetch (GPGPU-Sim, `m_last_warp_fetched`).
    last: WarpSlot,
}

impl Fetch {
    pub fn new(warps_per_cycle: u32) -> Fetch {
        Fetch { warps_per_cycle, waiting: 0, last: WarpSlot(0) }
    }

    /// Whether warps must fetch at all.
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

    /// The warp in `slot` has no instruction left.
    pub fn add(&mut self, slot: WarpSlot) {
        self.waiting |= slot.bit();
    }

    /// Takes the next warp that fetches.
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
