//! Moves and conversions.

use half::{bf16, f16};
use rustc_apfloat::ieee::{Double, Half, Single};
use rustc_apfloat::{Float as Software, FloatConvert};
use warpmem_ptx::{Convert, Rounding, Type};

use super::eight_bits;
use super::float::{Float, software};
use super::operand::{Operand, map1};
use crate::lanes::{Lanes, WARP};
use crate::program::{Dest, Step};
use crate::warp::Warp;

/// Executes `mov`.
pub(super) fn mov(warp: &mut Warp, step: &Step, mask: u32, ty: Type) {
    match ty.bits() {
        1 => {
            let value = warp.predicate_of(step.sources[0]);
            warp.set_predicate(step.dests[0], value, mask);
        }
        64 => map1(warp, step, mask, |a: u64| a),
        _ => map1(warp, step, mask, |a: u32| a),
    }
}

/// Packs a vector into one register, first element lowest.
pub(super) fn pack(warp: &mut Warp, step: &Step, mask: u32, ty: Type) {
    let bits = ty.bits() / step.sources.len() as u32;
    let mut packed = [0u64; WARP];
    for (at, &source) in (0..).zip(&step.sources) {
        let element = warp.wide(source);
        for (packed, element) in packed.iter_mut().zip(element) {
            *packed |= (element & ((1 << bits) - 1)) << (at * bits);
        }
    }
    warp.set_wide(step.dests[0], &packed, mask);
}

/// Unpacks one register into a vector.
pub(super) fn unpack(warp: &mut Warp, step: &Step, mask: u32, ty: Type) {
    let bits = ty.bits() / step.dests.len() as u32;
    let packed = warp.wide(step.sources[0]);
    for (at, &dest) in (0..).zip(&step.dests) {
        let element = packed.map(|packed| packed >> (at * bits) & ((1 << bits) - 1));
        warp.set_wide(dest, &element, mask);
    }
}

/// Moves 128 bits between register tuples; a constant source holds all of them.
pub(super) fn repack(warp: &mut Warp, step: &Step, mask: u32) {
    let bits = |registers: usize| 128 / registers;
    let mut packed = [0u128; WARP];
    for (at, &source) in step.sources.iter().enumerate() {
        let element = warp.wide(source);
        for (packed, element) in packed.iter_mut().zip(element) {
            *packed |= u128::from(element) << (at * bits(step.sources.len()));
        }
    }
    for (at, &dest) in step.dests.iter().enumerate() {
        let element = packed.map(|packed| (packed >> (at * bits(step.dests.len()))) as u64);
        warp.set_wide(dest, &element, mask);
    }
}

/// A number to convert.
#[derive(Clone, Copy)]
enum Number {
    Integer(i128),
    /// Floating-point value; double precision represents every type exactly.
    Float(f64),
}

/// Executes `cvt`.
pub(super) fn convert(warp: &mut Warp, step: &Step, mask: u32, conversion: Convert) {
    if [conversion.to, conversion.from].into_iter().any(eight_bits::is_pair) {
        return eight_bits::convert(warp, step, mask, conversion);
    }
    let first = numbers(warp, step, 0, conversion);
    if matches!(conversion.to, Type::F16x2 | Type::Bf16x2) {
        return packed_halves(warp, step, mask, conversion, &first);
    }
    let bits = first.map(|number| converted(number, conversion));
    write(warp, step.dests[0], &bits, conversion.to, mask);
}

/// Writes results that may be narrower than their register; extends signed ones.
fn write(warp: &mut Warp, dest: Dest, bits: &Lanes<u64>, ty: Type, mask: u32) {
    let spare = u64::BITS - ty.bits();
    let extended = match ty.is_signed() {
        true => bits.map(|bits| ((bits as i64) << spare >> spare) as u64),
        false => *bits,
    };
    warp.set_wide(dest, &extended, mask);
}

fn numbers(warp: &Warp, step: &Step, at: usize, conversion: Convert) -> Lanes<Number> {
    let source = step.sources[at];
    let flush = |value: f32| if conversion.ftz { value.flushed() } else { value };
    match conversion.from {
        Type::U8 => u8::read(warp, source).map(|a| Number::Integer(a.into())),
        Type::S8 => i8::read(warp, source).map(|a| Number::Integer(a.into())),
        Type::U16 => u16::read(warp, source).map(|a| Number::Integer(a.into())),
        Type::S16 => i16::read(warp, source).map(|a| Number::Integer(a.into())),
        Type::U32 => u32::read(warp, source).map(|a| Number::Integer(a.into())),
        Type::S32 => i32::read(warp, source).map(|a| Number::Integer(a.into())),
        Type::U64 => u64::read(warp, source).map(|a| Number::Integer(a.into())),
        Type::S64 => i64::read(warp, source).map(|a| Number::Integer(a.into())),
        Type::F16 => f16::read(warp, source).map(|a| Number::Float(a.to_f64())),
        Type::Bf16 => bf16::read(warp, source).map(|a| Number::Float(a.to_f64())),
        Type::F64 => f64::read(warp, source).map(Number::Float),
        _ => f32::read(warp, source).map(|a| Number::Float(flush(a).into())),
    }
}

/// Returns a number's bits in the destination type.
fn converted(number: Number, conversion: Convert) -> u64 {
    let to = conversion.to;
    if to.is_integer() {
        return integer(number, conversion) as u64 & (u64::MAX >> (u64::BITS - to.bits()));
    }
    let rounding = conversion.rounding.unwrap_or_default();
    let value = match number {
        Number::Integer(value) => return from_integer(value, to, rounding),
        Number::Float(value) if conversion.to_integral => integral(value, rounding),
        Number::Float(value) => value,
    };
    let value = match (conversion.saturate, conversion.relu) {
        (true, _) => value.saturated(),
        (_, true) if value < 0.0 => 0.0,
        _ => value,
    };
    rounded(value, to, rounding, conversion.ftz)
}

/// Converts to an integer: NaN becomes 0, and out-of-range values are clamped.
fn integer(number: Number, conversion: Convert) -> i128 {
    let bits = conversion.to.bits();
    let (least, most) = match conversion.to.is_signed() {
        true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        false => (0, (1i128 << bits) - 1),
    };
    match number {
        Number::Integer(value) if conversion.saturate => value.clamp(least, most),
        Number::Integer(value) => value,
        Number::Float(value) => {
            let rounding = conversion.rounding.unwrap_or(Rounding::Zero);
            (integral(value, rounding) as i128).clamp(least, most)
        }
    }
}

fn integral(value: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::Nearest => value.round_ties_even(),
        Rounding::NearestAway => value.round(),
        Rounding::Zero => value.trunc(),
        Rounding::Down => value.floor(),
        Rounding::Up => value.ceil(),
    }
}

fn from_integer(value: i128, to: Type, rounding: Rounding) -> u64 {
    let round = software(rounding);
    match to {
        Type::F64 => Double::from_i128_r(value, round).value.to_bits() as u64,
        Type::F32 if rounding == Rounding::Nearest => (value as f32).to_bits().into(),
        Type::F32 => Single::from_i128_r(value, round).value.to_bits() as u64,
        Type::F16 => Half::from_i128_r(value, round).value.to_bits() as u64,
        // From 24 bits on, a second rounding of the number rounded to odd is exact.
        _ => rounded(to_odd(value), to, rounding, false),
    }
}

/// Converts an integer of up to 65 bits to double precision, rounding to odd.
fn to_odd(value: i128) -> f64 {
    let near = value as f64;
    let error = value - near as i128;
    match error.signum() {
        0 => near,
        _ if near.to_bits() & 1 == 1 => near,
        1 => near.next_up(),
        _ => near.next_down(),
    }
}

/// Returns a number's bits in a floating-point type.
fn rounded(value: f64, to: Type, rounding: Rounding, ftz: bool) -> u64 {
    let nearest = rounding == Rounding::Nearest;
    match to {
        Type::F64 => value.canonical().to_bits(),
        Type::F32 => {
            let single =
                if nearest { value as f32 } else { f32::from_bits(software_f32(value, rounding)) };
            let single = if ftz { single.flushed() } else { single };
            single.canonical().to_bits().into()
        }
        Type::F16 if nearest => f16::from_f64(value).canonical().to_bits().into(),
        Type::F16 => software_f16(value, rounding).into(),
        Type::Tf32 => u64::from(tf32(value as f32)),
        _ => u64::from(bfloat(value as f32, rounding)),
    }
}

fn software_f32(value: f64, rounding: Rounding) -> u32 {
    let mut loses = false;
    let single: Single =
        Double::from_bits(value.to_bits().into()).convert_r(software(rounding), &mut loses).value;
    single.to_bits() as u32
}

fn software_f16(value: f64, rounding: Rounding) -> u16 {
    let mut loses = false;
    let half: Half =
        Double::from_bits(value.to_bits().into()).convert_r(software(rounding), &mut loses).value;
    half.to_bits() as u16
}

/// Converts a single to bfloat16, rounding to nearest or truncating.
fn bfloat(value: f32, rounding: Rounding) -> u16 {
    match rounding {
        Rounding::Zero if !value.is_nan() => (value.to_bits() >> 16) as u16,
        _ => bf16::from_f32(value).canonical().to_bits(),
    }
}

/// Rounds to ten mantissa bits, ties away from zero.
pub(super) fn tf32(value: f32) -> u32 {
    match value.is_finite() {
        true => value.to_bits().wrapping_add(0x1000) & 0xffff_e000,
        false => value.canonical().to_bits(),
    }
}

/// Executes `cvt.rn.f16x2.f32 d, a, b`: a becomes the upper half.
fn packed_halves(
    warp: &mut Warp,
    step: &Step,
    mask: u32,
    conversion: Convert,
    first: &Lanes<Number>,
) {
    let element = if conversion.to == Type::F16x2 { Type::F16 } else { Type::Bf16 };
    let each = Convert { to: element, ..conversion };
    let second = numbers(warp, step, 1, conversion);
    let packed = std::array::from_fn(|lane| {
        (converted(first[lane], each) << 16 | converted(second[lane], each)) as u32
    });
    warp.set_narrow(step.dests[0], &packed, mask);
}

/// Executes `cvt.pack`: a above b, both saturated, above the remaining bits of c.
pub(super) fn pack_clamped(warp: &mut Warp, step: &Step, mask: u32, bits: u8, signed: bool) {
    let (least, most): (i64, i64) = match signed {
        true => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        false => (0, (1 << bits) - 1),
    };
    let a = i32::read(warp, step.sources[0]);
    let b = i32::read(warp, step.sources[1]);
    let c = step.sources.get(2).map_or([0; WARP], |&source| u32::read(warp, source));
    let clamped = |value: i32| (i64::from(value).clamp(least, most) as u64) & ((1 << bits) - 1);
    let packed = std::array::from_fn(|lane| {
        let pair = clamped(a[lane]) << bits | clamped(b[lane]);
        (u64::from(c[lane]) << (2 * bits) | pair) as u32
    });
    warp.set_narrow(step.dests[0], &packed, mask);
}
