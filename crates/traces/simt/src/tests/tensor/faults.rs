//! Errors of tensor copies.

use warpmem_ptx::Type;

use super::{Tensor, boxed_kernel, machine};
use crate::Swizzle;

const LOAD: &str = "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes";
const STORE: &str = "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group";

/// Runs code on one lane; returns the error.
pub(super) fn fault(tensor: &Tensor, code: &str) -> String {
    let code = format!(
        "setp.eq.u32 %p1, %r0, 0;\n@!%p1 bra END;\nmbarrier.init.shared.b64 [bar], 1;\n\
         mbarrier.arrive.expect_tx.shared.b64 %rd9, [bar], 32;\n{code}\nEND: bar.warp.sync -1;"
    );
    machine(tensor, &[]).run(&boxed_kernel(&code), 1, 32).unwrap_err().to_string()
}

fn matrix() -> Tensor {
    Tensor::new(Type::U32, [8, 4], [4, 2])
}

#[test]
fn misaligned_addresses_and_invalid_maps_are_named() {
    for (code, reason) in [
        (
            format!("{LOAD} [boxed+16], [%rd2, {{0, 0}}], [bar];"),
            "a box at 0x10 of shared memory, which is not a multiple of 128",
        ),
        (format!("{STORE} [%rd2, {{0, 0}}], [boxed+64];"), "which is not a multiple of 128"),
        (
            format!("{LOAD} [boxed], [%rd2, {{0, 0}}], [bar+4];"),
            "access of 8 bytes at the misaligned address 0x6004",
        ),
        (format!("{LOAD} [boxed], [%rd2, {{0, 0}}], [boxed+512];"), "no initialised mbarrier"),
        (
            format!("{STORE} [%rd2, {{0, 0}}], [boxed+24576];"),
            "32 bytes at 0x6000 of shared memory is out of bounds",
        ),
        (
            format!("add.u64 %rd2, %rd2, 32;\n{LOAD} [boxed], [%rd2, {{0, 0}}], [bar];"),
            "which is not a multiple of 64",
        ),
        (
            format!("{LOAD} [boxed], [%rd1, {{0, 0}}], [bar];"),
            "`cp.async.bulk.tensor`: no tensor map at 0x",
        ),
        (
            "cp.async.bulk.prefetch.tensor.2d.L2.global [%rd3, {0, 0}];".into(),
            "`cp.async.bulk.prefetch.tensor`: no tensor map at 0x",
        ),
        (
            "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%rd3, {0, 0}], [boxed];"
                .into(),
            "bytes that neither `cuTensorMapEncodeTiled` nor `tensormap.replace` made",
        ),
        (
            format!("mov.u64 %rd5, 0x1000;\n{LOAD} [boxed], [%rd5, {{0, 0}}], [bar];"),
            "8 bytes at 0x1000 of global memory is out of bounds",
        ),
        (
            "cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%rd2, {0, 0, 0}], [boxed];".into(),
            "of a tensor of 2 dimensions",
        ),
    ] {
        let error = fault(&matrix(), &code);
        assert!(error.contains(reason) && error.contains("line "), "{code}: {error}");
    }
}

/// The tensor may be larger than the allocation: only the box must be allocated.
#[test]
fn a_box_must_be_allocated_row_by_row() {
    let large = Tensor::new(Type::U32, [8, 1 << 20], [4, 2]);
    // The three arrays are contiguous.
    let rows = 3 * super::WORDS / 4;
    let load = |y: usize| format!("{LOAD} [boxed], [%rd2, {{0, {y}}}], [bar];");
    let error = fault(&large, &load(rows - 1));
    assert!(error.contains("16 bytes at 0x7f") && error.contains("out of bounds"), "{error}");
    let end = format!("{}\ntrap;", load(rows - 2));
    assert!(!fault(&large, &end).contains("out of bounds"));
}

#[test]
fn reductions_accept_the_types_of_the_isa() {
    let reduce = |operation: &str, element: Type| {
        let tensor = Tensor::new(element, [4], [16 / u32::from(element.bytes() as u8)]);
        fault(
            &tensor,
            &format!(
                "cp.reduce.async.bulk.tensor.1d.global.shared::cta.{operation}.bulk_group [%rd2, {{0}}], [boxed];\ntrap;"
            ),
        )
    };
    for (operation, element) in [
        ("add", Type::S64),
        ("add", Type::F64),
        ("add", Type::U8),
        ("min", Type::F32),
        ("max", Type::F64),
        ("inc", Type::S32),
        ("dec", Type::U64),
        ("and", Type::F32),
        ("xor", Type::U16),
    ] {
        let error = reduce(operation, element);
        assert!(error.contains("of elements of type"), "{operation} {element:?}: {error}");
    }
    assert!(!reduce("add", Type::U64).contains("of elements of type"));
}

#[test]
fn boxes_with_undefined_layout_are_refused() {
    let narrow = Tensor { swizzle: Swizzle::B128, ..Tensor::new(Type::U32, [8, 4], [8, 2]) };
    let error = fault(&narrow, &format!("{LOAD} [boxed], [%rd2, {{0, 0}}], [bar];"));
    assert!(
        error.contains("rows of 32 bytes and a swizzle of 128 bytes is not supported"),
        "{error}"
    );
    let huge = Tensor::new(Type::U32, [256, 256], [256, 256]);
    for code in [
        format!("{LOAD} [boxed], [%rd2, {{0, 0}}], [bar];"),
        "cp.async.bulk.prefetch.tensor.2d.L2.global [%rd2, {0, 0}];".into(),
    ] {
        let error = fault(&huge, &code);
        assert!(error.contains("box of 262144 bytes; no SM has more than 232448"), "{error}");
    }
}
