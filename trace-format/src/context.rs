//! The state that encoder and decoder of a warp's records share: earlier masks, bases and address
//! patterns.

use crate::dictionary::SLOTS;
use crate::record::WARP_SIZE;

/// Columns of a chunk. A warp has a piece of each.
pub(crate) mod column {
    pub const IDS: usize = 0;
    pub const CONTROLS: usize = 1;
    pub const MASKS: usize = 2;
    pub const LANES: usize = 3;
    pub const FIRSTS: usize = 4;
    pub const BASES: usize = 5;
    pub const SHAPES: usize = 6;
    pub const COUNT: usize = 7;
}

/// The control byte of a record: the encoding of its addresses, mask and compute lanes.
pub(crate) mod control {
    pub const FORM: u8 = 0b111;
    /// Offsets count bytes, not multiples of the instruction's alignment.
    pub const UNALIGNED: u8 = 1 << 3;

    pub const MASK: u8 = 0b11 << 4;
    pub const MASK_SAME: u8 = 0 << 4;
    pub const MASK_FULL: u8 = 1 << 4;
    pub const MASK_OTHER: u8 = 2 << 4;
    pub const MASK_GIVEN: u8 = 3 << 4;

    pub const LANES: u8 = 0b11 << 6;
    pub const LANES_OF_MASK: u8 = 0 << 6;
    pub const LANES_OF_LAST_MASK: u8 = 1 << 6;
    pub const LANES_FULL: u8 = 2 << 6;
    pub const LANES_GIVEN: u8 = 3 << 6;
}

/// The encoding of a record's addresses, in the low bits of the control byte.
pub(crate) mod form {
    pub const NONE: u8 = 0;
    /// All lanes have the same address.
    pub const UNIFORM: u8 = 1;
    /// Consecutive active lanes are one access width apart.
    pub const UNIT: u8 = 2;
    /// A constant stride between consecutive active lanes.
    pub const STRIDE: u8 = 3;
    /// A constant stride between consecutive lanes, active or not.
    pub const LANE_STRIDE: u8 = 4;
    /// The differences between consecutive active lanes.
    pub const DELTAS: u8 = 5;
    /// Offsets from the lowest address, packed in the bits that the largest needs.
    pub const PACKED: u8 = 6;
    /// Offsets of an earlier list.
    pub const FOLLOW: u8 = 7;
}

pub(crate) struct WarpContext {
    /// Predicted instruction id: ids mostly follow one another.
    pub next_id: u32,
    pub mask: u32,
    /// Active lanes of `mask`.
    pub active: u32,
    /// The last mask that differed from `mask`.
    pub other_mask: u32,
    /// Allocated at first use, because most warps need none.
    patterns: Option<Box<Patterns>>,
}

impl WarpContext {
    pub fn new() -> WarpContext {
        WarpContext {
            next_id: 0,
            mask: u32::MAX,
            active: u32::MAX.count_ones(),
            other_mask: u32::MAX,
            patterns: None,
        }
    }

    #[inline]
    pub fn set_mask(&mut self, mask: u32) {
        if mask != self.mask {
            self.other_mask = self.mask;
            self.mask = mask;
            self.active = mask.count_ones();
        }
    }

    pub fn patterns(&mut self) -> &mut Patterns {
        self.patterns.get_or_insert_with(|| Box::new(Patterns::new()))
    }
}

/// The slots that a warp has used.
#[derive(Default)]
pub(crate) struct Seen([u64; SLOTS / 64]);

impl Seen {
    /// Marks a slot as used; returns whether this is its first use.
    #[inline]
    pub fn first(&mut self, slot: u8) -> bool {
        let bit = 1 << (slot % 64);
        let word = &mut self.0[usize::from(slot / 64)];
        let first = *word & bit == 0;
        *word |= bit;
        first
    }
}

/// The most recently used irregular address lists of a warp, newest first. Loads of neighbouring
/// fields, parallel arrays and running pointers repeat their offsets.
pub(crate) struct Patterns {
    order: [u8; Patterns::KEPT],
    kept: [Pattern; Patterns::KEPT],
}

#[derive(Clone, Copy)]
pub(crate) struct Pattern {
    /// Lanes with offsets.
    mask: u32,
    /// Step of the base at the pattern's last use, in units.
    pub step: i64,
    /// Distance of each lane from the base, in units.
    offsets: [i32; WARP_SIZE],
}

impl Patterns {
    pub const KEPT: usize = 4;

    fn new() -> Patterns {
        let empty = Pattern { mask: 0, step: 0, offsets: [0; WARP_SIZE] };
        Patterns { order: [0, 1, 2, 3], kept: [empty; Patterns::KEPT] }
    }

    /// Stores a list as offsets from `base` in units of `1 << shift` bytes. Lists whose offsets do
    /// not fit are dropped.
    pub fn remember(&mut self, mask: u32, addresses: &[u64], base: u64, shift: u32, step: i64) {
        let oldest = &mut self.kept[usize::from(self.order[Patterns::KEPT - 1])];
        oldest.mask = 0;
        for (lane, &address) in lanes(mask).zip(addresses) {
            let offset = (address.wrapping_sub(base) as i64) >> shift;
            let Ok(offset) = i32::try_from(offset) else { return };
            oldest.offsets[lane] = offset;
        }
        oldest.mask = mask;
        oldest.step = step;
        self.move_to_front(Patterns::KEPT - 1);
    }

    /// Returns the pattern at position `place` and moves it to the front, if it covers all lanes of
    /// `mask`.
    pub fn reuse(&mut self, place: usize, mask: u32) -> Option<&mut Pattern> {
        let index = usize::from(*self.order.get(place)?);
        let pattern = &self.kept[index];
        if mask & !pattern.mask != 0 {
            return None;
        }
        self.move_to_front(place);
        Some(&mut self.kept[index])
    }

    fn move_to_front(&mut self, place: usize) {
        let index = self.order[place];
        for at in (0..place).rev() {
            self.order[at + 1] = self.order[at];
        }
        self.order[0] = index;
    }

    /// Finds a pattern that these addresses repeat; returns its position and their base.
    pub fn find(&self, mask: u32, addresses: &[u64], shift: u32) -> Option<(usize, u64)> {
        let lane = mask.trailing_zeros() as usize;
        self.order.iter().enumerate().find_map(|(place, &index)| {
            let pattern = &self.kept[usize::from(index)];
            if mask & !pattern.mask != 0 {
                return None;
            }
            let base = addresses[0].wrapping_sub(pattern.distance(lane, shift));
            let mut expected = pattern.expand(mask, base, shift).zip(addresses);
            expected.all(|(expected, &address)| expected == address).then_some((place, base))
        })
    }
}

impl Pattern {
    /// Returns the addresses of the lanes of `mask`: `base` plus the offsets of this pattern.
    pub fn expand(&self, mask: u32, base: u64, shift: u32) -> impl Iterator<Item = u64> {
        lanes(mask).map(move |lane| base.wrapping_add(self.distance(lane, shift)))
    }

    /// Writes the addresses of all lanes, as [`Pattern::expand`] of a full mask, several at a time.
    pub fn expand_all(&self, base: u64, shift: u32, addresses: &mut [u64; WARP_SIZE]) {
        for (address, &offset) in addresses.iter_mut().zip(&self.offsets) {
            *address = base.wrapping_add((i64::from(offset) << shift) as u64);
        }
    }

    fn distance(&self, lane: usize, shift: u32) -> u64 {
        (i64::from(self.offsets[lane]) << shift) as u64
    }
}

/// Iterates over the lanes of a mask, lowest first.
pub(crate) fn lanes(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = (mask != 0).then(|| mask.trailing_zeros() as usize);
        mask &= mask.wrapping_sub(1);
        lane
    })
}
