//! Encodes the records of whole CTAs into the columns of a chunk.

use crate::context::{Patterns, Seen, WarpContext, column, control, form, lanes};
use crate::cta::PushedRecord;
use crate::dictionary::{SLOTS, Site, Sites};
use crate::record::{OpClass, WARP_SIZE};
use crate::{pack, varint};

/// A chunk that is being filled with CTAs.
#[derive(Default)]
pub(crate) struct ChunkEncoder {
    columns: [Vec<u8>; column::COUNT],
    ctas: Vec<CtaRow>,
    warps: Vec<WarpRow>,
    firsts: Vec<First>,
    last: LastBases,
}

/// The last address base of each slot. Slots that the current warp has not used hold stale bases of
/// other warps, which are never read: clearing them per warp cost 2 % of an import.
struct LastBases([u64; SLOTS]);

impl Default for LastBases {
    fn default() -> LastBases {
        LastBases([0; SLOTS])
    }
}

struct CtaRow {
    block: [u32; 3],
    warps: usize,
}

struct WarpRow {
    warp_in_cta: u32,
    /// Bytes of each column. For the column of first bases, their number until the chunk is
    /// finished.
    lengths: [usize; column::COUNT],
}

/// The address base of a warp's first record in a slot. These are encoded last, once the chunk is
/// complete.
struct First {
    slot: u8,
    warp: usize,
    base: u64,
}

/// Prediction of a slot's first base: `base + warp × stride`, with warps counted over the chunk.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Expectation {
    pub base: u64,
    pub stride: u64,
}

impl Expectation {
    #[inline]
    pub fn at(&self, warp: u64) -> u64 {
        self.base.wrapping_add(self.stride.wrapping_mul(warp))
    }
}

impl ChunkEncoder {
    pub fn is_empty(&self) -> bool {
        self.ctas.is_empty()
    }

    pub fn ctas(&self) -> u32 {
        self.ctas.len() as u32
    }

    /// Returns the approximate size of the chunk so far, in bytes.
    pub fn bytes(&self) -> usize {
        let columns: usize = self.columns.iter().map(Vec::len).sum();
        columns + self.firsts.len() + (column::COUNT + 1) * self.warps.len()
    }

    pub fn begin_cta(&mut self, block: [u32; 3]) {
        self.ctas.push(CtaRow { block, warps: 0 });
    }

    /// Adds a warp to the current CTA.
    pub fn begin_warp(&mut self, warp_in_cta: u32) -> WarpEncoder<'_> {
        if let Some(cta) = self.ctas.last_mut() {
            cta.warps += 1;
        }
        let before = self.lengths();
        self.warps.push(WarpRow { warp_in_cta, lengths: before });
        WarpEncoder { context: WarpContext::new(), seen: Seen::default(), chunk: self }
    }

    fn lengths(&self) -> [usize; column::COUNT] {
        let mut lengths = self.columns.each_ref().map(Vec::len);
        lengths[column::FIRSTS] = self.firsts.len();
        lengths
    }

    /// Writes the chunk to `out`, replacing its content, and clears the encoder.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        let expectations = expect(&self.firsts);
        self.code_firsts(&expectations);
        out.clear();
        varint::put(out, self.ctas.len() as u64);
        varint::put(out, expectations.len() as u64);
        let mut base = 0u64;
        for expectation in &expectations {
            varint::put_signed(out, expectation.base.wrapping_sub(base) as i64);
            varint::put_signed(out, expectation.stride as i64);
            base = expectation.base;
        }
        self.write_directory(out);
        for column in &mut self.columns {
            out.extend_from_slice(column);
            column.clear();
        }
        self.ctas.clear();
        self.warps.clear();
        self.firsts.clear();
    }

    fn code_firsts(&mut self, expectations: &[Expectation]) {
        let column = &mut self.columns[column::FIRSTS];
        let mut firsts = self.firsts.iter();
        for (index, warp) in self.warps.iter_mut().enumerate() {
            let before = column.len();
            for first in firsts.by_ref().take(warp.lengths[column::FIRSTS]) {
                let expected = expectations[usize::from(first.slot)].at(index as u64);
                varint::put_signed(column, first.base.wrapping_sub(expected) as i64);
            }
            warp.lengths[column::FIRSTS] = column.len() - before;
        }
    }

    fn write_directory(&self, out: &mut Vec<u8>) {
        let mut warps = self.warps.iter();
        let mut block = [0u32; 3];
        for cta in &self.ctas {
            for (now, before) in cta.block.iter().zip(block) {
                varint::put_signed(out, now.wrapping_sub(before) as i32 as i64);
            }
            block = cta.block;
            varint::put(out, cta.warps as u64);
            let mut expected = 0u32;
            for warp in warps.by_ref().take(cta.warps) {
                varint::put_signed(out, warp.warp_in_cta.wrapping_sub(expected) as i32 as i64);
                expected = warp.warp_in_cta.wrapping_add(1);
                warp.lengths.iter().for_each(|&length| varint::put(out, length as u64));
            }
        }
    }
}

/// Fits a line to the first bases of each slot: the most common stride between warps, from the
/// first base.
fn expect(firsts: &[First]) -> Vec<Expectation> {
    struct Line {
        start: (usize, u64),
        last: (usize, u64),
        stride: u64,
        votes: u32,
    }
    let slots = firsts.iter().map(|first| usize::from(first.slot) + 1).max().unwrap_or(0);
    let mut lines: Vec<Option<Line>> = std::iter::repeat_with(|| None).take(slots).collect();
    for &First { slot, warp, base } in firsts {
        let line = lines[usize::from(slot)].get_or_insert(Line {
            start: (warp, base),
            last: (warp, base),
            stride: 0,
            votes: 0,
        });
        let warps = warp - line.last.0;
        let distance = base.wrapping_sub(line.last.1) as i64;
        line.last = (warp, base);
        if warps == 0 || distance % warps as i64 != 0 {
            continue;
        }
        // Boyer and Moore's majority vote.
        let stride = (distance / warps as i64) as u64;
        match line.votes {
            0 => (line.stride, line.votes) = (stride, 1),
            _ if stride == line.stride => line.votes += 1,
            _ => line.votes -= 1,
        }
    }
    let expectation = |line: Option<Line>| {
        line.map_or_else(Expectation::default, |Line { start: (warp, base), stride, .. }| {
            let base = base.wrapping_sub(stride.wrapping_mul(warp as u64));
            Expectation { base, stride }
        })
    };
    lines.into_iter().map(expectation).collect()
}

/// Encodes the records of one warp.
pub(crate) struct WarpEncoder<'a> {
    chunk: &'a mut ChunkEncoder,
    context: WarpContext,
    seen: Seen,
}

impl WarpEncoder<'_> {
    /// Appends a record.
    ///
    /// # Errors
    /// When the record contradicts its instruction.
    pub fn push(&mut self, record: &PushedRecord, sites: &Sites) -> Result<(), String> {
        let id = record.instruction.0;
        let Some(site) = sites.get(id) else {
            return Err(format!("instruction {id} was never interned for this kernel"));
        };
        check(record, site)?;
        if !sites.holds(site, record.addresses) {
            return Err("an address beyond the CTAs of its cluster".into());
        }
        let step = i64::from(id) - i64::from(self.context.next_id);
        varint::put_signed(&mut self.chunk.columns[column::IDS], step);
        self.context.next_id = id.wrapping_add(1);

        let lanes = self.code_lanes(record, site);
        let mask = self.code_mask(record.mask);
        let form = self.code_addresses(record, site);
        self.chunk.columns[column::CONTROLS].push(mask | lanes | form);
        Ok(())
    }

    /// Ends the warp.
    pub fn finish(self) {
        let after = self.chunk.lengths();
        if let Some(warp) = self.chunk.warps.last_mut() {
            for (length, after) in warp.lengths.iter_mut().zip(after) {
                *length = after - *length;
            }
        }
    }

    fn code_mask(&mut self, mask: u32) -> u8 {
        let code = if mask == self.context.mask {
            control::MASK_SAME
        } else if mask == u32::MAX {
            control::MASK_FULL
        } else if mask == self.context.other_mask {
            control::MASK_OTHER
        } else {
            self.chunk.columns[column::MASKS].extend_from_slice(&mask.to_le_bytes());
            control::MASK_GIVEN
        };
        self.context.set_mask(mask);
        code
    }

    /// Must run before [`Self::code_mask`], which overwrites the previous record's mask.
    fn code_lanes(&mut self, record: &PushedRecord, site: &Site) -> u8 {
        // A fold over all classes without early exit compiles to less code than an array
        // comparison.
        let each = |active: u32| {
            let counted = record.lanes.iter().zip(site.counts);
            counted.fold(0, |differing, (&lanes, count)| differing | (lanes ^ (count * active)))
                == 0
        };
        if each(record.mask.count_ones()) {
            return control::LANES_OF_MASK;
        }
        if each(self.context.active) {
            return control::LANES_OF_LAST_MASK;
        }
        if each(WARP_SIZE as u32) {
            return control::LANES_FULL;
        }
        let column = &mut self.chunk.columns[column::LANES];
        for (&lanes, _) in record.lanes.iter().zip(site.counts).filter(|&(_, count)| count > 0) {
            varint::put(column, lanes.into());
        }
        control::LANES_GIVEN
    }

    fn code_addresses(&mut self, record: &PushedRecord, site: &Site) -> u8 {
        let addresses = record.addresses;
        let Some(&start) = addresses.first() else { return form::NONE };
        let first = self.seen.first(site.slot);
        let last = self.chunk.last.0[usize::from(site.slot)];

        let from_start =
            addresses.iter().fold(0, |bits, address| bits | address.wrapping_sub(start));
        let from_last = if first { 0 } else { start.wrapping_sub(last) };
        let aligned = (from_start | from_last).trailing_zeros() >= site.shift();
        let shift = if aligned { site.shift() } else { 0 };

        let shape = Shape::of(record, site.width, shift, self.context.patterns());
        let base = match shape {
            Shape::Packed { lowest, .. } => lowest,
            Shape::Follow { base, .. } => base,
            _ => start,
        };
        let step = if first { 0 } else { (base.wrapping_sub(last) as i64) >> shift };
        let expected_step = self.remember(shape, record, base, shift, (!first).then_some(step));
        if first {
            let warp = self.chunk.warps.len() - 1;
            self.chunk.firsts.push(First { slot: site.slot, warp, base });
        } else {
            let surprise = step.wrapping_sub(expected_step);
            varint::put_signed(&mut self.chunk.columns[column::BASES], surprise);
        }
        self.chunk.last.0[usize::from(site.slot)] = base;
        shape.write(&mut self.chunk.columns[column::SHAPES], addresses, shift);
        shape.form() | if aligned { 0 } else { control::UNALIGNED }
    }

    /// Updates the patterns; returns the predicted step of the base.
    fn remember(
        &mut self,
        shape: Shape,
        record: &PushedRecord,
        base: u64,
        shift: u32,
        step: Option<i64>,
    ) -> i64 {
        let PushedRecord { mask, addresses, .. } = *record;
        let patterns = self.context.patterns();
        match shape {
            Shape::Deltas | Shape::Packed { .. } => {
                patterns.remember(mask, addresses, base, shift, step.unwrap_or(0));
                0
            }
            Shape::Follow { place, .. } => match (patterns.reuse(place, mask), step) {
                (Some(pattern), Some(step)) => std::mem::replace(&mut pattern.step, step),
                _ => 0,
            },
            _ => 0,
        }
    }
}

fn check(record: &PushedRecord, site: &Site) -> Result<(), String> {
    let expected = if site.is_memory() { record.mask.count_ones() as usize } else { 0 };
    if record.addresses.len() != expected {
        return Err(format!(
            "{:?} with mask {:#010x} has {} addresses where {expected} belong",
            site.kind,
            record.mask,
            record.addresses.len()
        ));
    }
    for (class, (&lanes, count)) in OpClass::ALL.iter().zip(record.lanes.iter().zip(site.counts)) {
        if lanes > count * WARP_SIZE as u32 {
            return Err(format!(
                "{lanes} active lanes over {count} {} instructions of a warp",
                class.name()
            ));
        }
    }
    Ok(())
}

/// The encoding of a record's addresses.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Uniform,
    Unit,
    Stride(i64),
    LaneStride(i64),
    Deltas,
    Packed { lowest: u64, bits: u32 },
    Follow { place: usize, base: u64 },
}

impl Shape {
    fn of(record: &PushedRecord, width: u32, shift: u32, patterns: &Patterns) -> Shape {
        let PushedRecord { mask, addresses, .. } = *record;
        let Some(stride) = stride(addresses) else {
            return Shape::of_irregular(mask, addresses, shift, patterns);
        };
        match stride {
            0 => Shape::Uniform,
            _ if stride == i64::from(width) => Shape::Unit,
            _ => Shape::Stride(stride),
        }
    }

    fn of_irregular(mask: u32, addresses: &[u64], shift: u32, patterns: &Patterns) -> Shape {
        if let Some(stride) = lane_stride(mask, addresses, shift) {
            return Shape::LaneStride(stride);
        }
        if let Some((place, base)) = patterns.find(mask, addresses, shift) {
            return Shape::Follow { place, base };
        }
        let lowest = addresses.iter().copied().min().unwrap_or(0);
        let highest = addresses.iter().copied().max().unwrap_or(0);
        let bits = u64::BITS - ((highest - lowest) >> shift).leading_zeros();
        if bits > pack::MAX_BITS {
            return Shape::Deltas;
        }
        let packed = 1 + pack::packed_bytes(addresses.len(), bits);
        if deltas_bytes(addresses, shift) <= packed {
            return Shape::Deltas;
        }
        Shape::Packed { lowest, bits }
    }

    fn form(self) -> u8 {
        match self {
            Shape::Uniform => form::UNIFORM,
            Shape::Unit => form::UNIT,
            Shape::Stride(_) => form::STRIDE,
            Shape::LaneStride(_) => form::LANE_STRIDE,
            Shape::Deltas => form::DELTAS,
            Shape::Packed { .. } => form::PACKED,
            Shape::Follow { .. } => form::FOLLOW,
        }
    }

    fn write(self, out: &mut Vec<u8>, addresses: &[u64], shift: u32) {
        match self {
            Shape::Uniform | Shape::Unit => {}
            Shape::Stride(stride) | Shape::LaneStride(stride) => {
                varint::put_signed(out, stride >> shift);
            }
            Shape::Deltas => {
                steps(addresses, shift).for_each(|step| varint::put_signed(out, step));
            }
            Shape::Packed { lowest, bits } => {
                out.push(bits as u8);
                let offsets = addresses.iter().map(|address| (address - lowest) >> shift);
                pack::pack(out, bits, offsets);
            }
            Shape::Follow { place, .. } => out.push(place as u8),
        }
    }
}

/// Returns the common distance between consecutive addresses, if any.
fn stride(addresses: &[u64]) -> Option<i64> {
    let &[first, second, ..] = addresses else { return Some(0) };
    let stride = second.wrapping_sub(first);
    let regular = addresses.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) == stride);
    regular.then_some(stride as i64)
}

/// Returns the common distance from lane to lane over a mask with gaps, if it exists and is a
/// multiple of the unit.
fn lane_stride(mask: u32, addresses: &[u64], shift: u32) -> Option<i64> {
    let mut active = lanes(mask).zip(addresses);
    let (first_lane, &base) = active.next()?;
    let (second_lane, &second) = active.next()?;
    let gap = (second_lane - first_lane) as i64;
    let distance = second.wrapping_sub(base) as i64;
    let stride = distance / gap;
    let of_lane =
        |lane: usize| base.wrapping_add((stride as u64).wrapping_mul((lane - first_lane) as u64));
    let regular = distance % gap == 0
        && stride & ((1 << shift) - 1) == 0
        && active.all(|(lane, &address)| address == of_lane(lane));
    regular.then_some(stride)
}

/// Iterates over the distances between consecutive addresses, in units.
fn steps(addresses: &[u64], shift: u32) -> impl Iterator<Item = i64> {
    addresses.windows(2).map(move |pair| (pair[1].wrapping_sub(pair[0]) as i64) >> shift)
}

fn deltas_bytes(addresses: &[u64], shift: u32) -> usize {
    steps(addresses, shift).map(varint::signed_bytes).sum()
}
