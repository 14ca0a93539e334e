//! Integer arithmetic.

use warpmem_ptx::Type::{self, *};

use super::{Case, Code, check_same, integer, mask, named, register};
use crate::tests::coverage::tests;

tests!(
    sums_and_products,
    wide_products,
    products_of_24_bits,
    saturation,
    carries,
    dot_products,
    packed
);

const INTEGERS: [Type; 6] = [U16, U32, U64, S16, S32, S64];

/// A function over unbounded integers.
type Exact = fn(Type, i128, i128, i128) -> i128;

fn check(opcode: &str, types: &[Type], sources: usize, exact: Exact) {
    for &ty in types {
        check_same(&named(opcode, ty), ty, sources, |bits| {
            let [a, b, c] = bits.map(|bits| integer(ty, bits));
            exact(ty, a, b, c) as u64
        });
    }
}

/// Returns the upper half of a product.
fn high(ty: Type, a: i128, b: i128) -> i128 {
    match ty {
        U64 => ((a as u128).wrapping_mul(b as u128) >> 64) as i128,
        ty => (a * b) >> ty.bits(),
    }
}

/// Divides; division by 0 gives all ones.
fn quotient(a: i128, b: i128) -> i128 {
    if b == 0 { -1 } else { a / b }
}

#[test]
fn sums_and_products() {
    check("add", &INTEGERS, 2, |_, a, b, _| a + b);
    check("sub", &INTEGERS, 2, |_, a, b, _| a - b);
    check("mul.lo", &INTEGERS, 2, |_, a, b, _| a.wrapping_mul(b));
    check("mul.hi", &INTEGERS, 2, |ty, a, b, _| high(ty, a, b));
    check("mad.lo", &INTEGERS, 3, |_, a, b, c| a.wrapping_mul(b).wrapping_add(c));
    check("mad.hi", &INTEGERS, 3, |ty, a, b, c| high(ty, a, b) + c);
    check("div", &INTEGERS, 2, |_, a, b, _| quotient(a, b));
    check("rem", &INTEGERS, 2, |_, a, b, _| if b == 0 { a } else { a % b });
    check("min", &INTEGERS, 2, |_, a, b, _| a.min(b));
    check("max", &INTEGERS, 2, |_, a, b, _| a.max(b));
    check("sad", &INTEGERS, 3, |_, a, b, c| c + (a - b).abs());
    check("abs", &INTEGERS[3..], 1, |_, a, _, _| a.abs());
    check("neg", &INTEGERS[3..], 1, |_, a, _, _| -a);
}

#[test]
fn wide_products() {
    for (ty, wide) in [(U16, U32), (U32, U64), (S16, S32), (S32, S64)] {
        let name = named("mul.wide", ty);
        Case { name: &name, dest: wide, sources: &[ty; 2], constants: "" }
            .check(|[a, b, _]| (integer(ty, a) * integer(ty, b)) as u64);
        let name = named("mad.wide", ty);
        Case { name: &name, dest: wide, sources: &[ty, ty, wide], constants: "" }
            .check(|[a, b, c]| (integer(ty, a) * integer(ty, b) + integer(wide, c)) as u64);
    }
}

/// Returns the product of the low 24 bits.
fn product_24(ty: Type, a: i128, b: i128) -> i128 {
    let low = |value: i128| match ty {
        S32 => i128::from((value as i32) << 8 >> 8),
        _ => value & 0xff_ffff,
    };
    low(a) * low(b)
}

#[test]
fn products_of_24_bits() {
    const TYPES: [Type; 2] = [U32, S32];
    check("mul24.lo", &TYPES, 2, |ty, a, b, _| product_24(ty, a, b));
    check("mul24.hi", &TYPES, 2, |ty, a, b, _| product_24(ty, a, b) >> 16);
    check("mad24.lo", &TYPES, 3, |ty, a, b, c| product_24(ty, a, b) + c);
    check("mad24.hi", &TYPES, 3, |ty, a, b, c| (product_24(ty, a, b) >> 16) + c);
}

#[test]
fn saturation() {
    let clamp = |value: i128| value.clamp(i32::MIN.into(), i32::MAX.into()) as u64;
    let number = |bits: u64| integer(S32, bits);
    check_same("add.sat.s32", S32, 2, |[a, b, _]| clamp(number(a) + number(b)));
    check_same("sub.sat.s32", S32, 2, |[a, b, _]| clamp(number(a) - number(b)));
    check_same("mad.hi.sat.s32", S32, 3, |[a, b, c]| {
        clamp(((number(a) * number(b)) >> 32) + number(c))
    });
    check_same("mad24.hi.sat.s32", S32, 3, |[a, b, c]| {
        clamp((product_24(S32, number(a), number(b)) >> 16) + number(c))
    });
}

/// Result of a carry instruction on a, b, c and the flag, which becomes the new flag above the low bits.
type WithCarry = fn(Type, [i128; 3], i128) -> i128;

/// Returns the carry out of the low bits.
fn carry_of(ty: Type, value: i128) -> u64 {
    (value >> ty.bits() & 1) as u64
}

#[test]
fn carries() {
    let of: [(&str, usize, WithCarry); 4] = [
        ("add", 2, |_, [a, b, _], flag| a + b + flag),
        // Subtraction adds the complement: a set flag means no borrow.
        ("sub", 2, |ty, [a, b, _], flag| a + low_part(ty, !b) + flag),
        ("mad.lo", 3, |ty, [a, b, c], flag| low_part(ty, a.wrapping_mul(b)) + c + flag),
        ("mad.hi", 3, |ty, [a, b, c], flag| low_part(ty, high_of(ty, a, b)) + c + flag),
    ];
    for (name, sources, exact) in of {
        for ty in [U32, S32, U64, S64] {
            check_carry(name, ty, sources, exact);
        }
    }
}

fn low_part(ty: Type, value: i128) -> i128 {
    value & i128::from(mask(ty))
}

/// Returns the upper half of the product of unsigned numbers that encode those of a type.
fn high_of(ty: Type, a: i128, b: i128) -> i128 {
    high(ty, integer(ty, a as u64), integer(ty, b as u64))
}

/// Checks the carry flag, which the preceding instruction sets or clears and the following one reads.
fn check_carry(name: &str, ty: Type, sources: usize, exact: WithCarry) {
    let unsigned = |bits: [u64; 3]| bits.map(|bits| i128::from(bits & mask(ty)));
    let (opcode, part) = name.split_once('.').map_or((name, ""), |(opcode, part)| (opcode, part));
    let part = if part.is_empty() { String::new() } else { format!(".{part}") };
    let writes = format!("{opcode}{part}.cc.{}", ty.name());
    let reads = format!("{opcode}c{part}.{}", ty.name());
    let both = format!("{opcode}c{part}.cc.{}", ty.name());
    let same = &[ty; 3][..sources];
    // Initial flag of an instruction that does not read it.
    let begin = i128::from(opcode == "sub");
    check_same(&writes, ty, sources, |bits| exact(ty, unsigned(bits), begin) as u64);
    let operands: Vec<String> = (0..sources).map(|at| register(ty, at)).collect();
    let operands = operands.join(", ");
    let unused = if ty.bits() == 64 { "%rd31" } else { "%r31" };
    let behind = |name: &str, before: &str, flag: i128| {
        let text = format!("{before}{name} {unused}, {operands};\naddc.u32 %r24, 0, 0;\n");
        Code { name, text: &text, dest: U32, sources: same }
            .check(|bits| carry_of(ty, exact(ty, unsigned(bits), flag)));
    };
    for flag in [0, 1] {
        let set = format!("add.cc.u32 %r30, -1, {flag};\n");
        let text = format!("{set}{reads} {}, {operands};\n", register(ty, 4));
        Code { name: &reads, text: &text, dest: ty, sources: same }
            .check(|bits| exact(ty, unsigned(bits), flag) as u64);
        behind(&both, &set, flag);
        behind(&writes, &set, begin);
    }
}

#[test]
fn dot_products() {
    let number = |signed: bool, value: u64, bits: u32| match signed {
        true => integer(if bits == 8 { S8 } else { S16 }, value),
        false => integer(if bits == 8 { U8 } else { U16 }, value),
    };
    for (a_signed, b_signed) in [(false, false), (false, true), (true, false), (true, true)] {
        let [a_type, b_type] =
            [a_signed, b_signed].map(|signed| if signed { "s32" } else { "u32" });
        check_same(&format!("dp4a.{a_type}.{b_type}"), S32, 3, |[a, b, c]| {
            let product =
                |at: u32| number(a_signed, a >> (8 * at), 8) * number(b_signed, b >> (8 * at), 8);
            ((0..4).map(product).sum::<i128>() + i128::from(c)) as u64
        });
        for (half, first) in [("lo", 0), ("hi", 2)] {
            check_same(&format!("dp2a.{half}.{a_type}.{b_type}"), S32, 3, |[a, b, c]| {
                let product = |at: u32| {
                    number(a_signed, a >> (16 * at), 16)
                        * number(b_signed, b >> (8 * (first + at)), 8)
                };
                ((0..2).map(product).sum::<i128>() + i128::from(c)) as u64
            });
        }
    }
}

#[test]
fn packed() {
    for (ty, element) in [(U16x2, U16), (S16x2, S16)] {
        let check = |opcode: &str, f: fn(i128, i128) -> i128| {
            check_same(&named(opcode, ty), ty, 2, |[a, b, _]| {
                let of = |shift: u32| {
                    let value = f(integer(element, a >> shift), integer(element, b >> shift));
                    (value as u64 & 0xffff) << shift
                };
                of(0) | of(16)
            });
        };
        check("add", |a, b| a + b);
        check("sub", |a, b| a - b);
        check("min", i128::min);
        check("max", i128::max);
    }
}
