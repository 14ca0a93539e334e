//! Events.

use crate::context;
use crate::host;
use crate::runtime::Address;
use crate::status::Status;

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaEventCreate(to: *mut Address) -> Status {
    context::run_and_note(|engine, _| {
        // SAFETY: guaranteed by the caller.
        unsafe { host::put(to, engine.clock.create_event()) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaEventCreateWithFlags(to: *mut Address, _flags: u32) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe { cudaEventCreate(to) }
}

#[unsafe(no_mangle)]
extern "C" fn cudaEventDestroy(event: Address) -> Status {
    context::run_and_note(|engine, _| engine.clock.destroy_event(event))
}

#[unsafe(no_mangle)]
extern "C" fn cudaEventRecord(event: Address, stream: Address) -> Status {
    context::run_and_note(|engine, _| {
        engine.clock.stream(stream)?;
        engine.clock.record(event)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaEventRecordWithFlags(event: Address, stream: Address, _flags: u32) -> Status {
    cudaEventRecord(event, stream)
}

#[unsafe(no_mangle)]
extern "C" fn cudaEventSynchronize(event: Address) -> Status {
    context::run_and_note(|engine, _| engine.clock.check_event(event))
}

#[unsafe(no_mangle)]
extern "C" fn cudaEventQuery(event: Address) -> Status {
    cudaEventSynchronize(event)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaEventElapsedTime(to: *mut f32, start: Address, end: Address) -> Status {
    context::run_and_note(|engine, _| {
        // SAFETY: guaranteed by the caller.
        unsafe { host::put(to, engine.clock.elapsed(start, end)?) }
    })
}

/// CUDA 12.8 and later.
#[unsafe(no_mangle)]
unsafe extern "C" fn cudaEventElapsedTime_v2(to: *mut f32, start: Address, end: Address) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe { cudaEventElapsedTime(to, start, end) }
}
