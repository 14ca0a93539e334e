//! Errors of warpgroup products.

use super::layout::Layout;
use super::{Product, THREADS, group_kernel};

/// Runs the product after some code; returns the error.
fn failure(product: &Product, before: &str, threads: usize) -> String {
    let mut machine = product.machine(&product.shared());
    machine.run(&product.kernel(before, ""), 1, threads as u32).unwrap_err().to_string()
}

fn product() -> Product {
    Product::new(16, "f32", "f16", "f16")
}

#[test]
fn warpgroups_are_four_whole_warps() {
    let text = "`wgmma` by a warpgroup of 2 warps at PC";
    let stopped = failure(&product(), "", THREADS + 64);
    assert!(stopped.contains(text) && stopped.contains("thread (128, 0, 0)"), "{stopped}");
    let stopped = failure(&product(), "", THREADS - 8);
    assert!(stopped.contains("`wgmma` by lanes 0xffffff of a warp"), "{stopped}");
    let left = "and.b32 %r9, %r0, 31;\nsetp.lt.u32 %p6, %r9, 3;\n@%p6 exit;\n";
    let stopped = failure(&product(), left, THREADS);
    assert!(stopped.contains("`wgmma` by lanes 0xfffffff8 of a warp"), "{stopped}");
    for instruction in ["fence", "commit_group", "wait_group"] {
        let groups = if instruction == "wait_group" { " 0" } else { "" };
        let kernel = group_kernel(&format!("wgmma.{instruction}.sync.aligned{groups};"));
        let stopped = product().machine(&[]).run(&kernel, 1, 32).unwrap_err().to_string();
        assert!(stopped.contains("`wgmma` by a warpgroup of 1 warps"), "{stopped}");
    }
}

#[test]
fn lanes_must_agree_on_descriptors_and_predicate() {
    let other = "setp.eq.u32 %p6, %r0, 37;\n@%p6 add.u64 %q1, %q1, 1;\n";
    let stopped = failure(&product(), other, THREADS);
    let text = "`wgmma` with the descriptors 0x801000400 and 0x801000401";
    assert!(stopped.contains(text), "{stopped}");
    assert!(stopped.contains("thread (37, 0, 0)"), "{stopped}");
    let some = "setp.ne.u32 %p4, %r0, 70;\n";
    let stopped = failure(&product(), some, THREADS);
    assert!(stopped.contains("`wgmma` adds D in lanes 0xffffffbf only"), "{stopped}");
    assert!(stopped.contains("thread (70, 0, 0)"), "{stopped}");
}

#[test]
fn matrices_must_be_in_shared_memory() {
    let mut outside = product();
    outside.b.layout = Some(Layout::packed(false, 0, 0x3_fff0));
    let mut machine = outside.machine(&[]);
    let stopped = machine.run(&outside.kernel("", ""), 1, THREADS as u32).unwrap_err().to_string();
    let text = "`wgmma` with a matrix at 0x3fff0 of 0x10000 bytes of shared memory";
    assert!(stopped.contains(text), "{stopped}");
}

/// One warp never reaches the product.
#[test]
fn an_endless_wait_is_a_deadlock() {
    let stopped = failure(&product(), "setp.ge.u32 %p6, %r0, 96;\n@%p6 exit;\n", THREADS);
    assert!(
        stopped.starts_with("kernel `k` is deadlocked: CTA (0, 0, 0) warp 0 is at"),
        "{stopped}"
    );
    assert!(stopped.contains("warp 2") && !stopped.contains("warp 3"), "{stopped}");
}
