//! Arithmetic on lane values, without issuing instructions.

use warpmem_trace::OpClass;

use super::word::Word;

/// Numbers for lane arithmetic; integers wrap.
pub trait Number: Word + PartialOrd {
    /// Functional unit of the arithmetic.
    const CLASS: OpClass;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    /// `self * factor + addend`, rounded once.
    fn times_plus(self, factor: Self, addend: Self) -> Self;

    fn lesser(self, other: Self) -> Self {
        if other < self { other } else { self }
    }

    fn greater(self, other: Self) -> Self {
        if other > self { other } else { self }
    }
}

/// Numbers with bitwise operations.
pub trait Integer: Number {
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn shift_left(self, by: u32) -> Self;
    fn shift_right(self, by: u32) -> Self;
    fn divided_by(self, divisor: Self) -> Self;
    fn is_power_of_two(self) -> bool;
}

macro_rules! integers {
    ($($t:ty),*) => {$(
        impl Number for $t {
            const CLASS: OpClass = OpClass::Integer;
            fn plus(self, other: $t) -> $t { self.wrapping_add(other) }
            fn minus(self, other: $t) -> $t { self.wrapping_sub(other) }
            fn times(self, other: $t) -> $t { self.wrapping_mul(other) }
            fn times_plus(self, factor: $t, addend: $t) -> $t {
                self.wrapping_mul(factor).wrapping_add(addend)
            }
        }
        impl Integer for $t {
            fn and(self, other: $t) -> $t { self & other }
            fn or(self, other: $t) -> $t { self | other }
            fn xor(self, other: $t) -> $t { self ^ other }
            fn shift_left(self, by: u32) -> $t { self.wrapping_shl(by) }
            fn shift_right(self, by: u32) -> $t { self.wrapping_shr(by) }
            fn divided_by(self, divisor: $t) -> $t { self / divisor }
            fn is_power_of_two(self) -> bool { <$t>::is_power_of_two(self) }
        }
    )*};
}
integers!(u8, u32, u64);

macro_rules! reals {
    ($($t:ty: $class:ident),*) => {$(
        impl Number for $t {
            const CLASS: OpClass = OpClass::$class;
            fn plus(self, other: $t) -> $t { self + other }
            fn minus(self, other: $t) -> $t { self - other }
            fn times(self, other: $t) -> $t { self * other }
            fn times_plus(self, factor: $t, addend: $t) -> $t { self.mul_add(factor, addend) }
        }
    )*};
}
reals!(f32: Fp32, f64: Fp64);
