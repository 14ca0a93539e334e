//! The address map, as streams use it.

use super::StandaloneError;
use super::file::Levels;
use super::pattern::BankRow;
use warpmem_dram::Dram;
use warpmem_machine::MachineError;
use warpmem_sim::{AddressMap, BankId, ChannelId, Field, RowId};

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
    dimensions: Dimensions,
}

/// The dimensions of a DRAM.
struct Dimensions {
    channels: u32,
    /// Pseudo channels per channel.
    pseudo_channels: u32,
    /// Stacks per pseudo channel.
    stacks: u32,
    /// Groups per stack.
    groups: u32,
    /// Banks per group.
    banks: u32,
    /// Rows per bank.
    rows: u32,
}

impl Dimensions {
    fn new(dram: &Dram, row_bits: u32) -> Dimensions {
        Dimensions {
            channels: dram.channels,
            pseudo_channels: dram.pseudo_channels,
            stacks: dram.stacks,
            groups: dram.bank_groups,
            banks: dram.banks_per_stack() / dram.bank_groups,
            rows: 1 << row_bits,
        }
    }

    /// Returns the dimensions that the levels of an access index, with their sizes; the column is
    /// not among them, because a request does not depend on it.
    fn numbered(&self, levels: usize) -> Vec<(&'static str, u32)> {
        let all = self.groups * self.banks * self.stacks * self.pseudo_channels;
        let upper = match self.pseudo_channels {
            1 => ("rank", self.stacks),
            several => ("pseudo channel", several),
        };
        let group = ("bank group", self.groups);
        let between = match levels {
            4 => vec![("bank", all)],
            5 if self.groups > 1 => vec![group, ("bank of a group", self.banks)],
            5 => vec![upper, ("bank", self.banks)],
            _ => vec![upper, group, ("bank of a group", self.banks)],
        };
        [vec![("channel", self.channels)], between, vec![("row", self.rows)]].concat()
    }

    /// Returns the number of a bank in its channel: groups change fastest, then banks, stacks and
    /// pseudo channels.
    fn bank(&self, between: &[u32]) -> u32 {
        match *between {
            [bank] => bank,
            [group, bank] if self.groups > 1 => group + self.groups * bank,
            [upper, bank] => self.bank(&[upper, 0, bank]),
            [upper, group, bank] => {
                let stacks = if self.pseudo_channels > 1 { self.stacks } else { 1 };
                group + self.groups * (bank + self.banks * upper * stacks)
            }
            _ => 0,
        }
    }
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
            dimensions: Dimensions::new(dram, map.layout().bits_of(Field::Row)),
            burst_bytes: dram.burst_bytes(),
            row_bits: map.layout().bits_of(Field::Row),
            capacity: map.capacity(),
            block: 1 << (0..bits.min(31)).take_while(in_first_row).count(),
            map,
        })
    }

    /// Returns the column commands of a request of this many bytes, or a message with the valid
    /// sizes.
    pub fn bursts(&self, bytes: u32) -> Result<u16, String> {
        let most = self.block.max(self.burst_bytes);
        let bursts = u16::try_from((bytes / self.burst_bytes).max(1)).ok();
        bursts
            .filter(|_| bytes.is_power_of_two() && bytes <= most)
            .ok_or_else(|| format!("a power of two up to {most}, a block within one row"))
    }

    /// Returns the channel and the position of the levels of an access; else the level that is out
    /// of range and its size.
    pub fn at_levels(&self, levels: &Levels) -> Result<(ChannelId, BankRow), (String, u32)> {
        let indices = levels.indices();
        for (&index, (part, count)) in indices.iter().zip(self.dimensions.numbered(indices.len())) {
            if index >= count {
                return Err((format!("a {part} below {count}"), index));
            }
        }
        let last = indices.len() - 2;
        let bank = BankId(self.dimensions.bank(&indices[1..last]) as u16);
        Ok((ChannelId(indices[0] as u16), BankRow { bank, row: RowId(indices[last]) }))
    }

    /// Returns the position of the block of this many bytes around an address, if it is in this
    /// channel.
    pub fn place(&self, address: u64, bytes: u32, channel: ChannelId) -> Option<BankRow> {
        let at = self.map.locate(address & !(u64::from(bytes) - 1));
        (at.channel == channel).then_some(BankRow { bank: at.bank, row: at.row })
    }
}
