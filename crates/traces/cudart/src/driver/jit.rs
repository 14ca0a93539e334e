//! Options of PTX compilation, of which only the logs have an effect.

use std::ffi::{c_char, c_void};

use crate::host;
use crate::status::Outcome;

/// Numbers of `CUjit_option`.
const INFO_LOG: u32 = 3;
const INFO_LOG_BYTES: u32 = 4;
const ERROR_LOG: u32 = 5;
const ERROR_LOG_BYTES: u32 = 6;

/// The caller's log buffer. The option's value, which is as wide as a pointer, holds the buffer's size and
/// receives the log's.
#[derive(Clone, Copy, Default)]
struct Log {
    text: *mut c_char,
    length: *mut *mut c_void,
}

/// Returns the log described by these two options, if both are given.
///
/// # Safety
/// `options` and `values` have `count` elements.
unsafe fn log(
    count: u32,
    options: *const u32,
    values: *mut *mut c_void,
    [text, length]: [u32; 2],
) -> Outcome<Log> {
    let mut log = Log::default();
    for at in 0..count as usize {
        let value = values.wrapping_add(at);
        // SAFETY: guaranteed by the caller.
        let (option, given) = unsafe { (host::get(options.wrapping_add(at))?, host::get(value)?) };
        match option {
            _ if option == text => log.text = given.cast(),
            _ if option == length => log.length = value,
            _ => {}
        }
    }
    Ok(log)
}

impl Log {
    /// Writes text and a zero byte, truncated to the buffer, and the length.
    ///
    /// # Safety
    /// The buffer is null or has the stated size.
    unsafe fn write(self, text: &str) -> Outcome<()> {
        if self.text.is_null() || self.length.is_null() {
            return Ok(());
        }
        // SAFETY: not null, and guaranteed by the caller.
        let room = unsafe { host::get(self.length) }?.addr() as u32 as usize;
        let Some(most) = room.checked_sub(1) else { return Ok(()) };
        let written = text.len().min(most);
        // SAFETY: the buffer has room for the text and the zero byte.
        unsafe {
            host::copy(self.text.cast(), text.as_ptr(), written)?;
            host::put(self.text.wrapping_add(written), 0)?;
            host::put(self.length, std::ptr::without_provenance_mut(written))
        }
    }
}

/// Passes on the outcome of loading a module; a failure is written to the caller's log.
///
/// # Safety
/// `options` and `values` have `count` elements, as the manual requires (`cuModuleLoadDataEx`).
pub unsafe fn logged(
    count: u32,
    options: *const u32,
    values: *const *mut c_void,
    loaded: Outcome<()>,
) -> Outcome<()> {
    let why = loaded.as_ref().err().and_then(|failure| failure.why.as_deref());
    let values = values.cast_mut();
    // SAFETY: guaranteed by the caller. The manual has the lengths written into the values.
    unsafe {
        log(count, options, values, [ERROR_LOG, ERROR_LOG_BYTES])?
            .write(why.unwrap_or_default())?;
        log(count, options, values, [INFO_LOG, INFO_LOG_BYTES])?.write("")?;
    }
    loaded
}
