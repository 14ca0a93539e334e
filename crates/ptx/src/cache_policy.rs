//! Cache eviction policies: 64 bits that `createpolicy` makes and accesses to global memory take with
//! `.L2::cache_hint`. PTX says nothing of the bits, but programs have them as constants (CUTLASS,
//! `TMA::CacheHintSm90`), so they are those that ptxas makes for `createpolicy.fractional` (machine code of
//! sm_90a, read):
//!
//! ```text
//!  63..60  59  58..57   56                  55..52
//!  1       0   primary  secondary is first  sixteenths less one
//! ```

/// When a line leaves L2.
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

    /// That of a modifier, as `L2::evict_last`.
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

/// A policy for a share of the lines that an access reads or writes, and for the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CachePolicy {
    pub primary: EvictionPriority,
    /// The others leave first; else unchanged.
    pub secondary_first: bool,
    /// Lines of the primary priority, 1 to 16.
    pub sixteenths: u8,
}

impl CachePolicy {
    /// That of accesses whose lines are all alike.
    pub fn of_all(primary: EvictionPriority) -> CachePolicy {
        CachePolicy { primary, secondary_first: false, sixteenths: 16 }
    }

    /// The same for this share of the lines, above 0 and at most 1, rounded up to sixteenths.
    pub fn of_share(self, share: f32) -> CachePolicy {
        CachePolicy { sixteenths: (share * 16.0).ceil().clamp(1.0, 16.0) as u8, ..self }
    }

    pub fn bits(self) -> u64 {
        let head = 8 | self.primary as u64;
        (head << 1 | u64::from(self.secondary_first)) << 56 | u64::from(self.sixteenths - 1) << 52
    }

    /// The policy of these bits; none of a range of addresses or of what is no policy.
    pub fn of(bits: u64) -> Option<CachePolicy> {
        let [primary, sixteenth] = [57, 52].map(|place| (bits >> place) as usize & 0xf);
        let policy = CachePolicy {
            primary: EvictionPriority::ALL[primary & 3],
            secondary_first: bits >> 56 & 1 == 1,
            sixteenths: sixteenth as u8 + 1,
        };
        (policy.bits() == bits).then_some(policy)
    }
}

#[cfg(test)]
mod tests {
    use super::EvictionPriority::*;
    use super::*;

    #[test]
    fn policies_have_the_bits_of_the_machine_code() {
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
        // CUTLASS's constant for no wish, none, one of a range, and a number.
        let unchanged = CachePolicy { sixteenths: 1, ..CachePolicy::of_all(Unchanged) };
        assert_eq!(CachePolicy::of(0x1000 << 48), Some(unchanged));
        assert_eq!([0, 0x1d << 56, 0x14f1 << 48, 7].map(CachePolicy::of), [None; 4]);
    }
}
