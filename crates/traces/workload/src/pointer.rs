//! Per-lane addresses, and loads and stores through them.

use std::marker::PhantomData;

use warpmem_trace::{CacheOp, Kind, OpClass, Reg, Space, WARP_SIZE};

use super::warp::lanes::{Lanes, Operand};
use super::warp::memory::Array;
use super::warp::predicate::Predicate;
use super::warp::word::Word;
use super::warp::{Access, Warp};

/// One address per lane.
#[derive(Clone, Copy)]
pub struct Pointer<'w, T> {
    warp: &'w Warp,
    space: Space,
    addresses: [u64; WARP_SIZE],
    register: Option<Reg>,
    element: PhantomData<T>,
}

impl<'w, T: Word> Pointer<'w, T> {
    /// Advances by `distance` elements: an immediate offset, no instruction.
    pub fn offset(self, distance: u32) -> Pointer<'w, T> {
        self.moved(u64::from(distance) * T::BYTES as u64)
    }

    /// Moves back by `distance` elements: an immediate offset, no instruction.
    pub fn before(self, distance: u32) -> Pointer<'w, T> {
        self.moved((u64::from(distance) * T::BYTES as u64).wrapping_neg())
    }

    /// Advances by `distance` elements (`IMAD.WIDE`).
    pub fn plus(self, distance: Lanes<'w, u32>) -> Pointer<'w, T> {
        let sources = [self.register, distance.register()];
        let register = Some(self.warp.compute(OpClass::Integer, &sources));
        let address =
            |lane: usize| self.addresses[lane] + u64::from(distance.lane(lane)) * T::BYTES as u64;
        Pointer { addresses: std::array::from_fn(address), register, ..self }
    }

    /// The same address with another element type (`reinterpret_cast`): no instruction.
    pub fn cast<U: Word>(self) -> Pointer<'w, U> {
        self.moved(0)
    }

    /// `condition ? a : b`, both in the same space (`SEL`).
    pub fn select(
        condition: Predicate<'w>,
        a: Pointer<'w, T>,
        b: Pointer<'w, T>,
    ) -> Pointer<'w, T> {
        assert_eq!(a.space, b.space, "one instruction accesses one space");
        let [from_a, from_b] = [&a, &b].map(|p| Lanes::<u64>::new(p.warp, p.addresses, p.register));
        let selected = condition.select(from_a, from_b);
        let addresses = std::array::from_fn(|lane| selected.lane(lane));
        Pointer { addresses, register: selected.register(), ..a }
    }

    fn moved<U>(self, bytes: u64) -> Pointer<'w, U> {
        Pointer {
            warp: self.warp,
            space: self.space,
            addresses: self.addresses.map(|address| address.wrapping_add(bytes)),
            register: self.register,
            element: PhantomData,
        }
    }

    /// `*p`
    pub fn load(self) -> Lanes<'w, T> {
        self.load_as(CacheOp::Default)
    }

    /// `*p` with a cache operator: `__ldg` is `ReadOnly`, a `volatile` pointer `Volatile`.
    pub fn load_as(self, cache_op: CacheOp) -> Lanes<'w, T> {
        let register = self.warp.access::<T>(&self.access(Kind::Load, cache_op), &[]);
        Lanes::new(self.warp, self.warp.read(self.space, &self.addresses), register)
    }

    /// `*p = value`
    pub fn store(self, value: impl Operand<T>) {
        let access = self.access(Kind::Store, CacheOp::Default);
        self.warp.access::<T>(&access, &[value.register()]);
        self.warp.write(self.space, &self.addresses, |lane| value.lane(lane));
    }

    /// Copies the word from global memory to `to` in shared memory, bypassing registers (`LDGSTS`).
    /// With 16 bytes it also bypasses L1 (`cp.async.cg`).
    pub fn copy_async(self, to: Pointer<'w, T>) {
        assert_eq!((self.space, to.space), (Space::Global, Space::Shared));
        let cache_op = if T::BYTES == 16 { CacheOp::Global } else { CacheOp::Default };
        self.warp.access::<T>(&self.access(Kind::AsyncCopy, cache_op), &[to.register]);
        let values = self.warp.read::<T>(Space::Global, &self.addresses);
        self.warp.write(Space::Shared, &to.addresses, |lane| values[lane]);
    }

    /// Updates the words of the active lanes one by one, lowest lane first; returns the previous
    /// words.
    pub(super) fn update(&self, with: impl Fn(usize, T) -> T) -> [T; WARP_SIZE] {
        self.warp.read_and_write(self.space, &self.addresses, with)
    }

    pub(super) fn warp(&self) -> &'w Warp {
        self.warp
    }

    pub(super) fn space(&self) -> Space {
        self.space
    }

    pub(super) fn addresses(&self) -> &[u64; WARP_SIZE] {
        &self.addresses
    }

    pub(super) fn access(&self, kind: Kind, cache_op: CacheOp) -> Access<'_> {
        Access {
            kind,
            space: self.space,
            cache_op,
            addresses: &self.addresses,
            address_register: self.register,
        }
    }
}

impl<'w, T: Word, const N: usize> Pointer<'w, [T; N]> {
    /// `&p->part`: an immediate offset, no instruction.
    pub fn part(self, index: usize) -> Pointer<'w, T> {
        self.moved((index * T::BYTES) as u64)
    }

    /// Stores a vector from the registers of its components.
    pub fn store_parts(self, parts: [Lanes<'w, T>; N]) {
        let access = self.access(Kind::Store, CacheOp::Default);
        self.warp.access::<[T; N]>(&access, &parts.map(|part| part.register()));
        let vector = |lane| std::array::from_fn(|index| parts[index].lane(lane));
        self.warp.write::<[T; N]>(self.space, &self.addresses, vector);
    }
}

impl<'w> Lanes<'w, u64> {
    /// Reinterprets the value as an address, as in `*(T *)value`: no instruction.
    pub fn as_pointer<T: Word>(self) -> Pointer<'w, T> {
        Pointer {
            warp: self.warp(),
            space: Space::Global,
            addresses: std::array::from_fn(|lane| self.lane(lane)),
            register: self.register(),
            element: PhantomData,
        }
    }
}

impl<T: Word> Array<T> {
    /// `&array[index]` (`IMAD.WIDE`).
    pub fn at<'w>(&self, index: Lanes<'w, u32>) -> Pointer<'w, T> {
        let register = index.warp().compute(OpClass::Integer, &[index.register()]);
        Pointer {
            warp: index.warp(),
            space: Space::Global,
            addresses: std::array::from_fn(|lane| self.address(u64::from(index.lane(lane)))),
            register: Some(register),
            element: PhantomData,
        }
    }

    /// `&array[0]`: a kernel argument.
    pub fn first<'w>(&self, warp: &'w Warp) -> Pointer<'w, T> {
        Pointer {
            warp,
            space: Space::Global,
            addresses: [self.address(0); WARP_SIZE],
            register: None,
            element: PhantomData,
        }
    }

    /// `array[index]`
    pub fn load<'w>(&self, index: Lanes<'w, u32>) -> Lanes<'w, T> {
        self.at(index).load()
    }

    /// `array[index] = value`
    pub fn store(&self, index: Lanes<'_, u32>, value: impl Operand<T>) {
        self.at(index).store(value);
    }
}

/// An array in the CTA's shared memory.
#[derive(Clone, Copy)]
pub struct Shared<T> {
    base: u32,
    element: PhantomData<T>,
}

impl<T: Word> Shared<T> {
    /// The same bytes as elements of another type (`reinterpret_cast`).
    pub fn cast<U: Word>(&self) -> Shared<U> {
        Shared { base: self.base, element: PhantomData }
    }

    /// `&array[0]`: an immediate, no instruction.
    pub fn first<'w>(&self, warp: &'w Warp) -> Pointer<'w, T> {
        Pointer {
            warp,
            space: Space::Shared,
            addresses: [u64::from(self.base); WARP_SIZE],
            register: None,
            element: PhantomData,
        }
    }

    /// `&array[index]`: a shift, since shared addresses have 32 bits.
    pub fn at<'w>(&self, index: Lanes<'w, u32>) -> Pointer<'w, T> {
        let register = index.warp().compute(OpClass::Integer, &[index.register()]);
        let address = |lane| {
            u64::from(index.lane(lane).wrapping_mul(T::BYTES as u32).wrapping_add(self.base))
        };
        Pointer {
            warp: index.warp(),
            space: Space::Shared,
            addresses: std::array::from_fn(address),
            register: Some(register),
            element: PhantomData,
        }
    }
}

impl Warp {
    /// `__shared__ T array[len]`: one array for all warps of the CTA. The launch must declare its
    /// bytes.
    pub fn shared<T: Word>(&self, len: u32) -> Shared<T> {
        Shared { base: self.allocate_shared::<T>(len), element: PhantomData }
    }
}
