//! `mma` of every shape and type, with the element positions that the ISA lists ("Matrix Fragments for mma").

use super::{Matrix, Operand, check, place_of_result, types_of};
use crate::tests::coverage::tests;

tests!(products_of_every_shape_and_type, integer_sums_wrap_or_saturate);

/// Row and column of element `i` of a lane, with thread `t` in group `g`.
type Place = fn(g: usize, t: usize, i: usize) -> (usize, usize);

struct Shape {
    /// m, n and k.
    sizes: [usize; 3],
    /// Types of D, A, B and C.
    types: &'static [&'static str],
    a: Place,
    b: Place,
}

const SHAPES: [Shape; 15] = [
    Shape {
        sizes: [16, 8, 8],
        types: &["f32.f16.f16.f32", "f32.bf16.bf16.f32", "f16.f16.f16.f16"],
        a: |g, t, i| (if i < 2 { g } else { g + 8 }, t * 2 + i % 2),
        b: |g, t, i| (t * 2 + i, g),
    },
    Shape {
        sizes: [16, 8, 16],
        types: &["f32.f16.f16.f32", "f32.bf16.bf16.f32", "f16.f16.f16.f16"],
        a: |g, t, i| {
            let row = if i < 2 || (4..6).contains(&i) { g } else { g + 8 };
            (row, t * 2 + i % 2 + if i < 4 { 0 } else { 8 })
        },
        b: |g, t, i| (t * 2 + i % 2 + if i < 2 { 0 } else { 8 }, g),
    },
    Shape {
        sizes: [16, 8, 4],
        types: &["f32.tf32.tf32.f32", "f64.f64.f64.f64"],
        a: |g, t, i| (if i == 0 { g } else { g + 8 }, t),
        b: |g, t, _| (t, g),
    },
    Shape {
        sizes: [16, 8, 8],
        types: &["f32.tf32.tf32.f32", "f64.f64.f64.f64"],
        a: |g, t, i| (if i % 2 == 0 { g } else { g + 8 }, if i < 2 { t } else { t + 4 }),
        b: |g, t, i| (if i == 0 { t } else { t + 4 }, g),
    },
    Shape {
        sizes: [16, 8, 16],
        types: &["f64.f64.f64.f64"],
        a: |g, t, i| match i % 2 {
            0 => (g, i * 2 + t),
            _ => (g + 8, i * 2 - 2 + t),
        },
        b: |g, t, i| (i * 4 + t, g),
    },
    Shape {
        sizes: [8, 8, 4],
        types: &["f64.f64.f64.f64"],
        a: |g, t, _| (g, t),
        b: |g, t, _| (t, g),
    },
    Shape {
        sizes: [8, 8, 16],
        types: &["s32.s8.s8.s32", "s32.u8.u8.s32", "s32.u8.s8.s32"],
        a: |g, t, i| (g, t * 4 + i),
        b: |g, t, i| (t * 4 + i, g),
    },
    Shape {
        sizes: [16, 8, 16],
        types: &["s32.s8.s8.s32", "s32.s8.u8.s32", "f32.e4m3.e5m2.f32", "f16.e5m2.e5m2.f16"],
        a: |g, t, i| (if i < 4 { g } else { g + 8 }, t * 4 + i % 4),
        b: |g, t, i| (t * 4 + i, g),
    },
    Shape {
        sizes: [16, 8, 32],
        types: &[
            "s32.s8.s8.s32",
            "s32.u8.u8.s32",
            "f32.e4m3.e4m3.f32",
            "f32.e5m2.e4m3.f32",
            "f32.e5m2.e5m2.f32",
            "f16.e4m3.e4m3.f16",
            "f16.e4m3.e5m2.f16",
            "f16.e5m2.e4m3.f16",
        ],
        a: |g, t, i| {
            let row = if i < 4 || (8..12).contains(&i) { g } else { g + 8 };
            (row, t * 4 + i % 4 + if i < 8 { 0 } else { 16 })
        },
        b: |g, t, i| (t * 4 + i % 4 + if i < 4 { 0 } else { 16 }, g),
    },
    Shape {
        sizes: [8, 8, 32],
        types: &["s32.s4.s4.s32", "s32.u4.u4.s32", "s32.u4.s4.s32"],
        a: |g, t, i| (g, t * 8 + i),
        b: |g, t, i| (t * 8 + i, g),
    },
    Shape {
        sizes: [16, 8, 32],
        types: &["s32.s4.s4.s32", "s32.s4.u4.s32"],
        a: |g, t, i| (if i < 8 { g } else { g + 8 }, t * 8 + i % 8),
        b: |g, t, i| (t * 8 + i, g),
    },
    Shape {
        sizes: [16, 8, 64],
        types: &["s32.s4.s4.s32", "s32.u4.u4.s32", "s32.u4.s4.s32"],
        a: |g, t, i| {
            let row = if i < 8 || (16..24).contains(&i) { g } else { g + 8 };
            (row, t * 8 + i % 8 + if i < 16 { 0 } else { 32 })
        },
        b: |g, t, i| (t * 8 + i % 8 + if i < 8 { 0 } else { 32 }, g),
    },
    Shape {
        sizes: [8, 8, 128],
        types: &["s32.b1.b1.s32"],
        a: |g, t, i| (g, t * 32 + i),
        b: |g, t, i| (t * 32 + i, g),
    },
    Shape {
        sizes: [16, 8, 128],
        types: &["s32.b1.b1.s32"],
        a: |g, t, i| (if i < 32 { g } else { g + 8 }, t * 32 + i % 32),
        b: |g, t, i| (t * 32 + i, g),
    },
    Shape {
        sizes: [16, 8, 256],
        types: &["s32.b1.b1.s32"],
        a: |g, t, i| {
            let row = if i < 32 || (64..96).contains(&i) { g } else { g + 8 };
            (row, t * 32 + i % 32 + if i < 64 { 0 } else { 128 })
        },
        b: |g, t, i| (t * 32 + i % 32 + if i < 32 { 0 } else { 128 }, g),
    },
];

/// Term of the sum over k.
type Combine = fn(i32, i32) -> i32;

fn multiply_and_check(shape: &Shape, types: &'static str, operation: &str, combine: Combine) {
    let [m, n, k] = shape.sizes;
    let [of_d, of_a, of_b, of_c] = types_of(types);
    let (a, b) = (Matrix::random(of_a, m, k, 1), Matrix::random(of_b, k, n, 2));
    let c = Matrix::random(of_c, m, n, 3);
    let operands = [
        Operand::new(of_a, &a, |lane, i| (shape.a)(lane / 4, lane % 4, i), m * k / 32),
        Operand::new(of_b, &b, |lane, i| (shape.b)(lane / 4, lane % 4, i), k * n / 32),
        Operand::new(of_c, &c, place_of_result, m * n / 32),
    ];
    let d = Operand::new(of_d, &a.product(&b, &c, combine), place_of_result, m * n / 32);
    let instruction = format!("mma.sync.aligned.m{m}n{n}k{k}.row.col.{types}{operation}");
    check(&instruction, &operands, "", &d);
}

#[test]
fn products_of_every_shape_and_type() {
    for shape in &SHAPES {
        for types in shape.types {
            if types.contains("b1") {
                multiply_and_check(shape, types, ".xor.popc", |a, b| a ^ b);
                multiply_and_check(shape, types, ".and.popc", |a, b| a & b);
            } else {
                multiply_and_check(shape, types, "", |a, b| a * b);
            }
        }
    }
}

/// Sums beyond the range wrap or saturate.
#[test]
fn integer_sums_wrap_or_saturate() {
    for (saturation, expected) in [("", i32::MIN + 15), (".satfinite", i32::MAX)] {
        let ones = |rows, columns| Matrix::new(rows, columns, |_, _| 1);
        let operand =
            |ty, matrix: &Matrix, elements| Operand::new(ty, matrix, |_, _| (0, 0), elements);
        let of = |value| Matrix::new(1, 1, |_, _| value);
        let operands = [
            operand("s8", &ones(1, 1), 4),
            operand("u8", &ones(1, 1), 4),
            operand("s32", &of(i32::MAX), 2),
        ];
        let instruction = format!("mma.sync.aligned.m8n8k16.row.col{saturation}.s32.s8.u8.s32");
        check(&instruction, &operands, "", &operand("s32", &of(expected), 2));
    }
}
