//! A fixed-capacity index from addresses to the rows that hold them.

/// Open addressing with linear probing over one word per row; deletion shifts back what follows, so that
/// there are no tombstones and lookups stay short. Constant time whatever the associativity it stands for.
///
/// The addresses themselves stay in the rows of the index's user, who is asked for them. A word holds, from
/// the high bits down, a tag of the address's hash, by which most lookups need no row but the right one; how
/// far it is from its home; and the row plus one, so that zeroed memory is an empty index.
pub(super) struct AddressIndex {
    words: Vec<u32>,
    /// Of the hash, the high bits that are the home.
    home_shift: u32,
    row_bits: u32,
    len: usize,
}

const EMPTY: u32 = 0;
const DISTANCE_BITS: u32 = 4;
/// At least as far from home; how far, the hash says.
const FAR: usize = (1 << DISTANCE_BITS) - 1;

impl AddressIndex {
    /// Room for rows below `capacity` at a load of at most one half.
    pub fn new(capacity: usize) -> AddressIndex {
        let words = (capacity.max(1) * 2).next_power_of_two().max(4);
        let row_bits = usize::BITS - capacity.leading_zeros();
        assert!(row_bits + DISTANCE_BITS <= u32::BITS, "an index of {capacity} rows");
        AddressIndex {
            words: vec![EMPTY; words],
            home_shift: u64::BITS - words.trailing_zeros(),
            row_bits,
            len: 0,
        }
    }

    /// Rows in the index.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Fibonacci hashing: a product with 2^64 / golden ratio, of which the high bits are good.
    #[inline]
    fn hash(address: u64) -> u64 {
        address.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    #[inline]
    fn home(&self, hash: u64) -> usize {
        (hash >> self.home_shift) as usize
    }

    #[inline]
    fn mask(&self) -> usize {
        self.words.len() - 1
    }

    /// The tag of a hash in its place in a word.
    #[inline]
    fn tag(&self, hash: u64) -> u32 {
        (u64::from((hash >> 16) as u32) << (self.row_bits + DISTANCE_BITS)) as u32
    }

    #[inline]
    fn row(&self, word: u32) -> u32 {
        (word & ((1u64 << self.row_bits) - 1) as u32) - 1
    }

    #[inline]
    fn distance(&self, word: u32) -> usize {
        (word >> self.row_bits) as usize & FAR
    }

    #[inline]
    fn word(&self, tag: u32, distance: usize, row: u32) -> u32 {
        tag | (distance.min(FAR) as u32) << self.row_bits | (row + 1)
    }

    /// The row that holds `address`; `address_of` a row tells what it holds.
    #[inline]
    pub fn get(&self, address: u64, address_of: impl Fn(u32) -> u64) -> Option<u32> {
        let hash = AddressIndex::hash(address);
        let (tag, low) = (self.tag(hash), self.row_bits + DISTANCE_BITS);
        let mut at = self.home(hash);
        loop {
            let word = self.words[at];
            if word == EMPTY {
                return None;
            }
            if (u64::from(word ^ tag) >> low) == 0 {
                let row = self.row(word);
                if address_of(row) == address {
                    return Some(row);
                }
            }
            at = (at + 1) & self.mask();
        }
    }

    /// Adds a row, and an address, that are not in the index.
    #[inline]
    pub fn insert(&mut self, address: u64, row: u32) {
        assert!(self.len * 2 < self.words.len(), "address index overflows");
        let hash = AddressIndex::hash(address);
        let home = self.home(hash);
        let mut at = home;
        while self.words[at] != EMPTY {
            at = (at + 1) & self.mask();
        }
        let distance = at.wrapping_sub(home) & self.mask();
        self.words[at] = self.word(self.tag(hash), distance, row);
        self.len += 1;
    }

    /// Removes a row that holds `address`.
    #[inline]
    pub fn remove(&mut self, address: u64, row: u32, address_of: impl Fn(u32) -> u64) {
        let mask = self.mask();
        let mut hole = self.home(AddressIndex::hash(address));
        while self.words[hole] == EMPTY || self.row(self.words[hole]) != row {
            debug_assert!(self.words[hole] != EMPTY, "row {row} is not in the index");
            hole = (hole + 1) & mask;
        }
        let mut at = hole;
        loop {
            at = (at + 1) & mask;
            let word = self.words[at];
            if word == EMPTY {
                break;
            }
            let distance = match self.distance(word) {
                FAR => {
                    let hash = AddressIndex::hash(address_of(self.row(word)));
                    at.wrapping_sub(self.home(hash)) & mask
                }
                near => near,
            };
            // An entry may move into the hole unless its home lies behind the hole.
            let gap = at.wrapping_sub(hole) & mask;
            if distance >= gap {
                let tag = (u64::from(word) >> (self.row_bits + DISTANCE_BITS)
                    << (self.row_bits + DISTANCE_BITS)) as u32;
                self.words[hole] = self.word(tag, distance - gap, self.row(word));
                hole = at;
            }
        }
        self.words[hole] = EMPTY;
        self.len -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    const ROWS: usize = 40;

    /// The inverse of the factor of the hash modulo 2^64, by Newton's iteration.
    fn unhash(hash: u64) -> u64 {
        let factor = 0x9e37_79b9_7f4a_7c15u64;
        let inverse =
            (0..6).fold(1u64, |x, _| x.wrapping_mul(2u64.wrapping_sub(factor.wrapping_mul(x))));
        hash.wrapping_mul(inverse)
    }

    /// Addresses of few homes, near the end of the words, some with one tag.
    fn crowded(choice: u64) -> u64 {
        unhash((choice % 3 + 125) << 57 | (choice / 3) << 47)
    }

    fn behaves_as_a_map(ops: &[(bool, u64)], address: impl Fn(u64) -> u64) {
        let mut index = AddressIndex::new(ROWS);
        let mut rows = [u64::MAX; ROWS];
        let mut model: HashMap<u64, u32> = HashMap::new();
        for &(add, choice) in ops {
            let key = address(choice);
            if add && !model.contains_key(&key) {
                let row = (0..ROWS).find(|&row| rows[row] == u64::MAX).unwrap();
                rows[row] = key;
                index.insert(key, row as u32);
                model.insert(key, row as u32);
            } else if !add && let Some(row) = model.remove(&key) {
                index.remove(key, row, |row| rows[row as usize]);
                rows[row as usize] = u64::MAX;
            }
            assert_eq!(index.len(), model.len());
            for key in (0..40).map(&address) {
                let got = index.get(key, |row| rows[row as usize]);
                assert_eq!(got, model.get(&key).copied());
            }
        }
    }

    proptest! {
        #[test]
        fn it_behaves_as_a_map(ops in prop::collection::vec((any::<bool>(), 0u64..40), 0..400)) {
            behaves_as_a_map(&ops, |choice| choice);
        }

        /// Long runs: most words are far from their homes.
        #[test]
        fn crowded_homes_are_no_obstacle(ops in prop::collection::vec((prop::bool::weighted(0.7), 0u64..40), 0..400)) {
            behaves_as_a_map(&ops, crowded);
        }
    }
}
