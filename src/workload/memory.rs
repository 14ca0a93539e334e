//! The device's global memory: real contents behind real-looking addresses, so that a kernel computes
//! from the very addresses that go into its trace.

use std::fmt::Debug;
use std::marker::PhantomData;

use half::f16;

/// Where the first array lies; CUDA's unified address space puts allocations around here.
const HEAP_BASE: u64 = 0x7f20_0000_0000;
/// Alignment of an allocation (cudaMalloc promises 256 bytes).
const SMALL_ALIGNMENT: u64 = 256;
/// Allocations of at least a large page start on one.
const LARGE_PAGE: u64 = 2 << 20;

/// What one lane can load or store at once. Little-endian in memory.
pub trait Word: Copy + Debug + PartialEq + 'static {
    const BYTES: usize;
    const ZERO: Self;
    fn decode(bytes: &[u8]) -> Self;
    fn encode(self, bytes: &mut [u8]);
}

macro_rules! number_words {
    ($($t:ty),*) => {$(
        impl Word for $t {
            const BYTES: usize = size_of::<$t>();
            const ZERO: $t = 0 as $t;
            fn decode(bytes: &[u8]) -> $t {
                let mut word = [0; size_of::<$t>()];
                word.copy_from_slice(bytes);
                <$t>::from_le_bytes(word)
            }
            fn encode(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}
number_words!(u8, u32, u64, f32, f64);

/// Half precision.
impl Word for f16 {
    const BYTES: usize = 2;
    const ZERO: f16 = f16::ZERO;
    fn decode(bytes: &[u8]) -> f16 {
        f16::from_le_bytes([bytes[0], bytes[1]])
    }
    fn encode(self, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self.to_le_bytes());
    }
}

/// CUDA's vector types (`float4`, `int2`) and structures of one element type.
impl<T: Word, const N: usize> Word for [T; N] {
    const BYTES: usize = N * T::BYTES;
    const ZERO: [T; N] = [T::ZERO; N];
    fn decode(bytes: &[u8]) -> [T; N] {
        std::array::from_fn(|i| T::decode(&bytes[i * T::BYTES..(i + 1) * T::BYTES]))
    }
    fn encode(self, bytes: &mut [u8]) {
        for (part, slot) in self.iter().zip(bytes.chunks_exact_mut(T::BYTES)) {
            part.encode(slot);
        }
    }
}

/// An array in global memory: what a kernel gets as its pointer argument.
#[derive(Debug)]
pub struct Array<T> {
    base: u64,
    len: u64,
    element: PhantomData<T>,
}

impl<T> Clone for Array<T> {
    fn clone(&self) -> Array<T> {
        *self
    }
}

impl<T> Copy for Array<T> {}

impl<T: Word> Array<T> {
    /// Address of element `index`, in bytes.
    pub fn address(&self, index: u64) -> u64 {
        self.base.wrapping_add(index.wrapping_mul(T::BYTES as u64))
    }

    pub fn len(&self) -> u64 {
        self.len
    }

    /// The addresses of its bytes.
    #[cfg(test)]
    pub fn range(&self) -> std::ops::Range<u64> {
        self.base..self.address(self.len)
    }
}

/// Global memory.
#[derive(Debug, Default)]
pub struct Memory {
    /// Ascending and disjoint.
    allocations: Vec<Allocation>,
}

#[derive(Debug)]
struct Allocation {
    base: u64,
    bytes: Vec<u8>,
}

impl Memory {
    /// A new array of `len` zeros.
    pub fn allocate<T: Word>(&mut self, len: u64) -> Array<T> {
        let bytes = len * T::BYTES as u64;
        let free = self.allocations.last().map_or(HEAP_BASE, |a| a.base + a.bytes.len() as u64);
        let alignment = if bytes >= LARGE_PAGE { LARGE_PAGE } else { SMALL_ALIGNMENT };
        let base = free.next_multiple_of(alignment);
        self.allocations.push(Allocation { base, bytes: vec![0; bytes as usize] });
        Array { base, len, element: PhantomData }
    }

    /// # Panics
    /// If the word is not within one array: the kernel is wrong.
    pub fn read<T: Word>(&self, address: u64) -> T {
        let (allocation, at) = self.locate::<T>(address);
        T::decode(&self.allocations[allocation].bytes[at..at + T::BYTES])
    }

    /// # Panics
    /// As [`Memory::read`].
    pub fn write<T: Word>(&mut self, address: u64, word: T) {
        let (allocation, at) = self.locate::<T>(address);
        word.encode(&mut self.allocations[allocation].bytes[at..at + T::BYTES]);
    }

    fn locate<T: Word>(&self, address: u64) -> (usize, usize) {
        let after = self.allocations.partition_point(|a| a.base <= address);
        let found = after.checked_sub(1).and_then(|i| {
            let at = (address - self.allocations[i].base) as usize;
            (at + T::BYTES <= self.allocations[i].bytes.len()).then_some((i, at))
        });
        match found {
            Some(place) if address.is_multiple_of(T::BYTES as u64) => place,
            Some(_) => panic!("address {address:#x} is not aligned to {} bytes", T::BYTES),
            None => panic!("address {address:#x} lies in no array"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_aligned_and_disjoint() {
        let mut memory = Memory::default();
        let (a, b) = (memory.allocate::<u8>(300), memory.allocate::<u32>(1));
        let (c, d) = (memory.allocate::<f32>(1 << 20), memory.allocate::<u64>(2));
        assert_eq!(a.range(), HEAP_BASE..HEAP_BASE + 300);
        assert_eq!(b.range(), HEAP_BASE + 512..HEAP_BASE + 516);
        assert_eq!(c.range(), HEAP_BASE + LARGE_PAGE..HEAP_BASE + 3 * LARGE_PAGE);
        assert_eq!(d.address(1), HEAP_BASE + 3 * LARGE_PAGE + 8);
    }

    #[test]
    fn words_keep_their_value_and_lie_little_endian() {
        let mut memory = Memory::default();
        let words = memory.allocate::<u32>(4);
        memory.write(words.address(0), [1u32, 2, 3, 0x0a0b_0c0d]);
        assert_eq!(memory.read::<[u32; 4]>(words.address(0)), [1, 2, 3, 0x0a0b_0c0d]);
        assert_eq!(memory.read::<u8>(words.address(3)), 0x0d);
        memory.write(words.address(2), 1.5f32);
        assert_eq!(memory.read::<f32>(words.address(2)), 1.5);
    }

    #[test]
    #[should_panic(expected = "lies in no array")]
    fn beyond_an_array_is_nothing() {
        let mut memory = Memory::default();
        let words = memory.allocate::<u32>(4);
        memory.read::<u32>(words.address(4));
    }

    #[test]
    #[should_panic(expected = "not aligned")]
    fn words_are_aligned() {
        let mut memory = Memory::default();
        let bytes = memory.allocate::<u8>(16);
        memory.read::<u32>(bytes.address(2));
    }
}
