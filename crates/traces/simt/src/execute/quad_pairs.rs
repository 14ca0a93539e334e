//! `mma.m8n8k4` of half precision: four products of 8 × 4 and 4 × 8, each by the lanes 4 q to 4 q + 3 and
//! 16 + 4 q to 19 + 4 q (ISA, "Matrix Fragments for mma.m8n8k4 with .f16 floating point type").
//!
//! Lane l is thread r = l % 4 of the lower or upper group h = l / 16:
//!
//! ```text
//!  A by rows, B by columns, element i    line r + 4 h                   k i
//!  A by columns, B by rows               line i + 4 h                   k r
//!  C and D of f16                        row r + 4 h                    column i
//!  C and D of f32                        row r % 2 + i & 2 + 4 h        column i & 4 + r & 2 + i % 2
//! ```

use warpmem_ptx::{Element, Layout, Mma, Type};

use super::element::{Registers, element_of, put, sum, value};
use crate::lanes::Lanes;

/// Products of an instruction.
const PRODUCTS: usize = 4;
/// Lanes per group of a product.
const GROUP: usize = 4;
/// Rows of A and C, and columns of B and C.
const SIZE: usize = 8;
/// Columns of A and rows of B, and elements of A or B per lane.
const K: usize = 4;

pub(super) fn multiply(
    mma: Mma,
    [a, b]: [Layout; 2],
    registers: &Registers<'_>,
    d: &mut [Lanes<u64>],
) {
    for product in 0..PRODUCTS {
        let a = factor(registers.a, product, a == Layout::Row);
        let b = factor(registers.b, product, b == Layout::Column);
        let mut c = [[0.0; SIZE]; SIZE];
        for (half, thread, lane) in lanes(product) {
            for at in 0..SIZE {
                let (row, column) = place_of_result(mma.c, half, thread, at);
                c[row][column] = element_of(registers.c, mma.c, lane, at);
            }
        }
        for (half, thread, lane) in lanes(product) {
            for at in 0..SIZE {
                let (row, column) = place_of_result(mma.d, half, thread, at);
                let pairs = a[row].into_iter().zip(b[column]);
                put(d, mma.d, lane, at, sum(mma, pairs, c[row][column]));
            }
        }
    }
}

/// Lists half, thread and lane of all lanes of a product.
fn lanes(product: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    let of_half = move |half| {
        (0..GROUP).map(move |thread| (half, thread, GROUP * product + thread + 16 * half))
    };
    (0..2).flat_map(of_half)
}

/// Reads A by rows or B by columns.
fn factor(registers: &[Lanes<u64>], product: usize, is_natural: bool) -> [[f64; K]; SIZE] {
    let mut matrix = [[0.0; K]; SIZE];
    for (half, thread, lane) in lanes(product) {
        for at in 0..K {
            let (line, k) = if is_natural { (thread, at) } else { (at, thread) };
            let bits = registers[at / 2][lane];
            matrix[line + GROUP * half][k] = value(bits, Element::F16, at % 2);
        }
    }
    matrix
}

/// Returns row and column of an element of C or D.
fn place_of_result(ty: Type, half: usize, thread: usize, at: usize) -> (usize, usize) {
    match ty {
        Type::F16 => (thread + GROUP * half, at),
        _ => ((thread & 1) + (at & 2) + GROUP * half, (at & 4) + (thread & 2) + (at & 1)),
    }
}
