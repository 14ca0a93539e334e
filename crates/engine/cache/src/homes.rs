//! Home positions of addresses in a hash table.

/// Low address bits excluded from the hash, so that neighbouring addresses, which are often used
/// together, have neighbouring home positions.
const NEIGHBOUR_BITS: u32 = 2;

/// Fibonacci hashing: the high bits of the product with 2^64 / golden ratio.
#[inline]
pub(super) fn hash(address: u64) -> u64 {
    (address >> NEIGHBOUR_BITS).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The home positions of a table.
#[derive(Clone, Copy)]
pub(super) struct Homes {
    positions: usize,
    /// Right shift that keeps the high bits of the hash.
    shift: u32,
}

impl Homes {
    /// Creates a power of two of positions, at least twice `entries`.
    pub fn for_entries(entries: usize) -> Homes {
        let positions = (entries * 2).next_power_of_two().max(2 << NEIGHBOUR_BITS);
        Homes { positions, shift: u64::BITS - positions.trailing_zeros() + NEIGHBOUR_BITS }
    }

    /// Returns the number of positions.
    pub fn positions(self) -> usize {
        self.positions
    }

    /// Returns the home position of an address.
    #[inline]
    pub fn of(self, address: u64) -> usize {
        let neighbour = address as usize & ((1 << NEIGHBOUR_BITS) - 1);
        ((hash(address) >> self.shift) as usize) << NEIGHBOUR_BITS | neighbour
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_addresses_have_neighbouring_homes() {
        for entries in [0, 1, 4, 40, 65_536] {
            let homes = Homes::for_entries(entries);
            assert!(homes.positions() >= 2 * entries && homes.positions().is_power_of_two());
            for first in (0..1 << 12).step_by(4).chain([u64::MAX - 3]) {
                let of = [0, 1, 2, 3].map(|neighbour| homes.of(first + neighbour));
                assert_eq!(
                    of,
                    [0, 1, 2, 3].map(|neighbour| of[0] + neighbour),
                    "{entries} {first}"
                );
                assert!(of[3] < homes.positions(), "{entries} {first}");
            }
        }
    }
}
