//! Control flow: reconvergence of branches, and live registers.

use super::{body, kernel, unsupported};
use crate::{Flow, MAX_WORDS, Op, live_words};

/// Returns the reconvergence point of each branch, in order.
fn meetings(code: &str) -> Vec<Option<u32>> {
    let module = kernel(code);
    let body = body(&module);
    let flow = Flow::of(body);
    let branches = (0u32..).zip(&body.instructions);
    let branches = branches.filter(|(_, i)| matches!(i.op, Op::Branch(_) | Op::BranchIndexed(_)));
    branches
        .filter(|(_, i)| i.guard.is_some() || matches!(i.op, Op::BranchIndexed(_)))
        .map(|(at, _)| flow.reconvergence(at))
        .collect()
}

#[test]
fn both_paths_of_a_branch_reconverge_after_it() {
    //          0                1             2       3           4
    let code = "@%p1 bra A;\nmov.u32 %r1, 1;\nbra B;\nA: mov.u32 %r1, 2;\nB: mov.u32 %r2, 3;";
    assert_eq!(meetings(code), [Some(4)]);
}

#[test]
fn threads_that_leave_a_loop_reconverge_after_it() {
    let code = "L: add.u32 %r1, %r1, 1;\n@%p1 bra END;\nadd.u32 %r2, %r2, 1;\n@%p2 bra L;\nEND: mov.u32 %r3, 1;";
    assert_eq!(meetings(code), [Some(4), Some(4)]);
}

#[test]
fn threads_that_return_early_are_not_waited_for() {
    //           0             1            2                3    4                5
    let code = "@%p1 bra B;\n@%p2 bra OUT;\nmov.u32 %r1, 1;\nB: mov.u32 %r2, 2;\nbra END;\nOUT: ret;\nEND: mov.u32 %r3, 3;";
    assert_eq!(meetings(code), [Some(3), Some(2)]);
    // An assertion at the end of the function is not its exit.
    let code =
        "@%p1 bra B;\n@%p2 bra FAIL;\nmov.u32 %r1, 1;\nB: mov.u32 %r2, 2;\nret;\nFAIL: trap;";
    let module = kernel(code);
    let flow = Flow::of(body(&module));
    assert_eq!([flow.reconvergence(0), flow.reconvergence(1)], [Some(3), Some(2)]);
}

#[test]
fn a_switch_reconverges_after_its_last_case() {
    let code = "T: .branchtargets A, B, C;\nbrx.idx %r1, T;\nA: mov.u32 %r1, 1;\nbra END;\nB: mov.u32 %r1, 2;\nbra END;\nC: mov.u32 %r1, 3;\nEND: mov.u32 %r2, 1;";
    assert_eq!(meetings(code), [Some(6)]);
}

/// Returns the targets of the branches of some code, in order.
fn targets(code: &str) -> Vec<u32> {
    let module = kernel(code);
    let branches = body(&module).instructions.iter();
    branches
        .filter_map(|i| match i.op {
            Op::Branch(target) => Some(target),
            _ => None,
        })
        .collect()
}

#[test]
fn blocks_have_their_own_labels() {
    let add = "add.u32 %r1, %r1, 1;";
    let twice = format!("{{ L: {add}\n@%p1 bra L; }}\n{{ L: {add}\n@%p1 bra L; }}");
    assert_eq!(targets(&twice), [0, 2]);
    let hidden = format!("L: {add}\n{{ {add}\nL: {add}\n@%p1 bra L; }}\n@%p1 bra L;");
    assert_eq!(targets(&hidden), [2, 0], "the innermost");
}

#[test]
fn labels_of_outer_blocks_are_visible() {
    let add = "add.u32 %r1, %r1, 1;";
    let before = format!("{add}\nL: {add}\n{{ {{ @%p1 bra L; }} }}");
    assert_eq!(targets(&before), [1]);
    let behind = format!("{{ {{ @%p1 bra L; }}\n@%p1 bra L; }}\n@%p1 bra L;\n{add}\nL: {add}");
    assert_eq!(targets(&behind), [4, 4, 4]);
    let of_own = format!("{{ @%p1 bra L;\n{add}\nL: {add} }}\n@%p1 bra L;\nL: {add}");
    assert_eq!(targets(&of_own), [2, 4], "a label after the branch");
}

#[test]
fn labels_are_defined_once_and_in_an_enclosing_block() {
    let twice = unsupported("L: mov.u32 %r1, 1;\nL: mov.u32 %r1, 2;");
    assert!(twice.len() == 1 && twice[0].contains("label `L` is defined twice"), "{twice:?}");
    for code in ["{ L: mov.u32 %r1, 1; }\nbra L;", "{ L: mov.u32 %r1, 1; }\n{ bra L; }"] {
        let missing = unsupported(code);
        assert!(missing.len() == 1 && missing[0].contains("`L` is not in the function"), "{code}");
    }
}

#[test]
fn an_endless_loop_has_no_reconvergence_point() {
    assert_eq!(meetings("L: @%p1 bra M;\nmov.u32 %r1, 1;\nM: bra L;"), [None]);
}

#[test]
fn live_words_count_wide_registers_twice() {
    let words = |code: &str| {
        let module = kernel(code);
        let body = body(&module);
        live_words(body, &Flow::of(body)).0
    };
    assert_eq!(words("mov.u32 %r1, 1;\nst.global.u32 [%rd1], %r1;"), 3);
    assert_eq!(
        words(
            "mov.u32 %r1, 1;\nmov.u32 %r2, 2;\nadd.u32 %r3, %r1, %r2;\nst.shared.u32 [tile], %r3;"
        ),
        2
    );
    // Live throughout the loop although it is only read after it.
    let around = "mov.u32 %r1, 1;\nmov.u32 %r2, 0;\nL: add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 9;\n@%p1 bra L;\nst.shared.u32 [tile], %r1;";
    assert_eq!(words(around), 2);
    // A guarded write does not end the life of the previous value.
    assert_eq!(
        words(
            "mov.u32 %r1, 1;\nmov.u32 %r2, 1;\n@%p1 mov.u32 %r1, 2;\nst.shared.v2.u32 [tile], {%r1, %r2};"
        ),
        2
    );
}

#[test]
fn live_words_saturate_above_the_registers_of_a_thread() {
    let live = |count: usize| {
        let values: String =
            (0..count).map(|at| format!("ld.global.u32 v{at}, [%rd1];\n")).collect();
        let uses: String = (0..count).map(|at| format!("st.global.u32 [%rd1], v{at};\n")).collect();
        let code = format!(".reg .b32 v<{count}>;\n{values}@%p1 bra L;\nL: {uses}");
        let module = kernel(&code);
        live_words(body(&module), &Flow::of(body(&module))).0
    };
    assert_eq!(live(200), 202);
    assert_eq!((live(254), live(255), live(1000)), (256, MAX_WORDS, MAX_WORDS));
}

/// Each block of a ladder has its own exit, and every register is live in many blocks.
#[test]
fn liveness_of_large_functions_takes_linear_time() {
    let declared = ".reg .b32 v<65000>;\n";
    let rung = |at: usize| {
        format!(
            "@%p1 bra L{at};\nmov.u32 v{at}, 1;\nst.global.u32 [%rd1], v{};\nret;\nL{at}:\n",
            at / 2
        )
    };
    let code: String = (0..3_000).map(rung).collect();
    let module = kernel(&format!("{declared}{code}"));
    let flow = Flow::of(body(&module));
    assert_eq!(live_words(body(&module), &flow).0, MAX_WORDS);
    assert_eq!(flow.reconvergence(0), Some(4));
}
