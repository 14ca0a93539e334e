//! A fixed-capacity map from addresses to small numbers.

/// Open addressing with linear probing; deletion shifts back what follows, so that there are no
/// tombstones and lookups stay short. Constant time whatever the associativity it stands for.
pub(super) struct AddressIndex {
    keys: Vec<u64>,
    values: Vec<u32>,
    shift: u32,
    len: usize,
}

const EMPTY: u64 = u64::MAX;

impl AddressIndex {
    /// Room for `capacity` addresses at a load of at most one half.
    pub fn new(capacity: usize) -> AddressIndex {
        let slots = (capacity.max(1) * 2).next_power_of_two().max(4);
        AddressIndex {
            keys: vec![EMPTY; slots],
            values: vec![0; slots],
            shift: 64 - slots.trailing_zeros(),
            len: 0,
        }
    }

    #[inline]
    fn home(&self, key: u64) -> usize {
        // Fibonacci hashing: the high bits of a product with 2^64 / golden ratio.
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }

    #[inline]
    fn find(&self, key: u64) -> Option<usize> {
        let mask = self.keys.len() - 1;
        let mut at = self.home(key);
        loop {
            match self.keys[at] {
                k if k == key => return Some(at),
                EMPTY => return None,
                _ => at = (at + 1) & mask,
            }
        }
    }

    #[inline]
    pub fn get(&self, key: u64) -> Option<u32> {
        self.find(key).map(|at| self.values[at])
    }

    /// Adds a key that is not in the map.
    #[inline]
    pub fn insert(&mut self, key: u64, value: u32) {
        debug_assert!(key != EMPTY && self.get(key).is_none());
        assert!(self.len * 2 < self.keys.len(), "address index overflows");
        let mask = self.keys.len() - 1;
        let mut at = self.home(key);
        while self.keys[at] != EMPTY {
            at = (at + 1) & mask;
        }
        self.keys[at] = key;
        self.values[at] = value;
        self.len += 1;
    }

    /// Removes a key and returns its value.
    #[inline]
    pub fn remove(&mut self, key: u64) -> Option<u32> {
        let mask = self.keys.len() - 1;
        let mut hole = self.find(key)?;
        let value = self.values[hole];
        let mut at = hole;
        loop {
            at = (at + 1) & mask;
            if self.keys[at] == EMPTY {
                break;
            }
            // An entry may move into the hole unless its home lies behind the hole.
            let home = self.home(self.keys[at]);
            if (at.wrapping_sub(home) & mask) >= (at.wrapping_sub(hole) & mask) {
                self.keys[hole] = self.keys[at];
                self.values[hole] = self.values[at];
                hole = at;
            }
        }
        self.keys[hole] = EMPTY;
        self.len -= 1;
        Some(value)
    }

    pub fn clear(&mut self) {
        self.keys.fill(EMPTY);
        self.len = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn behaves_as_a_map(ops in prop::collection::vec((any::<bool>(), 0u64..40), 0..400)) {
            let mut index = AddressIndex::new(40);
            let mut model = HashMap::new();
            for (step, (add, key)) in ops.into_iter().enumerate() {
                if add && !model.contains_key(&key) {
                    index.insert(key, step as u32);
                    model.insert(key, step as u32);
                } else if !add {
                    prop_assert_eq!(index.remove(key), model.remove(&key));
                }
                for key in 0..40 {
                    prop_assert_eq!(index.get(key), model.get(&key).copied());
                }
            }
        }
    }
}
