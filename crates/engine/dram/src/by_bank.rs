//! A table indexed by bank. It has one entry for each of the most banks that a channel may have,
//! which removes bounds checks.

use super::MAX_BANKS;
use std::ops::{Index, IndexMut};
use warpmem_sim::BankId;

const LENGTH: usize = MAX_BANKS as usize;

/// One entry per possible bank of a channel.
#[derive(Clone)]
pub(super) struct ByBank<T>(Box<[T; LENGTH]>);

impl<T: Clone> ByBank<T> {
    /// Fills every bank with `entry`.
    pub fn new(entry: T) -> ByBank<T> {
        ByBank::from_fn(|_| entry.clone())
    }
}

impl<T> ByBank<T> {
    /// Fills each bank with the result of `entry`.
    pub fn from_fn(entry: impl Fn(BankId) -> T) -> ByBank<T> {
        ByBank(Box::new(std::array::from_fn(|bank| entry(BankId::new(bank)))))
    }
}

impl<T> Index<BankId> for ByBank<T> {
    type Output = T;

    #[inline]
    fn index(&self, bank: BankId) -> &T {
        debug_assert!(bank.index() < LENGTH, "{bank:?} of at most {MAX_BANKS}");
        &self.0[bank.index() % LENGTH]
    }
}

impl<T> IndexMut<BankId> for ByBank<T> {
    #[inline]
    fn index_mut(&mut self, bank: BankId) -> &mut T {
        debug_assert!(bank.index() < LENGTH, "{bank:?} of at most {MAX_BANKS}");
        &mut self.0[bank.index() % LENGTH]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bank_has_a_table_entry() {
        let mut table = ByBank::from_fn(|bank| bank.0);
        assert!(BankId::all(LENGTH).all(|bank| table[bank] == bank.0));
        table[BankId(5)] = 99;
        let changed = BankId::all(LENGTH).filter(|&bank| table[bank] != bank.0);
        assert_eq!(Vec::from_iter(changed), [BankId(5)]);
    }
}
