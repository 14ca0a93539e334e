//! Generated streams, by banks and rows of one channel.

use super::StandaloneError;
use warpmem_dram::Dram;
use warpmem_sim::{BankId, RowId};
use warpmem_support::random::Random;

/// The order in which a stream visits banks and rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Rows of all banks in parallel: round robin over the banks, visit by visit, each row to its
    /// end.
    Sequential,
    /// A random row of a random bank at each visit.
    Random,
    /// A new row of one bank at each visit.
    OneBank,
    /// Round robin over the banks, a new row at each visit.
    RoundRobin,
}

impl Pattern {
    /// All patterns, each with its name and description.
    pub const ALL: [(&'static str, Pattern, &'static str); 4] = [
        ("sequential", Pattern::Sequential, "banks round robin, each row to its end"),
        ("random", Pattern::Random, "a random row of a random bank at each visit"),
        ("one-bank", Pattern::OneBank, "a new row of one bank at each visit"),
        ("round-robin", Pattern::RoundRobin, "banks round robin, a new row at each visit"),
    ];

    /// Returns the pattern of this name.
    pub fn named(name: &str) -> Option<Pattern> {
        Pattern::ALL.iter().find(|(known, ..)| *known == name).map(|&(_, pattern, _)| pattern)
    }

    /// Returns the name as on the command line.
    pub fn name(self) -> &'static str {
        Pattern::ALL[self as usize].0
    }
}

/// The banks and rows of a channel as patterns see them: powers of two.
#[derive(Clone, Copy, Debug)]
pub(super) struct Geometry {
    bank_bits: u32,
    pseudo_bits: u32,
    row_bits: u32,
    /// Bits of the number of a request within its row.
    request_bits: u32,
}

impl Geometry {
    /// Builds the geometry for requests of `bursts` column commands each; a bank has two to the
    /// `row_bits` rows.
    pub fn new(dram: &Dram, row_bits: u32, bursts: u32) -> Geometry {
        Geometry {
            bank_bits: dram.banks.ilog2(),
            pseudo_bits: dram.pseudo_channels.ilog2(),
            row_bits,
            request_bits: (dram.row_bytes / (dram.burst_bytes() * bursts)).ilog2(),
        }
    }

    /// Returns the bank of step `step`: round robin over pseudo channels, and within each over its
    /// banks, with bank groups (the low bits) changing fastest.
    fn bank(&self, step: u64) -> BankId {
        let (pseudo, bank) = (low(step, self.pseudo_bits), step >> self.pseudo_bits);
        let bits = self.bank_bits - self.pseudo_bits;
        BankId::new((pseudo << bits | low(bank, bits)) as usize)
    }

    fn row(&self, number: u64) -> RowId {
        RowId::new(low(number, self.row_bits) as usize)
    }
}

fn low(value: u64, bits: u32) -> u64 {
    value & ((1 << bits) - 1)
}

/// A position in a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BankRow {
    pub bank: BankId,
    pub row: RowId,
}

/// An endless walk over the positions of a channel.
pub(super) struct Walk {
    pattern: Pattern,
    geometry: Geometry,
    locality: u32,
    random: Random,
    /// Number of the visit, and of the next request in it.
    visit: u64,
    nth: u32,
    place: BankRow,
}

impl Walk {
    /// Builds a walk with `locality` requests at each visit of a row.
    pub fn new(
        pattern: Pattern,
        geometry: Geometry,
        locality: u32,
        random: Random,
    ) -> Result<Walk, StandaloneError> {
        let most = 1 << geometry.request_bits;
        if !(1..=most).contains(&locality) {
            let valid = format!("1 to {most}, the requests of a row");
            return Err(StandaloneError::option("locality", &locality, valid));
        }
        let place = BankRow { bank: BankId(0), row: RowId(0) };
        Ok(Walk { pattern, geometry, locality, random, visit: 0, nth: 0, place })
    }

    pub fn next(&mut self) -> BankRow {
        match self.pattern {
            Pattern::Sequential => self.place = self.in_sequence(),
            _ if self.nth == 0 => self.place = self.begin_visit(),
            _ => {}
        }
        self.nth += 1;
        if self.nth == self.locality {
            (self.visit, self.nth) = (self.visit + 1, 0);
        }
        self.place
    }

    fn in_sequence(&self) -> BankRow {
        let Geometry { bank_bits, request_bits, .. } = self.geometry;
        let of_bank = (self.visit >> bank_bits) * u64::from(self.locality) + u64::from(self.nth);
        let row = self.geometry.row(of_bank >> request_bits);
        BankRow { bank: self.geometry.bank(self.visit), row }
    }

    fn begin_visit(&mut self) -> BankRow {
        let Geometry { bank_bits, row_bits, .. } = self.geometry;
        match self.pattern {
            Pattern::OneBank => BankRow { bank: BankId(0), row: self.geometry.row(self.visit) },
            Pattern::RoundRobin => BankRow {
                bank: self.geometry.bank(self.visit),
                row: self.geometry.row(self.visit >> bank_bits),
            },
            Pattern::Random | Pattern::Sequential => {
                let bits = self.random.bits();
                BankRow {
                    bank: BankId::new(low(bits >> row_bits, bank_bits) as usize),
                    row: self.geometry.row(bits),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use warpmem_machine::load;

    /// Two pseudo channels of eight banks; rows of four requests.
    const GEOMETRY: Geometry =
        Geometry { bank_bits: 4, pseudo_bits: 1, row_bits: 6, request_bits: 2 };

    fn places(pattern: Pattern, locality: u32, count: usize) -> Vec<(u16, u32)> {
        let mut walk = Walk::new(pattern, GEOMETRY, locality, Random::new(1)).unwrap();
        (0..count).map(|_| walk.next()).map(|place| (place.bank.0, place.row.0)).collect()
    }

    #[test]
    fn patterns_are_found_by_their_names() {
        for (name, pattern, _) in Pattern::ALL {
            assert_eq!((pattern.name(), Pattern::named(name)), (name, Some(pattern)));
        }
        assert_eq!(Pattern::named("strided"), None);
    }

    #[test]
    fn a_row_holds_as_many_requests_as_fit() {
        let dram = load("li2015", &[]).unwrap().dram;
        assert_eq!(Geometry::new(&dram, 12, 1).request_bits, 6);
        assert_eq!(Geometry::new(&dram, 12, 2).request_bits, 5);
    }

    #[test]
    fn sequential_visits_all_banks_and_fills_rows() {
        let places = places(Pattern::Sequential, 1, 16 * 4 * 64 + 1);
        assert_eq!(places[..4], [(0, 0), (8, 0), (1, 0), (9, 0)]);
        let turn: BTreeSet<u16> = places[..16].iter().map(|place| place.0).collect();
        assert_eq!(turn.len(), 16);
        assert_eq!(places[16], (0, 0));
        assert_eq!(places[16 * 4 - 1], (15, 0));
        assert_eq!(places[16 * 4], (0, 1));
        assert_eq!(places[16 * 4 * 64], (0, 0), "from the start after the last row");
    }

    #[test]
    fn sequential_visits_may_cover_part_of_a_row() {
        let places = places(Pattern::Sequential, 3, 16 * 3 * 2);
        assert_eq!(places[..4], [(0, 0), (0, 0), (0, 0), (8, 0)]);
        // The fourth request of the first row, then the second row.
        assert_eq!(places[16 * 3..16 * 3 + 4], [(0, 0), (0, 1), (0, 1), (8, 0)]);
    }

    #[test]
    fn a_visit_stays_in_its_row() {
        assert_eq!(
            places(Pattern::OneBank, 3, 7),
            [(0, 0), (0, 0), (0, 0), (0, 1), (0, 1), (0, 1), (0, 2)]
        );
        assert_eq!(places(Pattern::RoundRobin, 2, 5), [(0, 0), (0, 0), (8, 0), (8, 0), (1, 0)]);
        assert_eq!(places(Pattern::RoundRobin, 1, 17)[16], (0, 1));
    }

    #[test]
    fn random_visits_reach_every_bank_and_row() {
        let random = places(Pattern::Random, 2, 20_000);
        assert!(random.chunks(2).all(|visit| visit[0] == visit[1]));
        let banks: BTreeSet<u16> = random.iter().map(|place| place.0).collect();
        let rows: BTreeSet<u32> = random.iter().map(|place| place.1).collect();
        assert_eq!((banks.len(), rows.len()), (16, 64));
        assert_eq!((banks.last(), rows.last()), (Some(&15), Some(&63)));
    }

    #[test]
    fn locality_is_at_most_the_requests_of_a_row() {
        let walk = |locality| Walk::new(Pattern::Random, GEOMETRY, locality, Random::new(1));
        assert!(walk(4).is_ok());
        for locality in [0, 5] {
            let error = walk(locality).err().unwrap().to_string();
            assert!(error.contains("`locality`") && error.contains("1 to 4"), "{error}");
        }
    }
}
