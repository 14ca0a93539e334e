//! Results of forms that compilers other than current nvcc emit.

use super::{Machine, result, tids};

/// Returns the 32-bit words that one thread of kernel `k(.u64 out)` writes; `function` precedes the kernel,
/// and `rest` follows it.
fn words(function: &str, code: &str, rest: &str) -> Vec<u32> {
    let text = format!(
        ".version 7.8\n.target sm_75\n.address_size 64\n{function}\n\
         .visible .entry k(.param .u64 out, .param .u64 b, .param .u64 c, .param .u32 n)\n{{\n\
         .reg .b64 o; .reg .b32 a; ld.param.u64 o, [out];\n{code}\nret;\n}}\n{rest}\n"
    );
    let mut machine = Machine::new(4);
    machine.run(&text, 1, 1).unwrap_or_else(|error| panic!("{error}"));
    machine.get(0).iter().flat_map(|&word| [word as u32, (word >> 32) as u32]).collect()
}

#[test]
fn aliases_call_their_function() {
    let function = |name: &str, value: u32| {
        format!(
            ".visible .func {name}(.param .b64 p)\n{{ .reg .b64 a; ld.param.b64 a, [p]; st.b32 [a], {value}; ret; }}\n"
        )
    };
    let functions = [".visible .func al(.param .b64 p);\n", &function("f", 7), &function("g", 9)];
    let code = "{ .param .b64 p; st.param.b64 [p], o; call.uni al, (p); }";
    assert_eq!(words(&functions.concat(), code, ".alias al, g;")[0], 9);
}

#[test]
fn address_bytes_compose_the_address() {
    let bytes: Vec<String> = (0..8).map(|at| format!("0xFF{}(foo)", "00".repeat(at))).collect();
    let variables = format!(
        ".global .align 4 .u32 foo = 5;\n.global .align 8 .u8 s[11] = {{{}, 3, 2, 1}};",
        bytes.join(", ")
    );
    let code = ".reg .b64 p; .reg .b32 v; ld.global.b64 p, [s]; ld.global.b32 v, [p]; st.global.b32 [o], v;\n\
                ld.global.u16 v, [s+8]; st.global.b32 [o+4], v;";
    assert_eq!(words(&variables, code, "")[..2], [5, 515]);
}

#[test]
fn registers_are_passed_and_returned() {
    let functions = ".func (.reg .b32 r) twice(.reg .b32 x) { add.s32 r, x, x; ret; }\n\
        .func (.reg .v2 .u32 r, .reg .pred q) swap(.reg .v2 .u32 v, .reg .pred p)\n\
        { .reg .pred n; not.pred n, p; mov.v2.u32 r, {v.y, v.x}; @n mov.u32 r.x, 1; and.pred q, p, p; @p ret; }";
    let code = ".reg .v2 .b32 v; .reg .pred p; mov.b32 a, 21; call.uni (a), twice, (a); mov.b32 v.x, a;\n\
        mov.b32 v.y, 7; st.global.v2.b32 [o], v; setp.eq.u32 p, a, 42; call (v, p), swap, (v, p);\n\
        @!p trap; st.global.v2.b32 [o+8], v; setp.eq.u32 p, a, 41; call (v, p), swap, (v, p); @p trap;\n\
        st.global.v2.b32 [o+16], v;";
    assert_eq!(words(functions, code, "")[..6], [42, 7, 7, 42, 1, 7]);
}

#[test]
fn vector_moves_swap_elements() {
    let code = ".reg .v4 .b32 v; mov.v4.b32 v, {1, 2, 3, 4}; mov.v4.b32 v, {v.w, v.x, v.x, v.z};\n\
        st.global.v4.b32 [o], v;";
    assert_eq!(words("", code, "")[..4], [4, 1, 1, 3]);
}

#[test]
fn accesses_by_variable_name_use_its_space() {
    let code = ".shared .align 4 .b32 s[2]; .local .align 4 .b32 l[2]; mov.b32 a, 5;\n\
        st.shared.b32 [s+4], a; ld.b32 a, [s+4]; st.global.b32 [o], a; st.b32 [l+4], 6;\n\
        ld.local.b32 a, [l+4]; st.global.b32 [o+4], a; atom.add.u32 a, [s+4], 3; ld.shared.b32 a, [s+4];\n\
        st.global.b32 [o+8], a; ld.b32 a, [n]; st.global.b32 [o+12], a;";
    assert_eq!(words("", code, "")[..4], [5, 6, 8, 4]);
}

#[test]
fn sums_and_expressions_are_operands() {
    let code = "mul.lo.u32 %r1, %r0+2*2, (1 << 2) - 1; st.global.u64 [%rd3+4-4], %rd1+-8;\n\
        st.global.u32 [%rd3], %r1;";
    let got = result(code, &tids(), &[]);
    assert!(got.iter().zip(0..).all(|(&word, t): (_, u64)| word & 0xffff_ffff == 3 * (t + 4)));
}

#[test]
fn module_level_locals_are_private_to_a_thread() {
    let module = ".reg .u32 %rv<2>; .local .align 4 .u32 own;";
    let code =
        "mov.u32 %rv1, 9; st.local.u32 [own], %rv1; ld.local.u32 a, [own]; st.global.u32 [o], a;";
    assert_eq!(words(module, code, "")[0], 9);
}
