//! Typed operands of all lanes.

use half::{bf16, f16};

use crate::lanes::{Lanes, in_all_lanes};
use crate::program::{Dest, Source, Step};
use crate::warp::Warp;

/// A type of register values.
pub(super) trait Operand: Copy {
    /// Bits of a register.
    type Bits: Copy + Default;

    fn of_register(bits: Self::Bits) -> Self;
    fn to_register(self) -> Self::Bits;
    fn read_bits(warp: &Warp, source: Source) -> Lanes<Self::Bits>;
    fn write_bits(warp: &mut Warp, dest: Dest, values: &Lanes<Self::Bits>, mask: u32);

    #[inline(always)]
    fn read(warp: &Warp, source: Source) -> Lanes<Self> {
        Self::read_bits(warp, source).map(Self::of_register)
    }
}

macro_rules! operands {
    ($bits:ty, $read:ident, $write:ident: $($type:ty, $from:expr, $to:expr;)*) => {$(
        impl Operand for $type {
            type Bits = $bits;

            #[inline(always)]
            fn of_register(bits: $bits) -> $type {
                $from(bits)
            }

            #[inline(always)]
            fn to_register(self) -> $bits {
                $to(self)
            }

            #[inline(always)]
            fn read_bits(warp: &Warp, source: Source) -> Lanes<$bits> {
                warp.$read(source)
            }

            #[inline(always)]
            fn write_bits(warp: &mut Warp, dest: Dest, values: &Lanes<$bits>, mask: u32) {
                warp.$write(dest, values, mask);
            }
        }
    )*};
}

operands! { u32, narrow, set_narrow:
    u8, |bits| bits as u8, u32::from;
    i8, |bits| bits as i8, |value| u32::from(value as u8);
    u16, |bits| bits as u16, u32::from;
    i16, |bits| bits as i16, |value| u32::from(value as u16);
    u32, |bits| bits, |value| value;
    i32, |bits| bits as i32, |value| value as u32;
    f32, f32::from_bits, f32::to_bits;
    f16, |bits| f16::from_bits(bits as u16), |value: f16| u32::from(value.to_bits());
    bf16, |bits| bf16::from_bits(bits as u16), |value: bf16| u32::from(value.to_bits());
}

operands! { u64, wide, set_wide:
    u64, |bits| bits, |value| value;
    i64, |bits| bits as i64, |value| value as u64;
    f64, f64::from_bits, f64::to_bits;
}

/// Computes d = f(a).
#[inline(always)]
pub(super) fn map1<A: Operand, D: Operand>(
    warp: &mut Warp,
    step: &Step,
    mask: u32,
    f: impl Fn(A) -> D,
) {
    let a = A::read_bits(warp, step.sources[0]);
    let d = in_all_lanes(
        #[inline(always)]
        |lane| f(A::of_register(a[lane])).to_register(),
    );
    D::write_bits(warp, step.dests[0], &d, mask);
}

/// Computes d = f(a, b).
#[inline(always)]
pub(super) fn map2<A: Operand, B: Operand, D: Operand>(
    warp: &mut Warp,
    step: &Step,
    mask: u32,
    f: impl Fn(A, B) -> D,
) {
    let a = A::read_bits(warp, step.sources[0]);
    let b = B::read_bits(warp, step.sources[1]);
    let d = in_all_lanes(
        #[inline(always)]
        |lane| f(A::of_register(a[lane]), B::of_register(b[lane])).to_register(),
    );
    D::write_bits(warp, step.dests[0], &d, mask);
}

/// Computes d = f(a, b, c).
#[inline(always)]
pub(super) fn map3<A: Operand, B: Operand, C: Operand, D: Operand>(
    warp: &mut Warp,
    step: &Step,
    mask: u32,
    f: impl Fn(A, B, C) -> D,
) {
    let a = A::read_bits(warp, step.sources[0]);
    let b = B::read_bits(warp, step.sources[1]);
    let c = C::read_bits(warp, step.sources[2]);
    let d = in_all_lanes(
        #[inline(always)]
        |lane| {
            f(A::of_register(a[lane]), B::of_register(b[lane]), C::of_register(c[lane]))
                .to_register()
        },
    );
    D::write_bits(warp, step.dests[0], &d, mask);
}

/// Returns the operands of a predicate operation as lane masks.
pub(super) fn predicates(warp: &Warp, step: &Step) -> [u32; 2] {
    let of = |at: usize| step.sources.get(at).map_or(0, |&source| warp.predicate_of(source));
    [of(0), of(1)]
}

/// Returns the lanes in which a comparison holds.
#[inline(always)]
pub(super) fn compared<T: Operand>(warp: &Warp, step: &Step, f: impl Fn(T, T) -> bool) -> u32 {
    let a = T::read_bits(warp, step.sources[0]);
    let b = T::read_bits(warp, step.sources[1]);
    let holds = in_all_lanes(
        #[inline(always)]
        |lane| u32::from(f(T::of_register(a[lane]), T::of_register(b[lane]))) << lane,
    );
    holds.iter().fold(0, |mask, bit| mask | bit)
}
