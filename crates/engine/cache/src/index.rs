//! A fixed-capacity index from addresses to the rows that hold them.

use super::homes::{Homes, hash};
use warpmem_sim::hint;

/// An open-addressing hash table with linear probing. A deletion shifts later entries back,
/// so there are no tombstones and probes stay short. A lookup takes constant time whatever the
/// associativity of the cache.
///
/// The table does not store addresses: they stay in the rows of its user, and every operation takes
/// a function from a row to its address. A word of the table holds, from the high bits down:
/// - a tag made from the hash of the address, so that most lookups compare one address only;
/// - the distance of the entry from its home position;
/// - the row plus one, so that zeroed memory is an empty table.
pub(super) struct AddressIndex {
    words: Vec<u32>,
    homes: Homes,
    row_bits: u32,
    len: usize,
}

/// An entry of an index that was found.
#[derive(Clone, Copy)]
pub(super) struct Found {
    pub row: u32,
    /// Position of its word.
    at: usize,
}

const EMPTY: u32 = 0;
const DISTANCE_BITS: u32 = 4;
/// Largest value of the distance field: the entry is at least this far from home, and its distance
/// is computed from the hash.
const FAR: usize = (1 << DISTANCE_BITS) - 1;

impl AddressIndex {
    /// Creates an index for rows below `capacity`, at most half full.
    pub fn new(capacity: usize) -> AddressIndex {
        let homes = Homes::for_entries(capacity);
        let row_bits = usize::BITS - capacity.leading_zeros();
        assert!(row_bits + DISTANCE_BITS <= u32::BITS, "an index of {capacity} rows");
        AddressIndex { words: vec![EMPTY; homes.positions()], homes, row_bits, len: 0 }
    }

    /// Returns the number of rows in the index.
    pub fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn mask(&self) -> usize {
        self.words.len() - 1
    }

    /// Returns the tag of an address, shifted to its bits in a word.
    #[inline]
    fn tag(&self, address: u64) -> u32 {
        let tag = (hash(address) >> 16) ^ address;
        (u64::from(tag as u32) << (self.row_bits + DISTANCE_BITS)) as u32
    }

    #[inline]
    fn row(&self, word: u32) -> u32 {
        (word & ((1u64 << self.row_bits) - 1) as u32) - 1
    }

    #[inline]
    fn distance(&self, word: u32) -> usize {
        (word >> self.row_bits) as usize & FAR
    }

    /// Prefetches the first word of a lookup of `address` into the host's caches.
    #[inline]
    pub fn will_be_read(&self, address: u64) {
        hint::will_be_read(&self.words[self.homes.of(address)]);
    }

    /// Returns the row of the first entry in the probe order that `address` may have.
    #[inline]
    pub fn guess(&self, address: u64) -> Option<u32> {
        let word = self.words[self.homes.of(address)];
        let is_tagged = u64::from(word ^ self.tag(address)) >> (self.row_bits + DISTANCE_BITS) == 0;
        (is_tagged && word != EMPTY).then(|| self.row(word))
    }

    /// Returns the row that holds `address`; `address_of` gives the address of a row.
    #[inline]
    pub fn get(&self, address: u64, address_of: impl Fn(u32) -> u64) -> Option<u32> {
        self.find(address, address_of).map(|found| found.row)
    }

    /// Finds the entry of `address`, for [`AddressIndex::remove`].
    #[inline]
    pub fn find(&self, address: u64, address_of: impl Fn(u32) -> u64) -> Option<Found> {
        let (tag, low) = (self.tag(address), self.row_bits + DISTANCE_BITS);
        let mut at = self.homes.of(address);
        loop {
            let word = self.words[at];
            if word == EMPTY {
                return None;
            }
            let is_tagged = u64::from(word ^ tag) >> low == 0;
            if is_tagged {
                let row = self.row(word);
                if address_of(row) == address {
                    return Some(Found { row, at });
                }
            }
            at = (at + 1) & self.mask();
        }
    }

    /// Adds a row with its address, neither of which may be in the index.
    #[inline]
    pub fn insert(&mut self, address: u64, row: u32) {
        assert!(self.len * 2 < self.words.len(), "address index overflows");
        let home = self.homes.of(address);
        let mut at = home;
        while self.words[at] != EMPTY {
            at = (at + 1) & self.mask();
        }
        let distance = at.wrapping_sub(home) & self.mask();
        self.words[at] = self.moved(self.tag(address) | (row + 1), distance);
        self.len += 1;
    }

    /// Removes an entry that was found; the index must not have changed since.
    #[inline]
    pub fn remove(&mut self, found: Found, address_of: impl Fn(u32) -> u64) {
        let mask = self.mask();
        let mut hole = found.at;
        let mut at = hole;
        loop {
            at = (at + 1) & mask;
            let word = self.words[at];
            if word == EMPTY {
                break;
            }
            let distance = match self.distance(word) {
                FAR => at.wrapping_sub(self.homes.of(address_of(self.row(word)))) & mask,
                near => near,
            };
            // An entry may move into the hole unless its home position is behind the hole.
            let gap = at.wrapping_sub(hole) & mask;
            if distance >= gap {
                self.words[hole] = self.moved(word, distance - gap);
                hole = at;
            }
        }
        self.words[hole] = EMPTY;
        self.len -= 1;
    }

    /// Returns the word with another distance from home.
    #[inline]
    fn moved(&self, word: u32, distance: usize) -> u32 {
        let others = !((FAR as u32) << self.row_bits);
        word & others | (distance.min(FAR) as u32) << self.row_bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    const ROWS: usize = 40;

    /// Addresses with few home positions, most of them at the end of the table, and their
    /// neighbours.
    fn colliding() -> Vec<u64> {
        let index = AddressIndex::new(ROWS);
        let is_late = |address: &u64| index.homes.of(*address) >= index.words.len() - 6;
        (0..).filter(is_late).take(30).chain(0..10).collect()
    }

    fn check(ops: &[(bool, usize)], addresses: &[u64]) {
        let mut index = AddressIndex::new(ROWS);
        let mut rows = [u64::MAX; ROWS];
        let mut model: HashMap<u64, u32> = HashMap::new();
        for &(add, choice) in ops {
            let key = addresses[choice];
            if add && !model.contains_key(&key) {
                let row = (0..ROWS).find(|&row| rows[row] == u64::MAX).unwrap();
                rows[row] = key;
                index.insert(key, row as u32);
                model.insert(key, row as u32);
            } else if !add {
                let found = index.find(key, |row| rows[row as usize]);
                assert_eq!(found.map(|found| found.row), model.remove(&key));
                let row = found.map(|found| found.row);
                if let Some(found) = found {
                    index.remove(found, |row| rows[row as usize]);
                }
                row.into_iter().for_each(|row| rows[row as usize] = u64::MAX);
            }
            assert_eq!(index.len(), model.len());
            for &key in addresses {
                let got = index.get(key, |row| rows[row as usize]);
                assert_eq!(got, model.get(&key).copied());
            }
        }
    }

    proptest! {
        #[test]
        fn it_behaves_as_a_map(ops in prop::collection::vec((any::<bool>(), 0usize..40), 0..400)) {
            check(&ops, &(0..40).collect::<Vec<_>>());
        }

        /// Long probe sequences: most words are far from their homes.
        #[test]
        fn it_behaves_as_a_map_with_colliding_homes(
            ops in prop::collection::vec((prop::bool::weighted(0.7), 0usize..40), 0..400)
        ) {
            check(&ops, &colliding());
        }
    }

    #[test]
    fn the_guess_of_an_address_at_its_home_is_its_row() {
        let mut index = AddressIndex::new(8);
        assert_eq!(index.guess(5), None);
        index.insert(5, 3);
        index.insert(6, 4);
        assert_eq!([5, 6, 7].map(|address| index.guess(address)), [Some(3), Some(4), None]);
    }
}
