//! Device memory as an instruction reaches it.

use crate::memory::DeviceMemory;
use crate::view::View;

/// Device memory, or a view of it.
pub(crate) enum Global<'a> {
    Memory(&'a mut DeviceMemory),
    View(&'a DeviceMemory, &'a mut View),
}

impl Global<'_> {
    /// The same for a shorter time.
    pub fn reborrow(&mut self) -> Global<'_> {
        match self {
            Global::Memory(memory) => Global::Memory(memory),
            Global::View(memory, view) => Global::View(memory, view),
        }
    }

    /// Up to 8 bytes; `None` if they are not all in one area.
    pub fn read(&mut self, address: u64, width: u64) -> Option<u64> {
        match self {
            Global::Memory(memory) => memory.read(address, width as usize),
            Global::View(memory, view) => view.read(memory, address, width as usize),
        }
    }

    /// Writes up to 8 bytes; `None` if they are not all in one area.
    pub fn write(&mut self, address: u64, width: u64, value: u64) -> Option<()> {
        match self {
            Global::Memory(memory) => memory.write(address, width as usize, value),
            Global::View(memory, view) => view.write(memory, address, width as usize, value),
        }
    }

    /// The first address and the bytes of the area that holds an address, if they can be
    /// reached at once; else nothing.
    #[inline]
    pub fn around(&self, address: u64) -> (u64, &[u8]) {
        match self {
            Global::Memory(memory) => memory.around(address).unwrap_or_default(),
            Global::View(..) => (0, &[]),
        }
    }

    /// As [`Global::around`], to be written.
    #[inline]
    pub fn around_mut(&mut self, address: u64) -> (u64, &mut [u8]) {
        match self {
            Global::Memory(memory) => memory.around_mut(address).unwrap_or_default(),
            Global::View(..) => (0, &mut []),
        }
    }

    /// The memory behind it: allocations and textures, which kernels do not change.
    pub fn memory(&self) -> &DeviceMemory {
        match self {
            Global::Memory(memory) => memory,
            Global::View(memory, _) => memory,
        }
    }
}
