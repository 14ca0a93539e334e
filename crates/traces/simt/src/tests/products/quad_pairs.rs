//! `mma.m8n8k4` of half precision (ISA, "Matrix Fragments for mma.m8n8k4 with .f16 floating point type").

use super::{Matrix, Operand, check, types_of};
use crate::tests::coverage::tests;

tests!(four_products_of_every_layout_and_type);

/// Returns the product of a lane; the four matrices of 8 rows are stacked.
fn product_of(lane: usize) -> usize {
    lane % 16 / 4
}

/// Returns row and column of element `i` of a lane in A by rows, or in the transposed B by columns.
fn natural(lane: usize, i: usize) -> (usize, usize) {
    (if lane < 16 { lane % 4 } else { lane % 4 + 4 }, i)
}

/// Returns row and column in A by columns, or B by rows.
fn turned(lane: usize, i: usize) -> (usize, usize) {
    (if lane < 16 { i % 4 } else { i % 4 + 4 }, lane % 4)
}

fn of_result(ty: &str, lane: usize, i: usize) -> (usize, usize) {
    let below = if lane < 16 { 0 } else { 4 };
    match ty {
        "f16" => (lane % 4 + below, i),
        _ => ((lane & 1) + (i & 2) + below, (i & 4) + (lane & 2) + (i & 1)),
    }
}

#[test]
fn four_products_of_every_layout_and_type() {
    let a = Matrix::random("f16", 32, 4, 1);
    // B is transposed.
    let b = Matrix::random("f16", 32, 4, 2);
    let c = Matrix::random("f32", 32, 8, 3);
    let d = Matrix::new(32, 8, |row, column| {
        let product = row / 8 * 8;
        let sum: i32 = (0..4).map(|k| a.at(row, k) * b.at(product + column, k)).sum();
        c.at(row, column) + sum
    });
    let below = |lane: usize, (row, column): (usize, usize)| (8 * product_of(lane) + row, column);
    for types in ["f32.f16.f16.f32", "f16.f16.f16.f16", "f32.f16.f16.f16"] {
        for layouts in ["row.col", "row.row", "col.col", "col.row"] {
            let [of_d, _, _, of_c] = types_of(types);
            let place_of_a = if layouts.starts_with("row") { natural } else { turned };
            let place_of_b = if layouts.ends_with("col") { natural } else { turned };
            let operands = [
                Operand::new("f16", &a, |lane, i| below(lane, place_of_a(lane, i)), 4),
                Operand::new("f16", &b, |lane, i| below(lane, place_of_b(lane, i)), 4),
                Operand::new(of_c, &c, |lane, i| below(lane, of_result(of_c, lane, i)), 8),
            ];
            let place = |lane, i| below(lane, of_result(of_d, lane, i));
            let d = Operand::new(of_d, &d, place, 8);
            check(&format!("mma.sync.aligned.m8n8k4.{layouts}.{types}"), &operands, "", &d);
        }
    }
}
