//! What an address is of.

use std::ffi::c_void;

use crate::context::Engine;
use crate::driver::functions;
use crate::host;
use crate::runtime::Address;
use crate::status::{Outcome, Status};

/// Numbers of `CUpointer_attribute`.
const CONTEXT: u32 = 1;
const MEMORY_TYPE: u32 = 2;
const DEVICE_POINTER: u32 = 3;
const HOST_POINTER: u32 = 4;
const SYNC_MEMOPS: u32 = 6;
const BUFFER_ID: u32 = 7;
const IS_MANAGED: u32 = 8;
const DEVICE_ORDINAL: u32 = 9;
const RANGE_START: u32 = 11;
const RANGE_SIZE: u32 = 12;
const MAPPED: u32 = 13;

/// `CU_MEMORYTYPE_DEVICE`: all memory that is allocated here.
pub const DEVICE: u32 = 2;

/// Writes an attribute of an address, which is as wide as the attribute's type.
///
/// # Safety
/// `to` is null or may be written so far.
unsafe fn put(engine: &Engine, to: *mut c_void, number: u32, address: Address) -> Outcome<()> {
    let on_device = engine.device_address(address)?;
    let (base, bytes) = engine.memory.extent(on_device).unwrap_or((on_device, 0));
    // SAFETY: the manual gives each attribute its type, and the caller promises room for it.
    unsafe {
        match number {
            CONTEXT => host::put(to.cast(), engine.contexts.current()?),
            MEMORY_TYPE => host::put(to.cast(), DEVICE),
            DEVICE_POINTER => host::put(to.cast(), on_device),
            HOST_POINTER => host::put(to.cast(), address),
            BUFFER_ID | RANGE_START => host::put(to.cast(), base),
            RANGE_SIZE => host::put(to.cast(), bytes),
            SYNC_MEMOPS | IS_MANAGED | DEVICE_ORDINAL => host::put(to.cast(), 0u32),
            MAPPED => host::put(to.cast(), 1u32),
            _ => Err(Status::INVALID_VALUE.into()),
        }
    }
}

functions! { in_context:
    fn cuPointerGetAttribute(to: *mut c_void, number: u32, address: Address) |engine| {
        put(engine, to, number, address)
    }

    /// Of an address that is not the device's all attributes are 0 (the manual), which callers have
    /// written already.
    fn cuPointerGetAttributes(
        count: u32,
        numbers: *const u32,
        to: *const *mut c_void,
        address: Address,
    ) |engine| {
        for at in 0..count as usize {
            let number = host::get(numbers.wrapping_add(at))?;
            let place = host::get(to.wrapping_add(at))?;
            match put(engine, place, number, address) {
                Err(_) if engine.device_address(address).is_err() => continue,
                done => done?,
            }
        }
        Ok(())
    }

    fn cuPointerSetAttribute() |_engine| { Ok(()) }
}
