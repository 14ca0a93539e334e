//! Device memory: allocations at fixed addresses, and bounds-checked accesses.

mod addresses;
mod segment;

use std::collections::BTreeMap;

use crate::error::LaunchError;
use crate::texture::{Texture, TextureError, TextureTable};

use addresses::FreeAddresses;
use segment::{Segment, Segments};

pub use segment::Mapping;

/// Default start of device memory, unless a [`Mapping`] sets it. Equal allocations get equal addresses in
/// every run.
const BASE: u64 = 0x7f00_0000_0000;
/// Size of device memory, bytes.
const CAPACITY: u64 = 64 << 30;
/// Alignment of every allocation, as for `cudaMalloc`.
const ALIGN: u64 = 256;
/// Size of the segments that small allocations share; larger allocations start at a multiple of it.
const SEGMENT: u64 = 2 << 20;

/// Allocations of a device.
pub struct DeviceMemory {
    /// Allocations by address.
    allocations: Vec<Allocation>,
    /// Accessible areas by address, if larger than the allocations: all segments.
    pages: Option<Vec<Allocation>>,
    segments: Segments,
    /// Free addresses of segments.
    large: FreeAddresses,
    /// Free addresses within shared segments.
    small: FreeAddresses,
    /// Shared segments, by first address.
    shared: BTreeMap<u64, usize>,
    textures: TextureTable,
}

#[derive(Clone, Copy, Debug)]
struct Allocation {
    base: u64,
    bytes: u64,
    /// Segment, and offset within it.
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
    /// Creates memory backed by a mapping: the host can access the addresses that kernels use. As on a GPU,
    /// every byte of a page with an allocation is accessible, and one page before the first: programs that
    /// read beyond the ends of arrays work, as they do there.
    pub fn mapped(mapping: Box<dyn Mapping>) -> DeviceMemory {
        let mut memory = DeviceMemory::over(mapping.base(), Some(mapping));
        memory.pages = Some(Vec::new());
        // Without it, every allocation fails too.
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

    /// Allocates zeroed bytes at the lowest free addresses; returns their address.
    ///
    /// # Errors
    /// When memory does not suffice.
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

    /// Makes host bytes part of device memory; returns their device address.
    ///
    /// # Errors
    /// When addresses do not suffice.
    pub fn lend(&mut self, bytes: &'static mut [u8]) -> Result<u64, LaunchError> {
        let length = bytes.len() as u64;
        let size = length.max(1).next_multiple_of(SEGMENT);
        let base = self.large.take(size).ok_or_else(|| self.out_of_memory(length))?;
        let segment = self.segments.add(Segment::lent(base, bytes));
        self.add_page(segment);
        Ok(self.add(segment, 0, length))
    }

    /// Adds a segment of at least `size` bytes for an allocation of `bytes`.
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

    /// Makes a whole segment accessible, if unallocated bytes are.
    fn add_page(&mut self, segment: usize) {
        let Some(pages) = &mut self.pages else { return };
        let (base, bytes) = self.segments.get(segment).extent();
        insert(pages, Allocation { base, bytes, segment, offset: 0 });
    }

    fn out_of_memory(&self, bytes: u64) -> LaunchError {
        LaunchError::OutOfMemory { bytes, free: self.large.bytes() }
    }

    fn add_small(&mut self, base: u64, bytes: u64) -> u64 {
        let (&first, &segment) = self
            .shared
            .range(..=base)
            .next_back()
            .expect("small allocations come from shared segments");
        self.add(segment, (base - first) as usize, bytes)
    }

    fn add(&mut self, segment: usize, offset: usize, bytes: u64) -> u64 {
        let base = self.segments.get(segment).base + offset as u64;
        insert(&mut self.allocations, Allocation { base, bytes, segment, offset });
        base
    }

    /// Frees an allocation; returns whether there is one at the address.
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

    /// Returns the total and the free bytes of the device.
    pub fn capacity(&self) -> (u64, u64) {
        (CAPACITY, self.large.bytes() + self.small.bytes())
    }

    /// Returns the allocation that contains an address: its first address and its bytes.
    pub fn extent(&self, address: u64) -> Option<(u64, u64)> {
        let allocation = &self.allocations[find(&self.allocations, address)?];
        Some((allocation.base, allocation.bytes))
    }

    /// Returns the bytes from an address if they lie in one accessible area: an allocation, or a segment of
    /// mapped memory.
    #[inline]
    pub fn bytes(&self, address: u64, length: u64) -> Option<&[u8]> {
        let (base, bytes) = self.around(address)?;
        bytes.get((address - base) as usize..)?.get(..usize::try_from(length).ok()?)
    }

    /// Returns the bytes as [`DeviceMemory::bytes`] does, mutably.
    #[inline]
    pub fn bytes_mut(&mut self, address: u64, length: u64) -> Option<&mut [u8]> {
        let (base, bytes) = self.around_mut(address)?;
        bytes.get_mut((address - base) as usize..)?.get_mut(..usize::try_from(length).ok()?)
    }

    /// Creates a texture over allocated bytes; returns its handle.
    ///
    /// # Errors
    /// When its texels do not lie in one allocation, or do not support its sampling mode.
    pub fn create_texture(&mut self, texture: Texture) -> Result<u64, TextureError> {
        texture.check()?;
        let (address, bytes) = (texture.address, texture.bytes());
        match self.bytes(address, bytes) {
            Some(_) => Ok(self.textures.add(texture)),
            None => Err(TextureError::Memory { address, bytes }),
        }
    }

    /// Destroys a texture; returns whether it existed. Its texels stay.
    pub fn destroy_texture(&mut self, handle: u64) -> bool {
        self.textures.remove(handle)
    }

    /// Returns the texture with a handle.
    pub fn texture(&self, handle: u64) -> Option<&Texture> {
        self.textures.get(handle)
    }

    /// Returns the accessible areas.
    #[inline]
    fn reach(&self) -> &[Allocation] {
        self.pages.as_deref().unwrap_or(&self.allocations)
    }

    /// Returns the area that contains some bytes, and their offset in it.
    #[inline]
    pub(crate) fn place(&self, address: u64, length: u64) -> Option<(u32, usize)> {
        let at = find(self.reach(), address)?;
        let area = &self.reach()[at];
        let fits = length <= area.end() - address;
        fits.then(|| (at as u32, (address - area.base) as usize))
    }

    /// Returns the bytes of an area.
    pub(crate) fn area(&self, number: u32) -> &[u8] {
        self.segments.bytes(self.reach()[number as usize])
    }

    /// Returns the bytes as [`DeviceMemory::area`] does, mutably.
    pub(crate) fn area_mut(&mut self, number: u32) -> &mut [u8] {
        let area = self.reach()[number as usize];
        self.segments.bytes_mut(area)
    }

    /// Reads up to 8 bytes; `None` unless all are in one area.
    pub(crate) fn read(&self, address: u64, width: usize) -> Option<u64> {
        let (area, offset) = self.place(address, width as u64)?;
        let mut value = [0; 8];
        value[..width].copy_from_slice(&self.area(area)[offset..offset + width]);
        Some(u64::from_le_bytes(value))
    }

    /// Writes up to 8 bytes; `None` unless all are in one area.
    pub(crate) fn write(&mut self, address: u64, width: usize, value: u64) -> Option<()> {
        let (area, offset) = self.place(address, width as u64)?;
        let bytes = &mut self.area_mut(area)[offset..offset + width];
        bytes.copy_from_slice(&value.to_le_bytes()[..width]);
        Some(())
    }

    /// Returns the area that contains an address: its first address and its bytes.
    #[inline]
    pub(crate) fn around(&self, address: u64) -> Option<(u64, &[u8])> {
        let area = self.reach()[find(self.reach(), address)?];
        Some((area.base, self.segments.bytes(area)))
    }

    /// Returns the area as [`DeviceMemory::around`] does, mutably.
    #[inline]
    pub(crate) fn around_mut(&mut self, address: u64) -> Option<(u64, &mut [u8])> {
        let area = self.reach()[find(self.reach(), address)?];
        Some((area.base, self.segments.bytes_mut(area)))
    }

    /// Returns the allocation nearest to an address, for messages: its first address and its size.
    pub(crate) fn nearest(&self, address: u64) -> Option<(u64, u64)> {
        let distance = |allocation: &&Allocation| match allocation.base > address {
            true => allocation.base - address,
            false => address.saturating_sub(allocation.end()),
        };
        let nearest = self.allocations.iter().min_by_key(distance)?;
        Some((nearest.base, nearest.bytes))
    }
}

/// Inserts an area in address order.
fn insert(areas: &mut Vec<Allocation>, area: Allocation) {
    let at = areas.partition_point(|other| other.base < area.base);
    areas.insert(at, area);
}

/// Finds the area that contains an address.
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
    fn allocations_are_aligned_and_deterministic() {
        let addresses = || {
            let mut memory = DeviceMemory::default();
            [1, 300, 5 << 20, 7, 2 << 20].map(|bytes| memory.allocate(bytes).unwrap() - BASE)
        };
        assert_eq!(addresses(), [0, 256, 2 << 20, 768, 8 << 20]);
        assert_eq!(addresses(), addresses());
    }

    #[test]
    fn only_allocated_bytes_are_accessible() {
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
    fn freed_addresses_are_reused_and_zeroed() {
        let mut memory = DeviceMemory::default();
        let small: Vec<u64> = (0..4).map(|_| memory.allocate(700).unwrap()).collect();
        let large = memory.allocate(3 << 20).unwrap();
        memory.bytes_mut(small[1], 700).unwrap().fill(7);
        memory.bytes_mut(large, 100).unwrap().fill(7);
        let free = memory.capacity().1;
        assert!(memory.free(small[1]) && memory.free(small[2]) && memory.free(large));
        assert_eq!(memory.capacity().1, free + 2 * 768 + (4 << 20));
        // Adjacent freed ranges merge.
        assert_eq!(memory.allocate(1500).unwrap(), small[1]);
        assert_eq!(memory.allocate(4 << 20).unwrap(), large);
        assert!(memory.bytes(small[1], 1500).unwrap().iter().all(|&byte| byte == 0));
        assert!(memory.bytes(large, 4 << 20).unwrap().iter().all(|&byte| byte == 0));
    }

    #[test]
    fn allocations_lie_in_one_segment() {
        let mut memory = DeviceMemory::default();
        let sizes = [SEGMENT / 2 + 256, SEGMENT / 2, 8];
        let addresses = sizes.map(|bytes| memory.allocate(bytes).unwrap());
        assert_eq!(addresses.map(|address| address - BASE), [0, SEGMENT, SEGMENT / 2 + 256]);
        memory.bytes_mut(addresses[1], sizes[1]).unwrap().fill(7);
        assert!(addresses.iter().all(|&address| memory.free(address)));
        // Nor does one that takes the remaining addresses.
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
    fn mapped_pages_are_accessible_as_a_whole() {
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
    fn registered_host_bytes_have_a_device_address() {
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
    fn allocations_beyond_the_capacity_are_refused() {
        let mut memory = DeviceMemory::default();
        for bytes in [u64::MAX, CAPACITY + 1] {
            assert!(memory.allocate(bytes).is_err());
        }
    }

    /// The allocation is larger than the memory of most machines.
    #[test]
    fn untouched_pages_cost_no_host_memory() {
        let mut memory = DeviceMemory::default();
        let address = memory.allocate(CAPACITY).unwrap();
        memory.write(address + CAPACITY - 4, 4, 7).unwrap();
        assert_eq!(memory.read(address + CAPACITY - 4, 4), Some(7));
        assert_eq!(memory.read(address, 4), Some(0));
        let error = memory.allocate(1).unwrap_err().to_string();
        assert_eq!(error, "1 bytes do not fit in device memory, of which 0 are free");
    }

    /// A host without memory.
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
    fn addresses_stay_free_if_the_host_lacks_memory() {
        let mut memory = DeviceMemory::mapped(Box::new(Full));
        for _ in 0..2 {
            let error = memory.allocate(CAPACITY).unwrap_err();
            assert!(matches!(error, LaunchError::HostMemory { bytes: CAPACITY }), "{error}");
        }
    }
}
