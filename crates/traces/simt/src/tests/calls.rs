//! Calls: addresses of parameters, and callees that differ among the lanes of a warp.

use warpmem_trace::{Kind, Record, Space, Trace};

use super::coverage::tests;
use super::{Machine, kernel_with, recorded_module};
use crate::Limits;

tests!(
    parameter_addresses_are_in_local_memory,
    every_call_has_its_own_parameters,
    lanes_call_the_functions_of_their_tables,
    only_guarded_lanes_call,
    functions_call_through_tables
);

/// Executes a kernel on one warp; returns the first words that its threads write to [%rd3].
fn words(functions: &str, code: &str) -> Vec<u64> {
    let mut machine = Machine::new(32);
    let text = kernel_with(functions, code);
    machine.run(&text, 1, 32).unwrap_or_else(|error| panic!("{error}\n{text}"));
    machine.get(2)
}

/// Calls `f` with a structure of 16 words, where word w is 100 t + w in thread t, and stores the result.
const CALL_WITH_STRUCTURE: &str = "
    mul.lo.u32 %r1, %r0, 100;
    {
        .param .align 8 .b8 s[64]; .param .b32 at; .param .b32 v;
        st.param.b32 [s], %r1;
        add.u32 %r2, %r1, 1; st.param.b32 [s+4], %r2;
        add.u32 %r2, %r1, 2; add.u32 %r3, %r1, 3; st.param.v2.b32 [s+8], {%r2, %r3};
        and.b32 %r4, %r0, 3; st.param.b32 [at], %r4;
        call.uni (v), f, (s, at);
        ld.param.b32 %r5, [v];
    }
    st.global.u32 [%rd3], %r5;";

/// Defines a function of a structure and an index that leaves its result in %r2.
fn function_of_structure(code: &str) -> String {
    format!(
        ".func (.param .b32 r) f(.param .align 8 .b8 s[64], .param .b32 at) {{
            .reg .b32 %r<9>; .reg .b64 %rd<9>;
            .local .align 8 .b8 before[24];
            ld.param.b32 %r1, [at];
            mul.wide.u32 %rd4, %r1, 4;
            {code}
            st.param.b32 [r], %r2;
            ret;
        }}"
    )
}

#[test]
fn parameter_addresses_are_in_local_memory() {
    for code in [
        "mov.b64 %rd1, s; add.u64 %rd1, %rd1, %rd4; ld.local.b32 %r2, [%rd1];",
        "mov.b64 %rd1, s; add.u64 %rd1, %rd1, %rd4; ld.param.b32 %r2, [%rd1];",
        "mov.b64 %rd1, s; cvta.local.u64 %rd2, %rd1; add.u64 %rd2, %rd2, %rd4; ld.b32 %r2, [%rd2];",
        "mov.b64 %rd1, s+4; add.u64 %rd1, %rd1, %rd4; ld.local.b32 %r2, [%rd1+-4];",
        // A pointer to a part of the structure, in local memory.
        "mov.b64 %rd1, s; add.u64 %rd1, %rd1, %rd4; st.local.b64 [before], %rd1;
         ld.local.b64 %rd3, [before]; ld.local.b32 %r2, [%rd3];",
        // A store through the address changes the named parameter.
        "mov.b64 %rd1, s; add.u64 %rd1, %rd1, %rd4; ld.local.b32 %r2, [%rd1];
         st.local.b32 [%rd1], 7; mov.b64 %rd2, s; st.local.b32 [%rd2+16], %r2;
         ld.param.b32 %r2, [s+16];",
    ] {
        let got = words(&function_of_structure(code), CALL_WITH_STRUCTURE);
        assert!(got.iter().enumerate().all(|(t, &v)| v == (100 * t + t % 4) as u64), "{code}");
    }
}

/// Each open call changes its own structure.
#[test]
fn every_call_has_its_own_parameters() {
    let function = "
.func (.param .b32 r) f(.param .align 8 .b8 s[64], .param .b32 n) {
    .reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
    ld.param.b32 %r1, [n];
    mov.b64 %rd1, s;
    mov.u32 %r4, 0;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra END;
    {
        .param .align 8 .b8 a[64]; .param .b32 m; .param .b32 v;
        ld.local.b32 %r2, [%rd1+8];
        add.u32 %r3, %r2, 10; st.param.b32 [a+8], %r3;
        sub.u32 %r3, %r1, 1; st.param.b32 [m], %r3;
        call (v), f, (a, m);
        ld.param.b32 %r4, [v];
    }
END:
    ld.local.b32 %r2, [%rd1+8];
    add.u32 %r4, %r4, %r2;
    st.param.b32 [r], %r4;
    ret;
}";
    // The structure starts with 100 t + 2; each of t % 4 further calls adds 10.
    let got = words(function, CALL_WITH_STRUCTURE);
    let expected = |t: u64| (0..=t % 4).map(|n| 100 * t + 2 + 10 * n).sum::<u64>();
    assert_eq!(got, (0..32).map(expected).collect::<Vec<_>>());
}

/// Functions by thread number modulo 3: t + 100, 3 t, and the lanes that execute together.
const TABLE: &str = "
.func (.param .b32 r) f0(.param .b32 x)
{ .reg .b32 %r<3>; ld.param.b32 %r1, [x]; add.u32 %r2, %r1, 100; st.param.b32 [r], %r2; ret; }
.func (.param .b32 r) f1(.param .b32 x)
{ .reg .b32 %r<3>; ld.param.b32 %r1, [x]; mul.lo.u32 %r2, %r1, 3; st.param.b32 [r], %r2; ret; }
.func (.param .b32 r) f2(.param .b32 x)
{ .reg .b32 %r<3>; activemask.b32 %r2; st.param.b32 [r], %r2; ret; }
.global .align 8 .u64 table[3] = {f0, f1, f2};";

/// Loads function %r2 of a table and calls it with %r0, under a guard.
fn call_entry(table: &str, guard: &str) -> String {
    format!(
        "mul.wide.u32 %rd5, %r2, 8;\nmov.u64 %rd6, {table};\nadd.u64 %rd5, %rd5, %rd6;\n\
         ld.global.u64 %rd7, [%rd5];\n{{\n.param .b32 x; .param .b32 v;\nst.param.b32 [x], %r0;\n\
         st.param.b32 [v], 9;\nproto: .callprototype (.param .b32 _) _ (.param .b32 _);\n\
         {guard} call (v), %rd7, (x), proto;\nactivemask.b32 %r4;\nld.param.b32 %r3, [v];\n}}\n"
    )
}

/// Checks that all lanes of a warp reconverge after the call; stores the result in %r3.
const TOGETHER: &str = "setp.ne.u32 %p9, %r4, -1;\n@%p9 trap;\nst.global.u32 [%rd3], %r3;";

fn lanes(holds: impl Fn(u64) -> bool) -> u64 {
    (0..32).filter(|&t| holds(t)).fold(0, |lanes, t| lanes | 1 << t)
}

fn expected_of_table(t: u64, calls: impl Fn(u64) -> bool) -> u64 {
    match t % 3 {
        0 => t + 100,
        1 => 3 * t,
        _ => lanes(|other| other % 3 == 2 && calls(other)),
    }
}

#[test]
fn lanes_call_the_functions_of_their_tables() {
    let code = format!("rem.u32 %r2, %r0, 3;\n{}{TOGETHER}", call_entry("table", ""));
    let expected: Vec<u64> = (0..32).map(|t| expected_of_table(t, |_| true)).collect();
    assert_eq!(words(TABLE, &code), expected);
}

#[test]
fn only_guarded_lanes_call() {
    let code = format!(
        "rem.u32 %r2, %r0, 3;\nsetp.gt.u32 %p1, %r0, 9;\n{}{TOGETHER}",
        call_entry("table", "@%p1")
    );
    let calls = |t: u64| t > 9;
    let expected =
        (0..32).map(|t| if calls(t) { expected_of_table(t, calls) } else { 9 }).collect::<Vec<_>>();
    assert_eq!(words(TABLE, &code), expected);
}

/// A function of the first table calls through the second, one of whose functions ends its threads.
#[test]
fn functions_call_through_tables() {
    let inner = call_entry("table", "").replace("%r0", "%r1");
    let outer = format!(
        "{TABLE}
.func (.param .b32 r) g0(.param .b32 x)
{{ .reg .b32 %r<9>; .reg .b64 %rd<9>; ld.param.b32 %r1, [x]; rem.u32 %r2, %r1, 3;
   {inner} add.u32 %r3, %r3, 1000; st.param.b32 [r], %r3; ret; }}
.func (.param .b32 r) g1(.param .b32 x)
{{ .reg .pred %p<2>; .reg .b32 %r<3>; ld.param.b32 %r1, [x]; setp.lt.u32 %p1, %r1, 8;
   st.param.b32 [r], %r1; @%p1 exit; ret; }}
.global .align 8 .u64 outer[2] = {{g0, g1}};"
    );
    let code = format!(
        "and.b32 %r2, %r0, 1;\n{}st.global.v2.u32 [%rd3], {{%r3, %r4}};",
        call_entry("outer", "")
    );
    let is_even = |t: u64| t.is_multiple_of(2);
    let stays = lanes(|t| is_even(t) || t >= 8) << 32;
    let expected = |t: u64| match t {
        _ if is_even(t) => (1000 + expected_of_table(t, is_even)) | stays,
        0..8 => 0,
        _ => t | stays,
    };
    assert_eq!(words(&outer, &code), (0..32).map(expected).collect::<Vec<_>>());
}

/// Returns kind, space and lanes of each record of a kernel's warp.
fn records(functions: &str, code: &str) -> Vec<(Kind, Space, u32)> {
    let mut machine = Machine::new(32);
    let launch = machine.launch(1, 32);
    let text = kernel_with(functions, code);
    let (_, bytes) = recorded_module(&mut machine, &text, &launch, Limits::default()).unwrap();
    let trace = Trace::from_bytes("k.wmt", bytes).unwrap();
    let instructions = trace.instructions(0).unwrap();
    let chunk = trace.chunk(0, trace.kernels()[0].chunks.start).unwrap();
    let (mut cursor, mut record, mut all) = (chunk.warp(0, 0), Record::new(), Vec::new());
    while cursor.next(&mut record).unwrap() {
        let instruction = &instructions[record.instruction.0 as usize];
        all.push((instruction.kind, instruction.space, record.mask));
    }
    all
}

#[test]
fn each_function_is_recorded_with_its_lanes() {
    let touching = TABLE.replace("ret;", "ld.global.u64 %rd1, [word]; ret;");
    let touching = touching.replace(".reg .b32 %r<3>;", ".reg .b32 %r<3>; .reg .b64 %rd<2>;");
    let functions = format!(".global .align 8 .b8 word[8];\n{touching}");
    let code = format!("rem.u32 %r2, %r0, 3;\n{}{TOGETHER}", call_entry("table", ""));
    let of = |rest: u64| (Kind::Load, Space::Global, lanes(|t| t % 3 == rest) as u32);
    let all = u32::MAX;
    let expected = [
        (Kind::Load, Space::Global, all),
        of(0),
        of(1),
        of(2),
        (Kind::Store, Space::Global, all),
        (Kind::Exit, Space::None, all),
    ];
    let found = records(&functions, &code);
    assert_eq!(found.iter().map(|r| (r.0, r.2)).collect::<Vec<_>>(), expected.map(|r| (r.0, r.2)));
    assert!(found[..5].iter().all(|record| record.1 == Space::Global));
}

#[test]
fn parameters_in_local_memory_are_accessed_there() {
    let code = "mov.b64 %rd1, s; add.u64 %rd1, %rd1, %rd4; ld.local.b32 %r2, [%rd1]; ld.param.b32 %r3, [s];";
    let found = records(&function_of_structure(code), CALL_WITH_STRUCTURE);
    let loads = found.iter().filter(|record| record.0 == Kind::Load);
    assert_eq!(loads.map(|record| record.1).collect::<Vec<_>>(), [Space::Local; 2]);
}

#[test]
fn calls_of_invalid_addresses_name_the_lane() {
    let mut machine = Machine::new(32);
    let code = "selp.u64 %rd7, 0, 64, %p0;\nproto: .callprototype _ ();\ncall %rd7, proto;";
    let error = machine.run(&kernel_with("", code), 1, 32).unwrap_err().to_string();
    assert!(error.contains("call of 0x40, which is not a function"), "{error}");
}
