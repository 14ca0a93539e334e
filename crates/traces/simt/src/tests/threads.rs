//! Host threads change neither memory nor the trace.

use proptest::prelude::*;

use super::{Machine, recorded};
use crate::{Counts, Limits};

/// Results of a launch: the arrays, the trace, and the counts or the error.
fn leaves(
    code: &str,
    grid: u32,
    block: u32,
    limits: Limits,
) -> (Vec<Vec<u64>>, Vec<u8>, Result<Counts, String>) {
    let mut machine = Machine::new(4096);
    machine.set(0, &(0..4096).map(|at| at * at % 4093).collect::<Vec<u64>>());
    let launch = machine.launch(grid, block);
    let ran = recorded(&mut machine, code, &launch, limits);
    match ran {
        Ok((counts, trace)) => ((0..3).map(|at| machine.get(at)).collect(), trace, Ok(counts)),
        Err(error) => (Vec::new(), Vec::new(), Err(error.to_string())),
    }
}

fn same_for_all_threads(code: &str, grid: u32, block: u32) -> Result<Counts, String> {
    same_within(100_000, &[2, 3, 8], code, grid, block)
}

fn same_within(
    instructions: u64,
    threads: &[usize],
    code: &str,
    grid: u32,
    block: u32,
) -> Result<Counts, String> {
    let alone = leaves(code, grid, block, Limits { instructions, ..Limits::default() });
    for &threads in threads {
        let together =
            leaves(code, grid, block, Limits { instructions, threads, ..Limits::default() });
        assert!(
            alone == together,
            "{threads} threads: {:?}, not {:?}\n{code}",
            together.2,
            alone.2
        );
    }
    alone.2
}

/// Computes the address of element `index` of an array, whose registers hold the address of the thread's
/// element.
const GLOBAL_INDEX: &str = "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmad.lo.u32 %r3, %r1, %r2, %r0;\n\
    mul.wide.u32 %rd10, %r1, %r2;\nshl.b64 %rd10, %rd10, 3;\nadd.u64 %rd11, %rd1, %rd10;\n\
    add.u64 %rd12, %rd2, %rd10;\n";

#[test]
fn ctas_with_private_data() {
    let code = format!(
        "{GLOBAL_INDEX}ld.global.u64 %rd13, [%rd11];\nadd.u64 %rd14, %rd13, %rd13;\n\
         st.global.u64 [%rd12], %rd14;\nld.global.u64 %rd15, [%rd12];\nst.global.u64 [%rd11], %rd15;\n"
    );
    let counts = same_for_all_threads(&code, 64, 64).unwrap();
    assert_eq!((counts.ctas, counts.warps), (64, 128));
}

/// Each CTA reads what the previous one wrote: all CTAs that run ahead are executed again.
#[test]
fn ctas_that_read_their_predecessors_writes() {
    let code = format!(
        "{GLOBAL_INDEX}setp.eq.u32 %p1, %r1, 0;\n@%p1 bra FIRST;\nld.global.u64 %rd13, [%rd11+-256];\n\
         bra WRITE;\nFIRST:\nld.global.u64 %rd13, [%rd11];\nWRITE:\nadd.u64 %rd14, %rd13, 1;\n\
         st.global.u64 [%rd11], %rd14;\n"
    );
    same_for_all_threads(&code, 100, 32).unwrap();
}

#[test]
fn the_first_failing_cta_is_reported() {
    let code = format!(
        "{GLOBAL_INDEX}setp.lt.u32 %p1, %r1, 37;\n@%p1 bra END;\nmul.wide.u32 %rd13, %r3, 4096;\n\
         st.global.u64 [%rd13], %rd1;\nEND:\n"
    );
    let error = same_for_all_threads(&code, 100, 32).unwrap_err();
    assert!(error.contains("CTA (37, 0, 0), thread (0, 0, 0)"), "{error}");
}

#[test]
fn the_limit_stops_at_the_same_instruction() {
    let spin =
        "mov.u32 %r1, %ctaid.x;\nsetp.ne.u32 %p1, %r1, 50;\nL:\n@%p1 bra END;\nbra L;\nEND:\n";
    let error = same_for_all_threads(spin, 100, 32).unwrap_err();
    assert!(
        error.contains("100000 warp instructions, the limit; CTA (50, 0, 0) warp 0"),
        "{error}"
    );
}

/// A CTA that runs ahead does not see the write it waits for, and must not wait forever.
#[test]
fn a_cta_may_wait_for_an_earlier_write() {
    let code = format!(
        "{GLOBAL_INDEX}st.global.u64 [%rd12], 1;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra END;\n\
         L:\nld.global.u64 %rd13, [%rd12+-256];\nsetp.eq.u64 %p2, %rd13, 0;\n@%p2 bra L;\nEND:\n"
    );
    same_within(u64::MAX, &[2], &code, 4, 32).unwrap();
}

#[test]
fn atomics_keep_their_order() {
    let code = format!(
        "{GLOBAL_INDEX}ld.param.u64 %rd20, [c];\natom.global.add.u64 %rd13, [%rd20], 1;\n\
         st.global.u64 [%rd12], %rd13;\n"
    );
    same_for_all_threads(&code, 64, 64).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(warpmem_testing::cases(8)))]

    /// Every CTA reads some elements of an array and writes others.
    #[test]
    fn ctas_that_read_and_write_at_random(
        accesses in prop::collection::vec((any::<bool>(), 0..64u32, 0..2048u32), 1..12),
    ) {
        let mut code = GLOBAL_INDEX.to_owned();
        code.push_str("ld.param.u64 %rd20, [a];\nmov.u64 %rd21, 1;\n");
        for (reads, factor, offset) in accesses {
            code.push_str(&format!(
                "mad.lo.u32 %r5, %r3, {factor}, {offset};\nand.b32 %r5, %r5, 4095;\n\
                 mul.wide.u32 %rd22, %r5, 8;\nadd.u64 %rd22, %rd22, %rd20;\n"
            ));
            // Some warps have no active lanes.
            code.push_str("setp.gt.u32 %p2, %r5, 700;\n");
            code.push_str(match reads {
                true => "@%p2 ld.global.u64 %rd23, [%rd22];\nadd.u64 %rd21, %rd21, %rd23;\n",
                false => "@%p2 st.global.u64 [%rd22], %rd21;\n",
            });
        }
        same_for_all_threads(&code, 40, 32).unwrap();
    }
}
