//! Bulk copies through tensor maps. Accepted forms are accepted by ptxas 13.0,
//! and forms refused as invalid are refused by it.

use super::{assert_refused, first};
use crate::*;

#[test]
fn loads_decode_map_coordinates_and_mbarrier() {
    let register = |class, index| Value::Register(Register { class, index });
    // The eight 16-bit registers precede the 32-bit registers.
    let expected = [
        register(RegisterClass::Narrow, 9),
        register(RegisterClass::Wide, 1),
        register(RegisterClass::Narrow, 10),
        Value::Bits(0xffff_fffd),
        register(RegisterClass::Narrow, 11),
    ];
    for (modifiers, policy) in [
        ("shared::cluster.global.mbarrier::complete_tx::bytes", ""),
        ("shared::cta.global.mbarrier::complete_tx::bytes", ""),
        ("shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint", ", %rd2"),
    ] {
        let load = first(&format!(
            "cp.async.bulk.tensor.2d.{modifiers} [%r1+128], [%rd1, {{%r2, -3}}], [%r3+8]{policy};"
        ));
        assert_eq!(load.op, Op::Tensor { f: TensorCopy::Load, rank: 2, offsets: [128, 8] });
        assert_eq!((&load.sources[..], load.dests.len()), (&expected[..], 0), "{modifiers}");
    }
}

#[test]
fn multicast_loads_name_the_ctas_last() {
    let multicast = first(
        "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster\
         .L2::cache_hint [%r1], [%rd1, {%r2}], [%r3], %rs1, %rd2;",
    );
    assert_eq!(multicast.op, Op::Tensor { f: TensorCopy::Multicast, rank: 1, offsets: [0; 2] });
    assert_eq!(multicast.sources.len(), 5);
}

#[test]
fn stores_and_reductions_name_the_map_first() {
    for (code, f) in [
        ("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group", TensorCopy::Store),
        ("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group", TensorCopy::Store),
        (
            "cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.bulk_group",
            TensorCopy::Reduce(AtomicOp::Add),
        ),
        (
            "cp.reduce.async.bulk.tensor.3d.global.shared::cta.inc.tile.bulk_group",
            TensorCopy::Reduce(AtomicOp::Increment),
        ),
    ] {
        for (hint, policy) in [("", ""), (".L2::cache_hint", ", %rd3")] {
            let operands = format!("[%rd1, {{%r1, %r2, %r3}}], [%r4+256]{policy}");
            let store = first(&format!("{code}{hint} {operands};"));
            assert_eq!(store.op, Op::Tensor { f, rank: 3, offsets: [256, 0] });
            assert_eq!(store.sources.len(), 5);
        }
    }
}

#[test]
fn prefetches_have_no_shared_memory_operand() {
    for rank in 1..=5u8 {
        let coordinates = ["%r1"; 5][..rank.into()].join(", ");
        let at = format!("[%rd1, {{{coordinates}}}]");
        let prefetch = first(&format!("cp.async.bulk.prefetch.tensor.{rank}d.L2.global {at};"));
        let f = TensorCopy::Prefetch;
        assert_eq!(prefetch.op, Op::Tensor { f, rank, offsets: [0; 2] });
        assert_eq!(prefetch.sources.len(), usize::from(rank) + 1);
    }
    let hinted =
        "cp.async.bulk.prefetch.tensor.1d.L2.global.tile.L2::cache_hint [%rd1, {%r1}], %rd2;";
    assert_eq!(first(hinted).sources.len(), 2);
    for prefetch in ["prefetch.tensormap [%rd1]", "prefetch.param.tensormap [%rd1]"] {
        assert!(matches!(first(&format!("{prefetch};")).op, Op::Prefetch { offset: 0, .. }));
    }
}

#[test]
fn unsupported_modes_and_targets_are_refused_by_name() {
    const LOAD: &str = "cp.async.bulk.tensor.3d.shared::cluster.global";
    const BYTES: &str = "mbarrier::complete_tx::bytes";
    const AT: &str = "[%r1], [%rd1, {%r2, %r3, %r4}], [%r5]";
    const STORE: &str = "cp.async.bulk.tensor.3d.global.shared::cta";
    const TO: &str = "[%rd1, {%r2, %r3, %r4}], [%r1]";
    for (code, reason) in [
        (format!("{LOAD}.im2col.{BYTES} {AT}, {{%rs1}};"), "mode `.im2col` of tensor copies"),
        (format!("{LOAD}.im2col::w.{BYTES} {AT}, {{%rs1, %rs2}};"), "mode `.im2col::w`"),
        (format!("{LOAD}.tile::gather4.{BYTES} {AT};"), "mode `.tile::gather4`"),
        (format!("{STORE}.im2col_no_offs.bulk_group {TO};"), "mode `.im2col_no_offs`"),
        (format!("{STORE}.tile::scatter4.bulk_group {TO};"), "mode `.tile::scatter4`"),
        (
            format!("{LOAD}.{BYTES}.multicast::cluster {AT}, %rs1;")
                .replace("cluster.global", "cta.global"),
            "`.multicast::cluster` of tensor copies is not supported",
        ),
        (format!("{LOAD}.{BYTES}.cta_group::2 {AT};"), "`.cta_group::2` of tensor copies"),
    ] {
        assert_refused(&code, reason);
    }
}

#[test]
fn invalid_instructions_are_refused_with_the_reason() {
    for (code, reason) in [
        (
            "cp.async.bulk.tensor.6d.global.shared::cta.bulk_group [%rd1, {%r1}], [%r2];",
            "a dimension, `.1d` to `.5d`,",
        ),
        (
            "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {%r1}], [%r2];",
            "1 coordinates for a box of 2 dimensions",
        ),
        (
            "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd1], [%r2];",
            "a tensor map and its coordinates",
        ),
        (
            "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd1, %rd2, {%r1}], [%r2];",
            "one vector of coordinates",
        ),
        (
            "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%r1, {%r1}], [%r2];",
            "64-bit register",
        ),
        (
            "cp.reduce.async.bulk.tensor.1d.global.shared::cta.cas.bulk_group [%rd1, {%r1}], [%r2];",
            "is not an instruction",
        ),
        ("cp.async.bulk.tensor.1d.bulk_group [%rd1, {%r1}], [%r2];", "lacks its spaces"),
    ] {
        assert_refused(code, reason);
    }
}
