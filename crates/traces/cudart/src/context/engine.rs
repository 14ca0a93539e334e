//! The device: memory, modules, clock and textures.

use std::collections::BTreeMap;

use warpmem_capture::relay::Device;
use warpmem_simt::{AccessWindow, DeviceMemory};

use crate::mapping::HostPages;
use crate::status::{Failure, Outcome, Status};

use super::clock::Clock;
use super::current::Contexts;
use super::device::MEMORY_BYTES;
use super::kernels::Kernels;
use super::pools::{PoolId, Pools};
use super::relayed::{Relayed, warn};
use super::textures::Textures;

pub struct Engine {
    pub memory: DeviceMemory,
    pub clock: Clock,
    pub contexts: Contexts,
    pub pools: Pools,
    pub(super) relayed: Relayed,
    pub(super) kernels: Kernels,
    pub(super) textures: Textures,
    /// Access policy window of each stream, by number.
    pub(super) windows: BTreeMap<u64, AccessWindow>,
    /// Registered host memory: host address, bytes, device address.
    registered: BTreeMap<u64, (u64, u64)>,
    /// Status with which every call fails after a sticky error.
    broken: Option<Status>,
}

impl Engine {
    pub fn start(process: u32) -> Engine {
        Engine {
            memory: DeviceMemory::mapped(Box::new(HostPages)),
            clock: Clock::default(),
            contexts: Contexts::default(),
            pools: Pools::default(),
            relayed: Relayed::connect(process),
            kernels: Kernels::default(),
            textures: Textures::default(),
            windows: BTreeMap::new(),
            registered: BTreeMap::new(),
            broken: None,
        }
    }

    pub fn device(&self) -> &Device {
        &self.relayed.settings.device
    }

    /// Returns the device's architecture: 75 for compute capability 7.5.
    pub fn architecture(&self) -> u32 {
        let (major, minor) = self.device().capability;
        10 * major + minor
    }

    /// Returns the free device memory reported to programs, bytes.
    pub fn free_bytes(&self) -> u64 {
        self.memory.capacity().1.min(MEMORY_BYTES)
    }

    pub fn broken(&self) -> Option<Status> {
        self.broken
    }

    /// Resets the device, as `cudaDeviceReset` does; keeps the connection to the capture.
    pub fn reset(&mut self) {
        self.memory = DeviceMemory::mapped(Box::new(HostPages));
        self.pools = Pools::default();
        self.kernels.forget();
        self.textures = Textures::default();
        self.registered.clear();
    }

    pub(super) fn failed(&mut self, status: Status, why: Option<&str>) {
        if status.is_sticky() {
            self.broken = Some(status);
        }
        if let Some(why) = why {
            warn(why);
        }
    }

    /// Allocates device memory.
    ///
    /// # Errors
    /// When memory does not suffice.
    pub fn allocate(&mut self, bytes: u64) -> Outcome<u64> {
        Ok(self.memory.allocate(bytes)?)
    }

    /// Allocates device memory from a pool.
    ///
    /// # Errors
    /// When the pool does not exist, or the bytes do not fit.
    pub fn allocate_from(&mut self, id: PoolId, bytes: u64) -> Outcome<u64> {
        self.pools.check_room(id, bytes)?;
        let address = self.allocate(bytes)?;
        self.pools.allocated(id, address, bytes)?;
        Ok(address)
    }

    /// Frees device memory; address 0 is a no-op.
    ///
    /// # Errors
    /// When no allocation starts at the address.
    pub fn free(&mut self, address: u64) -> Outcome<()> {
        self.pools.freed(address);
        match address == 0 || self.memory.free(address) {
            true => Ok(()),
            false => Err(Failure::new(
                Status::INVALID_VALUE,
                format!("no allocation starts at {address:#x}"),
            )),
        }
    }

    /// Registers host memory as device memory.
    ///
    /// # Errors
    /// When registered memory already starts there.
    pub fn register_host(&mut self, bytes: &'static mut [u8]) -> Outcome<()> {
        let (first, length) = (bytes.as_ptr() as u64, bytes.len() as u64);
        if self.registered.contains_key(&first) {
            return Err(Status::ALREADY_REGISTERED.into());
        }
        let address = self.memory.lend(bytes)?;
        self.registered.insert(first, (length, address));
        Ok(())
    }

    /// Unregisters host memory.
    ///
    /// # Errors
    /// When no registered memory starts at `first`.
    pub fn unregister_host(&mut self, first: u64) -> Outcome<()> {
        let (_, address) = self.registered.remove(&first).ok_or(Status::NOT_REGISTERED)?;
        self.free(address)
    }

    /// Returns the device address of a byte of registered host memory.
    ///
    /// # Errors
    /// When the byte is not registered.
    pub fn device_address(&self, host: u64) -> Outcome<u64> {
        if self.memory.extent(host).is_some() {
            return Ok(host);
        }
        let before = self.registered.range(..=host).next_back();
        match before {
            Some((first, (length, address))) if host - first < *length => {
                Ok(address + host - first)
            }
            _ => Err(Status::INVALID_VALUE.into()),
        }
    }
}
