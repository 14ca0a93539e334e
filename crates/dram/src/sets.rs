//! Sets of banks and of kinds of commands, one bit each.

/// A set of banks, one bit each.
pub type BankSet = u64;

pub(crate) fn one(bank: usize) -> BankSet {
    1 << bank
}

/// The banks of a set, lowest first.
pub(crate) fn members(mut set: BankSet) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bank = set.trailing_zeros();
        set &= set.wrapping_sub(1);
        (bank < BankSet::BITS).then_some(bank as usize)
    })
}

/// The first bank of a set at or after `start`, in a circle.
pub(crate) fn first_from(set: BankSet, start: u32) -> Option<usize> {
    let turned = set.rotate_right(start).trailing_zeros();
    (set != 0).then_some(((turned + start) % BankSet::BITS) as usize)
}

/// A set of kinds of planned commands, one bit each.
pub(crate) type KindSet = u8;
