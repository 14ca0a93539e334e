//! Values of a kernel: one per lane, and the register that holds them.

use std::cell::Cell;
use std::ops::{Add, BitAnd, Mul, Shr, Sub};

use warpmem_trace::{OpClass, Reg, WARP_SIZE};

use super::memory::Word;
use super::warp::{Warp, lanes_of};

/// A value of each lane. Operators issue the instruction that computes them.
#[derive(Clone, Copy)]
pub struct Lanes<'w, T> {
    pub(super) warp: &'w Warp,
    values: [T; WARP_SIZE],
    register: Option<Reg>,
}

/// What an instruction can read: a constant, a value, a variable.
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
        self.values.get()[lane]
    }
    fn register(&self) -> Option<Reg> {
        Some(self.register)
    }
}

/// Numbers a lane can calculate with; integers wrap around.
pub trait Number: Word + PartialOrd {
    /// The unit that calculates.
    const CLASS: OpClass;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    /// `self * factor + addend`, rounded once.
    fn times_plus(self, factor: Self, addend: Self) -> Self;
}

/// Numbers with bits to pick at.
pub trait Integer: Number {
    fn and(self, other: Self) -> Self;
    fn shift_right(self, by: u32) -> Self;
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
            fn shift_right(self, by: u32) -> $t { self.wrapping_shr(by) }
        }
    )*};
}
integers!(u8, u32, u64);

impl Number for f32 {
    const CLASS: OpClass = OpClass::Fp32;
    fn plus(self, other: f32) -> f32 {
        self + other
    }
    fn minus(self, other: f32) -> f32 {
        self - other
    }
    fn times(self, other: f32) -> f32 {
        self * other
    }
    fn times_plus(self, factor: f32, addend: f32) -> f32 {
        self.mul_add(factor, addend)
    }
}

impl<'w, T: Word> Lanes<'w, T> {
    pub(super) fn new(
        warp: &'w Warp,
        values: [T; WARP_SIZE],
        register: Option<Reg>,
    ) -> Lanes<'w, T> {
        Lanes { warp, values, register }
    }

    /// The same registers read as something else: no instruction.
    pub(super) fn view<U: Word>(self, of: impl Fn(T) -> U) -> Lanes<'w, U> {
        Lanes::new(self.warp, std::array::from_fn(|lane| of(self.values[lane])), self.register)
    }

    /// `SHFL.DOWN`: the value of the lane `distance` above; a lane's own if there is none or it is inactive.
    pub fn shuffle_down(self, distance: usize) -> Lanes<'w, T> {
        let active = self.warp.active();
        let from = |lane: usize| match lane + distance {
            above if above < WARP_SIZE && active >> above & 1 == 1 => above,
            _ => lane,
        };
        let register = self.warp.compute(OpClass::Integer, &[self.register]);
        let values = std::array::from_fn(|lane| self.values[from(lane)]);
        Lanes::new(self.warp, values, Some(register))
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

    /// `self * factor + addend` in one instruction (`IMAD`, `FFMA`).
    pub fn mad(self, factor: impl Operand<T>, addend: impl Operand<T>) -> Lanes<'w, T> {
        let sources = [self.register, factor.register(), addend.register()];
        let register = self.warp.compute(T::CLASS, &sources);
        let value =
            |lane: usize| self.values[lane].times_plus(factor.lane(lane), addend.lane(lane));
        Lanes::new(self.warp, std::array::from_fn(value), Some(register))
    }

    fn compare(self, other: impl Operand<T>, with: impl Fn(&T, &T) -> bool) -> Predicate {
        let register = self.warp.compute(T::CLASS, &[self.register, other.register()]);
        let holds = |&lane: &usize| with(&self.values[lane], &other.lane(lane));
        let bits = (0..WARP_SIZE).filter(holds).fold(0, |bits, lane| bits | 1 << lane);
        Predicate { bits, register: Some(register) }
    }

    /// `self < other` (`ISETP.LT`)
    pub fn lt(self, other: impl Operand<T>) -> Predicate {
        self.compare(other, T::lt)
    }

    /// `self == other`
    pub fn eq(self, other: impl Operand<T>) -> Predicate {
        self.compare(other, T::eq)
    }

    /// `self != other`
    pub fn ne(self, other: impl Operand<T>) -> Predicate {
        self.compare(other, T::ne)
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
    BitAnd bitand Integer and
);

impl<'w, T: Integer> Shr<u32> for Lanes<'w, T> {
    type Output = Lanes<'w, T>;
    fn shr(self, by: u32) -> Lanes<'w, T> {
        self.combine(T::ZERO, |value, _| value.shift_right(by))
    }
}

/// A condition of each lane.
#[derive(Clone, Copy)]
pub struct Predicate {
    bits: u32,
    register: Option<Reg>,
}

impl Predicate {
    /// One bit per lane; only those of active lanes mean anything.
    pub(super) fn bits(self) -> u32 {
        self.bits
    }

    pub(super) fn register(self) -> Option<Reg> {
        self.register
    }
}

/// A variable: a register that keeps its value from one part of the kernel to the next. Lanes that are not
/// active when it is set keep what they had.
pub struct Var<'w, T> {
    warp: &'w Warp,
    values: Cell<[T; WARP_SIZE]>,
    register: Reg,
}

impl<'w, T: Word> Var<'w, T> {
    pub(super) fn new(warp: &'w Warp, values: [T; WARP_SIZE], register: Reg) -> Var<'w, T> {
        Var { warp, values: Cell::new(values), register }
    }

    pub fn get(&self) -> Lanes<'w, T> {
        Lanes::new(self.warp, self.values.get(), Some(self.register))
    }

    /// Gives the active lanes their new values. A value that the last instruction computed is computed
    /// into the variable; any other is moved. Read the variable afterwards, not the value.
    pub fn set(&self, value: impl Operand<T>) {
        self.warp.assign(self.register, value.register());
        let mut values = self.values.get();
        for lane in lanes_of(self.warp.active()) {
            values[lane] = value.lane(lane);
        }
        self.values.set(values);
    }
}
