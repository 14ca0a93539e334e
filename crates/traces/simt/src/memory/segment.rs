//! Segments: the bytes that hold allocations.

use memmap2::{MmapMut, MmapOptions};

use super::Allocation;

/// Provider of device memory at host addresses.
pub trait Mapping: Send + Sync {
    /// Returns the first address of device memory.
    fn base(&self) -> u64;
    /// Maps zeroed bytes at an address; `None` if the host lacks memory.
    fn map(&mut self, address: u64, bytes: u64) -> Option<&'static mut [u8]>;
    /// Unmaps bytes from [`Mapping::map`], which are no longer in use.
    fn unmap(&mut self, address: u64, bytes: u64);
}

/// Consecutive bytes.
pub(super) struct Segment {
    pub base: u64,
    storage: Storage,
}

enum Storage {
    /// Removed.
    None,
    /// Pages that the host provides on first touch.
    Own(MmapMut),
    /// Bytes of a [`Mapping`].
    Mapped(&'static mut [u8]),
    /// Bytes of the host, which stay in place.
    Lent(&'static mut [u8]),
}

impl Segment {
    pub fn lent(base: u64, bytes: &'static mut [u8]) -> Segment {
        Segment { base, storage: Storage::Lent(bytes) }
    }

    /// Returns the first address and the number of bytes.
    pub fn extent(&self) -> (u64, u64) {
        (self.base, self.bytes().len() as u64)
    }

    #[inline]
    pub fn bytes(&self) -> &[u8] {
        match &self.storage {
            Storage::None => &[],
            Storage::Own(bytes) => bytes,
            Storage::Mapped(bytes) | Storage::Lent(bytes) => bytes,
        }
    }

    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        match &mut self.storage {
            Storage::None => &mut [],
            Storage::Own(bytes) => bytes,
            Storage::Mapped(bytes) | Storage::Lent(bytes) => bytes,
        }
    }
}

/// Allocates pages that cost no host memory until touched, so that a large and sparsely used buffer fits on a
/// small machine.
fn zero_pages(bytes: u64) -> Option<MmapMut> {
    MmapOptions::new().len(usize::try_from(bytes).ok()?).no_reserve_swap().map_anon().ok()
}

/// All segments, under stable numbers.
pub(super) struct Segments {
    segments: Vec<Segment>,
    /// Numbers of removed segments.
    unused: Vec<usize>,
    mapping: Option<Box<dyn Mapping>>,
}

impl Segments {
    pub fn new(mapping: Option<Box<dyn Mapping>>) -> Segments {
        Segments { segments: Vec::new(), unused: Vec::new(), mapping }
    }

    #[inline]
    pub fn get(&self, number: usize) -> &Segment {
        &self.segments[number]
    }

    /// Returns the bytes of an area.
    #[inline]
    pub fn bytes(&self, area: Allocation) -> &[u8] {
        &self.segments[area.segment].bytes()[area.offset..area.offset + area.bytes as usize]
    }

    /// Returns the bytes as [`Segments::bytes`] does, mutably.
    #[inline]
    pub fn bytes_mut(&mut self, area: Allocation) -> &mut [u8] {
        let bytes = self.segments[area.segment].bytes_mut();
        &mut bytes[area.offset..area.offset + area.bytes as usize]
    }

    /// Adds a segment of zeroed bytes; returns its number, or `None` if the host lacks memory.
    pub fn map(&mut self, base: u64, bytes: u64) -> Option<usize> {
        let storage = match &mut self.mapping {
            Some(mapping) => Storage::Mapped(mapping.map(base, bytes)?),
            None => Storage::Own(zero_pages(bytes)?),
        };
        Some(self.add(Segment { base, storage }))
    }

    pub fn add(&mut self, segment: Segment) -> usize {
        match self.unused.pop() {
            Some(number) => {
                self.segments[number] = segment;
                number
            }
            None => {
                self.segments.push(segment);
                self.segments.len() - 1
            }
        }
    }

    pub fn remove(&mut self, number: usize) {
        let none = Segment { base: 0, storage: Storage::None };
        let Segment { base, storage } = std::mem::replace(&mut self.segments[number], none);
        self.unused.push(number);
        if let (Storage::Mapped(bytes), Some(mapping)) = (storage, &mut self.mapping) {
            mapping.unmap(base, bytes.len() as u64);
        }
    }
}
