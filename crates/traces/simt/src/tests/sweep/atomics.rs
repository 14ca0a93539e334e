//! Atomics and reductions, each thread on its own word.

use half::{bf16, f16};
use warpmem_ptx::Type::{self, *};

use super::{Code, integer, mask, named, register};
use crate::tests::coverage::{note, tests};

tests!(integers, bits, counters, exchanges, floats, vectors);

/// Checks that `atom` returns the old value, and that `atom` and `red` write the new one.
fn check(opcode: &str, ty: Type, new: impl Fn(u64, u64, u64) -> u64) {
    let (c, operands) = match opcode {
        "cas" => (register(ty, 2), 3),
        _ => (String::new(), 2),
    };
    let (comma, b, d) = (if c.is_empty() { "" } else { ", " }, register(ty, 1), register(ty, 4));
    let sources = &[ty; 3][..operands];
    let name = named(&format!("atom.global.{opcode}"), ty);
    let put = "st.global.b64 [%rd3], %rd20;\n";
    let old = format!("{put}{name} {d}, [%rd3], {b}{comma}{c};\n");
    Code { name: &name, text: &old, dest: ty, sources }.check(|[a, ..]| a);
    let wide = ty.bits() == 64;
    let load = format!("ld.global.b{} {d}, [%rd3];\n", if wide { 64 } else { 32 });
    let text = format!("{old}{load}");
    Code { name: &name, text: &text, dest: ty, sources }.check(|[a, b, c]| new(a, b, c) & mask(ty));
    if matches!(opcode, "exch" | "cas") {
        return;
    }
    let name = named(&format!("red.global.{opcode}"), ty);
    note(&name);
    let text = format!("{put}{name} [%rd3], {b};\n{load}");
    Code { name: &name, text: &text, dest: ty, sources }.check(|[a, b, c]| new(a, b, c) & mask(ty));
}

#[test]
fn integers() {
    for ty in [U32, S32, U64] {
        check("add", ty, |a, b, _| a.wrapping_add(b));
    }
    for ty in [U32, S32, U64, S64] {
        check("min", ty, |a, b, _| integer(ty, a).min(integer(ty, b)) as u64);
        check("max", ty, |a, b, _| integer(ty, a).max(integer(ty, b)) as u64);
    }
}

#[test]
fn bits() {
    for ty in [B32, B64] {
        check("and", ty, |a, b, _| a & b);
        check("or", ty, |a, b, _| a | b);
        check("xor", ty, |a, b, _| a ^ b);
    }
}

#[test]
fn counters() {
    check("inc", U32, |a, b, _| if a >= b { 0 } else { a + 1 });
    check("dec", U32, |a, b, _| if a == 0 || a > b { b } else { a - 1 });
}

#[test]
fn exchanges() {
    for ty in [B32, B64] {
        check("exch", ty, |_, b, _| b);
        check("cas", ty, |a, b, c| if a == b { c } else { a });
    }
}

#[test]
fn floats() {
    check("add", F32, |a, b, _| {
        // Subnormals are flushed to zero (ISA, "atom").
        let flushed = |a: f32| if a.is_subnormal() { 0f32.copysign(a) } else { a };
        let number = |bits: u64| flushed(f32::from_bits(bits as u32));
        let sum = flushed(number(a) + number(b));
        u64::from(if sum.is_nan() { 0x7fff_ffff } else { sum.to_bits() })
    });
    check("add", F64, |a, b, _| {
        let sum = f64::from_bits(a) + f64::from_bits(b);
        if sum.is_nan() { 0x7ff8 << 48 } else { sum.to_bits() }
    });
    check("add.noftz", F16x2, |a, b, _| {
        let half = |bits: u64| f16::from_bits(bits as u16).to_f64();
        let sum = |shift: u32| {
            let sum = f16::from_f64(half(a >> shift) + half(b >> shift));
            u64::from(if sum.is_nan() { 0x7fff } else { sum.to_bits() }) << shift
        };
        sum(0) | sum(16)
    });
}

/// Vector element: type, bits, unpacking of a 64-bit register, and the value of each operation.
struct Element {
    name: &'static str,
    bits: u32,
    registers: &'static str,
    olds: &'static str,
    of: fn(&str, u64, u64) -> u64,
}

/// Returns the result of an operation before rounding; the operands are exact in double precision.
fn exact(operation: &str, a: f64, b: f64) -> f64 {
    match operation {
        "add" => a + b,
        // -0 is less than 0.
        "min" if a == b => f64::from_bits(a.to_bits() | b.to_bits()),
        "max" if a == b => f64::from_bits(a.to_bits() & b.to_bits()),
        "min" => a.min(b),
        _ => a.max(b),
    }
}

fn single(operation: &str, a: u64, b: u64) -> u64 {
    let flushed = |a: f32| if a.is_subnormal() { 0f32.copysign(a) } else { a };
    let [a, b] = [a, b].map(|bits| f64::from(flushed(f32::from_bits(bits as u32))));
    let value = flushed(exact(operation, a, b) as f32);
    u64::from(if value.is_nan() { 0x7fff_ffff } else { value.to_bits() })
}

fn half(operation: &str, a: u64, b: u64) -> u64 {
    let [a, b] = [a, b].map(|bits| f16::from_bits(bits as u16).to_f64());
    let value = f16::from_f64(exact(operation, a, b));
    u64::from(if value.is_nan() { 0x7fff } else { value.to_bits() })
}

fn brain(operation: &str, a: u64, b: u64) -> u64 {
    let [a, b] = [a, b].map(|bits| bf16::from_bits(bits as u16).to_f64());
    let value = bf16::from_f64(exact(operation, a, b));
    u64::from(if value.is_nan() { 0x7fff } else { value.to_bits() })
}

#[test]
fn vectors() {
    let (words, old_words) = ("{%r40, %r41}", "{%r42, %r43}");
    let (halves, old_halves) = ("{%h1, %h2, %h3, %h4}", "{%h5, %h6, %h7, %h8}");
    let of = |name, bits, registers, olds, of| Element { name, bits, registers, olds, of };
    let elements = [
        of("v2.f32", 32, words, old_words, single),
        of("noftz.v4.f16", 16, halves, old_halves, half),
        of("noftz.v4.bf16", 16, halves, old_halves, brain),
        of("noftz.v2.f16x2", 16, words, old_words, half),
        of("noftz.v2.bf16x2", 16, words, old_words, brain),
    ];
    for Element { name, bits, registers, olds, of } in elements {
        for operation in ["add", "min", "max"] {
            if operation != "add" && bits == 32 {
                continue;
            }
            let each = |a: u64, b: u64| {
                (0..64).step_by(bits as usize).fold(0, |all, at| {
                    let ones = (1u64 << bits) - 1;
                    all | (of(operation, a >> at & ones, b >> at & ones) & ones) << at
                })
            };
            let sources = &[B64; 2];
            let begin = format!("st.global.b64 [%rd3], %rd20;\nmov.b64 {registers}, %rd21;\n");
            let red = format!("red.relaxed.gpu.global.{operation}.{name}");
            let text = format!("{begin}{red} [%rd3], {registers};\nld.global.b64 %rd24, [%rd3];\n");
            Code { name: &red, text: &text, dest: B64, sources }.check(|[a, b, _]| each(a, b));
            let atom = format!("atom.global.{operation}.{name}");
            let text =
                format!("{begin}{atom} {olds}, [%rd3], {registers};\nmov.b64 %rd24, {olds};\n");
            Code { name: &atom, text: &text, dest: B64, sources }.check(|[a, ..]| a);
            let text = format!("{text}ld.global.b64 %rd24, [%rd3];\n");
            Code { name: &atom, text: &text, dest: B64, sources }.check(|[a, b, _]| each(a, b));
        }
    }
}
