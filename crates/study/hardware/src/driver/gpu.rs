//! A device, its context and its memory.
#![allow(unsafe_code, reason = "the driver's functions are C")]

use std::ffi::{CStr, OsStr, c_int, c_void};
use std::ptr;

use super::error::DriverError;
use super::functions::{Address, Functions, Handle};

/// A device whose primary context is current on the thread that opened it; the raw handles make it `!Send`.
pub struct Gpu {
    pub(super) functions: Functions,
    ordinal: c_int,
    _context: Handle,
}

/// Device attribute, by its number in the manual (`CUdevice_attribute`).
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
pub enum Attribute {
    ClockKhz = 13,
    Sms = 16,
    MemoryClockKhz = 36,
    BusBits = 37,
    L2Bytes = 38,
    ThreadsOfSm = 39,
    CapabilityMajor = 75,
    CapabilityMinor = 76,
}

impl Gpu {
    /// Loads the driver and opens device `ordinal`.
    ///
    /// # Errors
    /// When the driver or the device is missing.
    pub fn open(driver: &OsStr, ordinal: u32) -> Result<Gpu, DriverError> {
        let functions = Functions::load(driver)?;
        // SAFETY: takes no pointer.
        let begun = unsafe { (functions.init)(0) };
        if begun != 0 {
            return Err(DriverError::NoDevice { what: functions.describe(begun) });
        }
        let (mut count, mut device, mut context) = (0, 0, ptr::null_mut());
        // SAFETY: `count` is valid for writes.
        let counted = unsafe { (functions.device_count)(&raw mut count) };
        functions.check("cuDeviceGetCount", counted)?;
        let wanted = c_int::try_from(ordinal).ok().filter(|&ordinal| ordinal < count);
        let Some(wanted) = wanted else {
            return Err(DriverError::NoSuchDevice { ordinal, count });
        };
        // SAFETY: `device` and `context` are valid for writes.
        unsafe {
            functions.check("cuDeviceGet", (functions.device)(&raw mut device, wanted))?;
            let retained = (functions.retain_context)(&raw mut context, device);
            functions.check("cuDevicePrimaryCtxRetain", retained)?;
        }
        // From here on, dropping `gpu` releases the context.
        let gpu = Gpu { functions, ordinal: device, _context: context };
        // SAFETY: the context has just been retained.
        let set = unsafe { (gpu.functions.set_context)(context) };
        gpu.functions.check("cuCtxSetCurrent", set)?;
        Ok(gpu)
    }

    /// Returns the CUDA release of the driver: 13000 for 13.0.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn driver_version(&self) -> Result<i32, DriverError> {
        let mut version = 0;
        // SAFETY: `version` is valid for writes.
        let asked = unsafe { (self.functions.driver_version)(&raw mut version) };
        self.functions.check("cuDriverGetVersion", asked)?;
        Ok(version)
    }

    /// Returns the name of the device.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn name(&self) -> Result<String, DriverError> {
        let mut name = [0; 256];
        // SAFETY: the buffer has the stated length, and the driver ends the name with a zero byte.
        let named = unsafe {
            let room = name.len() as c_int;
            (self.functions.device_name)(name.as_mut_ptr().cast(), room, self.ordinal)
        };
        self.functions.check("cuDeviceGetName", named)?;
        let name = CStr::from_bytes_until_nul(&name).unwrap_or_default();
        Ok(name.to_string_lossy().into_owned())
    }

    /// Returns the value of an attribute.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn attribute(&self, attribute: Attribute) -> Result<u32, DriverError> {
        let mut value = 0;
        // SAFETY: `value` is valid for writes.
        let asked = unsafe {
            (self.functions.device_attribute)(&raw mut value, attribute as u32, self.ordinal)
        };
        self.functions.check("cuDeviceGetAttribute", asked)?;
        Ok(value.try_into().unwrap_or_default())
    }

    /// Returns the size of device memory, bytes.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn memory_bytes(&self) -> Result<u64, DriverError> {
        let mut bytes = 0;
        // SAFETY: `bytes` is valid for writes.
        let asked = unsafe { (self.functions.device_memory)(&raw mut bytes, self.ordinal) };
        self.functions.check("cuDeviceTotalMem", asked)?;
        Ok(bytes as u64)
    }

    /// Waits until all work is complete.
    ///
    /// # Errors
    /// When any of it failed.
    pub fn synchronize(&self) -> Result<(), DriverError> {
        // SAFETY: takes no pointer.
        let done = unsafe { (self.functions.synchronize)() };
        self.functions.check("cuCtxSynchronize", done)
    }

    /// Allocates device memory.
    ///
    /// # Errors
    /// When memory does not suffice.
    pub fn allocate(&self, bytes: usize) -> Result<Allocation<'_>, DriverError> {
        let mut address = 0;
        // SAFETY: `address` is valid for writes.
        let allocated = unsafe { (self.functions.allocate)(&raw mut address, bytes.max(1)) };
        self.functions.check("cuMemAlloc", allocated)?;
        Ok(Allocation { gpu: self, address, bytes })
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // SAFETY: the context was retained exactly once. A failed release cannot be handled here.
        unsafe { (self.functions.release_context)(self.ordinal) };
    }
}

/// An allocation in device memory, freed on drop.
pub struct Allocation<'g> {
    gpu: &'g Gpu,
    address: Address,
    bytes: usize,
}

impl Allocation<'_> {
    pub fn address(&self) -> u64 {
        self.address
    }

    fn check(&self, given: usize) -> Result<(), DriverError> {
        match given <= self.bytes {
            true => Ok(()),
            false => Err(DriverError::Bounds { given, bytes: self.bytes }),
        }
    }

    /// Writes bytes at the start of the allocation.
    ///
    /// # Errors
    /// When the bytes do not fit, or earlier work failed.
    pub fn write(&self, bytes: &[u8]) -> Result<(), DriverError> {
        self.check(bytes.len())?;
        let functions = &self.gpu.functions;
        let from = bytes.as_ptr().cast::<c_void>();
        // SAFETY: `bytes` is readable, and the allocation is at least as long.
        let copied = unsafe { (functions.copy_to_device)(self.address, from, bytes.len()) };
        functions.check("cuMemcpyHtoD", copied)
    }

    /// Reads bytes from the start of the allocation.
    ///
    /// # Errors
    /// When the allocation is shorter, or earlier work failed.
    pub fn read(&self, length: usize) -> Result<Vec<u8>, DriverError> {
        self.check(length)?;
        let mut bytes = vec![0u8; length];
        let functions = &self.gpu.functions;
        let to = bytes.as_mut_ptr().cast::<c_void>();
        // SAFETY: the buffer and the allocation are at least `length` bytes long.
        let copied = unsafe { (functions.copy_to_host)(to, self.address, length) };
        functions.check("cuMemcpyDtoH", copied)?;
        Ok(bytes)
    }
}

impl Drop for Allocation<'_> {
    fn drop(&mut self) {
        // SAFETY: the address came from `allocate` and is freed exactly once.
        unsafe { (self.gpu.functions.free)(self.address) };
    }
}
