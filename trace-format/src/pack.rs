//! Bit packing of address lists, with the field width of the largest offset.

/// Maximum field width: with up to 7 bits before it, a field still lies within 8 bytes.
pub(crate) const MAX_BITS: u32 = 56;

/// Bytes after the data that [`unpack`] may read.
pub(crate) const PADDING: usize = 8;

pub(crate) fn packed_bytes(count: usize, bits: u32) -> usize {
    (count * bits as usize).div_ceil(8)
}

/// Appends the low `bits` bits of each value, lowest bit first.
pub(crate) fn pack(out: &mut Vec<u8>, bits: u32, values: impl Iterator<Item = u64>) {
    let mut held = 0u64;
    let mut filled = 0;
    for value in values {
        held |= value << filled;
        filled += bits;
        if filled >= u64::BITS {
            out.extend_from_slice(&held.to_le_bytes());
            filled -= u64::BITS;
            // The remaining bits of the value: all but its low `bits - filled`.
            held = if filled == 0 { 0 } else { value >> (bits - filled) };
        }
    }
    out.extend_from_slice(&held.to_le_bytes()[..filled.div_ceil(8) as usize]);
}

/// Returns the value at `index` of a packed list; needs [`PADDING`] bytes after it.
#[inline]
pub(crate) fn unpack(data: &[u8], bits: u32, index: usize) -> u64 {
    let bit = index * bits as usize;
    let window = data[bit / 8..].first_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    window >> (bit % 8) & ((1 << bits) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn values_survive(bits in 0..=MAX_BITS, values in prop::collection::vec(any::<u64>(), 0..40)) {
            let values: Vec<u64> = values.iter().map(|value| value & ((1 << bits) - 1)).collect();
            let mut data = Vec::new();
            pack(&mut data, bits, values.iter().copied());
            prop_assert_eq!(data.len(), packed_bytes(values.len(), bits));
            data.resize(data.len() + PADDING, 0xff);
            for (index, &value) in values.iter().enumerate() {
                prop_assert_eq!(unpack(&data, bits, index), value);
            }
        }
    }
}
