//! The physical page of each virtual page.

use crate::Vm;
use warpmem_support::random::mixed;

/// Address bits that are placed at random; higher ones are kept.
const PLACED_BITS: u32 = 48;
const ROUNDS: usize = 3;

/// A random permutation of the pages, which is computed both ways without a table: rounds of a
/// multiplication by an odd number, an addition and a shift.
#[derive(Clone, Copy)]
pub struct Placement {
    page_bits: u32,
    /// Bits of the page numbers that are permuted.
    bits: u32,
    rounds: [Round; ROUNDS],
}

#[derive(Clone, Copy)]
struct Round {
    factor: u64,
    /// Its inverse modulo 2^64.
    inverse: u64,
    addend: u64,
}

impl Placement {
    /// Returns the placement of a machine, unless physical pages are the virtual ones.
    pub fn new(vm: &Vm) -> Option<Placement> {
        let page_bits = vm.page_bits();
        (vm.enabled && vm.fragmentation).then(|| Placement {
            page_bits,
            bits: PLACED_BITS - page_bits,
            rounds: [0, 1, 2].map(|round| Round::new(u64::from(vm.seed) * ROUNDS as u64 + round)),
        })
    }

    /// Returns the physical address of a virtual one.
    #[inline]
    pub fn physical(&self, address: u64) -> u64 {
        self.permute(address, |page, mask| {
            self.rounds.iter().fold(page, |page, round| {
                let page = page.wrapping_mul(round.factor).wrapping_add(round.addend) & mask;
                self.shifted(page)
            })
        })
    }

    /// Returns the virtual address of a physical one.
    #[inline]
    pub fn virtual_of(&self, address: u64) -> u64 {
        self.permute(address, |page, mask| {
            self.rounds.iter().rev().fold(page, |page, round| {
                let page = self.shifted(page).wrapping_sub(round.addend);
                page.wrapping_mul(round.inverse) & mask
            })
        })
    }

    /// Mixes the upper half of a page number into the lower one; its own inverse.
    #[inline]
    fn shifted(&self, page: u64) -> u64 {
        page ^ page >> self.bits.div_ceil(2)
    }

    #[inline]
    fn permute(&self, address: u64, pages: impl Fn(u64, u64) -> u64) -> u64 {
        let mask = (1 << self.bits) - 1;
        let kept = address & !(mask << self.page_bits);
        kept | pages(address >> self.page_bits & mask, mask) << self.page_bits
    }
}

impl Round {
    fn new(seed: u64) -> Round {
        let factor = mixed(2 * seed) | 1;
        // Newton's iteration doubles the valid bits; an odd number is its own inverse modulo 8.
        let inverse = (0..5).fold(factor, |inverse, _| {
            inverse.wrapping_mul(2u64.wrapping_sub(factor.wrapping_mul(inverse)))
        });
        Round { factor, inverse, addend: mixed(2 * seed + 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn placement(page_bytes: u32, seed: u32) -> Placement {
        let vm =
            Vm { enabled: true, fragmentation: true, page_bytes, seed, ..crate::tests::defaults() };
        Placement::new(&vm).unwrap()
    }

    proptest! {
        #[test]
        fn the_virtual_address_of_a_physical_one_is_the_original(
            address: u64,
            page_bits in 12u32..=30,
            seed: u32,
        ) {
            let placement = placement(1 << page_bits, seed);
            let physical = placement.physical(address);
            prop_assert_eq!(placement.virtual_of(physical), address);
            let offset = (1u64 << page_bits) - 1;
            prop_assert_eq!(physical & offset, address & offset);
            prop_assert_eq!(physical >> PLACED_BITS, address >> PLACED_BITS);
        }
    }

    #[test]
    fn neighbouring_pages_are_scattered_and_seeds_differ() {
        let pages = |seed| -> Vec<u64> {
            let placement = placement(65536, seed);
            (0..64).map(|page| placement.physical(page << 16) >> 16).collect()
        };
        let first = pages(1);
        assert!(first.windows(2).all(|two| two[0].abs_diff(two[1]) > 1));
        // The low bits of a page, which select channels and banks, take all values.
        let low: std::collections::BTreeSet<u64> = first.iter().map(|page| page % 16).collect();
        assert!(low.len() > 12, "{low:?}");
        assert_ne!(first, pages(2));
    }
}
