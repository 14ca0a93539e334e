//! Loads, stores, atomics, copies.

use super::coverage::tests;
use super::{Machine, kernel, result, tids};

tests!(
    widths_and_signs_of_loads,
    generic_addresses_reach_every_space,
    atomics_are_carried_out_lane_after_lane,
    copies_fill_shared_memory_and_zero_what_they_do_not_read,
    addresses_in_narrow_registers_wrap
);

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
fn atomics_are_carried_out_lane_after_lane() {
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
fn copies_fill_shared_memory_and_zero_what_they_do_not_read() {
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
