//! Copies and fills.

use crate::status::{Failure, Outcome, Status};

use super::engine::Engine;

impl Engine {
    /// Returns the host pointer to bytes of device memory.
    ///
    /// # Errors
    /// When the bytes do not lie in one allocation.
    pub fn place(&mut self, address: u64, length: u64) -> Outcome<*mut u8> {
        match self.memory.bytes_mut(address, length) {
            Some(bytes) => Ok(bytes.as_mut_ptr()),
            None if length == 0 => Ok(std::ptr::null_mut()),
            None => Err(Failure::new(
                Status::INVALID_VALUE,
                format!("{length} bytes at {address:#x} are not all in device memory"),
            )),
        }
    }

    /// Returns whether an address lies in device memory.
    pub fn is_of_device(&self, address: u64) -> bool {
        self.memory.extent(address).is_some()
    }

    /// Accounts for a copy; `to_device` is the destination of a copy from the host.
    pub fn copied(&mut self, to_device: Option<u64>, bytes: u64) {
        self.clock.copied(bytes);
        if let Some(address) = to_device.filter(|_| bytes > 0) {
            self.relayed.copied(address, bytes);
        }
    }

    /// Fills the rows of a rectangle with copies of a value.
    ///
    /// # Errors
    /// When a row does not lie in one allocation.
    pub fn fill(
        &mut self,
        address: u64,
        pitch: u64,
        value: &[u8],
        width: u64,
        height: u64,
    ) -> Outcome<()> {
        for row in 0..height {
            let at = address.wrapping_add(row.wrapping_mul(pitch));
            let Some(bytes) = self.memory.bytes_mut(at, width) else {
                if width == 0 {
                    continue;
                }
                return Err(Failure::new(
                    Status::INVALID_VALUE,
                    format!("{width} bytes at {at:#x} are not all in device memory"),
                ));
            };
            match value {
                [byte] => bytes.fill(*byte),
                _ => bytes
                    .chunks_mut(value.len())
                    .for_each(|to| to.copy_from_slice(&value[..to.len()])),
            }
        }
        self.clock.copied(width * height);
        Ok(())
    }
}
