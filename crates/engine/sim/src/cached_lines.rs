//! The lines of each DRAM row that are in the L2, for prefetchers that skip them.

use crate::{BankId, RowId};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

type Rows = FxHashMap<BankRow, LineSet>;

/// A set of lines of one row, one bit per line.
pub type LineSet = u128;

/// A row of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BankRow {
    pub bank: BankId,
    pub row: RowId,
}

/// The lines of one channel that are allocated in its slices. The slices update the set; the
/// channel reads it when it opens a row. All hold clones of one `Arc`.
#[derive(Clone, Debug, Default)]
pub struct CachedLines(Arc<Mutex<Rows>>);

impl CachedLines {
    /// Uncontended: one thread steps a channel and its slices.
    fn rows(&self) -> MutexGuard<'_, Rows> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a line of the row, which has been allocated.
    pub fn add(&self, row: BankRow, line: u32) {
        *self.rows().entry(row).or_default() |= 1 << line;
    }

    /// Removes a line of the row, which has been evicted.
    pub fn remove(&self, row: BankRow, line: u32) {
        let mut rows = self.rows();
        let Some(lines) = rows.get_mut(&row) else { return };
        *lines &= !(1 << line);
        if *lines == 0 {
            rows.remove(&row);
        }
    }

    /// Returns the allocated lines of the row.
    pub fn of(&self, row: BankRow) -> LineSet {
        self.rows().get(&row).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_listed_while_they_are_allocated() {
        let cached = CachedLines::default();
        let row = |bank, row| BankRow { bank: BankId(bank), row: RowId(row) };
        let clone = cached.clone();
        clone.add(row(0, 7), 3);
        clone.add(row(0, 7), 5);
        clone.add(row(1, 7), 0);
        assert_eq!([row(0, 7), row(1, 7), row(0, 8)].map(|r| cached.of(r)), [0b10_1000, 1, 0]);
        clone.remove(row(0, 7), 3);
        clone.remove(row(0, 8), 3);
        assert_eq!(cached.of(row(0, 7)), 0b10_0000);
        clone.remove(row(0, 7), 5);
        assert_eq!(cached.of(row(0, 7)), 0);
    }
}
