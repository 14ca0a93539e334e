//! An order-statistics structure over a growing sequence of positions: which are occupied, and how
//! many occupied ones follow a position.

/// Positions per word of the bitmap.
const WORD: usize = u64::BITS as usize;

/// Occupied positions: a bitmap, and a binary indexed tree (Fenwick 1994) over the number of ones
/// in its words.
pub(super) struct Positions {
    words: Vec<u64>,
    tree: Vec<u32>,
    taken: usize,
}

impl Positions {
    /// Makes at least `positions` positions, the first `taken` of which are occupied.
    pub fn new(positions: usize, taken: usize) -> Positions {
        let words = positions.div_ceil(WORD);
        let mut empty = Positions { words: vec![0; words], tree: vec![0; words + 1], taken: 0 };
        (0..taken).for_each(|position| empty.take(position));
        empty
    }

    pub fn len(&self) -> usize {
        self.words.len() * WORD
    }

    /// Occupies a free position.
    pub fn take(&mut self, position: usize) {
        self.words[position / WORD] |= 1 << (position % WORD);
        self.update(position / WORD, 1);
        self.taken += 1;
    }

    /// Frees an occupied position.
    pub fn free(&mut self, position: usize) {
        self.words[position / WORD] &= !(1 << (position % WORD));
        self.update(position / WORD, u32::MAX);
        self.taken -= 1;
    }

    /// Counts the occupied positions before this one.
    pub fn before(&self, position: usize) -> usize {
        let (word, bit) = (position / WORD, position % WORD);
        let within = (self.words[word] & ((1 << bit) - 1)).count_ones();
        let (mut sum, mut node) = (within, word);
        while node > 0 {
            sum += self.tree[node];
            node &= node - 1;
        }
        sum as usize
    }

    /// Counts the occupied positions after this one, which is occupied.
    pub fn behind(&self, position: usize) -> usize {
        self.taken - self.before(position) - 1
    }

    fn update(&mut self, word: usize, change: u32) {
        let mut node = word + 1;
        while node < self.tree.len() {
            self.tree[node] = self.tree[node].wrapping_add(change);
            node += node & node.wrapping_neg();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn counts_are_those_of_a_sorted_set(steps in prop::collection::vec(0usize..300, 1..200)) {
            let mut positions = Positions::new(300, 7);
            let mut set: BTreeSet<usize> = (0..7).collect();
            for position in steps {
                if set.remove(&position) {
                    positions.free(position);
                } else {
                    set.insert(position);
                    positions.take(position);
                    prop_assert_eq!(positions.behind(position), set.range(position + 1..).count());
                }
                prop_assert_eq!(positions.before(position), set.range(..position).count());
            }
        }
    }

    #[test]
    fn bitmap_lengths_are_whole_words() {
        assert_eq!(Positions::new(65, 0).len(), 128);
    }
}
