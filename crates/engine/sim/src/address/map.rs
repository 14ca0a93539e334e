//! Translates an address to channel, slice, bank, row and column, and back.
//!
//! Within a channel a map permutes address bits. A hash XORs bits of some fields onto a field that
//! it does not depend on, or rotates the channels by bits of the address within them. Both are
//! invertible, so every map is a bijection.

use super::interleave::Interleave;
use super::layout::{AddressSpace, Field, Layout};
use crate::hash::{Hash, MAX_INDEX_BITS};
use crate::{BankId, ChannelId, RowId, SliceId};
use std::ops::RangeInclusive;
use warpmem_params::Invalid;

/// Location of an address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Location {
    pub channel: ChannelId,
    /// Slice: the channel times the slices per channel, plus the low bank bits after the partition
    /// hash.
    pub slice: SliceId,
    pub bank: BankId,
    pub row: RowId,
    /// Column command within the row.
    pub column: u16,
}

impl Location {
    /// The first column of everything.
    pub const ZERO: Location = Location {
        channel: ChannelId(0),
        slice: SliceId(0),
        bank: BankId(0),
        row: RowId(0),
        column: 0,
    };
}

/// Adjacent address bits that become adjacent bits of the gathered fields.
#[derive(Clone, Copy)]
struct Segment {
    from: u32,
    to: u32,
    mask: u64,
}

impl Segment {
    fn gather(self, inner: u64) -> u64 {
        (inner >> self.from & self.mask) << self.to
    }

    fn scatter(self, fields: u64) -> u64 {
        (fields >> self.to & self.mask) << self.from
    }
}

/// Position of a field among the gathered fields.
#[derive(Clone, Copy)]
struct Slot {
    at: u32,
    mask: u64,
}

impl Slot {
    fn get(self, fields: u64) -> u32 {
        (fields >> self.at & self.mask) as u32
    }

    fn put(self, value: u32) -> u64 {
        (u64::from(value) & self.mask) << self.at
    }
}

/// Address bits per table lookup.
const DIGIT_BITS: u32 = 6;
const DIGITS: usize = 1 << DIGIT_BITS;

/// A table from addresses within a channel to locations. Maps and hashes are linear over GF(2), so
/// the location of an address is the XOR of the locations of its digits of a few bits each.
struct Lookup {
    /// Low bits that select no field.
    skip: u32,
    /// By digit of the address, lowest first, the packed location of each of its values.
    digits: Vec<[u128; DIGITS]>,
}

impl Lookup {
    /// `image` returns the location of an address with a single bit set.
    fn new(skip: u32, image: impl Fn(u64) -> Location) -> Lookup {
        let images: Vec<u128> = (skip..u64::BITS).map(|bit| pack(&image(1 << bit))).collect();
        let digits = images.chunks(DIGIT_BITS as usize).map(|images| {
            std::array::from_fn(|value| {
                let set = images.iter().enumerate().filter(|(bit, _)| value >> bit & 1 == 1);
                set.fold(0, |place, (_, image)| place ^ image)
            })
        });
        Lookup { skip, digits: digits.collect() }
    }

    #[inline]
    fn place(&self, inner: u64) -> Location {
        let mut rest = inner >> self.skip;
        let mut place = 0;
        for digit in &self.digits {
            place ^= digit[rest as usize % DIGITS];
            rest >>= DIGIT_BITS;
            if rest == 0 {
                break;
            }
        }
        unpack(place)
    }
}

/// Packs a location into one number, so that XOR of numbers is XOR of each field.
fn pack(place: &Location) -> u128 {
    let Location { channel, slice, bank, row, column } = *place;
    let low = u64::from(channel.0) | u64::from(slice.0) << 16 | u64::from(bank.0) << 32;
    let high = u64::from(row.0) | u64::from(column) << 32;
    u128::from(low) | u128::from(high) << 64
}

#[inline]
fn unpack(place: u128) -> Location {
    let (low, high) = (place as u64, (place >> 64) as u64);
    Location {
        channel: ChannelId(low as u16),
        slice: SliceId((low >> 16) as u16),
        bank: BankId((low >> 32) as u16),
        row: RowId(high as u32),
        column: (high >> 32) as u16,
    }
}

/// The address map of a machine.
pub struct AddressMap {
    layout: Layout,
    interleave: Option<Interleave>,
    segments: Vec<Segment>,
    channel: Slot,
    row: Slot,
    bank: Slot,
    column: Slot,
    /// Number of low bank bits that select a slice of the channel.
    slice_bits: u32,
    /// Hash of the address bits `hashed` onto channel and slice.
    partition_hash: Option<Hash>,
    /// The bits of the hash in use.
    hash_mask: u16,
    hashed: RangeInclusive<u32>,
    /// Hash of the row onto the bank.
    bank_hash: Option<Hash>,
    lookup: Lookup,
}

impl AddressMap {
    /// Creates the map of `space` with `slices_per_channel` L2 slices per channel.
    ///
    /// # Errors
    /// [`Invalid`] if the map is not valid ([`AddressSpace::layout`]), or the number of slices or
    /// the bits of the partition hash are not.
    pub fn new(space: &AddressSpace, slices_per_channel: u32) -> Result<AddressMap, Invalid> {
        space.check_slices(slices_per_channel)?;
        let layout = space.layout()?;
        let slice_bits = slices_per_channel.ilog2();
        let segments = segments(&layout);
        let [channel, bank] = [slot(&layout, &CHANNEL), slot(&layout, &BANK)];
        let index_bits = layout.bits_of(Field::Channel) + slice_bits;
        // A wide hash supplies the bits of the slice if there are none of the channel: a hash of
        // one or two bits could follow from the rotation of the channels and leave half of the
        // slices unused.
        let hash_bits = match layout.interleave {
            Some(_) if slice_bits > 0 => MAX_INDEX_BITS,
            _ => index_bits,
        };
        let index = channel.put(u32::MAX) | bank.put(slices_per_channel - 1);
        let above = u64::BITS - scatter(&segments, index).leading_zeros();
        let mut map = AddressMap {
            interleave: layout
                .interleave
                .map(|shift| Interleave::new(shift, space.channels, space.address.partition_hash)),
            row: slot(&layout, &[Field::Row]),
            column: slot(&layout, &[Field::Column]),
            channel,
            bank,
            slice_bits,
            partition_hash: Hash::new(space.address.partition_hash, hash_bits),
            hash_mask: ((1u32 << index_bits) - 1) as u16,
            hashed: space.address.hashed_bits(above, layout.interleave.is_some())?,
            bank_hash: Hash::new(space.address.bank_hash, space.banks.ilog2()),
            lookup: Lookup { skip: 0, digits: Vec::new() },
            segments,
            layout,
        };
        map.lookup = Lookup::new(map.layout.bits_of(Field::Burst), |inner| map.decode(inner));
        Ok(map)
    }

    /// Returns the location of a byte address.
    #[inline]
    pub fn locate(&self, address: u64) -> Location {
        let Some(interleave) = &self.interleave else { return self.lookup.place(address) };
        let (position, inner) = interleave.split(address);
        let channel = interleave.channel(position, inner);
        let place = self.lookup.place(inner);
        let slice = SliceId((channel << self.slice_bits) as u16 | place.slice.0);
        Location { channel: ChannelId(channel as u16), slice, ..place }
    }

    /// Returns the location of an address within the channel, computed without the table. The
    /// channel is set only if the map has a channel field.
    fn decode(&self, inner: u64) -> Location {
        let mut place = self.gather(0, inner);
        if self.partition_hash.is_some() {
            place.slice.0 ^= self.hash(inner);
            place.channel = ChannelId(place.slice.0 >> self.slice_bits);
        }
        if let Some(hash) = &self.bank_hash {
            place.bank.0 ^= hash.of(place.row.0.into());
        }
        place
    }

    /// Returns the location of a byte address before hashes.
    #[inline]
    pub fn unhashed(&self, address: u64) -> Location {
        let (position, inner) = self.within_channel(address);
        self.gather(position, inner)
    }

    /// Returns the lowest address of a column command: the inverse of [`AddressMap::locate`].
    /// Ignores the slice of the location, and bits beyond the width of a field.
    #[inline]
    pub fn address(&self, place: &Location) -> u64 {
        self.join(place, 0)
    }

    /// Returns the first byte of another column command of the row that holds `address`. Bits of
    /// `address` above the layout are kept; none if the result is beyond the last address.
    #[inline]
    pub fn beside(&self, address: u64, column: u16) -> Option<u64> {
        let (_, inner) = self.within_channel(address);
        let above = inner >> self.layout.bits() << self.layout.bits();
        let place = Location { column, ..self.locate(address) };
        let beside = self.join(&place, above);
        // A location beyond the last address wraps around to a low address.
        let found = self.locate(beside);
        (found == Location { slice: found.slice, ..place }).then_some(beside)
    }

    /// Returns the first byte of a column command, with `above` as the bits above the layout.
    fn join(&self, place: &Location, above: u64) -> u64 {
        let row_hash = self.bank_hash.as_ref().map_or(0, |hash| hash.of(place.row.0.into()));
        let place = Location { bank: BankId(place.bank.0 ^ row_hash), ..*place };
        let inner = above | self.bits(&Location { channel: ChannelId(0), ..place });
        if let Some(interleave) = &self.interleave {
            return interleave.join(place.channel.0.into(), inner);
        }
        let channel = ChannelId(place.channel.0 ^ self.hash(inner) >> self.slice_bits);
        inner | self.bits(&Location { channel, ..Location::default() })
    }

    /// Returns the address within a channel that selects this channel field, bank, row and column
    /// before hashes.
    pub fn bits(&self, place: &Location) -> u64 {
        let fields = self.channel.put(place.channel.0.into())
            | self.bank.put(place.bank.0.into())
            | self.row.put(place.row.0)
            | self.column.put(place.column.into());
        scatter(&self.segments, fields)
    }

    /// Returns the channel before the hash and the address within it if channels are interleaved by
    /// bytes; otherwise 0 and the address.
    #[inline]
    pub fn within_channel(&self, address: u64) -> (u32, u64) {
        self.interleave.as_ref().map_or((0, address), |interleave| interleave.split(address))
    }

    /// Returns the bytes in all channels. Beyond that, address bits above the layout only enter the
    /// partition hash.
    pub fn capacity(&self) -> u64 {
        self.interleave.as_ref().map_or(1, Interleave::count) << self.layout.bits()
    }

    /// Returns the bits of each field, before hashes.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns the address bits that enter the partition hash.
    pub fn hashed(&self) -> RangeInclusive<u32> {
        self.hashed.clone()
    }

    /// Returns the partition hash of an address.
    fn hash(&self, inner: u64) -> u16 {
        let Some(hash) = &self.partition_hash else { return 0 };
        let (first, last) = (self.hashed.start(), self.hashed.end());
        let above = inner << (u64::BITS - 1 - last) >> (u64::BITS - 1 - last + first);
        hash.of(above) & self.hash_mask
    }

    fn gather(&self, position: u32, inner: u64) -> Location {
        let fields = self.segments.iter().fold(0, |fields, s| fields | s.gather(inner));
        let (channel, bank) = (position | self.channel.get(fields), self.bank.get(fields));
        let low_bank = bank & ((1 << self.slice_bits) - 1);
        Location {
            channel: ChannelId(channel as u16),
            slice: SliceId((channel << self.slice_bits | low_bank) as u16),
            bank: BankId(bank as u16),
            row: RowId(self.row.get(fields)),
            column: self.column.get(fields) as u16,
        }
    }
}

/// The fields of the number of a channel, and of a bank within its channel, least significant
/// first.
const CHANNEL: [Field; 1] = [Field::Channel];
const BANK: [Field; 4] = [Field::Group, Field::Bank, Field::Stack, Field::Pseudo];

/// All fields in the order of gathering, least significant first. A map with the same order is one
/// segment.
const ORDER: [Field; 8] =
    [Field::Burst, Field::Column, BANK[0], BANK[1], BANK[2], BANK[3], Field::Row, CHANNEL[0]];

/// Returns the lowest bit of a field among the gathered fields.
fn start(layout: &Layout, field: Field) -> u32 {
    ORDER.iter().take_while(|&&other| other != field).map(|&other| layout.bits_of(other)).sum()
}

/// Returns the slot of consecutive fields.
fn slot(layout: &Layout, fields: &[Field]) -> Slot {
    let bits: u32 = fields.iter().map(|&field| layout.bits_of(field)).sum();
    Slot { at: start(layout, fields[0]), mask: (1 << bits) - 1 }
}

/// Returns the segments that move the groups to the gathered fields; adjacent groups that stay
/// adjacent form one segment.
fn segments(layout: &Layout) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::with_capacity(layout.groups.len());
    for (index, group) in layout.groups.iter().enumerate() {
        let placed = layout.groups[..index].iter().filter(|g| g.field == group.field);
        let to = start(layout, group.field) + placed.map(|g| g.bits).sum::<u32>();
        let mask = (1 << group.bits) - 1;
        match segments.last_mut().filter(|s| to.checked_sub(s.to) == Some(group.shift - s.from)) {
            Some(last) => last.mask |= mask << (group.shift - last.from),
            None => segments.push(Segment { from: group.shift, to, mask }),
        }
    }
    segments
}

/// Returns the address within a channel that gathers to these fields.
fn scatter(segments: &[Segment], fields: u64) -> u64 {
    segments.iter().fold(0, |inner, s| inner | s.scatter(fields))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Address, IndexHash};

    /// A space with a channel field and hashes, and two with channels interleaved by bytes, without
    /// and with a hash.
    fn spaces() -> [AddressSpace; 3] {
        let hashed = Address {
            map: "row:13 bank:3 column:3 bank:1 channel:5 column:3 burst:5".to_owned(),
            interleave_bytes: 0,
            partition_hash: IndexHash::Ipoly,
            bank_hash: IndexHash::Xor,
            partition_hash_bits: Vec::new(),
        };
        let interleaved = Address {
            map: "row:12 bank:4 column:5 burst:6".to_owned(),
            interleave_bytes: 256,
            partition_hash: IndexHash::Linear,
            bank_hash: IndexHash::Linear,
            partition_hash_bits: Vec::new(),
        };
        let space = AddressSpace {
            channels: 32,
            pseudo_channels: 1,
            stacks: 1,
            banks: 16,
            bank_groups: 4,
            burst_bytes: 32,
            row_bytes: 2048,
            address: hashed,
        };
        let six =
            AddressSpace { channels: 6, burst_bytes: 64, address: interleaved, ..space.clone() };
        let mut rotated = six.clone();
        rotated.address.partition_hash = IndexHash::Xor;
        [space, six, rotated]
    }

    #[test]
    fn the_lookup_table_agrees_with_the_map() {
        for space in spaces() {
            let map = AddressMap::new(&space, 2).unwrap();
            for bit in 0..u64::BITS {
                for address in
                    [1 << bit, u64::MAX >> bit, 0x1234_5678_9abc_def0u64.rotate_left(bit)]
                {
                    let (position, inner) = map.within_channel(address);
                    let place = map.decode(inner);
                    let position = map
                        .interleave
                        .as_ref()
                        .map_or(0, |interleave| interleave.channel(position, inner));
                    let slice = SliceId(place.slice.0 | (position << map.slice_bits) as u16);
                    let channel = ChannelId(place.channel.0 | position as u16);
                    let expected = Location { channel, slice, ..place };
                    assert_eq!(
                        map.locate(address),
                        expected,
                        "{}: {address:#x}",
                        space.address.map
                    );
                }
            }
        }
    }
}
