use std::sync::Arc;

use super::Chunk;
use crate::context::{Seen, WarpContext, column, control, form, lanes};
use crate::dictionary::Site;
use crate::error::TraceError;
use crate::record::{AddressForm, InstructionId, Record, WARP_SIZE};
use crate::{pack, varint};

/// Reads the records of one warp in order. Allocates at construction and at the first irregular
/// addresses, never per record.
pub struct WarpCursor {
    chunk: Arc<Chunk>,
    /// Unread records.
    left: u32,
    decoder: Decoder,
}

const SHORT: &str = "a column ends within a record";

impl WarpCursor {
    pub(crate) fn new(chunk: Arc<Chunk>, warp: u32, records: u32) -> WarpCursor {
        let [start, _] = chunk.columns(warp);
        let decoder = Decoder {
            at: start.map(|start| start as usize),
            context: WarpContext::new(),
            bases: Bases {
                warp,
                seen: Seen::default(),
                last: vec![0; chunk.expectations.len()].into(),
            },
        };
        WarpCursor { chunk, left: records, decoder }
    }

    /// Returns the number of unread records.
    pub fn remaining(&self) -> u32 {
        self.left
    }

    /// Skips to the end of the warp.
    pub fn skip_rest(&mut self) {
        let [_, end] = self.chunk.columns(self.decoder.bases.warp);
        self.decoder.at = end.map(|end| end as usize);
        self.left = 0;
    }

    /// Reads the next record into `record`. Returns `false` at the end of the warp and leaves
    /// `record` unchanged.
    ///
    /// # Errors
    /// When the trace is damaged in a way that its checksums do not detect. The content of `record`
    /// is then unspecified, and the cursor must not be used again.
    #[inline]
    pub fn next(&mut self, record: &mut Record) -> Result<bool, TraceError> {
        if self.left == 0 {
            return self.check_end();
        }
        self.left -= 1;
        match self.decoder.decode(&self.chunk, record) {
            Ok(()) => Ok(true),
            Err(reason) => Err(self.fail(reason)),
        }
    }

    fn check_end(&self) -> Result<bool, TraceError> {
        let [_, end] = self.chunk.columns(self.decoder.bases.warp);
        if self.decoder.at == end.map(|end| end as usize) {
            return Ok(false);
        }
        Err(self.fail("its columns do not end with its last record"))
    }

    #[cold]
    fn fail(&self, reason: &str) -> TraceError {
        self.chunk.damaged(&format!("warp {}: {reason}", self.decoder.bases.warp))
    }
}

struct Decoder {
    /// Position of the next byte of each column.
    at: [usize; column::COUNT],
    context: WarpContext,
    bases: Bases,
}

/// Address bases of the warp's records, slot by slot.
struct Bases {
    /// Number of the warp within the chunk.
    warp: u32,
    seen: Seen,
    last: Box<[u64]>,
}

impl Decoder {
    #[inline]
    fn decode(&mut self, chunk: &Chunk, record: &mut Record) -> Result<(), &'static str> {
        let data = chunk.data.as_slice();
        let step = varint::get_signed(data, &mut self.at[column::IDS]).ok_or(SHORT)?;
        let id = i64::from(self.context.next_id).wrapping_add(step);
        let id = u32::try_from(id).map_err(|_| "an instruction id outside 32 bits")?;
        let site = chunk.sites.get(id).ok_or("an instruction id beyond the dictionary")?;
        self.context.next_id = id.wrapping_add(1);
        record.instruction = InstructionId(id);

        let code = *data.get(self.at[column::CONTROLS]).ok_or(SHORT)?;
        self.at[column::CONTROLS] += 1;
        let last_active = self.context.active;
        self.decode_mask(code, data)?;
        record.mask = self.context.mask;
        self.decode_lanes(code, data, last_active, site, record)?;
        self.decode_addresses(code, chunk, site, record)?;
        if !chunk.sites.holds(site, record.active_addresses()) {
            return Err("an address beyond the CTAs of its cluster");
        }
        Ok(())
    }

    #[inline]
    fn decode_mask(&mut self, code: u8, data: &[u8]) -> Result<(), &'static str> {
        let mask = match code & control::MASK {
            control::MASK_SAME => return Ok(()),
            control::MASK_FULL => u32::MAX,
            control::MASK_OTHER => self.context.other_mask,
            _ => {
                let at = &mut self.at[column::MASKS];
                let bytes = data.get(*at..).and_then(|rest| rest.first_chunk()).ok_or(SHORT)?;
                *at += 4;
                u32::from_le_bytes(*bytes)
            }
        };
        self.context.set_mask(mask);
        Ok(())
    }

    #[inline]
    fn decode_lanes(
        &mut self,
        code: u8,
        data: &[u8],
        last_active: u32,
        site: &Site,
        record: &mut Record,
    ) -> Result<(), &'static str> {
        let active = match code & control::LANES {
            control::LANES_OF_MASK => self.context.active,
            control::LANES_OF_LAST_MASK => last_active,
            control::LANES_FULL => WARP_SIZE as u32,
            _ => return self.decode_given_lanes(data, site, record),
        };
        record.compute_lanes = site.counts.map(|count| count * active);
        Ok(())
    }

    fn decode_given_lanes(
        &mut self,
        data: &[u8],
        site: &Site,
        record: &mut Record,
    ) -> Result<(), &'static str> {
        for (lanes, count) in record.compute_lanes.iter_mut().zip(site.counts) {
            *lanes = 0;
            if count > 0 {
                *lanes = varint::get_u32(data, &mut self.at[column::LANES]).ok_or(SHORT)?;
                if *lanes > count * WARP_SIZE as u32 {
                    return Err("more active lanes than its compute instructions have");
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn decode_addresses(
        &mut self,
        code: u8,
        chunk: &Chunk,
        site: &Site,
        record: &mut Record,
    ) -> Result<(), &'static str> {
        let data = chunk.data.as_slice();
        let form = code & control::FORM;
        if (form != form::NONE) != (site.is_memory() && record.mask != 0) {
            return Err("addresses without a memory instruction, or the reverse");
        }
        if form == form::NONE {
            record.form = AddressForm::None;
            return Ok(());
        }
        let shift = if code & control::UNALIGNED == 0 { site.shift() } else { 0 };
        if form == form::FOLLOW {
            return self.decode_follow(chunk, site.slot, shift, record);
        }
        let (base, step) = self.bases.decode(chunk, &mut self.at, site.slot, shift, 0)?;
        let stride = match form {
            form::UNIFORM => 0,
            form::UNIT => i64::from(site.width),
            form::STRIDE => self.signed(data)? << shift,
            form::LANE_STRIDE => {
                let stride = (self.signed(data)? << shift) as u64;
                record.form = AddressForm::List;
                let first = record.mask.trailing_zeros() as usize;
                for (address, lane) in record.addresses.iter_mut().zip(lanes(record.mask)) {
                    *address = base.wrapping_add(stride.wrapping_mul((lane - first) as u64));
                }
                return Ok(());
            }
            _ => {
                self.decode_list(form, data, base, shift, record)?;
                let addresses = &record.addresses[..self.context.active as usize];
                let step = step.unwrap_or(0);
                self.context.patterns().remember(record.mask, addresses, base, shift, step);
                return Ok(());
            }
        };
        record.form = AddressForm::Stride(stride);
        // Two at a time, so that no address depends on its immediate predecessor.
        let mut next = [base, base.wrapping_add(stride as u64)];
        let step = (stride as u64).wrapping_mul(2);
        for pair in record.addresses.as_chunks_mut::<2>().0 {
            *pair = next;
            next = next.map(|address| address.wrapping_add(step));
        }
        Ok(())
    }

    fn decode_list(
        &mut self,
        form: u8,
        data: &[u8],
        base: u64,
        shift: u32,
        record: &mut Record,
    ) -> Result<(), &'static str> {
        record.form = AddressForm::List;
        let active = self.context.active as usize;
        let addresses = &mut record.addresses[..active];
        match form {
            form::DELTAS => {
                addresses[0] = base;
                for index in 1..active {
                    let step =
                        varint::get_signed(data, &mut self.at[column::SHAPES]).ok_or(SHORT)?;
                    addresses[index] = addresses[index - 1].wrapping_add((step << shift) as u64);
                }
            }
            _ => {
                let at = &mut self.at[column::SHAPES];
                let bits = u32::from(*data.get(*at).ok_or(SHORT)?);
                if bits > pack::MAX_BITS {
                    return Err("packed addresses of too many bits");
                }
                let fields = data.get(*at + 1..).ok_or(SHORT)?;
                *at += 1 + pack::packed_bytes(active, bits);
                if *at + pack::PADDING > data.len() {
                    return Err(SHORT);
                }
                for (index, address) in addresses.iter_mut().enumerate() {
                    *address = base.wrapping_add(pack::unpack(fields, bits, index) << shift);
                }
            }
        }
        Ok(())
    }

    fn decode_follow(
        &mut self,
        chunk: &Chunk,
        slot: u8,
        shift: u32,
        record: &mut Record,
    ) -> Result<(), &'static str> {
        record.form = AddressForm::List;
        let place = *chunk.data.get(self.at[column::SHAPES]).ok_or(SHORT)?;
        self.at[column::SHAPES] += 1;
        let pattern = self.context.patterns().reuse(place.into(), record.mask);
        let pattern = pattern.ok_or("repeats a missing address pattern")?;
        let (base, step) = self.bases.decode(chunk, &mut self.at, slot, shift, pattern.step)?;
        pattern.step = step.unwrap_or(pattern.step);
        if record.mask == u32::MAX {
            pattern.expand_all(base, shift, &mut record.addresses);
        } else {
            let expanded = pattern.expand(record.mask, base, shift);
            record.addresses.iter_mut().zip(expanded).for_each(|(address, value)| *address = value);
        }
        Ok(())
    }

    fn signed(&mut self, data: &[u8]) -> Result<i64, &'static str> {
        varint::get_signed(data, &mut self.at[column::SHAPES]).ok_or(SHORT)
    }
}

impl Bases {
    /// Decodes the address base of a record and, except for the first in its slot, the step from
    /// the previous base.
    #[inline]
    fn decode(
        &mut self,
        chunk: &Chunk,
        at: &mut [usize; column::COUNT],
        slot: u8,
        shift: u32,
        expected_step: i64,
    ) -> Result<(u64, Option<i64>), &'static str> {
        let last = self.last.get_mut(usize::from(slot)).ok_or("an address slot out of range")?;
        let data = &chunk.data;
        if self.seen.first(slot) {
            let surprise = varint::get_signed(data, &mut at[column::FIRSTS]).ok_or(SHORT)?;
            let expected = chunk.expectations[usize::from(slot)].at(self.warp.into());
            *last = expected.wrapping_add(surprise as u64);
            return Ok((*last, None));
        }
        let surprise = varint::get_signed(data, &mut at[column::BASES]).ok_or(SHORT)?;
        let step = surprise.wrapping_add(expected_step);
        *last = last.wrapping_add((step << shift) as u64);
        Ok((*last, Some(step)))
    }
}
