//! Contexts.

use std::ffi::{c_int, c_void};

use crate::driver::functions;
use crate::host;
use crate::runtime::{Address, DEVICE_LIMITS, STREAM_PRIORITIES, check_device};
use crate::status::Status;

functions! { anywhere:
    fn cuCtxCreate_v2(to: *mut Address, _flags: u32, device: c_int) |engine| {
        check_device(device)?;
        host::put(to, engine.contexts.create())
    }

    fn cuCtxCreate_v3(
        to: *mut Address,
        _affinity: *const c_void,
        _count: c_int,
        _flags: u32,
        device: c_int,
    ) |engine| {
        check_device(device)?;
        host::put(to, engine.contexts.create())
    }

    fn cuCtxCreate_v4(to: *mut Address, _how: *const c_void, _flags: u32, device: c_int) |engine| {
        check_device(device)?;
        host::put(to, engine.contexts.create())
    }

    fn cuCtxDestroy_v2(context: Address) |engine| { engine.contexts.destroy(context) }

    /// Writes null if no context is current, which is not an error.
    fn cuCtxGetCurrent(to: *mut Address) |engine| {
        host::put(to, engine.contexts.current().unwrap_or_default())
    }

    fn cuCtxSetCurrent(context: Address) |engine| { engine.contexts.set(context) }

    fn cuCtxPushCurrent_v2(context: Address) |engine| { engine.contexts.push(context) }

    fn cuCtxPopCurrent_v2(to: *mut Address) |engine| {
        let popped = engine.contexts.pop()?;
        if to.is_null() { Ok(()) } else { host::put(to, popped) }
    }

    fn cuCtxGetApiVersion(context: Address, to: *mut u32) |engine| {
        if context != 0 {
            engine.contexts.check(context)?;
        }
        host::put(to, 3020)
    }
}

functions! { in_context:
    fn cuCtxResetPersistingL2Cache() |engine| {
        engine.reset_l2();
        Ok(())
    }

    fn cuCtxGetDevice(to: *mut c_int) |_engine| { host::put(to, 0) }

    fn cuCtxGetFlags(to: *mut u32) |_engine| { host::put(to, 0) }

    fn cuCtxGetId(context: Address, to: *mut u64) |engine| {
        let id = if context == 0 { engine.contexts.current()? } else { context };
        host::put(to, id)
    }

    fn cuCtxGetCacheConfig(to: *mut u32) |_engine| { host::put(to, 0) }

    fn cuCtxGetSharedMemConfig(to: *mut u32) |_engine| { host::put(to, 0) }

    fn cuCtxGetLimit(to: *mut usize, limit: u32) |_engine| {
        host::put(to, DEVICE_LIMITS.get(limit as usize).copied().unwrap_or_default())
    }

    fn cuCtxGetStreamPriorityRange(least: *mut c_int, most: *mut c_int) |_engine| {
        if !least.is_null() {
            host::put(least, STREAM_PRIORITIES.0)?;
        }
        if most.is_null() { Ok(()) } else { host::put(most, STREAM_PRIORITIES.1) }
    }

    fn cuCtxEnablePeerAccess(_peer: Address, _flags: u32) |_engine| {
        Err(Status::PEER_ACCESS.into())
    }

    fn cuCtxDisablePeerAccess(_peer: Address) |_engine| {
        Err(Status::PEER_ACCESS_NOT_ENABLED.into())
    }
}
