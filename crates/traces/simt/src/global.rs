//! Device memory as instructions access it.

use crate::memory::DeviceMemory;
use crate::view::View;

/// Device memory, or a view of it.
pub(crate) enum Global<'a> {
    Memory(&'a mut DeviceMemory),
    View(&'a DeviceMemory, &'a mut View),
}

impl Global<'_> {
    /// Reborrows for a shorter lifetime.
    pub fn reborrow(&mut self) -> Global<'_> {
        match self {
            Global::Memory(memory) => Global::Memory(memory),
            Global::View(memory, view) => Global::View(memory, view),
        }
    }

    /// Reads up to 8 bytes; `None` unless all are in one area.
    pub fn read(&mut self, address: u64, width: u64) -> Option<u64> {
        match self {
            Global::Memory(memory) => memory.read(address, width as usize),
            Global::View(memory, view) => view.read(memory, address, width as usize),
        }
    }

    /// Writes up to 8 bytes; `None` unless all are in one area.
    pub fn write(&mut self, address: u64, width: u64, value: u64) -> Option<()> {
        match self {
            Global::Memory(memory) => memory.write(address, width as usize, value),
            Global::View(memory, view) => view.write(memory, address, width as usize, value),
        }
    }

    /// Returns the area that holds an address, as its first address and its bytes; empty if it cannot be
    /// accessed directly.
    #[inline]
    pub fn around(&self, address: u64) -> (u64, &[u8]) {
        match self {
            Global::Memory(memory) => memory.around(address).unwrap_or_default(),
            Global::View(..) => (0, &[]),
        }
    }

    /// Returns the area as [`Global::around`] does, mutably.
    #[inline]
    pub fn around_mut(&mut self, address: u64) -> (u64, &mut [u8]) {
        match self {
            Global::Memory(memory) => memory.around_mut(address).unwrap_or_default(),
            Global::View(..) => (0, &mut []),
        }
    }

    /// Returns the underlying memory, whose allocations and textures kernels do not change.
    pub fn memory(&self) -> &DeviceMemory {
        match self {
            Global::Memory(memory) => memory,
            Global::View(memory, _) => memory,
        }
    }
}
