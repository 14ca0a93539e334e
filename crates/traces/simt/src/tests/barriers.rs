//! CTA barriers with divergent warps.

use super::{Machine, kernel};
use crate::LaunchError;

fn run(code: &str, block: u32, target: &str) -> Result<Vec<u64>, LaunchError> {
    let mut machine = Machine::new(128);
    machine.run(&kernel(code).replace("sm_80", target), 1, block)?;
    Ok(machine.get(2))
}

fn failure(code: &str, block: u32) -> String {
    run(code, block, "sm_75").unwrap_err().to_string()
}

/// Even and odd threads of each warp reach the barrier in different branches.
const BRANCHES: &str = "shl.b32 %r2, %r0, 2;\nmov.u32 %r3, tile;\nadd.u32 %r2, %r2, %r3;\nand.b32 %r4, %r0, 1;\n\
    setp.eq.u32 %p1, %r4, 0;\n@%p1 bra EVEN;\nst.shared.u32 [%r2], %r0;\nbarrier.sync 0;\nmov.u32 %r6, 1000;\nbra END;\n\
    EVEN: add.u32 %r5, %r0, 500;\nst.shared.u32 [%r2], %r5;\nbarrier.sync 0;\nmov.u32 %r6, 2000;\n\
    END: xor.b32 %r2, %r2, 252;\nld.shared.u32 %r1, [%r2];\nadd.u32 %r1, %r1, %r6;\nst.global.u32 [%rd3], %r1;";

#[test]
pub(super) fn threads_of_a_warp_meet_at_a_barrier_from_different_branches() {
    let got = run(BRANCHES, 64, "sm_75").unwrap();
    for thread in 0..64 {
        let other = thread ^ 63;
        let stored = if other % 2 == 0 { other + 500 } else { other };
        let added = if thread % 2 == 0 { 2000 } else { 1000 };
        assert_eq!(got[thread as usize], stored + added);
    }
}

#[test]
fn exited_threads_are_not_waited_for() {
    for code in [
        // Some threads exit mid-way, one after the others' barrier in program order.
        "setp.lt.u32 %p1, %r0, 20;\n@%p1 bra WAIT;\nsetp.lt.u32 %p2, %r0, 30;\n@%p2 exit;\nbra END;\n\
         WAIT: bar.sync 0;\nst.global.u32 [%rd3], 1;\nEND:",
        "setp.ge.u32 %p1, %r0, 20;\n@%p1 exit;\nbar.sync 0;\nst.global.u32 [%rd3], 1;",
        "setp.lt.u32 %p1, %r0, 20;\n@!%p1 bra END;\nbar.sync 0;\nst.global.u32 [%rd3], 1;\nEND:",
        "setp.lt.u32 %p1, %r0, 20;\n@%p1 bar.sync 0;\n@%p1 st.global.u32 [%rd3], 1;",
    ] {
        let got = run(code, 64, "sm_75").unwrap();
        assert_eq!(got[..64].iter().sum::<u64>(), 20, "{code}");
    }
}

/// Lanes leave a loop one after the other, with a barrier in each iteration, and meet the others at a barrier
/// after it: from sm_70 on, the number of the barrier matters, not its position.
#[test]
fn barriers_are_identified_by_number() {
    let code = "mov.u32 %r1, 0;\nLOOP: bar.sync 0;\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 3;\n@%p1 bra LOOP;\n\
                setp.lt.u32 %p2, %r0, 16;\n@%p2 bra END;\nbar.sync 0;\nadd.u32 %r1, %r1, 10;\nEND: st.global.u32 [%rd3], %r1;";
    let got = run(code, 64, "sm_75").unwrap();
    assert!((0..64).all(|t| got[t] == if t < 16 { 3 } else { 13 }));
}

#[test]
fn a_reduction_counts_the_lanes_of_all_branches() {
    let code = "and.b32 %r4, %r0, 3;\nsetp.eq.u32 %p1, %r4, 0;\nsetp.lt.u32 %p2, %r0, 40;\n@%p1 bra OTHER;\n\
                barrier.red.popc.u32 %r1, 0, %p2;\nbra END;\nOTHER: barrier.red.popc.u32 %r1, 0, %p2;\nadd.u32 %r1, %r1, 100;\n\
                END: st.global.u32 [%rd3], %r1;";
    let got = run(code, 64, "sm_75").unwrap();
    assert!((0..64).all(|t| got[t] == if t % 4 == 0 { 140 } else { 40 }), "{got:?}");
}

/// Half of each warp arrives, the other half waits.
#[test]
fn partial_warps_arrive_by_thread() {
    let code = "setp.ge.u32 %p1, %r0, 16;\nsetp.lt.u32 %p2, %r0, 32;\n@!%p2 bra WAIT;\n@%p1 bra ARRIVE;\nst.shared.u32 [tile], 7;\n\
                barrier.arrive 1, 64;\nbra END;\nARRIVE: barrier.arrive 1, 64;\nbra END;\n\
                WAIT: barrier.sync 1, 64;\nld.shared.u32 %r1, [tile];\nst.global.u32 [%rd3], %r1;\nEND:";
    let got = run(code, 64, "sm_75").unwrap();
    assert!(got[32..64].iter().all(|&v| v == 7));
}

#[test]
fn unreachable_barriers_are_reported_as_deadlocks() {
    // Different barriers; a barrier that the others have passed; a call that holds the others.
    let different = failure(
        "setp.lt.u32 %p1, %r0, 16;\n@%p1 bra A;\nbar.sync 1;\nbra END;\nA: bar.sync 2;\nEND:",
        64,
    );
    assert!(
        different.contains("is deadlocked: CTA (0, 0, 0) warp 0 waits at barrier"),
        "{different}"
    );
    assert!(different.contains("of 0xffffffff at PC"), "{different}");
    let other_warp = failure(
        "setp.lt.u32 %p1, %r0, 40;\n@%p1 bra A;\nbar.sync 0;\nbar.sync 0;\nbra END;\nA: bar.sync 0;\nEND: bar.sync 1;",
        64,
    );
    assert!(other_warp.contains("is deadlocked"), "{other_warp}");
    let call = "{ setp.lt.u32 %p1, %r0, 16;\n@%p1 bra END;\ncall f;\nEND: bar.sync 0; }";
    let text = super::kernel_with(".func f() { bar.sync 0; ret; }", call);
    let error = Machine::new(64).run(&text, 1, 64).unwrap_err().to_string();
    assert!(
        error.contains("waits at barrier 0 with lanes 0xffff0000 of 0xffffffff at PC"),
        "{error}"
    );
}

/// Before sm_70, the first lanes arrive for their warp.
#[test]
fn a_warp_arrives_as_a_whole_before_sm_70() {
    let code = "setp.ne.u32 %p1, %r0, 5;\n@%p1 bra END;\nbar.sync 0;\nst.global.u32 [%rd3], 1;\nEND: setp.ge.u32 %p2, %r0, 32;\n@%p2 bar.sync 0;";
    assert_eq!(run(code, 64, "sm_60").unwrap()[5], 1);
}
