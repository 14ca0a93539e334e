//! Resets between kernels: of `evict_last` lines (`cudaCtxResetPersistingL2Cache`), or of all lines
//! (`run.cold_launches`).

use std::sync::Arc;

/// The pending resets of a slice. A reset takes effect with the first request of a later kernel.
pub(super) struct Resets {
    /// First CTA after each reset, ascending.
    first_ctas: Arc<[u32]>,
    passed: usize,
    /// First CTA after the next reset; `u32::MAX`, which is no CTA, if there is none.
    next: u32,
    /// Sectors that were dirty at a reset of all lines.
    pub dirty_sectors: u64,
}

impl Resets {
    pub fn new(first_ctas: Arc<[u32]>) -> Resets {
        let next = first_ctas.first().copied().unwrap_or(u32::MAX);
        Resets { first_ctas, passed: 0, next, dirty_sectors: 0 }
    }

    /// Returns whether a request of this CTA triggers a reset.
    #[inline]
    pub fn is_due(&mut self, cta: u32) -> bool {
        let due = cta >= self.next && cta != u32::MAX;
        if due {
            self.pass(cta);
        }
        due
    }

    #[cold]
    fn pass(&mut self, cta: u32) {
        let ahead = &self.first_ctas[self.passed..];
        self.passed += ahead.iter().take_while(|&&first| first <= cta).count();
        self.next = self.first_ctas.get(self.passed).copied().unwrap_or(u32::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reset_takes_effect_once_with_the_first_later_request() {
        let mut resets = Resets::new([4, 9, 12].into());
        let due = [0, u32::MAX, 3, 5, 4, 20, 21, 8, u32::MAX].map(|cta| resets.is_due(cta));
        let expected = [false, false, false, true, false, true, false, false, false];
        assert_eq!(due, expected);
        assert!(!Resets::new([].into()).is_due(7));
    }
}
