//! Tables that are indexed by the numbers of one kind of thing, and by no others.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A number of a unit, of a part or of an entry; `ids!` declares them.
pub trait Id: Copy {
    /// The id of position `index` in a table, which must fit.
    fn new(index: usize) -> Self;

    /// Its position in a table.
    fn index(self) -> usize;
}

/// An entry for each id.
#[derive(Clone, Debug)]
pub struct Table<I, T> {
    entries: Vec<T>,
    /// It is read with ids but holds none.
    ids: PhantomData<fn(I)>,
}

impl<I: Id, T> Table<I, T> {
    /// A table without entries.
    pub fn new() -> Table<I, T> {
        Vec::new().into()
    }

    /// A table of `count` entries, each made from its id.
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

    /// The ids of all entries, in order.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = I> + use<I, T> {
        (0..self.len()).map(I::new)
    }

    /// Adds an entry; returns its id.
    #[inline]
    pub fn push(&mut self, entry: T) -> I {
        self.entries.push(entry);
        I::new(self.entries.len() - 1)
    }

    /// All entries, in order.
    #[inline]
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.entries.iter()
    }

    /// As many entries as `count`, from that of `first` on.
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
