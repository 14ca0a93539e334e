//! All layouts of the operands.

use super::super::coverage::tests;
use super::layout::Layout;
use super::{Product, ROW_BYTES, bits_of};

tests!(a_and_b_in_every_layout, registers_of_a_of_every_size);

const SWIZZLES: [usize; 4] = [0, 32, 64, 128];

/// Start of B, whose layouts take up to 48 KiB.
const B: usize = 0x4000;

#[test]
fn a_and_b_in_every_layout() {
    for swizzle in SWIZZLES {
        for (a_mn, b_mn) in [(false, false), (true, false), (false, true), (true, true)] {
            let a = Layout::packed(a_mn, swizzle, 0);
            let b = Layout::packed(b_mn, swizzle, B);
            for n in [8, 24, 64, 136, 256] {
                Product::new(n, "f32", "f16", "f16").with_layouts(Some(a), b).check();
            }
        }
    }
}

#[test]
fn operands_of_every_size_in_every_swizzle() {
    for swizzle in SWIZZLES {
        let (a, b) = (Layout::packed(false, swizzle, 0), Layout::packed(false, swizzle, B));
        for ty in ["tf32", "e5m2", "bf16"] {
            Product::new(40, "f32", ty, ty).with_layouts(Some(a), b).check();
            Product::new(40, "f32", ty, ty).with_layouts(None, b).check();
        }
    }
}

/// A and B have their own swizzles and offsets.
#[test]
fn offsets_come_from_the_descriptors() {
    for swizzle in SWIZZLES {
        for (mn_major, more) in [(false, 1), (false, 3), (true, 1), (true, 2)] {
            let atom = 8 * swizzle.max(16);
            let mut b = Layout::packed(mn_major, swizzle, B);
            b.stride += more * atom;
            if mn_major && swizzle > 0 {
                b.leading = 2 * b.stride;
            }
            let mut a = Layout::packed(!mn_major, 64, 0);
            a.leading = if mn_major { 0 } else { 0x1000 };
            a.stride = 512 * (more + 1);
            Product::new(48, "f32", "f16", "f16").with_layouts(Some(a), b).check();
        }
    }
    let mut wide = Layout::packed(true, 0, B);
    (wide.leading, wide.stride) = (128, 256);
    Product::new(32, "f32", "f16", "f16").with_layouts(None, wide).check();
}

/// With a swizzle of 128 bytes, rows hold four operands side by side, whose descriptors only differ in the
/// start.
#[test]
fn operands_may_start_within_the_pattern() {
    for swizzle in [64, 128] {
        for begin in (0..swizzle).step_by(ROW_BYTES) {
            let a = Layout { start: begin, ..Layout::packed(false, swizzle, 0) };
            let b = Layout { start: B + begin, ..Layout::packed(false, swizzle, B) };
            for ty in ["f16", "e4m3", "tf32"] {
                Product::new(16, "f32", ty, ty).with_layouts(Some(a), b).check();
            }
            Product::new(16, "f32", "f16", "f16").with_layouts(None, b).check();
        }
    }
    // Like TMA tiles, which follow the pattern of the addresses.
    for line in [1, 5] {
        let mut b = Layout::packed(true, 128, B + 1024 * line);
        b.leading = 0x2000;
        Product::new(128, "f32", "bf16", "bf16").with_layouts(None, b).check();
    }
}

/// The pattern starts at a line other than the first of its period; the base offset gives it.
#[test]
fn patterns_may_start_at_any_line() {
    for swizzle in [32, 64, 128] {
        for line in [1, 2, 3, 7] {
            for mn_major in [false, true] {
                let begin = B + 128 * line;
                let mut b = Layout::packed(mn_major, swizzle, begin);
                b.pattern = begin;
                Product::new(64, "f32", "f16", "f16").with_layouts(None, b).check();
                let mut a = Layout::packed(mn_major, swizzle, 128 * line);
                a.pattern = a.start;
                let b = Layout::packed(false, 0, B);
                Product::new(8, "f32", "f16", "f16").with_layouts(Some(a), b).check();
            }
        }
    }
}

#[test]
fn registers_of_a_of_every_size() {
    for ty in ["f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8"] {
        let d = if matches!(ty, "s8" | "u8") { "s32" } else { "f32" };
        let b = Layout::packed(false, 128, B);
        let product = Product::new(32, d, ty, ty).with_layouts(None, b);
        assert_eq!(product.k() * bits_of(ty), 256);
        product.check();
    }
    let b = Layout::packed(true, 128, B);
    Product::new(256, "f16", "f16", "f16").with_layouts(None, b).check();
}
