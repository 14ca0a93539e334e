//! Machine code of instructions and of sequences.

use std::collections::BTreeMap;

use warpmem_ptx::{Body, Flow, Module};

use super::{Code, Generation, code_of};

/// Instructions by class.
type Counts<'a> = BTreeMap<&'a str, u32>;

fn module(code: &str, sm: u32) -> Module {
    let text = format!(
        ".version 8.4\n.target sm_{sm}\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n)\n{{\n\
         .reg .pred %p<20>;\n.reg .b16 %h<20>;\n.reg .b32 %r<40>;\n.reg .f32 %f<20>;\n\
         .reg .b64 %d<40>;\n.reg .f64 %e<20>;\n.shared .b8 s[4096];\n.shared .b8 t[4096];\n{code}\nret;\n}}\n"
    );
    warpmem_ptx::parse(&text).unwrap_or_else(|error| panic!("{error}\n{code}"))
}

fn body(module: &Module) -> &Body {
    module.functions[0].body.as_ref().unwrap()
}

fn code(text: &str, sm: u32) -> Vec<Code> {
    let module = module(text, sm);
    let body = body(&module);
    assert!(body.unsupported.is_empty(), "{text}: {:?}", body.unsupported);
    code_of(body, &Flow::of(body), Generation::of(sm))
}

/// Returns the instructions of code, without those of its first `setup` instructions.
fn counts_after(setup: usize, code: &[Code]) -> Counts<'static> {
    let mut counts = Counts::new();
    for &(class, count) in code[setup..].iter().flat_map(|one| &one.counts) {
        if count > 0 {
            *counts.entry(class.name()).or_default() += count;
        }
    }
    counts
}

/// Loads a, b and c of each type, with values that differ between threads.
const LOADS: &str = "mov.u32 %r0, %tid.x;\nmul.wide.u32 %d0, %r0, 1024;\n";

/// Registers of the operands a, b and c, by the last letters of a type.
fn register(ty: &str, operand: usize) -> String {
    let class = match ty {
        "f64" => 'e',
        "f32" => 'f',
        _ if ty.ends_with("64") => 'd',
        _ if ty.ends_with("16") => 'h',
        _ => 'r',
    };
    format!("%{class}{}", 10 + operand)
}

/// Returns the types of result and operands of an instruction of the measured table.
fn types(instruction: &str) -> (String, Vec<String>) {
    let opcode = instruction.split_whitespace().next().unwrap();
    let parts: Vec<&str> = opcode.split('.').collect();
    let last = parts[parts.len() - 1].to_owned();
    let doubled = |ty: &str| match ty {
        "u16" => "u32".to_owned(),
        "s16" => "s32".to_owned(),
        ty => ty.replace("32", "64"),
    };
    match parts[0] {
        "mul" | "mad" if parts.contains(&"wide") => {
            (doubled(&last), vec![last.clone(), last.clone(), doubled(&last)])
        }
        "shl" | "shr" => (last.clone(), vec![last, "u32".into()]),
        "bfe" => (last.clone(), vec![last, "u32".into(), "u32".into()]),
        "bfi" => (last.clone(), vec![last.clone(), last, "u32".into()]),
        "popc" | "clz" | "bfind" => ("u32".into(), vec![last]),
        "cvt" => (parts[parts.len() - 2].to_owned(), vec![last]),
        "set" => ("u32".into(), vec![last.clone(), last]),
        "slct" => {
            let ty = parts[1].to_owned();
            (ty.clone(), vec![ty.clone(), ty, "s32".into()])
        }
        "match" | "activemask" | "shfl" => ("b32".into(), vec!["b32".into(); 2]),
        _ => (last.clone(), vec![last; 3]),
    }
}

/// Instructions that differ: the zeros above 32 bits are the zero register where the result is a summand, as in
/// addresses, and the measured remainders of 16 bits are 15 to 17 integer instructions without an order.
const DIFFERENT: [&str; 2] = ["cvt.u64.u32 {d},{a};", "rem.s16 {d},{a},{b};"];

/// Parses `3 control 6 fp32`; moves of constants through the uniform datapath are not counted.
fn measured(text: &str) -> Counts<'_> {
    let words: Vec<&str> = text.split(' ').filter(|&word| word != "none").collect();
    let pairs = words.chunks(2).map(|pair| (pair[1], pair[0].parse().unwrap()));
    pairs.filter(|pair| pair.0 != "uniform").collect()
}

/// Every operation has the instructions that ptxas emits, by class, on each measured generation.
#[test]
fn expansions_are_those_of_ptxas() {
    let mut different = Vec::new();
    for line in include_str!("measured.tsv").lines().skip(2) {
        let columns: Vec<&str> = line.split('\t').collect();
        let (result, operands) = types(columns[0]);
        let mut text = columns[0].replace("{d}", &register(&result, 5));
        let mut loads = String::from(LOADS);
        for (at, (name, ty)) in ["{a}", "{b}", "{c}"].into_iter().zip(&operands).enumerate() {
            if text.contains(name) {
                let register = register(ty, at);
                text = text.replace(name, &register);
                let bits = ty.trim_start_matches(|c: char| !c.is_ascii_digit());
                let bits = bits.split('x').next().unwrap();
                let bits = if ty == "f16x2" {
                    "32"
                } else if bits == "8" {
                    "16"
                } else {
                    bits
                };
                loads += &format!("ld.global.b{bits} {register}, [%d0+{}];\n", 8 * at);
            }
        }
        let setup = loads.lines().count();
        for (sm, expected) in [70, 75, 80, 86, 90].into_iter().zip(&columns[1..]) {
            if expected.is_empty() || DIFFERENT.contains(&columns[0]) {
                continue;
            }
            let found = counts_after(setup, &code(&format!("{loads}{text}"), sm));
            if found != measured(expected) {
                different.push(format!("{} sm_{sm}: {found:?}; measured {expected}", columns[0]));
            }
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

/// Returns the machine instructions of code for sm_75, without the loads that precede it.
fn total(code: &str) -> u32 {
    counts_after(0, &super::tests::code(code, 75)).values().sum()
}

/// A sequence that ends in a use of its result, and its machine instructions.
fn assert_totals(sequences: &[(&str, u32)]) {
    for &(text, instructions) in sequences {
        assert_eq!(total(text), instructions, "{text}");
    }
}

#[test]
fn names_of_values_are_no_instructions() {
    assert_totals(&[
        ("ld.param.u64 %d1, [p];\ncvta.to.global.u64 %d2, %d1;\nld.global.u32 %r1, [%d2];", 0),
        ("mov.u32 %r1, %ntid.x;\nmov.u32 %r2, %nctaid.y;", 0),
        ("mov.u32 %r1, %tid.x;", 1),
        ("mov.u32 %r1, 7;\nst.global.u32 [%d1], %r1;", 0),
        ("mov.u32 %r1, 7;\n@%p1 mov.u32 %r1, 8;", 2),
        ("mov.b64 %d1, {%r1, %r2};\nmov.b64 {%r3, %r4}, %d2;", 0),
        ("cvt.u32.u64 %r1, %d1;\ncvt.u64.u32 %d2, %r1;", 0),
        ("not.pred %p1, %p2;\n@%p1 st.global.u32 [%d1], %r1;", 0),
    ]);
    assert_eq!(counts_after(0, &code("ld.param.u64 %d1, [p];", 90))["uniform"], 1, "LDC");
}

#[test]
fn products_and_shifts_merge_into_sums() {
    let store = "st.global.u32 [%d9], %r9;";
    assert_totals(&[
        (&format!("mul.lo.s32 %r1, %r2, %r3;\nadd.s32 %r9, %r1, %r4;\n{store}"), 1),
        (&format!("shl.b32 %r1, %r2, 3;\nadd.s32 %r9, %r1, %r4;\n{store}"), 1),
        // The product is needed itself.
        (
            &format!(
                "mul.lo.s32 %r1, %r2, %r3;\nadd.s32 %r9, %r1, %r4;\n{store}\nst.global.u32 [%d9+4], %r1;"
            ),
            2,
        ),
        (
            "mul.wide.s32 %d1, %r2, 4;\nadd.s64 %d2, %d3, %d1;\nadd.s64 %d4, %d5, %d1;\nst.global.u64 [%d2], %d4;",
            2,
        ),
        // Factors in registers: IMAD.WIDE, IADD3, IADD3.X.
        ("mul.wide.s32 %d1, %r2, %r3;\nadd.s64 %d2, %d3, %d1;\nst.global.u64 [%d9], %d2;", 3),
        ("shl.b64 %d1, %d2, 2;\nadd.s64 %d3, %d1, %d4;\nst.global.u64 [%d9], %d3;", 2),
        ("cvt.s64.s32 %d1, %r2;\nadd.s64 %d3, %d1, %d4;\nst.global.u64 [%d9], %d3;", 2),
        ("mul.f32 %f1, %f2, %f3;\nsub.f32 %f4, %f5, %f1;\nst.global.f32 [%d9], %f4;", 1),
        ("mul.rn.f32 %f1, %f2, %f3;\nsub.f32 %f4, %f5, %f1;\nst.global.f32 [%d9], %f4;", 2),
        ("mul.f64 %e1, %e2, %e3;\nadd.f64 %e4, %e5, %e1;\nst.global.f64 [%d9], %e4;", 1),
        ("neg.f32 %f1, %f2;\nmul.f32 %f4, %f5, %f1;\nst.global.f32 [%d9], %f4;", 1),
    ]);
}

#[test]
fn sums_and_logic_take_three_inputs() {
    let store = "st.global.u32 [%d9], %r9;";
    assert_totals(&[
        (&format!("add.s32 %r1, %r2, %r3;\nsub.s32 %r9, %r1, %r4;\n{store}"), 1),
        (
            &format!(
                "add.s32 %r1, %r2, %r3;\nadd.s32 %r5, %r1, %r4;\nadd.s32 %r9, %r5, %r6;\n{store}"
            ),
            2,
        ),
        (&format!("and.b32 %r1, %r2, 255;\nxor.b32 %r9, %r1, %r4;\n{store}"), 1),
        (&format!("not.b32 %r1, %r2;\nand.b32 %r9, %r1, %r4;\n{store}"), 1),
        ("and.b32 %r1, %r2, 1;\nsetp.eq.s32 %p1, %r1, 0;\n@%p1 st.global.u32 [%d9], %r9;", 1),
        (
            "setp.lt.s32 %p1, %r1, %r2;\nsetp.gt.s32 %p2, %r1, %r3;\nor.pred %p3, %p1, %p2;\n@%p3 st.global.u32 [%d9], %r9;",
            2,
        ),
        ("or.pred %p1, %p2, %p3;\nor.pred %p4, %p1, %p5;\n@%p4 st.global.u32 [%d9], %r9;", 1),
        // In another block the first sum is not recomputed.
        (&format!("add.s32 %r1, %r2, %r3;\nbra L;\nL: add.s32 %r9, %r1, %r4;\n{store}"), 3),
    ]);
}

#[test]
fn constants_added_to_addresses_are_offsets() {
    assert_totals(&[
        ("add.s64 %d1, %d2, 64;\nld.global.u32 %r1, [%d1];", 0),
        ("add.s64 %d1, %d2, 64;\nld.global.u32 %r1, [%d1];\nst.global.u64 [%d3], %d1;", 2),
        // Both arrays are at one register plus their addresses.
        (
            "mov.u32 %r1, s;\nadd.s32 %r2, %r1, %r10;\nadd.s32 %r3, %r2, %r11;\nmov.u32 %r4, t;\n\
             add.s32 %r5, %r4, %r10;\nadd.s32 %r6, %r5, %r11;\nld.shared.u32 %r7, [%r3];\n\
             st.shared.u32 [%r6], %r7;",
            2,
        ),
    ]);
    let setup = "mov.u32 %r10, %tid.x;\nmov.u32 %r11, %tid.y;\n";
    let sums = "mov.u32 %r1, s;\nadd.s32 %r2, %r1, %r10;\nadd.s32 %r3, %r2, %r11;\nmov.u32 %r4, t;\n\
                add.s32 %r5, %r4, %r10;\nadd.s32 %r6, %r5, %r11;\nld.shared.u32 %r7, [%r3];\n\
                st.shared.u32 [%r6], %r7;";
    assert_eq!(total(&format!("{setup}{sums}")), 3, "two S2R and one sum");
}

#[test]
fn a_second_constant_operand_is_moved_once() {
    assert_totals(&[
        // Stride and base: MOV, IMAD.WIDE; the stride stays in its register.
        (
            "ld.param.u64 %d1, [p];\nmul.wide.s32 %d2, %r2, 4;\nadd.s64 %d3, %d1, %d2;\nld.global.u32 %r1, [%d3];",
            2,
        ),
        (
            "ld.param.u64 %d1, [p];\nmul.wide.s32 %d2, %r2, 4;\nadd.s64 %d3, %d1, %d2;\nld.global.u32 %r1, [%d3];\n\
             mul.wide.s32 %d4, %r3, 4;\nadd.s64 %d5, %d1, %d4;\nld.global.u32 %r4, [%d5];",
            3,
        ),
        ("ld.param.u32 %r1, [n];\nadd.s32 %r2, %r1, %r3;\nst.global.u32 [%d9], %r2;", 1),
    ]);
}

/// Divergent code of `n` additions under a branch.
fn branch_over(n: usize, condition: &str) -> String {
    let sums = "add.f32 %f1, %f1, %f2;\n".repeat(n);
    format!(
        "mov.u32 %r1, {condition};\nsetp.lt.s32 %p1, %r1, 9;\n@%p1 bra L;\n{sums}L: bar.sync 0;\n"
    )
}

#[test]
fn short_bodies_are_predicated_and_long_ones_have_convergence_barriers() {
    let control =
        |text: &str, sm: u32| *counts_after(0, &code(text, sm)).get("control").unwrap_or(&0);
    assert_eq!(control(&branch_over(20, "%tid.x"), 75), 0);
    let skipped: Vec<u32> =
        code(&branch_over(20, "%tid.x"), 75)[2].skipped.iter().map(|c| c.1).collect();
    assert_eq!(skipped.iter().sum::<u32>(), 20);
    assert_eq!(control(&branch_over(21, "%tid.x"), 75), 4, "BMOV, BSSY, BRA, BSYNC");
    assert_eq!(control(&branch_over(21, "%tid.x"), 80), 3);
    assert_eq!(control(&branch_over(21, "%ctaid.x"), 80), 1, "the warp does not split");
}

#[test]
fn a_merged_instruction_leaves_its_registers_to_the_reader() {
    let code = code(
        "ld.global.u32 %r2, [%d1];\nmul.wide.s32 %d2, %r2, 4;\nadd.s64 %d3, %d4, %d2;\nst.global.u32 [%d3], %r1;",
        75,
    );
    let reads: Vec<u16> = code[2].reads.iter().map(|register| register.index).collect();
    assert!(code[1].counts.is_empty());
    assert!(reads.contains(&(20 + 2)), "%r2, after 20 registers %h: {reads:?}");
}
