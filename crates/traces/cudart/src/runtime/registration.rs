//! Registrations that a program makes before its `main` runs.

use std::ffi::{c_char, c_int, c_void};

use crate::context::{self, Symbol};
use crate::host;
use crate::runtime::Address;
use crate::status::{Failure, Outcome, Status};
use warpmem_ptx::fatbin;

/// Wrapper that a compiler emits for each object file with kernels (`__fatBinC_Wrapper_t`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Wrapper {
    magic: u32,
    /// 1: `data` is the container. 2: device code was linked, and `linked` lists its parts.
    version: u32,
    data: *const u8,
    linked: *const *const u8,
}

const MAGIC: u32 = 0x4662_43b1;
const LINKED: u32 = 2;
/// Magic bytes of machine code.
const ELF: &[u8] = b"\x7fELF";

/// Maximum parts of linked device code, in case the list has no end.
const MAX_PARTS: usize = 1 << 12;

/// Reads a container, directly or through a wrapper, or PTX that ends with a zero byte.
///
/// # Safety
/// The pointer is null or points to one of them.
pub unsafe fn container(data: *const u8) -> Outcome<Vec<u8>> {
    const HEADER: usize = 16;
    if data.is_null() {
        return Err(Status::INVALID_IMAGE.into());
    }
    // SAFETY: a container has a header of this size; PTX is longer.
    let header = unsafe { host::bytes(data, HEADER) }?;
    if header.starts_with(ELF) {
        let why = "a module of the program is machine code; modules of PTX can be executed";
        return Err(Failure::new(Status::NO_BINARY, why));
    }
    if header.starts_with(&MAGIC.to_le_bytes()) {
        // SAFETY: data with this magic is a wrapper.
        let wrapper: Wrapper = unsafe { host::get(data.cast()) }?;
        // SAFETY: a wrapper points to a container.
        return unsafe { container(wrapper.data) };
    }
    match fatbin::container_bytes(&header) {
        // SAFETY: the header states the length.
        Some(length) => unsafe { host::bytes(data, length) },
        // SAFETY: data other than a container is text that ends with a zero byte.
        None => unsafe { host::text(data.cast()) }.map(String::into_bytes),
    }
}

/// Reads the containers of a wrapper.
///
/// # Safety
/// The pointer is null or points to a wrapper as a compiler emits it.
unsafe fn containers(wrapper: *const Wrapper) -> Outcome<Vec<Vec<u8>>> {
    // SAFETY: guaranteed by the caller.
    let wrapper = unsafe { host::get(wrapper) }?;
    if wrapper.magic != MAGIC {
        return Err(Status::INVALID_IMAGE.into());
    }
    if wrapper.version != LINKED || wrapper.linked.is_null() {
        // SAFETY: a wrapper points to a container.
        return Ok(vec![unsafe { container(wrapper.data) }?]);
    }
    let mut parts = Vec::new();
    for at in 0..MAX_PARTS {
        // SAFETY: the list ends with a null pointer, and nothing after it is read.
        let part = unsafe { host::get(wrapper.linked.add(at)) }?;
        if part.is_null() {
            break;
        }
        // SAFETY: the list points to containers.
        parts.push(unsafe { container(part) }?);
    }
    Ok(parts)
}

/// Registers a fat binary; handles start at 1, because 0 is null.
#[unsafe(no_mangle)]
unsafe extern "C" fn __cudaRegisterFatBinary(wrapper: *const Wrapper) -> Address {
    // SAFETY: guaranteed by the caller. A damaged binary counts as one without containers: its kernels are
    // refused at launch.
    let containers = unsafe { containers(wrapper) }.unwrap_or_default();
    context::register(|registry| registry.add_binary(containers)) as Address + 1
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterFatBinaryEnd(_: Address) {}

#[unsafe(no_mangle)]
extern "C" fn __cudaUnregisterFatBinary(handle: Address) {
    if let Some(id) = (handle as usize).checked_sub(1) {
        context::register(|registry| registry.remove_binary(id));
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __cudaRegisterFunction(
    handle: Address,
    function: usize,
    _stub: *mut c_char,
    name: *const c_char,
    _threads: c_int,
    _thread: *mut c_void,
    _cta: *mut c_void,
    _block: *mut c_void,
    _grid: *mut c_void,
    _warp: *mut c_int,
) {
    // SAFETY: guaranteed by the caller.
    let name = unsafe { host::text(name) };
    if let (Some(binary), Ok(name)) = ((handle as usize).checked_sub(1), name) {
        context::register(|registry| registry.add_kernel(function, binary, name));
    }
}

/// Describes a symbol.
///
/// # Safety
/// `name` is null or a C string.
unsafe fn symbol(handle: Address, name: *const c_char, is_normalised: bool) -> Option<Symbol> {
    // SAFETY: guaranteed by the caller.
    let name = unsafe { host::text(name) }.ok()?;
    Some(Symbol { binary: (handle as usize).checked_sub(1)?, name, is_normalised })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __cudaRegisterVar(
    handle: Address,
    variable: usize,
    _address: *mut c_char,
    name: *const c_char,
    _external: c_int,
    _size: usize,
    _constant: c_int,
    _global: c_int,
) {
    // SAFETY: guaranteed by the caller.
    if let Some(symbol) = unsafe { symbol(handle, name, false) } {
        context::register(|registry| registry.add_symbol(variable, symbol));
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __cudaRegisterManagedVar(
    handle: Address,
    pointer: usize,
    _address: *mut c_char,
    name: *const c_char,
    _external: c_int,
    _size: usize,
    _constant: c_int,
    _global: c_int,
) {
    // SAFETY: guaranteed by the caller.
    if let Some(symbol) = unsafe { symbol(handle, name, false) } {
        context::register(|registry| {
            registry.add_symbol(pointer, symbol.clone());
            registry.add_managed(pointer, symbol);
        });
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __cudaRegisterTexture(
    handle: Address,
    variable: usize,
    _address: *const *const c_void,
    name: *const c_char,
    _dimensions: c_int,
    normalised: c_int,
    _external: c_int,
) {
    // SAFETY: guaranteed by the caller.
    if let Some(symbol) = unsafe { symbol(handle, name, normalised != 0) } {
        context::register(|registry| registry.add_symbol(variable, symbol));
    }
}

/// Initializes managed variables; programs call it before they use one.
#[unsafe(no_mangle)]
extern "C" fn __cudaInitModule(handle: Address) -> c_char {
    let status = context::run_and_note(|engine, registry| {
        let binary = (handle as usize).checked_sub(1).ok_or(Status::INVALID_HANDLE)?;
        for (pointer, address) in engine.managed(binary, registry)? {
            // SAFETY: the program registered the location of a pointer.
            unsafe { host::put(std::ptr::with_exposed_provenance_mut::<u64>(pointer), address) }?;
        }
        Ok(())
    });
    (status == Status::SUCCESS).into()
}
