//! Types, signs, sums and their rounding.

use half::f16;
use warpmem_testing::is_sampled;

use super::super::coverage::tests;
use super::Product;
use super::layout::Layout;

tests!(
    every_type_and_number_of_columns,
    factors_are_negated,
    d_is_added_if_the_predicate_holds,
    sums_are_rounded_once,
    integers_wrap_or_are_clamped
);

const FLOATS: [(&str, &str, &str); 10] = [
    ("f32", "f16", "f16"),
    ("f16", "f16", "f16"),
    ("f32", "bf16", "bf16"),
    ("f32", "tf32", "tf32"),
    ("f32", "e4m3", "e4m3"),
    ("f32", "e4m3", "e5m2"),
    ("f32", "e5m2", "e4m3"),
    ("f32", "e5m2", "e5m2"),
    ("f16", "e4m3", "e5m2"),
    ("f16", "e5m2", "e5m2"),
];
const INTEGERS: [(&str, &str); 4] = [("s8", "s8"), ("s8", "u8"), ("u8", "s8"), ("u8", "u8")];

/// Returns one of the numbers of columns, another one in the next row, and all in a long run.
fn sampled(row: usize, columns: &[usize]) -> impl Iterator<Item = usize> {
    let each = columns.iter().enumerate();
    each.filter(move |(column, _)| is_sampled(row, *column, columns.len())).map(|(_, n)| *n)
}

#[test]
fn every_type_and_number_of_columns() {
    for (row, (d, a, b)) in FLOATS.into_iter().enumerate() {
        sampled(row, &[8, 72, 256]).for_each(|n| Product::new(n, d, a, b).check());
    }
    for (row, (a, b)) in INTEGERS.into_iter().enumerate() {
        sampled(row, &[8, 24, 48, 256]).for_each(|n| Product::new(n, "s32", a, b).check());
    }
    let all = (8..=256).step_by(8).enumerate().filter(|(column, _)| is_sampled(0, *column, 4));
    all.for_each(|(_, n)| Product::new(n, "f32", "f16", "f16").check());
}

#[test]
fn factors_are_negated() {
    for (d, a, b) in FLOATS {
        for (of_a, of_b) in [(true, false), (false, true), (true, true)] {
            let mut product = Product::new(16, d, a, b);
            (product.a.negated, product.b.negated) = (of_a, of_b);
            product.check();
            product.a.layout = None;
            product.check();
        }
    }
}

#[test]
fn d_is_added_if_the_predicate_holds() {
    for (d, a, b) in FLOATS.into_iter().chain([("s32", "u8", "s8")]) {
        for scale_of_d in ["%p4", "%p5", "!%p4", "!%p5", "0", "1"] {
            Product { scale_of_d, ..Product::new(24, d, a, b) }.check();
        }
    }
}

/// Returns D of a product whose rows of A and columns of B hold these numbers, then zeros.
fn of_rows(product: &Product, a: &[u64], b: &[u64]) -> Vec<u32> {
    let row = |numbers: &[u64]| {
        let width = 256 / product.k();
        let number = |at: usize| numbers.get(at).copied().unwrap_or(0);
        (0..4)
            .map(move |word| {
                let of_word = 64 / width;
                (0..of_word).fold(0, |bits, at| bits | number(word * of_word + at) << (at * width))
            })
            .collect::<Vec<u64>>()
    };
    let mut words = vec![0; super::WORDS];
    let layout = Layout::packed(false, 32, 0);
    for (start, rows, numbers) in [(0, 64, row(a)), (0x4000, product.n, row(b))] {
        let layout = Layout { start, ..layout };
        for at in 0..rows {
            for (chunk, pair) in numbers.chunks(2).enumerate() {
                let place = layout.address(8, at, 2 * chunk) / 8;
                words[place..place + 2].copy_from_slice(pair);
            }
        }
    }
    let b = Layout { start: 0x4000, ..layout };
    let product = product.clone().with_layouts(Some(layout), b);
    product.run(&words, &product.kernel("", ""), super::THREADS)
}

/// 2048 + 1 + 1 in 11-bit numbers, 2^24 + 1 + 1 in 24-bit ones: rounding after each sum would lose the ones.
#[test]
fn sums_are_rounded_once() {
    let half = |value: f32| u64::from(f16::from_f32(value).to_bits());
    let a: Vec<u64> = [64.0, 1.0, 1.0].map(half).into();
    let b: Vec<u64> = [32.0, 1.0, 1.0].map(half).into();
    let product = Product { scale_of_d: "0", ..Product::new(8, "f16", "f16", "f16") };
    let both = half(2050.0) as u32 * 0x1_0001;
    assert!(of_rows(&product, &a, &b).iter().all(|&word| word == both));
    let single = Product { scale_of_d: "0", ..Product::new(8, "f32", "f16", "f16") };
    let large: Vec<u64> = [4096.0, 1.0, 1.0].map(half).into();
    let words = of_rows(&single, &large, &large);
    assert!(words.iter().all(|&word| f32::from_bits(word) == 16_777_218.0));
    let infinite: Vec<u64> = [f32::INFINITY, 1.0].map(half).into();
    let zeros: Vec<u64> = [0.0, 1.0].map(half).into();
    assert!(of_rows(&single, &infinite, &zeros).iter().all(|&word| word == 0x7fff_ffff));
}

/// 32 products of equal 8-bit numbers, added to numbers near the ends of the range.
#[test]
fn integers_wrap_or_are_clamped() {
    let sum = |ty: &'static str, bits: u64, saturate: bool, before: i32| {
        let product = Product { saturate, ..Product::new(8, "s32", ty, "u8") };
        let set: String = (0..4).map(|at| format!("mov.u32 %d{at}, {before};\n")).collect();
        let mut shared = vec![u64::MAX; super::WORDS];
        shared[..0x4000 / 8].fill(bits * 0x0101_0101_0101_0101);
        let words = product.run(&shared, &product.kernel(&set, ""), super::THREADS);
        assert!(words.iter().all(|&word| word == words[0]));
        words[0] as i32
    };
    let products = 32 * 255 * 255;
    assert_eq!(sum("u8", 255, false, 7), products + 7);
    assert_eq!(sum("u8", 255, false, i32::MAX), i32::MAX.wrapping_add(products));
    assert_eq!(sum("u8", 255, true, i32::MAX - 5), i32::MAX);
    assert_eq!(sum("s8", 0x80, true, i32::MIN + 5), i32::MIN);
    assert_eq!(sum("s8", 0x80, false, 0), -32 * 128 * 255);
}
