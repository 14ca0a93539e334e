//! Streams.

use std::cell::Cell;
use std::ffi::{c_int, c_void};

use crate::context;
use crate::driver::functions;
use crate::host;
use crate::runtime::{Address, PolicyWindow, set_attribute};
use crate::status::Status;

/// `CU_STREAM_CAPTURE_STATUS_NONE`
const NOT_RECORDING: u32 = 0;

thread_local! {
    /// `CUstreamCaptureMode` of this thread; programs exchange it, and it has no effect.
    static RECORDING_MODE: Cell<u32> = const { Cell::new(0) };
}

functions! { in_context:
    fn cuStreamCreate(to: *mut Address, _flags: u32) |engine| {
        host::put(to, engine.clock.create_stream())
    }

    fn cuStreamCreateWithPriority(to: *mut Address, _flags: u32, _priority: c_int) |engine| {
        host::put(to, engine.clock.create_stream())
    }

    fn cuStreamDestroy_v2(stream: Address) |engine| { engine.clock.destroy_stream(stream) }

    fn cuStreamSetAttribute(stream: Address, attribute: u32, value: *const PolicyWindow) |engine| {
        set_attribute(engine, stream, attribute, value)
    }

    fn cuStreamSynchronize(stream: Address) |engine| { engine.clock.stream(stream).map(drop) }

    fn cuStreamQuery(stream: Address) |engine| { engine.clock.stream(stream).map(drop) }

    fn cuStreamWaitEvent(stream: Address, event: Address, _flags: u32) |engine| {
        engine.clock.stream(stream)?;
        engine.clock.check_event(event)
    }

    fn cuStreamGetPriority(stream: Address, to: *mut c_int) |engine| {
        engine.clock.stream(stream)?;
        host::put(to, 0)
    }

    fn cuStreamGetFlags(stream: Address, to: *mut u32) |engine| {
        engine.clock.stream(stream)?;
        host::put(to, 0)
    }

    fn cuStreamGetCtx(stream: Address, to: *mut Address) |engine| {
        engine.clock.stream(stream)?;
        host::put(to, engine.contexts.current()?)
    }

    fn cuStreamIsCapturing(stream: Address, to: *mut u32) |engine| {
        engine.clock.stream(stream)?;
        host::put(to, NOT_RECORDING)
    }

    /// Writes only the capture status, as the manual defines for a stream outside graph capture.
    fn cuStreamGetCaptureInfo(stream: Address, to: *mut u32) |engine| {
        engine.clock.stream(stream)?;
        host::put(to, NOT_RECORDING)
    }

    fn cuStreamGetCaptureInfo_v2(stream: Address, to: *mut u32) |engine| {
        engine.clock.stream(stream)?;
        host::put(to, NOT_RECORDING)
    }

    fn cuStreamGetCaptureInfo_v3(stream: Address, to: *mut u32) |engine| {
        engine.clock.stream(stream)?;
        host::put(to, NOT_RECORDING)
    }

    fn cuThreadExchangeStreamCaptureMode(mode: *mut u32) |_engine| {
        let before = RECORDING_MODE.replace(host::get(mode)?);
        host::put(mode, before)
    }

    fn cuStreamGetId(stream: Address, to: *mut u64) |engine| {
        host::put(to, engine.clock.stream(stream)?)
    }

    fn cuStreamGetDevice(stream: Address, to: *mut c_int) |engine| {
        engine.clock.stream(stream)?;
        host::put(to, 0)
    }

    fn cuStreamCopyAttributes(to: Address, from: Address) |engine| {
        engine.copy_window(to, from)
    }
}

/// Checks a stream without locking the device, which the caller's work may use.
fn check(stream: Address) -> Status {
    context::drive(|engine| engine.clock.stream(stream).map(drop))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuLaunchHostFunc(
    stream: Address,
    function: Option<unsafe extern "C" fn(*mut c_void)>,
    data: *mut c_void,
) -> Status {
    match (check(stream), function) {
        (Status::SUCCESS, Some(function)) => {
            // SAFETY: the caller passes a function and its argument.
            unsafe { function(data) };
            Status::SUCCESS
        }
        (Status::SUCCESS, None) => Status::INVALID_VALUE,
        (failed, _) => failed,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuStreamAddCallback(
    stream: Address,
    function: Option<unsafe extern "C" fn(Address, Status, *mut c_void)>,
    data: *mut c_void,
    _flags: u32,
) -> Status {
    match (check(stream), function) {
        (Status::SUCCESS, Some(function)) => {
            // SAFETY: the caller passes a function and its arguments.
            unsafe { function(stream, Status::SUCCESS, data) };
            Status::SUCCESS
        }
        (Status::SUCCESS, None) => Status::INVALID_VALUE,
        (failed, _) => failed,
    }
}
