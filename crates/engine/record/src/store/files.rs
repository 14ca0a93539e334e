//! File operations whose errors name the path.

use crate::ResultsError;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

pub(super) fn at(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> ResultsError {
    let path = path.to_owned();
    move |source| ResultsError::Io { path, action, source }
}

pub(super) fn write_file(path: &Path, text: &str) -> Result<(), ResultsError> {
    let write = || {
        let mut file = File::create(path)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    };
    write().map_err(at(path, "write"))
}

pub(super) fn names(folder: &Path) -> Result<Vec<OsString>, ResultsError> {
    let entries = fs::read_dir(folder).and_then(|entries| {
        entries.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<OsString>>>()
    });
    entries.map_err(at(folder, "read directory"))
}

pub(super) fn remove_file(path: &Path) -> Result<(), ResultsError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at(path, "remove")(error)),
        _ => Ok(()),
    }
}
