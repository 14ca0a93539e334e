//! Pools of memory. There is one, the device's. Freed memory is available again at once, so attributes
//! of the pool are accepted and have no effect.

use crate::context;
use crate::host;
use crate::runtime::{Address, check_device};
use crate::status::{Outcome, Status};

/// The handle of the device's pool.
const POOL: Address = 1;

/// What `cudaMemPoolGetAttribute` writes, as wide as the widest.
type Attribute = u64;

fn check(pool: Address) -> Outcome<()> {
    if pool == POOL { Ok(()) } else { Err(Status::INVALID_VALUE.into()) }
}

/// # Safety
/// `to` is null or may be written.
unsafe fn put_pool(to: *mut Address, device: i32) -> Status {
    context::run_and_note(|_, _| {
        check_device(device)?;
        // SAFETY: as the caller promises.
        unsafe { host::put(to, POOL) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaDeviceGetDefaultMemPool(to: *mut Address, device: i32) -> Status {
    // SAFETY: the caller's promise.
    unsafe { put_pool(to, device) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaDeviceGetMemPool(to: *mut Address, device: i32) -> Status {
    // SAFETY: the caller's promise.
    unsafe { put_pool(to, device) }
}

#[unsafe(no_mangle)]
extern "C" fn cudaDeviceSetMemPool(device: i32, pool: Address) -> Status {
    context::run_and_note(|_, _| {
        check_device(device)?;
        check(pool)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemPoolSetAttribute(pool: Address, _attribute: u32, _: *const u64) -> Status {
    context::run_and_note(|_, _| check(pool))
}

/// All attributes that can be read without having been set are 0.
#[unsafe(no_mangle)]
unsafe extern "C" fn cudaMemPoolGetAttribute(
    pool: Address,
    attribute: u32,
    to: *mut Attribute,
) -> Status {
    /// Attributes up to this one are numbers of 32 bits.
    const LAST_NARROW: u32 = 3;
    context::run_and_note(|_, _| {
        check(pool)?;
        // SAFETY: the caller's promise.
        unsafe {
            match attribute {
                ..=LAST_NARROW => host::put(to.cast::<u32>(), 0),
                _ => host::put(to, 0),
            }
        }
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemPoolTrimTo(pool: Address, _bytes: usize) -> Status {
    context::run_and_note(|_, _| check(pool))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaMallocFromPoolAsync(
    to: *mut Address,
    bytes: usize,
    pool: Address,
    stream: Address,
) -> Status {
    context::run_and_note(|engine, _| {
        check(pool)?;
        engine.clock.stream(stream)?;
        // SAFETY: the caller's promise.
        unsafe { host::put(to, engine.allocate(bytes as u64)?) }
    })
}
