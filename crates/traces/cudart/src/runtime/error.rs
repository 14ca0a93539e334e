//! Status codes and their texts.

use std::ffi::c_char;

use crate::context;
use crate::status::Status;

#[unsafe(no_mangle)]
extern "C" fn cudaGetLastError() -> Status {
    context::last_error(true)
}

#[unsafe(no_mangle)]
extern "C" fn cudaPeekAtLastError() -> Status {
    context::last_error(false)
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetErrorString(status: Status) -> *const c_char {
    status.description().as_ptr()
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetErrorName(status: Status) -> *const c_char {
    status.name().as_ptr()
}
