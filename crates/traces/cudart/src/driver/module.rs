//! Modules, libraries, and their contents.

use std::ffi::{c_char, c_int, c_void};
use std::fs;

use crate::context::{Engine, KernelId, ModuleId};
use crate::driver::{functions, jit};
use crate::host;
use crate::runtime::{Address, FunctionAttributes, container};
use crate::status::{Failure, Outcome, Status};

/// Converts a module number to a handle; handles start at 1, because 0 is null.
fn handle(id: ModuleId) -> Address {
    id as Address + 1
}

fn id(handle: Address) -> Outcome<ModuleId> {
    let id = handle.checked_sub(1).ok_or(Status::INVALID_HANDLE)?;
    Ok(id as ModuleId)
}

/// Loads a module.
///
/// # Safety
/// `to` is null or valid for writes; `image` is null or points to a container, a wrapper of one, or PTX that
/// ends with a zero byte.
unsafe fn load(engine: &mut Engine, to: *mut Address, image: *const u8) -> Outcome<()> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let id = engine.load(&[container(image)?])?;
        host::put(to, handle(id))
    }
}

/// Loads a module from a file.
///
/// # Safety
/// `to` is null or valid for writes; `path` is null or a C string.
unsafe fn load_file(engine: &mut Engine, to: *mut Address, path: *const c_char) -> Outcome<()> {
    // SAFETY: guaranteed by the caller.
    let path = unsafe { host::text(path) }?;
    let mut bytes = fs::read(&path).map_err(|error| {
        Failure::new(Status::FILE_NOT_FOUND, format!("cannot read module {path}: {error}"))
    })?;
    bytes.push(0);
    // SAFETY: the bytes are readable and end with a zero byte.
    unsafe { load(engine, to, bytes.as_ptr()) }
}

/// Writes the handle of a kernel.
///
/// # Safety
/// `to` is null or valid for writes; `name` is null or a C string.
unsafe fn put_kernel(
    engine: &mut Engine,
    to: *mut usize,
    module: Address,
    name: *const c_char,
) -> Outcome<()> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let kernel = engine.kernel(id(module)?, &host::text(name)?)?;
        host::put(to, kernel.0)
    }
}

/// Writes the address and size of a variable.
///
/// # Safety
/// `address` and `bytes` are null or valid for writes; `name` is null or a C string.
unsafe fn put_variable(
    engine: &mut Engine,
    address: *mut Address,
    bytes: *mut usize,
    module: Address,
    name: *const c_char,
) -> Outcome<()> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let (first, length) = engine.symbol(id(module)?, &host::text(name)?)?;
        if !address.is_null() {
            host::put(address, first)?;
        }
        if bytes.is_null() { Ok(()) } else { host::put(bytes, length as usize) }
    }
}

/// Writes the offset and size of a kernel's parameter.
///
/// # Safety
/// `offset` and `size` are null or valid for writes.
unsafe fn put_parameter(
    engine: &Engine,
    kernel: usize,
    number: usize,
    offset: *mut usize,
    size: *mut usize,
) -> Outcome<()> {
    let mut end = 0usize;
    let places = engine.params(KernelId(kernel))?.into_iter().map(|(size, align)| {
        let first = end.next_multiple_of(align);
        end = first + size;
        (first, size)
    });
    let (first, bytes) =
        places.collect::<Vec<_>>().get(number).copied().ok_or(Status::INVALID_VALUE)?;
    // SAFETY: guaranteed by the caller.
    unsafe {
        host::put(offset, first)?;
        if size.is_null() { Ok(()) } else { host::put(size, bytes) }
    }
}

/// Writes the handles of a module's first `most` kernels.
///
/// # Safety
/// `to` is null or has room for `most` handles.
unsafe fn put_kernels(
    engine: &mut Engine,
    to: *mut usize,
    most: u32,
    module: Address,
) -> Outcome<()> {
    let names = engine.kernel_names(id(module)?)?;
    for (at, name) in names.iter().take(most as usize).enumerate() {
        let kernel = engine.kernel(id(module)?, name)?;
        // SAFETY: guaranteed by the caller.
        unsafe { host::put(to.wrapping_add(at), kernel.0) }?;
    }
    Ok(())
}

/// Writes the size of the largest CTA that maximizes the threads per SM, and the CTAs that then fill the
/// device. `bytes_of` returns the dynamic shared memory for a CTA size, or is absent and `shared` applies; it
/// must not call the driver, which is locked.
///
/// # Safety
/// `grid` and `block` are null or valid for writes.
unsafe fn put_best_block(
    engine: &Engine,
    [grid, block]: [*mut c_int; 2],
    kernel: usize,
    bytes_of: Option<unsafe extern "C" fn(c_int) -> usize>,
    shared: usize,
    limit: c_int,
) -> Outcome<()> {
    let most = if limit > 0 { limit.min(1024) } else { 1024 };
    let sizes = (1..=most / 32).rev().map(|warps| 32 * warps);
    let mut best = (0, 32, 1);
    for threads in sizes {
        // SAFETY: the caller's function takes a size.
        let shared = bytes_of.map_or(shared, |bytes_of| unsafe { bytes_of(threads) });
        let room = engine.occupancy(KernelId(kernel), threads as u32, shared)? as c_int;
        if room * threads > best.0 {
            best = (room * threads, threads, room);
        }
    }
    // SAFETY: guaranteed by the caller.
    unsafe {
        host::put(block, best.1)?;
        host::put(grid, best.2 * engine.device().sms as c_int)
    }
}

/// Returns an attribute of a kernel by number (the manual, `CUfunction_attribute`).
fn attribute(engine: &Engine, kernel: usize, number: u32) -> Outcome<c_int> {
    let kernel = KernelId(kernel);
    if let Some(value) = engine.cluster_attribute(kernel, number)? {
        return Ok(value as c_int);
    }
    let attributes = FunctionAttributes::of(engine, kernel)?;
    let value = match number {
        0 => attributes.most_threads,
        1 => attributes.shared_bytes as u32,
        4 => attributes.registers,
        5 | 6 => attributes.ptx_version,
        8 => attributes.most_dynamic_shared,
        9 => return Ok(attributes.carveout),
        2 | 3 | 7 | 15 | 16 => 0,
        _ => return Err(Status::INVALID_VALUE.into()),
    };
    Ok(value as c_int)
}

/// Writes the number of CTAs of a kernel that fit on an SM.
///
/// # Safety
/// `to` is null or valid for writes.
unsafe fn put_occupancy(
    engine: &Engine,
    to: *mut c_int,
    kernel: usize,
    threads: c_int,
    shared: usize,
) -> Outcome<()> {
    let room = engine.occupancy(KernelId(kernel), threads as u32, shared)?;
    // SAFETY: guaranteed by the caller.
    unsafe { host::put(to, room as c_int) }
}

functions! { in_context:
    fn cuModuleLoad(to: *mut Address, path: *const c_char) |engine| { load_file(engine, to, path) }

    fn cuModuleLoadData(to: *mut Address, image: *const u8) |engine| { load(engine, to, image) }

    fn cuModuleLoadDataEx(
        to: *mut Address,
        image: *const u8,
        count: u32,
        options: *const u32,
        values: *const *mut c_void,
    ) |engine| {
        jit::logged(count, options, values, load(engine, to, image))
    }

    fn cuModuleLoadFatBinary(to: *mut Address, image: *const u8) |engine| {
        load(engine, to, image)
    }

    fn cuModuleUnload(module: Address) |engine| { engine.unload(id(module)?) }

    fn cuModuleGetFunction(to: *mut usize, module: Address, name: *const c_char) |engine| {
        put_kernel(engine, to, module, name)
    }

    fn cuModuleGetGlobal_v2(
        address: *mut Address,
        bytes: *mut usize,
        module: Address,
        name: *const c_char,
    ) |engine| {
        put_variable(engine, address, bytes, module, name)
    }

    fn cuModuleGetLoadingMode(to: *mut u32) |_engine| { host::put(to, 1) }

    fn cuLibraryLoadData(
        to: *mut Address,
        image: *const u8,
        _jit_options: *const u32,
        _jit_values: *const *const c_void,
        _jit_count: u32,
        _options: *const u32,
        _values: *const *const c_void,
        _count: u32,
    ) |engine| {
        load(engine, to, image)
    }

    fn cuLibraryLoadFromFile(
        to: *mut Address,
        path: *const c_char,
        _jit_options: *const u32,
        _jit_values: *const *const c_void,
        _jit_count: u32,
        _options: *const u32,
        _values: *const *const c_void,
        _count: u32,
    ) |engine| {
        load_file(engine, to, path)
    }

    fn cuLibraryUnload(library: Address) |engine| { engine.unload(id(library)?) }

    fn cuLibraryGetKernel(to: *mut usize, library: Address, name: *const c_char) |engine| {
        put_kernel(engine, to, library, name)
    }

    fn cuLibraryGetModule(to: *mut Address, library: Address) |_engine| {
        host::put(to, library)
    }

    fn cuLibraryGetGlobal(
        address: *mut Address,
        bytes: *mut usize,
        library: Address,
        name: *const c_char,
    ) |engine| {
        put_variable(engine, address, bytes, library, name)
    }

    fn cuKernelGetFunction(to: *mut usize, kernel: usize) |engine| {
        engine.needs(KernelId(kernel))?;
        host::put(to, kernel)
    }

    fn cuFuncGetModule(to: *mut Address, kernel: usize) |engine| {
        host::put(to, handle(engine.module_of_kernel(KernelId(kernel))?))
    }

    fn cuFuncGetAttribute(to: *mut c_int, number: u32, kernel: usize) |engine| {
        host::put(to, attribute(engine, kernel, number)?)
    }

    fn cuKernelGetAttribute(
        to: *mut c_int,
        number: u32,
        kernel: usize,
        _device: c_int,
    ) |engine| {
        host::put(to, attribute(engine, kernel, number)?)
    }

    fn cuFuncGetName(to: *mut *const c_char, kernel: usize) |engine| {
        host::put(to, engine.kernel_name(KernelId(kernel))?.as_ptr())
    }

    fn cuKernelGetName(to: *mut *const c_char, kernel: usize) |engine| {
        host::put(to, engine.kernel_name(KernelId(kernel))?.as_ptr())
    }

    fn cuFuncGetParamInfo(
        kernel: usize,
        number: usize,
        offset: *mut usize,
        size: *mut usize,
    ) |engine| {
        put_parameter(engine, kernel, number, offset, size)
    }

    fn cuKernelGetParamInfo(
        kernel: usize,
        number: usize,
        offset: *mut usize,
        size: *mut usize,
    ) |engine| {
        put_parameter(engine, kernel, number, offset, size)
    }

    fn cuFuncGetParamCount(kernel: usize, to: *mut usize) |engine| {
        host::put(to, engine.params(KernelId(kernel))?.len())
    }

    fn cuKernelGetParamCount(kernel: usize, to: *mut usize) |engine| {
        host::put(to, engine.params(KernelId(kernel))?.len())
    }

    fn cuKernelGetLibrary(to: *mut Address, kernel: usize) |engine| {
        host::put(to, handle(engine.module_of_kernel(KernelId(kernel))?))
    }

    fn cuModuleGetFunctionCount(to: *mut u32, module: Address) |engine| {
        host::put(to, engine.kernel_names(id(module)?)?.len() as u32)
    }

    fn cuLibraryGetKernelCount(to: *mut u32, library: Address) |engine| {
        host::put(to, engine.kernel_names(id(library)?)?.len() as u32)
    }

    fn cuModuleEnumerateFunctions(to: *mut usize, most: u32, module: Address) |engine| {
        put_kernels(engine, to, most, module)
    }

    fn cuLibraryEnumerateKernels(to: *mut usize, most: u32, library: Address) |engine| {
        put_kernels(engine, to, most, library)
    }

    /// Writes true: modules are always loaded as a whole.
    fn cuFuncIsLoaded(to: *mut u32, kernel: usize) |engine| {
        engine.needs(KernelId(kernel))?;
        host::put(to, 1)
    }

    fn cuFuncLoad(kernel: usize) |engine| { engine.needs(KernelId(kernel)).map(drop) }

    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
        to: *mut c_int,
        kernel: usize,
        threads: c_int,
        shared: usize,
    ) |engine| {
        put_occupancy(engine, to, kernel, threads, shared)
    }

    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        to: *mut c_int,
        kernel: usize,
        threads: c_int,
        shared: usize,
        _flags: u32,
    ) |engine| {
        put_occupancy(engine, to, kernel, threads, shared)
    }

    fn cuOccupancyMaxPotentialBlockSize(
        grid: *mut c_int,
        block: *mut c_int,
        kernel: usize,
        bytes_of: Option<unsafe extern "C" fn(c_int) -> usize>,
        shared: usize,
        limit: c_int,
    ) |engine| {
        put_best_block(engine, [grid, block], kernel, bytes_of, shared, limit)
    }

    fn cuOccupancyMaxPotentialBlockSizeWithFlags(
        grid: *mut c_int,
        block: *mut c_int,
        kernel: usize,
        bytes_of: Option<unsafe extern "C" fn(c_int) -> usize>,
        shared: usize,
        limit: c_int,
        _flags: u32,
    ) |engine| {
        put_best_block(engine, [grid, block], kernel, bytes_of, shared, limit)
    }

    fn cuOccupancyAvailableDynamicSMemPerBlock(
        to: *mut usize,
        kernel: usize,
        ctas: c_int,
        threads: c_int,
    ) |engine| {
        let kernel = KernelId(kernel);
        host::put(to, engine.shared_left(kernel, ctas as u32, threads as u32)? as usize)
    }
}
