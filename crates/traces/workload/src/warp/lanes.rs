//! Values of a kernel: one per lane, and their register.

use std::cell::Cell;
use std::ops::{Add, BitAnd, BitOr, BitXor, Mul, Shl, Shr, Sub};

use warpmem_trace::{OpClass, Reg, WARP_SIZE};

use super::numbers::{Integer, Number};
use super::word::Word;
use super::{Warp, lanes_of};

/// One value per lane. Operators issue the instruction that computes them.
#[derive(Clone, Copy)]
pub struct Lanes<'w, T> {
    warp: &'w Warp,
    values: [T; WARP_SIZE],
    register: Option<Reg>,
}

/// An instruction operand: a constant, a value or a variable.
pub trait Operand<T>: Copy {
    fn lane(&self, lane: usize) -> T;
    fn register(&self) -> Option<Reg>;
}

impl<T: Word> Operand<T> for T {
    fn lane(&self, _: usize) -> T {
        *self
    }
    fn register(&self) -> Option<Reg> {
        None
    }
}

impl<T: Word> Operand<T> for Lanes<'_, T> {
    fn lane(&self, lane: usize) -> T {
        self.values[lane]
    }
    fn register(&self) -> Option<Reg> {
        self.register
    }
}

impl<T: Word> Operand<T> for &Var<'_, T> {
    fn lane(&self, lane: usize) -> T {
        self.values[lane].get()
    }
    fn register(&self) -> Option<Reg> {
        Some(self.register)
    }
}

impl<'w, T: Word> Lanes<'w, T> {
    pub(crate) fn new(
        warp: &'w Warp,
        values: [T; WARP_SIZE],
        register: Option<Reg>,
    ) -> Lanes<'w, T> {
        Lanes { warp, values, register }
    }

    pub(crate) fn warp(&self) -> &'w Warp {
        self.warp
    }

    /// Applies an instruction of `class` to each lane's value.
    pub(crate) fn converted<U: Word>(self, class: OpClass, to: impl Fn(T) -> U) -> Lanes<'w, U> {
        let register = self.warp.compute(class, &[self.register]);
        Lanes::new(self.warp, self.values.map(to), Some(register))
    }

    /// Applies an instruction of `class` to each lane's two values.
    pub(crate) fn paired<U: Word>(
        self,
        class: OpClass,
        other: Lanes<'w, T>,
        with: impl Fn(T, T) -> U,
    ) -> Lanes<'w, U> {
        let register = self.warp.compute(class, &[self.register, other.register]);
        let values = std::array::from_fn(|lane| with(self.values[lane], other.values[lane]));
        Lanes::new(self.warp, values, Some(register))
    }

    /// Reinterprets the registers as another type: no instruction.
    pub(crate) fn view<U: Word>(self, of: impl Fn(T) -> U) -> Lanes<'w, U> {
        Lanes::new(self.warp, std::array::from_fn(|lane| of(self.values[lane])), self.register)
    }
}

impl<'w, T: Word, const N: usize> Lanes<'w, [T; N]> {
    /// Component `index` of a vector: no instruction.
    pub fn part(self, index: usize) -> Lanes<'w, T> {
        self.view(|vector| vector[index])
    }
}

impl<'w, T: Number> Lanes<'w, T> {
    fn combine(self, other: impl Operand<T>, with: impl Fn(T, T) -> T) -> Lanes<'w, T> {
        let register = self.warp.compute(T::CLASS, &[self.register, other.register()]);
        let values = std::array::from_fn(|lane| with(self.values[lane], other.lane(lane)));
        Lanes::new(self.warp, values, Some(register))
    }

    /// The minimum (`IMNMX`, `FMNMX`).
    pub fn min(self, other: impl Operand<T>) -> Lanes<'w, T> {
        self.combine(other, T::lesser)
    }

    /// The maximum (`IMNMX`, `FMNMX`).
    pub fn max(self, other: impl Operand<T>) -> Lanes<'w, T> {
        self.combine(other, T::greater)
    }

    /// `self * factor + addend` in one instruction (`IMAD`, `FFMA`).
    pub fn mad(self, factor: impl Operand<T>, addend: impl Operand<T>) -> Lanes<'w, T> {
        let sources = [self.register, factor.register(), addend.register()];
        let register = self.warp.compute(T::CLASS, &sources);
        let value =
            |lane: usize| self.values[lane].times_plus(factor.lane(lane), addend.lane(lane));
        Lanes::new(self.warp, std::array::from_fn(value), Some(register))
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident $bound:ident $with:ident),*) => {$(
        impl<'w, T: $bound, R: Operand<T>> $trait<R> for Lanes<'w, T> {
            type Output = Lanes<'w, T>;
            fn $method(self, other: R) -> Lanes<'w, T> {
                self.combine(other, T::$with)
            }
        }
    )*};
}
operators!(
    Add add Number plus,
    Sub sub Number minus,
    Mul mul Number times,
    BitAnd bitand Integer and,
    BitOr bitor Integer or,
    BitXor bitxor Integer xor
);

impl<'w, T: Integer, R: Operand<u32>> Shl<R> for Lanes<'w, T> {
    type Output = Lanes<'w, T>;
    fn shl(self, by: R) -> Lanes<'w, T> {
        self.shifted(by, T::shift_left)
    }
}

impl<'w, T: Integer, R: Operand<u32>> Shr<R> for Lanes<'w, T> {
    type Output = Lanes<'w, T>;
    fn shr(self, by: R) -> Lanes<'w, T> {
        self.shifted(by, T::shift_right)
    }
}

impl<'w, T: Integer> Lanes<'w, T> {
    fn shifted(self, by: impl Operand<u32>, with: impl Fn(T, u32) -> T) -> Lanes<'w, T> {
        let register = self.warp.compute(OpClass::Integer, &[self.register, by.register()]);
        let values = std::array::from_fn(|lane| with(self.values[lane], by.lane(lane)));
        Lanes::new(self.warp, values, Some(register))
    }

    /// `self / divisor` for a constant: a shift, or the high half of a product and a shift
    /// (`IMAD.HI.U32`, `SHF`).
    pub fn quotient(self, divisor: T) -> Lanes<'w, T> {
        let product = match divisor.is_power_of_two() {
            true => self,
            false => self.converted(OpClass::Integer, |value| value),
        };
        product.converted(OpClass::Integer, |value| value.divided_by(divisor))
    }

    /// `self % divisor` for a constant: a mask, or the difference from [`Lanes::quotient`] times
    /// `divisor`.
    pub fn remainder(self, divisor: T) -> Lanes<'w, T> {
        let rest = |quotient: T, value: T| value.minus(quotient.times(divisor));
        if divisor.is_power_of_two() {
            return self.converted(OpClass::Integer, |v| rest(v.divided_by(divisor), v));
        }
        self.quotient(divisor).combine(self, rest)
    }
}

/// A variable: a register that keeps its value between parts of the kernel. Lanes that are inactive
/// at an assignment keep their previous value.
pub struct Var<'w, T> {
    warp: &'w Warp,
    values: [Cell<T>; WARP_SIZE],
    register: Reg,
}

impl<'w, T: Word> Var<'w, T> {
    pub(super) fn new(warp: &'w Warp, values: [T; WARP_SIZE], register: Reg) -> Var<'w, T> {
        Var { warp, values: values.map(Cell::new), register }
    }

    pub fn get(&self) -> Lanes<'w, T> {
        let values = std::array::from_fn(|lane| self.values[lane].get());
        Lanes::new(self.warp, values, Some(self.register))
    }

    /// Assigns the active lanes. If the last instruction computed the value, it writes the variable
    /// directly; any other value is moved. Read the variable afterwards, not the value.
    pub fn set(&self, value: impl Operand<T>) {
        self.warp.assign(self.register, value.register());
        for lane in lanes_of(self.warp.active()) {
            self.values[lane].set(value.lane(lane));
        }
    }
}
