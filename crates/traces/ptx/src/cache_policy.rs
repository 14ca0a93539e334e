//! Cache eviction policies: 64 bits that `createpolicy` creates and that accesses to global memory take
//! with `.L2::cache_hint`. PTX does not define the bits, but programs embed them as constants (CUTLASS,
//! `TMA::CacheHintSm90`), so they match those of ptxas (read from machine code of sm_90a), for
//! `createpolicy.fractional` and `createpolicy.range`:
//!
//! ```text
//!  63..60  59  58..57   56                  55..52                 50..44       43..37
//!  1       0   primary  secondary is first  sixteenths less one    0            0
//!  1       1   primary  secondary is first  bytes of a block: log  first block  blocks
//! ```
//!
//! The logarithm is to base 2, less 12, and block numbers are modulo 128.

/// Eviction priority of a line in L2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum EvictionPriority {
    Unchanged,
    First,
    Last,
    Normal,
}

impl EvictionPriority {
    const ALL: [EvictionPriority; 4] = [
        EvictionPriority::Unchanged,
        EvictionPriority::First,
        EvictionPriority::Last,
        EvictionPriority::Normal,
    ];

    /// Parses a modifier, as `L2::evict_last`.
    pub(crate) fn named(modifier: &str) -> Option<EvictionPriority> {
        Some(match modifier {
            "L2::evict_unchanged" => EvictionPriority::Unchanged,
            "L2::evict_first" => EvictionPriority::First,
            "L2::evict_last" => EvictionPriority::Last,
            "L2::evict_normal" => EvictionPriority::Normal,
            _ => return None,
        })
    }
}

/// A policy that gives some lines of an access the primary priority, and the others the secondary one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CachePolicy {
    pub primary: EvictionPriority,
    /// Whether the secondary priority is evict-first; otherwise it is unchanged.
    pub secondary_first: bool,
    pub lines: PrimaryLines,
}

/// Lines of the primary priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PrimaryLines {
    /// Share of the lines, in sixteenths, 1 to 16.
    Sixteenths(u8),
    Blocks(BlockRange),
}

/// Consecutive blocks of 4 KiB to 128 MiB. Block numbers are modulo 128, so the range recurs every 128
/// blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockRange {
    /// Logarithm to base 2 of the block size in bytes.
    log_bytes: u8,
    first: u8,
    count: u8,
}

const LEAST_LOG_BYTES: u8 = 12;
const BLOCKS: u64 = 128;

impl BlockRange {
    /// Covers `primary` bytes from `address` with whole blocks, sized so that `total` bytes span at most 128
    /// of them. Empty if the total is 0. (ptxas adds in 32 bits, so its count is wrong where the bytes plus a
    /// block exceed 4 GiB.)
    fn new(address: u64, primary: u32, total: u32) -> BlockRange {
        if total == 0 {
            return BlockRange { log_bytes: LEAST_LOG_BYTES, first: 0, count: 0 };
        }
        let log_total = total.checked_next_power_of_two().map_or(32, u32::trailing_zeros);
        let log_bytes = log_total.saturating_sub(7).max(LEAST_LOG_BYTES.into()) as u8;
        let first = address >> log_bytes;
        let last_byte = address.wrapping_add(u64::from(primary)).wrapping_sub(1);
        let end = last_byte.wrapping_add(1 << log_bytes) >> log_bytes;
        let count = end.wrapping_sub(first).min(BLOCKS - 1) as u8;
        BlockRange { log_bytes, first: (first % BLOCKS) as u8, count }
    }

    pub fn contains(self, address: u64) -> bool {
        let block = address >> self.log_bytes;
        block.wrapping_sub(self.first.into()) % BLOCKS < u64::from(self.count)
    }
}

impl CachePolicy {
    /// Returns the policy that gives all lines one priority.
    pub fn of_all(primary: EvictionPriority) -> CachePolicy {
        CachePolicy { primary, secondary_first: false, lines: PrimaryLines::Sixteenths(16) }
    }

    /// Returns the policy with its primary priority limited to a share of the lines, above 0 and at most 1,
    /// rounded up to sixteenths.
    pub fn of_share(self, share: f32) -> CachePolicy {
        let sixteenths = (share * 16.0).ceil().clamp(1.0, 16.0) as u8;
        CachePolicy { lines: PrimaryLines::Sixteenths(sixteenths), ..self }
    }

    /// Returns the policy with its primary priority limited to `primary` bytes from `address`, and the
    /// secondary priority for the rest of `total` bytes; if the total is 0, all lines are unchanged.
    pub fn of_range(self, address: u64, primary: u32, total: u32) -> CachePolicy {
        let policy = match total {
            0 => CachePolicy::of_all(EvictionPriority::Unchanged),
            _ => self,
        };
        let lines = PrimaryLines::Blocks(BlockRange::new(address, primary, total));
        CachePolicy { lines, ..policy }
    }

    pub fn bits(self) -> u64 {
        let (is_range, lines) = match self.lines {
            PrimaryLines::Sixteenths(count) => (0, u64::from(count - 1) << 52),
            PrimaryLines::Blocks(BlockRange { log_bytes, first, count }) => {
                let [log, first, count] =
                    [log_bytes - LEAST_LOG_BYTES, first, count].map(u64::from);
                (1, log << 52 | first << 44 | count << 37)
            }
        };
        let head = 1 << 4 | is_range << 3 | (self.primary as u64) << 1;
        (head | u64::from(self.secondary_first)) << 56 | lines
    }

    /// Decodes a policy; `None` if the bits are not one.
    pub fn of(bits: u64) -> Option<CachePolicy> {
        let field = |place: u32, width: u32| (bits >> place & ((1 << width) - 1)) as u8;
        let lines = match field(59, 1) {
            0 => PrimaryLines::Sixteenths(field(52, 4) + 1),
            _ => PrimaryLines::Blocks(BlockRange {
                log_bytes: field(52, 4) + LEAST_LOG_BYTES,
                first: field(44, 7),
                count: field(37, 7),
            }),
        };
        let policy = CachePolicy {
            primary: EvictionPriority::ALL[usize::from(field(57, 2))],
            secondary_first: field(56, 1) == 1,
            lines,
        };
        (policy.bits() == bits).then_some(policy)
    }
}

#[cfg(test)]
mod tests {
    use super::EvictionPriority::*;
    use super::*;

    #[test]
    fn policies_encode_as_in_machine_code() {
        for (primary, secondary_first, share, bits) in [
            (Last, false, 1.0, 0x14f0),
            (Last, true, 1.0, 0x15f0),
            (Normal, false, 1.0, 0x16f0),
            (Normal, true, 1.0, 0x17f0),
            (First, false, 1.0, 0x12f0),
            (First, true, 1.0, 0x13f0),
            (Unchanged, false, 1.0, 0x10f0),
            (Unchanged, true, 1.0, 0x11f0),
            (Last, false, 0.5, 0x1470),
            (Last, false, 0.0625, 0x1400),
            (Last, false, 0.6, 0x1490),
            (Last, false, 0.01, 0x1400),
            (Last, false, 0.1, 0x1410),
        ] {
            let policy = CachePolicy { secondary_first, ..CachePolicy::of_all(primary) };
            let policy = policy.of_share(share);
            assert_eq!(policy.bits(), bits << 48, "{policy:?}");
            assert_eq!(CachePolicy::of(bits << 48), Some(policy));
        }
        // CUTLASS's constant without preference, no policy, a bit between the fields, and a plain number.
        let unchanged = CachePolicy::of_all(Unchanged).of_share(0.0);
        assert_eq!(CachePolicy::of(0x1000 << 48), Some(unchanged));
        assert_eq!([0, 0x1d08 << 48, 0x14f1 << 48, 7].map(CachePolicy::of), [None; 4]);
    }

    fn range(address: u64, primary: u32, total: u32) -> CachePolicy {
        let last = CachePolicy { secondary_first: true, ..CachePolicy::of_all(Last) };
        last.of_range(address, primary, total)
    }

    #[test]
    fn range_policies_encode_as_in_machine_code() {
        for (address, primary, total, bits) in [
            (0x7f00_0000_3000, 4096, 16384, 0x1d00_3020_0000_0000),
            (0x7f00_0000_3001, 4096, 16384, 0x1d00_3040_0000_0000),
            (0x7f00_0000_3fff, 1, 1, 0x1d00_3020_0000_0000),
            (0x7f00_0000_3000, 0, 1, 0x1d00_3000_0000_0000),
            // 128 blocks of 4 KiB; one more byte requires blocks of 8 KiB.
            (0, 1 << 20, 1 << 19, 0x1d00_0fe0_0000_0000),
            (0x8_2000, 8192, (1 << 19) + 1, 0x1d14_1020_0000_0000),
            (0, 1 << 31, u32::MAX, 0x1dd0_0800_0000_0000),
            (0x3000, 4096, 0, 0x1800_0000_0000_0000),
        ] {
            let policy = range(address, primary, total);
            let shown = format!("{address:#x} {primary} {total}: {:#x}", policy.bits());
            assert_eq!(policy.bits(), bits, "{shown}");
            assert_eq!(CachePolicy::of(bits), Some(policy), "{shown}");
        }
    }

    #[test]
    fn a_range_has_whole_blocks_and_recurs_every_128() {
        let PrimaryLines::Blocks(blocks) = range(0x9_f800, 4096, 16384).lines else {
            unreachable!("decoded as a range");
        };
        for (address, is_in) in [
            (0x9_efff, false),
            (0x9_f000, true),
            (0xa_0fff, true),
            (0xa_1000, false),
            (0x9_f000 + (128 << 12), true),
            (0x1_f000, true),
        ] {
            assert_eq!(blocks.contains(address), is_in, "{address:#x}");
        }
    }
}
