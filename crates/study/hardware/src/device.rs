//! Description of a device as its driver reports it.

use serde::{Deserialize, Serialize};

use crate::driver::{Attribute, DriverError, Gpu};

/// Properties of a device that the driver reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceInfo {
    /// `NVIDIA A100-SXM4-40GB`
    pub name: String,
    /// Major and minor version.
    pub compute_capability: [u32; 2],
    pub sms: u32,
    /// Maximum resident threads of an SM.
    pub threads_per_sm: u32,
    /// Maximum SM clock, kHz; the clock during a measurement is recorded with its samples.
    pub clock_khz: u32,
    pub memory_clock_khz: u32,
    pub bus_bits: u32,
    pub l2_bytes: u64,
    pub memory_bytes: u64,
    /// CUDA release of the driver: 13000 for 13.0.
    pub driver_version: i32,
}

impl DeviceInfo {
    /// Reads the properties of the device.
    ///
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

    /// Returns the peak DRAM bandwidth, bytes per second, at two transfers per clock.
    pub fn peak_bytes_per_second(&self) -> f64 {
        2.0 * f64::from(self.memory_clock_khz) * 1e3 * f64::from(self.bus_bits) / 8.0
    }
}
