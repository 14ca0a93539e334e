//! 32 B sectors, the unit of traffic to L2.

use warpmem_trace::WARP_SIZE;

/// Counts the distinct 32 B sectors that an instruction touches. Lanes access at most 32 B each,
/// the maximum of a SASS opcode.
pub fn sectors(lanes: &[u64], width: u32) -> u64 {
    const SECTOR_BITS: u32 = 5;
    let last_byte = u64::from(width.max(1)) - 1;
    let mut touched = [0; 2 * WARP_SIZE];
    let mut count = 0;
    let mut sorted = true;
    for &address in lanes {
        for sector in [address >> SECTOR_BITS, address.wrapping_add(last_byte) >> SECTOR_BITS] {
            if count == 0 || touched[count - 1] != sector {
                sorted &= count == 0 || touched[count - 1] < sector;
                touched[count] = sector;
                count += 1;
            }
        }
    }
    if sorted {
        return count as u64;
    }
    let touched = &mut touched[..count];
    touched.sort_unstable();
    1 + touched.windows(2).filter(|pair| pair[0] != pair[1]).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_are_distinct_and_straddling_counts_twice() {
        assert_eq!(sectors(&[], 4), 0);
        assert_eq!(sectors(&[0, 4, 8, 12], 4), 1);
        assert_eq!(sectors(&[0, 32, 64], 4), 3);
        assert_eq!(sectors(&[64, 0, 64, 32, 0], 4), 3);
        assert_eq!(sectors(&[30, 30], 4), 2);
        assert_eq!(sectors(&[0x100, 0x110, 0x120], 16), 2);
    }
}
