//! Atomic operations, executed lane by lane, lowest first.

use warpmem_trace::{CacheOp, Kind, Space};

use super::pointer::Pointer;
use super::warp::lanes::{Lanes, Operand};
use super::warp::numbers::{Integer, Number};
use super::warp::word::Word;

impl<'w, T: Word> Pointer<'w, T> {
    /// `atomicExch(p, value)`: returns the previous value.
    pub fn exchange(self, value: impl Operand<T>) -> Lanes<'w, T> {
        self.fetch(value, |_, value| value)
    }

    /// `atomicCAS(p, expected, value)`: stores `value` if the previous value equals `expected`;
    /// returns the previous value.
    pub fn compare_exchange(
        self,
        expected: impl Operand<T>,
        value: impl Operand<T>,
    ) -> Lanes<'w, T> {
        let registers = [expected.register(), value.register()];
        let (access, warp) = (self.access(Kind::Atomic, self.atomic_cache_op()), self.warp());
        let register = warp.access::<T>(&access, &registers);
        let old = self.update(|lane, old| match old == expected.lane(lane) {
            true => value.lane(lane),
            false => old,
        });
        Lanes::new(warp, old, register)
    }

    fn fetch(self, value: impl Operand<T>, with: impl Fn(T, T) -> T) -> Lanes<'w, T> {
        let (access, warp) = (self.access(Kind::Atomic, self.atomic_cache_op()), self.warp());
        let register = warp.access::<T>(&access, &[value.register()]);
        let old = self.update(|lane, old| with(old, value.lane(lane)));
        Lanes::new(warp, old, register)
    }

    fn reduce(self, value: impl Operand<T>, with: impl Fn(T, T) -> T) {
        let access = self.access(Kind::Reduction, self.atomic_cache_op());
        self.warp().access::<T>(&access, &[value.register()]);
        self.update(|lane, old| with(old, value.lane(lane)));
    }

    /// Global atomics execute at the L2.
    fn atomic_cache_op(&self) -> CacheOp {
        match self.space() {
            Space::Shared => CacheOp::Default,
            _ => CacheOp::StrongGpu,
        }
    }
}

impl<'w, T: Number> Pointer<'w, T> {
    /// `atomicAdd(p, value)` with an unused result (`RED.ADD` in global memory, `ATOMS.ADD` in
    /// shared).
    pub fn add(self, value: impl Operand<T>) {
        self.reduce(value, T::plus);
    }

    /// `atomicAdd(p, value)`: returns the previous value.
    pub fn fetch_add(self, value: impl Operand<T>) -> Lanes<'w, T> {
        self.fetch(value, T::plus)
    }

    /// `atomicMax(p, value)` with an unused result.
    pub fn max(self, value: impl Operand<T>) {
        self.reduce(value, T::greater);
    }

    /// `atomicMin(p, value)`: returns the previous value.
    pub fn fetch_min(self, value: impl Operand<T>) -> Lanes<'w, T> {
        self.fetch(value, T::lesser)
    }
}

impl<'w, T: Integer> Pointer<'w, T> {
    /// `atomicOr(p, value)` with an unused result.
    pub fn or(self, value: impl Operand<T>) {
        self.reduce(value, T::or);
    }

    /// `atomicXor(p, value)` with an unused result.
    pub fn xor(self, value: impl Operand<T>) {
        self.reduce(value, T::xor);
    }
}
