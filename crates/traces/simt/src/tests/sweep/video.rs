//! Video instructions.

use warpmem_ptx::Type::{B32, U32};

use super::Code;
use crate::tests::coverage::tests;

tests!(
    scalars,
    comparisons,
    shifts,
    products,
    halves_and_bytes,
    selected_elements,
    differences_are_summed
);

/// Signedness of the result and of both sources.
const TYPES: [[bool; 3]; 4] =
    [[false; 3], [true, false, true], [false, true, true], [true, true, true]];

/// Selectors of a part: name, first bit, bits.
const PARTS: [(&str, u32, u32); 5] =
    [("", 0, 32), (".b0", 0, 8), (".h1", 16, 16), (".b3", 24, 8), (".h0", 0, 16)];

fn type_name(signed: bool) -> &'static str {
    if signed { ".s32" } else { ".u32" }
}

fn number(word: u64, signed: bool, (_, at, bits): (&str, u32, u32)) -> i128 {
    let value = i128::from(word >> at) & ((1 << bits) - 1);
    if signed && value >> (bits - 1) == 1 { value - (1 << bits) } else { value }
}

fn clamped(value: i128, signed: bool, bits: u32) -> i128 {
    let least = if signed { -(1 << (bits - 1)) } else { 0 };
    value.clamp(least, least + (1 << bits) - 1)
}

/// Replaces a part of c.
fn merged(value: i128, c: u64, (_, at, bits): (&str, u32, u32)) -> u64 {
    let ones = ((1u64 << bits) - 1) << at;
    c & !ones | (value as u64) << at & ones
}

fn check(name: &str, operands: &str, expected: impl Fn([u64; 3]) -> u64) {
    let text = format!("{name} {operands};\n");
    Code { name, text: &text, dest: U32, sources: &[B32; 3] }.check(expected);
}

type Exact = fn(i128, i128) -> i128;

const OPERATIONS: [(&str, Exact); 5] = [
    ("vadd", |a, b| a + b),
    ("vsub", |a, b| a - b),
    ("vabsdiff", |a, b| (a - b).abs()),
    ("vmin", i128::min),
    ("vmax", i128::max),
];

/// Second steps of a scalar instruction: modifiers, selector of the result, whether it has a third source.
const ENDS: [(&str, &str, bool); 7] = [
    ("", "", false),
    (".sat", "", false),
    (".add", "", true),
    (".sat.min", "", true),
    (".max.sat", "", true),
    (".sat", ".b1", true),
    ("", ".h1", true),
];

/// Returns the result of a scalar instruction whose operation has this value.
fn ended(value: i128, d_signed: bool, (modifiers, selector, _): (&str, &str, bool), c: u64) -> u64 {
    let part = match selector {
        ".b1" => (selector, 8, 8),
        ".h1" => (selector, 16, 16),
        _ => ("", 0, 32),
    };
    let value = if modifiers.contains("sat") { clamped(value, d_signed, part.2) } else { value };
    let other = number(c, d_signed, PARTS[0]);
    match modifiers {
        _ if !selector.is_empty() => merged(value, c, part),
        ".add" => (value + other) as u32 as u64,
        ".sat.min" => value.min(other) as u32 as u64,
        ".max.sat" => value.max(other) as u32 as u64,
        _ => value as u32 as u64,
    }
}

fn check_scalar(name: &str, signs: [bool; 3], exact: impl Fn(i128, i128) -> i128) {
    for (n, end) in ENDS.into_iter().enumerate() {
        let [a_part, b_part] = [PARTS[n % 5], PARTS[(n + name.len()) % 5]];
        let third = if end.2 { ", %r22" } else { "" };
        let operands = format!("%r24{}, %r20{}, %r21{}{third}", end.1, a_part.0, b_part.0);
        check(&format!("{name}{}", end.0), &operands, |[a, b, c]| {
            let (a, b) = (number(a, signs[1], a_part), number(b, signs[2], b_part));
            ended(exact(a, b), signs[0], end, c)
        });
    }
}

#[test]
fn scalars() {
    for (name, exact) in OPERATIONS {
        for signs in TYPES {
            let types = signs.map(type_name).concat();
            check_scalar(&format!("{name}{types}"), signs, exact);
        }
    }
}

type Holds = fn(&i128, &i128) -> bool;

#[test]
fn comparisons() {
    let of: [(&str, Holds); 6] = [
        ("eq", i128::eq),
        ("ne", i128::ne),
        ("lt", i128::lt),
        ("le", i128::le),
        ("gt", i128::gt),
        ("ge", i128::ge),
    ];
    for (n, (compare, holds)) in of.into_iter().enumerate() {
        let [_, a_signed, b_signed] = TYPES[n % 4];
        let name = format!("vset{}{}.{compare}", type_name(a_signed), type_name(b_signed));
        for (end, operands) in [
            (ENDS[0], "%r24, %r20.b0, %r21.b3"),
            (ENDS[2], "%r24, %r20.b0, %r21.b3, %r22"),
            (ENDS[6], "%r24.h1, %r20.b0, %r21.b3, %r22"),
        ] {
            check(&format!("{name}{}", end.0), operands, |[a, b, c]| {
                let (a, b) = (number(a, a_signed, PARTS[1]), number(b, b_signed, PARTS[3]));
                ended(i128::from(holds(&a, &b)), false, end, c)
            });
        }
    }
}

#[test]
fn shifts() {
    for [d_signed, a_signed, _] in TYPES {
        let signs = [d_signed, a_signed, false];
        let types = signs.map(type_name).concat();
        check_scalar(&format!("vshl{types}.clamp"), signs, |a, b| a << b.min(32));
        check_scalar(&format!("vshl{types}.wrap"), signs, |a, b| a << (b & 31));
        check_scalar(&format!("vshr{types}.clamp"), signs, |a, b| a >> b.min(32));
        check_scalar(&format!("vshr{types}.wrap"), signs, |a, b| a >> (b & 31));
    }
}

#[test]
fn products() {
    // Signs of the product and of c, and the added constant.
    let forms = [("", "", 1, 1, 0), ("-", "", -1, 1, 0), ("", "-", 1, -1, 0), ("", "", 1, 1, 1)];
    for (minus_a, minus_c, product_sign, c_sign, one) in forms {
        for [_, a_signed, b_signed] in TYPES {
            for (scale, shift) in [("", 0), (".shr7", 7), (".sat.shr15", 15), (".sat", 0)] {
                let is_signed = a_signed || b_signed || product_sign < 0 || c_sign < 0;
                let po = if one == 1 { ".po" } else { "" };
                let types = [is_signed, a_signed, b_signed].map(type_name).concat();
                let operands = format!("%r24, {minus_a}%r20.h1, %r21, {minus_c}%r22");
                check(&format!("vmad{types}{po}{scale}"), &operands, |[a, b, c]| {
                    let product = number(a, a_signed, PARTS[2]) * number(b, b_signed, PARTS[0]);
                    let c = number(c, is_signed, PARTS[0]);
                    let value = (product_sign * product + c_sign * c + one) >> shift;
                    let saturates = scale.contains("sat");
                    (if saturates { clamped(value, is_signed, 32) } else { value }) as u32 as u64
                });
            }
        }
    }
}

/// Returns an element of a register pair b:a.
fn element(a: u64, b: u64, number_of: u32, signed: bool, bits: u32) -> i128 {
    let pair = b << 32 | a & 0xffff_ffff;
    number(pair, signed, ("", number_of * bits, bits))
}

#[test]
fn halves_and_bytes() {
    let average: Exact = |a, b| (a + b + if a + b >= 0 { 1 } else { 0 }) >> 1;
    let less: Exact = |a, b| i128::from(a < b);
    let operations = OPERATIONS.into_iter().chain([("vavrg", average), ("vset", less)]);
    for (name, exact) in operations {
        for (n, signs) in TYPES.into_iter().enumerate() {
            let elements = if n % 2 == 0 { 2 } else { 4 };
            let is_comparison = name == "vset";
            let signs = if is_comparison { [false, signs[1], signs[2]] } else { signs };
            let types = signs[usize::from(is_comparison)..].iter().map(|&s| type_name(s));
            let types = types.collect::<String>() + if is_comparison { ".lt" } else { "" };
            for end in ["", ".sat", ".add"] {
                if is_comparison && end == ".sat" {
                    continue;
                }
                let bits = 32 / elements;
                check(
                    &format!("{name}{elements}{types}{end}"),
                    "%r24, %r20, %r21, %r22",
                    |[a, b, c]| {
                        (0..elements).fold(c, |d, at| {
                            let value = exact(
                                element(a, b, at, signs[1], bits),
                                element(a, b, elements + at, signs[2], bits),
                            );
                            let value =
                                if end == ".sat" { clamped(value, signs[0], bits) } else { value };
                            match end {
                                ".add" => (i128::from(d) + value) as u32 as u64,
                                _ => merged(value, d, ("", at * bits, bits)),
                            }
                        })
                    },
                );
            }
        }
    }
}

#[test]
fn selected_elements() {
    // The lowest element is named last.
    check("vadd2.u32.u32.u32", "%r24.h1, %r20.h31, %r21.h02, %r22", |[a, b, c]| {
        let sum = element(a, b, 3, false, 16) + element(a, b, 0, false, 16);
        merged(sum, c, ("", 16, 16))
    });
    check("vsub4.s32.s32.s32.add", "%r24.b30, %r20.b7120, %r21.b0005, %r22", |[a, b, c]| {
        let part = |number| element(a, b, number, true, 8);
        (i128::from(c) + part(0) - part(5) + part(7) - part(0)) as u32 as u64
    });
}

/// As compilers write `__vsadu4`.
#[test]
fn differences_are_summed() {
    check("vabsdiff4.u32.u32.u32.add", "%r24, %r20, %r21, 0", |[a, b, _]| {
        let byte = |word: u64, at: usize| i64::from((word as u32).to_le_bytes()[at]);
        (0..4).map(|at| byte(a, at).abs_diff(byte(b, at))).sum()
    });
}
