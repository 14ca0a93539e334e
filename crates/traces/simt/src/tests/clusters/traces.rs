//! Trace records of clusters.

use warpmem_trace::{ClusterAddress, Kind, Mbarrier, Record, Space, Trace};

use super::super::{Machine, recorded};
use super::{NEXT, PLACE, SYNC, launch, wait_at};
use crate::{Launch, Limits};

/// Kind, space, bytes, destinations, mask and addresses of a record; global addresses are relative to the
/// first array.
type Access = (Kind, Space, u32, u16, u32, Vec<u64>);

/// Coordinates of a CTA, and records of its first warp.
type Cta = ([u32; 3], Vec<Access>);

fn traced(code: &str, launch: impl Fn(&Machine) -> Launch) -> (Trace, Vec<Cta>) {
    let mut machine = Machine::new(8 * 32);
    let launch = launch(&machine);
    let code = format!("{PLACE}{code}");
    let (_, bytes) = recorded(&mut machine, &code, &launch, Limits::default())
        .unwrap_or_else(|error| panic!("{error}"));
    let trace = Trace::from_bytes("k.wmt", bytes).unwrap();
    let instructions = trace.instructions(0).unwrap();
    let mut ctas = Vec::new();
    for number in trace.kernels()[0].chunks.clone() {
        let chunk = trace.chunk(0, number).unwrap();
        for (cta, entry) in chunk.ctas().iter().enumerate() {
            let (mut cursor, mut record) = (chunk.warp(cta, 0), Record::new());
            let mut accesses = Vec::new();
            while cursor.next(&mut record).unwrap() {
                let i = &instructions[record.instruction.0 as usize];
                let base = if i.space == Space::Global { machine.arrays[0] } else { 0 };
                let addresses = record.active_addresses().iter().map(|a| a - base).collect();
                accesses.push((i.kind, i.space, i.width, i.destinations, record.mask, addresses));
            }
            ctas.push((entry.block, accesses));
        }
    }
    (trace, ctas)
}

/// Returns the records, except barriers, of the CTA of rank 1 in the first of two clusters of four.
fn accesses(code: &str) -> Vec<Access> {
    let (_, ctas) = traced(code, |machine| launch(machine, 8, 32, 4));
    let is_access = |access: &Access| access.2 > 0;
    ctas[1].1.iter().filter(|access| is_access(access)).cloned().collect()
}

fn at(rank: u32, offset: u32) -> u64 {
    ClusterAddress { rank, offset }.encode()
}

#[test]
fn ctas_are_written_cluster_by_cluster_in_rank_order() {
    for cluster in [[2, 1, 1], [2, 2, 1], [1, 2, 2], [2, 2, 2], [4, 2, 1]] {
        let grid = [4, 4, 2];
        let (trace, ctas) =
            traced("", |machine| Launch { grid, cluster: Some(cluster), ..machine.launch(1, 32) });
        assert_eq!(trace.kernels()[0].info.cluster, Some(cluster));
        let axis = |of: usize| (0..grid[of]).collect::<Vec<_>>();
        let mut expected = Vec::new();
        for z in axis(2) {
            for y in axis(1) {
                expected.extend(axis(0).into_iter().map(|x| [x, y, z]));
            }
        }
        // Clusters in grid order, then the CTAs within each; z is the most significant digit.
        expected.sort_by_key(|block: &[u32; 3]| {
            let reversed = |f: fn(u32, u32) -> u32| [2, 1, 0].map(|of| f(block[of], cluster[of]));
            (reversed(|at, side| at / side), reversed(|at, side| at % side))
        });
        assert_eq!(ctas.iter().map(|cta| cta.0).collect::<Vec<_>>(), expected, "{cluster:?}");
    }
}

#[test]
fn barrier_halves_are_recorded() {
    let (_, ctas) = traced(SYNC, |machine| launch(machine, 4, 32, 2));
    for (_, records) in ctas {
        let halves: Vec<_> = records.iter().map(|r| (r.0, r.1, r.4)).collect();
        let half = |kind| (kind, Space::None, u32::MAX);
        let expected = [half(Kind::ClusterArrive), half(Kind::ClusterWait), half(Kind::Exit)];
        assert_eq!(halves, expected);
    }
}

/// The trace counts arrivals by warp.
#[test]
fn divergent_lanes_record_one_arrival() {
    let code = "setp.lt.u32 %p1, %r0, 7;\n@%p1 bra A;\nbarrier.cluster.arrive;\nbra B;\nA: barrier.cluster.arrive;\nB: barrier.cluster.wait;\n";
    let (_, ctas) = traced(code, |machine| launch(machine, 2, 32, 2));
    let arrivals = |records: &[Access]| {
        records.iter().filter(|r| r.0 == Kind::ClusterArrive).map(|r| r.4).collect::<Vec<_>>()
    };
    assert!(ctas.iter().all(|(_, records)| arrivals(records) == [u32::MAX]));
}

/// The lanes that access another CTA decide the space: none, all, or some.
#[test]
fn accesses_to_other_ctas_use_the_cluster_space() {
    let load = |rank: &str, instruction: &str| {
        let code = format!(
            "mov.u32 %r1, tile;\nmad.lo.u32 %r1, %r0, 4, %r1;\n{rank}mapa.shared::cluster.u32 %r2, %r1, %r46;\n\
             cvt.u64.u32 %rd4, %r2;\ncvta.shared::cluster.u64 %rd5, %rd4;\n{instruction}\n{SYNC}"
        );
        accesses(&code).remove(0)
    };
    let own = "mov.u32 %r46, %r43;\n";
    let third = "mov.u32 %r46, 3;\n";
    let each = "and.b32 %r46, %r0, 3;\n";
    let words =
        |rank: fn(u32) -> u32| (0..32).map(|lane| at(rank(lane), 4 * lane)).collect::<Vec<_>>();
    let all = u32::MAX;
    for instruction in ["ld.shared::cluster.u32 %r3, [%r2];", "ld.u32 %r3, [%rd5];"] {
        let shared = (Kind::Load, Space::Shared, 4, 0, all, words(|_| 0));
        assert_eq!(load(own, instruction), shared, "{instruction}: the access stays within the SM");
        assert_eq!(load(third, instruction), (Kind::Load, Space::Cluster, 4, 0, all, words(|_| 3)));
        assert_eq!(
            load(each, instruction),
            (Kind::Load, Space::Cluster, 4, 0, all, words(|lane| lane % 4))
        );
    }
    let store = load(third, "st.shared::cluster.u32 [%r2], %r0;");
    assert_eq!((store.0, store.1), (Kind::Store, Space::Cluster));
    let atomic = load(third, "atom.shared::cluster.exch.b32 %r3, [%r2], 1;");
    assert_eq!((atomic.0, atomic.1), (Kind::Atomic, Space::Cluster));
    let reduction = load(third, "red.shared::cluster.add.u32 [%r2], 1;");
    assert_eq!((reduction.0, reduction.1), (Kind::Reduction, Space::Cluster));
    let plain = load(own, "ld.shared.u32 %r3, [tile+8];");
    assert_eq!(plain, (Kind::Load, Space::Shared, 4, 0, all, vec![8; 32]));
}

const INIT: &str =
    "setp.eq.u32 %p1, %r0, 0;\n@%p1 mbarrier.init.shared::cta.b64 [tile+2048], 40;\n";

/// Returns the first accesses of lane 0 after the mbarrier's initialization, by one instruction of the CTA of
/// rank 1; the next CTA has rank 2, data at %r2 and mbarrier at %r3.
fn first(code: &str) -> Access {
    let code = format!(
        "{INIT}{SYNC}{NEXT}mapa.shared::cluster.u32 %r2, tile+16, %r45;\nmapa.shared::cluster.u32 %r3, tile+2048, %r45;\n\
         mov.u16 %h1, 10;\nmov.u16 %h2, 2;\nsetp.eq.u32 %p2, %r43, 1;\nand.pred %p1, %p1, %p2;\n@!%p1 bra END;\n{code}\nEND: {SYNC}"
    );
    accesses(&code).remove(1)
}

#[test]
fn remote_arrivals_are_eight_byte_reductions() {
    for arrive in [
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3];",
        "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%r3], 16;",
        "mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%r3], 16;",
    ] {
        let expected = (Kind::Reduction, Space::Cluster, 8, 0, 1, vec![at(2, 2048)]);
        assert_eq!(first(arrive), expected, "{arrive}");
    }
    let own = "mapa.shared::cluster.u32 %r3, tile+2048, 1;\nmbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3];";
    assert_eq!(first(own), (Kind::Reduction, Space::Shared, 8, 0, 1, vec![2048]));
}

const COMPLETES: &str = "mbarrier::complete_tx::bytes";

#[test]
fn asynchronous_stores_and_reductions_are_recorded_as_such() {
    let store = first(&format!(
        "st.async.shared::cluster.{COMPLETES}.v4.u32 [%r2], {{%r0, %r0, %r0, %r0}}, [%r3];"
    ));
    assert_eq!(store, (Kind::Store, Space::Cluster, 16, 0, 1, vec![at(2, 16)]));
    let reduce = first(&format!(
        "red.async.relaxed.cluster.shared::cluster.{COMPLETES}.add.u32 [%r2], %r0, [%r3];"
    ));
    assert_eq!(reduce, (Kind::Reduction, Space::Cluster, 4, 0, 1, vec![at(2, 16)]));
}

#[test]
fn bulk_copies_record_their_destination() {
    let share = first(&format!(
        "cp.async.bulk.shared::cluster.shared::cta.{COMPLETES} [%r2], [tile], 1024, [%r3];"
    ));
    assert_eq!(share, (Kind::AsyncCopy, Space::Cluster, 1024, 0, 1, vec![at(2, 16)]));
    // The words of the CTA start 256 bytes into the first array.
    let load = |operands: &str, variant: &str| {
        first(&format!("cp.async.bulk.shared::cluster.global.{COMPLETES}{variant} {operands};"))
    };
    let global = |destinations| (Kind::AsyncCopy, Space::Global, 256, destinations, 1, vec![256]);
    assert_eq!(load("[tile+16], [%rd41], 256, [tile+2048]", ""), global(0), "the own CTA");
    assert_eq!(load("[%r2], [%rd41], 256, [%r3]", ""), global(0b100), "the next one");
    let multicast = ".multicast::cluster";
    assert_eq!(load("[tile+16], [%rd41], 256, [tile+2048], %h1", multicast), global(0b1010));
    assert_eq!(
        load("[tile+16], [%rd41], 256, [tile+2048], %h2", multicast),
        global(0),
        "only the CTA itself"
    );
}

/// Two lanes of the CTA of rank 1 load for ranks 1 and 3, and for ranks 0 and 1.
#[test]
fn lanes_with_different_destinations_are_recorded_separately() {
    let code = format!(
        "setp.eq.u32 %p1, %r0, 0;\n@%p1 mbarrier.init.shared::cta.b64 [tile+2048], 1;\n{SYNC}\
         setp.lt.u32 %p2, %r0, 2;\nsetp.eq.u32 %p3, %r43, 1;\nand.pred %p2, %p2, %p3;\n@!%p2 bra END;\n\
         and.pred %p1, %p1, %p2;\n@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 %rd9, [tile+2048], 32;\n\
         selp.b32 %r1, 10, 3, %p1;\ncvt.u16.u32 %h1, %r1;\nmul.wide.u32 %rd5, %r0, 8;\nadd.u64 %rd5, %rd41, %rd5;\n\
         shl.b32 %r2, %r0, 4;\nmov.u32 %r3, tile;\nadd.u32 %r2, %r2, %r3;\n\
         cp.async.bulk.shared::cluster.global.{COMPLETES}.multicast::cluster \
         [%r2], [%rd5], 16, [tile+2048], %h1;\n{}END: {SYNC}",
        wait_at("tile+2048"),
    );
    let (trace, ctas) = traced(&code, |machine| launch(machine, 4, 32, 4));
    let copies = ctas[1].1.iter().filter(|access| access.0 == Kind::AsyncCopy);
    let parts: Vec<_> = copies.map(|access| (access.3, access.4)).collect();
    assert_eq!(parts, [(0b1010, 0b01), (0b0011, 0b10)]);
    let instructions = trace.instructions(0).unwrap();
    let signal = Some(Mbarrier::Signal { offset: 2048 });
    let copies = instructions.iter().filter(|i| i.destinations != 0);
    assert!(copies.clone().count() == 2 && copies.clone().all(|i| i.mbarrier == signal));
}

/// Each CTA's mbarrier at this offset counts the bytes that arrive in that CTA.
#[test]
fn copies_signal_the_destinations_mbarrier() {
    let copy =
        |operands: &str| format!("cp.async.bulk.shared::cluster.global.{COMPLETES} {operands};\n");
    let code = format!(
        "setp.eq.u32 %p1, %r0, 0;\n@%p1 mbarrier.init.shared::cta.b64 [tile+2048], 1;\n{SYNC}{NEXT}\
         mapa.shared::cluster.u32 %r2, tile+512, %r45;\nmapa.shared::cluster.u32 %r3, tile+2048, %r45;\n\
         @!%p1 bra WAIT;\nmbarrier.arrive.expect_tx.shared::cta.b64 %rd9, [tile+2048], 512;\n{}{}WAIT: {}{SYNC}",
        copy("[%r2], [%rd41], 256, [%r3]"),
        copy("[tile], [%rd41], 256, [tile+2048]"),
        wait_at("tile+2048"),
    );
    let (trace, _) = traced(&code, |machine| launch(machine, 4, 32, 4));
    let instructions = trace.instructions(0).unwrap();
    let copies = instructions.iter().filter(|i| i.kind == Kind::AsyncCopy);
    let signal = Some(Mbarrier::Signal { offset: 2048 });
    let mut goes: Vec<_> = copies.map(|i| (i.destinations == 0, i.mbarrier == signal)).collect();
    goes.sort_unstable();
    goes.dedup();
    assert_eq!(goes, [(false, true), (true, true)]);
}
