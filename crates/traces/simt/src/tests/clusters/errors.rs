//! Errors of kernels in clusters.

use super::super::{Machine, kernel};
use super::{PLACE, SYNC, launch, run, run_module};
use crate::{Launch, TrapKind};

/// Runs two clusters of four CTAs of 32 threads; returns the error.
fn failure(code: &str) -> String {
    let mut machine = Machine::new(8 * 32);
    let launch = launch(&machine, 8, 32, 4);
    run(&mut machine, code, &launch).unwrap_err().to_string()
}

#[test]
fn accesses_outside_the_cluster_stop_the_kernel() {
    let remote =
        |rank: u32, code: &str| format!("mapa.shared::cluster.u32 %r1, tile, {rank};\n{code}");
    for (code, reason) in [
        (
            remote(4, "ld.shared::cluster.u32 %r2, [%r1];"),
            "access of 4 bytes at 0x0 of the shared memory of CTA 4 of the cluster: there is no CTA 4 in a cluster of 4",
        ),
        (
            remote(1000, "ld.shared::cluster.u32 %r2, [%r1];"),
            "of CTA 239 of the cluster: there is no CTA",
        ),
        (
            remote(1, "st.shared::cluster.u32 [%r1+4096], 1;"),
            "access of 4 bytes at 0x1000 of the shared memory of CTA 1 of the cluster: it has 4096 bytes",
        ),
        (
            remote(3, "atom.shared::cluster.add.u32 %r2, [%r1+4100], 1;"),
            "at 0x1004 of the shared memory of CTA 3",
        ),
        (remote(3, "ld.shared::cluster.u32 %r2, [%r1+2];"), "at the misaligned address"),
        // `.shared` only reaches the CTA's own shared memory.
        (remote(1, "ld.shared.u32 %r2, [%r1];"), "of shared memory is out of bounds"),
        ("mapa.u64 %rd4, %rd1, 1;".into(), "is not an address of shared memory"),
        ("getctarank.u64 %r1, %rd1;".into(), "is not an address of shared memory"),
    ] {
        let error = failure(&code);
        assert!(error.contains(reason) && error.contains("at PC"), "{code}: {error}");
    }
}

#[test]
fn shared_memory_of_an_exited_cta_is_inaccessible() {
    let early = "setp.eq.u32 %p1, %r43, 2;\n@%p1 exit;\nmov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1;\n\
         setp.lt.u32 %p2, %r1, 100;\n@%p2 bra L;\nmapa.shared::cluster.u32 %r2, tile, 2;\nld.shared::cluster.u32 %r3, [%r2];";
    let error = failure(early);
    assert!(
        error.contains("CTA 2 of the cluster has exited: it must wait") && error.contains("line "),
        "{error}"
    );
}

const INIT: &str = "setp.eq.u32 %p1, %r0, 0;\n@%p1 mbarrier.init.shared::cta.b64 [tile+2048], 4;\n\
    cvta.shared.u64 %rd4, tile+2048;\n";

#[test]
fn undefined_transfers_stop_the_kernel() {
    let remote = "mapa.shared::cluster.u32 %r1, tile, 1;\nmapa.shared::cluster.u32 %r2, tile+2048, 1;\n\
        mapa.shared::cluster.u32 %r3, tile+2048, 2;\nmapa.u64 %rd5, %rd4, 1;\n";
    let completes = "mbarrier::complete_tx::bytes";
    for (code, reason) in [
        (
            format!("st.async.shared::cluster.{completes}.u32 [%r1], %r0, [%r3];"),
            "a transfer to CTA 1 of the cluster with an mbarrier of CTA 2",
        ),
        (
            format!("red.async.relaxed.cluster.{completes}.add.u32 [%rd1], %r0, [%rd4];"),
            "is an address of global memory, not of shared memory",
        ),
        (
            format!("st.async.{completes}.u32 [%rd5], %r0, [%rd1];"),
            "is not an address of shared memory",
        ),
        (
            format!("cp.async.bulk.shared::cluster.global.{completes} [%r1], [%rd1], 16, [%r3];"),
            "with an mbarrier of CTA 2",
        ),
        (
            format!(
                "cp.async.bulk.shared::cluster.shared::cta.{completes} [%r1], [tile], 16, [%r1];"
            ),
            "there is no initialised mbarrier",
        ),
        (
            format!(
                "cp.async.bulk.shared::cluster.shared::cta.{completes} [%r1], [tile], 24, [%r2];"
            ),
            "bulk copy of 24 bytes",
        ),
        (
            format!(
                "mov.u16 %h1, 18;\ncp.async.bulk.shared::cluster.global.{completes}.multicast::cluster [tile], [%rd1], 16, [tile+2048], %h1;"
            ),
            "multicast to CTAs 0b10010 in a cluster of 4",
        ),
        (
            format!(
                "mov.u16 %h1, 0;\ncp.async.bulk.shared::cluster.global.{completes}.multicast::cluster [tile], [%rd1], 16, [tile+2048], %h1;"
            ),
            "multicast to CTAs 0b0 in a cluster of 4",
        ),
        (
            format!(
                "mapa.shared::cluster.u32 %r1, tile, 40;\nmapa.shared::cluster.u32 %r2, tile, 40;\ncp.async.bulk.shared::cluster.global.{completes} [%r1], [%rd1], 16, [%r2];"
            ),
            "in a cluster of 4 CTAs",
        ),
        ("mbarrier.test_wait.parity.b64 %p2, [%rd5], 0;".into(), "only supports arrivals"),
        ("mbarrier.arrive.b64 %rd6, [%rd5];".into(), "only supports arrivals"),
        ("mbarrier.init.b64 [%rd5], 1;".into(), "only supports arrivals"),
    ] {
        let error = failure(&format!(
            "{INIT}{remote}{SYNC}@%p1 bra ONE;\nbra END;\nONE: {code}\nEND: {SYNC}"
        ));
        assert!(error.contains(reason) && error.contains("at PC"), "{code}: {error}");
    }
}

/// Programs receive it as an illegal address.
#[test]
fn unreachable_addresses_are_memory_errors() {
    let mut machine = Machine::new(8);
    let code = format!(
        "{PLACE}mapa.shared::cluster.u32 %r1, tile, 2;\nld.shared::cluster.u32 %r2, [%r1];"
    );
    let launch = Launch { cluster: Some([2, 1, 1]), ..machine.launch(2, 1) };
    let error = run_module(&mut machine, &kernel(&code), &launch).unwrap_err();
    let crate::LaunchError::Fault { fault, .. } = error else { panic!("{error}") };
    assert_eq!((fault.kind, fault.cta), (TrapKind::Memory, [0, 0, 0]));
}

/// Polling loops without end run into the limit, and all CTAs are named.
#[test]
fn endless_waits_for_another_cta_hit_the_limit() {
    let wait = super::wait_at("tile+2048");
    let error = failure(&format!("{INIT}bar.sync 0;\n{wait}"));
    assert!(error.contains("1000000 warp instructions, the limit"), "{error}");
    assert!(
        error.contains("CTA (0, 0, 0) warp 0 is at")
            && error.contains("CTA (3, 0, 0) warp 0 is at"),
        "{error}"
    );
}
