//! Tables indexed by one type of id.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// Number of a unit or of an entry, declared by `ids!`.
pub trait Id: Copy {
    /// Returns the id of position `index`, which must fit.
    fn new(index: usize) -> Self;

    /// Returns its position in a table.
    fn index(self) -> usize;
}

/// A table with one entry per id.
#[derive(Clone, Debug)]
pub struct Table<I, T> {
    entries: Vec<T>,
    /// The table is indexed by ids and stores none.
    ids: PhantomData<fn(I)>,
}

impl<I: Id, T> Table<I, T> {
    /// Creates an empty table.
    pub fn new() -> Table<I, T> {
        Vec::new().into()
    }

    /// Creates a table of `count` entries from their ids.
    pub fn from_fn(count: usize, entry: impl FnMut(I) -> T) -> Table<I, T> {
        (0..count).map(I::new).map(entry).collect()
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns all ids, in order.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = I> + use<I, T> {
        (0..self.len()).map(I::new)
    }

    /// Adds an entry; returns its id.
    #[inline]
    pub fn push(&mut self, entry: T) -> I {
        self.entries.push(entry);
        I::new(self.entries.len() - 1)
    }

    /// Iterates over all entries, in order.
    #[inline]
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.entries.iter()
    }

    /// Returns `count` entries from `first` on.
    #[inline]
    pub fn run(&self, first: I, count: usize) -> &[T] {
        &self.entries[first.index()..][..count]
    }
}

impl<I: Id, T> Default for Table<I, T> {
    fn default() -> Table<I, T> {
        Table::new()
    }
}

impl<I, T> From<Vec<T>> for Table<I, T> {
    fn from(entries: Vec<T>) -> Table<I, T> {
        Table { entries, ids: PhantomData }
    }
}

impl<I, T> FromIterator<T> for Table<I, T> {
    fn from_iter<E: IntoIterator<Item = T>>(entries: E) -> Table<I, T> {
        entries.into_iter().collect::<Vec<T>>().into()
    }
}

impl<I: Id, T> Index<I> for Table<I, T> {
    type Output = T;

    #[inline]
    fn index(&self, id: I) -> &T {
        &self.entries[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for Table<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.entries[id.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BankId;

    #[test]
    fn entries_are_found_by_their_ids() {
        let mut table: Table<BankId, usize> = Table::from_fn(3, |bank: BankId| bank.index() * 10);
        table[BankId(1)] += 1;
        assert_eq!(table.push(30), BankId(3));
        assert_eq!(table.iter().copied().collect::<Vec<usize>>(), [0, 11, 20, 30]);
        assert_eq!(table.ids().map(|bank: BankId| table[bank]).sum::<usize>(), 61);
        assert_eq!(table.run(BankId(1), 2), [11, 20]);
        assert!(table.len() == 4 && !table.is_empty() && Table::<BankId, u8>::default().is_empty());
    }
}
