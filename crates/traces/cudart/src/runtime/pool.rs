//! Memory pools. The driver's functions share the structures.

use crate::context::{self, Engine, ON_DEVICE, PINNED, PoolId, PoolValue};
use crate::host;
use crate::runtime::{Address, check_device};
use crate::status::{Failure, Outcome, Status};

/// `cudaMemLocation`, `CUmemLocation`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Location {
    kind: u32,
    id: i32,
}

impl Location {
    /// Fails for every location but the device.
    pub fn check(self) -> Outcome<()> {
        match self.kind {
            ON_DEVICE => check_device(self.id),
            _ => Err(unsupported("host memory pools")),
        }
    }
}

/// The first members of `cudaMemPoolProps` and `CUmemPoolProps`; the others have no effect.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PoolProperties {
    allocation_type: u32,
    handle_types: u32,
    location: Location,
    security: Address,
    most_bytes: usize,
}

/// `cudaMemAccessDesc`, `CUmemAccessDesc`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Access {
    location: Location,
    flags: u32,
}

/// `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`: the device's access, always.
const READ_WRITE: u32 = 3;
const NO_ACCESS: u32 = 0;

fn unsupported(what: &str) -> Failure {
    Failure::new(Status::NOT_SUPPORTED, format!("{what} are not supported"))
}

/// Fails for an allocation type that pools do not support.
pub fn check_allocation_type(allocation_type: u32) -> Outcome<()> {
    match allocation_type {
        PINNED => Ok(()),
        0 => Err(Status::INVALID_VALUE.into()),
        _ => Err(unsupported("managed memory pools")),
    }
}

/// Creates a pool.
///
/// # Safety
/// The pointers are null or as the manual requires.
pub unsafe fn create_pool(
    engine: &mut Engine,
    to: *mut Address,
    properties: *const PoolProperties,
) -> Outcome<()> {
    // SAFETY: guaranteed by the caller.
    let properties = unsafe { host::get(properties) }?;
    check_allocation_type(properties.allocation_type)?;
    properties.location.check()?;
    if properties.handle_types != 0 {
        return Err(unsupported("shareable pools"));
    }
    let pool = engine.pools.create(properties.most_bytes as u64);
    // SAFETY: guaranteed by the caller.
    unsafe { host::put(to, pool) }
}

/// Writes an attribute in the width of its type.
///
/// # Safety
/// `to` is null or valid for writes of that width.
pub unsafe fn put_pool_attribute(
    engine: &Engine,
    pool: PoolId,
    number: u32,
    to: *mut u64,
) -> Outcome<()> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        match engine.pools.attribute(pool, number)? {
            PoolValue::Narrow(value) => host::put(to.cast(), value),
            PoolValue::Wide(value) => host::put(to, value),
        }
    }
}

/// Sets an attribute.
///
/// # Safety
/// `from` is null or readable in the width of the attribute.
pub unsafe fn set_pool_attribute(
    engine: &mut Engine,
    pool: PoolId,
    number: u32,
    from: *const u64,
) -> Outcome<()> {
    // SAFETY: guaranteed by the caller.
    let value = unsafe {
        match engine.pools.attribute(pool, number)? {
            PoolValue::Narrow(_) => PoolValue::Narrow(host::get(from.cast())?),
            PoolValue::Wide(_) => PoolValue::Wide(host::get(from)?),
        }
    };
    engine.pools.set_attribute(pool, number, value)
}

/// Checks an access setting: the only device always has access to its pools.
///
/// # Safety
/// There are `count` descriptions.
pub unsafe fn set_pool_access(
    engine: &Engine,
    pool: PoolId,
    descriptions: *const Access,
    count: usize,
) -> Outcome<()> {
    engine.pools.check(pool)?;
    for at in 0..count {
        // SAFETY: guaranteed by the caller.
        let Access { location, flags } = unsafe { host::get(descriptions.wrapping_add(at)) }?;
        location.check()?;
        if flags != READ_WRITE {
            return Err(Status::INVALID_VALUE.into());
        }
    }
    Ok(())
}

/// Writes the access of a location to a pool.
///
/// # Safety
/// The pointers are null or as the manual requires.
pub unsafe fn put_pool_access(
    engine: &Engine,
    to: *mut u32,
    pool: PoolId,
    location: *const Location,
) -> Outcome<()> {
    engine.pools.check(pool)?;
    // SAFETY: guaranteed by the caller.
    unsafe {
        let location = host::get(location)?;
        match location.kind {
            ON_DEVICE => {
                check_device(location.id)?;
                host::put(to, READ_WRITE)
            }
            _ => host::put(to, NO_ACCESS),
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaDeviceGetDefaultMemPool(to: *mut Address, device: i32) -> Status {
    context::run_and_note(|engine, _| {
        check_device(device)?;
        // SAFETY: guaranteed by the caller.
        unsafe { host::put(to, engine.pools.default_pool()) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaDeviceGetMemPool(to: *mut Address, device: i32) -> Status {
    context::run_and_note(|engine, _| {
        check_device(device)?;
        // SAFETY: guaranteed by the caller.
        unsafe { host::put(to, engine.pools.current()) }
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaDeviceSetMemPool(device: i32, pool: Address) -> Status {
    context::run_and_note(|engine, _| {
        check_device(device)?;
        engine.pools.make_current(pool)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaMemPoolCreate(
    to: *mut Address,
    properties: *const PoolProperties,
) -> Status {
    // SAFETY: guaranteed by the caller.
    context::run_and_note(|engine, _| unsafe { create_pool(engine, to, properties) })
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemPoolDestroy(pool: Address) -> Status {
    context::run_and_note(|engine, _| engine.pools.destroy(pool))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaMemPoolSetAttribute(
    pool: Address,
    attribute: u32,
    from: *const u64,
) -> Status {
    // SAFETY: guaranteed by the caller.
    context::run_and_note(|engine, _| unsafe { set_pool_attribute(engine, pool, attribute, from) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaMemPoolGetAttribute(
    pool: Address,
    attribute: u32,
    to: *mut u64,
) -> Status {
    // SAFETY: guaranteed by the caller.
    context::run_and_note(|engine, _| unsafe { put_pool_attribute(engine, pool, attribute, to) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaMemPoolSetAccess(
    pool: Address,
    descriptions: *const Access,
    count: usize,
) -> Status {
    // SAFETY: guaranteed by the caller.
    context::run_and_note(|engine, _| unsafe { set_pool_access(engine, pool, descriptions, count) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaMemPoolGetAccess(
    to: *mut u32,
    pool: Address,
    location: *const Location,
) -> Status {
    // SAFETY: guaranteed by the caller.
    context::run_and_note(|engine, _| unsafe { put_pool_access(engine, to, pool, location) })
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemPoolTrimTo(pool: Address, _bytes: usize) -> Status {
    context::run_and_note(|engine, _| engine.pools.check(pool))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaMallocAsync(to: *mut Address, bytes: usize, stream: Address) -> Status {
    context::run_and_note(|engine, _| {
        engine.clock.stream(stream)?;
        let address = engine.allocate_from(engine.pools.current(), bytes as u64)?;
        // SAFETY: guaranteed by the caller.
        unsafe { host::put(to, address) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaMallocFromPoolAsync(
    to: *mut Address,
    bytes: usize,
    pool: Address,
    stream: Address,
) -> Status {
    context::run_and_note(|engine, _| {
        engine.clock.stream(stream)?;
        let address = engine.allocate_from(pool, bytes as u64)?;
        // SAFETY: guaranteed by the caller.
        unsafe { host::put(to, address) }
    })
}
