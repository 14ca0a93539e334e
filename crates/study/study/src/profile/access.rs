//! Memory footprint of one warp instruction: distinct lines, the sectors of each, and the pattern
//! of its lanes.

use super::Options;
use serde::Serialize;
use warpmem_trace::{AddressForm, Record};

/// Division of a line for counting: lines, sectors, and 32 parts per line that record the touched
/// bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Geometry {
    line_shift: u32,
    part_shift: u32,
    /// Parts per sector; a power of two.
    parts_per_sector: u32,
}

impl Geometry {
    pub fn new(options: &Options) -> Geometry {
        let line_shift = options.line_bytes.trailing_zeros();
        let part_shift = line_shift - u32::BITS.trailing_zeros();
        Geometry { line_shift, part_shift, parts_per_sector: options.sector_bytes >> part_shift }
    }

    /// Returns the address of the first byte of a line.
    pub fn address(self, line: u64) -> u64 {
        line << self.line_shift
    }

    /// Counts the sectors with a touched part.
    pub fn sectors(self, parts: u32) -> u32 {
        let (mut any, mut shift) = (parts, 1);
        while shift < self.parts_per_sector {
            any |= any >> shift;
            shift *= 2;
        }
        let first_of_sector = (0..u32::BITS).step_by(self.parts_per_sector as usize);
        (any & first_of_sector.fold(0, |mask, bit| mask | 1 << bit)).count_ones()
    }

    /// Counts the bytes of the touched parts.
    pub fn bytes(self, parts: u32) -> u64 {
        u64::from(parts.count_ones()) << self.part_shift
    }
}

/// A line touched by an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Touched {
    /// Address divided by the line size.
    pub line: u64,
    /// Touched parts: bit k is set if some lane touches the k-th of the line's 32 parts.
    pub parts: u32,
}

/// Distinct lines of a record, in the order in which lanes first touch them. Reused across records.
pub(super) struct Lines {
    geometry: Geometry,
    touched: Vec<Touched>,
    /// Hash table of the positions of lines in `touched`; entries of earlier records have other
    /// stamps.
    slots: Vec<(u32, u32)>,
    stamp: u32,
}

/// More than twice the number of lines touched by 32 lanes of at most 255 bytes, 5 lines of 64
/// bytes each. Bulk copies enlarge the table.
const SLOTS: usize = 512;

impl Lines {
    pub fn new(geometry: Geometry) -> Lines {
        Lines { geometry, touched: Vec::new(), slots: vec![(0, 0); SLOTS], stamp: 0 }
    }

    pub fn as_slice(&self) -> &[Touched] {
        &self.touched
    }

    /// Counts the sectors over all lines.
    pub fn sectors(&self) -> u32 {
        self.touched.iter().map(|touched| self.geometry.sectors(touched.parts)).sum()
    }

    /// Collects the lines of a record whose lanes access `width` bytes each.
    pub fn fill(&mut self, record: &Record, width: u32) {
        self.touched.clear();
        let addresses = record.active_addresses();
        let (Some(&first), Some(&last)) = (addresses.first(), addresses.last()) else { return };
        let bytes = u64::from(width);
        match record.form {
            AddressForm::Stride(0) => self.add_first(first, bytes),
            // Adjacent lane addresses are added as one access to all their bytes.
            AddressForm::Stride(stride) if stride == bytes as i64 && first <= last => {
                self.add_first(first, (last - first).saturating_add(bytes));
            }
            _ => self.add_lanes(addresses, bytes),
        }
    }

    /// Adds the first bytes of a record, which needs no search.
    fn add_first(&mut self, address: u64, bytes: u64) {
        let geometry = self.geometry;
        self.touched.extend(lines_of(geometry, address, bytes));
    }

    fn add_lanes(&mut self, addresses: &[u64], bytes: u64) {
        let lines_of_lane = (bytes as usize >> self.geometry.line_shift) + 2;
        self.reserve(addresses.len() * lines_of_lane);
        self.stamp = self.stamp.wrapping_add(1);
        if self.stamp == 0 {
            self.slots.fill((0, 0));
            self.stamp = 1;
        }
        for &address in addresses {
            for touched in lines_of(self.geometry, address, bytes) {
                self.add(touched);
            }
        }
    }

    /// Reserves at least two slots per possible line.
    fn reserve(&mut self, lines: usize) {
        let slots = (2 * lines).next_power_of_two();
        if slots > self.slots.len() {
            self.slots = vec![(0, 0); slots];
            self.stamp = 0;
        }
    }

    fn add(&mut self, new: Touched) {
        let slots = self.slots.len();
        let hash = new.line.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut slot = (hash >> (u64::BITS - slots.trailing_zeros())) as usize;
        while self.slots[slot].0 == self.stamp {
            let known = &mut self.touched[self.slots[slot].1 as usize];
            if known.line == new.line {
                known.parts |= new.parts;
                return;
            }
            slot = (slot + 1) % slots;
        }
        self.slots[slot] = (self.stamp, self.touched.len() as u32);
        self.touched.push(new);
    }
}

/// Returns the lines touched by `bytes` from `address` on, clamped at the last address.
fn lines_of(geometry: Geometry, address: u64, bytes: u64) -> impl Iterator<Item = Touched> {
    let end = address.saturating_add(bytes.saturating_sub(1));
    let Geometry { line_shift, part_shift, .. } = geometry;
    let lines = address >> line_shift..=end >> line_shift;
    let part = move |at: u64| (at >> part_shift) as u32 % u32::BITS;
    lines.map(move |line| {
        let first = if line == address >> line_shift { part(address) } else { 0 };
        let last = if line == end >> line_shift { part(end) } else { u32::BITS - 1 };
        Touched { line, parts: u32::MAX << first & u32::MAX >> (u32::BITS - 1 - last) }
    })
}

/// Pattern of the addresses of an instruction's active lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) enum Pattern {
    /// A single active lane.
    SingleLane,
    /// All lanes at one address.
    Uniform,
    /// Neighbouring lanes at adjacent addresses, ascending or descending.
    UnitStride,
    /// Constant stride per lane number, over three lanes or more.
    Strided,
    /// Several runs of lanes with adjacent or equal addresses, such as the rows of a
    /// two-dimensional block.
    Runs,
    Irregular,
}

/// Mean number of lanes per run required for [`Pattern::Runs`].
const RUN: usize = 4;

impl Pattern {
    pub const COUNT: usize = 6;

    /// Classifies a record with at least one active lane. The stride is taken per lane number:
    /// `a[i]` under a divergent mask is unit-stride. Adjacent addresses of consecutive active
    /// lanes, as after a compaction, are unit-stride too, regardless of the inactive lanes between
    /// them. Two lanes always have a constant stride, which counts only if it is one of these.
    pub fn of(record: &Record, width: u32) -> Pattern {
        let active = record.mask.count_ones();
        if active == 1 {
            return Pattern::SingleLane;
        }
        let is_unit = |stride: i64| stride.unsigned_abs() == u64::from(width);
        match stride_by_lane(record) {
            Some(0) => Pattern::Uniform,
            Some(stride) if is_unit(stride) => Pattern::UnitStride,
            _ if stride_of_active(record).is_some_and(is_unit) => Pattern::UnitStride,
            Some(_) if active > 2 => Pattern::Strided,
            _ if runs(record.active_addresses(), width) * RUN <= active as usize => Pattern::Runs,
            _ => Pattern::Irregular,
        }
    }
}

/// Counts runs of neighbouring lanes with adjacent ascending, or equal, addresses.
fn runs(addresses: &[u64], width: u32) -> usize {
    let is_break = |pair: &&[u64]| ![0, u64::from(width)].contains(&pair[1].wrapping_sub(pair[0]));
    1 + addresses.windows(2).filter(is_break).count()
}

/// Returns the stride from each active lane to the next, if constant.
fn stride_of_active(record: &Record) -> Option<i64> {
    if let AddressForm::Stride(stride) = record.form {
        return Some(stride);
    }
    let pairs = record.active_addresses().windows(2);
    let mut distances = pairs.map(|pair| pair[1].wrapping_sub(pair[0]) as i64);
    let first = distances.next()?;
    distances.all(|distance| distance == first).then_some(first)
}

/// Returns whether lanes between the first and the last active one are inactive.
fn has_gaps(mask: u32) -> bool {
    mask.count_zeros() > mask.leading_zeros() + mask.trailing_zeros()
}

/// Returns the stride per lane number, if constant.
fn stride_by_lane(record: &Record) -> Option<i64> {
    if !has_gaps(record.mask) {
        return stride_of_active(record);
    }
    let &[first, second, ..] = record.active_addresses() else { return None };
    let mut lanes = (0..u32::BITS).filter(|lane| record.mask >> lane & 1 == 1).map(i64::from);
    let (from, next) = (lanes.next()?, lanes.next()?);
    let (distance, steps) = (second.wrapping_sub(first) as i64, next - from);
    let stride = (distance % steps == 0).then_some(distance / steps)?;
    let expected = lanes.map(|lane| first.wrapping_add(stride.wrapping_mul(lane - from) as u64));
    expected.eq(record.active_addresses()[2..].iter().copied()).then_some(stride)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn record(mask: u32, form: AddressForm, addresses: &[u64]) -> Record {
        let mut record = Record { mask, form, ..Record::new() };
        record.addresses[..addresses.len()].copy_from_slice(addresses);
        record
    }

    fn list(mask: u32, addresses: &[u64]) -> Record {
        record(mask, AddressForm::List, addresses)
    }

    fn lines(record: &Record, width: u32) -> Vec<(u64, u32)> {
        let mut lines = Lines::new(Geometry::new(&Options::default()));
        lines.fill(record, width);
        lines.as_slice().iter().map(|touched| (touched.line, touched.parts)).collect()
    }

    #[test]
    fn lines_and_their_parts() {
        let all = AddressForm::Stride(4);
        let addresses: Vec<u64> = (0..32).map(|lane| 256 + 4 * lane).collect();
        assert_eq!(lines(&record(u32::MAX, all, &addresses), 4), [(2, u32::MAX)]);
        let shifted: Vec<u64> = addresses.iter().map(|address| address + 64).collect();
        assert_eq!(
            lines(&record(u32::MAX, all, &shifted), 4),
            [(2, 0xffff_0000), (3, 0x0000_ffff)]
        );
        let uniform = record(3, AddressForm::Stride(0), &[1000, 1000]);
        assert_eq!(lines(&uniform, 8), [(7, 3 << 26)], "byte 104 of line 7 is in its part 26");
        assert_eq!(lines(&list(7, &[640, 0, 644]), 4), [(5, 3), (0, 1)], "as lanes touch them");
        assert_eq!(lines(&list(1, &[126]), 4), [(0, 1 << 31), (1, 1)], "across a border");
        assert_eq!(lines(&record(0, AddressForm::None, &[]), 4), []);
        assert_eq!(lines(&list(1, &[u64::MAX - 1]), 16), [(u64::MAX >> 7, 1 << 31)]);
    }

    #[test]
    fn a_bulk_copy_touches_as_many_lines_as_it_has() {
        let apart: Vec<u64> = (0..32).map(|lane| lane << 17).collect();
        let found = lines(&record(u32::MAX, AddressForm::Stride(1 << 17), &apart), 1 << 16);
        let of_lane = |lane: u64| (0..512).map(move |line| ((lane << 10) + line, u32::MAX));
        assert_eq!(found, (0..32).flat_map(of_lane).collect::<Vec<_>>());
        assert_eq!(lines(&list(1, &[64]), 4096).len(), 33, "half a line at each end");
    }

    #[test]
    fn sectors_are_those_with_a_touched_part() {
        let geometry = |line_bytes, sector_bytes| {
            Geometry::new(&Options { line_bytes, sector_bytes, ..Options::default() })
        };
        let of_four = geometry(128, 32);
        assert_eq!(
            [0, 1, 0x80, 0x101, 0x8000_0001, u32::MAX].map(|parts| of_four.sectors(parts)),
            [0, 1, 1, 2, 2, 4]
        );
        assert_eq!(geometry(128, 128).sectors(0x8000_0001), 1);
        assert_eq!(geometry(128, 4).sectors(0x8000_0001), 2);
        assert_eq!((of_four.bytes(0b101), of_four.address(3)), (8, 384));
    }

    #[test]
    fn patterns() {
        let of = |mask, addresses: &[u64]| Pattern::of(&list(mask, addresses), 4);
        assert_eq!(of(0b1000, &[4]), Pattern::SingleLane);
        assert_eq!(of(0b1011, &[8, 8, 8]), Pattern::Uniform);
        assert_eq!(of(0b0111, &[8, 12, 16]), Pattern::UnitStride);
        assert_eq!(of(0b0111, &[16, 12, 8]), Pattern::UnitStride, "downwards");
        assert_eq!(of(0b1011, &[8, 12, 20]), Pattern::UnitStride, "with a lane that is off");
        assert_eq!(of(0b0111, &[8, 20, 32]), Pattern::Strided);
        assert_eq!(of(0b1_0101, &[0, 6, 12]), Pattern::Strided, "3 bytes a lane");
        assert_eq!(of(0b1_0101, &[0, 7, 14]), Pattern::Irregular, "no whole bytes a lane");
        assert_eq!(of(0b1011, &[0, 8, 16]), Pattern::Irregular, "a lane lies between");
        assert_eq!(of(0b1011, &[8, 12, 16]), Pattern::UnitStride, "among the active lanes");
        assert_eq!(of(0b0011, &[0, 128]), Pattern::Irregular, "of two lanes");
        assert_eq!(of(0b0111, &[8, 12, 20]), Pattern::Irregular);
        assert_eq!(of(0xff, &[0, 4, 8, 12, 400, 404, 408, 412]), Pattern::Runs);
        assert_eq!(of(0xff, &[0, 0, 0, 0, 4, 8, 72, 72]), Pattern::Runs, "at one address, too");
        assert_eq!(
            of(0xff, &[0, 4, 8, 12, 400, 404, 408, 416]),
            Pattern::Irregular,
            "of eight lanes three runs"
        );
    }

    proptest! {
        #[test]
        fn both_line_lookups_agree(
            base in 0u64..4096, stride in prop::sample::select(vec![0i64, 1, 2, 4, 8, -4, 100, 128, 129]),
            count in 1usize..=32, width in prop_oneof![4 => 1u32..=255, 1 => 256u32..=1024],
        ) {
            let base = base + 8192;
            let addresses: Vec<u64> =
                (0..count as i64).map(|lane| base.wrapping_add_signed(stride * lane)).collect();
            let mask = u32::MAX >> (32 - count);
            let mut compact = lines(&record(mask, AddressForm::Stride(stride), &addresses), width);
            let mut listed = lines(&list(mask, &addresses), width);
            compact.sort_unstable();
            listed.sort_unstable();
            prop_assert_eq!(&compact, &listed);
            let bytes = addresses.iter().flat_map(|&a| a..a + u64::from(width));
            let parts: BTreeSet<u64> = bytes.map(|byte| byte / 4).collect();
            let parts_of = |&(line, mask): &(u64, u32)| {
                (0..32).filter(move |bit| mask >> bit & 1 == 1).map(move |bit| line * 32 + bit)
            };
            let found: BTreeSet<u64> = listed.iter().flat_map(parts_of).collect();
            prop_assert_eq!(parts, found);
        }
    }
}
