//! The device: its memory, modules, clock and textures.

use std::collections::BTreeMap;

use warpmem_capture::relay::Device;
use warpmem_simt::{AccessWindow, DeviceMemory};

use crate::mapping::HostPages;
use crate::status::{Failure, Outcome, Status};

use super::clock::Clock;
use super::current::Contexts;
use super::device::MEMORY_BYTES;
use super::kernels::Kernels;
use super::pools::Pools;
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
    /// By the number of the stream.
    pub(super) windows: BTreeMap<u64, AccessWindow>,
    /// Bytes of the host that are device memory too: where they begin, their number, and their
    /// address there.
    registered: BTreeMap<u64, (u64, u64)>,
    /// With what every call fails.
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

    /// The device's architecture: 75 of compute capability 7.5.
    pub fn architecture(&self) -> u32 {
        let (major, minor) = self.device().capability;
        10 * major + minor
    }

    /// Bytes of device memory that programs are told are free.
    pub fn free_bytes(&self) -> u64 {
        self.memory.capacity().1.min(MEMORY_BYTES)
    }

    pub fn broken(&self) -> Option<Status> {
        self.broken
    }

    /// Forgets everything but what the capture is told, as `cudaDeviceReset` does.
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
    /// When it does not fit.
    pub fn allocate(&mut self, bytes: u64) -> Outcome<u64> {
        Ok(self.memory.allocate(bytes)?)
    }

    /// Frees device memory; address 0 stands for none.
    ///
    /// # Errors
    /// When nothing begins at the address.
    pub fn free(&mut self, address: u64) -> Outcome<()> {
        self.pools.freed(address);
        match address == 0 || self.memory.free(address) {
            true => Ok(()),
            false => Err(Failure::new(
                Status::INVALID_VALUE,
                format!("nothing that could be freed begins at {address:#x}"),
            )),
        }
    }

    /// Makes bytes of the host part of device memory.
    ///
    /// # Errors
    /// When they begin where others do that are.
    pub fn register_host(&mut self, bytes: &'static mut [u8]) -> Outcome<()> {
        let (first, length) = (bytes.as_ptr() as u64, bytes.len() as u64);
        if self.registered.contains_key(&first) {
            return Err(Status::ALREADY_REGISTERED.into());
        }
        let address = self.memory.lend(bytes)?;
        self.registered.insert(first, (length, address));
        Ok(())
    }

    /// # Errors
    /// When no registered bytes begin there.
    pub fn unregister_host(&mut self, first: u64) -> Outcome<()> {
        let (_, address) = self.registered.remove(&first).ok_or(Status::NOT_REGISTERED)?;
        self.free(address)
    }

    /// The device's address of a byte of the host that is device memory too.
    ///
    /// # Errors
    /// When it is not.
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
