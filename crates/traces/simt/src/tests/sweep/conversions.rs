//! Conversions and moves.

use half::{bf16, f16};
use warpmem_ptx::Type::{self, *};

use super::{Case, Code, integer, mask, named, register};
use crate::tests::coverage::tests;

tests!(
    between_integers,
    to_floats,
    to_integers,
    between_floats,
    to_eight_bits,
    from_eight_bits,
    moves,
    moves_of_vectors,
    packing,
    clamped_numbers_are_packed
);

/// Rounding to an integer.
type Rounded = fn(f64) -> f64;

const INTEGERS: [Type; 8] = [U8, U16, U32, U64, S8, S16, S32, S64];
const FLOATS: [Type; 3] = [F16, F32, F64];

fn convert(modifiers: &str, to: Type, from: Type, expected: impl Fn(u64) -> u64) {
    let name = format!("cvt{modifiers}.{}.{}", to.name(), from.name());
    Case { name: &name, dest: to, sources: &[from], constants: "" }.check(|[a, ..]| expected(a));
}

fn float(ty: Type, bits: u64) -> f64 {
    match ty {
        F16 => f16::from_bits(bits as u16).to_f64(),
        F32 => f32::from_bits(bits as u32).into(),
        _ => f64::from_bits(bits),
    }
}

/// Returns the bits of an integer converted to nearest, without intermediate rounding.
fn of_integer(ty: Type, value: i128) -> u64 {
    match ty {
        F16 => f16::from_f64(value as f64).to_bits().into(),
        F32 => (value as f32).to_bits().into(),
        _ => (value as f64).to_bits(),
    }
}

#[test]
fn between_integers() {
    for from in INTEGERS {
        for to in INTEGERS {
            convert("", to, from, |a| integer(from, a) as u64);
            let clamped = |a: u64| {
                let [least, most] = match to.is_signed() {
                    true => [-(1 << (to.bits() - 1)), (1 << (to.bits() - 1)) - 1],
                    false => [0, (1 << to.bits()) - 1],
                };
                integer(from, a).clamp(least, most) as u64
            };
            convert(".sat", to, from, clamped);
        }
    }
}

#[test]
fn to_floats() {
    for from in INTEGERS {
        for to in FLOATS {
            convert(".rn", to, from, |a| of_integer(to, integer(from, a)));
        }
    }
}

/// Out-of-range values are clamped, and NaN becomes 0 (ISA, "cvt").
#[test]
fn to_integers() {
    let modes: [(&str, Rounded); 4] = [
        (".rni", f64::round_ties_even),
        (".rzi", f64::trunc),
        (".rmi", f64::floor),
        (".rpi", f64::ceil),
    ];
    for from in FLOATS {
        for to in INTEGERS {
            for (mode, round) in modes {
                convert(mode, to, from, |a| {
                    let value = round(float(from, a));
                    let [least, most] = match to.is_signed() {
                        true => [-(1i128 << (to.bits() - 1)), (1 << (to.bits() - 1)) - 1],
                        false => [0, (1 << to.bits()) - 1],
                    };
                    (value as i128).clamp(least, most) as u64
                });
            }
        }
    }
}

#[test]
fn between_floats() {
    let nan = |ty: Type| if ty == F64 { 0x7ff8 << 48 } else { mask(ty) >> 1 };
    for (to, from) in [(F32, F16), (F64, F16), (F64, F32)] {
        convert("", to, from, |a| match float(from, a) {
            value if value.is_nan() => nan(to),
            value if to == F32 => (value as f32).to_bits().into(),
            value => value.to_bits(),
        });
    }
    convert(".rn", F32, F64, |a| match f64::from_bits(a) as f32 {
        value if value.is_nan() => nan(F32),
        value => value.to_bits().into(),
    });
    for from in [F32, F64] {
        convert(".rn", F16, from, |a| match f16::from_f64(float(from, a)) {
            value if value.is_nan() => nan(F16),
            value => value.to_bits().into(),
        });
    }
    convert(".rn", Bf16, F32, |a| match bf16::from_f32(f32::from_bits(a as u32)) {
        value if value.is_nan() => nan(Bf16),
        value => value.to_bits().into(),
    });
    convert("", F32, Bf16, |a| match bf16::from_bits(a as u16).to_f32() {
        value if value.is_nan() => nan(F32),
        value => value.to_bits().into(),
    });
    convert(".rpi", F32, F32, |a| match f32::from_bits(a as u32).ceil() {
        value if value.is_nan() => nan(F32),
        value => value.to_bits().into(),
    });
    convert(".rzi", F64, F64, |a| match f64::from_bits(a).trunc() {
        value if value.is_nan() => nan(F64),
        value => value.to_bits(),
    });
}

/// Lists the 8-bit numbers with the type's mantissa, by code; `None` is not a number.
fn eight_bits(ty: Type) -> Vec<Option<f64>> {
    let (mantissa, bias) = if ty == E4m3x2 { (3, 7) } else { (2, 15) };
    let of = |code: u32| {
        let (exponent, fraction) =
            (code >> mantissa & (0x7f >> mantissa), code & ((1 << mantissa) - 1));
        let is_number = match ty {
            E4m3x2 => code & 0x7f != 0x7f,
            _ => exponent < 0x1f,
        };
        let fraction = f64::from(fraction) / f64::from(1 << mantissa);
        let size = match exponent {
            0 => fraction * 2f64.powi(1 - bias),
            _ => (1.0 + fraction) * 2f64.powi(exponent as i32 - bias),
        };
        is_number.then_some(if code & 0x80 == 0 { size } else { -size })
    };
    (0..256).map(of).collect()
}

/// Returns the code of the nearest number, ties to even, saturating at the largest. The codes of NaN are
/// those of CUDA's header cuda_fp8.hpp.
fn encoded(numbers: &[Option<f64>], ty: Type, value: f64) -> u64 {
    if value.is_nan() {
        return if ty == E4m3x2 { 0x7f } else { 0x7e };
    }
    let distance = |code: &u64| {
        let number =
            numbers[*code as usize].filter(|n| n.is_sign_negative() == value.is_sign_negative());
        number.map_or(f64::INFINITY, |number| (number - value.clamp(-1e6, 1e6)).abs())
    };
    let nearer = |a: &u64, b: &u64| distance(a).total_cmp(&distance(b)).then((a & 1).cmp(&(b & 1)));
    (0..256).min_by(nearer).unwrap_or(0)
}

#[test]
fn to_eight_bits() {
    for ty in [E4m3x2, E5m2x2] {
        let numbers = eight_bits(ty);
        let encoded = |value: f64| encoded(&numbers, ty, value);
        let name = format!("cvt.rn.satfinite.{}.f32", ty.name());
        Case { name: &name, dest: ty, sources: &[F32; 2], constants: "" }
            .check(|[a, b, _]| encoded(float(F32, a)) << 8 | encoded(float(F32, b)));
        let name = format!("cvt.rn.satfinite.{}.f16x2", ty.name());
        Case { name: &name, dest: ty, sources: &[F16x2], constants: "" }
            .check(|[a, ..]| encoded(float(F16, a >> 16)) << 8 | encoded(float(F16, a)));
    }
}

#[test]
fn from_eight_bits() {
    for ty in [E4m3x2, E5m2x2] {
        let numbers = eight_bits(ty);
        let half = |code: u64| match (numbers[code as usize & 0xff], ty, code & 0x7f) {
            (Some(number), ..) => u64::from(f16::from_f64(number).to_bits()),
            (None, E5m2x2, 0x7c) => 0x7c00 | (code & 0x80) << 8,
            _ => 0x7fff,
        };
        convert(".rn", F16x2, ty, |a| half(a >> 8) << 16 | half(a));
    }
}

#[test]
fn moves() {
    for ty in [B16, B32, B64, U16, U32, U64, S16, S32, S64, F32, F64, Pred] {
        Case { name: &named("mov", ty), dest: ty, sources: &[ty], constants: "" }
            .check(|[a, ..]| a);
    }
}

/// A vector is read before it is written.
#[test]
fn moves_of_vectors() {
    let text = "mov.v2.b32 {%r21, %r24}, {%r20, %r21};\n";
    Code { name: "mov.v2.b32", text, dest: B32, sources: &[B32; 2] }.check(|[_, b, _]| b);
    let text = "mov.v4.u64 {%rd24, %rd25, %rd26, %rd27}, {%rd22, %rd24, 7, %rd20};\n";
    Code { name: "mov.v4.u64", text, dest: U64, sources: &[U64; 3] }.check(|[.., c]| c);
}

#[test]
fn clamped_numbers_are_packed() {
    for bits in [2, 4, 8, 16] {
        for (sign, least) in [('u', 0), ('s', -(1i128 << (bits - 1)))] {
            let clamped = |word: u64| {
                let value = integer(S32, word).clamp(least, least + (1 << bits) - 1);
                value as u64 & ((1 << bits) - 1)
            };
            let pair = |a, b| clamped(a) << bits | clamped(b);
            let name = format!("cvt.pack.sat.{sign}{bits}.s32.b32");
            Case { name: &name, dest: B32, sources: &[S32, S32, B32], constants: "" }
                .check(|[a, b, c]| c << (2 * bits) | pair(a, b));
            if bits >= 8 {
                let name = format!("cvt.pack.sat.{sign}{bits}.s32");
                Case { name: &name, dest: B32, sources: &[S32, S32], constants: "" }
                    .check(|[a, b, _]| pair(a, b));
            }
        }
    }
}

#[test]
fn packing() {
    let (a, b, d) = (register(B32, 0), register(B32, 1), register(B64, 4));
    let text = format!("mov.b64 {d}, {{{a}, {b}}};\n");
    Code { name: "mov.b64", text: &text, dest: B64, sources: &[B32; 2] }
        .check(|[a, b, _]| a | b << 32);
    let (a, d) = (register(B64, 0), register(B32, 4));
    let text = format!("mov.b64 {{%r40, {d}}}, {a};\n");
    Code { name: "mov.b64", text: &text, dest: B32, sources: &[B64] }.check(|[a, ..]| a >> 32);
}
