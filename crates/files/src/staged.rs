//! Files that have their name only when they are whole.

use crate::destination::destination;
use anyhow::Context;
use std::path::Path;
use std::{fs, io};
use tempfile::TempDir;

/// Fails if nothing can be written to `path`: better before the work than after.
pub fn check(path: &Path) -> anyhow::Result<()> {
    let checked = destination(path).and_then(|path| staging(&path).map(drop));
    checked.with_context(|| format!("failed to write {}", path.display()))
}

/// Has `fill` write a file, whose name ends as that of `path`, and gives it its name.
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

/// A folder beside `path`, gone when it is dropped.
fn staging(path: &Path) -> io::Result<TempDir> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    tempfile::Builder::new().prefix(".partial-").tempdir_in(folder)
}
