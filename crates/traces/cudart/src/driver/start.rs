//! The driver itself: initialization, release, look-up of functions by name, and error texts.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;

use crate::context;
use crate::host;
use crate::loader;
use crate::status::{Outcome, Status};

/// CUDA release that this driver reports.
const RELEASE: c_int = 13_000;

#[unsafe(no_mangle)]
extern "C" fn cuInit(flags: u32) -> Status {
    match flags {
        0 => context::start(),
        _ => Status::INVALID_VALUE,
    }
}

/// Converts the outcome of a call that needs no device.
fn status(outcome: Outcome<()>) -> Status {
    outcome.map_or_else(|failure| failure.status, |()| Status::SUCCESS)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDriverGetVersion(to: *mut c_int) -> Status {
    // SAFETY: guaranteed by the caller.
    status(unsafe { host::put(to, RELEASE) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuGetErrorString(of: Status, to: *mut *const c_char) -> Status {
    // SAFETY: guaranteed by the caller.
    status(unsafe {
        host::put(to, of.driver_name().map_or(ptr::null(), |_| of.description().as_ptr()))
    })
    .of_known(of)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuGetErrorName(of: Status, to: *mut *const c_char) -> Status {
    // SAFETY: guaranteed by the caller.
    status(unsafe { host::put(to, of.driver_name().map_or(ptr::null(), CStr::as_ptr)) })
        .of_known(of)
}

impl Status {
    /// Replaces an unknown code by `INVALID_VALUE`, as the manual defines.
    fn of_known(self, code: Status) -> Status {
        if code.driver_name().is_none() { Status::INVALID_VALUE } else { self }
    }
}

/// Returns the exported names of a function for a release, newest form first.
fn names(name: &str, release: c_int) -> Vec<String> {
    match name {
        // Forms with different parameters.
        "cuCtxCreate" if release >= 12_050 => vec!["cuCtxCreate_v4".into()],
        "cuCtxCreate" if release >= 11_040 => vec!["cuCtxCreate_v3".into()],
        "cuGetProcAddress" if release < 12_000 => vec!["cuGetProcAddress".into()],
        _ => vec![format!("{name}_v2"), name.into()],
    }
}

/// Looks up a function.
///
/// # Safety
/// `name` is null or a C string.
unsafe fn function(name: *const c_char, release: c_int) -> Outcome<*mut c_void> {
    // SAFETY: guaranteed by the caller.
    let name = unsafe { host::text(name) }?;
    let found = names(&name, release)
        .into_iter()
        .find_map(|name| loader::function(&CString::new(name).ok()?));
    found.ok_or(Status::NOT_FOUND.into())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuGetProcAddress(
    name: *const c_char,
    to: *mut *mut c_void,
    release: c_int,
    _flags: u64,
) -> Status {
    // SAFETY: guaranteed by the caller.
    status(unsafe { function(name, release).and_then(|address| host::put(to, address)) })
}

/// Looks up a function and reports why it is missing (CUDA 12 and later).
#[unsafe(no_mangle)]
unsafe extern "C" fn cuGetProcAddress_v2(
    name: *const c_char,
    to: *mut *mut c_void,
    release: c_int,
    _flags: u64,
    why: *mut u32,
) -> Status {
    const FOUND: u32 = 0;
    const NOT_FOUND: u32 = 1;
    // SAFETY: guaranteed by the caller.
    let found = unsafe { function(name, release) };
    // The manual: a missing function is not an error if the caller asks for the reason.
    if !why.is_null() {
        let reason = if found.is_ok() { FOUND } else { NOT_FOUND };
        // SAFETY: not null, and guaranteed by the caller.
        unsafe { why.write(reason) };
        // SAFETY: guaranteed by the caller.
        return status(unsafe { host::put(to, found.unwrap_or(ptr::null_mut())) });
    }
    // SAFETY: guaranteed by the caller.
    status(found.and_then(|address| unsafe { host::put(to, address) }))
}

/// Looks up a driver function on behalf of a runtime program.
#[unsafe(no_mangle)]
unsafe extern "C" fn cudaGetDriverEntryPoint(
    name: *const c_char,
    to: *mut *mut c_void,
    flags: u64,
    why: *mut u32,
) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe { cuGetProcAddress_v2(name, to, RELEASE, flags, why) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaGetDriverEntryPointByVersion(
    name: *const c_char,
    to: *mut *mut c_void,
    release: u32,
    flags: u64,
    why: *mut u32,
) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe { cuGetProcAddress_v2(name, to, release as c_int, flags, why) }
}

/// Refuses undocumented function tables, some of which an embedded CUDA runtime needs.
///
/// # Safety
/// `id` is null or points to the 16 bytes that identify a table.
#[unsafe(no_mangle)]
unsafe extern "C" fn cuGetExportTable(_to: *mut *const c_void, id: *const [u8; 16]) -> Status {
    // SAFETY: guaranteed by the caller.
    if unsafe { host::get(id) }.is_ok_and(|id| id == RUNTIME_TABLE) {
        context::warn(
            "a call reached a statically linked CUDA runtime, which needs a table of the driver that \
             is not documented: it fails",
        );
    }
    Status::NOT_FOUND
}

/// Table that the runtime of CUDA 11 to 13 requests, and without which it does not start.
const RUNTIME_TABLE: [u8; 16] =
    *b"\x6b\xd5\xfb\x6c\x5b\xf4\xe7\x4a\x89\x87\xd9\x39\x12\xfd\x9d\xf9";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_form_of_a_function_is_preferred() {
        assert_eq!(names("cuMemAlloc", 12_000), ["cuMemAlloc_v2", "cuMemAlloc"]);
        assert_eq!(names("cuCtxCreate", 13_000), ["cuCtxCreate_v4"]);
        assert_eq!(names("cuCtxCreate", 11_040), ["cuCtxCreate_v3"]);
        assert_eq!(names("cuCtxCreate", 4_000), ["cuCtxCreate_v2", "cuCtxCreate"]);
    }
}
