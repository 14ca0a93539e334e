//! Allocations.

use crate::context::MEMORY_BYTES;
use crate::driver::functions;
use crate::host;
use crate::runtime::Address;
use crate::status::{Outcome, Status};

/// Checks a size: the manual rejects allocations of 0 bytes.
pub(super) fn some(bytes: usize) -> Outcome<u64> {
    if bytes == 0 { Err(Status::INVALID_VALUE.into()) } else { Ok(bytes as u64) }
}

functions! { in_context:
    fn cuMemAlloc_v2(to: *mut Address, bytes: usize) |engine| {
        host::put(to, engine.allocate(some(bytes)?)?)
    }

    fn cuMemAllocManaged(to: *mut Address, bytes: usize, _flags: u32) |engine| {
        host::put(to, engine.allocate(some(bytes)?)?)
    }

    fn cuMemAllocHost_v2(to: *mut Address, bytes: usize) |engine| {
        host::put(to, engine.allocate(some(bytes)?)?)
    }

    fn cuMemHostAlloc(to: *mut Address, bytes: usize, _flags: u32) |engine| {
        host::put(to, engine.allocate(some(bytes)?)?)
    }

    fn cuMemAllocPitch_v2(
        to: *mut Address,
        pitch: *mut usize,
        width: usize,
        height: usize,
        _element: u32,
    ) |engine| {
        let (address, bytes) = engine.allocate_rows(some(width)?, some(height)?)?;
        host::put(to, address)?;
        host::put(pitch, bytes as usize)
    }

    fn cuMemFree_v2(address: Address) |engine| { engine.free(address) }

    fn cuMemFreeAsync(address: Address, stream: Address) |engine| {
        engine.clock.stream(stream)?;
        engine.free(address)
    }

    fn cuMemFreeHost(address: Address) |engine| { engine.free(address) }

    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) |engine| {
        host::put(free, engine.free_bytes() as usize)?;
        host::put(total, MEMORY_BYTES as usize)
    }

    fn cuMemGetAddressRange_v2(first: *mut Address, bytes: *mut usize, within: Address) |engine| {
        let (base, length) = engine.memory.extent(within).ok_or(Status::NOT_FOUND)?;
        if !first.is_null() {
            host::put(first, base)?;
        }
        if bytes.is_null() { Ok(()) } else { host::put(bytes, length as usize) }
    }

    fn cuMemHostRegister_v2(from: *mut u8, length: usize, _flags: u32) |engine| {
        if from.is_null() || length == 0 {
            return Err(Status::INVALID_VALUE.into());
        }
        // The caller guarantees that the bytes live until they are unregistered, after which device memory
        // holds no reference to them, and accesses them only between calls, when no kernel runs.
        engine.register_host(std::slice::from_raw_parts_mut(from, length))
    }

    fn cuMemHostUnregister(from: Address) |engine| { engine.unregister_host(from) }

    fn cuMemHostGetDevicePointer_v2(to: *mut Address, host_address: Address, _flags: u32) |engine| {
        host::put(to, engine.device_address(host_address)?)
    }

    fn cuMemHostGetFlags(to: *mut u32, host_address: Address) |engine| {
        engine.device_address(host_address)?;
        host::put(to, 0)
    }
}
