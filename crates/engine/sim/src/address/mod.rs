//! The address map: the channel, slice, bank, row and column of a byte address.

mod interleave;
mod layout;
mod map;

use crate::IndexHash;
use serde::Serialize;
use std::ops::RangeInclusive;
use warpmem_params::{Invalid, rule, section};

pub use layout::{AddressSpace, BitGroup, Field, Layout};
pub use map::{AddressMap, Location};

section! {
    /// The address map: the selection of channel, slice, bank, row and column by an address.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Address {
        /// Address bits of each field, see [Address map](#address-map).
        map: String, in "map", unit "bits";
        /// Interleaving of the channels, a power of two of at least a line; 0 if the map has a
        /// channel field.
        interleave_bytes: u32 = 0, in 0..=1 << 20, unit "bytes";
        /// Hash of the higher bits onto (channel, low bank bits), which gives channel and slice. It
        /// rotates the channels if their number is not a power of two.
        partition_hash: IndexHash = IndexHash::Linear;
        /// First and last address bit of the partition hash, both above the bits that it changes;
        /// empty: all higher bits, which is required if the number of channels is not a power of
        /// two.
        partition_hash_bits: Vec<u32> = &[];
        /// Hash of the row onto the bank.
        bank_hash: IndexHash = IndexHash::Linear;
    }
}

impl Address {
    /// Returns the bits that the partition hash takes. Bits from `above` up are above those that it
    /// changes; `rotates`: the number of channels is not a power of two.
    fn hashed_bits(&self, above: u32, rotates: bool) -> Result<RangeInclusive<u32>, Invalid> {
        let top = u64::BITS - 1;
        let (first, last) = match self.partition_hash_bits[..] {
            [] => return Ok(above..=top),
            [first, last] => (first, last),
            _ => (top + 1, 0),
        };
        let valid = match self.partition_hash {
            IndexHash::Linear => "[], as `dram.address.partition_hash` is \"linear\"".to_owned(),
            _ if rotates => "[], as `dram.channels` is no power of two".to_owned(),
            _ => format!("[], or the first and the last of some bits from {above} to {top}"),
        };
        let fits = self.partition_hash != IndexHash::Linear
            && !rotates
            && above <= first
            && first <= last
            && last <= top;
        let value = format!("{:?}", self.partition_hash_bits);
        rule(fits, "dram.address.partition_hash_bits", &value, valid)?;
        Ok(first..=last)
    }
}

/// Makes the map of channels of 16 banks, for tests of units.
///
/// # Panics
/// If the numbers do not fit a map.
pub fn test_map(channels: u32, slices_per_channel: u32) -> AddressMap {
    let address = Address {
        map: "row:12 bank:4 column:5 burst:6".to_owned(),
        interleave_bytes: 256,
        partition_hash: IndexHash::Linear,
        bank_hash: IndexHash::Linear,
        partition_hash_bits: Vec::new(),
    };
    let space = AddressSpace {
        channels,
        pseudo_channels: 1,
        stacks: 1,
        banks: 16,
        bank_groups: 4,
        burst_bytes: 64,
        row_bytes: 2048,
        address,
    };
    AddressMap::new(&space, slices_per_channel).expect("the numbers fit")
}
