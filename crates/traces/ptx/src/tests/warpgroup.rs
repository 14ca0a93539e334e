//! Matrix products of warpgroups. Accepted forms are accepted by ptxas 12.9,
//! and forms refused as invalid are refused by it.

use super::{assert_refused, first, unsupported};
use crate::*;

/// Lists `count` registers in braces.
fn registers(count: usize) -> String {
    let names: Vec<String> = (0..count).map(|at| format!("%x{at}")).collect();
    format!("{{{}}}", names.join(", "))
}

/// Writes a product with the modifiers after `.aligned` and the operands after D.
fn product(modifiers: &str, d: usize, operands: &str) -> String {
    let d = registers(d);
    format!(".reg .b32 %x<130>;\nwgmma.mma_async.sync.aligned.{modifiers} {d}, {operands};")
}

fn decoded(modifiers: &str, d: usize, operands: &str) -> (GroupProduct, Instruction) {
    let instruction = first(&product(modifiers, d, operands));
    let Op::Wgmma(Wgmma::Product(product)) = instruction.op else { panic!("{instruction:?}") };
    (product, instruction)
}

#[test]
fn products_decode_their_matrices() {
    let factor = |element| Factor { element, negated: false, transposed: false };
    let (product, instruction) =
        decoded("m64n64k16.f32.f16.f16", 32, "%rd1, %rd2, %p1, 1, 1, 0, 0");
    let expected = GroupProduct {
        n: 64,
        d: Type::F32,
        a: factor(Element::F16),
        b: factor(Element::F16),
        a_in_registers: false,
        saturate: false,
    };
    assert_eq!((product, product.k(), product.registers()), (expected, 16, 32));
    assert_eq!(instruction.dests.len(), 32);
    let sources = &instruction.sources;
    let wide = |index| Value::Register(Register { class: RegisterClass::Wide, index });
    assert_eq!(sources[..2], [wide(1), wide(2)]);
    assert_eq!(sources[2].register().unwrap().class, RegisterClass::Predicate);
    let d: Vec<Option<Register>> = sources[3..].iter().map(|value| value.register()).collect();
    assert_eq!(d, *instruction.dests, "D is read");

    let (product, instruction) =
        decoded("m64n8k16.f32.bf16.bf16", 4, "{%r1, %r2, %r3, %r4}, %rd2, %p1, -1, 1, 1");
    assert!(product.a_in_registers && product.a.negated && !product.b.negated);
    assert!(product.b.transposed && !product.a.transposed);
    assert_eq!(instruction.sources.len(), 4 + 1 + 1 + 4);
    let (product, _) = decoded("m64n8k16.f16.f16.f16", 2, "%rd1, %rd2, %p1, 1, -1, 1, 0");
    assert!(product.a.transposed && !product.b.transposed && product.b.negated);
    assert_eq!(product.registers(), 2);
}

#[test]
fn every_type_has_its_k_and_operands() {
    for (types, k, d, operands) in [
        ("f32.tf32.tf32", 8, 128, "%rd1, %rd2, 1, 1, -1"),
        ("f32.e4m3.e4m3", 32, 128, "%rd1, %rd2, %p1, 1, 1"),
        ("f16.e5m2.e4m3", 32, 64, "{%r1, %r2, %r3, %r4}, %rd2, %p1, 1, 1"),
        ("f32.e4m3.e5m2", 32, 128, "%rd1, %rd2, !%p1, 1, 1"),
        ("f16.e5m2.e5m2", 32, 64, "%rd1, %rd2, %p1, 1, 1"),
        ("s32.s8.u8", 32, 128, "%rd1, %rd2, %p1"),
        ("s32.u8.u8", 32, 128, "{%r1, %r2, %r3, %r4}, %rd2, %p1"),
    ] {
        let (product, _) = decoded(&format!("m64n256k{k}.{types}"), d, operands);
        assert_eq!((product.k(), product.registers(), product.n), (k, d, 256), "{types}");
    }
    for types in ["satfinite.s32.s8.s8", "s32.satfinite.s8.s8", "s32.s8.s8.satfinite"] {
        let (product, _) = decoded(&format!("m64n24k32.{types}"), 12, "%rd1, %rd2, %p1");
        assert!(product.saturate, "{types}");
    }
}

/// D is not a source if it is never added.
#[test]
fn d_is_read_unless_the_predicate_is_always_false() {
    for (scale, sources) in [("%p1", 7), ("!%p1", 7), ("1", 7), ("0", 3)] {
        let operands = format!("%rd1, %rd2, {scale}, 1, 1, 0, 0");
        let (_, instruction) = decoded("m64n8k16.f32.f16.f16", 4, &operands);
        assert_eq!(instruction.sources.len(), sources, "{scale}");
    }
}

#[test]
fn column_counts_follow_the_isa() {
    let is_taken = |n: usize, types: &str, rest: &str| {
        let operands = format!("%rd1, %rd2, %p1{rest}");
        unsupported(&product(&format!("m64n{n}k32.{types}"), n / 2, &operands)).is_empty()
    };
    let taken = |types, rest| -> Vec<usize> {
        (0..=260).step_by(4).filter(|&n| is_taken(n, types, rest)).collect()
    };
    let floats = taken("f32.e4m3.e4m3", ", 1, 1");
    assert_eq!(floats, (8..=256).step_by(8).collect::<Vec<_>>());
    let integers = taken("s32.s8.s8", "");
    let expected: Vec<usize> = [8, 24].into_iter().chain((16..=256).step_by(16)).collect();
    assert!(integers.len() == expected.len() && expected.iter().all(|n| integers.contains(n)));
}

#[test]
fn groups_are_fenced_committed_and_waited_for() {
    for (code, f) in
        [("fence", Wgmma::Fence), ("commit_group", Wgmma::Commit), ("wait_group", Wgmma::Wait(3))]
    {
        let groups = if f == Wgmma::Wait(3) { " 3" } else { "" };
        let instruction = first(&format!("wgmma.{code}.sync.aligned{groups};"));
        assert_eq!(instruction.op, Op::Wgmma(f));
        assert!(instruction.sources.is_empty() && instruction.dests.is_empty());
    }
}

#[test]
fn register_reallocation_is_a_hint() {
    for action in ["inc", "dec"] {
        let code = format!("setmaxnreg.{action}.sync.aligned.u32 240;");
        assert_eq!(first(&code).op, Op::Hint);
    }
}

#[test]
fn unsupported_instructions_are_refused_by_name() {
    for (code, reason) in [
        (
            "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %r1, 0, %p1, 1, 1, 0, 0;".into(),
            "`wgmma.mma_async.sp`, of sparse matrices, is not supported",
        ),
        (
            product("m64n8k256.s32.b1.b1.and.popc", 4, "%rd1, %rd2, %p1"),
            "`wgmma` of type `.b1` is not supported",
        ),
        ("wgmma.other.sync.aligned;".into(), "`wgmma.other` is not supported"),
    ] {
        assert_refused(&code, reason);
    }
}

#[test]
fn invalid_instructions_are_refused_with_the_reason() {
    const OPERANDS: &str = "%rd1, %rd2, %p1, 1, 1, 0, 0";
    let wrong = |modifiers: &str, d: usize, operands: &str| {
        let refused = unsupported(&product(modifiers, d, operands));
        assert_eq!(refused.len(), 1, "{modifiers} {operands}: {refused:?}");
        refused[0].clone()
    };
    for (modifiers, d, text) in [
        ("m32n8k16.f32.f16.f16", 4, "shape m32n8k16 and these types is not an instruction"),
        ("m64n12k16.f32.f16.f16", 6, "shape m64n12k16"),
        ("m64n264k16.f32.f16.f16", 130, "shape m64n264k16"),
        ("m64n8k8.f32.f16.f16", 4, "shape m64n8k8"),
        ("m64n8k16.f16.bf16.bf16", 2, "shape m64n8k16"),
        ("m64n8k16.f32.f16.bf16", 4, "shape m64n8k16"),
        ("m64n8k16.s32.f16.f16", 4, "shape m64n8k16"),
        ("m64n8k16.satfinite.f32.f16.f16", 4, "shape m64n8k16"),
        ("m64n8k16.f32.f64.f64", 4, "shape m64n8k16"),
        ("m64n8k16.f32.f16.f16", 8, "a matrix of 8 registers where 4 are expected"),
        ("m64n8.f32.f16.f16", 4, "expected a shape"),
        ("m64n8k16.f64.f16.f16", 4, "`wgmma` of type `.f64` is not supported"),
        ("m64n8k16.f32.f16.f18", 4, "expected the type of a matrix"),
    ] {
        let refused = wrong(modifiers, d, OPERANDS);
        assert!(refused.contains(text), "{modifiers}: {refused}");
    }
    for (operands, text) in [
        ("%rd1, %rd2, %p1, 2, 1, 0, 0", "a scale of A or B is 1 or -1, not 2"),
        ("%rd1, %rd2, %p1, 1, 0, 0, 0", "a scale of A or B is 1 or -1, not 0"),
        ("%rd1, %rd2, %p1, 1, 1, 2, 0", "a transposition is 0 or 1, not 2"),
        ("%rd1, %rd2, %p1, 1, 1, 0, -1", "a transposition is 0 or 1, not -1"),
        ("%rd1, %rd2, %p1, 1, 1, 0", "an operand is missing"),
        ("%rd1, %rd2, %p1, 1, 1, 0, 0, 0", "1 surplus operands"),
        ("{%r1, %r2, %r3, %r4}, %rd2, %p1, 1, 1, 0, 0", "1 surplus operands"),
        ("{%r1, %r2}, %rd2, %p1, 1, 1, 0", "a matrix of 2 registers where 4 are expected"),
        ("%r1, %rd2, %p1, 1, 1, 0, 0", "expected a 64-bit register"),
        ("%rd1, %rd2, %r1, 1, 1, 0, 0", "expected a predicate register"),
    ] {
        let refused = wrong("m64n8k16.f32.f16.f16", 4, operands);
        assert!(refused.contains(text), "{operands}: {refused}");
    }
    let transposed = wrong("m64n8k8.f32.tf32.tf32", 4, OPERANDS);
    assert!(transposed.contains("2 surplus operands"), "{transposed}");
    for (code, text) in [
        ("wgmma.fence;", "`wgmma` lacks `.sync`"),
        ("wgmma.wait_group.sync.aligned;", "an operand is missing"),
        ("wgmma.wait_group.sync.aligned %r1;", "expected a constant"),
        (
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, _}, %rd1, %rd2, %p1, 1, 1, 0, 0;",
            "`_` can only be written",
        ),
        (
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, _}, %rd1, %rd2, 0, 1, 1, 0, 0;",
            "`_` can only be written",
        ),
        ("setmaxnreg.inc.sync.aligned.u32 20;", "20 registers per thread; valid: multiples of 8"),
        ("setmaxnreg.inc.sync.aligned.u32 100;", "100 registers per thread"),
        ("setmaxnreg.inc.sync.aligned.u32 264;", "264 registers per thread"),
        ("setmaxnreg.sync.aligned.u32 64;", "`.inc` or `.dec`"),
    ] {
        assert_refused(code, text);
    }
}
