//! Events, which timestamp the work of a stream.
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
    /// Creates an event.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn new(gpu: &'g Gpu) -> Result<Event<'g>, DriverError> {
        let mut handle = ptr::null_mut();
        // SAFETY: `handle` is valid for writes.
        let created = unsafe { (gpu.functions.create_event)(&raw mut handle, 0) };
        gpu.functions.check("cuEventCreate", created)?;
        Ok(Event { gpu, handle })
    }

    /// Records the event: the device timestamps it once all earlier work is complete.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn record(&self) -> Result<(), DriverError> {
        // SAFETY: the event is alive; a null stream is the default stream.
        let recorded = unsafe { (self.gpu.functions.record_event)(self.handle, ptr::null_mut()) };
        self.gpu.functions.check("cuEventRecord", recorded)
    }

    /// Returns the nanoseconds from an earlier event to this one; both must be complete.
    ///
    /// # Errors
    /// When either event is not recorded, or the work between them failed.
    pub fn since(&self, earlier: &Event<'_>) -> Result<f64, DriverError> {
        let mut milliseconds = 0.0f32;
        let elapsed = self.gpu.functions.elapsed;
        // SAFETY: both events are alive, and `milliseconds` is valid for writes.
        let asked = unsafe { elapsed(&raw mut milliseconds, earlier.handle, self.handle) };
        self.gpu.functions.check("cuEventElapsedTime", asked)?;
        Ok(f64::from(milliseconds) * 1e6)
    }
}

impl Drop for Event<'_> {
    fn drop(&mut self) {
        // SAFETY: the event is alive and destroyed exactly once.
        unsafe { (self.gpu.functions.destroy_event)(self.handle) };
    }
}
