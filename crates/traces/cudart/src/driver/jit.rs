//! Options of the compilation of PTX: of them, the logs.

use std::ffi::{c_char, c_void};

use crate::host;
use crate::status::Outcome;

/// Numbers of `CUjit_option`.
const INFO_LOG: u32 = 3;
const INFO_LOG_BYTES: u32 = 4;
const ERROR_LOG: u32 = 5;
const ERROR_LOG_BYTES: u32 = 6;

/// A buffer of the caller's for a log, and where its length is given and the log's is written: the
/// option's value itself, which is as wide as a pointer.
#[derive(Clone, Copy, Default)]
struct Log {
    text: *mut c_char,
    length: *mut *mut c_void,
}

/// The log of these two options, if they are among the given ones.
///
/// # Safety
/// `options` and `values` name so many values.
unsafe fn log(
    count: u32,
    options: *const u32,
    values: *mut *mut c_void,
    [text, length]: [u32; 2],
) -> Outcome<Log> {
    let mut log = Log::default();
    for at in 0..count as usize {
        let value = values.wrapping_add(at);
        // SAFETY: as the caller promises.
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
    /// Writes a text with a zero byte, cut at the room that there is, and its length.
    ///
    /// # Safety
    /// The buffer is null or has the room that is given.
    unsafe fn write(self, text: &str) -> Outcome<()> {
        if self.text.is_null() || self.length.is_null() {
            return Ok(());
        }
        // SAFETY: not null, and the caller's, as above.
        let room = unsafe { host::get(self.length) }?.addr() as u32 as usize;
        let Some(most) = room.checked_sub(1) else { return Ok(()) };
        let written = text.len().min(most);
        // SAFETY: there is room for so many bytes and one more.
        unsafe {
            host::copy(self.text.cast(), text.as_ptr(), written)?;
            host::put(self.text.wrapping_add(written), 0)?;
            host::put(self.length, std::ptr::without_provenance_mut(written))
        }
    }
}

/// How a module was loaded; the caller's logs have why it was not.
///
/// # Safety
/// `options` and `values` name so many options and their values, as the manual says
/// (`cuModuleLoadDataEx`).
pub unsafe fn logged(
    count: u32,
    options: *const u32,
    values: *const *mut c_void,
    loaded: Outcome<()>,
) -> Outcome<()> {
    let why = loaded.as_ref().err().and_then(|failure| failure.why.as_deref());
    let values = values.cast_mut();
    // SAFETY: as the caller promises. The manual has the lengths written among the values.
    unsafe {
        log(count, options, values, [ERROR_LOG, ERROR_LOG_BYTES])?
            .write(why.unwrap_or_default())?;
        log(count, options, values, [INFO_LOG, INFO_LOG_BYTES])?.write("")?;
    }
    loaded
}
