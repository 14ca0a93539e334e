//! Which units have a turn: sets of numbers, one bit each.

/// Turns in this cycle, in the next, and in whichever comes next.
pub(super) struct Turns {
    now: Vec<u64>,
    next: Vec<u64>,
    later: Vec<u64>,
}

impl Turns {
    pub fn new(units: usize) -> Turns {
        let words = units.div_ceil(64);
        Turns { now: vec![0; words], next: vec![0; words], later: vec![0; words] }
    }

    /// A unit has a turn in this cycle.
    #[inline]
    pub fn now(&mut self, unit: usize) {
        self.now[unit / 64] |= 1 << (unit % 64);
    }

    /// A unit has a turn in the next cycle.
    #[inline]
    pub fn next(&mut self, unit: usize) {
        self.next[unit / 64] |= 1 << (unit % 64);
    }

    /// A unit has a turn in the next cycle in which there are any.
    #[inline]
    pub fn later(&mut self, unit: usize) {
        self.later[unit / 64] |= 1 << (unit % 64);
    }

    /// Takes the first unit of this cycle at or behind word `word` of the set; with it the word it
    /// was found in.
    #[inline]
    pub fn take(&mut self, word: usize) -> Option<(usize, usize)> {
        let found = (word..self.now.len()).find(|&word| self.now[word] != 0)?;
        let bits = &mut self.now[found];
        let unit = found * 64 + bits.trailing_zeros() as usize;
        *bits &= *bits - 1;
        Some((found, unit))
    }

    /// This cycle, in which all have had their turns, is over; whether somebody has a turn in the
    /// next.
    #[inline]
    pub fn advance(&mut self) -> bool {
        let mut busy = 0;
        for ((now, next), later) in self.now.iter_mut().zip(&mut self.next).zip(&mut self.later) {
            busy |= *next;
            *now = std::mem::take(next) | std::mem::take(later);
        }
        busy != 0
    }
}
