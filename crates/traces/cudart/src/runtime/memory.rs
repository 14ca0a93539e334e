//! Allocations.

use std::ffi::c_void;

use crate::context;
use crate::context::MEMORY_BYTES;
use crate::host;
use crate::runtime::Address;
use crate::status::Status;

/// Allocates device memory.
///
/// # Safety
/// `to` is null or valid for writes.
unsafe fn allocate(to: *mut Address, bytes: usize) -> Status {
    context::run_and_note(|engine, _| {
        // SAFETY: guaranteed by the caller.
        unsafe { host::put(to, engine.allocate(bytes as u64)?) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaMalloc(to: *mut Address, bytes: usize) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe { allocate(to, bytes) }
}

/// Allocates plain device memory, all of which the host can access.
#[unsafe(no_mangle)]
unsafe extern "C" fn cudaMallocManaged(to: *mut Address, bytes: usize, _flags: u32) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe { allocate(to, bytes) }
}

/// Allocates pinned host memory within device memory, which the host can access, so that its addresses are
/// the same in every run.
#[unsafe(no_mangle)]
unsafe extern "C" fn cudaMallocHost(to: *mut Address, bytes: usize) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe { allocate(to, bytes) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaHostAlloc(to: *mut Address, bytes: usize, _flags: u32) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe { allocate(to, bytes) }
}

#[unsafe(no_mangle)]
extern "C" fn cudaFree(address: Address) -> Status {
    context::run_and_note(|engine, _| engine.free(address))
}

#[unsafe(no_mangle)]
extern "C" fn cudaFreeHost(address: Address) -> Status {
    context::run_and_note(|engine, _| engine.free(address))
}

#[unsafe(no_mangle)]
extern "C" fn cudaFreeAsync(address: Address, _stream: Address) -> Status {
    context::run_and_note(|engine, _| engine.free(address))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaMallocPitch(
    to: *mut Address,
    pitch: *mut usize,
    width: usize,
    height: usize,
) -> Status {
    context::run_and_note(|engine, _| {
        let (address, bytes) = engine.allocate_rows(width as u64, height as u64)?;
        // SAFETY: guaranteed by the caller.
        unsafe {
            host::put(to, address)?;
            host::put(pitch, bytes as usize)
        }
    })
}

/// `cudaPitchedPtr`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Pitched {
    pub address: Address,
    pub pitch: usize,
    pub width: usize,
    pub height: usize,
}

/// `cudaExtent`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Extent {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaMalloc3D(to: *mut Pitched, extent: Extent) -> Status {
    context::run_and_note(|engine, _| {
        let Extent { width, height, depth } = extent;
        let rows = height.checked_mul(depth).ok_or(Status::OUT_OF_MEMORY)?;
        let (address, pitch) = engine.allocate_rows(width as u64, rows as u64)?;
        // SAFETY: guaranteed by the caller.
        unsafe { host::put(to, Pitched { address, pitch: pitch as usize, width, height }) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaHostRegister(from: *mut u8, length: usize, _flags: u32) -> Status {
    context::run_and_note(|engine, _| {
        if from.is_null() || length == 0 {
            return Err(Status::INVALID_VALUE.into());
        }
        // SAFETY: the caller guarantees that the bytes live until they are unregistered, after which device
        // memory holds no reference to them, and accesses them only between calls, when no kernel runs.
        engine.register_host(unsafe { std::slice::from_raw_parts_mut(from, length) })
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaHostUnregister(from: Address) -> Status {
    context::run_and_note(|engine, _| engine.unregister_host(from))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaHostGetDevicePointer(to: *mut Address, host: Address, _: u32) -> Status {
    context::run_and_note(|engine, _| {
        // SAFETY: guaranteed by the caller.
        unsafe { host::put(to, engine.device_address(host)?) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaHostGetFlags(to: *mut u32, host: Address) -> Status {
    context::run_and_note(|engine, _| {
        engine.device_address(host)?;
        // SAFETY: guaranteed by the caller.
        unsafe { host::put(to, 0) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaMemGetInfo(free: *mut usize, total: *mut usize) -> Status {
    context::run_and_note(|engine, _| {
        // SAFETY: guaranteed by the caller.
        unsafe {
            host::put(free, engine.free_bytes() as usize)?;
            host::put(total, MEMORY_BYTES as usize)
        }
    })
}

/// `cudaPointerAttributes`
#[repr(C)]
struct PointerAttributes {
    /// Memory type: 0 unknown to the runtime, 1 host, 2 device, 3 managed.
    kind: u32,
    device: u32,
    on_device: Address,
    on_host: *mut c_void,
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaPointerGetAttributes(
    to: *mut PointerAttributes,
    pointer: Address,
) -> Status {
    context::run_and_note(|engine, _| {
        let on_device = engine.device_address(pointer).unwrap_or_default();
        let kind = match engine.is_of_device(pointer) {
            true => 2,
            false => u32::from(on_device != 0),
        };
        let on_host = std::ptr::with_exposed_provenance_mut(pointer as usize);
        // SAFETY: guaranteed by the caller.
        unsafe { host::put(to, PointerAttributes { kind, device: 0, on_device, on_host }) }
    })
}
