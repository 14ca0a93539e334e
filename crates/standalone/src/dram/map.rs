//! The address map, as streams use it.

use super::StandaloneError;
use super::pattern::Place;
use warpmem_dram::Dram;
use warpmem_machine::MachineError;
use warpmem_sim::{AddressMap, ChannelId, Field};

/// An address map with its bounds.
pub(super) struct Map {
    map: AddressMap,
    burst_bytes: u32,
    /// Bits of the number of a row.
    pub row_bits: u32,
    /// Bytes of all channels.
    pub capacity: u64,
    /// Largest aligned block that always lies in one row, bytes.
    pub block: u32,
}

impl Map {
    pub fn new(dram: &Dram) -> Result<Map, StandaloneError> {
        let map = dram.address_map(1).map_err(MachineError::from)?;
        let bits = map.layout().bits();
        let first = map.locate(0);
        let in_first_row = |bit: &u32| {
            let at = map.locate(1 << bit);
            (at.channel, at.bank, at.row) == (first.channel, first.bank, first.row)
        };
        Ok(Map {
            burst_bytes: dram.burst_bytes(),
            row_bits: map.layout().bits_of(Field::Row),
            capacity: map.capacity(),
            block: 1 << (0..bits.min(31)).take_while(in_first_row).count(),
            map,
        })
    }

    /// Column commands of a request of this many bytes, or a message with the valid sizes.
    pub fn bursts(&self, bytes: u32) -> Result<u16, String> {
        let most = self.block.max(self.burst_bytes);
        let bursts = u16::try_from((bytes / self.burst_bytes).max(1)).ok();
        bursts
            .filter(|_| bytes.is_power_of_two() && bytes <= most)
            .ok_or_else(|| format!("a power of two up to {most}, a block that lies in one row"))
    }

    /// The position of the block of this many bytes around an address, if it is in this channel.
    pub fn place(&self, address: u64, bytes: u32, channel: ChannelId) -> Option<Place> {
        let at = self.map.locate(address & !(u64::from(bytes) - 1));
        (at.channel == channel).then_some(Place { bank: at.bank, row: at.row })
    }
}
