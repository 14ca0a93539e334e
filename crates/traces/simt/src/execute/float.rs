//! Floating-point arithmetic.
//!
//! Round-to-nearest results come from the host's IEEE arithmetic, which is the same everywhere; other
//! roundings use a software implementation. Approximate functions are computed in double precision and
//! rounded, well within the ISA's error bounds. NaN results are the canonical NaN.

use half::{bf16, f16};
use rustc_apfloat::ieee::{Double, Single};
use rustc_apfloat::{Float as Software, Round};
use warpmem_ptx::{Binary, Modes, Rounding, Ternary, Type, Unary};

use super::operand::{Operand, map1, map2, map3};
use crate::program::Step;
use crate::warp::Warp;

/// A floating-point type with direct arithmetic.
pub(super) trait Float: Operand {
    /// Returns itself, or the canonical NaN.
    fn canonical(self) -> Self;
    fn is_nan(self) -> bool;
    /// Flushes a subnormal to zero of the same sign.
    fn flushed(self) -> Self;
    /// Clamps to [0, 1]; NaN becomes 0.
    fn saturated(self) -> Self;
    fn f64(self) -> f64;
    fn of(value: f64) -> Self;
    fn add(self, other: Self, rounding: Rounding) -> Self;
    fn multiply(self, other: Self, rounding: Rounding) -> Self;
    fn divide(self, other: Self, rounding: Rounding) -> Self;
    fn fused(self, b: Self, c: Self, rounding: Rounding) -> Self;
    fn root(self, rounding: Rounding) -> Self;
    fn negated(self) -> Self;
    fn absolute(self) -> Self;
    fn copysign(self, sign: Self) -> Self;
    fn less(self, other: Self) -> bool;
    fn is_negative(self) -> bool;
}

/// Returns the rounding mode of the software arithmetic.
pub(super) fn software(rounding: Rounding) -> Round {
    match rounding {
        Rounding::Nearest => Round::NearestTiesToEven,
        Rounding::NearestAway => Round::NearestTiesToAway,
        Rounding::Zero => Round::TowardZero,
        Rounding::Down => Round::TowardNegative,
        Rounding::Up => Round::TowardPositive,
    }
}

macro_rules! floats {
    ($($type:ident, $software:ident, $nan:literal;)*) => {$(
        impl Float for $type {
            #[inline(always)]
            fn canonical(self) -> $type {
                if $type::is_nan(self) { $type::from_bits($nan) } else { self }
            }

            #[inline(always)]
            fn is_nan(self) -> bool {
                $type::is_nan(self)
            }

            #[inline(always)]
            fn flushed(self) -> $type {
                if self.abs() < $type::MIN_POSITIVE { $type::copysign(0.0, self) } else { self }
            }

            #[inline(always)]
            fn saturated(self) -> $type {
                // NaN compares less than everything.
                if self > 0.0 { self.min(1.0) } else { 0.0 }
            }

            #[inline(always)]
            fn f64(self) -> f64 {
                self as f64
            }

            #[inline(always)]
            fn of(value: f64) -> $type {
                value as $type
            }

            #[inline(always)]
            fn add(self, other: $type, rounding: Rounding) -> $type {
                match rounding {
                    Rounding::Nearest => self + other,
                    rounding => soft2(self, other, |a, b| Software::add_r(a, b, software(rounding)).value),
                }
            }

            #[inline(always)]
            fn multiply(self, other: $type, rounding: Rounding) -> $type {
                match rounding {
                    Rounding::Nearest => self * other,
                    rounding => soft2(self, other, |a, b| Software::mul_r(a, b, software(rounding)).value),
                }
            }

            #[inline(always)]
            fn divide(self, other: $type, rounding: Rounding) -> $type {
                match rounding {
                    Rounding::Nearest => self / other,
                    rounding => soft2(self, other, |a, b| Software::div_r(a, b, software(rounding)).value),
                }
            }

            #[inline(always)]
            fn fused(self, b: $type, c: $type, rounding: Rounding) -> $type {
                match rounding {
                    Rounding::Nearest => self.mul_add(b, c),
                    rounding => {
                        let [a, b, c] = [self, b, c].map(|value| $software::from_bits(value.to_bits().into()));
                        $type::from_bits(a.mul_add_r(b, c, software(rounding)).value.to_bits() as _)
                    }
                }
            }

            /// Returns the nearest root, moved to its neighbour if the remainder requires it.
            #[inline(always)]
            fn root(self, rounding: Rounding) -> $type {
                let root = self.sqrt();
                if rounding == Rounding::Nearest || !(root > 0.0 && root.is_finite()) {
                    return root;
                }
                let remainder = (-root).mul_add(root, self);
                match rounding {
                    Rounding::Up if remainder > 0.0 => root.next_up(),
                    Rounding::Zero | Rounding::Down if remainder < 0.0 => root.next_down(),
                    _ => root,
                }
            }

            #[inline(always)]
            fn negated(self) -> $type {
                -self
            }

            #[inline(always)]
            fn absolute(self) -> $type {
                self.abs()
            }

            #[inline(always)]
            fn copysign(self, sign: $type) -> $type {
                $type::copysign(self, sign)
            }

            #[inline(always)]
            fn less(self, other: $type) -> bool {
                self < other
            }

            #[inline(always)]
            fn is_negative(self) -> bool {
                self.is_sign_negative()
            }
        }

        impl Soft for $type {
            type Software = $software;

            fn to_software(self) -> $software {
                $software::from_bits(self.to_bits().into())
            }

            fn of_software(value: $software) -> $type {
                $type::from_bits(value.to_bits() as _)
            }
        }
    )*};
}

/// A type of the software arithmetic.
trait Soft: Copy {
    type Software;
    fn to_software(self) -> Self::Software;
    fn of_software(value: Self::Software) -> Self;
}

fn soft2<T: Soft>(a: T, b: T, f: impl Fn(T::Software, T::Software) -> T::Software) -> T {
    T::of_software(f(a.to_software(), b.to_software()))
}

floats! {
    f32, Single, 0x7fff_ffff;
    f64, Double, 0x7ff8_0000_0000_0000;
}

/// Computes 16-bit numbers in single precision, which has more than twice their digits, and rounds once more:
/// the result equals a single rounding.
macro_rules! halves {
    ($($type:ident, $nan:literal;)*) => {$(
        impl Float for $type {
            fn canonical(self) -> $type {
                if $type::is_nan(self) { $type::from_bits($nan) } else { self }
            }

            fn is_nan(self) -> bool {
                $type::is_nan(self)
            }

            fn flushed(self) -> $type {
                let subnormal = self.to_f32().abs() < $type::MIN_POSITIVE.to_f32();
                if subnormal { $type::from_f32(f32::copysign(0.0, self.to_f32())) } else { self }
            }

            fn saturated(self) -> $type {
                $type::from_f32(Float::saturated(self.to_f32()))
            }

            fn f64(self) -> f64 {
                self.to_f64()
            }

            fn of(value: f64) -> $type {
                $type::from_f64(value)
            }

            fn add(self, other: $type, _: Rounding) -> $type {
                $type::from_f32(self.to_f32() + other.to_f32())
            }

            fn multiply(self, other: $type, _: Rounding) -> $type {
                $type::from_f32(self.to_f32() * other.to_f32())
            }

            fn divide(self, other: $type, _: Rounding) -> $type {
                $type::from_f32(self.to_f32() / other.to_f32())
            }

            /// The product is exact in double precision; rounding the sum to odd there makes the second
            /// rounding exact.
            fn fused(self, b: $type, c: $type, _: Rounding) -> $type {
                $type::from_f64(sum_to_odd(self.to_f64() * b.to_f64(), c.to_f64()))
            }

            fn root(self, _: Rounding) -> $type {
                $type::from_f32(self.to_f32().sqrt())
            }

            fn negated(self) -> $type {
                -self
            }

            fn absolute(self) -> $type {
                $type::from_bits(self.to_bits() & 0x7fff)
            }

            fn copysign(self, sign: $type) -> $type {
                $type::from_bits(self.to_bits() & 0x7fff | sign.to_bits() & 0x8000)
            }

            fn less(self, other: $type) -> bool {
                self < other
            }

            fn is_negative(self) -> bool {
                self.is_sign_negative()
            }
        }
    )*};
}

halves! {
    f16, 0x7fff;
    bf16, 0x7fff;
}

/// Returns a + b rounded to odd, so that another rounding to fewer digits is exact.
pub(super) fn sum_to_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if !sum.is_finite() {
        return sum;
    }
    let (small, large) = if a.abs() < b.abs() { (a, b) } else { (b, a) };
    let error = small - (sum - large);
    if error == 0.0 || sum.to_bits() & 1 == 1 {
        return sum;
    }
    // The neighbour in the direction of the error is odd.
    if error > 0.0 { sum.next_up() } else { sum.next_down() }
}

/// Flushes operands and results, clamps results, and canonicalizes NaN, as the modes require.
#[inline(always)]
fn finished<T: Float>(value: T, modes: Modes) -> T {
    let value = if modes.ftz { value.flushed() } else { value };
    let value = if modes.saturate { value.saturated() } else { value };
    let value = if modes.relu && (value.is_negative() || value.is_nan()) {
        if value.is_nan() { value } else { T::of(0.0) }
    } else {
        value
    };
    value.canonical()
}

#[inline(always)]
fn taken<T: Float>(value: T, modes: Modes) -> T {
    if modes.ftz { value.flushed() } else { value }
}

/// Calls a function that is generic over the type with the Rust type of a PTX type.
macro_rules! of_type {
    ($ty:expr, $function:ident($($argument:expr),*)) => {
        match $ty {
            Type::F16 => $function::<f16>($($argument),*),
            Type::Bf16 => $function::<bf16>($($argument),*),
            Type::F64 => $function::<f64>($($argument),*),
            _ => $function::<f32>($($argument),*),
        }
    };
}

pub(super) fn unary(warp: &mut Warp, step: &Step, mask: u32, f: Unary, ty: Type, modes: Modes) {
    of_type!(ty, unary_of(warp, step, mask, f, modes));
}

fn unary_of<T: Float>(warp: &mut Warp, step: &Step, mask: u32, f: Unary, modes: Modes) {
    map1(warp, step, mask, |a: T| unary_value(a, f, modes));
}

/// Returns the value of a unary function.
pub(super) fn unary_value<T: Float>(a: T, f: Unary, modes: Modes) -> T {
    let a = taken(a, modes);
    let value = match f {
        // Sign operations also apply to NaN.
        Unary::Abs => return a.absolute(),
        Unary::Negate => return a.negated(),
        Unary::SquareRoot => a.root(modes.rounding),
        Unary::Reciprocal => T::of(1.0).divide(a, modes.rounding),
        _ => T::of(special(f, a.f64())),
    };
    finished(value, modes)
}

/// Computes approximate functions in double precision.
fn special(f: Unary, a: f64) -> f64 {
    match f {
        Unary::ReciprocalRoot => 1.0 / a.sqrt(),
        Unary::Sine => libm::sin(a),
        Unary::Cosine => libm::cos(a),
        Unary::Log2 => libm::log2(a),
        Unary::Exp2 => libm::exp2(a),
        Unary::Tanh => libm::tanh(a),
        // `unary_value` computes the first four; the others are integer operations.
        Unary::Abs
        | Unary::Negate
        | Unary::SquareRoot
        | Unary::Reciprocal
        | Unary::Not
        | Unary::Cnot
        | Unary::CountLeadingZeros
        | Unary::CountOnes
        | Unary::Reverse
        | Unary::FindBit { .. } => a,
    }
}

pub(super) fn binary(warp: &mut Warp, step: &Step, mask: u32, f: Binary, ty: Type, modes: Modes) {
    // The common case, in loops that the compiler vectorizes.
    let plain = modes == Modes::default();
    match (f, ty) {
        (Binary::Add, Type::F32) if plain => {
            map2(warp, step, mask, |a: f32, b: f32| (a + b).canonical());
        }
        (Binary::Subtract, Type::F32) if plain => {
            map2(warp, step, mask, |a: f32, b: f32| (a - b).canonical());
        }
        (Binary::Multiply(_), Type::F32) if plain => {
            map2(warp, step, mask, |a: f32, b: f32| (a * b).canonical());
        }
        _ => of_type!(ty, binary_of(warp, step, mask, f, modes)),
    }
}

fn binary_of<T: Float>(warp: &mut Warp, step: &Step, mask: u32, f: Binary, modes: Modes) {
    map2(warp, step, mask, |a: T, b: T| binary_value(a, b, f, modes));
}

/// Returns the value of a binary function.
pub(super) fn binary_value<T: Float>(a: T, b: T, f: Binary, modes: Modes) -> T {
    let (a, b) = (taken(a, modes), taken(b, modes));
    let rounding = modes.rounding;
    let value = match f {
        Binary::Add => a.add(b, rounding),
        Binary::Subtract => a.add(b.negated(), rounding),
        Binary::Multiply(_) => a.multiply(b, rounding),
        Binary::Divide => a.divide(b, rounding),
        Binary::CopySign => return b.copysign(a),
        Binary::Min => smaller(a, b, modes),
        Binary::Max => larger(a, b, modes),
        // The others are integer operations.
        Binary::Multiply24 { .. }
        | Binary::Remainder
        | Binary::And
        | Binary::Or
        | Binary::Xor
        | Binary::ShiftLeft
        | Binary::ShiftRight
        | Binary::BitMask { .. }
        | Binary::SignExtend { .. } => a,
    };
    finished(value, modes)
}

/// Returns the smaller number; -0 is less than 0, and NaN only propagates if requested.
fn smaller<T: Float>(a: T, b: T, modes: Modes) -> T {
    chosen(a, b, modes, |a, b| a.less(b) || !b.less(a) && a.is_negative())
}

fn larger<T: Float>(a: T, b: T, modes: Modes) -> T {
    chosen(a, b, modes, |a, b| b.less(a) || !a.less(b) && b.is_negative())
}

fn chosen<T: Float>(a: T, b: T, modes: Modes, first: impl Fn(T, T) -> bool) -> T {
    let sign = a.is_negative() != b.is_negative();
    let (a, b) = if modes.xorsign { (a.absolute(), b.absolute()) } else { (a, b) };
    let value = match (a.is_nan(), b.is_nan()) {
        (true, true) => a,
        (true, false) => {
            if modes.nan {
                a
            } else {
                b
            }
        }
        (false, true) => {
            if modes.nan {
                b
            } else {
                a
            }
        }
        (false, false) => {
            if first(a, b) {
                a
            } else {
                b
            }
        }
    };
    if modes.xorsign && sign { value.negated() } else { value }
}

pub(super) fn ternary(warp: &mut Warp, step: &Step, mask: u32, f: Ternary, ty: Type, modes: Modes) {
    if (f, ty) == (Ternary::FusedMultiplyAdd, Type::F32) && modes == Modes::default() {
        return map3(warp, step, mask, |a: f32, b: f32, c: f32| a.mul_add(b, c).canonical());
    }
    of_type!(ty, ternary_of(warp, step, mask, f, modes));
}

fn ternary_of<T: Float>(warp: &mut Warp, step: &Step, mask: u32, f: Ternary, modes: Modes) {
    map3(warp, step, mask, |a: T, b: T, c: T| ternary_value(a, b, c, f, modes));
}

/// Returns the value of a ternary function.
pub(super) fn ternary_value<T: Float>(a: T, b: T, c: T, f: Ternary, modes: Modes) -> T {
    let (a, b, c) = (taken(a, modes), taken(b, modes), taken(c, modes));
    let value = match f {
        Ternary::Min3 => smaller(smaller(a, b, modes), c, modes),
        Ternary::Max3 => larger(larger(a, b, modes), c, modes),
        Ternary::FusedMultiplyAdd => a.fused(b, c, modes.rounding),
        // The others are integer operations.
        Ternary::MultiplyAdd(_)
        | Ternary::Multiply24Add { .. }
        | Ternary::SumOfDifferences
        | Ternary::BitFieldExtract
        | Ternary::FindNthBit => a,
    };
    finished(value, modes)
}
