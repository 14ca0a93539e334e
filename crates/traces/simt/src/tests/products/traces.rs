//! Trace records of `wmma`: the accesses of the instructions that replace it on GPUs.

use warpmem_trace::{Kind, OpClass, Space, Trace};

use crate::Limits;
use crate::tests::events::{Event, of_first_warp};
use crate::tests::recorded::{Access, trace_in};
use crate::tests::{Machine, kernel, recorded};

/// Returns the memory accesses of code in which %rd50 is the first array.
fn accesses(code: &str) -> Vec<Access> {
    let code = format!("ld.param.u64 %rd50, [a];\n{code}");
    let mut warps = trace_in(&mut Machine::new(256), &code, 1, 32);
    let records = warps.remove(0).1;
    records.into_iter().filter(|access| matches!(access.0, Kind::Load | Kind::Store)).collect()
}

/// Returns the addresses of the lanes' words, from the bytes of a row, the first row and byte, and the bytes
/// of a word.
fn words(stride: u64, row: u64, byte: u64, width: u64) -> Vec<u64> {
    (0..32).map(|lane| stride * (lane / 4 + row) + byte + lane % 4 * width).collect()
}

const REGISTERS: &str = "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}";

#[test]
fn half_precision_matrices_are_four_word_loads() {
    for layout in ["row", "col"] {
        let code = format!(
            "wmma.load.a.sync.aligned.{layout}.m16n16k16.global.f16 {REGISTERS}, [%rd50], 24;"
        );
        // By columns, the second register has the rows below, which are the next words of a column.
        let places = match layout {
            "row" => [(0, 0), (8, 0), (0, 16), (8, 16)],
            _ => [(0, 0), (0, 16), (8, 0), (8, 16)],
        };
        let load = |(row, byte)| (Kind::Load, Space::Global, 4, u32::MAX, words(48, row, byte, 4));
        assert_eq!(accesses(&code), places.map(load), "{layout}");
    }
}

#[test]
fn shared_memory_matrices_are_loaded_as_by_ldmatrix() {
    let rows = |addresses: Vec<u64>| {
        let mask = ((1u64 << addresses.len()) - 1) as u32;
        (Kind::Load, Space::Shared, 16, mask, addresses)
    };
    let code =
        format!("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {REGISTERS}, [tile], 16;");
    let four: Vec<u64> = (0..32).map(|lane| 32 * (lane % 16) + lane / 16 * 16).collect();
    assert_eq!(accesses(&code), [rows(four.clone())]);
    let code = format!("wmma.load.b.sync.aligned.row.m8n32k16.shared.f16 {REGISTERS}, [tile], 32;");
    // Rows are 64 bytes: of eight columns and k, of the next eight columns, of the next eight k.
    let of = |columns: u64| {
        (0..32)
            .map(move |lane| 64 * (lane % 8 + lane / 16 * 8) + columns + lane / 8 % 2 * 16)
            .collect()
    };
    assert_eq!(accesses(&code), [rows(of(0)), rows(of(32))]);
    let code = "wmma.load.a.sync.aligned.row.m16n16k16.shared.s8 {%r1, %r2}, [tile], 16;";
    assert_eq!(accesses(code), [rows((0..16).map(|row| 16 * row).collect())]);
}

#[test]
fn sums_are_pairs_by_rows_and_single_words_by_columns() {
    let code = format!("wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd50], {REGISTERS};");
    let store = |(row, byte)| (Kind::Store, Space::Global, 8, u32::MAX, words(64, row, byte, 8));
    assert_eq!(accesses(&code), [(0, 0), (8, 0), (0, 32), (8, 32)].map(store));
    let code = format!("wmma.load.c.sync.aligned.col.m16n16k16.f32 {REGISTERS}, [%rd50];");
    let found = accesses(&code);
    assert_eq!(found.len(), 8);
    let column = |at: u64, row: u64| {
        (0..32).map(move |lane| 64 * (lane % 4 * 2 + at) + 4 * (lane / 4 + row))
    };
    for (access, (at, row)) in
        found.iter().zip([(0, 0), (1, 0), (0, 8), (1, 8), (8, 0), (9, 0), (8, 8), (9, 8)])
    {
        let expected = (Kind::Load, Space::Global, 4, u32::MAX, column(at, row).collect());
        assert_eq!(*access, expected);
    }
}

/// Registers 1 to 4 are loaded one after the other, and 5 to 8 with them.
#[test]
fn loads_write_the_registers_of_their_part() {
    let mut machine = Machine::new(256);
    let launch = machine.launch(1, 32);
    let code = format!(
        "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {REGISTERS}, [%rd1];\n\
         add.u32 %r9, %r5, %r4;\nadd.u32 %r9, %r9, %r2;\nst.global.u32 [%rd3], %r9;"
    );
    let code = format!("sub.u64 %rd1, %rd1, %rd0;\n{code}");
    let (_, bytes) = recorded(&mut machine, &code, &launch, Limits::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.wmt");
    std::fs::write(&path, bytes).unwrap();
    let instructions = Trace::open(&path).unwrap().instructions(0).unwrap();
    let loads = instructions.iter().filter(|instruction| instruction.kind == Kind::Load);
    let uses: Vec<Option<u32>> = loads.map(|load| load.use_distance).collect();
    assert_eq!(uses, [Some(3), Some(3), None, Some(0)]);
}

#[test]
fn products_are_recorded_by_part() {
    let [a, b] = ["{%r9, %r10, %r11, %r12}", "{%r21, %r22, %r23, %r24}"];
    let c = "{%r13, %r14, %r15, %r16, %r17, %r18, %r19, %r20}";
    let code = format!(
        "wmma.mma.sync.aligned.row.col.m16n16k16.f32.bf16.bf16.f32 {REGISTERS}, {a}, {b}, {c};\n\
         wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {{%r1, %r2}}, {{%r9}}, {{%r10}}, \
         {{%r1, %r2}};"
    );
    let mut machine = Machine::new(256);
    let launch = machine.launch(1, 32);
    let events = of_first_warp(&mut machine, &kernel(&code), &launch);
    let tensor = events.into_iter().filter_map(|event| match event {
        Event::Compute(OpClass::Tensor, writes, reads) => Some((writes.len(), reads.len())),
        _ => None,
    });
    assert_eq!(tensor.collect::<Vec<_>>(), [(4, 16), (4, 16), (2, 4)]);
}
