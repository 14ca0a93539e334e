//! Buffers of a plan in device memory.

use std::borrow::Cow;

use warpmem_capture::{CaptureError, FirstValues, Memory};

use crate::driver::{Allocation, DriverError, Gpu};

/// The buffers and their initial values, restored before every repetition.
pub struct Buffers<'g> {
    gpu: &'g Gpu,
    buffers: Vec<(Allocation<'g>, Vec<u8>)>,
}

impl<'g> Buffers<'g> {
    pub fn new(gpu: &'g Gpu) -> Buffers<'g> {
        Buffers { gpu, buffers: Vec::new() }
    }

    /// Restores the initial values of all buffers.
    pub fn reset(&self) -> Result<(), DriverError> {
        self.buffers.iter().try_for_each(|(allocation, values)| allocation.write(values))
    }

    fn position(&self, address: u64) -> Result<usize, CaptureError> {
        let found = self.buffers.iter().position(|(buffer, _)| buffer.address() == address);
        found.ok_or_else(|| CaptureError::Memory {
            source: format!("no buffer starts at {address:#x}").into(),
        })
    }
}

impl Memory for Buffers<'_> {
    fn place(&mut self, bytes: u64, fill: FirstValues<'_>) -> Result<u64, CaptureError> {
        let allocation = self.gpu.allocate(bytes as usize).map_err(failed)?;
        let address = allocation.address();
        let mut values = vec![0; bytes as usize];
        fill(address, &mut values)?;
        allocation.write(&values).map_err(failed)?;
        self.buffers.push((allocation, values));
        Ok(address)
    }

    fn read(&self, address: u64, bytes: u64) -> Result<Cow<'_, [u8]>, CaptureError> {
        let (allocation, _) = &self.buffers[self.position(address)?];
        Ok(allocation.read(bytes as usize).map_err(failed)?.into())
    }
}

fn failed(error: DriverError) -> CaptureError {
    CaptureError::Memory { source: error.into() }
}
