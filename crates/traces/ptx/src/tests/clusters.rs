//! Instructions of CTA clusters.

use super::{assert_refused, first, op};
use crate::*;

#[test]
fn addresses_are_mapped_in_their_space() {
    let map = first("mapa.shared::cluster.u32 %r1, %r2, 3;");
    assert_eq!(map.op, Op::Cluster(ClusterOp::Map(Space::Cluster)));
    assert_eq!((map.dests.len(), map.sources.len()), (1, 2));
    let variable = first("mapa.shared::cluster.u64 %rd1, tile+4, %r1;");
    assert!(matches!(variable.sources[0], Value::Variable(_, 4)), "{variable:?}");
    assert_eq!(op("mapa.u64 %rd1, %rd2, %r1;"), Op::Cluster(ClusterOp::Map(Space::Generic)));
    let rank = op("getctarank.shared::cluster.u32 %r1, %r2;");
    assert_eq!(rank, Op::Cluster(ClusterOp::Rank(Space::Cluster)));
    assert_eq!(op("getctarank.u64 %r1, %rd1;"), Op::Cluster(ClusterOp::Rank(Space::Generic)));
    assert_eq!(op("isspacep.shared::cluster %p1, %rd1;"), Op::IsSpace(Space::Cluster));
    assert_refused("mapa.shared::cta.u32 %r1, %r2, 3;", "expected a type of `mapa`");
    assert_refused("mapa.shared::cluster.s32 %r1, %r2, 3;", "`mapa` of type `.s32`");
}

#[test]
fn accesses_decode_the_cluster_space() {
    let Op::Load(load) = op("ld.acquire.cluster.shared::cluster.u32 %r1, [%r2+8];") else {
        panic!()
    };
    assert_eq!((load.space, load.offset), (Space::Cluster, 8));
    let Op::Store(store) = op("st.shared::cluster.v2.u32 [%r2], {%r1, %r3};") else { panic!() };
    assert_eq!((store.space, store.elements), (Space::Cluster, 2));
    let Op::Atomic(atomic) = op("atom.relaxed.cluster.shared::cluster.add.u32 %r1, [%r2], 1;")
    else {
        panic!()
    };
    assert_eq!(atomic.space, Space::Cluster);
}

#[test]
fn the_barrier_of_a_cluster_has_two_halves() {
    for arrive in ["", ".aligned", ".release", ".relaxed.aligned"] {
        let code = format!("barrier.cluster.arrive{arrive};");
        assert_eq!(op(&code), Op::ClusterBarrier(ClusterBarrier::Arrive), "{code}");
    }
    for wait in ["", ".acquire.aligned", ".aligned"] {
        let code = format!("barrier.cluster.wait{wait};");
        assert_eq!(op(&code), Op::ClusterBarrier(ClusterBarrier::Wait), "{code}");
    }
    assert_refused("barrier.cluster.sync;", "`barrier.cluster` lacks `.arrive` or `.wait`");
    assert_refused("barrier.cluster.wait.relaxed;", "modifier `.relaxed`");
}

#[test]
fn asynchronous_stores_and_reductions_name_their_mbarriers() {
    let completes = "mbarrier::complete_tx::bytes";
    let store = first(&format!(
        "st.async.weak.shared::cluster.{completes}.v2.b32 [%r1+8], {{%r2, %r3}}, [%r4+16];"
    ));
    let Op::Cluster(ClusterOp::Store { access, mbarrier }) = store.op else { panic!("{store:?}") };
    assert_eq!((access.space, access.elements, access.offset), (Space::Cluster, 2, 8));
    assert_eq!((mbarrier, store.sources.len()), (16, 4));
    let reduce =
        first(&format!("red.async.relaxed.cluster.{completes}.add.u64 [%rd1], %rd2, [%rd3+8];"));
    let Op::Cluster(ClusterOp::Reduce { atomic, mbarrier }) = reduce.op else { panic!() };
    assert_eq!((atomic.space, atomic.op, atomic.ty), (Space::Generic, AtomicOp::Add, Type::U64));
    assert_eq!((mbarrier, reduce.sources.len()), (8, 3));
    let reduce = |rest: &str| format!("red.async.relaxed.cluster.{completes}.{rest}");
    for (code, reason) in [
        (
            format!("st.async.{completes}.v4.b32 [%r1], {{%r2, %r3}}, [%r4];"),
            "2 registers for 4 elements",
        ),
        ("st.async.release.gpu.global.u32 [%rd1], %r1;".into(), "mbarrier::complete_tx::bytes"),
        (format!("red.async.{completes}.add.u32 [%r1], %r2, [%r3];"), "`.relaxed`"),
        (reduce("exch.b32 [%r1], %r2, [%r3];"), "is not an instruction"),
        (reduce("add.f32 [%r1], %f2, [%r3];"), "`red.async` of type `.f32` is not an instruction"),
    ] {
        assert_refused(&code, reason);
    }
}

#[test]
fn remote_mbarriers_only_support_arrival() {
    let space = |code: &str| match op(code) {
        Op::Mbarrier { space, .. } => space,
        other => panic!("{other:?}"),
    };
    for (code, expected) in [
        ("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1];", Space::Cluster),
        ("mbarrier.arrive_drop.shared::cluster.b64 _, [%r1], 2;", Space::Cluster),
        ("mbarrier.arrive.expect_tx.shared::cluster.b64 _, [%r1], 64;", Space::Cluster),
        ("mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r1], 64;", Space::Cluster),
        ("mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r1], 0;", Space::Shared),
        ("mbarrier.arrive.release.cluster.b64 _, [%rd1];", Space::Generic),
    ] {
        assert_eq!(space(code), expected, "{code}");
    }
    assert_refused(
        "mbarrier.arrive.shared::cluster.b64 %rd1, [%r1];",
        "returns no state: write `_`",
    );
    assert_refused(
        "mbarrier.try_wait.parity.shared::cluster.b64 %p1, [%r1], 0;",
        "`mbarrier.try_wait` of `.shared::cluster` is not an instruction",
    );
    assert_refused("mbarrier.init.shared::cluster.b64 [%r1], 1;", "is not an instruction");
}

#[test]
fn bulk_copies_target_other_ctas() {
    let completes = "mbarrier::complete_tx::bytes";
    let share = first(&format!(
        "cp.async.bulk.shared::cluster.shared::cta.{completes} [%r1+16], [%r2+32], %r4, [%r3+8];"
    ));
    assert_eq!(share.op, Op::Bulk { f: Bulk::Share, offsets: [16, 32, 8] });
    let multicast = first(&format!(
        "cp.async.bulk.shared::cluster.global.{completes}.multicast::cluster.L2::cache_hint \
         [%r1], [%rd1], 16, [%r3], %rs1, %rd2;"
    ));
    assert_eq!(multicast.op, Op::Bulk { f: Bulk::Multicast, offsets: [0; 3] });
    assert_eq!(multicast.sources.len(), 5, "the policy has no effect");
}
