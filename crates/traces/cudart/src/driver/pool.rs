//! Memory pools.

use std::ffi::c_int;

use crate::driver::functions;
use crate::driver::memory::some;
use crate::host;
use crate::runtime::{
    Access, Address, Location, PoolProperties, check_allocation_type, check_device, create_pool,
    put_pool_access, put_pool_attribute, set_pool_access, set_pool_attribute,
};

functions! { anywhere:
    fn cuDeviceGetDefaultMemPool(to: *mut Address, device: c_int) |engine| {
        check_device(device)?;
        host::put(to, engine.pools.default_pool())
    }

    fn cuDeviceGetMemPool(to: *mut Address, device: c_int) |engine| {
        check_device(device)?;
        host::put(to, engine.pools.current())
    }

    fn cuDeviceSetMemPool(device: c_int, pool: Address) |engine| {
        check_device(device)?;
        engine.pools.make_current(pool)
    }

    fn cuMemGetDefaultMemPool(
        to: *mut Address,
        location: *const Location,
        allocation_type: u32,
    ) |engine| {
        host::get(location)?.check()?;
        check_allocation_type(allocation_type)?;
        host::put(to, engine.pools.default_pool())
    }

    fn cuMemGetMemPool(to: *mut Address, location: *const Location, allocation_type: u32) |engine| {
        host::get(location)?.check()?;
        check_allocation_type(allocation_type)?;
        host::put(to, engine.pools.current())
    }

    fn cuMemSetMemPool(
        location: *const Location,
        allocation_type: u32,
        pool: Address,
    ) |engine| {
        host::get(location)?.check()?;
        check_allocation_type(allocation_type)?;
        engine.pools.make_current(pool)
    }

    fn cuMemPoolCreate(to: *mut Address, properties: *const PoolProperties) |engine| {
        create_pool(engine, to, properties)
    }

    fn cuMemPoolDestroy(pool: Address) |engine| { engine.pools.destroy(pool) }

    fn cuMemPoolGetAttribute(pool: Address, number: u32, to: *mut u64) |engine| {
        put_pool_attribute(engine, pool, number, to)
    }

    fn cuMemPoolSetAttribute(pool: Address, number: u32, from: *const u64) |engine| {
        set_pool_attribute(engine, pool, number, from)
    }

    fn cuMemPoolGetAccess(to: *mut u32, pool: Address, location: *const Location) |engine| {
        put_pool_access(engine, to, pool, location)
    }

    fn cuMemPoolSetAccess(pool: Address, descriptions: *const Access, count: usize) |engine| {
        set_pool_access(engine, pool, descriptions, count)
    }

    fn cuMemPoolTrimTo(pool: Address, _bytes: usize) |engine| { engine.pools.check(pool) }
}

functions! { in_context:
    fn cuMemAllocAsync(to: *mut Address, bytes: usize, stream: Address) |engine| {
        engine.clock.stream(stream)?;
        let address = engine.allocate_from(engine.pools.current(), some(bytes)?)?;
        host::put(to, address)
    }

    fn cuMemAllocFromPoolAsync(
        to: *mut Address,
        bytes: usize,
        pool: Address,
        stream: Address,
    ) |engine| {
        engine.clock.stream(stream)?;
        host::put(to, engine.allocate_from(pool, some(bytes)?)?)
    }
}
