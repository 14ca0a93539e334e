//! Pairs of 16-bit floating-point numbers in a register.

use half::{bf16, f16};
use warpmem_ptx::{Binary, Modes, Ternary, Type, Unary};

use super::float::{Float, binary_value, ternary_value, unary_value};
use super::operand::{map1, map2, map3};
use crate::program::Step;
use crate::warp::Warp;

/// A 16-bit floating-point type.
trait Half: Float {
    fn of_bits(bits: u16) -> Self;
    fn bits(self) -> u16;
}

impl Half for f16 {
    fn of_bits(bits: u16) -> f16 {
        f16::from_bits(bits)
    }

    fn bits(self) -> u16 {
        self.to_bits()
    }
}

impl Half for bf16 {
    fn of_bits(bits: u16) -> bf16 {
        bf16::from_bits(bits)
    }

    fn bits(self) -> u16 {
        self.to_bits()
    }
}

/// Applies a function to the low and the high half.
fn both<T: Half>(f: impl Fn(u32) -> T) -> u32 {
    u32::from(f(0).bits()) | u32::from(f(16).bits()) << 16
}

fn part<T: Half>(word: u32, shift: u32) -> T {
    T::of_bits((word >> shift) as u16)
}

pub(super) fn unary(warp: &mut Warp, step: &Step, mask: u32, f: Unary, ty: Type, modes: Modes) {
    fn of<T: Half>(a: u32, f: Unary, modes: Modes) -> u32 {
        both(|shift| unary_value(part::<T>(a, shift), f, modes))
    }
    let of = if ty == Type::F16x2 { of::<f16> } else { of::<bf16> };
    map1(warp, step, mask, |a: u32| of(a, f, modes));
}

pub(super) fn binary(warp: &mut Warp, step: &Step, mask: u32, f: Binary, ty: Type, modes: Modes) {
    fn of<T: Half>(a: u32, b: u32, f: Binary, modes: Modes) -> u32 {
        both(|shift| binary_value(part::<T>(a, shift), part(b, shift), f, modes))
    }
    let of = if ty == Type::F16x2 { of::<f16> } else { of::<bf16> };
    map2(warp, step, mask, |a: u32, b: u32| of(a, b, f, modes));
}

pub(super) fn ternary(warp: &mut Warp, step: &Step, mask: u32, f: Ternary, ty: Type, modes: Modes) {
    fn of<T: Half>(a: u32, b: u32, c: u32, f: Ternary, modes: Modes) -> u32 {
        both(|shift| ternary_value(part::<T>(a, shift), part(b, shift), part(c, shift), f, modes))
    }
    let of = if ty == Type::F16x2 { of::<f16> } else { of::<bf16> };
    map3(warp, step, mask, |a: u32, b: u32, c: u32| of(a, b, c, f, modes));
}
