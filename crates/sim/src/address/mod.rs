//! From a byte address to the channel, slice, bank, row and column that hold it.

mod layout;
mod map;

use crate::IndexHash;
use serde::{Deserialize, Serialize};

pub use layout::{AddressSpace, BitGroup, Field, Layout};
pub use map::{AddressMap, Location};

/// The address map: how an address selects channel, slice, bank, row and column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Address {
    /// Which address bits select which field: `field:bits` from the most significant down, a scheme
    /// (`RoBaRaCoCh`), or a GPGPU-Sim mask; see [`AddressSpace::layout`]. Bits above the map are
    /// ignored.
    pub map: String,
    /// Where the map has no channel field: channels are interleaved every this many bytes, and the
    /// map applies to the address within the channel. 0 where the map has a channel field.
    pub interleave_bytes: u32,
    /// Hash of the bits above onto (channel, low bank bits); gives channel and slice.
    pub partition_hash: IndexHash,
    /// Hash of the row onto the bank.
    pub bank_hash: IndexHash,
}
