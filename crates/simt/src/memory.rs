//! Device memory: allocations at fixed addresses, and accesses that are checked against them.

use crate::error::LaunchError;
use crate::texture::{Texture, TextureError, TextureTable};

/// Where device memory begins. A program that allocates the same has the same addresses in every
/// run.
const BASE: u64 = 0x7f00_0000_0000;
/// Bytes of device memory.
const CAPACITY: u64 = 64 << 30;
/// Alignment of every allocation, as `cudaMalloc` promises.
const ALIGN: u64 = 256;
/// Small allocations share segments of this size; larger ones begin at a multiple of it.
const SEGMENT: u64 = 2 << 20;

/// The allocations of a device.
#[derive(Debug)]
pub struct DeviceMemory {
    /// By address.
    allocations: Vec<Allocation>,
    /// Where the segment for small allocations goes on, and ends.
    small: std::ops::Range<u64>,
    /// End of the segments taken so far.
    end: u64,
    textures: TextureTable,
}

#[derive(Debug)]
struct Allocation {
    base: u64,
    bytes: Vec<u8>,
}

impl Allocation {
    fn end(&self) -> u64 {
        self.base + self.bytes.len() as u64
    }
}

impl Default for DeviceMemory {
    fn default() -> DeviceMemory {
        let textures = TextureTable::default();
        DeviceMemory { allocations: Vec::new(), small: BASE..BASE, end: BASE, textures }
    }
}

impl DeviceMemory {
    /// Allocates bytes, which are 0; returns their address.
    ///
    /// # Errors
    /// When they do not fit.
    pub fn allocate(&mut self, bytes: u64) -> Result<u64, LaunchError> {
        let free = CAPACITY - (self.end - BASE);
        let size = bytes.max(1).checked_next_multiple_of(ALIGN).filter(|&size| size <= free);
        let size = size.ok_or(LaunchError::OutOfMemory { bytes, free })?;
        if size >= SEGMENT {
            let base = self.end;
            self.end += size.next_multiple_of(SEGMENT);
            return Ok(self.add(base, bytes));
        }
        if self.small.end - self.small.start < size {
            self.small = self.end..self.end + SEGMENT;
            self.end += SEGMENT;
        }
        let base = self.small.start;
        self.small.start += size;
        Ok(self.add(base, bytes))
    }

    fn add(&mut self, base: u64, bytes: u64) -> u64 {
        let at = self.allocations.partition_point(|allocation| allocation.base < base);
        self.allocations.insert(at, Allocation { base, bytes: vec![0; bytes as usize] });
        base
    }

    /// Frees an allocation; whether there is one at the address. Addresses are not used again.
    pub fn free(&mut self, address: u64) -> bool {
        let at = self.allocations.binary_search_by_key(&address, |allocation| allocation.base);
        at.map(|at| self.allocations.remove(at)).is_ok()
    }

    /// The bytes from an address on, if they lie in one allocation.
    #[inline]
    pub fn bytes(&self, address: u64, length: u64) -> Option<&[u8]> {
        let allocation = &self.allocations[self.find(address)?];
        let start = address - allocation.base;
        allocation.bytes.get(start as usize..)?.get(..length as usize)
    }

    /// As [`DeviceMemory::bytes`], to be written.
    #[inline]
    pub fn bytes_mut(&mut self, address: u64, length: u64) -> Option<&mut [u8]> {
        let at = self.find(address)?;
        let allocation = &mut self.allocations[at];
        let start = address - allocation.base;
        allocation.bytes.get_mut(start as usize..)?.get_mut(..length as usize)
    }

    /// Makes a texture of bytes that are allocated; returns its handle.
    ///
    /// # Errors
    /// When its texels do not lie in one allocation, or cannot be fetched as it says.
    pub fn create_texture(&mut self, texture: Texture) -> Result<u64, TextureError> {
        texture.check()?;
        let (address, bytes) = (texture.address, texture.bytes());
        match self.bytes(address, bytes) {
            Some(_) => Ok(self.textures.add(texture)),
            None => Err(TextureError::Memory { address, bytes }),
        }
    }

    /// Whether there was a texture with this handle. Its texels stay.
    pub fn destroy_texture(&mut self, handle: u64) -> bool {
        self.textures.remove(handle)
    }

    /// The texture with a handle.
    pub fn texture(&self, handle: u64) -> Option<&Texture> {
        self.textures.get(handle)
    }

    /// The allocation that an address lies in.
    #[inline]
    fn find(&self, address: u64) -> Option<usize> {
        let at = self.allocations.partition_point(|allocation| allocation.base <= address);
        let at = at.checked_sub(1)?;
        (address < self.allocations[at].end()).then_some(at)
    }

    /// The number of the allocation that some bytes lie in, and where they begin in it.
    #[inline]
    pub(crate) fn place(&self, address: u64, length: u64) -> Option<(u32, usize)> {
        let at = self.find(address)?;
        let allocation = &self.allocations[at];
        let fits = length <= allocation.end() - address;
        fits.then(|| (at as u32, (address - allocation.base) as usize))
    }

    /// The bytes of an allocation.
    pub(crate) fn allocation(&self, number: u32) -> &[u8] {
        &self.allocations[number as usize].bytes
    }

    /// As [`DeviceMemory::allocation`], to be written.
    pub(crate) fn allocation_mut(&mut self, number: u32) -> &mut [u8] {
        &mut self.allocations[number as usize].bytes
    }

    /// Up to 8 bytes; `None` if they are not all in one allocation.
    pub(crate) fn read(&self, address: u64, width: usize) -> Option<u64> {
        let mut value = [0; 8];
        value[..width].copy_from_slice(self.bytes(address, width as u64)?);
        Some(u64::from_le_bytes(value))
    }

    /// Writes up to 8 bytes; `None` if they are not all in one allocation.
    pub(crate) fn write(&mut self, address: u64, width: usize, value: u64) -> Option<()> {
        let bytes = self.bytes_mut(address, width as u64)?;
        bytes.copy_from_slice(&value.to_le_bytes()[..width]);
        Some(())
    }

    /// The allocation that holds an address: its first address and its bytes.
    #[inline]
    pub(crate) fn around(&self, address: u64) -> Option<(u64, &[u8])> {
        let allocation = &self.allocations[self.find(address)?];
        Some((allocation.base, &allocation.bytes))
    }

    /// As [`DeviceMemory::around`], to be written.
    #[inline]
    pub(crate) fn around_mut(&mut self, address: u64) -> Option<(u64, &mut [u8])> {
        let at = self.find(address)?;
        let allocation = &mut self.allocations[at];
        Some((allocation.base, &mut allocation.bytes))
    }

    /// The allocation that is nearest to an address, for messages: its first address and its size.
    pub(crate) fn nearest(&self, address: u64) -> Option<(u64, u64)> {
        let distance = |allocation: &&Allocation| match allocation.base > address {
            true => allocation.base - address,
            false => address.saturating_sub(allocation.end()),
        };
        let nearest = self.allocations.iter().min_by_key(distance)?;
        Some((nearest.base, nearest.bytes.len() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocations_are_aligned_and_always_at_the_same_addresses() {
        let addresses = || {
            let mut memory = DeviceMemory::default();
            [1, 300, 5 << 20, 7, 2 << 20].map(|bytes| memory.allocate(bytes).unwrap() - BASE)
        };
        assert_eq!(addresses(), [0, 256, 2 << 20, 768, 8 << 20]);
        assert_eq!(addresses(), addresses());
    }

    #[test]
    fn only_bytes_of_an_allocation_can_be_reached() {
        let mut memory = DeviceMemory::default();
        let a = memory.allocate(10).unwrap();
        let b = memory.allocate(10).unwrap();
        assert!(memory.bytes(a, 10).is_some() && memory.bytes(a + 9, 1).is_some());
        for (address, length) in
            [(a, 11), (a + 10, 1), (a - 1, 1), (b + 4, 7), (0, 1), (u64::MAX, 1)]
        {
            assert!(memory.bytes(address, length).is_none(), "{address:#x} {length}");
        }
        memory.bytes_mut(b, 2).unwrap().copy_from_slice(&[1, 2]);
        assert_eq!(memory.bytes(b, 3).unwrap(), [1, 2, 0]);
        assert_eq!(memory.nearest(b + 12), Some((b, 10)));
        assert!(memory.free(a) && !memory.free(a) && !memory.free(b + 1));
        assert!(memory.bytes(a, 1).is_none());
    }

    #[test]
    fn memory_that_does_not_fit_is_refused() {
        let mut memory = DeviceMemory::default();
        for bytes in [u64::MAX, CAPACITY + 1] {
            assert!(memory.allocate(bytes).is_err());
        }
    }
}
