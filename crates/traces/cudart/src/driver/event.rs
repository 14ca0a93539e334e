//! Events.

use crate::driver::functions;
use crate::host;
use crate::runtime::Address;

functions! { in_context:
    fn cuEventCreate(to: *mut Address, _flags: u32) |engine| {
        host::put(to, engine.clock.create_event())
    }

    fn cuEventRecord(event: Address, stream: Address) |engine| {
        engine.clock.stream(stream)?;
        engine.clock.record(event)
    }

    fn cuEventRecordWithFlags(event: Address, stream: Address, _flags: u32) |engine| {
        engine.clock.stream(stream)?;
        engine.clock.record(event)
    }

    fn cuEventSynchronize(event: Address) |engine| { engine.clock.check_event(event) }

    fn cuEventQuery(event: Address) |engine| { engine.clock.check_event(event) }

    fn cuEventDestroy_v2(event: Address) |engine| { engine.clock.destroy_event(event) }

    fn cuEventElapsedTime(to: *mut f32, start: Address, end: Address) |engine| {
        host::put(to, engine.clock.elapsed(start, end)?)
    }

    fn cuEventElapsedTime_v2(to: *mut f32, start: Address, end: Address) |engine| {
        host::put(to, engine.clock.elapsed(start, end)?)
    }
}
