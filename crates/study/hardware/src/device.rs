//! What is known of a device.

use serde::{Deserialize, Serialize};

use crate::driver::{Attribute, DriverError, Gpu};

/// A device, as its driver describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceInfo {
    /// `NVIDIA A100-SXM4-40GB`
    pub name: String,
    /// Major and minor.
    pub compute_capability: [u32; 2],
    pub sms: u32,
    /// Most threads of an SM.
    pub threads_per_sm: u32,
    /// The highest clock of the SMs; what it was while something was measured is beside that.
    pub clock_khz: u32,
    pub memory_clock_khz: u32,
    pub bus_bits: u32,
    pub l2_bytes: u64,
    pub memory_bytes: u64,
    /// The release of CUDA that the driver knows: 13000 of 13.0.
    pub driver_version: i32,
}

impl DeviceInfo {
    /// # Errors
    /// When the driver refuses.
    pub fn read(gpu: &Gpu) -> Result<DeviceInfo, DriverError> {
        let of = |attribute| gpu.attribute(attribute);
        Ok(DeviceInfo {
            name: gpu.name()?,
            compute_capability: [of(Attribute::CapabilityMajor)?, of(Attribute::CapabilityMinor)?],
            sms: of(Attribute::Sms)?,
            threads_per_sm: of(Attribute::ThreadsOfSm)?,
            clock_khz: of(Attribute::ClockKhz)?,
            memory_clock_khz: of(Attribute::MemoryClockKhz)?,
            bus_bits: of(Attribute::BusBits)?,
            l2_bytes: of(Attribute::L2Bytes)?.into(),
            memory_bytes: gpu.memory_bytes()?,
            driver_version: gpu.driver_version()?,
        })
    }

    /// Bytes in a second that DRAM moves at most; data come with both edges of the clock.
    pub fn peak_bytes_per_second(&self) -> f64 {
        2.0 * f64::from(self.memory_clock_khz) * 1e3 * f64::from(self.bus_bits) / 8.0
    }
}
