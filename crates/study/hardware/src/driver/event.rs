//! Events, which the device notes the time of.
#![allow(unsafe_code, reason = "the driver's functions are C")]

use std::ptr;

use super::error::DriverError;
use super::functions::Handle;
use super::gpu::Gpu;

pub struct Event<'g> {
    gpu: &'g Gpu,
    handle: Handle,
}

impl<'g> Event<'g> {
    /// # Errors
    /// When the driver refuses.
    pub fn new(gpu: &'g Gpu) -> Result<Event<'g>, DriverError> {
        let mut handle = ptr::null_mut();
        // SAFETY: the handle is written.
        let created = unsafe { (gpu.functions.create_event)(&raw mut handle, 0) };
        gpu.functions.check("cuEventCreate", created)?;
        Ok(Event { gpu, handle })
    }

    /// Lets the device note the time when it has done all work before.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn record(&self) -> Result<(), DriverError> {
        // SAFETY: the event is there; a null stream is the default one.
        let recorded = unsafe { (self.gpu.functions.record_event)(self.handle, ptr::null_mut()) };
        self.gpu.functions.check("cuEventRecord", recorded)
    }

    /// Nanoseconds from an earlier event to this one; both must have happened.
    ///
    /// # Errors
    /// When one of them was not recorded, or the work between them failed.
    pub fn since(&self, earlier: &Event<'_>) -> Result<f64, DriverError> {
        let mut milliseconds = 0.0f32;
        let elapsed = self.gpu.functions.elapsed;
        // SAFETY: both events are there, and the time is written.
        let asked = unsafe { elapsed(&raw mut milliseconds, earlier.handle, self.handle) };
        self.gpu.functions.check("cuEventElapsedTime", asked)?;
        Ok(f64::from(milliseconds) * 1e6)
    }
}

impl Drop for Event<'_> {
    fn drop(&mut self) {
        // SAFETY: the event is there, and destroyed once.
        unsafe { (self.gpu.functions.destroy_event)(self.handle) };
    }
}
