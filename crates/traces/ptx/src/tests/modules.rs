//! Directives, variables, functions.

use super::{body, kernel, unsupported};
use crate::*;

const HEAD: &str = ".version 8.7\n.target sm_75, debug\n.address_size 64\n";

fn module(text: &str) -> Module {
    parse(&format!("{HEAD}{text}")).unwrap_or_else(|error| panic!("{error}"))
}

fn error(text: &str) -> String {
    parse(&format!("{HEAD}{text}")).unwrap_err().to_string()
}

#[test]
fn version_and_target_are_read() {
    let module = module("");
    assert_eq!((module.version, module.target.as_str()), ((8, 7), "sm_75"));
    assert_eq!(module.sm_version(), 75);
    assert_eq!(parse(".version 8.0\n.target sm_90a\n").unwrap().sm_version(), 90);
}

#[test]
fn variables_have_size_alignment_and_initial_bytes() {
    let module = module(
        ".global .align 16 .u32 a[2][3] = {{1, 2, 0xff}, {-1}};\n\
         .const .f32 b = 0f3F800000;\n\
         .global .u64 p[2] = {a+8, generic(b)};\n\
         .extern .shared .align 16 .b8 dynamic[];\n\
         .global .b8 text[] = {72, 105, 0};\n\
         .global .f64 d = 1.5;\n",
    );
    let [a, b, p, dynamic, text, d] = &module.variables[..] else { panic!() };
    assert_eq!((a.bytes, a.align, a.space, a.ty), (24, 16, Space::Global, Type::U32));
    assert_eq!(a.initial[..12], [1, 0, 0, 0, 2, 0, 0, 0, 255, 0, 0, 0]);
    assert_eq!((b.initial.as_slice(), b.space), (&1f32.to_le_bytes()[..], Space::Constant));
    let (first, second) = (p.relocations[0], p.relocations[1]);
    assert_eq!(
        (first.at, first.target, first.offset, first.generic),
        (0, Target::Variable(VariableId(0)), 8, false)
    );
    assert_eq!(
        (second.at, second.target, second.generic),
        (8, Target::Variable(VariableId(1)), true)
    );
    assert_eq!((dynamic.bytes, dynamic.external, dynamic.space), (0, true, Space::Shared));
    assert_eq!((text.bytes, text.align), (3, 1));
    assert_eq!(d.initial, 1.5f64.to_le_bytes());
}

#[test]
fn kernels_have_parameters_and_limits() {
    let module = module(
        ".visible .entry k(.param .u64 .ptr .global .align 16 a, .param .align 8 .b8 s[24])\n\
         .maxntid 256, 1, 1\n.minnctapersm 2\n.explicitcluster\n.reqnctapercluster 1, 1, 1\n{ ret; }\n\
         .entry e() .reqntid 32 { exit; }\n.extern .func (.param .b32 r) f(.param .b64 x);\n",
    );
    let [k, e, f] = &module.functions[..] else { panic!() };
    assert_eq!(k.params.iter().map(|&p| module.variable(p).bytes).collect::<Vec<_>>(), [8, 24]);
    assert_eq!((k.threads, k.is_kernel), (ThreadLimit::AtMost([256, 1, 1]), true));
    assert_eq!(e.threads, ThreadLimit::Exactly([32, 1, 1]));
    assert!(!f.is_kernel && f.body.is_none() && f.results.len() == 1);
    assert_eq!(module.kernels().count(), 2);
    assert_eq!(module.kernel("e"), Some(FunctionId(1)));
    assert_eq!(module.kernel("f"), None, "a device function is not a kernel");
}

#[test]
fn a_definition_completes_its_declaration() {
    let module = module(
        ".func f(.param .b32 x);\n\
         .entry k() { .param .b32 a; call f, (a); ret; }\n\
         .func f(.param .b32 x) { ret; }\n",
    );
    assert_eq!(module.functions.len(), 2);
    assert!(module.functions[0].body.is_some());
    let call = &module.functions[1].body.as_ref().unwrap().calls[0];
    assert_eq!(call.callee, Callee::Direct(FunctionId(0)));
}

#[test]
fn names_of_inner_blocks_hide_those_of_outer_ones() {
    let module = kernel("mov.u32 %r1, 1;\n{ .reg .b32 %r<2>; mov.u32 %r1, 2; }\nmov.u32 %r1, 3;");
    let writes: Vec<u16> =
        body(&module).instructions.iter().flat_map(|i| i.writes()).map(|r| r.index).collect();
    let [outer, inner, again] = writes[..] else { panic!("{writes:?}") };
    assert!(outer == again && outer != inner);
}

#[test]
fn debug_directives_only_set_source_lines() {
    let text = ".file 1 \"bfs.cu\", 123, 456\n.section .debug_str { .b8 1, 2 }\n\
                .entry k() {\n.loc 1 42 7\nmov.u32 _, 1;\n.loc 1 43 7, function_name a, inlined_at 1 2 3\nret;\n}\n";
    let module = module(text);
    assert_eq!(module.files, [(1, "bfs.cu".to_owned())]);
    let locations: Vec<_> = body(&module).instructions.iter().map(|i| i.location).collect();
    assert_eq!(locations, [Some((1, 42)), Some((1, 43))]);
}

#[test]
fn kernels_declare_their_clusters() {
    let module = module(
        ".entry none() { ret; }\n.entry k() .explicitcluster .reqnctapercluster 4, 2 { ret; }\n\
         .entry m() .maxclusterrank 8 { ret; }\n",
    );
    let [none, k, m] = &module.functions[..] else { panic!() };
    assert_eq!(none.cluster, ClusterLimit::default());
    let exactly = Some([4, 2, 1]);
    assert_eq!(k.cluster, ClusterLimit { exactly, at_most: None, explicit: true });
    assert_eq!(m.cluster, ClusterLimit { exactly: None, at_most: Some(8), explicit: false });
}

#[test]
fn invalid_modules_are_errors_with_their_line() {
    for (text, line, reason) in [
        (".bogus x;", 4, "unknown directive `.bogus`"),
        (".global .q32 x;", 4, "`.q32` is not known in a declaration"),
        (".global .align 3 .b32 x;", 4, "alignment 3 is not a power of two"),
        (".global .b32 x[1] = {1, 2};", 4, "too many initial values of `x`"),
        (".global .b32 x = y;", 4, "`y` has no address"),
        (".global .b64 x[99999999][99999999][999999];", 4, "`x` is too large"),
        (".entry k(\n.param .u32 a", 5, "expected `)`"),
        (".entry k() { ret;", 4, "expected `}`, found the end of the module"),
        (".entry k() { ret; }\n.entry k() { ret; }", 5, "`k` is defined twice"),
        (".entry k() .bogus 3 { }", 4, "`.bogus` is not known at a function"),
        (".entry k() .reqnctapercluster x { }", 4, "expected a number"),
        (".entry k() .blocksareclusters { }", 4, "`.blocksareclusters` is not known at a function"),
    ] {
        let error = error(text);
        assert!(error.contains(reason) && error.starts_with(&format!("line {line}")), "{error}");
    }
    let other_size = parse(".version 7.0\n.target sm_50\n.address_size 32\n").unwrap_err();
    assert!(other_size.to_string().contains("addresses of 32 bits; only 64 is supported"));
    let no_module = parse("int main() { return 0; }").unwrap_err();
    assert!(no_module.to_string().contains("expected a directive"), "{no_module}");
    assert!(parse("").unwrap_err().to_string().contains("there is no `.target`"));
}

#[test]
fn unsupported_statements_are_listed_and_parsing_continues() {
    let listed = unsupported(
        "mov.u32 %r1, 1;\nfrobnicate.b32 %r1, %r2;\nadd.q32 %r1, %r2, %r3;\nbra nowhere;\n\
         add.s32 %r1, %r2;\nadd.s32 %r1, %r2, %r3, %r4;\nadd.s32 %rd1, %r2, %r3;\n\
         ld.global.f32 %f1, [undeclared];\nadd.s32 %r1, %r2, %unknown;\nadd.s32 %r1, %r2, !%r3;",
    );
    let expected = [
        "line 15: instruction `frobnicate` is not supported: `frobnicate.b32 %r1, %r2;`",
        "line 16: expected a type of `add`, found `.q32`: `add.q32 %r1, %r2, %r3;`",
        "line 18: an operand is missing: `add.s32 %r1, %r2;`",
        "line 19: 1 surplus operands: `add.s32 %r1, %r2, %r3, %r4;`",
        "line 20: expected a 16- or 32-bit register: `add.s32 %rd1, %r2, %r3;`",
        "line 21: `undeclared` is not declared: `ld.global.f32 %f1, [undeclared];`",
        "line 22: `%unknown` is neither declared nor a known register: `add.s32 %r1, %r2, %unknown;`",
        "line 23: `%r3` is not a predicate: `add.s32 %r1, %r2, !%r3;`",
        "line 17: label `nowhere` is not in the function: `bra nowhere;`",
    ];
    assert_eq!(listed, expected);
}

/// Concatenated modules are linked.
#[test]
fn visible_names_refer_to_other_modules() {
    let text = "
        .extern .func twice();
        .extern .global .u32 counter;
        .global .u32 own = 1;
        .weak .global .u32 both = 7;
        .func helper() { ret; }
        .weak .func common() { ret; }
        .visible .entry first() { .reg .u64 %rd1; mov.u64 %rd1, own; call twice; ret; }
        .version 7.8\n.target sm_80\n.address_size 64
        .visible .global .u32 counter = 5;
        .global .u32 own = 2;
        .weak .global .u32 both = 8;
        .func helper() { ret; }
        .weak .func common() { trap; ret; }
        .visible .func twice() { call helper; ret; }";
    let module = module(text);
    assert_eq!((module.version, module.target.as_str()), ((8, 7), "sm_75"));
    let values: Vec<(&str, u8)> =
        module.variables.iter().map(|v| (v.name.as_str(), v.initial[0])).collect();
    assert_eq!(values, [("counter", 5), ("own", 1), ("both", 7), ("own", 2)]);
    assert!(module.variables.iter().all(|variable| !variable.external));
    let functions: Vec<(&str, usize)> = module
        .functions
        .iter()
        .map(|f| (f.name.as_str(), f.body.as_ref().unwrap().instructions.len()))
        .collect();
    let expected = [("twice", 2), ("helper", 1), ("common", 1), ("first", 3), ("helper", 1)];
    assert_eq!(functions, expected);
    let called =
        |function: usize| module.functions[function].body.as_ref().unwrap().calls[0].callee;
    assert_eq!(called(3), Callee::Direct(FunctionId(0)));
    assert_eq!(called(0), Callee::Direct(FunctionId(4)));
}

#[test]
fn visible_names_are_defined_once() {
    let twice = ".visible .global .u32 n = 1;\n.version 8.0\n.visible .global .u32 n = 2;";
    assert!(error(twice).contains("`n` is defined twice"), "{}", error(twice));
    let twice = ".visible .func f() { ret; }\n.version 8.0\n.visible .func f() { ret; }";
    assert!(error(twice).contains("`f` is defined twice"), "{}", error(twice));
}
