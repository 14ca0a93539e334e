//! Device memory: allocations at fixed addresses, and accesses that are checked against them.

mod addresses;
mod segment;

use std::collections::BTreeMap;

use crate::error::LaunchError;
use crate::texture::{Texture, TextureError, TextureTable};

use addresses::FreeAddresses;
use segment::{Segment, Segments};

pub use segment::Mapping;

/// Where device memory begins, unless a [`Mapping`] says. A program that allocates the same has the
/// same addresses in every run.
const BASE: u64 = 0x7f00_0000_0000;
/// Bytes of device memory.
const CAPACITY: u64 = 64 << 30;
/// Alignment of every allocation, as `cudaMalloc` promises.
const ALIGN: u64 = 256;
/// Small allocations share segments of this size; larger ones begin at a multiple of it.
const SEGMENT: u64 = 2 << 20;

/// The allocations of a device.
pub struct DeviceMemory {
    /// By address.
    allocations: Vec<Allocation>,
    /// What can be reached, by address, where that is more than the allocations: all segments.
    pages: Option<Vec<Allocation>>,
    segments: Segments,
    /// Addresses of segments.
    large: FreeAddresses,
    /// Addresses within the segments that small allocations share.
    small: FreeAddresses,
    /// Those segments, by first address.
    shared: BTreeMap<u64, usize>,
    textures: TextureTable,
}

#[derive(Clone, Copy, Debug)]
struct Allocation {
    base: u64,
    bytes: u64,
    /// The segment, and where it begins in it.
    segment: usize,
    offset: usize,
}

impl Allocation {
    fn end(&self) -> u64 {
        self.base + self.bytes
    }
}

impl Default for DeviceMemory {
    fn default() -> DeviceMemory {
        DeviceMemory::over(BASE, None)
    }
}

impl DeviceMemory {
    /// Memory whose bytes a mapping provides: the host finds them at the addresses that kernels
    /// use. As on a GPU, every byte of a page with an allocation can be reached, and one page before
    /// the first: programs that read beyond the ends of arrays work there, and here.
    pub fn mapped(mapping: Box<dyn Mapping>) -> DeviceMemory {
        let mut memory = DeviceMemory::over(mapping.base(), Some(mapping));
        memory.pages = Some(Vec::new());
        // Without addresses for it every allocation fails too.
        memory.add_segment(SEGMENT, SEGMENT).ok();
        memory
    }

    fn over(base: u64, mapping: Option<Box<dyn Mapping>>) -> DeviceMemory {
        DeviceMemory {
            allocations: Vec::new(),
            pages: None,
            segments: Segments::new(mapping),
            large: FreeAddresses::new(base, CAPACITY),
            small: FreeAddresses::between(SEGMENT),
            shared: BTreeMap::new(),
            textures: TextureTable::default(),
        }
    }

    /// Allocates bytes, which are 0, at the lowest addresses that are free; returns their address.
    ///
    /// # Errors
    /// When they do not fit.
    pub fn allocate(&mut self, bytes: u64) -> Result<u64, LaunchError> {
        let size = bytes.max(1).checked_next_multiple_of(ALIGN);
        let size = size.filter(|&size| size <= CAPACITY);
        let size = size.ok_or_else(|| self.out_of_memory(bytes))?;
        if size >= SEGMENT {
            let segment = self.add_segment(size, bytes)?;
            return Ok(self.add(segment, 0, bytes));
        }
        if let Some(base) = self.small.take(size) {
            return Ok(self.add_small(base, bytes));
        }
        let segment = self.add_segment(SEGMENT, bytes)?;
        let base = self.segments.get(segment).base;
        self.shared.insert(base, segment);
        self.small.give(base, SEGMENT);
        let base = self.small.take(size).ok_or_else(|| self.out_of_memory(bytes))?;
        Ok(self.add_small(base, bytes))
    }

    /// Makes bytes of the host part of device memory; returns their address there.
    ///
    /// # Errors
    /// When there are no addresses for them.
    pub fn lend(&mut self, bytes: &'static mut [u8]) -> Result<u64, LaunchError> {
        let length = bytes.len() as u64;
        let size = length.max(1).next_multiple_of(SEGMENT);
        let base = self.large.take(size).ok_or_else(|| self.out_of_memory(length))?;
        let segment = self.segments.add(Segment::lent(base, bytes));
        self.add_page(segment);
        Ok(self.add(segment, 0, length))
    }

    /// A segment of at least `size` bytes, needed for an allocation of `bytes`.
    fn add_segment(&mut self, size: u64, bytes: u64) -> Result<usize, LaunchError> {
        let size = size.next_multiple_of(SEGMENT);
        let base = self.large.take(size).ok_or_else(|| self.out_of_memory(bytes))?;
        let Some(segment) = self.segments.map(base, size) else {
            self.large.give(base, size);
            return Err(LaunchError::HostMemory { bytes: size });
        };
        self.add_page(segment);
        Ok(segment)
    }

    /// Makes all of a segment an area, if what is not allocated can be reached.
    fn add_page(&mut self, segment: usize) {
        let Some(pages) = &mut self.pages else { return };
        let (base, bytes) = self.segments.get(segment).extent();
        insert(pages, Allocation { base, bytes, segment, offset: 0 });
    }

    fn out_of_memory(&self, bytes: u64) -> LaunchError {
        LaunchError::OutOfMemory { bytes, free: self.large.bytes() }
    }

    fn add_small(&mut self, base: u64, bytes: u64) -> u64 {
        let (&first, &segment) =
            self.shared.range(..=base).next_back().expect("small addresses are of shared segments");
        self.add(segment, (base - first) as usize, bytes)
    }

    fn add(&mut self, segment: usize, offset: usize, bytes: u64) -> u64 {
        let base = self.segments.get(segment).base + offset as u64;
        insert(&mut self.allocations, Allocation { base, bytes, segment, offset });
        base
    }

    /// Frees an allocation; whether there is one at the address.
    pub fn free(&mut self, address: u64) -> bool {
        let at = self.allocations.binary_search_by_key(&address, |allocation| allocation.base);
        let Ok(at) = at else { return false };
        let allocation = self.allocations[at];
        let Allocation { base, bytes, segment, .. } = allocation;
        let size = bytes.max(1).next_multiple_of(ALIGN);
        if self.shared.contains_key(&self.segments.get(segment).base) {
            self.segments.bytes_mut(allocation).fill(0);
            self.small.give(base, size);
        } else {
            if let Some(pages) = &mut self.pages {
                pages.retain(|page| page.segment != segment);
            }
            self.segments.remove(segment);
            self.large.give(base, size.next_multiple_of(SEGMENT));
        }
        self.allocations.remove(at);
        true
    }

    /// Bytes of the device, and those of them that are free.
    pub fn capacity(&self) -> (u64, u64) {
        (CAPACITY, self.large.bytes() + self.small.bytes())
    }

    /// The allocation that an address lies in: its first address and its bytes.
    pub fn extent(&self, address: u64) -> Option<(u64, u64)> {
        let allocation = &self.allocations[find(&self.allocations, address)?];
        Some((allocation.base, allocation.bytes))
    }

    /// The bytes from an address on, if they lie in one area that can be reached: an allocation, or
    /// a segment of memory that is mapped.
    #[inline]
    pub fn bytes(&self, address: u64, length: u64) -> Option<&[u8]> {
        let (base, bytes) = self.around(address)?;
        bytes.get((address - base) as usize..)?.get(..usize::try_from(length).ok()?)
    }

    /// As [`DeviceMemory::bytes`], to be written.
    #[inline]
    pub fn bytes_mut(&mut self, address: u64, length: u64) -> Option<&mut [u8]> {
        let (base, bytes) = self.around_mut(address)?;
        bytes.get_mut((address - base) as usize..)?.get_mut(..usize::try_from(length).ok()?)
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

    /// What can be reached.
    #[inline]
    fn reach(&self) -> &[Allocation] {
        self.pages.as_deref().unwrap_or(&self.allocations)
    }

    /// The number of the area that some bytes lie in, and where they begin in it.
    #[inline]
    pub(crate) fn place(&self, address: u64, length: u64) -> Option<(u32, usize)> {
        let at = find(self.reach(), address)?;
        let area = &self.reach()[at];
        let fits = length <= area.end() - address;
        fits.then(|| (at as u32, (address - area.base) as usize))
    }

    /// The bytes of an area.
    pub(crate) fn area(&self, number: u32) -> &[u8] {
        self.segments.bytes(self.reach()[number as usize])
    }

    /// As [`DeviceMemory::area`], to be written.
    pub(crate) fn area_mut(&mut self, number: u32) -> &mut [u8] {
        let area = self.reach()[number as usize];
        self.segments.bytes_mut(area)
    }

    /// Up to 8 bytes; `None` if they are not all in one area.
    pub(crate) fn read(&self, address: u64, width: usize) -> Option<u64> {
        let (area, offset) = self.place(address, width as u64)?;
        let mut value = [0; 8];
        value[..width].copy_from_slice(&self.area(area)[offset..offset + width]);
        Some(u64::from_le_bytes(value))
    }

    /// Writes up to 8 bytes; `None` if they are not all in one area.
    pub(crate) fn write(&mut self, address: u64, width: usize, value: u64) -> Option<()> {
        let (area, offset) = self.place(address, width as u64)?;
        let bytes = &mut self.area_mut(area)[offset..offset + width];
        bytes.copy_from_slice(&value.to_le_bytes()[..width]);
        Some(())
    }

    /// The area that holds an address: its first address and its bytes.
    #[inline]
    pub(crate) fn around(&self, address: u64) -> Option<(u64, &[u8])> {
        let area = self.reach()[find(self.reach(), address)?];
        Some((area.base, self.segments.bytes(area)))
    }

    /// As [`DeviceMemory::around`], to be written.
    #[inline]
    pub(crate) fn around_mut(&mut self, address: u64) -> Option<(u64, &mut [u8])> {
        let area = self.reach()[find(self.reach(), address)?];
        Some((area.base, self.segments.bytes_mut(area)))
    }

    /// The allocation that is nearest to an address, for messages: its first address and its size.
    pub(crate) fn nearest(&self, address: u64) -> Option<(u64, u64)> {
        let distance = |allocation: &&Allocation| match allocation.base > address {
            true => allocation.base - address,
            false => address.saturating_sub(allocation.end()),
        };
        let nearest = self.allocations.iter().min_by_key(distance)?;
        Some((nearest.base, nearest.bytes))
    }
}

/// Adds an area where it belongs by its address.
fn insert(areas: &mut Vec<Allocation>, area: Allocation) {
    let at = areas.partition_point(|other| other.base < area.base);
    areas.insert(at, area);
}

/// The area that an address lies in.
#[inline]
fn find(areas: &[Allocation], address: u64) -> Option<usize> {
    let at = areas.partition_point(|area| area.base <= address);
    let at = at.checked_sub(1)?;
    (address < areas[at].end()).then_some(at)
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
    fn addresses_that_were_freed_are_used_again_and_their_bytes_are_0() {
        let mut memory = DeviceMemory::default();
        let small: Vec<u64> = (0..4).map(|_| memory.allocate(700).unwrap()).collect();
        let large = memory.allocate(3 << 20).unwrap();
        memory.bytes_mut(small[1], 700).unwrap().fill(7);
        memory.bytes_mut(large, 100).unwrap().fill(7);
        let free = memory.capacity().1;
        assert!(memory.free(small[1]) && memory.free(small[2]) && memory.free(large));
        assert_eq!(memory.capacity().1, free + 2 * 768 + (4 << 20));
        // What was freed side by side is room for one.
        assert_eq!(memory.allocate(1500).unwrap(), small[1]);
        assert_eq!(memory.allocate(4 << 20).unwrap(), large);
        assert!(memory.bytes(small[1], 1500).unwrap().iter().all(|&byte| byte == 0));
        assert!(memory.bytes(large, 4 << 20).unwrap().iter().all(|&byte| byte == 0));
    }

    #[test]
    fn an_allocation_lies_in_one_segment() {
        let mut memory = DeviceMemory::default();
        let sizes = [SEGMENT / 2 + 256, SEGMENT / 2, 8];
        let addresses = sizes.map(|bytes| memory.allocate(bytes).unwrap());
        assert_eq!(addresses.map(|address| address - BASE), [0, SEGMENT, SEGMENT / 2 + 256]);
        memory.bytes_mut(addresses[1], sizes[1]).unwrap().fill(7);
        assert!(addresses.iter().all(|&address| memory.free(address)));
        // Nor does one that takes what they left.
        let address = memory.allocate(SEGMENT - 256).unwrap();
        assert_eq!(address - BASE, 0);
        assert!(memory.bytes(address, SEGMENT - 256).unwrap().iter().all(|&byte| byte == 0));
    }

    /// Pages of the heap.
    struct Leaked;

    impl Mapping for Leaked {
        fn base(&self) -> u64 {
            BASE
        }

        fn map(&mut self, _: u64, bytes: u64) -> Option<&'static mut [u8]> {
            Some(vec![0; bytes as usize].leak())
        }

        fn unmap(&mut self, _: u64, _: u64) {}
    }

    #[test]
    fn all_of_a_page_that_is_mapped_can_be_reached() {
        let mut memory = DeviceMemory::mapped(Box::new(Leaked));
        let small = memory.allocate(100).unwrap();
        let large = memory.allocate(3 << 20).unwrap();
        assert_eq!((small - BASE, large - BASE), (SEGMENT, 2 * SEGMENT));
        for address in [small - 4, small + 100, large - 4, large + (3 << 20)] {
            assert_eq!(memory.write(address, 4, 5), Some(()));
            assert_eq!(memory.read(address, 4), Some(5));
            assert_eq!(memory.bytes(address, 4).unwrap(), [5, 0, 0, 0]);
            assert_eq!(memory.extent(address), None);
        }
        let end = large + (4 << 20);
        assert!(memory.read(end - 4, 4).is_some() && memory.read(end, 1).is_none());
        assert!(memory.read(BASE, 1).is_some() && memory.read(BASE - 1, 1).is_none());
        assert!(memory.free(large) && memory.read(large, 1).is_none());
        assert!(memory.free(small) && memory.read(small, 1).is_some());
    }

    #[test]
    fn bytes_of_the_host_have_an_address() {
        let mut memory = DeviceMemory::default();
        let first = memory.allocate(8).unwrap();
        let lent = memory.lend(vec![1, 2, 3].leak()).unwrap();
        assert_eq!(memory.bytes(lent, 3).unwrap(), [1, 2, 3]);
        assert_eq!(memory.extent(lent + 2), Some((lent, 3)));
        assert!(memory.bytes(lent, 4).is_none() && memory.free(lent));
        assert_eq!(memory.extent(lent), None);
        assert_eq!(memory.extent(first), Some((first, 8)));
    }

    #[test]
    fn memory_that_does_not_fit_is_refused() {
        let mut memory = DeviceMemory::default();
        for bytes in [u64::MAX, CAPACITY + 1] {
            assert!(memory.allocate(bytes).is_err());
        }
    }

    /// The allocation is larger than the memory of most machines.
    #[test]
    fn all_of_device_memory_can_be_allocated_as_untouched_pages_cost_nothing() {
        let mut memory = DeviceMemory::default();
        let address = memory.allocate(CAPACITY).unwrap();
        memory.write(address + CAPACITY - 4, 4, 7).unwrap();
        assert_eq!(memory.read(address + CAPACITY - 4, 4), Some(7));
        assert_eq!(memory.read(address, 4), Some(0));
        let error = memory.allocate(1).unwrap_err().to_string();
        assert_eq!(error, "1 bytes do not fit in device memory, of which 0 are free");
    }

    /// A host without room.
    struct Full;

    impl Mapping for Full {
        fn base(&self) -> u64 {
            BASE
        }

        fn map(&mut self, _: u64, _: u64) -> Option<&'static mut [u8]> {
            None
        }

        fn unmap(&mut self, _: u64, _: u64) {}
    }

    #[test]
    fn addresses_for_which_the_host_has_no_room_stay_free() {
        let mut memory = DeviceMemory::mapped(Box::new(Full));
        for _ in 0..2 {
            let error = memory.allocate(CAPACITY).unwrap_err();
            assert!(matches!(error, LaunchError::HostMemory { bytes: CAPACITY }), "{error}");
        }
    }
}
