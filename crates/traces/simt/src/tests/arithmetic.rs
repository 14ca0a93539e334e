//! Arithmetic instructions, compared with plain Rust arithmetic on numbers of all kinds.

use half::f16;

use super::coverage::tests;
use super::result;

tests!(
    integers_of_32_bits,
    integers_of_64_and_16_bits,
    products_wider_than_their_factors,
    instructions_of_three_operands,
    bit_fields,
    carries_propagate_between_words,
    conversions,
    comparisons_and_selections
);

/// Returns numbers with interesting bits in both halves, and a few thousand random bits.
pub(super) fn samples(seed: u64) -> Vec<u64> {
    const EDGES: [u64; 16] = [
        0,
        1,
        u64::MAX,
        0x8000_0000,
        0x7fff_ffff,
        0x8000_0000_0000_0000,
        0x7fff_ffff_ffff_ffff,
        0xffff_0000_ffff,
        0x3f80_0000,
        0xbf80_0000,
        0x7f80_0000,
        0x3ff0_0000_0000_0000,
        0x40_0000,
        0x1f,
        0x20,
        0x3c00_bc00,
    ];
    let mut state = seed;
    let mut noise = move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^ mixed >> 27
    };
    (0..32).map(|at| if at % 2 == 0 { EDGES[(noise() % 16) as usize] } else { noise() }).collect()
}

/// Checks an instruction with two 32-bit operands.
pub(super) fn check32(instruction: &str, expected: impl Fn(u32, u32) -> u32) {
    for seed in 0..8 {
        let (a, b) = (samples(seed), samples(seed + 100));
        let code = format!(
            "ld.global.u32 %r1, [%rd1];\nld.global.u32 %r2, [%rd2];\n{instruction} %r3, %r1, %r2;\nst.global.u32 [%rd3], %r3;"
        );
        let got = result(&code, &a, &b);
        for lane in 0..32 {
            let (a, b) = (a[lane] as u32, b[lane] as u32);
            assert_eq!(got[lane] as u32, expected(a, b), "{instruction} {a:#x}, {b:#x}");
        }
    }
}

fn check64(instruction: &str, expected: impl Fn(u64, u64) -> u64) {
    for seed in 0..8 {
        let (a, b) = (samples(seed), samples(seed + 100));
        let code = format!(
            "ld.global.u64 %rd4, [%rd1];\nld.global.u64 %rd5, [%rd2];\n{instruction} %rd6, %rd4, %rd5;\nst.global.u64 [%rd3], %rd6;"
        );
        let got = result(&code, &a, &b);
        for lane in 0..32 {
            assert_eq!(
                got[lane],
                expected(a[lane], b[lane]),
                "{instruction} {:#x}, {:#x}",
                a[lane],
                b[lane]
            );
        }
    }
}

pub(super) fn check16(instruction: &str, expected: impl Fn(u16, u16) -> u16) {
    for seed in 0..8 {
        let (a, b) = (samples(seed), samples(seed + 100));
        let code = format!(
            "ld.global.u16 %h1, [%rd1];\nld.global.u16 %h2, [%rd2];\n{instruction} %h3, %h1, %h2;\nst.global.u16 [%rd3], %h3;"
        );
        let got = result(&code, &a, &b);
        for lane in 0..32 {
            let (a, b) = (a[lane] as u16, b[lane] as u16);
            assert_eq!(got[lane] as u16, expected(a, b), "{instruction} {a:#x}, {b:#x}");
        }
    }
}

/// Checks an instruction with one 32-bit operand.
pub(super) fn check_unary32(instruction: &str, expected: impl Fn(u32) -> u32) {
    for seed in 0..8 {
        let a = samples(seed);
        let code = format!(
            "ld.global.u32 %r1, [%rd1];\n{instruction} %r3, %r1;\nst.global.u32 [%rd3], %r3;"
        );
        let got = result(&code, &a, &[]);
        for lane in 0..32 {
            let a = a[lane] as u32;
            assert_eq!(got[lane] as u32, expected(a), "{instruction} {a:#x}");
        }
    }
}

pub(super) fn single(value: f32) -> u32 {
    if value.is_nan() { 0x7fff_ffff } else { value.to_bits() }
}

pub(super) fn check_f32(instruction: &str, expected: impl Fn(f32, f32) -> f32) {
    check32(instruction, |a, b| single(expected(f32::from_bits(a), f32::from_bits(b))));
}

#[test]
fn integers_of_32_bits() {
    check32("add.u32", u32::wrapping_add);
    check32("sub.s32", u32::wrapping_sub);
    check32("add.sat.s32", |a, b| (a as i32).saturating_add(b as i32) as u32);
    check32("mul.lo.s32", u32::wrapping_mul);
    check32("mul.hi.u32", |a, b| ((u64::from(a) * u64::from(b)) >> 32) as u32);
    check32("mul.hi.s32", |a, b| ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32);
    check32("div.u32", |a, b| a.checked_div(b).unwrap_or(u32::MAX));
    check32(
        "div.s32",
        |a, b| if b == 0 { u32::MAX } else { (a as i32).wrapping_div(b as i32) as u32 },
    );
    check32("rem.u32", |a, b| a.checked_rem(b).unwrap_or(a));
    check32("rem.s32", |a, b| if b == 0 { a } else { (a as i32).wrapping_rem(b as i32) as u32 });
    check32("min.s32", |a, b| (a as i32).min(b as i32) as u32);
    check32("max.u32", u32::max);
    check32("and.b32", |a, b| a & b);
    check32("or.b32", |a, b| a | b);
    check32("xor.b32", |a, b| a ^ b);
    check32("shl.b32", |a, b| a.checked_shl(b).unwrap_or(0));
    check32("shr.u32", |a, b| a.checked_shr(b).unwrap_or(0));
    check32("shr.s32", |a, b| ((a as i32) >> b.min(31)) as u32);
    check32("mul24.lo.u32", |a, b| (a & 0xff_ffff).wrapping_mul(b & 0xff_ffff));
    check32("bmsk.clamp.b32", |a, b| {
        (0..32)
            .filter(|bit| u64::from(a) <= *bit && *bit < u64::from(a) + u64::from(b))
            .fold(0, |m, bit| m | 1 << bit)
    });
    check_unary32("abs.s32", |a| (a as i32).wrapping_abs() as u32);
    check_unary32("neg.s32", u32::wrapping_neg);
    check_unary32("not.b32", |a| !a);
    check_unary32("cnot.b32", |a| u32::from(a == 0));
    check_unary32("popc.b32", u32::count_ones);
    check_unary32("clz.b32", u32::leading_zeros);
    check_unary32("brev.b32", u32::reverse_bits);
    check_unary32("bfind.u32", |a| a.checked_ilog2().unwrap_or(u32::MAX));
    check_unary32("bfind.shiftamt.s32", |a| {
        let differing = if (a as i32) < 0 { !a } else { a };
        differing.checked_ilog2().map_or(u32::MAX, |bit| 31 - bit)
    });
}

#[test]
fn integers_of_64_and_16_bits() {
    check64("add.s64", u64::wrapping_add);
    check64("sub.u64", u64::wrapping_sub);
    check64("mul.lo.u64", u64::wrapping_mul);
    check64("mul.hi.u64", |a, b| ((u128::from(a) * u128::from(b)) >> 64) as u64);
    check64("mul.hi.s64", |a, b| ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64);
    check64(
        "div.s64",
        |a, b| if b == 0 { u64::MAX } else { (a as i64).wrapping_div(b as i64) as u64 },
    );
    check64("rem.u64", |a, b| a.checked_rem(b).unwrap_or(a));
    check64("min.u64", u64::min);
    check64("max.s64", |a, b| (a as i64).max(b as i64) as u64);
    check64("xor.b64", |a, b| a ^ b);
    check16("add.s16", u16::wrapping_add);
    check16("sub.u16", u16::wrapping_sub);
    check16("mul.lo.u16", u16::wrapping_mul);
    check16("mul.hi.s16", |a, b| ((i32::from(a as i16) * i32::from(b as i16)) >> 16) as u16);
    check16("min.s16", |a, b| (a as i16).min(b as i16) as u16);
    check16("and.b16", |a, b| a & b);
    check16("div.u16", |a, b| a.checked_div(b).unwrap_or(u16::MAX));
}

#[test]
fn products_wider_than_their_factors() {
    let code = |name: &str| {
        format!(
            "ld.global.u32 %r1, [%rd1];\nld.global.u32 %r2, [%rd2];\n{name} %rd6, %r1, %r2;\nst.global.u64 [%rd3], %rd6;"
        )
    };
    let (a, b) = (samples(1), samples(2));
    let unsigned = result(&code("mul.wide.u32"), &a, &b);
    let signed = result(&code("mul.wide.s32"), &a, &b);
    for lane in 0..32 {
        let (a, b) = (a[lane] as u32, b[lane] as u32);
        assert_eq!(unsigned[lane], u64::from(a) * u64::from(b));
        assert_eq!(signed[lane], (i64::from(a as i32) * i64::from(b as i32)) as u64);
    }
}

/// Checks an instruction with three 32-bit operands: a, b, and a third derived from both.
fn check_three(
    instruction: &str,
    third: impl Fn(u32, u32) -> u32,
    make_third: &str,
    expected: impl Fn(u32, u32, u32) -> u32,
) {
    for seed in 0..8 {
        let (a, b) = (samples(seed), samples(seed + 50));
        let code = format!(
            "ld.global.u32 %r1, [%rd1];\nld.global.u32 %r2, [%rd2];\n{make_third}\n{instruction};\nst.global.u32 [%rd3], %r4;"
        );
        let got = result(&code, &a, &b);
        for lane in 0..32 {
            let (a, b) = (a[lane] as u32, b[lane] as u32);
            let c = third(a, b);
            assert_eq!(got[lane] as u32, expected(a, b, c), "{instruction} {a:#x}, {b:#x}, {c:#x}");
        }
    }
}

#[test]
fn instructions_of_three_operands() {
    let xor = |a: u32, b: u32| a ^ b;
    let make = "xor.b32 %r3, %r1, %r2;";
    let check = |instruction: &str, expected: &dyn Fn(u32, u32, u32) -> u32| {
        check_three(&format!("{instruction} %r4, %r1, %r2, %r3"), xor, make, expected);
    };
    check("mad.lo.s32", &|a, b, c| a.wrapping_mul(b).wrapping_add(c));
    check("mad.hi.u32", &|a, b, c| (((u64::from(a) * u64::from(b)) >> 32) as u32).wrapping_add(c));
    check("mad.hi.sat.s32", &|a, b, c| {
        let high = ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as i32;
        high.saturating_add(c as i32) as u32
    });
    check("sad.u32", &|a, b, c| c.wrapping_add(a.abs_diff(b)));
    check("sad.s32", &|a, b, c| c.wrapping_add((a as i32).abs_diff(b as i32)));
    check("shf.l.wrap.b32", &|a, b, c| {
        ((u64::from(b) << 32 | u64::from(a)) << (c & 31) >> 32) as u32
    });
    check("shf.r.clamp.b32", &|a, b, c| ((u64::from(b) << 32 | u64::from(a)) >> c.min(32)) as u32);
    check("dp4a.s32.u32", &|a, b, c| {
        let products =
            (0..4).map(|at| i32::from((a >> (8 * at)) as i8) * i32::from((b >> (8 * at)) as u8));
        products.fold(c as i32, i32::wrapping_add) as u32
    });
    check("dp2a.hi.u32.s32", &|a, b, c| {
        let products = (0..2)
            .map(|at| i64::from((a >> (16 * at)) as u16) * i64::from((b >> (16 + 8 * at)) as i8));
        products.fold(c as i32, |sum, product| sum.wrapping_add(product as i32)) as u32
    });
    for (table, f) in [
        (0x80u8, (|a, b, c| a & b & c) as fn(u32, u32, u32) -> u32),
        (0xfe, |a, b, c| a | b | c),
        (0x96, |a, b, c| a ^ b ^ c),
        (0xca, |a, b, c| a & b | !a & c),
    ] {
        check_three(&format!("lop3.b32 %r4, %r1, %r2, %r3, {table}"), xor, make, f);
    }
    check("prmt.b32", &|a, b, c| {
        let bytes = (u64::from(b) << 32 | u64::from(a)).to_le_bytes();
        let byte = |at: u32| {
            let selector = c >> (4 * at) & 0xf;
            let byte = bytes[selector as usize & 7];
            if selector & 8 == 0 {
                byte
            } else if byte & 0x80 != 0 {
                0xff
            } else {
                0
            }
        };
        u32::from_le_bytes([byte(0), byte(1), byte(2), byte(3)])
    });
}

#[test]
fn bit_fields() {
    for (start, length) in [(0u32, 1u32), (3, 5), (0, 32), (31, 1), (28, 8), (40, 4), (5, 0)] {
        let ones = if length >= 32 { u32::MAX } else { (1 << length) - 1 };
        check_unary32_with(&format!("bfe.u32 %r3, %r1, {start}, {length}"), |a| {
            a.checked_shr(start).unwrap_or(0) & ones
        });
        check_unary32_with(&format!("bfe.s32 %r3, %r1, {start}, {length}"), |a| match length {
            0 => 0,
            _ => {
                let shifted = i64::from(a as i32) >> start;
                if length >= 32 {
                    shifted as u32
                } else {
                    (shifted << (64 - length) >> (64 - length)) as u32
                }
            }
        });
        check32_with(&format!("bfi.b32 %r3, %r1, %r2, {start}, {length}"), |a, b| {
            let field = if start >= 32 { 0 } else { ones << start };
            b & !field | a.checked_shl(start).unwrap_or(0) & field
        });
    }
}

fn check32_with(instruction: &str, expected: impl Fn(u32, u32) -> u32) {
    let (a, b) = (samples(7), samples(8));
    let code = format!(
        "ld.global.u32 %r1, [%rd1];\nld.global.u32 %r2, [%rd2];\n{instruction};\nst.global.u32 [%rd3], %r3;"
    );
    let got = result(&code, &a, &b);
    for lane in 0..32 {
        assert_eq!(got[lane] as u32, expected(a[lane] as u32, b[lane] as u32), "{instruction}");
    }
}

fn check_unary32_with(instruction: &str, expected: impl Fn(u32) -> u32) {
    check32_with(instruction, |a, _| expected(a));
}

#[test]
fn carries_propagate_between_words() {
    let (a, b) = (samples(3), samples(4));
    let load = "ld.global.v2.u32 {%r1, %r2}, [%rd1];\nld.global.v2.u32 {%r3, %r4}, [%rd2];\n";
    let store = "st.global.v2.u32 [%rd3], {%r5, %r6};";
    let sum = result(
        &format!("{load}add.cc.u32 %r5, %r1, %r3;\naddc.u32 %r6, %r2, %r4;\n{store}"),
        &a,
        &b,
    );
    let difference = result(
        &format!("{load}sub.cc.u32 %r5, %r1, %r3;\nsubc.u32 %r6, %r2, %r4;\n{store}"),
        &a,
        &b,
    );
    let product = result(
        &format!(
            "{load}mul.lo.u32 %r5, %r1, %r3;\nmul.hi.u32 %r6, %r1, %r3;\n\
             mad.lo.cc.u32 %r5, %r1, %r3, %r3;\nmadc.hi.u32 %r6, %r1, %r3, 0;\n{store}"
        ),
        &a,
        &b,
    );
    for lane in 0..32 {
        assert_eq!(sum[lane], a[lane].wrapping_add(b[lane]));
        assert_eq!(difference[lane], a[lane].wrapping_sub(b[lane]));
        let (a, b) = (a[lane] & 0xffff_ffff, b[lane] & 0xffff_ffff);
        assert_eq!(product[lane], a * b + b);
    }
}

#[test]
fn conversions() {
    let check =
        |instruction: &str, expected: &dyn Fn(u32) -> u32| check_unary32(instruction, expected);
    check("cvt.rzi.s32.f32", &|a| f32::from_bits(a) as i32 as u32);
    check("cvt.rni.s32.f32", &|a| f32::from_bits(a).round_ties_even() as i32 as u32);
    check("cvt.rmi.u32.f32", &|a| f32::from_bits(a).floor() as u32);
    check("cvt.rpi.f32.f32", &|a| single(f32::from_bits(a).ceil()));
    check("cvt.rn.f32.s32", &|a| (a as i32 as f32).to_bits());
    check("cvt.rn.f32.u32", &|a| (a as f32).to_bits());
    check("cvt.rz.f32.u32", &|a| {
        let near = a as f32;
        (if f64::from(near) > f64::from(a) { near.next_down() } else { near }).to_bits()
    });
    check("cvt.u32.u8", &|a| a & 0xff);
    check("cvt.s32.s8", &|a| a as i8 as i32 as u32);
    check("cvt.s32.s16", &|a| a as i16 as i32 as u32);
    check("cvt.sat.u8.s32", &|a| (a as i32).clamp(0, 255) as u32);
    check("cvt.sat.f32.f32", &|a| {
        let value = f32::from_bits(a);
        if value > 0.0 { value.min(1.0).to_bits() } else { 0 }
    });
    check("cvt.rna.tf32.f32", &|a| {
        let value = f32::from_bits(a);
        if value.is_nan() {
            0x7fff_ffff
        } else if value.is_infinite() {
            a
        } else {
            a.wrapping_add(0x1000) & !0x1fff
        }
    });
    check32("cvt.rn.f16x2.f32", |a, b| {
        let half = |bits: u32| {
            let half = f16::from_f32(f32::from_bits(bits));
            u32::from(if half.is_nan() { 0x7fff } else { half.to_bits() })
        };
        half(a) << 16 | half(b)
    });
    let a = samples(11);
    let wide = result(
        "ld.global.u32 %r1, [%rd1];\ncvt.s64.s32 %rd4, %r1;\nst.global.u64 [%rd3], %rd4;",
        &a,
        &[],
    );
    let double = result(
        "ld.global.u64 %rd4, [%rd1];\ncvt.rn.f64.s64 %fd1, %rd4;\nst.global.f64 [%rd3], %fd1;",
        &a,
        &[],
    );
    for lane in 0..32 {
        assert_eq!(wide[lane], a[lane] as i32 as i64 as u64);
        assert_eq!(double[lane], (a[lane] as i64 as f64).to_bits());
    }
}

#[test]
fn comparisons_and_selections() {
    let check = |compare: &str, f: fn(u32, u32) -> bool| {
        for (seed_a, seed_b) in [(1, 2), (3, 3)] {
            let (a, b) = (samples(seed_a), samples(seed_b));
            let code = format!(
                "ld.global.u32 %r1, [%rd1];\nld.global.u32 %r2, [%rd2];\nsetp.{compare} %p1|%p2, %r1, %r2;\n\
                 selp.b32 %r3, 1, 0, %p1;\nselp.b32 %r4, 2, 0, %p2;\nor.b32 %r3, %r3, %r4;\nst.global.u32 [%rd3], %r3;"
            );
            let got = result(&code, &a, &b);
            for lane in 0..32 {
                let holds = f(a[lane] as u32, b[lane] as u32);
                assert_eq!(
                    got[lane] as u32,
                    if holds { 1 } else { 2 },
                    "{compare} {:#x} {:#x}",
                    a[lane],
                    b[lane]
                );
            }
        }
    };
    check("eq.s32", |a, b| a == b);
    check("ne.b32", |a, b| a != b);
    check("lt.s32", |a, b| (a as i32) < b as i32);
    check("lo.u32", |a, b| a < b);
    check("ge.u32", |a, b| a >= b);
    let float = |compare: &str, f: fn(f32, f32) -> bool| {
        let (a, b) = (samples(5), samples(6));
        let code = format!(
            "ld.global.f32 %f1, [%rd1];\nld.global.f32 %f2, [%rd2];\nset.{compare}.u32.f32 %r1, %f1, %f2;\nst.global.u32 [%rd3], %r1;"
        );
        let got = result(&code, &a, &b);
        for lane in 0..32 {
            let holds = f(f32::from_bits(a[lane] as u32), f32::from_bits(b[lane] as u32));
            assert_eq!(got[lane] as u32, if holds { u32::MAX } else { 0 }, "{compare}");
        }
    };
    float("lt", |a, b| a < b);
    float("gtu", |a, b| a > b || a.is_nan() || b.is_nan());
    float("num", |a, b| !a.is_nan() && !b.is_nan());
    float("ne", |a, b| a != b && !a.is_nan() && !b.is_nan());
    float("neu", |a, b| a != b);
}
