//! From a byte address to the channel, slice, bank, row and column that hold it.

mod layout;
mod map;

use crate::IndexHash;
use serde::{Deserialize, Serialize};
use warpmem_params::section;

pub use layout::{AddressSpace, BitGroup, Field, Layout};
pub use map::{AddressMap, Location};

section! {
    /// The address map: how an address selects channel, slice, bank, row and column.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct Address {
        /// Which address bits select what, see [Address map](#address-map).
        map: String, in "map", unit "bits";
        /// Channels are interleaved every this many bytes, a power of two of at least a line; 0
        /// where the map has a channel field.
        interleave_bytes: u32, in 0..=1 << 20, unit "bytes";
        /// Hash of the bits above onto (channel, low bank bits); gives channel and slice. Needs a
        /// power of two of channels unless `linear`.
        partition_hash: IndexHash;
        /// Hash of the row onto the bank.
        bank_hash: IndexHash;
    }
}
