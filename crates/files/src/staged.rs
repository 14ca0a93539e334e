//! Files that appear under their name only when they are complete.

use crate::destination::destination;
use anyhow::Context;
use std::path::Path;
use std::{fs, io};
use tempfile::TempDir;

/// Fails if `path` cannot be written, so that a long computation fails before it starts.
pub fn check(path: &Path) -> anyhow::Result<()> {
    let checked = destination(path).and_then(|path| staging(&path).map(drop));
    checked.with_context(|| format!("failed to write {}", path.display()))
}

/// Lets `fill` write a temporary file with the extension of `path`, then renames it to `path`.
pub fn write(path: &Path, fill: impl FnOnce(&Path) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let write = || {
        let path = &destination(path)?;
        let staging = staging(path)?;
        let partial =
            staging.path().join("partial").with_extension(path.extension().unwrap_or_default());
        fill(&partial)?;
        Ok(fs::rename(partial, path)?)
    };
    let written: anyhow::Result<()> = write();
    written.with_context(|| format!("failed to write {}", path.display()))
}

/// A temporary folder beside `path`, removed when it is dropped.
fn staging(path: &Path) -> io::Result<TempDir> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    tempfile::Builder::new().prefix(".partial-").tempdir_in(folder)
}
