//! From a byte address to the channel, slice, bank, row and column that hold it.

mod layout;
mod map;

use crate::IndexHash;
use serde::{Deserialize, Serialize};

pub use layout::{AddressSpace, BitGroup, Field, Layout};
pub use map::{AddressMap, Location};

/// From an address to channel, slice, bank, row and column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Address {
    /// Which address bits select what: `field:bits` from the most significant down, a scheme
    /// (`RoBaRaCoCh`), or a mask of GPGPU-Sim; see [`AddressSpace::layout`]. Bits above are ignored.
    pub map: String,
    /// Without a channel in the map, channels take turns every so many bytes and the map applies to the
    /// address within the channel; 0 where the map says where the channel is.
    pub interleave_bytes: u32,
    /// Hash of the bits above on (channel, low bank bits); gives channel and slice.
    pub partition_hash: IndexHash,
    /// Hash of the row on the bank.
    pub bank_hash: IndexHash,
}
