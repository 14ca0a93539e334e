//! Matrix instructions, compared with plain products.

use super::coverage::tests;
use half::f16;

use super::{Machine, kernel, result};

tests!(
    half_precision_products,
    byte_products,
    matrices_accept_generic_addresses,
    matrices_are_loaded_by_rows_or_transposed,
    stored_matrices_round_trip_and_moved_ones_are_transposed
);

/// Returns a small number for an element, exact in every type.
fn small(n: usize) -> f32 {
    ((n * 37 + 11) % 15) as f32 - 7.0
}

/// Returns the bits of neighbouring elements.
fn packed(values: &[f32]) -> u32 {
    values
        .iter()
        .rev()
        .fold(0, |word, &value| word << 16 | u32::from(f16::from_f32(value).to_bits()))
}

/// Checks D = A B + C of 16 × 16, 16 × 8 and 16 × 8, with the fragments spelled out.
#[test]
fn half_precision_products() {
    let a = |row: usize, column: usize| small(row * 16 + column);
    let b = |row: usize, column: usize| small(500 + row * 8 + column);
    let c = |row: usize, column: usize| small(900 + row * 8 + column);
    // Registers of each lane, in order: A (4), B (2), C (4), two per word of the arrays.
    let registers = |lane: usize| -> Vec<u32> {
        let (g, t) = (lane / 4, lane % 4);
        let a_pair = |row: usize, column: usize| packed(&[a(row, column), a(row, column + 1)]);
        let b_pair = |row: usize| packed(&[b(row, g), b(row + 1, g)]);
        let mut all = vec![
            a_pair(g, 2 * t),
            a_pair(g + 8, 2 * t),
            a_pair(g, 2 * t + 8),
            a_pair(g + 8, 2 * t + 8),
            b_pair(2 * t),
            b_pair(2 * t + 8),
        ];
        all.extend(
            [(g, 0), (g, 1), (g + 8, 0), (g + 8, 1)].map(|(row, at)| c(row, 2 * t + at).to_bits()),
        );
        all
    };
    for which in 0..4 {
        let word = |at: usize| {
            (0..32)
                .map(|lane| {
                    u64::from(registers(lane)[at]) | u64::from(registers(lane)[at + 1]) << 32
                })
                .collect::<Vec<_>>()
        };
        let load = load_registers(&[word(0), word(2), word(4), word(6), word(8)]);
        let code = format!(
            "{load}mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{%r20, %r21, %r22, %r23}}, \
             {{%r10, %r11, %r12, %r13}}, {{%r14, %r15}}, {{%r16, %r17, %r18, %r19}};\nst.global.u32 [%rd3], %r{};",
            20 + which
        );
        let got = result(&code, &[], &[]);
        for (lane, &bits) in got.iter().enumerate() {
            let (row, column) = (lane / 4 + which / 2 * 8, lane % 4 * 2 + which % 2);
            let expected = (0..16).fold(c(row, column), |sum, k| sum + a(row, k) * b(k, column));
            assert_eq!(f32::from_bits(bits as u32), expected, "row {row}, column {column}");
        }
    }
}

/// Loads constants for every lane into %r10 and the following registers, two per array.
fn load_registers(words: &[Vec<u64>]) -> String {
    let mut code = String::new();
    for (at, lanes) in words.iter().enumerate() {
        for (lane, word) in lanes.iter().enumerate() {
            let (low, high) = (*word as u32, (*word >> 32) as u32);
            code += &format!(
                "setp.eq.u32 %p1, %r0, {lane};\n@%p1 mov.u32 %r{}, {low};\n@%p1 mov.u32 %r{}, {high};\n",
                10 + 2 * at,
                11 + 2 * at
            );
        }
    }
    code
}

#[test]
fn byte_products() {
    // Each row of A is 1 to 16, and each element of B its column number: D = column * sum.
    let code = "mov.u32 %r1, %laneid;\nand.b32 %r2, %r1, 3;\nmul.lo.u32 %r3, %r2, 0x04040404;\nadd.u32 %r3, %r3, 0x04030201;\n\
                shr.u32 %r4, %r1, 2;\nmul.lo.u32 %r5, %r4, 0x01010101;\n\
                mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32 {%r6, %r7}, {%r3}, {%r5}, {%r1, %r1};\nst.global.v2.u32 [%rd3], {%r6, %r7};";
    for (lane, &got) in result(code, &[], &[]).iter().enumerate() {
        let column = (lane % 4 * 2) as u64;
        assert_eq!(got & 0xffff_ffff, column * 136 + lane as u64);
        assert_eq!(got >> 32, (column + 1) * 136 + lane as u64);
    }
}

/// Fills matrix m of shared memory with 100 m + 8 row + column.
const FILL: &str = "shl.b32 %r1, %r0, 4;\nmov.u32 %r2, tile;\nadd.u32 %r2, %r2, %r1;\nshr.u32 %r3, %r0, 3;\nmul.lo.u32 %r3, %r3, 100;\n\
    and.b32 %r4, %r0, 7;\nshl.b32 %r4, %r4, 3;\nadd.u32 %r3, %r3, %r4;\nmul.lo.u32 %r3, %r3, 0x10001;\nadd.u32 %r4, %r3, 0x10000;\n\
    st.shared.u32 [%r2], %r4;\nadd.u32 %r4, %r4, 0x20002;\nst.shared.u32 [%r2+4], %r4;\nadd.u32 %r4, %r4, 0x20002;\n\
    st.shared.u32 [%r2+8], %r4;\nadd.u32 %r4, %r4, 0x20002;\nst.shared.u32 [%r2+12], %r4;\nbar.sync 0;\n";

/// Without `.shared`, addresses are generic, and reach the same rows.
#[test]
fn matrices_accept_generic_addresses() {
    let code = format!(
        "{FILL}cvt.u64.u32 %rd4, %r2;\ncvta.shared.u64 %rd5, %rd4;\n\
         ldmatrix.sync.aligned.m8n8.x2.shared.b16 {{%r10, %r11}}, [%r2+16];\n\
         ldmatrix.sync.aligned.m8n8.x2.b16 {{%r12, %r13}}, [%rd5+16];\n\
         setp.ne.u32 %p1, %r10, %r12;\nsetp.ne.or.u32 %p1, %r11, %r13, %p1;\n@%p1 trap;\n\
         stmatrix.sync.aligned.m8n8.x1.trans.b16 [%rd5+1024], {{%r11}};\n\
         ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {{%r14}}, [%r2+1024];\n\
         setp.ne.u32 %p1, %r11, %r14;\n@%p1 trap;"
    );
    result(&code, &[], &[]);
}

#[test]
fn matrix_rows_must_be_in_shared_memory() {
    let mut machine = Machine::new(32);
    let code = "ldmatrix.sync.aligned.m8n8.x1.b16 {%r10}, [%rd1];";
    let error = machine.run(&kernel(code), 1, 32).unwrap_err().to_string();
    assert!(error.contains("a matrix row at 0x7f"), "{error}");
    assert!(error.contains("of global memory: rows must be in shared memory"), "{error}");
}

#[test]
fn matrices_are_loaded_by_rows_or_transposed() {
    for (modifier, transposed) in [("", false), (".trans", true)] {
        let code = format!(
            "{FILL}ldmatrix.sync.aligned.m8n8.x4{modifier}.shared.b16 {{%r10, %r11, %r12, %r13}}, [%r2];\nst.global.v2.u32 [%rd3], {{%r10, %r13}};"
        );
        for (lane, &got) in result(&code, &[], &[]).iter().enumerate() {
            let (g, t) = (lane / 4, lane % 4);
            let element =
                |at: usize| if transposed { 8 * (2 * t + at) + g } else { 8 * g + 2 * t + at };
            let of = |matrix: usize| {
                (100 * matrix + element(0)) as u64 | ((100 * matrix + element(1)) as u64) << 16
            };
            assert_eq!((got & 0xffff_ffff, got >> 32), (of(0), of(3)), "lane {lane}");
        }
    }
}

#[test]
fn stored_matrices_round_trip_and_moved_ones_are_transposed() {
    let code = format!(
        "{FILL}ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {{%r10}}, [%r2];\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%r11}}, [%r2];\n\
         movmatrix.sync.aligned.m8n8.trans.b16 %r12, %r11;\nsetp.ne.u32 %p1, %r10, %r12;\n@%p1 trap;\n\
         add.u32 %r5, %r2, 1024;\nstmatrix.sync.aligned.m8n8.x1.shared.b16 [%r5], {{%r11}};\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%r13}}, [%r5];\n\
         setp.ne.u32 %p1, %r11, %r13;\n@%p1 trap;"
    );
    result(&code, &[], &[]);
}
