//! Barriers in shared memory.

use super::coverage::tests;
use super::{Machine, kernel, result, tids};
use crate::{Image, Limits, Run};

tests!(
    a_consumer_takes_what_a_producer_makes_round_after_round,
    a_state_identifies_the_awaited_phase,
    arrivals_that_are_dropped_are_not_expected_again,
    bytes_that_are_expected_hold_a_phase_up,
    copies_arrive_at_an_mbarrier,
    undefined_use_stops_the_kernel,
    endless_waits_stop_at_the_limit_with_their_position,
    waiting_warps_yield
);

/// Runs code on two warps, with an mbarrier at the start of the tile that expects 4 arrivals; returns the
/// error.
fn failure(code: &str) -> String {
    let code = format!("{INIT_4}{code}");
    Machine::new(64).run(&kernel(&code), 1, 64).unwrap_err().to_string()
}

const INIT_4: &str =
    "setp.eq.u32 %p1, %r0, 0;\n@%p1 mbarrier.init.shared.b64 [tile], 4;\nbar.sync 0;\n";

/// Rounds in which the second warp consumes what the first produces.
const ROUNDS: u64 = 5;

/// The first warp fills a buffer and arrives at `full`; the second waits for it, sums, and arrives at
/// `empty`, for which the first waits before the next round.
fn producer_and_consumer(wait: &str) -> String {
    let wait = |label: &str, barrier: u32, phase: &str| {
        format!("{label}: {wait} %p2, [tile+{barrier}], {phase};\n@!%p2 bra {label};\n")
    };
    format!(
        "setp.eq.u32 %p1, %r0, 0;\n@%p1 mbarrier.init.shared::cta.b64 [tile], 32;\n\
         @%p1 mbarrier.init.shared::cta.b64 [tile+8], 32;\nbar.sync 0;\n\
         mov.u32 %r1, 0;\nmov.u32 %r9, 0;\nand.b32 %r2, %r0, 31;\nshl.b32 %r2, %r2, 2;\nmov.u32 %r3, tile;\n\
         add.u32 %r2, %r2, %r3;\nsetp.ge.u32 %p3, %r0, 32;\n@%p3 bra CONSUMER;\n\
         PRODUCER: and.b32 %r4, %r1, 1;\nxor.b32 %r4, %r4, 1;\n{}\
         mad.lo.u32 %r5, %r1, 100, %r0;\nst.shared.u32 [%r2+64], %r5;\n\
         mbarrier.arrive.release.cta.shared::cta.b64 _, [tile];\n\
         add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p4, %r1, {ROUNDS};\n@%p4 bra PRODUCER;\nbra END;\n\
         CONSUMER: and.b32 %r4, %r1, 1;\n{}\
         xor.b32 %r6, %r2, 124;\nld.shared.u32 %r5, [%r6+64];\nadd.u32 %r9, %r9, %r5;\n\
         mbarrier.arrive.shared.b64 %rd4, [tile+8];\n\
         add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p4, %r1, {ROUNDS};\n@%p4 bra CONSUMER;\n\
         END: st.global.u32 [%rd3], %r9;",
        wait("EMPTY", 8, "%r4"),
        wait("FULL", 0, "%r4"),
    )
}

#[test]
pub(super) fn a_consumer_takes_what_a_producer_makes_round_after_round() {
    for wait in [
        "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64",
        "mbarrier.test_wait.parity.shared.b64",
    ] {
        let mut machine = Machine::new(64);
        machine.run(&kernel(&producer_and_consumer(wait)), 1, 64).unwrap();
        for (lane, &sum) in (0..).zip(&machine.get(2)[32..]) {
            assert_eq!(sum, (0..ROUNDS).map(|round| 100 * round + (lane ^ 31)).sum::<u64>());
        }
    }
}

/// The phase of a state completes once the other lanes have arrived too.
#[test]
pub(super) fn a_state_identifies_the_awaited_phase() {
    let code = "setp.eq.u32 %p1, %r0, 0;\nmov.u64 %rd4, tile;\ncvta.shared.u64 %rd4, %rd4;\n@%p1 mbarrier.init.b64 [%rd4], 33;\nbar.warp.sync -1;\n\
        mbarrier.arrive.b64 %rd5, [%rd4];\nmbarrier.test_wait.b64 %p2, [%rd4], %rd5;\nselp.u32 %r1, 1, 0, %p2;\n\
        mbarrier.pending_count.b64 %r2, %rd5;\n@%p1 mbarrier.arrive.shared.b64 %rd6, [tile], 1;\n\
        mbarrier.try_wait.shared.b64 %p3, [tile], %rd5, 1000;\nselp.u32 %r3, 2, 0, %p3;\n\
        @%p1 mbarrier.inval.shared.b64 [tile];\n\
        shl.b32 %r2, %r2, 2;\nadd.u32 %r1, %r1, %r2;\nadd.u32 %r1, %r1, %r3;\nst.global.u32 [%rd3], %r1;";
    let got = result(code, &tids(), &[]);
    assert_eq!(got, (0..32).map(|t| (33 - t) * 4 + 2).collect::<Vec<_>>());
}

#[test]
pub(super) fn arrivals_that_are_dropped_are_not_expected_again() {
    let code = "setp.eq.u32 %p1, %r0, 0;\n@!%p1 exit;\nmbarrier.init.shared.b64 [tile], 5;\n\
        mbarrier.arrive_drop.shared.b64 %rd4, [tile], 2;\nmbarrier.arrive.noComplete.shared.b64 %rd5, [tile], 2;\n\
        mbarrier.arrive.shared.b64 %rd5, [tile];\nmbarrier.test_wait.shared.b64 %p2, [tile], %rd4;\n@!%p2 trap;\n\
        mbarrier.arrive_drop.noComplete.shared.b64 %rd4, [tile], 1;\nmbarrier.pending_count.b64 %r1, %rd4;\nmbarrier.arrive.shared.b64 %rd5, [tile], 2;\n\
        mbarrier.arrive.shared.b64 %rd6, [tile], 2;\nmbarrier.pending_count.b64 %r2, %rd6;\nmad.lo.u32 %r1, %r2, 10, %r1;\nst.global.u32 [%rd3], %r1;";
    assert_eq!(result(code, &[], &[])[0], 23);
}

#[test]
pub(super) fn bytes_that_are_expected_hold_a_phase_up() {
    let code = "setp.eq.u32 %p1, %r0, 0;\n@!%p1 exit;\nmbarrier.init.shared.b64 [tile], 1;\n\
        mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [tile], 16;\nmbarrier.arrive.expect_tx.shared.b64 %rd4, [tile], 48;\n\
        mbarrier.test_wait.parity.shared.b64 %p2, [tile], 0;\nmbarrier.complete_tx.relaxed.cta.shared::cta.b64 [tile], 64;\n\
        mbarrier.test_wait.parity.shared.b64 %p3, [tile], 0;\nmbarrier.test_wait.parity.shared.b64 %p4, [tile], 1;\n\
        selp.u32 %r1, 1, 0, %p2;\nselp.u32 %r2, 2, 0, %p3;\nselp.u32 %r3, 4, 0, %p4;\n\
        add.u32 %r1, %r1, %r2;\nadd.u32 %r1, %r1, %r3;\nst.global.u32 [%rd3], %r1;";
    assert_eq!(result(code, &[], &[])[0], 2);
}

#[test]
pub(super) fn copies_arrive_at_an_mbarrier() {
    for (noinc, count) in [(".noinc", 64), ("", 32)] {
        let code = format!(
            "setp.eq.u32 %p1, %r0, 0;\n@%p1 mbarrier.init.shared.b64 [tile], {count};\nbar.warp.sync -1;\n\
             shl.b32 %r1, %r0, 3;\nmov.u32 %r2, tile;\nadd.u32 %r2, %r2, %r1;\ncp.async.ca.shared.global [%r2+16], [%rd1], 8;\n\
             cp.async.mbarrier.arrive{noinc}.shared.b64 [tile];\nmbarrier.arrive.shared.b64 %rd4, [tile];\n\
             L: mbarrier.try_wait.shared.b64 %p2, [tile], %rd4;\n@!%p2 bra L;\nld.shared.u64 %rd5, [%r2+16];\nst.global.u64 [%rd3], %rd5;"
        );
        let a: Vec<u64> = (0..32).map(|n| n * n + 7).collect();
        assert_eq!(result(&code, &a, &[]), a);
    }
}

#[test]
fn undefined_use_stops_the_kernel() {
    for (code, reason) in [
        ("mbarrier.init.shared.b64 [tile], 0;", "an mbarrier for 0 arrivals; 1 to 1048575"),
        ("mbarrier.init.shared.b64 [tile], 0x100000;", "an mbarrier for 1048576 arrivals"),
        ("mbarrier.arrive.shared.b64 %rd4, [tile], 0;", "0 arrivals at an mbarrier"),
        ("mbarrier.arrive.shared.b64 %rd4, [tile], 5;", "5 arrivals at an mbarrier with 4 pending"),
        ("mbarrier.arrive.shared.b64 %rd4, [tile], 3;", "3 arrivals at an mbarrier with 1 pending"),
        ("mbarrier.arrive.noComplete.shared.b64 %rd4, [tile], 4;", "completes the phase"),
        (
            "@%p1 mbarrier.arrive_drop.shared.b64 %rd4, [tile], 4;\n@%p1 mbarrier.arrive_drop.shared.b64 %rd4, [tile], 1;",
            "an mbarrier with 0 expected arrivals drops 1",
        ),
        ("mbarrier.expect_tx.shared.b64 [tile], 0x100000;", "1048576 bytes are expected"),
        ("mbarrier.arrive.shared.b64 %rd4, [tile+8];", "there is no initialised mbarrier"),
        (
            "mbarrier.test_wait.parity.shared.b64 %p2, [tile+8], 0;",
            "there is no initialised mbarrier",
        ),
        (
            "@%p1 mbarrier.inval.shared.b64 [tile];\nmbarrier.arrive.shared.b64 %rd4, [tile];",
            "there is no initialised mbarrier",
        ),
        ("mbarrier.init.shared.b64 [tile+4], 1;", "at the misaligned address"),
        ("mbarrier.init.shared.b64 [tile+4096], 1;", "of shared memory is out of bounds"),
        ("mbarrier.init.b64 [%rd3], 1;", "of global memory, not of shared memory"),
    ] {
        let error = failure(code);
        assert!(error.contains(reason) && error.contains("at PC"), "{code}: {error}");
    }
}

#[test]
fn endless_waits_stop_at_the_limit_with_their_position() {
    let mut machine = Machine::new(64);
    let code =
        format!("{INIT_4}L: mbarrier.try_wait.parity.shared.b64 %p2, [tile], 0;\n@!%p2 bra L;");
    let module = warpmem_ptx::parse(&kernel(&code)).unwrap();
    let image = Image::load(module, &mut machine.memory).unwrap();
    let launch = machine.launch(1, 64);
    let run = Run::new(&image, &launch).unwrap();
    let limits = Limits { instructions: 100_000, ..Limits::default() };
    let outcome = run.execute(&mut machine.memory, None, limits, &());
    let error = outcome.unwrap_err().to_string();
    assert!(
        error.contains("100000 warp instructions, the limit; CTA (0, 0, 0) warp 0 is at PC"),
        "{error}"
    );
    assert!(error.contains("warp 1 is at PC"), "{error}");
}

/// A warp whose wait fails yields to the other: it polls a few times, not thousands.
#[test]
fn waiting_warps_yield() {
    let code = format!(
        "{INIT_4}setp.lt.u32 %p3, %r0, 32;\n@%p3 bra WAIT;\nadd.u32 %r1, %r0, 1;\nsetp.eq.u32 %p4, %r0, 32;\n\
         @%p4 mbarrier.arrive.shared.b64 %rd4, [tile], 4;\nbra END;\n\
         WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [tile], 0;\n@!%p2 bra WAIT;\nEND:"
    );
    let counts = Machine::new(64).run(&kernel(&code), 1, 64).unwrap();
    assert!(counts.warp_instructions < 60, "{counts:?}");
}
