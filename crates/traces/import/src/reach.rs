//! Bounds of lane accesses: addresses have 64 bits and do not wrap.

/// Returns whether `width` bytes from `address` on end within 64 bits.
pub fn fits(address: u64, width: u32) -> bool {
    address.checked_add(u64::from(width.max(1)) - 1).is_some()
}

/// Returns the address `stride` × `steps` bytes from `base`, or `None` if it is negative or exceeds
/// 64 bits.
pub fn strided(base: u64, stride: i64, steps: u32) -> Option<u64> {
    let address = i128::from(base) + i128::from(stride) * i128::from(steps);
    u64::try_from(address).ok()
}

/// Returns the error for a lane of `width` bytes that starts at `begins` and does not fit.
pub fn expected(lane: usize, width: u32, begins: impl std::fmt::Display) -> String {
    format!(
        "lanes whose bytes have addresses from 0 to 2^64 - 1; the {width} of lane {lane} begin at {begins}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_end_within_64_bits() {
        assert!(fits(u64::MAX, 1) && fits(u64::MAX - 3, 4) && fits(u64::MAX, 0));
        assert!(!fits(u64::MAX - 2, 4));
    }

    #[test]
    fn a_stride_does_not_wrap() {
        assert_eq!(strided(8, -4, 2), Some(0));
        assert_eq!(strided(8, -4, 3), None);
        assert_eq!(strided(u64::MAX - 1, 1, 1), Some(u64::MAX));
        assert_eq!(strided(u64::MAX, 1, 1), None);
        assert_eq!(strided(u64::MAX, i64::MIN, 31), None);
    }
}
