//! Resets of lines that are kept (`cudaCtxResetPersistingL2Cache`), which a program asks for between
//! its kernels.

use std::sync::Arc;

/// The resets that have not reached a slice yet. One does with the first request of a kernel behind it.
pub(super) struct Resets {
    /// Of each reset, the first CTA behind it, ascending.
    first_ctas: Arc<[u32]>,
    passed: usize,
    /// That of the next reset; `u32::MAX`, which is no CTA, if there is none.
    next: u32,
}

impl Resets {
    pub fn new(first_ctas: Arc<[u32]>) -> Resets {
        let next = first_ctas.first().copied().unwrap_or(u32::MAX);
        Resets { first_ctas, passed: 0, next }
    }

    /// Whether a request of this CTA comes with a reset.
    #[inline]
    pub fn are_due(&mut self, cta: u32) -> bool {
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
    fn each_comes_once_with_the_first_request_behind_it() {
        let mut resets = Resets::new([4, 9, 12].into());
        let due = [0, u32::MAX, 3, 5, 4, 20, 21, 8, u32::MAX].map(|cta| resets.are_due(cta));
        let expected = [false, false, false, true, false, true, false, false, false];
        assert_eq!(due, expected);
        assert!(!Resets::new([].into()).are_due(7));
    }
}
