//! Lane predicates: the comparisons that compute them, and votes and shuffles among lanes.

use std::ops::{BitAnd, BitOr, Not};

use warpmem_trace::{OpClass, Reg, WARP_SIZE};

use super::Warp;
use super::lanes::{Lanes, Operand};
use super::numbers::Number;
use super::word::Word;

/// One condition per lane.
#[derive(Clone, Copy)]
pub struct Predicate<'w> {
    warp: &'w Warp,
    bits: u32,
    register: Reg,
}

impl<'w> Predicate<'w> {
    /// Returns one bit per lane; only those of active lanes are meaningful.
    pub(super) fn bits(self) -> u32 {
        self.bits
    }

    pub(super) fn register(self) -> Option<Reg> {
        Some(self.register)
    }

    /// `self ? a : b` (`SEL`, `FSEL`)
    pub fn select<T: Word>(self, a: impl Operand<T>, b: impl Operand<T>) -> Lanes<'w, T> {
        let sources = [self.register(), a.register(), b.register()];
        let register = self.warp.compute(OpClass::Integer, &sources);
        let value = |lane| if self.bits >> lane & 1 == 1 { a.lane(lane) } else { b.lane(lane) };
        Lanes::new(self.warp, std::array::from_fn(value), Some(register))
    }

    fn combine(self, other: Predicate<'w>, bits: u32) -> Predicate<'w> {
        let sources = [self.register(), other.register()];
        Predicate { bits, register: self.warp.compute(OpClass::Integer, &sources), ..self }
    }

    /// `__ballot_sync`: one bit for each active lane whose condition is true, broadcast to every
    /// lane.
    pub fn ballot(self) -> Lanes<'w, u32> {
        let register = self.warp.compute(OpClass::Integer, &[self.register()]);
        let bits = self.bits & self.warp.active();
        Lanes::new(self.warp, [bits; WARP_SIZE], Some(register))
    }
}

/// `self && other` (`PLOP3`).
impl<'w> BitAnd for Predicate<'w> {
    type Output = Predicate<'w>;
    fn bitand(self, other: Predicate<'w>) -> Predicate<'w> {
        self.combine(other, self.bits & other.bits)
    }
}

/// `self || other` (`PLOP3`).
impl<'w> BitOr for Predicate<'w> {
    type Output = Predicate<'w>;
    fn bitor(self, other: Predicate<'w>) -> Predicate<'w> {
        self.combine(other, self.bits | other.bits)
    }
}

/// `!self`: a modifier of the reading instruction, no instruction.
impl<'w> Not for Predicate<'w> {
    type Output = Predicate<'w>;
    fn not(self) -> Predicate<'w> {
        Predicate { bits: !self.bits, ..self }
    }
}

impl Warp {
    /// `__activemask()` (`VOTE.ANY`): one bit for each active lane.
    pub fn active_mask(&self) -> Lanes<'_, u32> {
        let register = self.compute(OpClass::Integer, &[]);
        Lanes::new(self, [self.active(); WARP_SIZE], Some(register))
    }
}

/// Comparisons.
impl<'w, T: Number> Lanes<'w, T> {
    fn compare(self, other: impl Operand<T>, with: impl Fn(&T, &T) -> bool) -> Predicate<'w> {
        let register = self.warp().compute(T::CLASS, &[self.register(), other.register()]);
        let holds = |&lane: &usize| with(&self.lane(lane), &other.lane(lane));
        let bits = (0..WARP_SIZE).filter(holds).fold(0, |bits, lane| bits | 1 << lane);
        Predicate { warp: self.warp(), bits, register }
    }

    /// `self < other` (`ISETP.LT`)
    pub fn lt(self, other: impl Operand<T>) -> Predicate<'w> {
        self.compare(other, T::lt)
    }

    /// `self <= other`
    pub fn le(self, other: impl Operand<T>) -> Predicate<'w> {
        self.compare(other, T::le)
    }

    /// `self > other`
    pub fn gt(self, other: impl Operand<T>) -> Predicate<'w> {
        self.compare(other, T::gt)
    }

    /// `self >= other`
    pub fn ge(self, other: impl Operand<T>) -> Predicate<'w> {
        self.compare(other, T::ge)
    }

    /// `self == other`
    pub fn eq(self, other: impl Operand<T>) -> Predicate<'w> {
        self.compare(other, T::eq)
    }

    /// `self != other`
    pub fn ne(self, other: impl Operand<T>) -> Predicate<'w> {
        self.compare(other, T::ne)
    }
}

/// Shuffles.
impl<'w, T: Word> Lanes<'w, T> {
    /// `__shfl_down_sync`: the value of the lane `distance` above, or the lane's own if that lane
    /// does not exist or is inactive.
    pub fn shuffle_down(self, distance: usize) -> Lanes<'w, T> {
        self.shuffled(None, |lane| lane + distance)
    }

    /// `__shfl_up_sync`: the value of the lane `distance` below, or the lane's own.
    pub fn shuffle_up(self, distance: usize) -> Lanes<'w, T> {
        self.shuffled(None, |lane| lane.wrapping_sub(distance))
    }

    /// `__shfl_xor_sync`: the value of the lane whose number differs in the bits of `mask`, or the
    /// lane's own.
    pub fn shuffle_xor(self, mask: usize) -> Lanes<'w, T> {
        self.shuffled(None, |lane| lane ^ mask)
    }

    /// `__shfl_sync`: the value of lane `from` modulo 32, or the lane's own if that lane is
    /// inactive.
    pub fn shuffle(self, from: impl Operand<u32>) -> Lanes<'w, T> {
        self.shuffled(from.register(), |lane| from.lane(lane) as usize % WARP_SIZE)
    }

    fn shuffled(self, index: Option<Reg>, from: impl Fn(usize) -> usize) -> Lanes<'w, T> {
        let active = self.warp().active();
        let source = |lane: usize| match from(lane) {
            other if other < WARP_SIZE && active >> other & 1 == 1 => other,
            _ => lane,
        };
        let register = self.warp().compute(OpClass::Integer, &[self.register(), index]);
        let values = std::array::from_fn(|lane| self.lane(source(lane)));
        Lanes::new(self.warp(), values, Some(register))
    }
}

impl<'w> Lanes<'w, u32> {
    /// `__popc`
    pub fn count_ones(self) -> Lanes<'w, u32> {
        self.converted(OpClass::Integer, u32::count_ones)
    }

    /// `__ffs(x) - 1`, for values that are not zero: number of the lowest bit set (`BREV`, `FLO`).
    pub fn lowest_bit(self) -> Lanes<'w, u32> {
        self.converted(OpClass::Integer, u32::reverse_bits)
            .converted(OpClass::Integer, u32::leading_zeros)
    }
}
