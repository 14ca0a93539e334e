//! Ids of units and of their parts, each a type of its own, so that a bank cannot be used as a row.

use crate::bits;

/// Declares id types. Each wraps the integer that stores it; `index` is the position in a table.
#[macro_export]
macro_rules! ids {
    ($($(#[$doc:meta])* $vis:vis $name:ident($int:ty);)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        $vis struct $name(pub $int);

        impl $name {
            /// Returns the id of position `index`, which must fit.
            #[inline]
            pub fn new(index: usize) -> $name {
                debug_assert!(<$int>::try_from(index).is_ok());
                $name(index as $int)
            }

            /// Returns its position in a table.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// Iterates over the ids of a table of `count` entries.
            pub fn all(count: usize) -> impl ExactSizeIterator<Item = $name> + Clone {
                (0..count).map($name::new)
            }
        }

        impl $crate::Id for $name {
            #[inline]
            fn new(index: usize) -> $name {
                $name::new(index)
            }

            #[inline]
            fn index(self) -> usize {
                $name::index(self)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

ids! {
    /// An SM of the machine.
    pub SmId(u16);
    /// Slot of a resident warp, within its SM.
    pub WarpSlot(u16);
    /// Slot of a resident warp, over all SMs.
    pub WarpId(u32);
    /// Slice of the L2, over the whole machine.
    pub SliceId(u16);
    /// DRAM channel of the machine.
    pub ChannelId(u16);
    /// Bank of a channel; from the most significant bits down: pseudo channel, stack, bank of the
    /// group, group.
    pub BankId(u16);
    /// Row of a bank.
    pub RowId(u32);
}

/// Sets of warps of an SM are words with one bit per warp slot.
impl WarpSlot {
    /// Returns the set of this slot alone.
    #[inline]
    pub fn bit(self) -> u64 {
        1 << self.0
    }

    /// Returns whether it is in `slots`.
    #[inline]
    pub fn is_in(self, slots: u64) -> bool {
        slots >> self.0 & 1 == 1
    }

    /// Returns the lowest of `slots`, which must not be empty.
    #[inline]
    pub fn lowest(slots: u64) -> WarpSlot {
        debug_assert!(slots != 0);
        WarpSlot(slots.trailing_zeros() as u16)
    }

    /// Iterates over `slots`, lowest first.
    #[inline]
    pub fn each(slots: u64) -> impl Iterator<Item = WarpSlot> {
        bits::ones(slots).map(WarpSlot::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_warps_has_a_bit_for_each_slot() {
        let set = WarpSlot(3).bit() | WarpSlot(63).bit();
        assert_eq!(WarpSlot::each(set).collect::<Vec<_>>(), [WarpSlot(3), WarpSlot(63)]);
        assert_eq!(WarpSlot::lowest(set), WarpSlot(3));
        assert!(WarpSlot(63).is_in(set) && !WarpSlot(62).is_in(set));
    }

    #[test]
    fn an_id_is_its_position_in_a_table() {
        assert_eq!(BankId::all(3).map(BankId::index).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!((BankId::new(7), BankId::new(7).to_string()), (BankId(7), "7".to_owned()));
    }
}
