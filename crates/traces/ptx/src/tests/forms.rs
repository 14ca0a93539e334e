//! Forms that compilers other than current nvcc emit.

use super::{body, kernel, kernel_text, unsupported};
use crate::*;

const HEAD: &str = ".version 7.8\n.target sm_75\n.address_size 64\n";

fn module(text: &str) -> Module {
    let module = parse(&format!("{HEAD}{text}")).unwrap_or_else(|error| panic!("{error}"));
    for body in module.functions.iter().filter_map(|function| function.body.as_ref()) {
        assert_eq!(body.unsupported, []);
    }
    module
}

/// Returns the unsupported statements of a module's last function.
fn listed(text: &str) -> Vec<String> {
    let module = parse(&format!("{HEAD}{text}")).unwrap_or_else(|error| panic!("{error}"));
    let body = module.functions.last().and_then(|function| function.body.as_ref()).unwrap();
    body.unsupported.iter().map(ToString::to_string).collect()
}

#[test]
fn an_alias_is_another_name_of_a_function() {
    let module = module(
        ".func .attribute(.unified(1, 2)) al(.param .b64 x);\n.func f(.param .b64 x) { ret; }\n.func g(.param .b64 x) { ret; }\n\
         .global .u64 table[1] = {al};\n\
         .entry k() { .param .b64 p; .reg .b64 %rd; mov.b64 %rd, al; call al, (p); ret; }\n.alias al, g;\n",
    );
    let kernel = module.functions.last().unwrap().body.as_ref().unwrap();
    let g = FunctionId(2);
    assert_eq!(kernel.calls[0].callee, Callee::Direct(g));
    assert_eq!(kernel.instructions[0].sources[0], Value::Function(g));
    assert_eq!(module.variables.last().map(|v| v.name.as_str()), Some("p"));
    let table = module.variables.iter().find(|variable| variable.name == "table").unwrap();
    assert_eq!(table.relocations[0].target, Target::Function(g));
}

#[test]
fn aliases_require_declared_functions() {
    for (text, reason) in [
        (".func f() { ret; }\n.alias g, f;", "line 5: `g` is not a declared function"),
        (".func g();\n.alias g, f;", "line 5: `f` is not a declared function"),
        (
            ".func f() { ret; }\n.func g() { ret; }\n.alias g, f;",
            "`g` is a function with its own body",
        ),
    ] {
        let error = parse(&format!("{HEAD}{text}")).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn address_bytes_can_be_initial_values() {
    let module = module(
        ".global .u32 foo = 5;\n.func f() { ret; }\n\
         .global .u8 s[6] = {3, 0xFF(foo), 0xFF00(foo+4), 0xFF00000000000000(generic(foo)), 0xff(f), \
         0xFF00(131187)};\n.global .u32 low = foo;\n",
    );
    let [_, s, low] = &module.variables[..] else { panic!() };
    assert_eq!((s.bytes, &s.initial[..]), (6, &[3, 0, 0, 0, 0, 0][..]));
    let parts: Vec<_> = s.relocations.iter().map(|r| (r.at, r.shift, r.bytes, r.offset)).collect();
    assert_eq!(parts, [(1, 0, 1, 0), (2, 8, 1, 4), (3, 56, 1, 0), (4, 0, 1, 0)]);
    assert!(s.relocations[2].generic && s.relocations[3].target == Target::Function(FunctionId(0)));
    assert_eq!((low.relocations[0].bytes, low.initial.len()), (4, 4));
    let module = self::module(".global .u8 s[2] = {0xFF(1000 + 546), 0xFF00(131187)};");
    assert_eq!(module.variables[0].initial, [(1546 & 0xff) as u8, (131_187 >> 8 & 0xff) as u8]);
    for (mask, reason) in [("0xf", "mask 0xf"), ("0x1FE", "mask 0x1fe"), ("0", "mask 0x0")] {
        let text = format!("{HEAD}.global .u32 x;\n.global .u8 s[1] = {{{mask}(x)}};");
        let error = parse(&text).unwrap_err().to_string();
        assert!(error.contains(reason) && error.contains("one byte"), "{error}");
    }
}

#[test]
fn initial_values_are_expressions_of_their_type() {
    let module = module(
        ".global .u32 a[3] = {1+2, 1 << 4, 3 == 3 ? (7 & ~1) : 9};\n.global .f32 b = 1.0/4.0;\n\
         .global .f64 c[2] = {-2.5, 0f3F800000};\n.global .b32 d = 0f3F800000;\n.global .f32 e = 0;\n\
         .global .u64 p = a+4*2;\n",
    );
    let words = |at: usize| -> Vec<u32> {
        module.variables[at]
            .initial
            .chunks(4)
            .map(|b| u32::from_le_bytes(*b.first_chunk().unwrap()))
            .collect()
    };
    assert_eq!((words(0), words(1)), (vec![3, 16, 6], vec![0.25f32.to_bits()]));
    assert_eq!(module.variables[2].initial, [(-2.5f64).to_le_bytes(), 1f64.to_le_bytes()].concat());
    assert_eq!((words(3), words(4)), (vec![1f32.to_bits()], vec![0]));
    assert_eq!(module.variables[5].relocations[0].offset, 8);
    for text in [".global .f32 x = 1;", ".global .u32 x = 1.0;", ".global .f16 x = 1.0;"] {
        let error = parse(&format!("{HEAD}{text}")).unwrap_err().to_string();
        assert!(error.contains("is not of type `."), "{error}");
    }
    for text in [".shared .u32 x = 1;", ".global .samplerref x = { filter_mode = nearest };"] {
        let error = parse(&format!("{HEAD}{text}")).unwrap_err().to_string();
        assert!(error.contains("`x` cannot have an initial value"), "{error}");
    }
    for value in ["s", "generic(s)", "s+4"] {
        let text = format!("{HEAD}.shared .b32 s;\n.global .u64 p = {value};");
        let error = parse(&text).unwrap_err().to_string();
        assert!(error.contains("`s`: an initial value is the address of a variable in"), "{error}");
    }
}

#[test]
fn expressions_replace_constants_everywhere() {
    let module = kernel(
        "add.s32 %r1, %r2, 4*5+1;\nld.global.u32 %r1, [%rd1+4*2];\nld.global.u32 %r1, [%rd1+1<<4];\n\
         ld.global.u32 %r1, [%rd1+-8];\nmov.u64 %rd2, table+4+4;\nmov.f64 %fd1, 1.0/4.0;\n\
         setp.lt.u32 %p1, %r1, !0 + WARP_SZ;\nbar.sync 2-1;\nlop3.b32 %r1, %r2, %r3, %r4, 0xF0 & 0xCC;\n\
         mov.b64 %rd3, {1+1, (2)};\nmad.lo.s32 %r1, %r2, -1*4, 3;",
    );
    let body = body(&module);
    let value = |at: usize, source: usize| body.instructions[at].sources[source];
    assert_eq!(value(0, 1), Value::Bits(21));
    let offsets: Vec<i64> = body.instructions[1..4]
        .iter()
        .map(|i| match i.op {
            Op::Load(access) => access.offset,
            _ => panic!(),
        })
        .collect();
    assert_eq!(offsets, [8, 16, -8]);
    assert_eq!(value(4, 0), Value::Variable(VariableId(0), 8));
    assert_eq!(value(5, 0), Value::Bits(0.25f64.to_bits()));
    assert_eq!((value(6, 1), value(7, 0)), (Value::Bits(33), Value::Bits(1)));
    assert_eq!(body.instructions[8].op, Op::Lop3 { table: 0xC0, combine: None });
    assert_eq!((value(9, 0), value(9, 1)), (Value::Bits(2), Value::Bits(2)));
    assert_eq!(value(10, 1), Value::Bits(u64::from((-4i32) as u32)));
}

#[test]
fn a_register_sum_operand_becomes_an_instruction() {
    let module = kernel("@%p1 add.u32 %r1, %r2+1, %r3+-1;\nst.global.u64 [%rd1], %rd2+2*4;");
    let body = body(&module);
    let add = |ty| Op::Binary(Binary::Add, ty, Modes::default());
    let ops: Vec<Op> = body.instructions[..4].iter().map(|i| i.op).collect();
    assert_eq!(ops, [add(Type::U32), add(Type::U32), add(Type::U32), add(Type::U64)]);
    assert_eq!(body.instructions[1].sources[1], Value::Bits(u64::from(u32::MAX)));
    assert!(body.instructions[..3].iter().all(|i| i.guard == body.instructions[0].guard));
    assert_eq!(body.instructions[2].sources[0].register(), body.instructions[0].dests[0]);
    let refused = unsupported(
        "add.f16x2 %r1, %r2+1, %r3;\nadd.u32 %r1+1, %r2, %r3;\nmov.v2.u32 {%r1, %r2+1}, {%r3, %r4};",
    );
    let reasons = [
        "cannot be a sum of floating-point numbers",
        "a sum can only be read",
        "a vector move does not support sums",
    ];
    assert!(refused.iter().zip(reasons).all(|(line, reason)| line.contains(reason)), "{refused:?}");
}

#[test]
fn a_register_vector_expands_to_its_elements() {
    let module = kernel(
        ".reg .v4 .f32 v<3>;\n.reg .v2 .b32 w;\nld.global.v4.f32 v1, [%rd1];\nadd.f32 v2.r, v1.g, v1.z;\n\
         mov.b64 %rd2, w;\nmov.b64 w, %rd2;\nmov.u32 w.y, w.x;\nld.global.u32 %r1, [w.x+4];",
    );
    let index = |value: Value| value.register().unwrap().index;
    let instructions = &body(&module).instructions;
    let loaded: Vec<u16> = instructions[0].writes().map(|register| register.index).collect();
    let first = loaded[0];
    assert_eq!(loaded, [first, first + 1, first + 2, first + 3]);
    assert_eq!(instructions[1].dests[0].unwrap().index, first + 4);
    assert_eq!(
        instructions[1].sources.iter().map(|&v| index(v)).collect::<Vec<_>>(),
        [first + 1, first + 2]
    );
    assert_eq!(
        (instructions[2].op, instructions[3].op),
        (Op::Pack(Type::B64), Op::Unpack(Type::B64))
    );
    let refused =
        unsupported(".reg .v2 .b32 w;\nmov.u32 %r1, w.z;\n.reg .v2 .pred q;\n.reg .v8 .b32 q;");
    let reasons = ["`w` has 2 elements, none is `.z`", "type `.pred` are not known", "type `.v8`"];
    assert!(refused.iter().zip(reasons).all(|(line, reason)| line.contains(reason)), "{refused:?}");
}

#[test]
fn register_parameters_are_loaded_and_results_stored() {
    let module = module(
        ".func (.reg .b32 r, .reg .pred q) f(.reg .b32 x, .reg .v2 .b16 v, .param .b64 p)\n{\n.reg .pred c;\n\
         setp.eq.u32 c, x, 0;\n@c ret;\nmov.b32 r, x;\n}\n\
         .entry k() { .reg .b32 a; .reg .v2 .b16 h; .reg .pred p; .param .b64 d; call (a, p), f, (a, h, d);\n\
         call (_, p), f, (5, h, d); ret; }\n",
    );
    let [f, k] = &module.functions[..] else { panic!() };
    let bytes =
        |ids: &[VariableId]| ids.iter().map(|&id| module.variable(id).bytes).collect::<Vec<_>>();
    assert_eq!((bytes(&f.params), bytes(&f.results)), (vec![4, 2, 2, 8], vec![4, 1]));
    let body = f.body.as_ref().unwrap();
    let is_store =
        |at: usize| matches!(body.instructions[at].op, Op::Store(a) if a.space == Space::Param);
    assert!(body.instructions[..3].iter().all(|i| matches!(i.op, Op::Load(_))));
    assert_eq!(body.instructions[6].op, Op::Return);
    for at in [4, 5] {
        assert!(is_store(at) && body.instructions[at].guard == body.instructions[6].guard);
    }
    assert!(is_store(8) && is_store(9), "results at the end of the body");
    let k = k.body.as_ref().unwrap();
    assert_eq!(k.calls[0].arguments.len(), 4);
    assert!(matches!(k.instructions[1].op, Op::SetPredicate { .. }));
    assert_eq!(k.instructions[2].dests[0], None);
}

#[test]
fn calls_must_match_the_functions_parameters() {
    let function = ".func (.reg .b32 r) f(.reg .b32 x) { ret; }\n";
    for (call, has) in [("call f, (a);", "1 and 0"), ("call (a), f, (a, a);", "2 and 1")] {
        let text = format!("{function}.entry k() {{ .reg .b32 a;\n{call}\nret; }}");
        let expected =
            format!("line 6: `f` takes 1 and returns 1 values, the call has {has}: `{call}`");
        assert_eq!(listed(&text), [expected]);
    }
}

#[test]
fn accesses_by_variable_name_use_its_space() {
    let module = kernel(
        ".local .b32 own[2];\nld.b32 %r1, [tile+4];\nst.b32 [own], %r1;\natom.add.u32 %r1, [tile], 1;\n\
         ld.b32 %r1, [n];\nld.b32 %r1, [table];\nld.b32 %r1, [%rd1];",
    );
    let spaces: Vec<Space> = body(&module)
        .instructions
        .iter()
        .filter_map(|i| match i.op {
            Op::Load(access) | Op::Store(access) => Some(access.space),
            Op::Atomic(atomic) => Some(atomic.space),
            _ => None,
        })
        .collect();
    use Space::*;
    assert_eq!(spaces, [Shared, Local, Shared, Param, Global, Generic]);
    let stored = unsupported(".const .b32 c = 1;\nld.b32 %r1, [c];\nst.b32 [c], 2;");
    assert!(stored.len() == 1 && stored[0].contains("can only be loaded"), "{stored:?}");
}

#[test]
fn old_declarations_end_without_a_semicolon() {
    let text = "\t.version 2.3\n.target sm_20\n.address_size 64\n\
                .visible .func (.param .s32 r) twice (.param .u64 a)\n.entry k (.param .u64 p)\n\
                .func last ()\n\n\t.file 1 \"<command-line>\"\n\
                .entry k (\n.param .u64 p)\n{ exit; }\n.visible .func never ()";
    let module = parse(text).unwrap();
    assert_eq!(module.kernels().count(), 1);
    let bodies: Vec<(&str, bool)> =
        module.functions.iter().map(|f| (f.name.as_str(), f.body.is_some())).collect();
    assert_eq!(bodies, [("twice", false), ("k", true), ("last", false), ("never", false)]);
    let error = parse(&text.replace(".func last ()", ".func last () 7")).unwrap_err();
    assert!(error.to_string().starts_with("line 6: expected `{`, found `7`"), "{error}");
}

/// Old compilers declare registers and local variables at module level.
#[test]
fn module_level_registers_and_locals_are_per_kernel() {
    let module = module(
        ".reg .u32 %rv<3>;\n.local .u32 own;\n\
         .entry a() { .reg .u32 %r1; mov.u32 %r1, own; mov.u32 %rv1, 1; st.local.u32 [own], %rv1; ret; }\n\
         .entry b() { mov.u32 %rv2, 1; ret; }\n",
    );
    let [a, b] = &module.functions[..] else { panic!() };
    let locals = |f: &Function| f.body.as_ref().unwrap().locals.clone();
    assert_ne!(locals(a), locals(b));
    assert_eq!(b.body.as_ref().unwrap().registers, [0, 3, 0]);
    let function = listed(".reg .u32 %rv<3>;\n.func f() { mov.u32 %rv1, 1; ret; }\n");
    assert!(function[0].contains("`%rv1` is neither declared"), "{function:?}");
}

#[test]
fn special_registers_are_vectors_of_four() {
    let module = kernel(".reg .v4 .b32 v;\nmov.v4.u32 v, %tid;\nmov.u32 %r1, %ntid.w;");
    let instructions = &body(&module).instructions[..5];
    let sources: Vec<Value> = instructions.iter().map(|i| i.sources[0]).collect();
    let tid = |axis| Value::Special(Special::Tid(axis));
    let zero = Value::Bits(0);
    assert_eq!(sources, [tid(Axis::X), tid(Axis::Y), tid(Axis::Z), zero, zero]);
    let refused = unsupported("mov.u32 %r1, %laneid.w;\nmov.u32 %r1, %pm0;");
    let names = ["`%laneid.w` is neither", "`%pm0` is neither"];
    assert!(refused.iter().zip(names).all(|(line, name)| line.contains(name)), "{refused:?}");
}

#[test]
fn ftz_may_precede_the_comparison() {
    let module = kernel("setp.ftz.eq.f32 %p1, %f1, %f2;\nset.ftz.gt.u32.f32 %r1, %f1, %f2;");
    let ops: Vec<Op> = body(&module).instructions.iter().map(|i| i.op).collect();
    assert!(matches!(ops[0], Op::SetPredicate { ftz: true, compare: Compare::Equal, .. }));
    assert!(matches!(ops[1], Op::Set { ftz: true, compare: Compare::Greater, .. }));
}

#[test]
fn errors_name_the_line_of_the_missing_part() {
    let listed = unsupported(
        "mov.u32 %r1, 1\nmov.u32 %r2, 2;\n.reg .b32 zz\nmov.u32 zz, 3;\nmov.u32 %r1, (1;",
    );
    let expected = [
        "line 14: expected `;`, found `mov` on line 15: `mov.u32 %r1, 1`",
        "line 16: expected `;`, found `mov` on line 17: `.reg .b32 zz`",
        "line 18: expected `)`, found `;`: `mov.u32 %r1, (1;`",
    ];
    assert_eq!(listed, expected);
    for (text, expected) in [
        (".global .u32 x\n.global .u32 y;", "line 4: expected `;`, found `.global` on line 5"),
        (".global .align 3\n.u32 x;", "line 4: alignment 3 is not a power of two"),
        (".global .u32 x;\n.global .u32 x;\n\n.global .u32 y;", "line 5: `x` is defined twice"),
        (
            ".entry k(\n.param .u32 a\n.param .u32 b) { ret; }",
            "line 5: expected `)`, found `.param` on line 6",
        ),
        ("\nfoo;", "line 5: expected a directive, found `foo`"),
    ] {
        let error = parse(&format!("{HEAD}{text}")).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn parsing_a_function_stops_after_fifty_errors() {
    let code = "frobnicate.b32 %r1, %r2;\n{ frobnicate; }\n".repeat(16_000);
    let text = kernel_text(&format!("{code}bra nowhere;\n")) + ".entry next() { ret; }\n";
    let module = parse(&text).unwrap();
    let listed = &module.functions[0].body.as_ref().unwrap().unsupported;
    assert_eq!(listed.len(), 51);
    let last = listed[50].to_string();
    let reason = "the rest of the function is skipped after 50 unsupported statements";
    assert!(last.starts_with(&format!("line 63: {reason}")), "{last}");
    assert!(module.kernel("next").is_some(), "the next kernel is read");
}

#[test]
fn a_byte_order_mark_is_skipped() {
    assert_eq!(parse(&format!("\u{feff}{HEAD}")).unwrap().sm_version(), 75);
}
