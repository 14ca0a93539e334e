//! The cluster barrier.

use super::super::Machine;
use super::super::coverage::tests;
use super::{SYNC, expected, launch, left, peer, run};

tests!(
    writes_before_the_arrival_are_visible_after_the_wait,
    the_lanes_of_a_warp_arrive_together,
    exited_threads_are_not_waited_for
);

/// A CTA continues between the halves; after the second it sees everything that the others did before the
/// first.
#[test]
pub(super) fn writes_before_the_arrival_are_visible_after_the_wait() {
    for (arrive, wait) in [
        ("barrier.cluster.arrive", "barrier.cluster.wait"),
        ("barrier.cluster.arrive.release.aligned", "barrier.cluster.wait.acquire.aligned"),
        ("fence.acq_rel.cluster;\nbarrier.cluster.arrive.relaxed", "barrier.cluster.wait"),
    ] {
        let code = format!(
            "mov.u32 %r1, 0;\nmov.u32 %r2, 0;\nmov.u32 %r3, tile;\nmad.lo.u32 %r4, %r0, 4, %r3;\n\
             ROUND: mad.lo.u32 %r5, %r1, 1000, %r40;\nst.shared.u32 [%r4], %r5;\n{arrive};\n\
             add.u32 %r6, %r1, 1;\nadd.u32 %r7, %r43, %r6;\nrem.u32 %r7, %r7, %r44;\n\
             mapa.shared::cluster.u32 %r8, %r4, %r7;\n{wait};\nld.shared::cluster.u32 %r9, [%r8];\n\
             add.u32 %r2, %r2, %r9;\n{SYNC}mov.u32 %r1, %r6;\nsetp.lt.u32 %p1, %r1, 3;\n@%p1 bra ROUND;\n\
             st.global.u32 [%rd40], %r2;"
        );
        let sum = |cta| (0..3).map(|round| 1000 * round + peer(cta, round + 1)).sum();
        assert_eq!(left(&code), expected(|cta, _| sum(cta)), "{arrive}");
    }
}

/// A CTA reaches the second half long after all have arrived.
#[test]
fn a_late_wait_does_not_block() {
    let code = format!(
        "st.shared.u32 [tile], %r40;\nbarrier.cluster.arrive;\nsetp.eq.u32 %p1, %r43, 1;\n@!%p1 bra WAIT;\n\
         mov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p2, %r1, 500;\n@%p2 bra L;\n\
         WAIT: barrier.cluster.wait;\nmapa.shared::cluster.u32 %r2, tile, 3;\n\
         ld.shared::cluster.u32 %r3, [%r2];\n{SYNC}st.global.u32 [%rd40], %r3;"
    );
    assert_eq!(left(&code), expected(|cta, _| cta / 4 * 4 + 3));
}

/// Lanes reach the barrier from both sides of a branch.
#[test]
pub(super) fn the_lanes_of_a_warp_arrive_together() {
    let code = format!(
        "and.b32 %r1, %r0, 1;\nsetp.eq.u32 %p1, %r1, 0;\nmov.u32 %r2, tile;\n@%p1 bra EVEN;\n\
         st.shared.u32 [%r2+4], %r40;\nbarrier.cluster.arrive;\nbra WAIT;\n\
         EVEN: st.shared.u32 [%r2], %r40;\nbarrier.cluster.arrive;\nWAIT: barrier.cluster.wait;\n\
         mapa.shared::cluster.u32 %r3, %r2, 1;\nld.shared::cluster.v2.u32 {{%r4, %r5}}, [%r3];\n\
         mad.lo.u32 %r4, %r4, 10, %r5;\n{SYNC}st.global.u32 [%rd40], %r4;"
    );
    assert_eq!(left(&code), expected(|cta, _| 11 * (cta / 4 * 4 + 1)));
}

/// A whole CTA, a warp, and lanes of a warp have exited.
#[test]
pub(super) fn exited_threads_are_not_waited_for() {
    let code = "setp.eq.u32 %p1, %r43, 1;\n@%p1 exit;\nsetp.ge.u32 %p2, %r0, 32;\n@%p2 exit;\n\
         setp.lt.u32 %p3, %r0, 5;\n@%p3 exit;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n\
         st.global.u64 [%rd40], 9;";
    let mut machine = Machine::new(8 * 64);
    let launch = launch(&machine, 8, 64, 4);
    run(&mut machine, code, &launch).unwrap();
    let left = machine.get(2);
    for (at, &word) in left.iter().enumerate() {
        let (rank, thread) = (at / 64 % 4, at % 64);
        let reaches = rank != 1 && (5..32).contains(&thread);
        assert_eq!(word, if reaches { 9 } else { 0 }, "rank {rank}, thread {thread}");
    }
}

fn failure(code: &str) -> String {
    let mut machine = Machine::new(8 * 64);
    let launch = launch(&machine, 8, 64, 4);
    run(&mut machine, code, &launch).unwrap_err().to_string()
}

#[test]
fn a_missing_warp_is_a_deadlock_that_names_the_waiting_warps() {
    let code = format!(
        "setp.eq.u32 %p1, %r43, 2;\n@%p1 bra OTHER;\n{SYNC}bra END;\nOTHER: bar.sync 0;\nsetp.lt.u32 %p2, %r0, 32;\n@%p2 bar.sync 1;\n{SYNC}END:"
    );
    let error = failure(&code);
    assert!(
        error.contains("is deadlocked: CTA (0, 0, 0) warp 0 waits at the cluster barrier at PC"),
        "{error}"
    );
    assert!(error.contains("CTA (2, 0, 0) warp 0 waits at barrier 1 at PC"), "{error}");
    let divided = failure(
        "setp.lt.u32 %p1, %r0, 5;\n@%p1 bra A;\nbarrier.cluster.arrive;\nbra END;\nA: bar.sync 0;\nEND:",
    );
    assert!(divided.contains("waits at bar") && divided.contains("with lanes"), "{divided}");
}

#[test]
fn halves_that_do_not_alternate_stop_the_kernel() {
    let arrive = "barrier.cluster.arrive;\n";
    let again = failure(&format!("{arrive}{arrive}"));
    assert!(again.contains("arrives at the cluster barrier twice without waiting"), "{again}");
    let later = failure(&format!(
        "{SYNC}{arrive}mov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 500;\n@%p1 bra L;\n{arrive}"
    ));
    assert!(later.contains("arrives at the cluster barrier twice without waiting"), "{later}");
    let wait = failure("barrier.cluster.wait;");
    assert!(
        wait.contains("waits at the cluster barrier without having arrived")
            && wait.contains("at PC"),
        "{wait}"
    );
    let twice = failure(&format!("{SYNC}barrier.cluster.wait;"));
    assert!(twice.contains("without having arrived"), "{twice}");
}
