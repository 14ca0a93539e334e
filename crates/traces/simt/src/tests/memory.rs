//! Loads, stores, atomics, copies.

use super::coverage::tests;
use super::{Machine, kernel, result, tids};

tests!(
    widths_and_signs_of_loads,
    generic_addresses_reach_every_space,
    atomics_execute_lane_by_lane,
    copies_zero_the_bytes_they_do_not_read,
    addresses_in_narrow_registers_wrap,
    copies_ignore_their_source_if_the_predicate_holds,
    words_of_128_bits,
    words_of_128_bits_are_exchanged_atomically,
    vectors_of_16_bytes_are_added
);

/// Each thread has its own 16 bytes at [%rd4], in global, shared or local memory.
const SIXTEEN_BYTES: [&str; 3] = [
    "add.u64 %rd4, %rd1, %rd0;\n",
    "mov.u64 %rd4, tile;\nadd.u64 %rd4, %rd4, %rd0;\nadd.u64 %rd4, %rd4, %rd0;\ncvta.shared.u64 %rd4, %rd4;\n",
    ".local .align 16 .b8 word[16];\nmov.u64 %rd4, word;\ncvta.local.u64 %rd4, %rd4;\n",
];

fn words_after(code: &str) -> Vec<u64> {
    let mut machine = Machine::new(64);
    machine.run(&kernel(code), 1, 32).unwrap_or_else(|error| panic!("{error}\n{code}"));
    machine.get(2)
}

#[test]
fn words_of_128_bits() {
    for place in SIXTEEN_BYTES {
        let code = format!(
            ".reg .b128 %q<4>;\n{place}add.u64 %rd5, %rd0, 3;\nmov.b128 %q0, {{%rd0, %rd5}};\n\
             st.b128 [%rd4], %q0;\nld.b128 %q1, [%rd4];\nmov.b128 %q2, %q1;\n\
             mov.b128 {{%r1, %r2, %r3, %r4}}, %q2;\nmov.b128 %q3, {{%r3, %r2, %r1, %r4}};\n\
             add.u64 %rd3, %rd3, %rd0;\nst.global.b128 [%rd3], %q3;\n"
        );
        let expected = (0..32).flat_map(|t| [8 * t + 3, 8 * t]).collect::<Vec<u64>>();
        assert_eq!(words_after(&code), expected, "{place}");
    }
}

/// Thread t swaps (7, t) for (t, t + 1) if the word is (7, t % 2): both halves are compared.
#[test]
fn words_of_128_bits_are_exchanged_atomically() {
    for place in &SIXTEEN_BYTES[..2] {
        let code = format!(
            ".reg .b128 %q<5>;\n{place}cvt.u64.u32 %rd5, %r0;\nadd.u64 %rd6, %rd5, 1;\nand.b64 %rd7, %rd5, 1;\n\
             mov.b128 %q0, {{7, %rd5}};\natom.exch.b128 %q1, [%rd4], %q0;\n\
             mov.b128 %q2, {{7, %rd7}};\nmov.b128 %q3, {{%rd5, %rd6}};\natom.cas.b128 %q4, [%rd4], %q2, %q3;\n\
             mov.b128 {{%rd8, %rd9}}, %q4;\nsetp.ne.u64 %p1, %rd8, 7;\nsetp.ne.or.u64 %p1, %rd9, %rd5, %p1;\n@%p1 trap;\n\
             ld.b128 %q1, [%rd4];\nadd.u64 %rd3, %rd3, %rd0;\nst.global.b128 [%rd3], %q1;\n"
        );
        let left = |t: u64| if t < 2 { [t, t + 1] } else { [7, t] };
        assert_eq!(words_after(&code), (0..32).flat_map(left).collect::<Vec<u64>>(), "{place}");
    }
}

#[test]
fn vectors_of_16_bytes_are_added() {
    let code = "add.u64 %rd3, %rd3, %rd0;\ncvt.rn.f32.u32 %f1, %r0;\nmov.f32 %f2, 0f40000000;\n\
                st.global.v4.f32 [%rd3], {%f2, %f1, %f2, %f1};\n\
                red.global.add.v4.f32 [%rd3], {%f1, %f2, %f2, %f1};\n\
                atom.global.add.v4.f32 {%f3, %f4, %f5, %f6}, [%rd3], {%f2, %f2, %f2, %f2};\n\
                setp.neu.f32 %p1, %f5, 0f40800000;\nsetp.neu.or.f32 %p1, %f3, %f4, %p1;\n@%p1 trap;";
    let pair = |low: f32, high: f32| u64::from(low.to_bits()) | u64::from(high.to_bits()) << 32;
    let expected =
        (0..32).map(|t| t as f32).flat_map(|t| [pair(t + 4.0, t + 4.0), pair(6.0, 2.0 * t + 2.0)]);
    assert_eq!(words_after(code), expected.collect::<Vec<u64>>());
}

/// As compilers write `tile[tid - 16 + 17]`.
#[test]
fn addresses_in_narrow_registers_wrap() {
    let got = result(
        "mov.u32 %r1, tile;\nshl.b32 %r2, %r0, 2;\nadd.u32 %r1, %r1, %r2;\nst.shared.u32 [%r1], %r0;\nbar.sync 0;\n\
         sub.u32 %r1, %r1, 64;\nld.shared.u32 %r3, [%r1+64];\nst.global.u32 [%rd3], %r3;",
        &tids(),
        &[],
    );
    assert_eq!(got, tids());
}

#[test]
fn widths_and_signs_of_loads() {
    let a = vec![0xfedc_ba98_7654_32f1; 32];
    let load = |instruction: &str| {
        result(&format!("{instruction}\nst.global.u64 [%rd3], %rd4;"), &a, &[])[0]
    };
    assert_eq!(load("ld.global.u8 %rd4, [%rd1];"), 0xf1);
    assert_eq!(load("ld.global.s8 %rd4, [%rd1];"), 0xffff_ffff_ffff_fff1);
    assert_eq!(load("ld.global.s16 %rd4, [%rd1+6];"), 0xffff_ffff_ffff_fedc);
    assert_eq!(load("ld.global.u32 %rd4, [%rd1+4];"), 0xfedc_ba98);
    assert_eq!(load("ld.global.s32 %rd4, [%rd1+4];"), 0xffff_ffff_fedc_ba98);
    assert_eq!(load("ld.global.nc.u64 %rd4, [%rd1];"), 0xfedc_ba98_7654_32f1);
    let vector = result(
        "ld.global.v2.u32 {%r1, %r2}, [%rd1];\nst.global.v2.u32 [%rd3], {%r2, %r1};",
        &a,
        &[],
    );
    assert_eq!(vector[0], 0x7654_32f1_fedc_ba98);
    let bytes = result(
        "ld.global.v4.u8 {%h1, %h2, %h3, %h4}, [%rd1];\nst.global.v4.u8 [%rd3], {%h4, %h3, %h2, %h1};",
        &a,
        &[],
    );
    assert_eq!(bytes[0], 0xf132_5476);
}

#[test]
fn generic_addresses_reach_every_space() {
    let got = result(
        "mov.u64 %rd4, tile;\ncvta.shared.u64 %rd5, %rd4;\nadd.u64 %rd5, %rd5, %rd0;\nst.u32 [%rd5], %r0;\nisspacep.shared %p1, %rd5;\n\
         isspacep.global %p2, %rd3;\ncvta.to.shared.u64 %rd6, %rd5;\nld.shared.u32 %r1, [%rd6];\nselp.b32 %r2, 100, 0, %p1;\nadd.u32 %r1, %r1, %r2;\n\
         selp.b32 %r2, 1000, 0, %p2;\nadd.u32 %r1, %r1, %r2;\nst.u32 [%rd3], %r1;",
        &tids(),
        &[],
    );
    assert_eq!(got, (1100..1132).collect::<Vec<_>>());
}

#[test]
fn atomics_execute_lane_by_lane() {
    let mut machine = Machine::new(64);
    let code = "ld.param.u64 %rd4, [b];\natom.global.add.u32 %r1, [%rd4], 2;\nst.global.u32 [%rd3], %r1;\n\
                red.global.max.s32 [%rd4+8], %r0;\natom.global.inc.u32 _, [%rd4+16], 9;\natom.global.exch.b32 %r2, [%rd4+24], %r0;\n\
                atom.global.cas.b32 %r3, [%rd4+32], 0, 5;\nred.global.add.f32 [%rd4+40], 0f3F000000;\natom.global.min.u64 %rd5, [%rd4+48], 3;\n\
                red.global.or.b32 [%rd4+56], 6;";
    machine.run(&kernel(code), 1, 64).unwrap();
    assert_eq!(machine.get(2), (0..64).map(|n| 2 * n).collect::<Vec<_>>());
    let b = machine.get(1);
    assert_eq!(b[..5], [128, 63, 64 % 10, 63, 5]);
    assert_eq!((f32::from_bits(b[5] as u32), b[6], b[7]), (32.0, 0, 6));
}

#[test]
fn copies_zero_the_bytes_they_do_not_read() {
    let a: Vec<u64> = (0..32).map(|n| 0x0101_0101_0101_0101 * (n + 1)).collect();
    let got = result(
        "shl.b32 %r1, %r0, 3;\nmov.u32 %r2, tile;\nadd.u32 %r2, %r2, %r1;\nst.shared.u64 [%r2], -1;\n\
         and.b32 %r4, %r0, 4;\ncp.async.ca.shared.global [%r2], [%rd1], 8, %r4;\ncp.async.commit_group;\ncp.async.wait_group 0;\n\
         ld.shared.u64 %rd4, [%r2];\nst.global.u64 [%rd3], %rd4;",
        &a,
        &[],
    );
    for (t, &got) in got.iter().enumerate() {
        assert_eq!(got, if t & 4 == 4 { a[t] & 0xffff_ffff } else { 0 });
    }
}

#[test]
fn copies_ignore_their_source_if_the_predicate_holds() {
    let a: Vec<u64> = (0..32).map(|n| n + 7).collect();
    for (predicate, ignored) in [("%p1", 1), ("!%p1", 0)] {
        let code = format!(
            "shl.b32 %r1, %r0, 3;\nmov.u32 %r2, tile;\nadd.u32 %r2, %r2, %r1;\nst.shared.u64 [%r2], -1;\n\
             and.b32 %r4, %r0, 1;\nsetp.ne.u32 %p1, %r4, 0;\n\
             cp.async.ca.shared.global [%r2], [%rd1], 8, {predicate};\ncp.async.wait_all;\n\
             ld.shared.u64 %rd4, [%r2];\nst.global.u64 [%rd3], %rd4;"
        );
        let expected = a.iter().enumerate().map(|(t, &a)| if t % 2 == ignored { 0 } else { a });
        assert_eq!(result(&code, &a, &[]), expected.collect::<Vec<_>>());
    }
}
