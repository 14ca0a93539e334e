//! The only device and its primary context.

use std::ffi::{c_char, c_int};

use crate::context::{MEMORY_BYTES, attribute};
use crate::driver::functions;
use crate::host;
use crate::runtime::{Address, PCI_BUS_ID, check_device};
use crate::status::{Outcome, Status};

/// Writes text and a zero byte, truncated to `room` bytes.
///
/// # Safety
/// `to` is null or has `room` bytes.
unsafe fn put_text(to: *mut c_char, room: c_int, text: &[u8]) -> Outcome<()> {
    let room = usize::try_from(room).ok().and_then(|room| room.checked_sub(1));
    let length = text.len().min(room.ok_or(Status::INVALID_VALUE)?);
    // SAFETY: the caller guarantees room for the text and the zero byte.
    unsafe {
        host::copy(to.cast(), text.as_ptr(), length)?;
        host::put(to.wrapping_add(length), 0)
    }
}

functions! { anywhere:
    fn cuDeviceGet(to: *mut c_int, ordinal: c_int) |_engine| {
        check_device(ordinal)?;
        host::put(to, 0)
    }

    fn cuDeviceGetCount(to: *mut c_int) |_engine| { host::put(to, 1) }

    fn cuDeviceGetName(to: *mut c_char, room: c_int, device: c_int) |engine| {
        check_device(device)?;
        put_text(to, room, engine.device().name.as_bytes())
    }

    fn cuDeviceGetAttribute(to: *mut c_int, number: u32, device: c_int) |engine| {
        check_device(device)?;
        host::put(to, attribute(engine.device(), number)?)
    }

    fn cuDeviceComputeCapability(major: *mut c_int, minor: *mut c_int, device: c_int) |engine| {
        check_device(device)?;
        let capability = engine.device().capability;
        host::put(major, capability.0 as c_int)?;
        host::put(minor, capability.1 as c_int)
    }

    fn cuDeviceTotalMem_v2(to: *mut usize, device: c_int) |_engine| {
        check_device(device)?;
        host::put(to, MEMORY_BYTES as usize)
    }

    fn cuDeviceGetUuid(to: *mut [u8; 16], device: c_int) |_engine| {
        check_device(device)?;
        host::put(to, *b"warpmem device 0")
    }

    fn cuDeviceGetUuid_v2(to: *mut [u8; 16], device: c_int) |_engine| {
        check_device(device)?;
        host::put(to, *b"warpmem device 0")
    }

    fn cuDeviceGetPCIBusId(to: *mut c_char, room: c_int, device: c_int) |_engine| {
        check_device(device)?;
        put_text(to, room, PCI_BUS_ID.to_bytes())
    }

    fn cuDeviceGetByPCIBusId(to: *mut c_int, name: *const c_char) |_engine| {
        let name = host::text(name)?;
        let is_device = PCI_BUS_ID.to_bytes() == name.as_bytes();
        if is_device { host::put(to, 0) } else { Err(Status::INVALID_DEVICE.into()) }
    }

    fn cuDeviceCanAccessPeer(to: *mut c_int, _device: c_int, _peer: c_int) |_engine| {
        host::put(to, 0)
    }

    /// Always fails: the two devices must differ (the manual), and there is only one.
    fn cuDeviceGetP2PAttribute(
        _to: *mut c_int,
        _number: u32,
        _device: c_int,
        _peer: c_int,
    ) |_engine| {
        Err(Status::INVALID_DEVICE.into())
    }

    fn cuDevicePrimaryCtxRetain(to: *mut Address, device: c_int) |engine| {
        check_device(device)?;
        host::put(to, engine.contexts.retain())
    }

    fn cuDevicePrimaryCtxRelease_v2(device: c_int) |engine| {
        check_device(device)?;
        engine.contexts.release()
    }

    fn cuDevicePrimaryCtxReset_v2(device: c_int) |engine| {
        check_device(device)?;
        engine.reset();
        Ok(())
    }

    fn cuDevicePrimaryCtxSetFlags_v2(device: c_int, _flags: u32) |_engine| { check_device(device) }

    fn cuDevicePrimaryCtxGetState(device: c_int, flags: *mut u32, active: *mut c_int) |engine| {
        check_device(device)?;
        host::put(flags, 0)?;
        host::put(active, engine.contexts.is_primary_active().into())
    }
}
