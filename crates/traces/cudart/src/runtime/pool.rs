//! Pools of memory. The structures are those of the driver too.

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
    /// Fails for every place but the device.
    pub fn check(self) -> Outcome<()> {
        match self.kind {
            ON_DEVICE => check_device(self.id),
            _ => Err(unsupported("pools of the host's memory")),
        }
    }
}

/// The first members of `cudaMemPoolProps` and `CUmemPoolProps`; no other decides anything here.
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

/// `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`: what the device always has.
const READ_WRITE: u32 = 3;
const NO_ACCESS: u32 = 0;

fn unsupported(what: &str) -> Failure {
    Failure::new(Status::NOT_SUPPORTED, format!("{what} are not supported"))
}

/// Fails if allocations of a type cannot be of a pool.
pub fn check_allocation_type(allocation_type: u32) -> Outcome<()> {
    match allocation_type {
        PINNED => Ok(()),
        0 => Err(Status::INVALID_VALUE.into()),
        _ => Err(unsupported("pools of managed memory")),
    }
}

/// # Safety
/// The pointers are null or as the manual says.
pub unsafe fn create_pool(
    engine: &mut Engine,
    to: *mut Address,
    properties: *const PoolProperties,
) -> Outcome<()> {
    // SAFETY: as the caller promises.
    let properties = unsafe { host::get(properties) }?;
    check_allocation_type(properties.allocation_type)?;
    properties.location.check()?;
    if properties.handle_types != 0 {
        return Err(unsupported("pools that other processes import"));
    }
    let pool = engine.pools.create(properties.most_bytes as u64);
    // SAFETY: as the caller promises.
    unsafe { host::put(to, pool) }
}

/// Writes an attribute, which is as wide as its type.
///
/// # Safety
/// `to` is null or may be written so far.
pub unsafe fn put_pool_attribute(
    engine: &Engine,
    pool: PoolId,
    number: u32,
    to: *mut u64,
) -> Outcome<()> {
    // SAFETY: as the caller promises.
    unsafe {
        match engine.pools.attribute(pool, number)? {
            PoolValue::Narrow(value) => host::put(to.cast(), value),
            PoolValue::Wide(value) => host::put(to, value),
        }
    }
}

/// # Safety
/// `from` is null or may be read as far as the attribute is wide.
pub unsafe fn set_pool_attribute(
    engine: &mut Engine,
    pool: PoolId,
    number: u32,
    from: *const u64,
) -> Outcome<()> {
    // SAFETY: as the caller promises.
    let value = unsafe {
        match engine.pools.attribute(pool, number)? {
            PoolValue::Narrow(_) => PoolValue::Narrow(host::get(from.cast())?),
            PoolValue::Wide(_) => PoolValue::Wide(host::get(from)?),
        }
    };
    engine.pools.set_attribute(pool, number, value)
}

/// The device reaches its pools, which cannot be taken from it, and there is no other.
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
        // SAFETY: as the caller promises.
        let Access { location, flags } = unsafe { host::get(descriptions.wrapping_add(at)) }?;
        location.check()?;
        if flags != READ_WRITE {
            return Err(Status::INVALID_VALUE.into());
        }
    }
    Ok(())
}

/// # Safety
/// The pointers are null or as the manual says.
pub unsafe fn put_pool_access(
    engine: &Engine,
    to: *mut u32,
    pool: PoolId,
    location: *const Location,
) -> Outcome<()> {
    engine.pools.check(pool)?;
    // SAFETY: as the caller promises.
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
        // SAFETY: the caller's promise.
        unsafe { host::put(to, engine.pools.default_pool()) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaDeviceGetMemPool(to: *mut Address, device: i32) -> Status {
    context::run_and_note(|engine, _| {
        check_device(device)?;
        // SAFETY: the caller's promise.
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
    // SAFETY: the caller's promise.
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
    // SAFETY: the caller's promise.
    context::run_and_note(|engine, _| unsafe { set_pool_attribute(engine, pool, attribute, from) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaMemPoolGetAttribute(
    pool: Address,
    attribute: u32,
    to: *mut u64,
) -> Status {
    // SAFETY: the caller's promise.
    context::run_and_note(|engine, _| unsafe { put_pool_attribute(engine, pool, attribute, to) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaMemPoolSetAccess(
    pool: Address,
    descriptions: *const Access,
    count: usize,
) -> Status {
    // SAFETY: the caller's promise.
    context::run_and_note(|engine, _| unsafe { set_pool_access(engine, pool, descriptions, count) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaMemPoolGetAccess(
    to: *mut u32,
    pool: Address,
    location: *const Location,
) -> Status {
    // SAFETY: the caller's promise.
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
        // SAFETY: the caller's promise.
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
        // SAFETY: the caller's promise.
        unsafe { host::put(to, address) }
    })
}
