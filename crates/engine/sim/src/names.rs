//! Names of ports and requests: the number of their region and their index there.

/// Low bits of a name, which hold the index.
const INDEX_BITS: u32 = 26;

/// Largest number of regions of a machine.
pub const MAX_REGIONS: usize = 1 << (u32::BITS - INDEX_BITS);

/// Returns the name of number `index` of a region.
#[inline]
pub(crate) fn name(region: usize, index: usize) -> u32 {
    assert!(index < 1 << INDEX_BITS, "a region has 2^{INDEX_BITS} requests and ports at most");
    (region as u32) << INDEX_BITS | index as u32
}

#[inline]
pub(crate) fn index(name: u32) -> usize {
    (name & ((1 << INDEX_BITS) - 1)) as usize
}

#[inline]
pub(crate) fn of(name: u32) -> usize {
    (name >> INDEX_BITS) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_distinguish_regions() {
        for (region, at) in [(0, 0), (1, 0), (MAX_REGIONS - 1, (1 << INDEX_BITS) - 2)] {
            let name = name(region, at);
            assert_eq!((of(name), index(name)), (region, at));
            assert_ne!(name, u32::MAX, "reserved for no request");
        }
    }
}
