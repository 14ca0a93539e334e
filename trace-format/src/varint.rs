//! Little-endian base-128 integers; signed integers are zigzag-coded so that small magnitudes stay
//! short.

/// Appends `value` in 1 to 10 bytes.
pub(crate) fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

pub(crate) fn put_signed(out: &mut Vec<u8>, value: i64) {
    put(out, fold(value));
}

/// Returns the bytes that [`put_signed`] takes for a value.
pub(crate) fn signed_bytes(value: i64) -> usize {
    (u64::BITS - fold(value).leading_zeros()).div_ceil(7).max(1) as usize
}

/// Reads a value at `*at` and advances `*at` past it. `None` at the end of the data, or if the
/// value exceeds 64 bits.
#[inline]
pub(crate) fn get(data: &[u8], at: &mut usize) -> Option<u64> {
    let first = *data.get(*at)?;
    *at += 1;
    if first < 0x80 {
        return Some(u64::from(first));
    }
    get_long(data, at, u64::from(first & 0x7f))
}

#[inline]
pub(crate) fn get_signed(data: &[u8], at: &mut usize) -> Option<i64> {
    get(data, at).map(unfold)
}

#[inline]
pub(crate) fn get_u32(data: &[u8], at: &mut usize) -> Option<u32> {
    u32::try_from(get(data, at)?).ok()
}

fn get_long(data: &[u8], at: &mut usize, first: u64) -> Option<u64> {
    let mut value = first;
    for shift in (7..64).step_by(7) {
        let byte = *data.get(*at)?;
        *at += 1;
        let bits = u64::from(byte & 0x7f);
        if bits << shift >> shift != bits {
            return None;
        }
        value |= bits << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

/// Maps 0, -1, 1, -2, … to 0, 1, 2, 3, …
fn fold(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

fn unfold(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn values_survive(values in prop::collection::vec(any::<u64>().prop_flat_map(|v| (0u32..64).prop_map(move |s| v >> s)), 0..20)) {
            let mut bytes = Vec::new();
            for &value in &values {
                put(&mut bytes, value);
                let before = bytes.len();
                put_signed(&mut bytes, value as i64);
                prop_assert_eq!(bytes.len() - before, signed_bytes(value as i64));
            }
            let mut at = 0;
            for &value in &values {
                prop_assert_eq!(get(&bytes, &mut at), Some(value));
                prop_assert_eq!(get_signed(&bytes, &mut at), Some(value as i64));
            }
            prop_assert_eq!(at, bytes.len());
        }
    }

    #[test]
    fn small_magnitudes_take_one_byte() {
        for value in -64..64 {
            let mut bytes = Vec::new();
            put_signed(&mut bytes, value);
            assert_eq!(bytes.len(), 1, "{value}");
            assert_eq!(signed_bytes(value), 1, "{value}");
        }
    }

    #[test]
    fn refuses_a_missing_end_and_more_than_64_bits() {
        assert_eq!(get(&[], &mut 0), None);
        assert_eq!(get(&[0x80; 3], &mut 0), None);
        assert_eq!(get(&[0xff; 11], &mut 0), None);
        let mut max = [0xff; 10];
        max[9] = 1;
        assert_eq!(get(&max, &mut 0), Some(u64::MAX));
        max[9] = 2;
        assert_eq!(get(&max, &mut 0), None);
        assert_eq!(get_u32(&[0x80, 0x80, 0x80, 0x80, 0x10], &mut 0), None);
    }
}
