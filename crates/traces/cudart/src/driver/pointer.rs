//! Attributes of addresses.

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

/// `CU_MEMORYTYPE_DEVICE`: the type of all memory allocated here.
pub const DEVICE: u32 = 2;

/// Writes an attribute of an address in the width of the attribute's type.
///
/// # Safety
/// `to` is null or valid for writes of that width.
unsafe fn put(engine: &Engine, to: *mut c_void, number: u32, address: Address) -> Outcome<()> {
    let on_device = engine.device_address(address)?;
    let (base, bytes) = engine.memory.extent(on_device).unwrap_or((on_device, 0));
    // SAFETY: the manual defines the type of each attribute, and the caller guarantees room for it.
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

    /// Writes the attributes of an address. Outside device memory all of them are 0 (the manual), and remain
    /// as the caller initialized them.
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
