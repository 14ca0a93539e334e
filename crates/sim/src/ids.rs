//! Numbers of units and of parts of units, each a type of its own, so that a bank is never taken
//! for a row.

/// Declares types of numbers. Each wraps the integer in which it is stored; `index` is its position
/// in a table.
#[macro_export]
macro_rules! ids {
    ($($(#[$doc:meta])* $vis:vis $name:ident($int:ty);)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        $vis struct $name(pub $int);

        impl $name {
            /// The id of position `index` in a table, which must fit.
            #[inline]
            pub fn new(index: usize) -> $name {
                debug_assert!(<$int>::try_from(index).is_ok());
                $name(index as $int)
            }

            /// Its position in a table.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The ids of a table of `count` entries, in order.
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
    /// A slot for a resident warp, counted within its SM.
    pub WarpSlot(u16);
    /// A slot for a resident warp, counted over all SMs.
    pub WarpId(u32);
    /// A slice of the LLC, counted over the whole machine.
    pub SliceId(u16);
    /// A DRAM channel of the machine.
    pub ChannelId(u16);
    /// A bank of a channel: from the most significant bit down pseudo channel, stack, bank of the
    /// group, group.
    pub BankId(u16);
    /// A row of a bank.
    pub RowId(u32);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_its_position_in_a_table() {
        assert_eq!(BankId::all(3).map(BankId::index).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!((BankId::new(7), BankId::new(7).to_string()), (BankId(7), "7".to_owned()));
    }
}
