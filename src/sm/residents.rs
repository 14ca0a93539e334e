//! Resident CTAs: what they have issued, and which of them pause because fewer may issue than are there.

use super::{Cta, Sm, bits};

impl Sm {
    /// Warp instructions that each CTA of a kernel on this SM has issued.
    pub fn issued_by_ctas(&self, kernel: u32) -> Vec<u64> {
        let issued = |slot: u32| self.warps[slot as usize].as_ref().map_or(0, |warp| warp.index);
        let of_cta = |cta: &Cta| cta.issued + bits(cta.slots).map(issued).sum::<u64>();
        self.ctas.iter().flatten().filter(|cta| cta.kernel == kernel).map(of_cta).collect()
    }

    /// Sets the most CTAs that may issue from the next step on, at least 1; whether that is news.
    pub fn limit_running(&mut self, ctas: u32) -> bool {
        if self.running_limit == ctas {
            return false;
        }
        self.running_limit = ctas;
        self.choose_paused();
        true
    }

    /// The CTAs launched last pause, as many as there are beyond the limit.
    pub(super) fn choose_paused(&mut self) {
        if self.running_limit == u32::MAX {
            return;
        }
        let mut ctas: Vec<(u64, u64)> =
            self.ctas.iter().flatten().map(|cta| (cta.age, cta.slots)).collect();
        ctas.sort_unstable();
        let beyond = ctas.iter().skip(self.running_limit as usize);
        self.paused = beyond.fold(0, |paused, &(_, slots)| paused | slots);
    }
}
