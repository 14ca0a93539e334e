//! The key `dram.address.map`: the address bits of each field.
//!
//! It has three notations: fields with their widths, a [`scheme`] that orders fields whose widths
//! follow from the organisation, and the [`mask`] of GPGPU-Sim. All parse to the same groups of
//! bits.

mod mask;
mod refit;
mod scheme;

use super::Address;
use crate::hash::{IndexHash, MAX_INDEX_BITS};
use std::fmt;
use warpmem_params::{Invalid, power_of_two, rule};

/// A field of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    Channel,
    /// Pseudo channel of a channel.
    Pseudo,
    /// Stack of a pseudo channel.
    Stack,
    Row,
    /// Bank within its group if the map has a group field; otherwise bank within its stack, with
    /// the group in the low bits.
    Bank,
    /// Bank group of a stack.
    Group,
    Column,
    /// Byte within a column command.
    Burst,
}

impl Field {
    pub const NAMES: [(&str, Field); 8] = [
        ("channel", Field::Channel),
        ("pseudo", Field::Pseudo),
        ("stack", Field::Stack),
        ("row", Field::Row),
        ("bank", Field::Bank),
        ("group", Field::Group),
        ("column", Field::Column),
        ("burst", Field::Burst),
    ];

    /// Returns its name in a map.
    pub fn name(self) -> &'static str {
        Field::NAMES[self as usize].0
    }

    pub fn named(text: &str) -> Option<Field> {
        Field::NAMES.iter().find(|(name, _)| *name == text).map(|&(_, field)| field)
    }
}

/// Adjacent address bits of one field; a field may have several groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitGroup {
    pub field: Field,
    /// At least one.
    pub bits: u32,
    /// Address bit that holds the group's least significant bit.
    pub shift: u32,
}

/// The address bits of each field. Every bit from bit 0 to the top of the highest group belongs to
/// exactly one group, and every field has exactly the width that the DRAM organisation requires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Least significant first, contiguous from bit 0.
    pub groups: Vec<BitGroup>,
    /// Set if no group selects the channel: channels are interleaved every `1 << interleave` bytes,
    /// and the groups describe the address within the channel.
    pub interleave: Option<u32>,
}

impl Layout {
    /// Returns the bits of `field` in all groups.
    pub fn bits_of(&self, field: Field) -> u32 {
        bits_of(&self.groups, field)
    }

    /// Returns the bits of all groups.
    pub fn bits(&self) -> u32 {
        end_of(&self.groups)
    }

    /// Returns the number of low address bits that vary within one row of one bank.
    pub fn bits_within_row(&self) -> u32 {
        let in_row = |g: &&BitGroup| matches!(g.field, Field::Column | Field::Burst);
        let bits: u32 = self.groups.iter().take_while(in_row).map(|g| g.bits).sum();
        bits.min(self.interleave.unwrap_or(bits))
    }
}

/// `field:bits`, most significant group first.
impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&spelt_out(&self.groups))
    }
}

/// Most address bits of a map, channels included.
const MAX_BITS: u32 = 63;
/// Most bits of a row number, and of a column number.
const MAX_ROW_BITS: u32 = 32;
const MAX_COLUMN_BITS: u32 = 16;

const MAP: &str = "dram.address.map";
const INTERLEAVE: &str = "dram.address.interleave_bytes";

/// Field and width of adjacent bits whose position is not determined yet.
type Piece = (Field, u32);

/// A parsed map, before it is placed and checked.
struct Spelt {
    /// Most significant first.
    pieces: Vec<Piece>,
    channels: Channels,
}

/// How a map selects the channel.
#[derive(Clone, Copy, PartialEq)]
enum Channels {
    /// By a channel field.
    Field,
    /// By interleaving the channels every `1 << n` bytes.
    Interleaved(u32),
    /// Not by the map, but by `dram.address.interleave_bytes`.
    Unsaid,
}

/// The part of a map that cannot be parsed.
struct Problem {
    at: String,
    valid: String,
}

/// The DRAM organisation that an address map must match.
#[derive(Clone, Debug, PartialEq)]
pub struct AddressSpace {
    pub channels: u32,
    /// Pseudo channels of one channel.
    pub pseudo_channels: u32,
    /// Stacks of one pseudo channel.
    pub stacks: u32,
    /// Banks of one channel, over all its pseudo channels and stacks.
    pub banks: u32,
    /// Bank groups of one stack.
    pub bank_groups: u32,
    /// Bytes moved by one column command.
    pub burst_bytes: u32,
    pub row_bytes: u32,
    pub address: Address,
}

impl AddressSpace {
    /// Parses the address map, in any of the three notations.
    ///
    /// # Errors
    /// [`Invalid`] if the map cannot be parsed, if its fields do not have the widths of the
    /// organisation, or if it is not a bijection.
    pub fn layout(&self) -> Result<Layout, Invalid> {
        let map = self.address.map.as_str();
        let read = if mask::is_mask(map) {
            mask::read(map)
        } else if scheme::is_scheme(map) {
            scheme::read(map, self)
        } else {
            fields(map)
        };
        let spelt = read.map_err(|problem| Invalid {
            key: MAP.to_owned(),
            value: format!("\"{map}\" (at `{}`)", problem.at),
            valid: problem.valid,
        })?;
        let groups = placed(spelt.pieces.iter().rev().copied());
        self.check_widths(&groups)?;
        let layout = self.with_channels(groups, spelt.channels)?;
        self.check_size(&layout)?;
        Ok(layout)
    }

    /// Checks that the low bank bits of a channel can select one of `slices_per_channel` L2 slices.
    pub(super) fn check_slices(&self, slices_per_channel: u32) -> Result<(), Invalid> {
        let key = "l2.slices_per_channel";
        power_of_two(key, slices_per_channel)?;
        let valid = format!("at most one per bank: `dram.banks` = {}", self.banks);
        rule(slices_per_channel <= self.banks, key, slices_per_channel, valid)?;
        let most = match self.address.partition_hash {
            IndexHash::Linear => u16::BITS,
            _ => MAX_INDEX_BITS,
        };
        let slices = u64::from(self.channels) * u64::from(slices_per_channel);
        let valid = format!("at most 2^{most} slices in all, {slices_per_channel} to a channel");
        rule(slices <= 1 << most, "dram.channels", self.channels, valid)
    }

    /// Checks that every field but the channel has the required width.
    fn check_widths(&self, groups: &[BitGroup]) -> Result<(), Invalid> {
        let map = &self.address.map;
        let spelt_out = spelt_out(groups);
        let shown = match spelt_out == *map {
            true => format!("\"{map}\""),
            false => format!("\"{map}\" ({spelt_out})"),
        };
        let map_rule = |holds, valid: String| rule(holds, MAP, &shown, valid);
        let lowest = groups.first().filter(|g| g.field == Field::Burst);
        let in_one_piece = lowest.map(|g| g.bits) == Some(bits_of(groups, Field::Burst));
        map_rule(in_one_piece, "the burst field last, in one piece".to_owned())?;
        for Want { field, bits, why } in self.wants(bits_of(groups, Field::Group) > 0) {
            let have = bits_of(groups, field);
            map_rule(have == bits, format!("{bits} {} bits for {why}, not {have}", field.name()))?;
        }
        let rows = bits_of(groups, Field::Row);
        map_rule(rows > 0, "a row field".to_owned())?;
        map_rule(rows <= MAX_ROW_BITS, format!("at most {MAX_ROW_BITS} row bits, not {rows}"))?;
        let columns = bits_of(groups, Field::Column);
        let valid = format!("at most {MAX_COLUMN_BITS} column bits, not {columns}");
        map_rule(columns <= MAX_COLUMN_BITS, valid)
    }

    /// Adds the channels to `groups`; a power of two of channels becomes a field.
    fn with_channels(&self, groups: Vec<BitGroup>, channels: Channels) -> Result<Layout, Invalid> {
        let interleave = self.address.interleave_bytes;
        if channels != Channels::Unsaid {
            let valid = "0, as `dram.address.map` has a channel field";
            rule(interleave == 0, INTERLEAVE, interleave, valid)?;
        }
        let at = match channels {
            Channels::Field => {
                let bits = bits_of(&groups, Field::Channel);
                let valid = format!("2^{bits}, as `{MAP}` has {bits} channel bits");
                let fits = self.channels.is_power_of_two() && self.channels.ilog2() == bits;
                rule(fits, "dram.channels", self.channels, valid)?;
                return Ok(Layout { groups, interleave: None });
            }
            Channels::Interleaved(at) => at,
            Channels::Unsaid => {
                let valid = format!("a power of two, as `{MAP}` has no channel field");
                rule(interleave.is_power_of_two(), INTERLEAVE, interleave, valid)?;
                interleave.ilog2()
            }
        };
        let (least, most) = (self.burst_bytes.ilog2(), end_of(&groups));
        let valid = format!("chunks of 2^{least} bytes (a column command) to 2^{most} (a channel)");
        let (key, value) = match channels {
            Channels::Unsaid => (INTERLEAVE, interleave.to_string()),
            _ => (MAP, format!("\"{}\"", self.address.map)),
        };
        rule((least..=most).contains(&at), key, &value, valid)?;
        if !self.channels.is_power_of_two() {
            return Ok(Layout { groups, interleave: Some(at) });
        }
        let channel = Some((Field::Channel, self.channels.ilog2()));
        let pieces = below(&groups, at).chain(channel).chain(above(&groups, at));
        Ok(Layout { groups: placed(pieces), interleave: None })
    }

    fn check_size(&self, layout: &Layout) -> Result<(), Invalid> {
        let bits = layout.bits() + layout.interleave.map_or(0, |_| self.channel_bits());
        let valid = format!("at most {MAX_BITS} bits, channels included, not {bits}");
        rule(bits <= MAX_BITS, MAP, &format!("\"{layout}\""), valid)
    }

    /// Returns the required width of every field but channel and row.
    fn wants(&self, has_group: bool) -> [Want; 6] {
        let want = |field, count: u32, why: String| Want { field, bits: count.ilog2(), why };
        let groups = if has_group { self.bank_groups } else { 1 };
        let parts = self.pseudo_channels * self.stacks * groups;
        let of_parts = match (parts, has_group) {
            (1, _) => String::new(),
            (_, true) => format!(" in {parts} bank groups"),
            (_, false) => format!(" in {parts} stacks"),
        };
        let (bytes, row) = (self.burst_bytes, self.row_bytes);
        [
            want(Field::Burst, bytes, format!("{bytes}-byte column commands")),
            want(Field::Column, row / bytes, format!("`dram.row_bytes` = {row}")),
            want(Field::Group, groups, format!("`dram.bank_groups` = {}", self.bank_groups)),
            want(
                Field::Bank,
                self.banks / parts,
                format!("`dram.banks` = {}{of_parts}", self.banks),
            ),
            want(Field::Stack, self.stacks, format!("`dram.stacks` = {}", self.stacks)),
            want(
                Field::Pseudo,
                self.pseudo_channels,
                format!("`dram.pseudo_channels` = {}", self.pseudo_channels),
            ),
        ]
    }

    /// Returns the address bits of the channels, rounded up to a whole bit.
    fn channel_bits(&self) -> u32 {
        self.channels.next_power_of_two().ilog2()
    }
}

/// The required width of a field.
struct Want {
    field: Field,
    bits: u32,
    /// The configuration key that requires it, for the message.
    why: String,
}

/// Parses `field:bits` separated by spaces.
fn fields(map: &str) -> Result<Spelt, Problem> {
    let pieces = map.split_whitespace().map(|word| piece(word).ok_or_else(|| not_a_piece(word)));
    let pieces: Vec<Piece> = pieces.collect::<Result<_, _>>()?;
    let has_channel = pieces.iter().any(|&(field, _)| field == Field::Channel);
    let channels = if has_channel { Channels::Field } else { Channels::Unsaid };
    Ok(Spelt { pieces, channels })
}

fn piece(word: &str) -> Option<Piece> {
    let (name, bits) = word.split_once(':')?;
    let bits = bits.parse().ok().filter(|bits| (1..=MAX_BITS).contains(bits))?;
    Some((Field::named(name)?, bits))
}

fn not_a_piece(word: &str) -> Problem {
    let names: Vec<&str> = Field::NAMES.iter().map(|&(name, _)| name).collect();
    Problem {
        at: word.to_owned(),
        valid: format!(
            "`field:bits` separated by spaces, most significant first, bits above 0 and at most {MAX_BITS} in \
             all, fields {}; or a scheme, as `RoBaRaCoCh`; or a mask of GPGPU-Sim, as `dramid@8;00...RRRR`",
            names.join(", ")
        ),
    }
}

/// Places pieces from bit 0 up, least significant first; empty pieces are left out.
fn placed(pieces: impl Iterator<Item = Piece>) -> Vec<BitGroup> {
    let mut shift = 0;
    let place = |(field, bits)| {
        let group = BitGroup { field, bits, shift };
        shift += bits;
        group
    };
    pieces.filter(|&(_, bits)| bits > 0).map(place).collect()
}

/// Returns the pieces of the groups below bit `at`, least significant first.
fn below(groups: &[BitGroup], at: u32) -> impl Iterator<Item = Piece> {
    groups.iter().map(move |g| (g.field, at.saturating_sub(g.shift).min(g.bits)))
}

/// Returns the pieces of the groups from bit `at` up, least significant first.
fn above(groups: &[BitGroup], at: u32) -> impl Iterator<Item = Piece> {
    groups.iter().map(move |g| (g.field, (g.shift + g.bits).saturating_sub(at).min(g.bits)))
}

/// Returns the groups in the notation of a map.
fn spelt_out(groups: &[BitGroup]) -> String {
    let words = groups.iter().rev().map(|g| format!("{}:{}", g.field.name(), g.bits));
    words.collect::<Vec<_>>().join(" ")
}

/// Returns the first bit above all groups.
fn end_of(groups: &[BitGroup]) -> u32 {
    groups.last().map_or(0, |g| g.shift + g.bits)
}

fn bits_of(groups: &[BitGroup], field: Field) -> u32 {
    groups.iter().filter(|g| g.field == field).map(|g| g.bits).sum()
}
