use serde::{Deserialize, Serialize};

/// Eviction priority of a line in L2 (PTX ISA, "createpolicy").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[repr(u8)]
pub enum Eviction {
    /// Unchanged by the access (`evict_unchanged`).
    Unchanged,
    /// Normal order, whatever the previous priority (`evict_normal`).
    Normal,
    /// Before all others (`evict_first`).
    First,
    /// After all others (`evict_last`).
    Last,
}

impl Eviction {
    /// All priorities, by their names in tables of accesses.
    pub const ALL: [(&str, Eviction); 4] = [
        ("evict-unchanged", Eviction::Unchanged),
        ("evict-normal", Eviction::Normal),
        ("evict-first", Eviction::First),
        ("evict-last", Eviction::Last),
    ];
}

/// The eviction policy of an access: a fraction of its lines gets the priority `primary`, the rest
/// `secondary`. The address of a line decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct L2Policy {
    pub primary: Eviction,
    /// Fraction of lines with the primary priority, in sixteenths, 1 to 16.
    pub sixteenths: u8,
    pub secondary: Eviction,
}

impl L2Policy {
    /// Returns the policy that treats all lines alike.
    pub fn of_all(primary: Eviction) -> L2Policy {
        L2Policy { primary, sixteenths: 16, secondary: Eviction::Unchanged }
    }

    /// Returns the priority of a line by its number.
    pub fn of_line(self, line: u64) -> Eviction {
        // The high bits of a product depend on all bits of the line (Knuth, vol. 3, 6.4).
        const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
        let sixteenth = line.wrapping_mul(GOLDEN) >> 60;
        if sixteenth < self.sixteenths.into() { self.primary } else { self.secondary }
    }

    /// Returns a nonzero key of 13 bits that is unique to the value.
    pub(crate) fn key(self) -> u64 {
        1 << 12
            | (self.primary as u64) << 10
            | (self.secondary as u64) << 8
            | u64::from(self.sixteenths)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_fraction_of_lines_has_the_primary_priority() {
        let (primary, secondary) = (Eviction::Last, Eviction::First);
        for sixteenths in 1..=16 {
            let policy = L2Policy { primary, sixteenths, secondary };
            let of = |line| policy.of_line(line) == primary;
            let count = (0..1 << 16).filter(|&line| of(line)).count() as f64;
            let share = count / f64::from(1 << 16) * 16.0;
            assert!((share - f64::from(sixteenths)).abs() < 0.01, "{share} for {sixteenths}");
            let less = L2Policy { sixteenths: sixteenths - 1, ..policy };
            assert!((0..1 << 10).all(|line| of(line) || less.of_line(line) == secondary));
        }
        assert_eq!(L2Policy::of_all(primary).of_line(7), primary);
    }

    #[test]
    fn every_policy_has_a_unique_key() {
        let evictions = Eviction::ALL.map(|(_, eviction)| eviction);
        let mut keys: Vec<u64> = evictions
            .into_iter()
            .flat_map(|secondary| evictions.map(|primary| (primary, secondary)))
            .flat_map(|(primary, secondary)| {
                (1..=16).map(move |sixteenths| L2Policy { primary, sixteenths, secondary }.key())
            })
            .collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), 4 * 4 * 16);
        assert!(keys[0] > 0 && keys[keys.len() - 1] < 1 << 13);
    }
}
