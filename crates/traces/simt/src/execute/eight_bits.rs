//! Eight-bit floating-point numbers: their values, and pairs of them, which can only be converted.

use half::f16;
use rustc_apfloat::ieee::{Double, Float8E4M3FN, Float8E5M2};
use rustc_apfloat::{Float as Software, FloatConvert};
use warpmem_ptx::{Convert, Type};

use super::float::Float;
use crate::program::Step;
use crate::warp::Warp;

/// Returns whether a type is such a pair.
pub(super) fn is_pair(ty: Type) -> bool {
    matches!(ty, Type::E4m3x2 | Type::E5m2x2)
}

/// Executes `cvt` to or from a pair. With two sources, the first becomes the upper number.
pub(super) fn convert(warp: &mut Warp, step: &Step, mask: u32, conversion: Convert) {
    let Convert { to, from, relu, .. } = conversion;
    let first = warp.narrow(step.sources[0]);
    let second = step.sources.get(1).map_or(first, |&source| warp.narrow(source));
    let single = |bits: u32| f64::from(f32::from_bits(bits));
    let half = |bits: u32| f16::from_bits(bits as u16).to_f64();
    let d = std::array::from_fn(|lane| {
        let (a, b) = (first[lane], second[lane]);
        match from {
            Type::F32 => encoded(single(a), to, relu) << 8 | encoded(single(b), to, relu),
            Type::F16x2 => encoded(half(a >> 16), to, relu) << 8 | encoded(half(a), to, relu),
            _ => decoded(a >> 8, from, relu) << 16 | decoded(a, from, relu),
        }
    });
    warp.set_narrow(step.dests[0], &d, mask);
}

/// Returns the nearest 8-bit number, saturating at the largest (`.satfinite`, which the ISA requires).
fn encoded(value: f64, to: Type, relu: bool) -> u32 {
    let (most, nan) = if to == Type::E4m3x2 { (448.0, 0x7f) } else { (57344.0, 0x7e) };
    if value.is_nan() {
        return nan;
    }
    let value = if relu && value < 0.0 { 0.0 } else { value.clamp(-most, most) };
    let (double, mut loses) = (Double::from_bits(value.to_bits().into()), false);
    let bits = match to {
        Type::E4m3x2 => FloatConvert::<Float8E4M3FN>::convert(double, &mut loses).value.to_bits(),
        _ => FloatConvert::<Float8E5M2>::convert(double, &mut loses).value.to_bits(),
    };
    bits as u32
}

/// Returns the number in the low 8 bits, as 16 bits.
fn decoded(bits: u32, from: Type, relu: bool) -> u32 {
    let (bits, mut loses) = (u128::from(bits & 0xff), false);
    let double: Double = match from {
        Type::E4m3x2 => Float8E4M3FN::from_bits(bits).convert(&mut loses).value,
        _ => Float8E5M2::from_bits(bits).convert(&mut loses).value,
    };
    let value = f64::from_bits(double.to_bits() as u64);
    let value = if relu && value < 0.0 { 0.0 } else { value };
    f16::from_f64(value).canonical().to_bits().into()
}

/// Returns the value of an e5m2 number, which is the upper half of a 16-bit one.
#[inline(always)]
pub(super) fn value_of_e5m2(bits: u8) -> f64 {
    f16::from_bits(u16::from(bits) << 8).to_f64()
}

/// Returns the value of an e4m3 number. An f16 has one more exponent bit, a bias larger by 8, and an
/// infinity; here all ones are the only NaN.
#[inline(always)]
pub(super) fn value_of_e4m3(bits: u8) -> f64 {
    const SCALE: f64 = 256.0;
    let (sign, magnitude) = (u16::from(bits & 0x80) << 8, u16::from(bits & 0x7f));
    match magnitude {
        0x7f => f64::NAN,
        _ => f16::from_bits(sign | magnitude << 7).to_f64() * SCALE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with the library of floating-point formats.
    #[test]
    fn values_match_the_format_library() {
        for bits in 0..=u8::MAX {
            for (ty, value) in
                [(Type::E4m3x2, value_of_e4m3(bits)), (Type::E5m2x2, value_of_e5m2(bits))]
            {
                let expected = f16::from_bits(decoded(bits.into(), ty, false) as u16).to_f64();
                let is_same = value == expected || value.is_nan() && expected.is_nan();
                assert!(is_same, "{ty:?} {bits:#x}: {value}, {expected}");
                assert!(value.is_nan() || value.is_sign_negative() == (bits >= 0x80));
            }
        }
    }
}
