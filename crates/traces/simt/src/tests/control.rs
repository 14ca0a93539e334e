//! Divergence, loops, calls, and exits.

use super::coverage::tests;
use super::{Machine, kernel, kernel_with, result, tids};

tests!(
    both_sides_of_a_branch_are_executed,
    threads_reconverge_after_a_divergent_loop,
    nested_branches_and_breaks,
    early_exits_do_not_block_other_threads,
    a_switch_sends_threads_to_their_cases,
    guarded_writes_keep_other_threads_registers,
    calls_in_divergent_code_return_to_their_caller,
    calls_by_address_reach_the_function,
    local_memory_is_private_to_a_thread
);

/// Returns what each thread stores after this code, which leaves its value in %r1.
fn values(code: &str) -> Vec<u64> {
    result(&format!("{code}\nst.global.u32 [%rd3], %r1;"), &tids(), &[])
}

#[test]
fn both_sides_of_a_branch_are_executed() {
    let got = values(
        "and.b32 %r2, %r0, 1;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra EVEN;\nmul.lo.u32 %r1, %r0, 10;\nbra END;\n\
         EVEN: mul.lo.u32 %r1, %r0, 100;\nEND:",
    );
    assert!(
        got.iter().enumerate().all(|(t, &v)| v == t as u64 * if t % 2 == 0 { 100 } else { 10 })
    );
}

#[test]
fn threads_reconverge_after_a_divergent_loop() {
    let got = values(
        "mov.u32 %r1, 0;\nmov.u32 %r2, 0;\nLOOP: add.u32 %r1, %r1, %r2;\nadd.u32 %r2, %r2, 1;\n\
         setp.le.u32 %p1, %r2, %r0;\n@%p1 bra LOOP;\nactivemask.b32 %r3;\nsetp.ne.u32 %p2, %r3, -1;\n@%p2 trap;",
    );
    assert!(got.iter().enumerate().all(|(t, &v)| v == (t * (t + 1) / 2) as u64));
}

#[test]
fn nested_branches_and_breaks() {
    // Each thread sums the odd numbers below its own, and stops at the first multiple of 7 above 0.
    let got = values(
        "mov.u32 %r1, 0;\nmov.u32 %r2, 0;\n\
         LOOP: setp.ge.u32 %p1, %r2, %r0;\n@%p1 bra END;\n\
         rem.u32 %r3, %r2, 7;\nsetp.eq.u32 %p2, %r3, 0;\nsetp.gt.and.u32 %p3, %r2, 0, %p2;\n@%p3 bra END;\n\
         and.b32 %r4, %r2, 1;\nsetp.eq.u32 %p4, %r4, 0;\n@%p4 bra NEXT;\nadd.u32 %r1, %r1, %r2;\n\
         NEXT: add.u32 %r2, %r2, 1;\nbra LOOP;\nEND:",
    );
    let expected =
        |t: u64| (0..t).take_while(|&n| n == 0 || n % 7 != 0).filter(|n| n % 2 == 1).sum::<u64>();
    assert_eq!(got, (0..32).map(expected).collect::<Vec<_>>());
}

#[test]
fn early_exits_do_not_block_other_threads() {
    let mut machine = Machine::new(32);
    let code = "setp.lt.u32 %p1, %r0, 7;\n@%p1 exit;\nsetp.gt.u32 %p2, %r0, 20;\n@%p2 bra OUT;\n\
                activemask.b32 %r1;\nst.global.u32 [%rd3], %r1;\nbra END;\nOUT: ret;\nEND:";
    machine.run(&kernel(code), 1, 32).unwrap();
    let got = machine.get(2);
    let stored: Vec<usize> = (0..32).filter(|&t| got[t] != 0).collect();
    assert_eq!(stored, (7..=20).collect::<Vec<_>>());
    assert_eq!(got[10], (7..=20).fold(0, |mask, t| mask | 1 << t));
}

#[test]
fn a_switch_sends_threads_to_their_cases() {
    let got = values(
        "rem.u32 %r2, %r0, 3;\nT: .branchtargets A, B, C;\nbrx.idx %r2, T;\nA: mov.u32 %r1, 7;\nbra END;\n\
         B: mov.u32 %r1, 8;\nbra END;\nC: mov.u32 %r1, 9;\nEND:",
    );
    assert!(got.iter().enumerate().all(|(t, &v)| v == 7 + t as u64 % 3));
}

#[test]
fn guarded_writes_keep_other_threads_registers() {
    let got = values(
        "mov.u32 %r1, 5;\nsetp.gt.u32 %p1, %r0, 9;\n@%p1 mov.u32 %r1, 6;\n@!%p1 add.u32 %r1, %r1, 10;",
    );
    assert!(got.iter().enumerate().all(|(t, &v)| v == if t > 9 { 6 } else { 15 }));
}

/// n! by recursion in divergent code: the depth of each thread is its number.
const FACTORIAL: &str = "
.func (.param .b32 result) factorial(.param .b32 n)
{
    .reg .pred %p<2>; .reg .b32 %r<6>;
    ld.param.b32 %r1, [n];
    setp.le.u32 %p1, %r1, 1;
    @%p1 bra ONE;
    sub.u32 %r2, %r1, 1;
    {
        .param .b32 a; .param .b32 b;
        st.param.b32 [a], %r2;
        call (b), factorial, (a);
        ld.param.b32 %r3, [b];
    }
    mul.lo.u32 %r4, %r3, %r1;
    st.param.b32 [result], %r4;
    ret;
ONE:
    mov.u32 %r4, 1;
    st.param.b32 [result], %r4;
    ret;
}";

#[test]
fn calls_in_divergent_code_return_to_their_caller() {
    let mut machine = Machine::new(32);
    let code = "and.b32 %r2, %r0, 3;\nsetp.eq.u32 %p1, %r2, 0;\nmov.u32 %r1, 0;\n@%p1 bra END;\n\
                { .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call.uni (b), factorial, (a); ld.param.b32 %r1, [b]; }\n\
                END: st.global.u32 [%rd3], %r1;";
    machine.run(&kernel_with(FACTORIAL, code), 1, 32).unwrap();
    let expected = [0, 1, 2, 6];
    assert!(machine.get(2).iter().enumerate().all(|(t, &v)| v == expected[t % 4]));
}

#[test]
fn calls_by_address_reach_the_function() {
    let functions = "
.func (.reg .b32 r) twice(.reg .b32 x);
.func (.param .b32 r) square(.param .b32 x) { .reg .b32 %r<3>; ld.param.b32 %r1, [x]; mul.lo.u32 %r2, %r1, %r1; st.param.b32 [r], %r2; ret; }
.global .u64 table[1] = { square };";
    let functions = functions.replace(".func (.reg .b32 r) twice(.reg .b32 x);\n", "");
    let mut machine = Machine::new(32);
    let code = "mov.u64 %rd5, table;\nld.global.u64 %rd4, [%rd5];\nproto: .callprototype (.param .b32 _) _ (.param .b32 _);\n\
                { .param .b32 a; .param .b32 b; st.param.b32 [a], %r0; call (b), %rd4, (a), proto; ld.param.b32 %r1, [b]; }\n\
                st.global.u32 [%rd3], %r1;";
    machine.run(&kernel_with(&functions, code), 1, 32).unwrap();
    assert!(machine.get(2).iter().enumerate().all(|(t, &v)| v == (t * t) as u64));
}

#[test]
fn local_memory_is_private_to_a_thread() {
    let got = values(
        ".local .align 8 .b8 depot[64];\nmov.u64 %rd4, depot;\ncvta.local.u64 %rd5, %rd4;\nst.u32 [%rd5+12], %r0;\n\
         st.local.u8 [depot+13], 1;\nld.local.u32 %r1, [%rd4+12];",
    );
    assert!(got.iter().enumerate().all(|(t, &v)| v == t as u64 | 0x100));
}
