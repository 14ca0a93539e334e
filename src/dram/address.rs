//! From an address to channel, slice, bank, row and column.

use crate::machine::{BitGroup, Dram, Field, IndexHash, MachineError};
use crate::machine::{Hash, MAX_INDEX_BITS};

/// Where an address lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Location {
    pub channel: u16,
    /// LLC slice over the whole machine: the channel times the slices of a channel, plus the low bank
    /// bits after the partition hash.
    pub slice: u16,
    /// Bank within the channel; its group is the low bits.
    pub bank: u16,
    pub row: u32,
    /// Column command within the row.
    pub column: u32,
}

/// Why an address map is impossible. Keys are those of the machine.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    #[error(transparent)]
    Map(#[from] MachineError),
    #[error("{key}: {value} is out of range; valid: {valid}")]
    Range { key: &'static str, value: u32, valid: String },
}

/// A run of address bits that goes to a field.
#[derive(Clone, Copy)]
struct Segment {
    group: BitGroup,
    /// Lowest bit in the field.
    to: u32,
    mask: u64,
}

impl Segment {
    fn extract(self, address: u64) -> u32 {
        ((address >> self.group.shift & self.mask) << self.to) as u32
    }

    /// The address bit above the segment's lowest `bits` bits, at most all.
    fn end(self, bits: u32) -> u32 {
        self.group.shift + self.group.bits.min(bits)
    }
}

/// How addresses spread over channels.
enum Channels {
    /// By a field of the map.
    Field,
    /// In turns of `1 << shift` bytes.
    Turns { shift: u32, count: u64 },
}

/// The address map of a machine.
pub struct AddressMap {
    segments: Vec<Segment>,
    channels: Channels,
    /// Low bank bits that select a slice of the channel.
    slice_bits: u32,
    /// What the bits of the address from `hash_from` on change of channel and slice.
    hash: Option<Hash>,
    hash_from: u32,
    /// Bank bits that the row's are XORed onto.
    bank_xor: u16,
}

impl AddressMap {
    /// The map of `dram`, which is that of a valid machine, with this many LLC slices to a channel.
    ///
    /// # Errors
    /// [`AddressError`] if the map cannot be read or has more bits than are modelled.
    pub fn new(dram: &Dram, slices_per_channel: u32) -> Result<AddressMap, AddressError> {
        let segments = segments(&dram.address.bit_groups()?)?;
        let slice_bits = log2("llc.slices_per_channel", slices_per_channel)?;
        let slices = u64::from(dram.channels) * u64::from(slices_per_channel);
        if dram.channels == 0 || slices > 1 << u16::BITS {
            let valid = format!("1 to 65536 slices, {slices_per_channel} to a channel");
            return Err(AddressError::Range { key: "dram.channels", value: dram.channels, valid });
        }
        let channels = match width(&segments, Field::Channel) {
            0 => Channels::Turns {
                shift: log2("dram.address.interleave_bytes", dram.address.interleave_bytes)?,
                count: dram.channels.into(),
            },
            _ => Channels::Field,
        };
        let index_bits = width(&segments, Field::Channel) + slice_bits;
        if dram.address.partition_hash != IndexHash::Linear && index_bits > MAX_INDEX_BITS {
            let valid =
                format!("with dram.address.partition_hash, at most 2^{MAX_INDEX_BITS} slices");
            return Err(AddressError::Range { key: "dram.channels", value: dram.channels, valid });
        }
        Ok(AddressMap {
            channels,
            slice_bits,
            hash: Hash::new(dram.address.partition_hash, index_bits),
            hash_from: hash_from(&segments, slice_bits),
            bank_xor: if dram.address.bank_xor_row { (dram.banks - 1) as u16 } else { 0 },
            segments,
        })
    }

    /// Where a byte address lies.
    pub fn locate(&self, address: u64) -> Location {
        let (mut channel, inner) = match self.channels {
            Channels::Field => (0, address),
            Channels::Turns { shift, count } => {
                let (turn, offset) = (address >> shift, address & ((1 << shift) - 1));
                ((turn % count) as u32, (turn / count) << shift | offset)
            }
        };
        let (mut bank, mut row, mut column) = (0, 0, 0);
        for segment in &self.segments {
            let value = segment.extract(inner);
            match segment.group.field {
                Field::Row => row |= value,
                Field::Bank => bank |= value,
                Field::Column => column |= value,
                Field::Channel => channel |= value,
                Field::Burst => {}
            }
        }
        let low_bank = bank & ((1 << self.slice_bits) - 1);
        let mut slice = (channel << self.slice_bits | low_bank) as u16;
        if let Some(hash) = &self.hash {
            slice ^= hash.of(inner >> self.hash_from);
        }
        Location {
            channel: slice >> self.slice_bits,
            slice,
            bank: bank as u16 ^ (row as u16 & self.bank_xor),
            row,
            column,
        }
    }
}

/// Where the bits of each group stand in their field; none is wider than 32 bits.
fn segments(groups: &[BitGroup]) -> Result<Vec<Segment>, AddressError> {
    let mut segments: Vec<Segment> = Vec::with_capacity(groups.len());
    for &group in groups {
        let to = width(&segments, group.field);
        if to + group.bits > u32::BITS {
            let (value, valid) = (to + group.bits, "at most 32 bits of a field".to_owned());
            return Err(AddressError::Range { key: "dram.address.map", value, valid });
        }
        segments.push(Segment { group, to, mask: (1 << group.bits) - 1 });
    }
    Ok(segments)
}

fn width(segments: &[Segment], field: Field) -> u32 {
    segments.iter().filter(|s| s.group.field == field).map(|s| s.group.bits).sum()
}

fn log2(key: &'static str, value: u32) -> Result<u32, AddressError> {
    if value.is_power_of_two() {
        return Ok(value.ilog2());
    }
    Err(AddressError::Range { key, value, valid: "a power of two".to_owned() })
}

/// The first bit above channel and slice bits.
fn hash_from(segments: &[Segment], slice_bits: u32) -> u32 {
    let top = |s: &Segment| match s.group.field {
        Field::Channel => s.end(u32::BITS),
        Field::Bank if s.to < slice_bits => s.end(slice_bits - s.to),
        _ => 0,
    };
    segments.iter().map(top).max().unwrap_or(0)
}
