//! Access to the program's memory through its pointers.

use std::ffi::{CStr, c_char};
use std::ptr;

use crate::status::{Failure, Outcome, Status};

/// Writes a result through a pointer.
///
/// # Safety
/// The pointer is null, or the C caller guarantees that it is valid for writes of a `T`.
pub unsafe fn put<T>(to: *mut T, value: T) -> Outcome<()> {
    if to.is_null() {
        return Err(Status::INVALID_VALUE.into());
    }
    // SAFETY: not null, and the caller guarantees that it points to a `T`.
    unsafe { to.write_unaligned(value) };
    Ok(())
}

/// Reads the value that a pointer points to.
///
/// # Safety
/// The pointer is null or points to a `T`, for which every bit pattern is valid.
pub unsafe fn get<T: Copy>(from: *const T) -> Outcome<T> {
    if from.is_null() {
        return Err(Status::INVALID_VALUE.into());
    }
    // SAFETY: not null, and the caller guarantees that it points to a `T`.
    Ok(unsafe { from.read_unaligned() })
}

/// Copies bytes out of the program's memory.
///
/// # Safety
/// The pointer is null or points to `length` bytes.
pub unsafe fn bytes(from: *const u8, length: usize) -> Outcome<Vec<u8>> {
    if length == 0 {
        return Ok(Vec::new());
    }
    if from.is_null() {
        return Err(Status::INVALID_VALUE.into());
    }
    // SAFETY: not null, and the caller guarantees `length` bytes.
    Ok(unsafe { std::slice::from_raw_parts(from, length) }.to_vec())
}

/// Copies bytes; the ranges may overlap. Device memory is mapped, so both sides are in the program's address
/// space.
///
/// # Safety
/// Unless `length` is 0, `from` is readable and `to` writable for `length` bytes.
pub unsafe fn copy(to: *mut u8, from: *const u8, length: usize) -> Outcome<()> {
    if length == 0 {
        return Ok(());
    }
    if to.is_null() || from.is_null() {
        return Err(Status::INVALID_VALUE.into());
    }
    // SAFETY: guaranteed by the caller.
    unsafe { ptr::copy(from, to, length) };
    Ok(())
}

/// Reads a C string.
///
/// # Safety
/// The pointer is null or points to a string that ends with a zero byte.
pub unsafe fn text(from: *const c_char) -> Outcome<String> {
    if from.is_null() {
        return Err(Status::INVALID_VALUE.into());
    }
    // SAFETY: not null, and the caller guarantees the zero byte.
    let text = unsafe { CStr::from_ptr(from) };
    let text = text.to_str();
    Ok(text.map_err(|error| Failure::new(Status::INVALID_VALUE, error.to_string()))?.to_owned())
}
