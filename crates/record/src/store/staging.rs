//! A hidden directory for incomplete files, and the lock that lets only one process write a results
//! directory.

use super::files::at;
use crate::ResultsError;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Locked by the process that writes the directory.
const LOCK: &str = ".lock";
/// Prefix of the hidden directory. Other temporary files in a results directory have other names.
const PREFIX: &str = ".partial-results-";

/// A hidden directory in a results directory. The results directory is locked as long as this value
/// lives; what is left in the hidden directory is removed with it.
pub(super) struct Staging {
    // Dropped before the lock.
    folder: TempDir,
    _lock: Lock,
}

impl Staging {
    /// Locks the existing `dir` and removes what a killed process has left.
    ///
    /// # Errors
    /// If another process writes `dir`, or it cannot be read or written.
    pub fn open(dir: &Path) -> Result<Staging, ResultsError> {
        let lock = Lock::take(dir)?;
        clear(dir)?;
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(dir);
        Ok(Staging { folder: folder.map_err(at(dir, "write in directory"))?, _lock: lock })
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// A locked file, removed with the lock.
struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    fn take(dir: &Path) -> Result<Lock, ResultsError> {
        let path = dir.join(LOCK);
        let file = File::create(&path).map_err(at(&path, "create"))?;
        match is_locked_by_us(&file) {
            Ok(true) => Ok(Lock { path, _file: file }),
            Ok(false) => Err(ResultsError::InUse { dir: dir.to_owned() }),
            Err(error) => Err(at(&path, "lock")(error)),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A file that stays is not locked, and the next process can lock it.
        let _ = fs::remove_file(&self.path);
    }
}

fn is_locked_by_us(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => is_there(file),
        Err(TryLockError::WouldBlock) => Ok(false),
        // Some network file systems have no locks: there the user must not start two processes.
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Whether the file still has its name. Its last holder may have removed it since it was opened,
/// and others may have locked a new file of that name.
#[cfg(unix)]
fn is_there(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    Ok(file.metadata()?.nlink() > 0)
}

/// An open file keeps its name.
#[cfg(not(unix))]
fn is_there(_: &File) -> io::Result<bool> {
    Ok(true)
}

/// Removes the incomplete files of a killed process.
fn clear(dir: &Path) -> Result<(), ResultsError> {
    for entry in fs::read_dir(dir).map_err(at(dir, "read directory"))? {
        let entry = entry.map_err(at(dir, "read directory"))?;
        if entry.file_name().to_string_lossy().starts_with(PREFIX) {
            let path = entry.path();
            fs::remove_dir_all(&path).map_err(at(&path, "remove"))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::tempdir;

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_directory_is_locked_by_one_at_a_time_and_left_as_it_was() {
        let dir = tempdir().unwrap();
        let staging = Staging::open(dir.path()).unwrap();
        fs::write(staging.path().join("half"), "").unwrap();
        assert!(matches!(Staging::open(dir.path()), Err(ResultsError::InUse { .. })));
        assert!(staging.path().join("half").exists(), "the other has touched nothing");
        drop(staging);
        assert_eq!(names(dir.path()), [""; 0]);
        drop(Staging::open(dir.path()).unwrap());
    }

    #[test]
    fn what_a_killed_process_leaves_goes_and_nothing_else() {
        let dir = tempdir().unwrap();
        fs::write(dir.path().join(LOCK), "").unwrap();
        fs::create_dir_all(dir.path().join(".partial-results-x/unfinished")).unwrap();
        fs::create_dir(dir.path().join(".partial-report")).unwrap();
        fs::write(dir.path().join("notes.txt"), "").unwrap();
        drop(Staging::open(dir.path()).unwrap());
        assert_eq!(names(dir.path()), [".partial-report", "notes.txt"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_lock_whose_file_has_gone_is_none() {
        let dir = tempdir().unwrap();
        let path = dir.path().join(LOCK);
        let file = File::create(&path).unwrap();
        assert!(is_locked_by_us(&file).unwrap());
        fs::remove_file(&path).unwrap();
        assert!(!is_locked_by_us(&file).unwrap());
    }
}
