//! Helpers of the fuzz targets: files in memory, for parsers that take a path.

use std::cell::RefCell;
use std::fs::File;
use std::io::{Seek, Write};
use std::os::fd::AsRawFd;
use std::path::Path;

pub mod import;
pub mod tracez;

/// Folder of temporary files that cause no disk access.
pub const MEMORY: &str = "/dev/shm";

thread_local! {
    /// The file of all inputs. It has no name, so nothing needs to be removed.
    static FILE: RefCell<File> =
        RefCell::new(tempfile::tempfile_in(MEMORY).expect("there is memory"));
}

/// Calls `read` with the path of a file that holds `bytes`.
pub fn with_file<T>(bytes: &[u8], read: impl FnOnce(&Path) -> T) -> T {
    FILE.with_borrow_mut(|file| {
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(bytes))
            .expect("there is memory");
        // Opening this path starts reading at the beginning of the file.
        read(Path::new(&format!("/proc/self/fd/{}", file.as_raw_fd())))
    })
}
