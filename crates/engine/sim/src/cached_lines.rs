//! Which lines of each DRAM row are in the L2, for prefetchers that skip them.

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

/// The lines of one channel that are allocated in its slices. The slices update the set and the
/// channel reads it when it opens a row; all of them hold clones of the same `Arc`.
#[derive(Clone, Debug, Default)]
pub struct CachedLines(Arc<Mutex<Rows>>);

impl CachedLines {
    /// A channel and its slices are stepped by one thread, so that nobody waits.
    fn rows(&self) -> MutexGuard<'_, Rows> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A line of the row has been allocated.
    pub fn add(&self, row: BankRow, line: u32) {
        *self.rows().entry(row).or_default() |= 1 << line;
    }

    /// A line of the row has been evicted.
    pub fn remove(&self, row: BankRow, line: u32) {
        let mut rows = self.rows();
        let Some(lines) = rows.get_mut(&row) else { return };
        *lines &= !(1 << line);
        if *lines == 0 {
            rows.remove(&row);
        }
    }

    /// The allocated lines of the row.
    pub fn of(&self, row: BankRow) -> LineSet {
        self.rows().get(&row).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_known_by_their_row_while_they_have_places() {
        let cached = CachedLines::default();
        let row = |bank, row| BankRow { bank: BankId(bank), row: RowId(row) };
        let told = cached.clone();
        told.add(row(0, 7), 3);
        told.add(row(0, 7), 5);
        told.add(row(1, 7), 0);
        assert_eq!([row(0, 7), row(1, 7), row(0, 8)].map(|r| cached.of(r)), [0b10_1000, 1, 0]);
        told.remove(row(0, 7), 3);
        told.remove(row(0, 8), 3);
        assert_eq!(cached.of(row(0, 7)), 0b10_0000);
        told.remove(row(0, 7), 5);
        assert_eq!(cached.of(row(0, 7)), 0);
    }
}
