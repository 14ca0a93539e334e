//! Matrix elements in registers, and the sums of their products.
//!
//! Products are exact, summed in double precision, and rounded once; double-precision products are added with
//! one rounding each.

use half::{bf16, f16};
use warpmem_ptx::{Combine, Element, Mma, Type};

use super::eight_bits;
use super::float::Float;
use crate::lanes::Lanes;

/// Operand registers of each lane.
pub(super) struct Registers<'r> {
    pub a: &'r [Lanes<u64>],
    pub b: &'r [Lanes<u64>],
    pub c: &'r [Lanes<u64>],
    /// Metadata of a sparse A.
    pub metadata: &'r [Lanes<u64>],
}

/// Returns an element of a register; double precision represents every type exactly.
#[inline(always)]
pub(super) fn value(bits: u64, element: Element, at: usize) -> f64 {
    let part = bits >> (at as u32 * element.bits());
    match element {
        Element::F16 => f16::from_bits(part as u16).to_f64(),
        Element::Bf16 => bf16::from_bits(part as u16).to_f64(),
        // Hardware ignores the low bits.
        Element::Tf32 => f32::from_bits(part as u32 & 0xffff_e000).into(),
        Element::F64 => f64::from_bits(part),
        Element::U8 => f64::from(part as u8),
        Element::S8 => f64::from(part as i8),
        Element::U4 => f64::from(part as u8 & 0xf),
        Element::S4 => f64::from((part as i8) << 4 >> 4),
        Element::B1 => f64::from(part as u8 & 1),
        Element::E4m3 => eight_bits::value_of_e4m3(part as u8),
        Element::E5m2 => eight_bits::value_of_e5m2(part as u8),
    }
}

/// Returns an element of C.
pub(super) fn element_of(c: &[Lanes<u64>], ty: Type, lane: usize, at: usize) -> f64 {
    match ty {
        Type::F16 => f16::from_bits((c[at / 2][lane] >> (at % 2 * 16)) as u16).to_f64(),
        Type::F64 => f64::from_bits(c[at][lane]),
        Type::S32 => f64::from(c[at][lane] as i32),
        _ => f32::from_bits(c[at][lane] as u32).into(),
    }
}

/// Returns the bits of an element of D, from pairs of A and B, and C.
pub(super) fn sum(mma: Mma, pairs: impl Iterator<Item = (f64, f64)>, c: f64) -> u64 {
    if mma.d == Type::F64 {
        let sum = pairs.fold(c, |sum, (a, b)| a.fused(b, sum, mma.rounding));
        return sum.canonical().to_bits();
    }
    let sum = match mma.combine {
        // A product of two bits is 1 if both are set.
        Combine::Multiply | Combine::CountCommon => pairs.fold(c, |sum, (a, b)| sum + a * b),
        Combine::CountDifferent => pairs.fold(c, |sum, (a, b)| sum + (a - b).abs()),
    };
    rounded(sum, mma.d, mma.saturate)
}

/// Rounds a sum of products to the type of D.
pub(super) fn rounded(sum: f64, ty: Type, saturate: bool) -> u64 {
    match ty {
        Type::S32 => {
            // Integers of this size are exact.
            let sum = sum as i64;
            let sum = if saturate { sum.clamp(i32::MIN.into(), i32::MAX.into()) } else { sum };
            u64::from(sum as u32)
        }
        Type::F16 => f16::from_f64(sum).canonical().to_bits().into(),
        _ => (sum as f32).canonical().to_bits().into(),
    }
}

/// Writes an element of D to the registers.
pub(super) fn put(d: &mut [Lanes<u64>], ty: Type, lane: usize, at: usize, bits: u64) {
    match ty {
        Type::F16 => d[at / 2][lane] |= bits << (at % 2 * 16),
        _ => d[at][lane] = bits,
    }
}
