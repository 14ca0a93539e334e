//! Comparison and selection.

use half::{bf16, f16};
use warpmem_ptx::{Compare, FloatTest, Logic, Type};

use super::float::Float;
use super::operand::{Operand, compared};
use crate::lanes::{WARP, mask_of};
use crate::program::{Source, Step};
use crate::warp::Warp;

/// Executes `setp`.
pub(super) fn set_predicate(
    warp: &mut Warp,
    step: &Step,
    mask: u32,
    compare: Compare,
    combine: Option<Logic>,
    ty: Type,
    ftz: bool,
) {
    if matches!(ty, Type::F16x2 | Type::Bf16x2) {
        return set_predicates_of_halves(warp, step, mask, compare, combine, ty, ftz);
    }
    let holds = holds(warp, step, compare, ty, ftz);
    // The second predicate is that of the opposite comparison.
    for (&dest, holds) in step.dests.iter().zip([holds, !holds]) {
        let value = combined(warp, step, holds, combine);
        warp.set_predicate(dest, value, mask);
    }
}

/// Sets the first predicate for the low halves and the second for the high halves.
fn set_predicates_of_halves(
    warp: &mut Warp,
    step: &Step,
    mask: u32,
    compare: Compare,
    combine: Option<Logic>,
    ty: Type,
    ftz: bool,
) {
    for (&dest, shift) in step.dests.iter().zip([0, 16]) {
        let holds = half_holds(warp, step, shift, compare, ty, ftz);
        let value = combined(warp, step, holds, combine);
        warp.set_predicate(dest, value, mask);
    }
}

fn half_holds(warp: &Warp, step: &Step, shift: u32, compare: Compare, ty: Type, ftz: bool) -> u32 {
    compared(warp, step, |a: u32, b: u32| {
        let (a, b) = ((a >> shift) as u16, (b >> shift) as u16);
        match ty {
            Type::F16x2 => float_holds(f16::from_bits(a), f16::from_bits(b), compare, ftz),
            _ => float_holds(bf16::from_bits(a), bf16::from_bits(b), compare, ftz),
        }
    })
}

fn combined(warp: &Warp, step: &Step, holds: u32, combine: Option<Logic>) -> u32 {
    let Some(combine) = combine else { return holds };
    combine.of(holds, warp.predicate_of(step.sources[2]))
}

/// Returns the lanes in which a comparison holds.
fn holds(warp: &Warp, step: &Step, compare: Compare, ty: Type, ftz: bool) -> u32 {
    match ty {
        Type::B16 | Type::U16 => of_integers::<u16>(warp, step, compare),
        Type::S16 => of_integers::<i16>(warp, step, compare),
        Type::B32 | Type::U32 => of_integers::<u32>(warp, step, compare),
        Type::S32 => of_integers::<i32>(warp, step, compare),
        Type::B64 | Type::U64 => of_integers::<u64>(warp, step, compare),
        Type::S64 => of_integers::<i64>(warp, step, compare),
        Type::F64 => compared(warp, step, |a: f64, b: f64| float_holds(a, b, compare, ftz)),
        Type::F16 => compared(warp, step, |a: f16, b: f16| float_holds(a, b, compare, ftz)),
        Type::Bf16 => compared(warp, step, |a: bf16, b: bf16| float_holds(a, b, compare, ftz)),
        _ => compared(warp, step, |a: f32, b: f32| float_holds(a, b, compare, ftz)),
    }
}

fn of_integers<T: Operand + Ord>(warp: &Warp, step: &Step, compare: Compare) -> u32 {
    match compare {
        Compare::Equal | Compare::EqualUnordered => compared(warp, step, |a: T, b: T| a == b),
        Compare::NotEqual | Compare::NotEqualUnordered => compared(warp, step, |a: T, b: T| a != b),
        Compare::Less | Compare::LessUnordered => compared(warp, step, |a: T, b: T| a < b),
        Compare::LessOrEqual | Compare::LessOrEqualUnordered => {
            compared(warp, step, |a: T, b: T| a <= b)
        }
        Compare::Greater | Compare::GreaterUnordered => compared(warp, step, |a: T, b: T| a > b),
        Compare::GreaterOrEqual | Compare::GreaterOrEqualUnordered => {
            compared(warp, step, |a: T, b: T| a >= b)
        }
        Compare::Number => u32::MAX,
        Compare::NotANumber => 0,
    }
}

#[inline(always)]
fn float_holds<T: Float>(a: T, b: T, compare: Compare, ftz: bool) -> bool {
    let (a, b) = if ftz { (a.flushed(), b.flushed()) } else { (a, b) };
    let unordered = a.is_nan() || b.is_nan();
    let (less, greater) = (a.less(b), b.less(a));
    let equal = !less && !greater && !unordered;
    match compare {
        Compare::Equal => equal,
        Compare::NotEqual => !equal && !unordered,
        Compare::Less => less,
        Compare::LessOrEqual => less || equal,
        Compare::Greater => greater,
        Compare::GreaterOrEqual => greater || equal,
        Compare::EqualUnordered => equal || unordered,
        Compare::NotEqualUnordered => !equal,
        Compare::LessUnordered => less || unordered,
        Compare::LessOrEqualUnordered => !greater,
        Compare::GreaterUnordered => greater || unordered,
        Compare::GreaterOrEqualUnordered => !less,
        Compare::Number => !unordered,
        Compare::NotANumber => unordered,
    }
}

/// Executes `set`: 1.0 of a floating-point type, or all ones.
#[expect(clippy::too_many_arguments, reason = "the modifiers of one instruction")]
pub(super) fn set(
    warp: &mut Warp,
    step: &Step,
    mask: u32,
    compare: Compare,
    combine: Option<Logic>,
    to: Type,
    ty: Type,
    ftz: bool,
) {
    let one: u32 = match to {
        Type::F32 => 1f32.to_bits(),
        Type::F16 => f16::ONE.to_bits().into(),
        Type::Bf16 => bf16::ONE.to_bits().into(),
        Type::F16x2 => u32::from(f16::ONE.to_bits()) * 0x1_0001,
        Type::Bf16x2 => u32::from(bf16::ONE.to_bits()) * 0x1_0001,
        _ => u32::MAX,
    };
    let (low, high) = match ty {
        Type::F16x2 | Type::Bf16x2 => (
            half_holds(warp, step, 0, compare, ty, ftz),
            half_holds(warp, step, 16, compare, ty, ftz),
        ),
        _ => [holds(warp, step, compare, ty, ftz); 2].into(),
    };
    let (low, high) = (combined(warp, step, low, combine), combined(warp, step, high, combine));
    let values = std::array::from_fn(|lane| {
        let low = if low >> lane & 1 == 1 { one & 0xffff } else { 0 };
        let high = if high >> lane & 1 == 1 { one & 0xffff_0000 } else { 0 };
        low | high
    });
    warp.set_narrow(step.dests[0], &values, mask);
}

/// Executes `selp`.
pub(super) fn select(warp: &mut Warp, step: &Step, mask: u32, ty: Type) {
    let first = warp.predicate_of(step.sources[2]);
    choose(warp, step, mask, ty, first);
}

/// Selects a in the lanes of `first`, b in the others.
fn choose(warp: &mut Warp, step: &Step, mask: u32, ty: Type, first: u32) {
    let pick = |lane: usize| first >> lane & 1 == 1;
    if ty.bits() == 64 {
        let (a, b) = (warp.wide(step.sources[0]), warp.wide(step.sources[1]));
        let d: [u64; WARP] = std::array::from_fn(|lane| if pick(lane) { a[lane] } else { b[lane] });
        warp.set_wide(step.dests[0], &d, mask);
    } else {
        let (a, b) = (warp.narrow(step.sources[0]), warp.narrow(step.sources[1]));
        let d: [u32; WARP] = std::array::from_fn(|lane| if pick(lane) { a[lane] } else { b[lane] });
        warp.set_narrow(step.dests[0], &d, mask);
    }
}

/// Executes `slct`: a where c is 0 or more.
pub(super) fn select_by_sign(
    warp: &mut Warp,
    step: &Step,
    mask: u32,
    ty: Type,
    by: Type,
    ftz: bool,
) {
    let c = step.sources[2];
    let first = match by {
        Type::S32 => {
            let c = i32::read(warp, c);
            mask_of(|lane| c[lane] >= 0)
        }
        _ => {
            let c = f32::read(warp, c);
            mask_of(|lane| if ftz { c[lane].flushed() >= 0.0 } else { c[lane] >= 0.0 })
        }
    };
    choose(warp, step, mask, ty, first);
}

/// Executes `testp`.
pub(super) fn test(warp: &mut Warp, step: &Step, mask: u32, test: FloatTest, ty: Type) {
    let source: Source = step.sources[0];
    let holds = match ty {
        Type::F64 => {
            let a = f64::read(warp, source);
            mask_of(|lane| passes(a[lane].classify(), test))
        }
        _ => {
            let a = f32::read(warp, source);
            mask_of(|lane| passes(a[lane].classify(), test))
        }
    };
    warp.set_predicate(step.dests[0], holds, mask);
}

fn passes(category: std::num::FpCategory, test: FloatTest) -> bool {
    use std::num::FpCategory::{Infinite, Nan, Normal, Subnormal};
    match test {
        FloatTest::Finite => !matches!(category, Infinite | Nan),
        FloatTest::Infinite => category == Infinite,
        FloatTest::Number => category != Nan,
        FloatTest::NotANumber => category == Nan,
        FloatTest::Normal => category == Normal,
        FloatTest::Subnormal => category == Subnormal,
    }
}
