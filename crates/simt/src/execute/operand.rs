//! Operands of a type, in all lanes.

use half::{bf16, f16};

use crate::lanes::{Lanes, WARP};
use crate::program::{Dest, Source, Step};
use crate::warp::Warp;

/// A type whose values registers hold.
pub(super) trait Operand: Copy {
    fn read<R>(warp: &Warp<R>, source: Source) -> Lanes<Self>;
    fn write<R>(warp: &mut Warp<R>, dest: Dest, values: &Lanes<Self>, mask: u32);
}

macro_rules! narrow {
    ($($type:ty, $from:expr, $to:expr;)*) => {$(
        impl Operand for $type {
            #[inline(always)]
            fn read<R>(warp: &Warp<R>, source: Source) -> Lanes<$type> {
                warp.narrow(source).map($from)
            }

            #[inline(always)]
            fn write<R>(warp: &mut Warp<R>, dest: Dest, values: &Lanes<$type>, mask: u32) {
                warp.set_narrow(dest, &values.map($to), mask);
            }
        }
    )*};
}

macro_rules! wide {
    ($($type:ty, $from:expr, $to:expr;)*) => {$(
        impl Operand for $type {
            #[inline(always)]
            fn read<R>(warp: &Warp<R>, source: Source) -> Lanes<$type> {
                warp.wide(source).map($from)
            }

            #[inline(always)]
            fn write<R>(warp: &mut Warp<R>, dest: Dest, values: &Lanes<$type>, mask: u32) {
                warp.set_wide(dest, &values.map($to), mask);
            }
        }
    )*};
}

narrow! {
    u8, |bits| bits as u8, u32::from;
    i8, |bits| bits as i8, |value| u32::from(value as u8);
    u16, |bits| bits as u16, u32::from;
    i16, |bits| bits as i16, |value| u32::from(value as u16);
    u32, |bits| bits, |value| value;
    i32, |bits| bits as i32, |value| value as u32;
    f32, f32::from_bits, f32::to_bits;
    f16, |bits| f16::from_bits(bits as u16), |value| u32::from(value.to_bits());
    bf16, |bits| bf16::from_bits(bits as u16), |value| u32::from(value.to_bits());
}

wide! {
    u64, |bits| bits, |value| value;
    i64, |bits| bits as i64, |value| value as u64;
    f64, f64::from_bits, f64::to_bits;
}

/// d = f(a)
#[inline(always)]
pub(super) fn map1<A: Operand, D: Operand, R>(
    warp: &mut Warp<R>,
    step: &Step,
    mask: u32,
    f: impl Fn(A) -> D,
) {
    let a = A::read(warp, step.sources[0]);
    D::write(warp, step.dests[0], &a.map(f), mask);
}

/// d = f(a, b)
#[inline(always)]
pub(super) fn map2<A: Operand, B: Operand, D: Operand, R>(
    warp: &mut Warp<R>,
    step: &Step,
    mask: u32,
    f: impl Fn(A, B) -> D,
) {
    let a = A::read(warp, step.sources[0]);
    let b = B::read(warp, step.sources[1]);
    let d: Lanes<D> = std::array::from_fn(|lane| f(a[lane], b[lane]));
    D::write(warp, step.dests[0], &d, mask);
}

/// d = f(a, b, c)
#[inline(always)]
pub(super) fn map3<A: Operand, B: Operand, C: Operand, D: Operand, R>(
    warp: &mut Warp<R>,
    step: &Step,
    mask: u32,
    f: impl Fn(A, B, C) -> D,
) {
    let a = A::read(warp, step.sources[0]);
    let b = B::read(warp, step.sources[1]);
    let c = C::read(warp, step.sources[2]);
    let d: Lanes<D> = std::array::from_fn(|lane| f(a[lane], b[lane], c[lane]));
    D::write(warp, step.dests[0], &d, mask);
}

/// The operands of a predicate operation, as sets of lanes.
pub(super) fn predicates<R>(warp: &Warp<R>, step: &Step) -> [u32; 2] {
    let of = |at: usize| step.sources.get(at).map_or(0, |&source| warp.predicate_of(source));
    [of(0), of(1)]
}

/// The lanes in which a comparison holds.
#[inline(always)]
pub(super) fn compared<T: Operand, R>(
    warp: &Warp<R>,
    step: &Step,
    f: impl Fn(T, T) -> bool,
) -> u32 {
    let a = T::read(warp, step.sources[0]);
    let b = T::read(warp, step.sources[1]);
    (0..WARP).fold(0, |mask, lane| mask | u32::from(f(a[lane], b[lane])) << lane)
}
