//! Sets of banks and of kinds of commands, one bit each.

use warpmem_sim::{BankId, bits};

/// A set of banks, one bit each.
pub type BankSet = u64;

/// Returns the set of this bank.
#[inline]
pub(crate) fn one(bank: BankId) -> BankSet {
    1 << bank.0
}

/// Iterates over the banks of a set, lowest first.
#[inline]
pub(crate) fn members(set: BankSet) -> impl Iterator<Item = BankId> {
    bits::ones(set).map(BankId::new)
}

/// Returns the lowest bank of a non-empty set.
#[inline]
pub(crate) fn lowest(set: BankSet) -> BankId {
    BankId(set.trailing_zeros() as u16)
}

/// Returns the first bank of a set at or after `start`, cyclically.
#[inline]
pub(crate) fn first_from(set: BankSet, start: BankId) -> Option<BankId> {
    let start = u32::from(start.0);
    let turned = set.rotate_right(start).trailing_zeros();
    (set != 0).then_some(BankId(((turned + start) % BankSet::BITS) as u16))
}

/// A set of kinds of planned commands, one bit each.
pub(crate) type KindSet = u8;
