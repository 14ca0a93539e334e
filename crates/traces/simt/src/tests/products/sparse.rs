//! `mma.sp` of every shape and type, with every selector.

use super::{Matrix, Operand, bits_of, check, place_of_result, types_of};
use crate::tests::coverage::tests;

tests!(sparse_products_of_every_shape_and_type);

/// k, types of D, A, B and C, and the lanes of a group that hold metadata.
const FORMS: [(usize, &str, usize); 20] = [
    (16, "f32.f16.f16.f32", 1),
    (16, "f16.f16.f16.f16", 1),
    (32, "f32.f16.f16.f32", 2),
    (32, "f16.f16.f16.f16", 2),
    (16, "f32.bf16.bf16.f32", 1),
    (32, "f32.bf16.bf16.f32", 2),
    (8, "f32.tf32.tf32.f32", 1),
    (16, "f32.tf32.tf32.f32", 2),
    (64, "f32.e4m3.e4m3.f32", 4),
    (64, "f32.e4m3.e5m2.f32", 4),
    (64, "f32.e5m2.e4m3.f32", 4),
    (64, "f32.e5m2.e5m2.f32", 4),
    (32, "s32.s8.s8.s32", 2),
    (32, "s32.u8.s8.s32", 2),
    (64, "s32.s8.u8.s32", 4),
    (64, "s32.u8.u8.s32", 4),
    (64, "s32.s4.s4.s32", 2),
    (64, "s32.s4.u4.s32", 2),
    (128, "s32.u4.s4.s32", 4),
    (128, "s32.u4.u4.s32", 4),
];

/// The two of four elements that a row holds, each encoded in four bits.
const PAIRS: [(usize, usize); 6] = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];

/// A sparse matrix of 16 rows.
struct Sparse {
    whole: Matrix,
    /// Held elements.
    held: Matrix,
    /// Four bits for every chunk of a row.
    metadata: Matrix,
}

/// Creates a sparse matrix: a unit is a pair of 4-bit elements, and `.tf32` holds one of two elements.
fn sparse(ty: &str, k: usize, seed: u64) -> Sparse {
    let chunk = match bits_of(ty) {
        32 => 2,
        4 => 8,
        _ => 4,
    };
    let all = Matrix::random(ty, 16, k, seed);
    let choices = Matrix::random("s32", 16, k / chunk, seed + 1);
    let choice = |row: usize, at: usize| (choices.at(row, at) + 4) as usize;
    // Returns the held elements of a chunk, and their metadata bits.
    let of_chunk = |row: usize, at: usize| -> (Vec<usize>, i32) {
        let (first, second) = PAIRS[choice(row, at) % PAIRS.len()];
        match chunk {
            2 if choice(row, at).is_multiple_of(2) => (vec![0], 0b0100),
            2 => (vec![1], 0b1110),
            8 => {
                let elements =
                    [first, second].into_iter().flat_map(|pair| [2 * pair, 2 * pair + 1]);
                (elements.collect(), (first | second << 2) as i32)
            }
            _ => (vec![first, second], (first | second << 2) as i32),
        }
    };
    let k_of = |row: usize, stored: usize| {
        let (at, rest) = (stored / (chunk / 2), stored % (chunk / 2));
        at * chunk + of_chunk(row, at).0[rest]
    };
    Sparse {
        whole: Matrix::new(16, k, |row, column| {
            let is_held = of_chunk(row, column / chunk).0.contains(&(column % chunk));
            if is_held { all.at(row, column) } else { 0 }
        }),
        held: Matrix::new(16, k / 2, |row, stored| all.at(row, k_of(row, stored))),
        metadata: Matrix::new(16, k / chunk, |row, at| of_chunk(row, at).1),
    }
}

/// Returns the metadata of each lane; lanes outside the selector hold other bits.
fn metadata(sparse: &Sparse, ty: &str, holders: usize, selector: usize) -> Operand {
    let mut lanes = vec![0x4e4e_4e4e_u32; 32];
    let chunks = sparse.metadata.columns;
    for group in 0..8 {
        let own = &mut lanes[4 * group + holders * selector..][..holders];
        own.fill(0);
        for (half, row) in [group, group + 8].into_iter().enumerate() {
            for chunk in 0..chunks {
                let (lane, bit) = match bits_of(ty) {
                    16 | 32 => (chunk / 4, chunk % 4 * 4 + 16 * half),
                    _ => (chunk / 8 * 2 + half, chunk % 8 * 4),
                };
                own[lane] |= (sparse.metadata.at(row, chunk) as u32) << bit;
            }
        }
    }
    Operand { ty: "b32", lanes: lanes.into_iter().map(|bits| vec![bits.into()]).collect() }
}

/// Returns row and position of element `i` of a lane among the elements that A holds.
fn place_in_row(ty: &str, lane: usize, i: usize) -> (usize, usize) {
    let each = (32 / bits_of(ty)).max(1);
    let (register, at) = (i / each, i % each);
    let row = lane / 4 + if register % 2 == 1 { 8 } else { 0 };
    (row, lane % 4 * each + at + register / 2 * 4 * each)
}

fn place_in_column(ty: &str, lane: usize, i: usize) -> (usize, usize) {
    let each = (32 / bits_of(ty)).max(1);
    (lane % 4 * each + i % each + i / each * 4 * each, lane / 4)
}

fn multiply_and_check(k: usize, types: &'static str, holders: usize, selector: usize, name: &str) {
    let [of_d, of_a, of_b, of_c] = types_of(types);
    let a = sparse(of_a, k, 10 * k as u64 + selector as u64);
    let (b, c) = (Matrix::random(of_b, k, 8, 2), Matrix::random(of_c, 16, 8, 3));
    let metadata = metadata(&a, of_a, holders, selector);
    let operands = [
        Operand::new(of_a, &a.held, |lane, i| place_in_row(of_a, lane, i), 16 * k / 2 / 32),
        Operand::new(of_b, &b, |lane, i| place_in_column(of_b, lane, i), k * 8 / 32),
        Operand::new(of_c, &c, place_of_result, 4),
        metadata,
    ];
    let d = Operand::new(of_d, &a.whole.product(&b, &c, |a, b| a * b), place_of_result, 4);
    let instruction = format!("mma.{name}.sync.aligned.m16n8k{k}.row.col.{types}");
    check(&instruction, &operands, &format!(", {selector}"), &d);
}

#[test]
fn sparse_products_of_every_shape_and_type() {
    for (k, types, holders) in FORMS {
        for selector in 0..4 / holders {
            for name in ["sp", "sp::ordered_metadata"] {
                multiply_and_check(k, types, holders, selector, name);
            }
        }
    }
}
