//! Table of the instructions that tests execute, always up to date.
//!
//! Instructions are named by opcode and types. Tests note the instructions that they execute; this module
//! runs all tests again and requires that the notes contain every decoded opcode and every instruction of the
//! surveyed programs.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use warpmem_ptx::Type;
use warpmem_testing::documents::assert_document;

use super::isa;

/// A test and its name.
pub(super) type Test = (&'static str, fn());

/// Lists the noting tests of a module.
macro_rules! tests {
    ($($name:ident),* $(,)?) => {
        pub(in crate::tests) const TESTS: &[crate::tests::coverage::Test] =
            &[$((concat!(module_path!(), "::", stringify!($name)), $name as fn())),*];
    };
}
pub(super) use tests;

thread_local! {
    static NOTED: RefCell<BTreeSet<String>> = const { RefCell::new(BTreeSet::new()) };
}

/// Marks the start of a test's code in the executed module.
pub(super) const BEGIN: &str = "// test";
/// Marks its end.
pub(super) const END: &str = "// end of test";

/// Modifiers that make another instruction of an opcode: bulk copies and sparse products differ from the
/// other forms, and these types have no registers.
const FORMS: [&str; 10] =
    ["bulk", "reduce", "tensor", "sp", "sp::ordered_metadata", "e4m3", "e5m2", "s4", "u4", "b1"];

/// Notes an instruction: opcode with modifiers.
pub(super) fn note(instruction: &str) {
    let opcode = opcode_of(instruction);
    let parts = instruction[opcode.len()..].split('.');
    let types = parts.filter(|part| Type::named(part).is_some() || FORMS.contains(part));
    let key = std::iter::once(opcode).chain(types).collect::<Vec<_>>().join(".");
    NOTED.with_borrow_mut(|noted| noted.insert(key));
}

/// Returns the opcode, with a modifier that makes another instruction of it.
fn opcode_of(instruction: &str) -> &str {
    const OPCODES: [&str; 8] = [
        "wmma.load",
        "wmma.mma",
        "wmma.store",
        "st.async",
        "red.async",
        "barrier.cluster",
        "tensormap.replace",
        "tensormap.cp_fenceproxy",
    ];
    let is_here = |opcode: &&str| {
        instruction
            .strip_prefix(opcode)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let plain = || instruction.split('.').next().unwrap_or_default();
    OPCODES.into_iter().find(is_here).unwrap_or_else(plain)
}

/// Notes the instructions of a module's marked code.
pub(super) fn note_all(module: &str) {
    for code in module.split(BEGIN).skip(1) {
        let code = code.split(END).next().unwrap_or_default();
        for statement in code.split([';', '\n', '{', '}']) {
            let mut words = statement.split_whitespace().skip_while(|word| word.starts_with('@'));
            if let Some(word) = words.next().filter(|word| is_opcode(word)) {
                note(word);
            }
        }
    }
}

fn is_opcode(word: &str) -> bool {
    let opcode = word.split('.').next().unwrap_or_default();
    warpmem_ptx::opcodes().any(|known| known == opcode)
}

/// Instructions of 76 modules that are executed here: Rodinia 3.1, PolyBench-GPU, the CUDA samples, Triton's
/// matmul, softmax and attention, and the project's own.
const OF_PROGRAMS: &str = include_str!("of_programs.txt");

/// Returns each instruction with the first test that executes it.
fn executed() -> BTreeMap<String, &'static str> {
    let clusters = super::clusters::TESTS.concat();
    let modules = [
        super::sweep::integers::TESTS,
        super::sweep::bits::TESTS,
        super::sweep::floats::TESTS,
        super::sweep::video::TESTS,
        super::sweep::comparisons::TESTS,
        super::sweep::conversions::TESTS,
        super::sweep::accesses::TESTS,
        super::sweep::atomics::TESTS,
        super::arithmetic::TESTS,
        super::rounding::TESTS,
        super::memory::TESTS,
        super::control::TESTS,
        super::warps::TESTS,
        super::matrices::TESTS,
        super::products::dense::TESTS,
        super::products::quad_pairs::TESTS,
        super::products::sparse::TESTS,
        super::products::wmma::TESTS,
        super::warpgroup::layouts::TESTS,
        super::warpgroup::values::TESTS,
        super::mbarriers::TESTS,
        super::bulk::TESTS,
        super::tensor::copies::TESTS,
        super::tensor::clusters::TESTS,
        super::tensor::reductions::TESTS,
        super::tensor::made::maps::TESTS,
        super::textures::TESTS,
        super::instructions::TESTS,
        super::wide_numbers::TESTS,
        super::calls::TESTS,
        &clusters,
    ];
    let mut executed = BTreeMap::new();
    for (name, test) in modules.into_iter().flatten() {
        NOTED.take();
        test();
        let name = name.trim_start_matches("warpmem_simt::tests::");
        for instruction in NOTED.take() {
            executed.entry(instruction).or_insert(name);
        }
    }
    executed
}

#[test]
fn every_instruction_has_a_test_of_its_result() {
    let executed = executed();
    let opcodes: BTreeSet<&str> =
        executed.keys().map(|key| key.split('.').next().unwrap_or_default()).collect();
    let untested: Vec<&str> =
        warpmem_ptx::opcodes().filter(|opcode| !opcodes.contains(opcode)).collect();
    assert!(untested.is_empty(), "opcodes without a test: {untested:?}");
    let missing: Vec<&str> =
        OF_PROGRAMS.lines().filter(|form| !executed.contains_key(*form)).collect();
    assert!(missing.is_empty(), "instructions without a test: {missing:?}");

    let mut page = String::from(PAGE);
    for (instruction, test) in &executed {
        page += &format!("| `{instruction}` | `{test}` |\n");
    }
    page += &isa::refused();
    assert_document("docs/ptx.md", &page);
}

const PAGE: &str = "\
# PTX instructions

[`warpmem capture`](capture.md) executes these instructions, listed by opcode and types without modifiers
(rounding, `.ftz`, `.sat`, spaces, cache operators, vectors, scopes, shapes). `cp.bulk` is `cp.async.bulk`,
`cp.reduce.bulk` is `cp.reduce.async.bulk`, and the suffix `.tensor` marks copies by tensor maps, which hold the
types; `st.async`, `red.async`, `barrier.cluster`, `wmma.load`, `wmma.mma`, `wmma.store`, `tensormap.replace` and
`tensormap.cp_fenceproxy` are separate instructions. The table names the first test in
`crates/traces/simt/src/tests/` that compares the result of the instruction with a reference computation. A test
generates this page, and fails if an opcode has no test.

## Modules

A module is text, with or without a byte order mark, in a fat binary, or in a listing of `cuobjdump -ptx`, of
which each kernel is taken for the highest architecture. Consecutive modules are linked. The syntax of nvcc, LLVM
and compilers from CUDA 2.2 on is accepted, with 64-bit addresses (`.address_size 32` is refused):

- `.alias`; function declarations without `;` (CUDA 2.2 to 4.0); module-level `.reg` and `.local`, private to
  each kernel and invisible to functions;
- parameters and results in registers (`.reg`), executed as `.param` variables that the function loads on entry
  and stores on return; unused results (`_`);
- vectors of registers (`.reg .v4 .f32 v`) with the elements `.x`, `.y`, `.z`, `.w` or `.r`, `.g`, `.b`, `.a`,
  and their moves (`mov.v4.f32`);
- constant expressions in place of constants, with ptxas's values; sums of a register and a constant as
  operands (`%r1+4`), each a separate addition;
- initial values that are expressions, addresses, or bytes of addresses (`0xFF00(symbol+4)`);
- accesses without a space through the name of a variable, in the variable's space.

An unknown statement is reported with its line, and only kernels that can reach it are refused. After 50 of them
the rest of the function is skipped. A function has at most 65,535 registers each of predicates, of up to 32
bits, and of 64 bits.

## Instructions

| instruction | test |
| --- | --- |
";
