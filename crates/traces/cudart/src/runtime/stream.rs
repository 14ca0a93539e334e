//! Streams. All work is complete when its call returns, so no stream ever waits.

use std::ffi::c_void;

use crate::context::{self, Engine};
use crate::host;
use crate::runtime::{Address, PolicyWindow, WINDOW};
use crate::status::{Outcome, Status};

/// Lowest and highest priority.
pub const PRIORITIES: (i32, i32) = (0, -5);

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaStreamCreate(to: *mut Address) -> Status {
    context::run_and_note(|engine, _| {
        // SAFETY: guaranteed by the caller.
        unsafe { host::put(to, engine.clock.create_stream()) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaStreamCreateWithFlags(to: *mut Address, _flags: u32) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe { cudaStreamCreate(to) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaStreamCreateWithPriority(
    to: *mut Address,
    _flags: u32,
    _priority: i32,
) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe { cudaStreamCreate(to) }
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamDestroy(stream: Address) -> Status {
    context::run_and_note(|engine, _| engine.clock.destroy_stream(stream))
}

/// Sets the access policy window; other attributes have no effect.
#[unsafe(no_mangle)]
unsafe extern "C" fn cudaStreamSetAttribute(
    stream: Address,
    attribute: u32,
    value: *const PolicyWindow,
) -> Status {
    context::run_and_note(|engine, _| {
        // SAFETY: guaranteed by the caller.
        unsafe { set_attribute(engine, stream, attribute, value) }
    })
}

/// Sets an attribute of a stream.
///
/// # Safety
/// The value has the attribute's type.
pub unsafe fn set_attribute(
    engine: &mut Engine,
    stream: Address,
    attribute: u32,
    value: *const PolicyWindow,
) -> Outcome<()> {
    if attribute != WINDOW {
        return engine.clock.stream(stream).map(drop);
    }
    // SAFETY: guaranteed by the caller.
    let window = unsafe { host::get(value) }?.window()?;
    engine.set_window(stream, window)
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamSynchronize(stream: Address) -> Status {
    context::run_and_note(|engine, _| engine.clock.stream(stream).map(drop))
}

/// Writes `cudaStreamCaptureStatusNone`: streams are never captured as graphs.
#[unsafe(no_mangle)]
unsafe extern "C" fn cudaStreamIsCapturing(stream: Address, to: *mut u32) -> Status {
    context::run_and_note(|engine, _| {
        engine.clock.stream(stream)?;
        // SAFETY: guaranteed by the caller.
        unsafe { host::put(to, 0) }
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamQuery(stream: Address) -> Status {
    cudaStreamSynchronize(stream)
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamWaitEvent(stream: Address, event: Address, _flags: u32) -> Status {
    context::run_and_note(|engine, _| {
        engine.clock.stream(stream)?;
        engine.clock.check_event(event)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaStreamGetFlags(stream: Address, to: *mut u32) -> Status {
    context::run_and_note(|engine, _| {
        engine.clock.stream(stream)?;
        // SAFETY: guaranteed by the caller.
        unsafe { host::put(to, 0) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaStreamGetPriority(stream: Address, to: *mut i32) -> Status {
    context::run_and_note(|engine, _| {
        engine.clock.stream(stream)?;
        // SAFETY: guaranteed by the caller.
        unsafe { host::put(to, 0) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaDeviceGetStreamPriorityRange(least: *mut i32, most: *mut i32) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if !least.is_null() {
            least.write(PRIORITIES.0);
        }
        if !most.is_null() {
            most.write(PRIORITIES.1);
        }
    }
    Status::SUCCESS
}

/// Calls a host function. Checks the stream without locking the device, which the function may use.
#[unsafe(no_mangle)]
unsafe extern "C" fn cudaLaunchHostFunc(
    stream: Address,
    function: Option<unsafe extern "C" fn(*mut c_void)>,
    data: *mut c_void,
) -> Status {
    let status = cudaStreamSynchronize(stream);
    match (status, function) {
        (Status::SUCCESS, Some(function)) => {
            // SAFETY: the caller passes a function and its argument.
            unsafe { function(data) };
            status
        }
        (Status::SUCCESS, None) => context::noted(Status::INVALID_VALUE),
        _ => status,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaStreamAddCallback(
    stream: Address,
    function: Option<unsafe extern "C" fn(Address, Status, *mut c_void)>,
    data: *mut c_void,
    _flags: u32,
) -> Status {
    let status = cudaStreamSynchronize(stream);
    match (status, function) {
        (Status::SUCCESS, Some(function)) => {
            // SAFETY: the caller passes a function and its arguments.
            unsafe { function(stream, status, data) };
            status
        }
        (Status::SUCCESS, None) => context::noted(Status::INVALID_VALUE),
        _ => status,
    }
}
