//! Floating-point arithmetic: directed and single rounding, approximate functions, edge cases.

use half::{bf16, f16};

use super::arithmetic::{check_f32, check_unary32, check16, check32, samples, single};
use super::coverage::tests;
use super::result;

tests!(
    single_precision,
    directed_roundings_bracket_the_exact_result,
    fused_products_are_rounded_once,
    double_precision,
    approximate_functions_stay_within_the_isas_bounds,
    sixteen_bit_results_are_rounded_once
);

#[test]
fn single_precision() {
    check_f32("add.f32", |a, b| a + b);
    check_f32("sub.rn.f32", |a, b| a - b);
    check_f32("mul.f32", |a, b| a * b);
    check_f32("div.rn.f32", |a, b| a / b);
    check_f32("add.sat.f32", |a, b| {
        let sum = a + b;
        if sum > 0.0 { sum.min(1.0) } else { 0.0 }
    });
    check_f32("add.ftz.f32", |a, b| {
        let flush = |x: f32| if x.is_subnormal() { 0f32.copysign(x) } else { x };
        flush(flush(a) + flush(b))
    });
    check_f32("min.f32", |a, b| a.min(b));
    check_f32("max.f32", |a, b| a.max(b));
    check32("copysign.f32", |a, b| b & 0x7fff_ffff | a & 0x8000_0000);
    check32("min.NaN.f32", |a, b| {
        let (a, b) = (f32::from_bits(a), f32::from_bits(b));
        if a.is_nan() || b.is_nan() { 0x7fff_ffff } else { a.min(b).to_bits() }
    });
    check_unary32("sqrt.rn.f32", |a| single(f32::from_bits(a).sqrt()));
    check_unary32("rcp.rn.f32", |a| single(1.0 / f32::from_bits(a)));
    check_unary32("neg.f32", |a| a ^ 0x8000_0000);
    check_unary32("abs.f32", |a| a & 0x7fff_ffff);
}

/// A directed result lies on its side of the exact one, which double precision holds, with no number in
/// between.
#[test]
fn directed_roundings_bracket_the_exact_result() {
    type Exact = fn(f64, f64) -> f64;
    let exact: [(&str, Exact); 3] =
        [("add", |a, b| a + b), ("mul", |a, b| a * b), ("div", |a, b| a / b)];
    for (name, exact) in exact {
        for seed in 0..6 {
            // Exponents of similar size, so that the sum is exact in double precision.
            let values = |seed| {
                samples(seed)
                    .iter()
                    .map(|&bits| 0x3f80_0000 | bits & 0x81ff_ffff)
                    .collect::<Vec<u64>>()
            };
            let (a, b) = (values(seed), values(seed + 40));
            let of = |rounding: &str| {
                let code = format!(
                    "ld.global.f32 %f1, [%rd1];\nld.global.f32 %f2, [%rd2];\n{name}.{rounding}.f32 %f3, %f1, %f2;\nst.global.f32 [%rd3], %f3;"
                );
                result(&code, &a, &b)
            };
            let (down, up, zero, near) = (of("rm"), of("rp"), of("rz"), of("rn"));
            for lane in 0..32 {
                let float = |bits: u64| f32::from_bits(bits as u32);
                let exact = exact(float(a[lane]).into(), float(b[lane]).into());
                let (down, up, zero, near) =
                    (float(down[lane]), float(up[lane]), float(zero[lane]), float(near[lane]));
                assert!(
                    f64::from(down) <= exact && exact <= f64::from(up),
                    "{name}: {down} {exact} {up}"
                );
                assert!(up == down || up == down.next_up(), "{name}: {down} {up}");
                assert_eq!(zero, if exact > 0.0 { down } else { up }, "{name} {exact}");
                assert!(near == down || near == up);
            }
        }
    }
}

#[test]
fn fused_products_are_rounded_once() {
    let code = "ld.global.f32 %f1, [%rd1];\nld.global.f32 %f2, [%rd2];\nneg.f32 %f3, %f1;\nfma.rn.f32 %f4, %f1, %f2, %f3;\nst.global.f32 [%rd3], %f4;";
    let (a, b) = (samples(5), samples(6));
    let got = result(code, &a, &b);
    for lane in 0..32 {
        let (a, b) = (f32::from_bits(a[lane] as u32), f32::from_bits(b[lane] as u32));
        assert_eq!(got[lane] as u32, single(a.mul_add(b, -a)));
    }
}

#[test]
fn double_precision() {
    let double = |value: f64| if value.is_nan() { 0x7ff8_0000_0000_0000 } else { value.to_bits() };
    let check = |name: &str, f: fn(f64, f64) -> f64| {
        let (a, b) = (samples(9), samples(10));
        let code = format!(
            "ld.global.f64 %fd1, [%rd1];\nld.global.f64 %fd2, [%rd2];\n{name} %fd3, %fd1, %fd2;\nst.global.f64 [%rd3], %fd3;"
        );
        let got = result(&code, &a, &b);
        for lane in 0..32 {
            assert_eq!(
                got[lane],
                double(f(f64::from_bits(a[lane]), f64::from_bits(b[lane]))),
                "{name}"
            );
        }
    };
    check("add.f64", |a, b| a + b);
    check("mul.rn.f64", |a, b| a * b);
    check("div.rn.f64", |a, b| a / b);
    check("min.f64", f64::min);
}

#[test]
fn approximate_functions_stay_within_the_isas_bounds() {
    let inputs: Vec<f32> = (0..32).map(|n| 0.07 + 0.093 * n as f32).collect();
    let bits: Vec<u64> = inputs.iter().map(|x| u64::from(x.to_bits())).collect();
    let check = |name: &str, f: fn(f64) -> f64, bound: f64| {
        let code =
            format!("ld.global.f32 %f1, [%rd1];\n{name} %f2, %f1;\nst.global.f32 [%rd3], %f2;");
        for (got, &x) in result(&code, &bits, &[]).iter().zip(&inputs) {
            let (got, exact) = (f64::from(f32::from_bits(*got as u32)), f(x.into()));
            assert!(
                (got - exact).abs() <= bound * exact.abs().max(1.0),
                "{name} {x}: {got} {exact}"
            );
        }
    };
    let bound = 2f64.powi(-20);
    check("rcp.approx.f32", |x| 1.0 / x, bound);
    check("sqrt.approx.f32", f64::sqrt, bound);
    check("rsqrt.approx.ftz.f32", |x| 1.0 / x.sqrt(), bound);
    check("sin.approx.f32", f64::sin, bound);
    check("cos.approx.f32", f64::cos, bound);
    check("lg2.approx.f32", f64::log2, bound);
    check("ex2.approx.f32", f64::exp2, bound);
    check("tanh.approx.f32", f64::tanh, bound);
}

#[test]
fn sixteen_bit_results_are_rounded_once() {
    let canonical = |value: f16| if value.is_nan() { 0x7fff } else { value.to_bits() };
    check16("add.f16", |a, b| {
        canonical(f16::from_f64(f16::from_bits(a).to_f64() + f16::from_bits(b).to_f64()))
    });
    check16("mul.f16", |a, b| {
        canonical(f16::from_f64(f16::from_bits(a).to_f64() * f16::from_bits(b).to_f64()))
    });
    let brain = |value: bf16| if value.is_nan() { 0x7fff } else { value.to_bits() };
    check16("mul.bf16", |a, b| {
        brain(bf16::from_f64(bf16::from_bits(a).to_f64() * bf16::from_bits(b).to_f64()))
    });
    check32("add.f16x2", |a, b| {
        let of = |shift: u32| {
            let part = |word: u32| f16::from_bits((word >> shift) as u16).to_f64();
            u32::from(canonical(f16::from_f64(part(a) + part(b))))
        };
        of(0) | of(16) << 16
    });
}
