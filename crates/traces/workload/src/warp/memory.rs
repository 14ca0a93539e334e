//! The device's global memory: real contents at realistic addresses, so that a kernel computes with
//! the addresses of its trace.

use std::marker::PhantomData;

use warpmem_trace::WARP_SIZE;

#[cfg(test)]
use super::journal::Journal;
use super::lanes_of;
use super::word::Word;

/// Address of the first array, typical of CUDA's unified address space.
const HEAP_BASE: u64 = 0x7f20_0000_0000;
/// Alignment of an allocation in bytes (cudaMalloc guarantees 256).
const SMALL_ALIGNMENT: u64 = 256;
/// Allocations of at least a large page start on a page boundary.
const LARGE_PAGE: u64 = 2 << 20;

/// An array in global memory, passed to kernels as a pointer argument.
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
    /// Returns the byte address of element `index`.
    pub fn address(&self, index: u64) -> u64 {
        self.base.wrapping_add(index.wrapping_mul(T::BYTES as u64))
    }

    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns the same bytes as elements of another type (`reinterpret_cast`).
    pub fn cast<U: Word>(&self) -> Array<U> {
        let len = self.len * T::BYTES as u64 / U::BYTES as u64;
        Array { base: self.base, len, element: PhantomData }
    }

    /// Returns the addresses of its bytes.
    #[cfg(test)]
    pub fn range(&self) -> std::ops::Range<u64> {
        self.base..self.address(self.len)
    }
}

/// Memory of one address space.
#[derive(Debug, Default)]
pub struct Memory {
    /// Ascending and disjoint.
    allocations: Vec<Allocation>,
    /// The journal of device memory also logs the accesses to shared memory.
    #[cfg(test)]
    pub journal: Journal,
}

#[derive(Debug)]
struct Allocation {
    base: u64,
    bytes: Vec<u8>,
}

/// Position of a word: an allocation, and the offset in it.
#[derive(Clone, Copy, Default)]
struct Place {
    allocation: usize,
    at: usize,
}

impl Memory {
    /// Creates a CTA's shared memory, from address 0.
    pub fn shared(bytes: u32) -> Memory {
        let mut memory = Memory::default();
        memory.allocations.push(Allocation { base: 0, bytes: vec![0; bytes as usize] });
        memory
    }

    /// Allocates an array of `len` zeros.
    pub fn allocate<T: Word>(&mut self, len: u64) -> Array<T> {
        let bytes = len * T::BYTES as u64;
        let free = self.allocations.last().map_or(HEAP_BASE, |a| a.base + a.bytes.len() as u64);
        let alignment = if bytes >= LARGE_PAGE { LARGE_PAGE } else { SMALL_ALIGNMENT };
        let base = free.next_multiple_of(alignment);
        self.allocations.push(Allocation { base, bytes: vec![0; bytes as usize] });
        Array { base, len, element: PhantomData }
    }

    /// Writes `words` from the start of `array`, which must hold them.
    pub fn fill<T: Word>(&mut self, array: Array<T>, words: &[T]) {
        if words.is_empty() {
            return;
        }
        let Place { allocation, at } = self.search::<T>(array.base);
        let bytes = &mut self.allocations[allocation].bytes[at..];
        for (slot, &word) in bytes.chunks_exact_mut(T::BYTES).zip(words) {
            word.encode(slot);
        }
    }

    /// Returns the contents of each array by its first address.
    #[cfg(test)]
    pub fn contents(&self) -> std::collections::BTreeMap<u64, Vec<u8>> {
        self.allocations.iter().map(|a| (a.base, a.bytes.clone())).collect()
    }

    /// Returns the words of `array`.
    pub fn words<T: Word>(&self, array: Array<T>) -> Vec<T> {
        if array.len == 0 {
            return Vec::new();
        }
        let Place { allocation, at } = self.search::<T>(array.base);
        let bytes = &self.allocations[allocation].bytes[at..];
        bytes.chunks_exact(T::BYTES).take(array.len as usize).map(T::decode).collect()
    }

    /// Returns the words at the addresses of the lanes of `mask`; zero for other lanes.
    ///
    /// # Panics
    /// If a word is not within one array, a bug of the kernel.
    pub fn read<T: Word>(&self, mask: u32, addresses: &[u64; WARP_SIZE]) -> [T; WARP_SIZE] {
        if let Some(Place { allocation, at }) = self.side_by_side::<T>(mask, addresses) {
            let bytes = &self.allocations[allocation].bytes[at..at + WARP_SIZE * T::BYTES];
            return std::array::from_fn(|lane| {
                T::decode(&bytes[lane * T::BYTES..(lane + 1) * T::BYTES])
            });
        }
        let mut values = [T::ZERO; WARP_SIZE];
        let mut place = Place::default();
        for lane in lanes_of(mask) {
            place = self.locate::<T>(addresses[lane], place);
            values[lane] = T::decode(self.bytes::<T>(place));
        }
        values
    }

    /// Writes the lanes' values, lowest lane first.
    ///
    /// # Panics
    /// As [`Memory::read`].
    pub fn write<T: Word>(
        &mut self,
        mask: u32,
        addresses: &[u64; WARP_SIZE],
        value: impl Fn(usize) -> T,
    ) {
        if let Some(Place { allocation, at }) = self.side_by_side::<T>(mask, addresses) {
            let bytes = &mut self.allocations[allocation].bytes[at..at + WARP_SIZE * T::BYTES];
            let words = bytes.chunks_exact_mut(T::BYTES).enumerate();
            return words.for_each(|(lane, word)| value(lane).encode(word));
        }
        let mut place = Place::default();
        for lane in lanes_of(mask) {
            place = self.locate::<T>(addresses[lane], place);
            value(lane).encode(self.bytes_mut::<T>(place));
        }
    }

    /// Updates the lanes' words one by one, lowest lane first; returns the previous words.
    ///
    /// # Panics
    /// As [`Memory::read`].
    pub fn update<T: Word>(
        &mut self,
        mask: u32,
        addresses: &[u64; WARP_SIZE],
        with: impl Fn(usize, T) -> T,
    ) -> [T; WARP_SIZE] {
        let mut before = [T::ZERO; WARP_SIZE];
        let mut place = Place::default();
        for lane in lanes_of(mask) {
            place = self.locate::<T>(addresses[lane], place);
            let bytes = self.bytes_mut::<T>(place);
            before[lane] = T::decode(bytes);
            with(lane, before[lane]).encode(bytes);
        }
        before
    }

    fn bytes<T: Word>(&self, Place { allocation, at }: Place) -> &[u8] {
        &self.allocations[allocation].bytes[at..at + T::BYTES]
    }

    fn bytes_mut<T: Word>(&mut self, Place { allocation, at }: Place) -> &mut [u8] {
        &mut self.allocations[allocation].bytes[at..at + T::BYTES]
    }

    /// Returns the position of the word at `address`. Successive lanes mostly access the same
    /// array, so the array of `before` is tried first.
    #[inline]
    fn locate<T: Word>(&self, address: u64, before: Place) -> Place {
        self.within::<T>(before.allocation, address).unwrap_or_else(|| self.search::<T>(address))
    }

    /// Returns the position of the first word if all lanes are active and access contiguous words
    /// of one array, the common case of regular code. Such words are copied as one piece.
    fn side_by_side<T: Word>(&self, mask: u32, addresses: &[u64; WARP_SIZE]) -> Option<Place> {
        let follows = |pair: &[u64]| pair[1].wrapping_sub(pair[0]) == T::BYTES as u64;
        if mask != u32::MAX || !addresses.windows(2).all(follows) {
            return None;
        }
        let first = self.search::<T>(addresses[0]);
        let last = self.within::<T>(first.allocation, addresses[WARP_SIZE - 1]);
        last.and(Some(first))
    }

    /// Returns the position of the word at `address`, if it is aligned and in this allocation.
    #[inline]
    fn within<T: Word>(&self, allocation: usize, address: u64) -> Option<Place> {
        let Allocation { base, bytes } = self.allocations.get(allocation)?;
        let at = usize::try_from(address.wrapping_sub(*base)).ok()?;
        let fits = at < bytes.len() && bytes.len() - at >= T::BYTES;
        (fits && address.is_multiple_of(T::BYTES as u64)).then_some(Place { allocation, at })
    }

    #[cold]
    fn search<T: Word>(&self, address: u64) -> Place {
        let after = self.allocations.partition_point(|a| a.base <= address);
        let Some(allocation) = after.checked_sub(1) else {
            panic!("address {address:#x} lies in no array");
        };
        self.within::<T>(allocation, address).unwrap_or_else(|| {
            match address.is_multiple_of(T::BYTES as u64) {
                true => panic!("address {address:#x} lies in no array"),
                false => panic!("address {address:#x} is not aligned to {} bytes", T::BYTES),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a word by one lane.
    fn read<T: Word>(memory: &Memory, address: u64) -> T {
        memory.read(1, &[address; WARP_SIZE])[0]
    }

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
    fn words_are_stored_little_endian() {
        let mut memory = Memory::default();
        let words = memory.allocate::<u32>(4);
        memory.fill(words, &[1u32, 2, 3, 0x0a0b_0c0d]);
        assert_eq!(read::<[u32; 4]>(&memory, words.address(0)), [1, 2, 3, 0x0a0b_0c0d]);
        assert_eq!(read::<u8>(&memory, words.address(3)), 0x0d);
        memory.write(1, &[words.address(2); WARP_SIZE], |_| 1.5f32);
        assert_eq!(read::<f32>(&memory, words.address(2)), 1.5);
        assert_eq!(memory.words(words), [1, 2, 1.5f32.to_bits(), 0x0a0b_0c0d]);
    }

    #[test]
    fn contiguous_accesses_equal_lane_by_lane_accesses() {
        let mut memory = Memory::default();
        let array = memory.allocate::<[u32; 2]>(40);
        let addresses = std::array::from_fn(|lane| array.address(lane as u64 + 3));
        let value = |lane: usize| [lane as u32, 7];
        memory.write(u32::MAX, &addresses, value);
        let one_by_one =
            [1 << 31, u32::MAX >> 1].map(|mask| memory.read::<[u32; 2]>(mask, &addresses));
        let together: [[u32; 2]; WARP_SIZE] = memory.read(u32::MAX, &addresses);
        assert_eq!(together, std::array::from_fn(value));
        assert_eq!(together[31], one_by_one[0][31]);
        assert_eq!(together[..31], one_by_one[1][..31]);
        let words = memory.words(array);
        assert_eq!((words[2], words[3], words[34], words[35]), ([0; 2], [0, 7], [31, 7], [0; 2]));
    }

    #[test]
    #[should_panic(expected = "lies in no array")]
    fn the_last_contiguous_lane_must_be_in_the_array() {
        let mut memory = Memory::default();
        let words = memory.allocate::<u32>(31);
        memory.read::<u32>(u32::MAX, &std::array::from_fn(|lane| words.address(lane as u64)));
    }

    #[test]
    fn lanes_may_access_different_arrays() {
        let mut memory = Memory::default();
        let (a, b) = (memory.allocate::<u32>(1), memory.allocate::<u32>(1));
        let c = memory.allocate::<u32>(2);
        memory.fill(a, &[1]);
        memory.fill(b, &[2]);
        memory.fill(c, &[3, 4]);
        let homes = [c.address(1), a.address(0), b.address(0), c.address(0)];
        let addresses = std::array::from_fn(|lane| homes[lane % 4]);
        let before = memory.update(0b1_0111, &addresses, |lane, old: u32| old + lane as u32);
        assert_eq!(before[..6], [4, 1, 2, 0, 4, 0], "lane 4 sees what lane 0 left");
        assert_eq!(memory.read::<u32>(0b1111, &addresses)[..5], [8, 2, 4, 3, 0]);
    }

    #[test]
    #[should_panic(expected = "lies in no array")]
    fn accesses_beyond_an_array_panic() {
        let mut memory = Memory::default();
        let words = memory.allocate::<u32>(4);
        read::<u32>(&memory, words.address(4));
    }

    #[test]
    #[should_panic(expected = "not aligned")]
    fn words_are_aligned() {
        let mut memory = Memory::default();
        let bytes = memory.allocate::<u8>(16);
        read::<u32>(&memory, bytes.address(2));
    }
}
