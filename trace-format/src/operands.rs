use serde::{Deserialize, Serialize};

/// The general registers that an instruction reads, counted by register-file bank. The cycles of
/// the reads follow from the number of banks and the reads per bank and cycle.
///
/// Volta and later have 2 banks, Maxwell and Pascal 4 (Jia et al., "Dissecting the NVIDIA Volta GPU
/// Architecture via Microbenchmarking", 2018). Offsetting banks by the warp number does not change
/// the counts.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(into = "u16", try_from = "u16")]
pub struct Operands {
    /// Number of distinct general registers, at most [`Operands::MOST`]. A wide operand counts
    /// once, because a trace names only its first register.
    pub sources: u8,
    /// Maximum reads of one bank of 4, where the bank is the register number modulo 4.
    pub bank_reads: u8,
    /// Maximum reads of one bank of 2, where the bank is the register number modulo 2.
    pub bank_reads_of_2: u8,
}

/// Bits of each count in a file.
const BITS: u32 = 3;

impl Operands {
    /// Upper bound of each count; no instruction has more.
    pub const MOST: u8 = (1 << BITS) - 1;
    pub const NONE: Operands = Operands { sources: 0, bank_reads: 0, bank_reads_of_2: 0 };

    /// Returns the operands of an instruction that reads these general registers. Repeats count
    /// once.
    pub fn of(numbers: impl IntoIterator<Item = u16>) -> Operands {
        let mut read: Vec<u16> = numbers.into_iter().collect();
        read.sort_unstable();
        read.dedup();
        let fullest = |banks: u16| {
            let in_bank = |bank| read.iter().filter(|&&number| number % banks == bank).count();
            (0..banks).map(in_bank).max().unwrap_or(0)
        };
        Operands::new(read.len(), fullest(4), fullest(2))
    }

    /// Returns the operands of `sources` registers spread evenly over the banks, as compilers aim
    /// for; used when the registers are unknown.
    pub fn spread(sources: usize) -> Operands {
        Operands::new(sources, sources.div_ceil(4), sources.div_ceil(2))
    }

    fn new(sources: usize, bank_reads: usize, bank_reads_of_2: usize) -> Operands {
        let capped = |count: usize| count.min(usize::from(Operands::MOST)) as u8;
        Operands {
            sources: capped(sources),
            bank_reads: capped(bank_reads),
            bank_reads_of_2: capped(bank_reads_of_2),
        }
    }

    /// Returns whether some set of registers has these counts.
    pub(crate) fn is_possible(self) -> bool {
        let Operands { sources, bank_reads, bank_reads_of_2 } = self;
        let even = Operands::spread(sources.into());
        sources <= Operands::MOST
            && (even.bank_reads..=bank_reads_of_2).contains(&bank_reads)
            && (even.bank_reads_of_2..=sources).contains(&bank_reads_of_2)
    }
}

impl From<Operands> for u16 {
    fn from(operands: Operands) -> u16 {
        let Operands { sources, bank_reads, bank_reads_of_2 } = operands;
        [bank_reads_of_2, bank_reads, sources]
            .into_iter()
            .fold(0, |code, count| code << BITS | u16::from(count & Operands::MOST))
    }
}

impl TryFrom<u16> for Operands {
    type Error = String;

    fn try_from(code: u16) -> Result<Operands, String> {
        let count = |place: u32| (code >> (place * BITS)) as u8 & Operands::MOST;
        let operands =
            Operands { sources: count(0), bank_reads: count(1), bank_reads_of_2: count(2) };
        match operands.is_possible() && u16::from(operands) == code {
            true => Ok(operands),
            false => Err(format!("no operands have the code {code:#x}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn counts(numbers: &[u16]) -> (u8, u8, u8) {
        let operands = Operands::of(numbers.iter().copied());
        (operands.sources, operands.bank_reads, operands.bank_reads_of_2)
    }

    #[test]
    fn distinct_registers_are_counted_per_bank() {
        assert_eq!(counts(&[]), (0, 0, 0));
        assert_eq!(counts(&[7]), (1, 1, 1));
        assert_eq!(counts(&[4, 8, 12]), (3, 3, 3), "one bank whichever the number of banks");
        assert_eq!(counts(&[4, 6, 8]), (3, 2, 3), "even, of two banks of four");
        assert_eq!(counts(&[1, 2, 3]), (3, 1, 2));
        assert_eq!(counts(&[1, 2, 3, 4]), (4, 1, 2));
        assert_eq!(counts(&[9, 9, 9]), (1, 1, 1), "read once, used three times");
        assert_eq!(counts(&[0, 1, 2, 3, 4, 5, 6, 7, 8]), (7, 3, 5), "capped");
        assert_eq!(counts(&(0..100).map(|n| 4 * n).collect::<Vec<_>>()), (7, 7, 7));
    }

    #[test]
    fn spread_operands_equal_consecutive_registers() {
        for sources in 0..20u16 {
            assert_eq!(Operands::spread(sources.into()), Operands::of(0..sources), "{sources}");
        }
    }

    #[test]
    fn impossible_operand_codes_are_refused() {
        let mut accepted = 0;
        for code in 0..=u16::MAX {
            let Ok(operands) = Operands::try_from(code) else { continue };
            assert!(operands.is_possible());
            assert_eq!(u16::from(operands), code);
            accepted += 1;
        }
        let all =
            (0..8u8).flat_map(|s| (0..8u8).flat_map(move |a| (0..8u8).map(move |b| (s, a, b))));
        let possible = all.filter(|&(sources, bank_reads, bank_reads_of_2)| {
            Operands { sources, bank_reads, bank_reads_of_2 }.is_possible()
        });
        assert_eq!(accepted, possible.count());
        let refused = [0o010, 0o001, 0o113, 0o132, 0o1000];
        assert!(refused.iter().all(|&code| Operands::try_from(code).is_err()));
    }

    proptest! {
        #[test]
        fn what_registers_give_is_possible(numbers in prop::collection::vec(0u16..255, 0..12)) {
            prop_assert!(Operands::of(numbers).is_possible());
        }
    }
}
