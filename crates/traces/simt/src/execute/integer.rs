//! Integer arithmetic.

use warpmem_ptx::{Binary, CarryOp, Half, ProductPart, Ternary, Type, Unary};

use super::operand::{Operand, map1, map2, map3, predicates};
use crate::lanes::Lanes;
use crate::program::Step;
use crate::warp::Warp;

/// An integer type.
trait Integer: Operand + Ord {
    const BITS: u32;
    const MIN: Self;
    const MAX: Self;
    fn wide(self) -> i128;
    /// Truncates a number.
    fn of(value: i128) -> Self;
    /// Returns the bits as an unsigned number.
    fn bits(self) -> u64;
    fn of_bits(bits: u64) -> Self;
}

macro_rules! integers {
    ($($type:ident, $unsigned:ident;)*) => {$(
        impl Integer for $type {
            const BITS: u32 = $type::BITS;
            const MIN: $type = $type::MIN;
            const MAX: $type = $type::MAX;

            #[inline(always)]
            fn wide(self) -> i128 {
                self as i128
            }

            #[inline(always)]
            fn of(value: i128) -> $type {
                value as $type
            }

            #[inline(always)]
            fn bits(self) -> u64 {
                self as $unsigned as u64
            }

            #[inline(always)]
            fn of_bits(bits: u64) -> $type {
                bits as $type
            }
        }
    )*};
}

integers! {
    u16, u16;
    i16, u16;
    u32, u32;
    i32, u32;
    u64, u64;
    i64, u64;
}

/// Calls a function that is generic over the type with the Rust type of a PTX type.
macro_rules! of_type {
    ($ty:expr, $function:ident($($argument:expr),*)) => {
        match $ty {
            Type::U16 | Type::B16 => $function::<u16>($($argument),*),
            Type::S16 => $function::<i16>($($argument),*),
            Type::U32 | Type::B32 => $function::<u32>($($argument),*),
            Type::S32 => $function::<i32>($($argument),*),
            Type::U64 | Type::B64 => $function::<u64>($($argument),*),
            _ => $function::<i64>($($argument),*),
        }
    };
}

pub(super) fn unary(warp: &mut Warp, step: &Step, mask: u32, f: Unary, ty: Type) {
    if ty == Type::Pred {
        let [a, _] = predicates(warp, step);
        return warp.set_predicate(step.dests[0], !a, mask);
    }
    of_type!(ty, unary_of(warp, step, mask, f));
}

fn unary_of<T: Integer>(warp: &mut Warp, step: &Step, mask: u32, f: Unary) {
    let bits = T::BITS;
    match f {
        Unary::Abs => map1(warp, step, mask, |a: T| T::of(a.wide().abs())),
        Unary::Negate => map1(warp, step, mask, |a: T| T::of(-a.wide())),
        Unary::Not => map1(warp, step, mask, |a: T| T::of_bits(!a.bits())),
        Unary::Cnot => map1(warp, step, mask, |a: T| T::of_bits(u64::from(a.bits() == 0))),
        Unary::CountLeadingZeros => {
            map1(warp, step, mask, |a: T| a.bits().leading_zeros() - (u64::BITS - bits));
        }
        Unary::CountOnes => map1(warp, step, mask, |a: T| a.bits().count_ones()),
        Unary::Reverse => {
            map1(warp, step, mask, |a: T| {
                T::of_bits(a.bits().reverse_bits() >> (u64::BITS - bits))
            });
        }
        Unary::FindBit { shift_amount } => map1(warp, step, mask, |a: T| find_bit(a, shift_amount)),
        // The others are floating-point operations.
        Unary::Reciprocal
        | Unary::SquareRoot
        | Unary::ReciprocalRoot
        | Unary::Sine
        | Unary::Cosine
        | Unary::Log2
        | Unary::Exp2
        | Unary::Tanh => {}
    }
}

/// Executes `bfind`: the highest bit that differs from the sign; all ones if there is none.
fn find_bit<T: Integer>(a: T, shift_amount: bool) -> u32 {
    let differing = if a.wide() < 0 { T::of_bits(!a.bits()).bits() } else { a.bits() };
    match differing.checked_ilog2() {
        None => u32::MAX,
        Some(bit) if shift_amount => T::BITS - 1 - bit,
        Some(bit) => bit,
    }
}

pub(super) fn binary(warp: &mut Warp, step: &Step, mask: u32, f: Binary, ty: Type, saturate: bool) {
    match ty {
        Type::Pred => binary_of_predicates(warp, step, mask, f),
        Type::U16x2 | Type::S16x2 => packed(warp, step, mask, f, ty),
        _ => match f {
            // Fast paths for the most common types, without wide arithmetic.
            Binary::Add if ty.bits() == 32 && !saturate => {
                map2(warp, step, mask, u32::wrapping_add);
            }
            Binary::Subtract if ty.bits() == 32 && !saturate => {
                map2(warp, step, mask, u32::wrapping_sub);
            }
            Binary::Add if ty.bits() == 64 => map2(warp, step, mask, u64::wrapping_add),
            Binary::Subtract if ty.bits() == 64 => map2(warp, step, mask, u64::wrapping_sub),
            Binary::Multiply(ProductPart::Low) if ty.bits() == 32 => {
                map2(warp, step, mask, u32::wrapping_mul);
            }
            Binary::Multiply(ProductPart::Low) if ty.bits() == 64 => {
                map2(warp, step, mask, u64::wrapping_mul);
            }
            Binary::Multiply(ProductPart::Wide) => widening(warp, step, mask, ty),
            _ => of_type!(ty, binary_of(warp, step, mask, f, saturate)),
        },
    }
}

/// Executes `mul.wide`.
fn widening(warp: &mut Warp, step: &Step, mask: u32, ty: Type) {
    match ty {
        Type::U16 => map2(warp, step, mask, |a: u16, b: u16| u32::from(a) * u32::from(b)),
        Type::S16 => map2(warp, step, mask, |a: i16, b: i16| i32::from(a) * i32::from(b)),
        Type::U32 => map2(warp, step, mask, |a: u32, b: u32| u64::from(a) * u64::from(b)),
        _ => map2(warp, step, mask, |a: i32, b: i32| i64::from(a) * i64::from(b)),
    }
}

fn binary_of_predicates(warp: &mut Warp, step: &Step, mask: u32, f: Binary) {
    let [a, b] = predicates(warp, step);
    let value = match f {
        Binary::And => a & b,
        Binary::Or => a | b,
        _ => a ^ b,
    };
    warp.set_predicate(step.dests[0], value, mask);
}

fn binary_of<T: Integer>(warp: &mut Warp, step: &Step, mask: u32, f: Binary, saturate: bool) {
    let clamp = |value: i128| match saturate {
        true => T::of(value.clamp(T::MIN.wide(), T::MAX.wide())),
        false => T::of(value),
    };
    match f {
        Binary::Add => map2(warp, step, mask, |a: T, b: T| clamp(a.wide() + b.wide())),
        Binary::Subtract => map2(warp, step, mask, |a: T, b: T| clamp(a.wide() - b.wide())),
        Binary::Multiply(part) => {
            map2(warp, step, mask, |a: T, b: T| part_of::<T>(product(a, b), part, T::BITS));
        }
        Binary::Multiply24 { high } => {
            map2(warp, step, mask, |a: T, b: T| part_of_48::<T>(product_24(a, b), high));
        }
        Binary::Divide => map2(warp, step, mask, |a: T, b: T| divided(a, b).0),
        Binary::Remainder => map2(warp, step, mask, |a: T, b: T| divided(a, b).1),
        Binary::Min => map2(warp, step, mask, |a: T, b: T| a.min(b)),
        Binary::Max => map2(warp, step, mask, |a: T, b: T| a.max(b)),
        Binary::And => map2(warp, step, mask, |a: T, b: T| T::of_bits(a.bits() & b.bits())),
        Binary::Or => map2(warp, step, mask, |a: T, b: T| T::of_bits(a.bits() | b.bits())),
        Binary::Xor => map2(warp, step, mask, |a: T, b: T| T::of_bits(a.bits() ^ b.bits())),
        Binary::ShiftLeft => map2(warp, step, mask, |a: T, by: u32| match by < T::BITS {
            true => T::of_bits(a.bits() << by),
            false => T::of_bits(0),
        }),
        // A shift by the width or more leaves the sign.
        Binary::ShiftRight => map2(warp, step, mask, |a: T, by: u32| match T::BITS {
            64 => T::of(a.wide() >> by.min(64)),
            _ => T::of(i128::from(a.wide() as i64 >> by.min(63))),
        }),
        Binary::BitMask { wrap } => {
            map2(warp, step, mask, move |a: u32, b: u32| bit_mask(a, b, wrap));
        }
        Binary::SignExtend { wrap } => {
            map2(warp, step, mask, move |a: T, b: u32| sign_extend(a, b, wrap));
        }
        // A floating-point operation.
        Binary::CopySign => {}
    }
}

/// Returns a product, which fits in 128 bits; the bits of unsigned 64-bit products are unaffected by the
/// overflow.
fn product<T: Integer>(a: T, b: T) -> i128 {
    a.wide().wrapping_mul(b.wide())
}

fn part_of<T: Integer>(product: i128, part: ProductPart, bits: u32) -> T {
    match part {
        ProductPart::High => T::of(product >> bits),
        _ => T::of(product),
    }
}

/// Multiplies the low 24 bits.
fn product_24<T: Integer>(a: T, b: T) -> i128 {
    let low = |value: T| match T::MIN.wide() < 0 {
        true => value.wide() << 104 >> 104,
        false => value.wide() & 0xff_ffff,
    };
    low(a) * low(b)
}

/// Returns the low or high 32 of 48 bits.
fn part_of_48<T: Integer>(product: i128, high: bool) -> T {
    T::of(if high { product >> 16 } else { product })
}

/// Returns quotient and remainder. Division by 0 gives all ones and the dividend, as in hardware.
fn divided<T: Integer>(a: T, b: T) -> (T, T) {
    match (b.bits(), T::MIN.wide() < 0) {
        (0, _) => (T::of(-1), a),
        (_, true) => {
            let (a, b) = (a.wide() as i64, b.wide() as i64);
            (T::of(a.wrapping_div(b).into()), T::of(a.wrapping_rem(b).into()))
        }
        (divisor, false) => (T::of_bits(a.bits() / divisor), T::of_bits(a.bits() % divisor)),
    }
}

/// Executes `bmsk`: b ones from bit a.
fn bit_mask(a: u32, b: u32, wrap: bool) -> u32 {
    let (start, length) = if wrap { (a & 31, b & 31) } else { (a.min(32), b.min(32)) };
    let ones = (1u64 << length) - 1;
    (ones << start) as u32
}

/// Executes `szext`: the low b bits, extended.
fn sign_extend<T: Integer>(a: T, b: u32, wrap: bool) -> T {
    let length = if wrap { b & 31 } else { b.min(32) };
    match (length, T::MIN.wide() < 0) {
        (0, _) => T::of(0),
        (length, true) => T::of(a.wide() << (128 - length) >> (128 - length)),
        (length, false) => T::of_bits(a.bits() & ((1 << length) - 1)),
    }
}

/// Operates on two 16-bit numbers per register.
fn packed(warp: &mut Warp, step: &Step, mask: u32, f: Binary, ty: Type) {
    let of = move |a: u16, b: u16| match (f, ty) {
        (Binary::Add, _) => a.wrapping_add(b),
        (Binary::Subtract, _) => a.wrapping_sub(b),
        (Binary::Min, Type::U16x2) => a.min(b),
        (Binary::Max, Type::U16x2) => a.max(b),
        (Binary::Min, _) => (a as i16).min(b as i16) as u16,
        _ => (a as i16).max(b as i16) as u16,
    };
    map2(warp, step, mask, |a: u32, b: u32| {
        u32::from(of(a as u16, b as u16)) | u32::from(of((a >> 16) as u16, (b >> 16) as u16)) << 16
    });
}

pub(super) fn ternary(
    warp: &mut Warp,
    step: &Step,
    mask: u32,
    f: Ternary,
    ty: Type,
    saturate: bool,
) {
    match (f, ty) {
        (Ternary::MultiplyAdd(ProductPart::Low), ty) if ty.bits() == 32 => {
            map3(warp, step, mask, |a: u32, b: u32, c: u32| a.wrapping_mul(b).wrapping_add(c));
        }
        (Ternary::MultiplyAdd(ProductPart::Wide), Type::U16) => {
            map3(warp, step, mask, |a: u16, b: u16, c: u32| {
                (u32::from(a) * u32::from(b)).wrapping_add(c)
            });
        }
        (Ternary::MultiplyAdd(ProductPart::Wide), Type::S16) => {
            map3(warp, step, mask, |a: i16, b: i16, c: i32| {
                (i32::from(a) * i32::from(b)).wrapping_add(c)
            });
        }
        (Ternary::MultiplyAdd(ProductPart::Wide), Type::U32) => {
            map3(warp, step, mask, |a: u32, b: u32, c: u64| {
                (u64::from(a) * u64::from(b)).wrapping_add(c)
            });
        }
        (Ternary::MultiplyAdd(ProductPart::Wide), Type::S32) => {
            map3(warp, step, mask, |a: i32, b: i32, c: i64| {
                (i64::from(a) * i64::from(b)).wrapping_add(c)
            });
        }
        _ => of_type!(ty, ternary_of(warp, step, mask, f, saturate)),
    }
}

fn ternary_of<T: Integer>(warp: &mut Warp, step: &Step, mask: u32, f: Ternary, saturate: bool) {
    match f {
        Ternary::MultiplyAdd(part) => map3(warp, step, mask, |a: T, b: T, c: T| {
            let high: T = part_of(product(a, b), part, T::BITS);
            let sum = high.wide() + c.wide();
            T::of(if saturate { sum.clamp(T::MIN.wide(), T::MAX.wide()) } else { sum })
        }),
        Ternary::Multiply24Add { high } => map3(warp, step, mask, |a: T, b: T, c: T| {
            let part: T = part_of_48(product_24(a, b), high);
            let sum = part.wide() + c.wide();
            T::of(if saturate { sum.clamp(T::MIN.wide(), T::MAX.wide()) } else { sum })
        }),
        Ternary::SumOfDifferences => {
            map3(warp, step, mask, |a: T, b: T, c: T| {
                T::of(c.wide() + (a.wide() - b.wide()).abs())
            });
        }
        Ternary::BitFieldExtract => {
            map3(warp, step, mask, |a: T, start: u32, length: u32| extract(a, start, length));
        }
        Ternary::FindNthBit => map3(warp, step, mask, find_nth_bit),
        // The others are floating-point operations.
        Ternary::FusedMultiplyAdd | Ternary::Min3 | Ternary::Max3 => {}
    }
}

/// Executes `fns`: the `count`-th set bit of `word` from bit `first`, towards lower bits if the count is
/// negative; all ones if there is none. A count of 0 tests bit `first` itself.
fn find_nth_bit(word: u32, first: u32, count: i32) -> u32 {
    let is_set = |&bit: &u32| word >> bit & 1 == 1;
    let nth = count.unsigned_abs().saturating_sub(1) as usize;
    let found = match count.signum() {
        _ if first > 31 => None,
        0 => Some(first).filter(is_set),
        1 => (first..32).filter(is_set).nth(nth),
        _ => (0..=first).rev().filter(is_set).nth(nth),
    };
    found.unwrap_or(u32::MAX)
}

/// Executes `bfe`: bits beyond the field copy the field's sign, or the sign of a where the field extends
/// beyond the number.
fn extract<T: Integer>(a: T, start: u32, length: u32) -> T {
    let (start, length) = (start & 0xff, length & 0xff);
    let signed = T::MIN.wide() < 0;
    if length == 0 {
        return T::of(0);
    }
    let shifted = a.wide() >> start.min(127);
    match (length < T::BITS, signed) {
        (false, _) => T::of(shifted),
        (true, true) => T::of(shifted << (128 - length) >> (128 - length)),
        (true, false) => T::of(shifted & ((1 << length) - 1)),
    }
}

/// Executes `dp4a` and `dp2a`.
pub(super) fn dot(
    warp: &mut Warp,
    step: &Step,
    mask: u32,
    a_signed: bool,
    b_signed: bool,
    halves: Option<Half>,
) {
    let byte = |word: u32, at: u32, signed: bool| {
        let byte = (word >> (8 * at)) as u8;
        if signed { i32::from(byte as i8) } else { i32::from(byte) }
    };
    let half = |word: u32, at: u32, signed: bool| {
        let half = (word >> (16 * at)) as u16;
        if signed { i32::from(half as i16) } else { i32::from(half) }
    };
    map3(warp, step, mask, |a: u32, b: u32, c: i32| match halves {
        None => (0..4)
            .fold(c, |sum, at| sum.wrapping_add(byte(a, at, a_signed) * byte(b, at, b_signed))),
        Some(part) => (0..2).fold(c, |sum, at| {
            let first = if part == Half::Low { 0 } else { 2 };
            sum.wrapping_add(half(a, at, a_signed).wrapping_mul(byte(b, first + at, b_signed)))
        }),
    });
}

/// Executes addition and subtraction with each lane's carry flag. A subtraction adds the complement, so that
/// a set flag means "no borrow".
pub(super) fn carry(
    warp: &mut Warp,
    step: &Step,
    mask: u32,
    op: CarryOp,
    ty: Type,
    reads: bool,
    writes: bool,
) {
    let bits = ty.bits();
    let flags = match op {
        _ if reads => warp.carry,
        CarryOp::Subtract => u32::MAX,
        CarryOp::Add | CarryOp::MultiplyAdd(_) => 0,
    };
    let ones = (1u128 << bits) - 1;
    let (mut carries, mut d) = (0u32, [0u64; 32]);
    let sources: Vec<Lanes<u64>> = step.sources.iter().map(|&source| warp.wide(source)).collect();
    for (lane, d) in d.iter_mut().enumerate() {
        let of = |at: usize| u128::from(sources[at][lane]) & ones;
        let flag = u128::from(flags >> lane & 1);
        let sum = match op {
            CarryOp::Add => of(0) + of(1) + flag,
            CarryOp::Subtract => of(0) + (of(1) ^ ones) + flag,
            CarryOp::MultiplyAdd(part) => {
                let product = match ty.is_signed() {
                    true => signed(of(0), bits).wrapping_mul(signed(of(1), bits)) as u128,
                    false => of(0) * of(1),
                };
                let part = if part == ProductPart::High { product >> bits } else { product };
                (part & ones) + of(2) + flag
            }
        };
        *d = sum as u64;
        carries |= ((sum >> bits & 1) as u32) << lane;
    }
    warp.set_wide(step.dests[0], &d, mask);
    if writes {
        warp.carry = warp.carry & !mask | carries & mask;
    }
}

fn signed(value: u128, bits: u32) -> i128 {
    (value as i128) << (128 - bits) >> (128 - bits)
}
