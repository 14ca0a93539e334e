//! Shards: parts of a sweep that run on different machines.

use std::cmp::Reverse;
use std::str::FromStr;

/// One of several parts, numbered from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    number: usize,
    of: usize,
}

impl Shard {
    /// Returns all `of` shards in order.
    pub fn all(of: usize) -> impl Iterator<Item = Shard> {
        (1..=of).map(move |number| Shard { number, of })
    }

    pub fn number(&self) -> usize {
        self.number
    }

    pub fn of(&self) -> usize {
        self.of
    }

    /// Marks the cells of this shard; `weights` is the work of each cell. Every cell belongs to
    /// exactly one shard: from the heaviest down, each is assigned to the shard with the least work
    /// so far (Graham 1969).
    pub fn holds(&self, weights: &[u64]) -> Vec<bool> {
        let mut order: Vec<usize> = (0..weights.len()).collect();
        order.sort_by_key(|&cell| Reverse(weights[cell]));
        let mut held = vec![false; weights.len()];
        // Cells without work count too; otherwise one shard would get all of them.
        let mut loads =
            std::collections::BinaryHeap::from_iter((0..self.of).map(|n| Reverse((0, n))));
        for cell in order {
            let Some(Reverse((load, shard))) = loads.pop() else { break };
            held[cell] = shard + 1 == self.number;
            loads.push(Reverse((load + u128::from(weights[cell].max(1)), shard)));
        }
        held
    }
}

impl FromStr for Shard {
    type Err = String;

    /// Parses `3/16`.
    fn from_str(text: &str) -> Result<Shard, String> {
        let wrong = || "expected NUMBER/OF, as in 3/16, from 1/16 to 16/16".to_owned();
        let (number, of) = text.split_once('/').ok_or_else(wrong)?;
        let parse = |text: &str| text.trim().parse::<usize>().map_err(|_| wrong());
        let (number, of) = (parse(number)?, parse(of)?);
        if !(1..=of).contains(&number) || of > 1_000_000 {
            return Err(wrong());
        }
        Ok(Shard { number, of })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn shards_are_written_as_fractions() {
        assert_eq!("3/16".parse(), Ok(Shard { number: 3, of: 16 }));
        for text in ["", "3", "0/4", "5/4", "1/0", "a/b", "-1/2", "1/2/3"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }

    #[test]
    fn work_is_balanced_and_not_only_cells() {
        let held = Shard { number: 1, of: 2 }.holds(&[1, 1, 10, 8, 1]);
        assert_eq!(held, [false, false, true, false, true]);
    }

    proptest! {
        #[test]
        fn every_cell_is_of_one_shard(weights in prop::collection::vec(0u64..1000, 0..60), of in 1usize..9) {
            let held: Vec<Vec<bool>> = Shard::all(of).map(|shard| shard.holds(&weights)).collect();
            for cell in 0..weights.len() {
                prop_assert_eq!(held.iter().filter(|held| held[cell]).count(), 1);
            }
        }

        /// The heaviest shard exceeds the lightest by at most one cell.
        #[test]
        fn shards_differ_by_a_cell_at_most(weights in prop::collection::vec(1u64..1000, 1..60), of in 1usize..9) {
            let load = |shard: Shard| -> u64 {
                let held = shard.holds(&weights).into_iter().zip(&weights);
                held.filter(|(held, _)| *held).map(|(_, weight)| weight).sum()
            };
            let loads: Vec<u64> = Shard::all(of).map(load).collect();
            let spread = loads.iter().max().unwrap() - loads.iter().min().unwrap();
            prop_assert!(spread <= *weights.iter().max().unwrap());
        }
    }
}
