//! Look-up of this library's functions by name.

use std::ffi::{CStr, c_void};

/// Returns the address of an exported function.
pub fn function(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the library is loaded, since this is its code, and the name ends with a zero byte.
    let address = unsafe { libc::dlsym(own_library()?, name.as_ptr()) };
    (!address.is_null()).then_some(address)
}

/// Returns the loader's handle of this library.
fn own_library() -> Option<*mut c_void> {
    let inside = function as *const c_void;
    // SAFETY: zeroed integers and null pointers are a valid value of the structure.
    let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: the address belongs to this library; the loader writes the structure.
    if unsafe { libc::dladdr(inside, &raw mut found) } == 0 {
        return None;
    }
    // SAFETY: the name comes from the loader, and the library is already loaded, so no initializer runs.
    let handle = unsafe { libc::dlopen(found.dli_fname, libc::RTLD_NOW | libc::RTLD_NOLOAD) };
    (!handle.is_null()).then_some(handle)
}
