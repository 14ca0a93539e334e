//! Files that appear under their name only when complete.

use super::destination::Destination;
use anyhow::Context;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::{env, fs, io};
use tempfile::TempDir;

/// An incomplete output. Dropped before [`Staged::finish`], it leaves nothing.
pub struct Staged {
    destination: Destination,
    /// Folder of the incomplete file, removed on drop.
    _folder: TempDir,
    partial: PathBuf,
}

impl Staged {
    /// Prepares an output to `path`.
    ///
    /// # Errors
    /// If no file can be written there.
    pub fn create(path: &Path) -> io::Result<Staged> {
        let destination = Destination::of(path)?;
        let folder = match &destination {
            Destination::File(place) => place.parent().unwrap_or(Path::new("/")).to_owned(),
            Destination::Stream(_) => env::temp_dir(),
        };
        let folder = tempfile::Builder::new().prefix(".partial-").tempdir_in(folder)?;
        let partial =
            folder.path().join("partial").with_extension(path.extension().unwrap_or_default());
        Ok(Staged { destination, _folder: folder, partial })
    }

    /// Returns the path of the incomplete file, which has the extension of the final one.
    pub fn partial(&self) -> &Path {
        &self.partial
    }

    /// Renames the complete file to its final name, or copies it to the pipe or device. A closed pipe is
    /// not an error.
    ///
    /// # Errors
    /// If it cannot be renamed or copied.
    pub fn finish(self) -> io::Result<()> {
        match &self.destination {
            Destination::File(place) => fs::rename(&self.partial, place),
            Destination::Stream(stream) => match copy(&self.partial, stream) {
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                copied => copied,
            },
        }
    }
}

fn copy(file: &Path, stream: &Path) -> io::Result<()> {
    let mut file = File::open(file)?;
    // Reopening a redirected standard output would overwrite its start.
    if stream == Path::new("/dev/stdout") {
        io::copy(&mut file, &mut io::stdout().lock())?;
    } else {
        io::copy(&mut file, &mut File::options().append(true).open(stream)?)?;
    }
    Ok(())
}

/// Fails if `path` cannot be written, so that a long computation fails before it starts.
pub fn check(path: &Path) -> anyhow::Result<()> {
    let checked = Staged::create(path).map(drop);
    checked.with_context(|| format!("failed to write {}", path.display()))
}

/// Calls `fill` to write a temporary file with the extension of `path`, then renames it to `path`.
pub fn write(path: &Path, fill: impl FnOnce(&Path) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let write = || {
        let staged = Staged::create(path)?;
        fill(staged.partial())?;
        Ok(staged.finish()?)
    };
    let written: anyhow::Result<()> = write();
    written.with_context(|| format!("failed to write {}", path.display()))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_complete_file_is_renamed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let staged = Staged::create(&path).unwrap();
        assert_eq!(staged.partial().extension().unwrap(), "csv");
        fs::write(staged.partial(), "half").unwrap();
        assert!(!path.exists());
        drop(staged);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        write(&path, |partial| Ok(fs::write(partial, "whole")?)).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn devices_receive_the_complete_file() {
        write(Path::new("/dev/null"), |partial| Ok(fs::write(partial, "x")?)).unwrap();
        let full = write(Path::new("/dev/full"), |partial| Ok(fs::write(partial, "x")?));
        assert_eq!(full.unwrap_err().to_string(), "failed to write /dev/full");
    }
}
