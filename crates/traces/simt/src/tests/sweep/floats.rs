//! Floating-point arithmetic.

use half::{bf16, f16};
use warpmem_ptx::Type::{self, *};

use super::{check_same, mask, named};
use crate::tests::coverage::tests;

tests!(sums_and_products, quotients_and_roots, minima_and_maxima, signs, pairs);

/// The NaN of double precision.
const NAN: u64 = 0x7ff8_0000_0000_0000;

/// Returns `a` `b` + `c` with the lost part kept in the last bit, so that a second rounding is exact ("round
/// to odd", Boldo and Melquiond 2008). The product must be exact.
fn fused(a: f64, b: f64, c: f64) -> f64 {
    let product = a * b;
    let sum = product + c;
    let without = sum - product;
    let lost = (product - (sum - without)) + (c - without);
    let is_odd = sum.to_bits() & 1 == 1;
    match lost {
        _ if is_odd || lost == 0.0 || !lost.is_finite() => sum,
        lost if lost > 0.0 => sum.next_up(),
        _ => sum.next_down(),
    }
}

/// Returns the value of bits.
fn value(ty: Type, bits: u64) -> f64 {
    match ty {
        F16 => f16::from_bits(bits as u16).to_f64(),
        Bf16 => bf16::from_bits(bits as u16).to_f64(),
        F32 => f32::from_bits(bits as u32).into(),
        _ => f64::from_bits(bits),
    }
}

/// Returns the bits of a value, rounded once; every NaN is canonical.
fn rounded(ty: Type, value: f64) -> u64 {
    match ty {
        F64 if value.is_nan() => NAN,
        _ if value.is_nan() => mask(ty) >> 1,
        F16 => f16::from_f64(value).to_bits().into(),
        Bf16 => bf16::from_f64(value).to_bits().into(),
        F32 => (value as f32).to_bits().into(),
        _ => value.to_bits(),
    }
}

fn check(opcode: &str, types: &[Type], sources: usize, f: impl Fn(f64, f64, f64) -> f64) {
    for &ty in types {
        check_same(&named(opcode, ty), ty, sources, |bits| {
            let [a, b, c] = bits.map(|bits| value(ty, bits));
            rounded(ty, f(a, b, c))
        });
    }
}

const SMALL: [Type; 2] = [F16, Bf16];
const LARGE: [Type; 2] = [F32, F64];

/// Double precision holds sums of two and products of the smaller types precisely enough that a second
/// rounding is harmless; single precision is computed directly.
#[test]
fn sums_and_products() {
    for types in [&SMALL[..], &[F64]] {
        check("add", types, 2, |a, b, _| a + b);
        check("sub", types, 2, |a, b, _| a - b);
        check("mul", types, 2, |a, b, _| a * b);
    }
    check("fma.rn", &[F64], 3, f64::mul_add);
    check("fma.rn", &SMALL, 3, fused);
    let single = |opcode: &str, sources: usize, f: fn(f32, f32, f32) -> f32| {
        check(opcode, &[F32], sources, |a, b, c| f(a as f32, b as f32, c as f32).into());
    };
    single("add", 2, |a, b, _| a + b);
    single("sub", 2, |a, b, _| a - b);
    single("mul", 2, |a, b, _| a * b);
    single("fma.rn", 3, f32::mul_add);
    single("mad.rn", 3, f32::mul_add);
}

#[test]
fn quotients_and_roots() {
    // Single precision, rounded from double: never a double rounding error (Figueroa 1995).
    check("div.rn", &LARGE, 2, |a, b, _| a / b);
    check("rcp.rn", &LARGE, 1, |a, _, _| 1.0 / a);
    check("sqrt.rn", &LARGE, 1, |a, _, _| a.sqrt());
}

/// Returns the smaller value: a number is less than NaN, and -0 less than 0.
fn lesser(a: f64, b: f64) -> f64 {
    match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ if a < b || (a == b && a.is_sign_negative()) => a,
        _ => b,
    }
}

#[test]
fn minima_and_maxima() {
    for types in [&SMALL[..], &LARGE] {
        check("min", types, 2, |a, b, _| lesser(a, b));
        check("max", types, 2, |a, b, _| {
            if a.is_nan() || b.is_nan() { lesser(a, b) } else { -lesser(-a, -b) }
        });
    }
}

/// Sign operations are bitwise, also on NaN.
#[test]
fn signs() {
    for ty in LARGE {
        let sign = 1 << (ty.bits() - 1);
        check_same(&named("neg", ty), ty, 1, |[a, ..]| a ^ sign);
        check_same(&named("abs", ty), ty, 1, |[a, ..]| a & !sign);
        check_same(&named("copysign", ty), ty, 2, |[a, b, _]| a & sign | b & !sign);
    }
    for ty in SMALL {
        check_same(&named("neg", ty), ty, 1, |[a, ..]| a ^ 0x8000);
        check_same(&named("abs", ty), ty, 1, |[a, ..]| a & 0x7fff);
    }
}

#[test]
fn pairs() {
    for (ty, element) in [(F16x2, F16), (Bf16x2, Bf16)] {
        let check = |opcode: &str, sources: usize, f: fn(f64, f64, f64) -> f64| {
            check_same(&named(opcode, ty), ty, sources, |bits| {
                let of = |shift: u32| {
                    let [a, b, c] = bits.map(|bits| value(element, bits >> shift));
                    rounded(element, f(a, b, c)) << shift
                };
                of(0) | of(16)
            });
        };
        check("add", 2, |a, b, _| a + b);
        check("sub", 2, |a, b, _| a - b);
        check("mul", 2, |a, b, _| a * b);
        check("fma.rn", 3, fused);
        check("min", 2, |a, b, _| lesser(a, b));
        check_same(&named("neg", ty), ty, 1, |[a, ..]| a ^ 0x8000_8000);
        check_same(&named("abs", ty), ty, 1, |[a, ..]| a & 0x7fff_7fff);
    }
}
