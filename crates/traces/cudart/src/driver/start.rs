//! The driver itself: its start, its release, its functions by name, and its errors.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;

use crate::context;
use crate::host;
use crate::loader;
use crate::status::{Outcome, Status};

/// The release of CUDA whose driver this stands for.
const RELEASE: c_int = 13_000;

#[unsafe(no_mangle)]
extern "C" fn cuInit(flags: u32) -> Status {
    match flags {
        0 => context::start(),
        _ => Status::INVALID_VALUE,
    }
}

/// What a call without the device comes to.
fn status(outcome: Outcome<()>) -> Status {
    outcome.map_or_else(|failure| failure.status, |()| Status::SUCCESS)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDriverGetVersion(to: *mut c_int) -> Status {
    // SAFETY: the caller's promise.
    status(unsafe { host::put(to, RELEASE) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuGetErrorString(of: Status, to: *mut *const c_char) -> Status {
    // SAFETY: the caller's promise.
    status(unsafe {
        host::put(to, of.driver_name().map_or(ptr::null(), |_| of.description().as_ptr()))
    })
    .of_known(of)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuGetErrorName(of: Status, to: *mut *const c_char) -> Status {
    // SAFETY: the caller's promise.
    status(unsafe { host::put(to, of.driver_name().map_or(ptr::null(), CStr::as_ptr)) })
        .of_known(of)
}

impl Status {
    /// The manual: a code that is not known is an invalid value.
    fn of_known(self, code: Status) -> Status {
        if code.driver_name().is_none() { Status::INVALID_VALUE } else { self }
    }
}

/// The names under which a function of a release is exported, the newest form first.
fn names(name: &str, release: c_int) -> Vec<String> {
    match name {
        // Forms that differ in what they take.
        "cuCtxCreate" if release >= 12_050 => vec!["cuCtxCreate_v4".into()],
        "cuCtxCreate" if release >= 11_040 => vec!["cuCtxCreate_v3".into()],
        "cuGetProcAddress" if release < 12_000 => vec!["cuGetProcAddress".into()],
        _ => vec![format!("{name}_v2"), name.into()],
    }
}

/// # Safety
/// `name` is null or a C string.
unsafe fn function(name: *const c_char, release: c_int) -> Outcome<*mut c_void> {
    // SAFETY: as the caller promises.
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
    // SAFETY: the caller's promise.
    status(unsafe { function(name, release).and_then(|address| host::put(to, address)) })
}

/// CUDA 12 and later: says too why there is none.
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
    // SAFETY: the caller's promise.
    let found = unsafe { function(name, release) };
    // The manual: a missing function is no error where the reason is asked for.
    if !why.is_null() {
        let reason = if found.is_ok() { FOUND } else { NOT_FOUND };
        // SAFETY: not null, the caller's promise.
        unsafe { why.write(reason) };
        // SAFETY: the caller's promise.
        return status(unsafe { host::put(to, found.unwrap_or(ptr::null_mut())) });
    }
    // SAFETY: the caller's promise.
    status(found.and_then(|address| unsafe { host::put(to, address) }))
}

/// The runtime's way to functions of the driver.
#[unsafe(no_mangle)]
unsafe extern "C" fn cudaGetDriverEntryPoint(
    name: *const c_char,
    to: *mut *mut c_void,
    flags: u64,
    why: *mut u32,
) -> Status {
    // SAFETY: the caller's promise.
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
    // SAFETY: the caller's promise.
    unsafe { cuGetProcAddress_v2(name, to, release as c_int, flags, why) }
}

/// Tables of functions that no manual has. A CUDA runtime that a library carries needs some.
///
/// # Safety
/// `id` is null or names the 16 bytes by which a table is known.
#[unsafe(no_mangle)]
unsafe extern "C" fn cuGetExportTable(_to: *mut *const c_void, id: *const [u8; 16]) -> Status {
    // SAFETY: the caller's promise.
    if unsafe { host::get(id) }.is_ok_and(|id| id == RUNTIME_TABLE) {
        context::warn(
            "a call reached a statically linked CUDA runtime, which needs a table of the driver that \
             is not documented: it fails",
        );
    }
    Status::NOT_FOUND
}

/// The table without which the runtime of CUDA 11 to 13 does not start, as it is seen to ask for.
const RUNTIME_TABLE: [u8; 16] =
    *b"\x6b\xd5\xfb\x6c\x5b\xf4\xe7\x4a\x89\x87\xd9\x39\x12\xfd\x9d\xf9";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_form_of_a_function_comes_first() {
        assert_eq!(names("cuMemAlloc", 12_000), ["cuMemAlloc_v2", "cuMemAlloc"]);
        assert_eq!(names("cuCtxCreate", 13_000), ["cuCtxCreate_v4"]);
        assert_eq!(names("cuCtxCreate", 11_040), ["cuCtxCreate_v3"]);
        assert_eq!(names("cuCtxCreate", 4_000), ["cuCtxCreate_v2", "cuCtxCreate"]);
    }
}
