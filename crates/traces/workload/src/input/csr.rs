//! Compressed sparse rows: the structure of a graph or of a sparse matrix.

use crate::stop;

/// Row `r` holds `columns[offsets[r]..offsets[r + 1]]`, ascending and unique.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Csr {
    pub offsets: Vec<u32>,
    pub columns: Vec<u32>,
}

impl Csr {
    /// Builds the structure from (row, column) pairs in any order; repeats are dropped.
    #[expect(clippy::needless_pass_by_value, reason = "they are of no use afterwards")]
    pub fn from_pairs(rows: u32, pairs: Vec<(u32, u32)>) -> Csr {
        let entries = pairs.iter().map(|&(row, column)| (row, column, ()));
        Csr::from_entries(rows, entries, |(), ()| ()).0
    }

    /// Builds the structure from fewer than 2^32 (row, column, value) entries in any order; also
    /// returns the values in column order. `merge` combines an entry and its repeat, in input
    /// order.
    ///
    /// A counting sort by rows, then a sort of every row: this takes 4 bytes and a value per entry
    /// and 8 bytes per row beyond `entries`.
    pub fn from_entries<V: Copy + Default>(
        rows: u32,
        entries: impl Iterator<Item = (u32, u32, V)> + Clone,
        merge: impl Fn(V, V) -> V,
    ) -> (Csr, Vec<V>) {
        let mut offsets = vec![0u32; rows as usize + 1];
        let entries = entries.inspect(|_| stop::check());
        for (row, ..) in entries.clone() {
            offsets[row as usize + 1] += 1;
        }
        for row in 0..rows as usize {
            offsets[row + 1] += offsets[row];
        }
        let mut next = offsets.clone();
        let total = offsets[rows as usize] as usize;
        let (mut columns, mut values) = (vec![0; total], vec![V::default(); total]);
        for (row, column, value) in entries {
            let place = next[row as usize] as usize;
            columns[place] = column;
            values[place] = value;
            next[row as usize] += 1;
        }
        drop(next);
        let mut csr = Csr { offsets, columns };
        csr.sort_and_merge(&mut values, merge);
        (csr, values)
    }

    fn sort_and_merge<V: Copy>(&mut self, values: &mut Vec<V>, merge: impl Fn(V, V) -> V) {
        let Csr { offsets, columns } = self;
        let mut row: Vec<(u32, V)> = Vec::new();
        let (mut begin, mut kept) = (0, 0);
        for offset in &mut offsets[1..] {
            stop::check();
            let (end, first) = (*offset as usize, kept);
            row.clear();
            row.extend((begin..end).map(|place| (columns[place], values[place])));
            row.sort_by_key(|&(column, _)| column);
            for &(column, value) in &row {
                if kept > first && columns[kept - 1] == column {
                    values[kept - 1] = merge(values[kept - 1], value);
                } else {
                    columns[kept] = column;
                    values[kept] = value;
                    kept += 1;
                }
            }
            *offset = kept as u32;
            begin = end;
        }
        columns.truncate(kept);
        columns.shrink_to_fit();
        values.truncate(kept);
        values.shrink_to_fit();
    }

    /// Returns the structure and its values with row and column `v` renamed to `labels[v]`.
    pub fn relabelled<V: Copy>(&self, values: &[V], labels: &[u32]) -> (Csr, Vec<V>) {
        let mut named = vec![0; labels.len()];
        for (old, &new) in labels.iter().enumerate() {
            named[new as usize] = old as u32;
        }
        let mut csr = Csr {
            offsets: Vec::with_capacity(self.offsets.len()),
            columns: Vec::with_capacity(self.columns.len()),
        };
        csr.offsets.push(0);
        let mut relabelled = Vec::with_capacity(values.len());
        let mut row: Vec<(u32, V)> = Vec::new();
        for old in named {
            stop::check();
            row.clear();
            let places = self.places(old);
            row.extend(places.map(|i| (labels[self.columns[i] as usize], values[i])));
            row.sort_unstable_by_key(|&(column, _)| column);
            csr.columns.extend(row.iter().map(|&(column, _)| column));
            relabelled.extend(row.iter().map(|&(_, value)| value));
            csr.offsets.push(csr.columns.len() as u32);
        }
        (csr, relabelled)
    }

    pub fn rows(&self) -> u32 {
        self.offsets.len() as u32 - 1
    }

    /// Returns the range of row `row` in `columns`.
    fn places(&self, row: u32) -> std::ops::Range<usize> {
        self.offsets[row as usize] as usize..self.offsets[row as usize + 1] as usize
    }

    /// Returns the columns of row `row`.
    pub fn row(&self, row: u32) -> &[u32] {
        &self.columns[self.places(row)]
    }

    /// Iterates over the entries, row by row.
    pub fn entries(&self) -> impl Iterator<Item = (u32, u32)> + Clone {
        (0..self.rows()).flat_map(|row| self.row(row).iter().map(move |&column| (row, column)))
    }

    /// Returns the number of columns of row `row`.
    pub fn degree(&self, row: u32) -> u32 {
        self.offsets[row as usize + 1] - self.offsets[row as usize]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn pairs_are_sorted_into_rows_without_repeats() {
        let csr = Csr::from_pairs(4, vec![(2, 1), (0, 3), (0, 1), (2, 1), (3, 0)]);
        assert_eq!(csr.offsets, [0, 2, 2, 3, 4]);
        assert_eq!(csr.columns, [1, 3, 1, 0]);
        assert_eq!((csr.rows(), csr.row(0), csr.degree(1)), (4, &[1, 3][..], 0));
        assert_eq!(csr.entries().collect::<Vec<_>>(), [(0, 1), (0, 3), (2, 1), (3, 0)]);
    }

    #[test]
    fn no_entries_are_empty_rows() {
        let csr = Csr::from_pairs(2, vec![]);
        assert_eq!((csr.offsets, csr.columns), (vec![0, 0, 0], vec![]));
    }

    #[test]
    fn repeats_merge_in_input_order() {
        let entries = [(1, 0, 'a'), (0, 2, 'b'), (1, 0, 'c'), (1, 0, 'd')];
        let last = Csr::from_entries(2, entries.into_iter(), |_, later| later);
        let first = Csr::from_entries(2, entries.into_iter(), |earlier, _| earlier);
        assert_eq!((last.0.columns, last.1), (vec![2, 0], vec!['b', 'd']));
        assert_eq!((first.0.columns, first.1), (vec![2, 0], vec!['b', 'a']));
    }

    proptest! {
        #[test]
        fn entries_match_a_sorted_map(
            entries in prop::collection::vec((0u32..9, 0u32..9, 0u64..100), 0..60)
        ) {
            let mut map = BTreeMap::new();
            for &(row, column, value) in &entries {
                *map.entry((row, column)).or_insert(0) += value;
            }
            let (csr, values) = Csr::from_entries(9, entries.iter().copied(), |a, b| a + b);
            let found: Vec<_> = csr.entries().zip(values).collect();
            prop_assert_eq!(found, map.into_iter().collect::<Vec<_>>());
        }

        #[test]
        fn relabelling_renames_every_entry(
            entries in prop::collection::btree_map((0u32..9, 0u32..9), 0u64..100, 0..40),
            labels in Just((0..9).collect::<Vec<u32>>()).prop_shuffle(),
        ) {
            let list = entries.iter().map(|(&(row, column), &value)| (row, column, value));
            let (csr, values) = Csr::from_entries(9, list, |a, _| a);
            let (csr, values) = csr.relabelled(&values, &labels);
            let renamed: BTreeMap<_, _> = entries
                .iter()
                .map(|(&(row, column), &v)| ((labels[row as usize], labels[column as usize]), v))
                .collect();
            prop_assert_eq!(csr.entries().zip(values).collect::<Vec<_>>(),
                renamed.into_iter().collect::<Vec<_>>());
        }
    }
}
