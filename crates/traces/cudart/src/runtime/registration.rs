//! What a program registers before its `main` begins.

use std::ffi::{c_char, c_int, c_void};

use crate::context::{self, Symbol};
use crate::host;
use crate::runtime::Address;
use crate::status::{Failure, Outcome, Status};
use warpmem_ptx::fatbin;

/// What a compiler emits for each object file with kernels (`__fatBinC_Wrapper_t`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Wrapper {
    magic: u32,
    /// 1: `data` is the container. 2: device code was linked, and `linked` names its parts.
    version: u32,
    data: *const u8,
    linked: *const *const u8,
}

const MAGIC: u32 = 0x4662_43b1;
const LINKED: u32 = 2;
/// With which machine code begins.
const ELF: &[u8] = b"\x7fELF";

/// Most parts of linked device code, should the list not end.
const MOST_PARTS: usize = 1 << 12;

/// The bytes of a container, of that which a wrapper names, or of PTX that ends with a zero byte.
///
/// # Safety
/// The pointer is null or names one of them.
pub unsafe fn container(data: *const u8) -> Outcome<Vec<u8>> {
    const HEADER: usize = 16;
    if data.is_null() {
        return Err(Status::INVALID_IMAGE.into());
    }
    // SAFETY: of a container, the header has so many bytes; PTX is longer.
    let header = unsafe { host::bytes(data, HEADER) }?;
    if header.starts_with(ELF) {
        let why = "a module of the program is machine code; modules of PTX can be executed";
        return Err(Failure::new(Status::NO_BINARY, why));
    }
    if header.starts_with(&MAGIC.to_le_bytes()) {
        // SAFETY: what begins so is a wrapper.
        let wrapper: Wrapper = unsafe { host::get(data.cast()) }?;
        // SAFETY: a wrapper names a container.
        return unsafe { container(wrapper.data) };
    }
    match fatbin::container_bytes(&header) {
        // SAFETY: the header says how many bytes there are.
        Some(length) => unsafe { host::bytes(data, length) },
        // SAFETY: what is no container is text that ends with a zero byte.
        None => unsafe { host::text(data.cast()) }.map(String::into_bytes),
    }
}

/// The containers that a wrapper names.
///
/// # Safety
/// The pointer is null or names a wrapper as a compiler emits it.
unsafe fn containers(wrapper: *const Wrapper) -> Outcome<Vec<Vec<u8>>> {
    // SAFETY: the caller's promise.
    let wrapper = unsafe { host::get(wrapper) }?;
    if wrapper.magic != MAGIC {
        return Err(Status::INVALID_IMAGE.into());
    }
    if wrapper.version != LINKED || wrapper.linked.is_null() {
        // SAFETY: a wrapper names a container.
        return Ok(vec![unsafe { container(wrapper.data) }?]);
    }
    let mut parts = Vec::new();
    for at in 0..MOST_PARTS {
        // SAFETY: the list ends with a null pointer, before which no place is read twice.
        let part = unsafe { host::get(wrapper.linked.add(at)) }?;
        if part.is_null() {
            break;
        }
        // SAFETY: the list names containers.
        parts.push(unsafe { container(part) }?);
    }
    Ok(parts)
}

/// Handles are numbers from 1 on, so that none is null.
#[unsafe(no_mangle)]
unsafe extern "C" fn __cudaRegisterFatBinary(wrapper: *const Wrapper) -> Address {
    // SAFETY: the caller's promise. A damaged binary is one without containers: its kernels are
    // refused when they are launched.
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
    // SAFETY: the caller's promise.
    let name = unsafe { host::text(name) };
    if let (Some(binary), Ok(name)) = ((handle as usize).checked_sub(1), name) {
        context::register(|registry| registry.add_kernel(function, binary, name));
    }
}

/// # Safety
/// `name` is null or a C string.
unsafe fn symbol(handle: Address, name: *const c_char, is_normalised: bool) -> Option<Symbol> {
    // SAFETY: the caller's promise.
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
    // SAFETY: the caller's promise.
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
    // SAFETY: the caller's promise.
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
    // SAFETY: the caller's promise.
    if let Some(symbol) = unsafe { symbol(handle, name, normalised != 0) } {
        context::register(|registry| registry.add_symbol(variable, symbol));
    }
}

/// Programs call it before they use a managed variable.
#[unsafe(no_mangle)]
extern "C" fn __cudaInitModule(handle: Address) -> c_char {
    let status = context::run_and_note(|engine, registry| {
        let binary = (handle as usize).checked_sub(1).ok_or(Status::INVALID_HANDLE)?;
        for (pointer, address) in engine.managed(binary, registry)? {
            // SAFETY: the program registered it as the place of a pointer.
            unsafe { host::put(std::ptr::with_exposed_provenance_mut::<u64>(pointer), address) }?;
        }
        Ok(())
    });
    (status == Status::SUCCESS).into()
}
