//! Swizzled boxes in shared memory.

use warpmem_ptx::Type;

use super::{Tensor, bytes_of, loaded, loaded_at};
use crate::Swizzle;

/// Creates a tensor of 16-byte chunks and a box of the same size; both words of a chunk hold its number.
fn chunks(swizzle: Swizzle, in_row: u32, rows: u32) -> (Tensor, Vec<u8>) {
    let sizes = [2 * u64::from(in_row), rows.into()];
    let tensor = Tensor { swizzle, ..Tensor::new(Type::U64, sizes, [2 * in_row, rows]) };
    let values = (0..u64::from(in_row * rows)).flat_map(|chunk| [chunk; 2]);
    (tensor, bytes_of(values.map(u64::to_le_bytes)))
}

/// Lists the chunk numbers in shared-memory order.
fn numbers(shared: &[u8]) -> Vec<u64> {
    let words: Vec<u64> =
        shared.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word)).collect();
    words.chunks(2).map(|chunk| if chunk[0] == chunk[1] { chunk[0] } else { u64::MAX }).collect()
}

/// Expected lines of 128 bytes, derived from the tables of the ISA: in line y, position x holds chunk x xor
/// y, where y counts up to 2, 4 or 8.
#[test]
fn lines_match_the_tables_of_the_isa() {
    // Four rows of two chunks form a line.
    let (tensor, values) = chunks(Swizzle::B32, 2, 16);
    let expected = [
        [0, 1, 2, 3, 4, 5, 6, 7],
        [9, 8, 11, 10, 13, 12, 15, 14],
        [16, 17, 18, 19, 20, 21, 22, 23],
        [25, 24, 27, 26, 29, 28, 31, 30],
    ];
    assert_eq!(numbers(&loaded(&tensor, &values, &[0, 0])), expected.concat());
    // Two rows of four chunks form a line.
    let (tensor, values) = chunks(Swizzle::B64, 4, 10);
    let expected = [
        [0, 1, 2, 3, 4, 5, 6, 7],
        [9, 8, 11, 10, 13, 12, 15, 14],
        [18, 19, 16, 17, 22, 23, 20, 21],
        [27, 26, 25, 24, 31, 30, 29, 28],
        [32, 33, 34, 35, 36, 37, 38, 39],
    ];
    assert_eq!(numbers(&loaded(&tensor, &values, &[0, 0])), expected.concat());
    let (tensor, values) = chunks(Swizzle::B128, 8, 9);
    let expected = [
        [0, 1, 2, 3, 4, 5, 6, 7],
        [9, 8, 11, 10, 13, 12, 15, 14],
        [18, 19, 16, 17, 22, 23, 20, 21],
        [27, 26, 25, 24, 31, 30, 29, 28],
        [36, 37, 38, 39, 32, 33, 34, 35],
        [45, 44, 47, 46, 41, 40, 43, 42],
        [54, 55, 52, 53, 50, 51, 48, 49],
        [63, 62, 61, 60, 59, 58, 57, 56],
        [64, 65, 66, 67, 68, 69, 70, 71],
    ];
    assert_eq!(numbers(&loaded(&tensor, &values, &[0, 0])), expected.concat());
}

/// The pattern depends on the address: a box that starts at the third line of the pattern continues from
/// there.
#[test]
fn a_misaligned_box_starts_within_the_pattern() {
    let (tensor, values) = chunks(Swizzle::B128, 8, 2);
    let expected = [[2, 3, 0, 1, 6, 7, 4, 5], [11, 10, 9, 8, 15, 14, 13, 12]];
    assert_eq!(numbers(&loaded_at(&tensor, &values, &[0, 0], 256)), expected.concat());
    let (tensor, values) = chunks(Swizzle::B32, 2, 4);
    let expected = [1, 0, 3, 2, 5, 4, 7, 6];
    assert_eq!(numbers(&loaded_at(&tensor, &values, &[0, 0], 128)), expected);
}

/// Chunks partly inside the tensor.
#[test]
fn filled_elements_are_swizzled_too() {
    let (tensor, values) = chunks(Swizzle::B32, 2, 8);
    let shared = loaded(&tensor, &values, &[1, 4]);
    let words: Vec<u64> =
        shared.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word)).collect();
    let first = [8, 9, 9, 0, 10, 11, 11, 0, 12, 13, 13, 0, 14, 15, 15, 0];
    assert_eq!(words, [first, [0; 16]].concat());
    let shared = loaded(&tensor, &values, &[1, 0]);
    let words: Vec<u64> =
        shared.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word)).collect();
    let second = [9, 0, 8, 9, 11, 0, 10, 11, 13, 0, 12, 13, 15, 0, 14, 15];
    assert_eq!(words[16..], second);
}
