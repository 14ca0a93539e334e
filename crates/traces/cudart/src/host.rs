//! Memory of the program, through its pointers.

use std::ffi::{CStr, c_char};
use std::ptr;

use crate::status::{Failure, Outcome, Status};

/// Writes a result where a pointer says.
///
/// # Safety
/// The pointer is null or one that the caller of a C function may give for a `T` to be written.
pub unsafe fn put<T>(to: *mut T, value: T) -> Outcome<()> {
    if to.is_null() {
        return Err(Status::INVALID_VALUE.into());
    }
    // SAFETY: not null, and for a `T`, as the caller promises.
    unsafe { to.write_unaligned(value) };
    Ok(())
}

/// Reads what a pointer names.
///
/// # Safety
/// The pointer is null or names a `T` of the program, for which any bytes are a value.
pub unsafe fn get<T: Copy>(from: *const T) -> Outcome<T> {
    if from.is_null() {
        return Err(Status::INVALID_VALUE.into());
    }
    // SAFETY: not null, and names a `T`, as the caller promises.
    Ok(unsafe { from.read_unaligned() })
}

/// A copy of bytes of the program.
///
/// # Safety
/// The pointer is null or names so many bytes.
pub unsafe fn bytes(from: *const u8, length: usize) -> Outcome<Vec<u8>> {
    if length == 0 {
        return Ok(Vec::new());
    }
    if from.is_null() {
        return Err(Status::INVALID_VALUE.into());
    }
    // SAFETY: not null, and names so many bytes, as the caller promises.
    Ok(unsafe { std::slice::from_raw_parts(from, length) }.to_vec())
}

/// Copies bytes, which may overlap. Device memory is mapped, so that both sides are the program's.
///
/// # Safety
/// `from` can be read and `to` written so far, unless `length` is 0.
pub unsafe fn copy(to: *mut u8, from: *const u8, length: usize) -> Outcome<()> {
    if length == 0 {
        return Ok(());
    }
    if to.is_null() || from.is_null() {
        return Err(Status::INVALID_VALUE.into());
    }
    // SAFETY: as the caller promises.
    unsafe { ptr::copy(from, to, length) };
    Ok(())
}

/// The text that a C string is.
///
/// # Safety
/// The pointer is null or names a string that ends with a zero byte.
pub unsafe fn text(from: *const c_char) -> Outcome<String> {
    if from.is_null() {
        return Err(Status::INVALID_VALUE.into());
    }
    // SAFETY: not null, and ends with a zero byte, as the caller promises.
    let text = unsafe { CStr::from_ptr(from) };
    let text = text.to_str();
    Ok(text.map_err(|error| Failure::new(Status::INVALID_VALUE, error.to_string()))?.to_owned())
}
