//! What fuzz targets have in common: files in memory, for parsers that take a path.

use std::cell::RefCell;
use std::fs::File;
use std::io::{Seek, Write};
use std::os::fd::AsRawFd;
use std::path::Path;

pub mod import;
pub mod tracez;

/// Where temporary files cost no disk access.
pub const MEMORY: &str = "/dev/shm";

thread_local! {
    /// One file serves all inputs; nothing has to be removed, as it has no name.
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
        // An opening by this path reads from the beginning.
        read(Path::new(&format!("/proc/self/fd/{}", file.as_raw_fd())))
    })
}
