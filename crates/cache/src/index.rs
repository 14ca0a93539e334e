//! A fixed-capacity index from addresses to the rows that hold them.

/// Open addressing with linear probing over one word per row; deletion shifts back what follows, so that
/// there are no tombstones and lookups stay short. Constant time whatever the associativity it stands for.
///
/// The addresses themselves stay in the rows of the index's user, who is asked for them. A word holds, from
/// the high bits down, a tag of the address's hash, by which most lookups need no row but the right one; how
/// far it is from its home; and the row plus one, so that zeroed memory is an empty index.
pub(super) struct AddressIndex {
    words: Vec<u32>,
    /// Of the hash, the high bits that the home is made of.
    home_shift: u32,
    row_bits: u32,
    len: usize,
}

const EMPTY: u32 = 0;
/// Low bits of addresses in which neighbours differ.
const NEIGHBOUR_BITS: u32 = 2;
const DISTANCE_BITS: u32 = 4;
/// At least as far from home; how far, the hash says.
const FAR: usize = (1 << DISTANCE_BITS) - 1;

impl AddressIndex {
    /// Room for rows below `capacity` at a load of at most one half.
    pub fn new(capacity: usize) -> AddressIndex {
        let words = (capacity.max(1) * 2).next_power_of_two().max(2 << NEIGHBOUR_BITS);
        let row_bits = usize::BITS - capacity.leading_zeros();
        assert!(row_bits + DISTANCE_BITS <= u32::BITS, "an index of {capacity} rows");
        AddressIndex {
            words: vec![EMPTY; words],
            home_shift: u64::BITS - words.trailing_zeros() + NEIGHBOUR_BITS,
            row_bits,
            len: 0,
        }
    }

    /// Rows in the index.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Fibonacci hashing: a product with 2^64 / golden ratio, of which the high bits are good. Neighbouring addresses,
    /// which are used together, have one hash and neighbouring homes.
    #[inline]
    fn hash(address: u64) -> u64 {
        (address >> NEIGHBOUR_BITS).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    #[inline]
    fn home(&self, address: u64) -> usize {
        let neighbour = address as usize & ((1 << NEIGHBOUR_BITS) - 1);
        ((AddressIndex::hash(address) >> self.home_shift) as usize) << NEIGHBOUR_BITS | neighbour
    }

    #[inline]
    fn mask(&self) -> usize {
        self.words.len() - 1
    }

    /// The tag of an address in its place in a word.
    #[inline]
    fn tag(&self, address: u64) -> u32 {
        let tag = (AddressIndex::hash(address) >> 16) ^ address;
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

    /// The row that holds `address`; `address_of` a row tells what it holds.
    #[inline]
    pub fn get(&self, address: u64, address_of: impl Fn(u32) -> u64) -> Option<u32> {
        self.find(address, address_of).map(|at| self.row(self.words[at]))
    }

    /// Where the row that holds `address` is.
    #[inline]
    fn find(&self, address: u64, address_of: impl Fn(u32) -> u64) -> Option<usize> {
        let (tag, low) = (self.tag(address), self.row_bits + DISTANCE_BITS);
        let mut at = self.home(address);
        loop {
            let word = self.words[at];
            if word == EMPTY {
                return None;
            }
            let is_tagged = u64::from(word ^ tag) >> low == 0;
            if is_tagged && address_of(self.row(word)) == address {
                return Some(at);
            }
            at = (at + 1) & self.mask();
        }
    }

    /// Adds a row, and an address, that are not in the index.
    #[inline]
    pub fn insert(&mut self, address: u64, row: u32) {
        assert!(self.len * 2 < self.words.len(), "address index overflows");
        let home = self.home(address);
        let mut at = home;
        while self.words[at] != EMPTY {
            at = (at + 1) & self.mask();
        }
        let distance = at.wrapping_sub(home) & self.mask();
        self.words[at] = self.moved(self.tag(address) | (row + 1), distance);
        self.len += 1;
    }

    /// Removes the row that holds `address`, if there is one.
    #[inline]
    pub fn remove(&mut self, address: u64, address_of: impl Fn(u32) -> u64) -> Option<u32> {
        let mask = self.mask();
        let mut hole = self.find(address, &address_of)?;
        let removed = self.row(self.words[hole]);
        let mut at = hole;
        loop {
            at = (at + 1) & mask;
            let word = self.words[at];
            if word == EMPTY {
                break;
            }
            let distance = match self.distance(word) {
                FAR => at.wrapping_sub(self.home(address_of(self.row(word)))) & mask,
                near => near,
            };
            // An entry may move into the hole unless its home lies behind the hole.
            let gap = at.wrapping_sub(hole) & mask;
            if distance >= gap {
                self.words[hole] = self.moved(word, distance - gap);
                hole = at;
            }
        }
        self.words[hole] = EMPTY;
        self.len -= 1;
        Some(removed)
    }

    /// The word of a row that is now so far from its home.
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

    /// Addresses of few homes, most at the end of the words, and neighbours of them.
    fn crowded() -> Vec<u64> {
        let index = AddressIndex::new(ROWS);
        let is_late = |address: &u64| index.home(*address) >= index.words.len() - 6;
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
                let row = index.remove(key, |row| rows[row as usize]);
                assert_eq!(row, model.remove(&key));
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

        /// Long runs: most words are far from their homes.
        #[test]
        fn crowded_homes_are_no_obstacle(
            ops in prop::collection::vec((prop::bool::weighted(0.7), 0usize..40), 0..400)
        ) {
            check(&ops, &crowded());
        }
    }
}
