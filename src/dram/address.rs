//! From an address to channel, slice, bank, row and column.

use super::MAX_BANKS;
use crate::machine::{Dram, IndexHash};
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

/// Why an address map is impossible. Keys are those of the machine's `dram` section.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    #[error(
        "dram.address.map: `{text}` is no field; expected `field:bits` with field one of row, bank, column, channel, burst and 1 to 32 bits"
    )]
    Field { text: String },
    #[error("dram.address.map: {bits} bits of `{field}`; at most {limit} are possible")]
    TooWide { field: &'static str, bits: u32, limit: u32 },
    #[error("dram.address.map: {bits} bits of `{field}`, but {what} needs {expected}")]
    Mismatch { field: &'static str, bits: u32, what: String, expected: u32 },
    #[error("{key}: {value} is not a power of two")]
    NotPowerOfTwo { key: &'static str, value: u32 },
    #[error("{key}: {value} is out of range; valid: {valid}")]
    Range { key: &'static str, value: u32, valid: String },
    #[error("dram.address.partition_hash: needs a `channel` field in dram.address.map")]
    HashWithoutChannel,
}

/// Fields of a map.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Row,
    Bank,
    Column,
    Channel,
    Burst,
}

const FIELDS: [(&str, Field); 5] = [
    ("row", Field::Row),
    ("bank", Field::Bank),
    ("column", Field::Column),
    ("channel", Field::Channel),
    ("burst", Field::Burst),
];

/// A run of address bits that goes to a field.
#[derive(Clone, Copy)]
struct Segment {
    field: Field,
    /// Lowest bit in the address.
    from: u32,
    /// Lowest bit in the field.
    to: u32,
    bits: u32,
}

impl Segment {
    fn extract(self, address: u64) -> u32 {
        let mask = (1u64 << self.bits) - 1;
        ((address >> self.from & mask) << self.to) as u32
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
    /// The map of `dram` with this many LLC slices to a channel.
    pub fn new(dram: &Dram, slices_per_channel: u32) -> Result<AddressMap, AddressError> {
        let segments = parse(&dram.address.map)?;
        let bits = |field| width(&segments, field);
        check_geometry(dram, &segments)?;
        let slice_bits = log2("llc.slices_per_channel", slices_per_channel)?;
        if slice_bits > bits(Field::Bank) {
            let valid = format!("1 to dram.banks ({})", dram.banks);
            let value = slices_per_channel;
            return Err(AddressError::Range { key: "llc.slices_per_channel", value, valid });
        }
        let partitions = u64::from(dram.channels) * u64::from(slices_per_channel);
        if dram.channels == 0 || partitions > 1 << u16::BITS {
            let valid = format!("1 to 65536 slices, {slices_per_channel} to a channel");
            return Err(AddressError::Range { key: "dram.channels", value: dram.channels, valid });
        }
        let channels = match bits(Field::Channel) {
            0 => Channels::Turns {
                shift: log2("dram.address.interleave_bytes", dram.address.interleave_bytes)?,
                count: dram.channels.into(),
            },
            _ => Channels::Field,
        };
        let hash = hash(dram, bits(Field::Channel), slice_bits)?;
        Ok(AddressMap {
            hash_from: hash_from(&segments, slice_bits),
            channels,
            slice_bits,
            hash,
            bank_xor: if dram.address.bank_xor_row { (dram.banks - 1) as u16 } else { 0 },
            segments,
        })
    }

    /// Where a byte address lies.
    pub fn locate(&self, address: u64) -> Location {
        let (channel, inner) = match self.channels {
            Channels::Field => (0, address),
            Channels::Turns { shift, count } => {
                let (turn, offset) = (address >> shift, address & ((1 << shift) - 1));
                ((turn % count) as u32, (turn / count) << shift | offset)
            }
        };
        let (mut channel, mut bank, mut row, mut column) = (channel, 0, 0, 0);
        for segment in &self.segments {
            let value = segment.extract(inner);
            match segment.field {
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

/// Reads `field:bits ...`, most significant first, into segments, least significant first.
fn parse(map: &str) -> Result<Vec<Segment>, AddressError> {
    let mut segments: Vec<Segment> = Vec::new();
    let mut from = 0;
    for text in map.split_whitespace().rev() {
        let (field, bits) =
            parse_field(text).ok_or_else(|| AddressError::Field { text: text.to_owned() })?;
        let to = width(&segments, field);
        if to + bits > 32 {
            return Err(AddressError::TooWide { field: name(field), bits: to + bits, limit: 32 });
        }
        if from + bits > 64 {
            return Err(AddressError::TooWide {
                field: "all fields",
                bits: from + bits,
                limit: 64,
            });
        }
        segments.push(Segment { field, from, to, bits });
        from += bits;
    }
    Ok(segments)
}

fn parse_field(text: &str) -> Option<(Field, u32)> {
    let (name, bits) = text.split_once(':')?;
    let &(_, field) = FIELDS.iter().find(|(known, _)| *known == name)?;
    let bits = bits.parse().ok().filter(|bits| (1..=32).contains(bits))?;
    Some((field, bits))
}

fn name(field: Field) -> &'static str {
    FIELDS.iter().find(|(_, known)| *known == field).map_or("", |(name, _)| name)
}

fn width(segments: &[Segment], field: Field) -> u32 {
    segments.iter().filter(|s| s.field == field).map(|s| s.bits).sum()
}

/// The map must have room for exactly the banks, columns and channels that there are.
fn check_geometry(dram: &Dram, segments: &[Segment]) -> Result<(), AddressError> {
    let column_bytes = dram.bus_bytes.saturating_mul(dram.burst_length);
    let burst_bits = log2("dram.bus_bytes times dram.burst_length", column_bytes)?;
    let row_bits = log2("dram.row_bytes", dram.row_bytes)?;
    let bank_bits = log2("dram.banks", dram.banks)?;
    log2("dram.bank_groups", dram.bank_groups)?;
    if dram.banks > MAX_BANKS {
        let valid = format!("1 to {MAX_BANKS}");
        return Err(AddressError::Range { key: "dram.banks", value: dram.banks, valid });
    }
    if dram.bank_groups > dram.banks {
        let valid = format!("1 to dram.banks ({})", dram.banks);
        return Err(AddressError::Range {
            key: "dram.bank_groups",
            value: dram.bank_groups,
            valid,
        });
    }
    if row_bits < burst_bits {
        let valid = format!("at least one column command ({column_bytes})");
        return Err(AddressError::Range { key: "dram.row_bytes", value: dram.row_bytes, valid });
    }
    let check = |field, what: String, expected| match width(segments, field) {
        bits if bits == expected => Ok(()),
        bits => Err(AddressError::Mismatch { field: name(field), bits, what, expected }),
    };
    check(Field::Burst, format!("a column command of {column_bytes} bytes"), burst_bits)?;
    check(Field::Column, format!("a row of {} bytes", dram.row_bytes), row_bits - burst_bits)?;
    check(Field::Bank, format!("dram.banks = {}", dram.banks), bank_bits)?;
    if width(segments, Field::Channel) > 0 {
        let expected = log2("dram.channels", dram.channels)?;
        check(Field::Channel, format!("dram.channels = {}", dram.channels), expected)?;
    }
    Ok(())
}

fn log2(key: &'static str, value: u32) -> Result<u32, AddressError> {
    value.is_power_of_two().then(|| value.ilog2()).ok_or(AddressError::NotPowerOfTwo { key, value })
}

fn hash(dram: &Dram, channel_bits: u32, slice_bits: u32) -> Result<Option<Hash>, AddressError> {
    let kind = dram.address.partition_hash;
    if kind == IndexHash::Linear {
        return Ok(None);
    }
    if channel_bits == 0 && dram.channels > 1 {
        return Err(AddressError::HashWithoutChannel);
    }
    let bits = channel_bits + slice_bits;
    if bits > MAX_INDEX_BITS {
        let valid = format!("2^{MAX_INDEX_BITS} slices at most can be hashed");
        return Err(AddressError::Range { key: "dram.channels", value: dram.channels, valid });
    }
    Ok(Hash::new(kind, bits))
}

/// The first bit above channel and slice bits.
fn hash_from(segments: &[Segment], slice_bits: u32) -> u32 {
    let top = |s: &Segment| match s.field {
        Field::Channel => s.from + s.bits,
        Field::Bank if s.to < slice_bits => s.from + s.bits.min(slice_bits - s.to),
        _ => 0,
    };
    segments.iter().map(top).max().unwrap_or(0).min(63)
}
