//! Comparisons and selections.

use warpmem_ptx::Type::{self, *};

use super::{Case, Code, integer, named, register};
use crate::tests::coverage::tests;

tests!(integers, floats, combined, sets, selections, classes);

/// A relation of two values.
type Holds<T> = fn(T, T) -> bool;
/// A class of numbers.
type Class = fn(f64) -> bool;

fn float(ty: Type, bits: u64) -> f64 {
    match ty {
        F16 => half::f16::from_bits(bits as u16).to_f64(),
        F32 => f32::from_bits(bits as u32).into(),
        _ => f64::from_bits(bits),
    }
}

fn compare(ty: Type, comparison: &str, holds: impl Fn(u64, u64) -> bool) {
    let name = named(&format!("setp.{comparison}"), ty);
    Case { name: &name, dest: Pred, sources: &[ty; 2], constants: "" }
        .check(|[a, b, _]| u64::from(holds(a, b)));
}

#[test]
fn integers() {
    for ty in [B16, B32, B64, U16, U32, U64, S16, S32, S64] {
        compare(ty, "eq", |a, b| integer(ty, a) == integer(ty, b));
        compare(ty, "ne", |a, b| integer(ty, a) != integer(ty, b));
    }
    for ty in [U16, U32, U64, S16, S32, S64] {
        compare(ty, "lt", |a, b| integer(ty, a) < integer(ty, b));
        compare(ty, "le", |a, b| integer(ty, a) <= integer(ty, b));
        compare(ty, "gt", |a, b| integer(ty, a) > integer(ty, b));
        compare(ty, "ge", |a, b| integer(ty, a) >= integer(ty, b));
    }
    for ty in [U16, U32, U64] {
        compare(ty, "lo", |a, b| integer(ty, a) < integer(ty, b));
        compare(ty, "ls", |a, b| integer(ty, a) <= integer(ty, b));
        compare(ty, "hi", |a, b| integer(ty, a) > integer(ty, b));
        compare(ty, "hs", |a, b| integer(ty, a) >= integer(ty, b));
    }
}

/// Ordered comparisons with a NaN do not hold, unordered ones do.
#[test]
fn floats() {
    let all: [(&str, Holds<f64>); 6] = [
        ("eq", |a, b| a == b),
        ("ne", |a, b| a.partial_cmp(&b).is_some_and(|order| order.is_ne())),
        ("lt", |a, b| a < b),
        ("le", |a, b| a <= b),
        ("gt", |a, b| a > b),
        ("ge", |a, b| a >= b),
    ];
    for ty in [F16, F32, F64] {
        for (name, holds) in all {
            let unordered = |a: f64, b: f64| a.is_nan() || b.is_nan();
            compare(ty, name, |a, b| holds(float(ty, a), float(ty, b)));
            compare(ty, &format!("{name}u"), |a, b| {
                let (a, b) = (float(ty, a), float(ty, b));
                unordered(a, b) || holds(a, b)
            });
        }
        compare(ty, "num", |a, b| !float(ty, a).is_nan() && !float(ty, b).is_nan());
        compare(ty, "nan", |a, b| float(ty, a).is_nan() || float(ty, b).is_nan());
    }
}

#[test]
fn combined() {
    let all: [(&str, Holds<bool>); 3] =
        [("and", |a, b| a && b), ("or", |a, b| a || b), ("xor", |a, b| a != b)];
    for (combine, f) in all {
        let name = format!("setp.lt.{combine}.s32");
        Case { name: &name, dest: Pred, sources: &[S32, S32, Pred], constants: "" }
            .check(|[a, b, c]| u64::from(f(integer(S32, a) < integer(S32, b), c != 0)));
    }
}

#[test]
fn sets() {
    for (to, yes) in
        [(U32, u64::from(u32::MAX)), (S32, u64::from(u32::MAX)), (F32, 1f32.to_bits().into())]
    {
        let name = format!("set.gt.{}.s32", to.name());
        Case { name: &name, dest: to, sources: &[S32; 2], constants: "" }
            .check(|[a, b, _]| if integer(S32, a) > integer(S32, b) { yes } else { 0 });
        let name = format!("set.gt.{}.f32", to.name());
        Case { name: &name, dest: to, sources: &[F32; 2], constants: "" }
            .check(|[a, b, _]| if float(F32, a) > float(F32, b) { yes } else { 0 });
    }
}

#[test]
fn selections() {
    for ty in [B16, B32, B64, U16, U32, U64, S16, S32, S64, F32, F64] {
        Case { name: &named("selp", ty), dest: ty, sources: &[ty, ty, Pred], constants: "" }
            .check(|[a, b, c]| if c != 0 { a } else { b });
    }
    for ty in [B32, U32, S32, F32, B64, U64, S64, F64] {
        Case {
            name: &format!("slct.{}.s32", ty.name()),
            dest: ty,
            sources: &[ty, ty, S32],
            constants: "",
        }
        .check(|[a, b, c]| if integer(S32, c) >= 0 { a } else { b });
    }
    Case { name: "slct.f32.f32", dest: F32, sources: &[F32; 3], constants: "" }
        .check(|[a, b, c]| if float(F32, c) >= 0.0 { a } else { b });
}

#[test]
fn classes() {
    let all: [(&str, Class); 4] = [
        ("finite", f64::is_finite),
        ("infinite", f64::is_infinite),
        ("number", |a| !a.is_nan()),
        ("notanumber", f64::is_nan),
    ];
    for ty in [F32, F64] {
        for (class, holds) in all {
            let name = named(&format!("testp.{class}"), ty);
            let text = format!("{name} %p12, {};\n", register(ty, 0));
            Code { name: &name, text: &text, dest: Pred, sources: &[ty] }
                .check(|[a, ..]| u64::from(holds(float(ty, a))));
        }
        let name = named("testp.subnormal", ty);
        let is_subnormal = |a: u64| match ty {
            F32 => f32::from_bits(a as u32).is_subnormal(),
            _ => f64::from_bits(a).is_subnormal(),
        };
        Case { name: &name, dest: Pred, sources: &[ty], constants: "" }
            .check(|[a, ..]| u64::from(is_subnormal(a)));
    }
}
