//! Cooperation of the warps of a warpgroup.

use super::layout::Layout;
use super::{Product, THREADS};

/// Each warpgroup of a CTA has its own 64 rows, by the rank of its warps.
#[test]
fn warps_own_rows_by_rank() {
    let product = Product::new(16, "f32", "f16", "f16");
    for group in 0..3 {
        let before =
            format!("mov.u32 %r9, %tid.x;\nshr.u32 %r9, %r9, 7;\nsetp.ne.u32 %p6, %r9, {group};\n");
        let kernel = product.kernel(&before, "@%p6 exit;\n");
        let kernel = kernel.replace(
            "ld.param.u64 %rd1, [a];\nmul",
            "and.b32 %r0, %r0, 127;\nld.param.u64 %rd1, [a];\nmul",
        );
        product.check_words(&product.run(&product.shared(), &kernel, 3 * THREADS));
    }
}

/// A fifth warp overwrites the operands as soon as the first has waited, long before the others reach the
/// product: the wait covers the products of all warps.
#[test]
fn waits_cover_the_products_of_all_warps() {
    const OTHERS: &str = "shr.u32 %r9, %r0, 5;\nsetp.eq.u32 %p6, %r9, 4;\n";
    // The first 128 threads have filled shared memory.
    let before = format!(
        "{OTHERS}setp.eq.u32 %p7, %r0, 0;\n@%p7 mbarrier.init.shared.b64 [tile], 1;\nbar.sync 0;\n\
         @%p6 bra OVERWRITE;\nmul.lo.u32 %r9, %r9, 500;\n\
         LATER: setp.eq.u32 %p8, %r9, 0;\n@%p8 bra NOW;\nsub.u32 %r9, %r9, 1;\nbra LATER;\nNOW:\n"
    );
    let after = "@%p7 mbarrier.arrive.shared.b64 _, [tile];\nbra STORE;\n\
         OVERWRITE: mbarrier.try_wait.parity.shared.b64 %p8, [tile], 0;\n@!%p8 bra OVERWRITE;\n\
         and.b32 %r9, %r0, 31;\nshl.b32 %r9, %r9, 2;\nmov.u32 %r3, operands;\nadd.u32 %r9, %r9, %r3;\n\
         mov.u32 %r8, 0;\n\
         AGAIN: st.shared.u32 [%r9], 0x3c003c00;\nadd.u32 %r9, %r9, 128;\nadd.u32 %r8, %r8, 1;\n\
         setp.lt.u32 %p8, %r8, 512;\n@%p8 bra AGAIN;\nexit;\nSTORE:\n";
    let product = Product::new(64, "f32", "f16", "f16");
    product.check_words(&product.run(
        &product.shared(),
        &product.kernel(&before, after),
        THREADS + 32,
    ));
}

/// Groups within the pending limit are not waited for: the first warp waits before the others have started.
#[test]
fn waits_leave_the_given_groups_pending() {
    let product = Product::new(8, "f32", "f16", "f16");
    let before = "setp.ge.u32 %p6, %r0, 32;\n@%p6 bra OTHERS;\nwgmma.commit_group.sync.aligned;\n\
         wgmma.wait_group.sync.aligned 1;\nbar.sync 0;\nbra BOTH;\n\
         OTHERS: bar.sync 0;\nwgmma.commit_group.sync.aligned;\nBOTH:\n";
    product.check_words(&product.run(&product.shared(), &product.kernel(before, ""), THREADS));
}

/// Products that add to one D follow each other without a wait.
#[test]
fn products_accumulate_in_d() {
    let b = Layout::packed(false, 0, 0x4000);
    let product = Product::new(24, "f32", "bf16", "bf16").with_layouts(None, b);
    let first = Product { scale_of_d: "0", ..product.clone() };
    // D = A B, then D + A B: twice the product, without the initial D.
    let words = product.run(&product.shared(), &product.kernel(&first.instruction(), ""), THREADS);
    for (number, &word) in words.iter().enumerate() {
        let (row, column) = super::place_of_d(number / 12, number % 12);
        let expected = 2 * (product.expected(row, column) - product.c_at(row, column));
        assert_eq!(f32::from_bits(word), expected as f32, "{row}, {column}");
    }
}
