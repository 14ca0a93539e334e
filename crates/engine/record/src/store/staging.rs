//! A hidden directory for incomplete files, and the lock that lets only one process write a results
//! directory.

use super::files::at;
use crate::ResultsError;
use std::fs::{self, File, Metadata, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Locked by the process that writes the directory.
pub(super) const LOCK: &str = ".lock";
/// Prefix of the hidden directory. Other temporary files in a results directory have other names.
pub(super) const PREFIX: &str = ".partial-results-";

/// A hidden directory in a results directory, which is locked while this value exists. Dropping it
/// removes the hidden directory.
pub(super) struct Staging {
    // Dropped before the lock.
    folder: TempDir,
    lock: Lock,
    dir: PathBuf,
}

impl Staging {
    /// Locks the existing `dir` and removes the remains of a killed process.
    ///
    /// # Errors
    /// If another process writes `dir`, or it cannot be read or written.
    pub fn open(dir: &Path) -> Result<Staging, ResultsError> {
        let lock = Lock::take(dir)?;
        clear(dir)?;
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(dir);
        let folder = folder.map_err(at(dir, "write in directory"))?;
        Ok(Staging { folder, lock, dir: dir.to_owned() })
    }

    /// Fails if the results directory has been replaced since it was locked.
    ///
    /// # Errors
    /// [`ResultsError::Gone`].
    pub fn check(&self) -> Result<(), ResultsError> {
        match has_its_name(&self.lock.file, &self.lock.path) {
            true => Ok(()),
            false => Err(ResultsError::Gone { dir: self.dir.clone() }),
        }
    }

    /// Returns the reason of a write failure: the directory is gone, or else `error`.
    pub fn reason(&self, error: ResultsError) -> ResultsError {
        self.check().err().unwrap_or(error)
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// A locked file, removed with the lock.
struct Lock {
    path: PathBuf,
    file: File,
}

impl Lock {
    fn take(dir: &Path) -> Result<Lock, ResultsError> {
        let path = dir.join(LOCK);
        let file = File::create(&path).map_err(at(&path, "create"))?;
        match is_locked_by_us(&file, &path) {
            Ok(true) => Ok(Lock { path, file }),
            Ok(false) => Err(ResultsError::InUse { dir: dir.to_owned() }),
            Err(error) => Err(at(&path, "lock")(error)),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A remaining file is unlocked, and the next process can lock it. In a replaced directory the
        // file belongs to another process.
        if has_its_name(&self.file, &self.path) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn is_locked_by_us(file: &File, path: &Path) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(has_its_name(file, path)),
        Err(TryLockError::WouldBlock) => Ok(false),
        // Some network file systems have no locks; there the user must not start two processes.
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Whether `path` still names the open file. Another process may have removed the file since it was
/// opened and created a new one of that name.
fn has_its_name(file: &File, path: &Path) -> bool {
    let [open, named] = [file.metadata(), fs::metadata(path)].map(|found| found.ok());
    open.zip(named).is_some_and(|(open, named)| is_same(&open, &named))
}

#[cfg(unix)]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Without inodes: an open file keeps its name.
#[cfg(not(unix))]
fn is_same(_: &Metadata, _: &Metadata) -> bool {
    true
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
    fn one_writer_locks_a_directory_and_leaves_it_unchanged() {
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
    fn only_the_remains_of_a_killed_process_are_removed() {
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
    fn a_lock_without_its_file_is_invalid() {
        let dir = tempdir().unwrap();
        let path = dir.path().join(LOCK);
        let file = File::create(&path).unwrap();
        assert!(is_locked_by_us(&file, &path).unwrap());
        fs::remove_file(&path).unwrap();
        assert!(!is_locked_by_us(&file, &path).unwrap());
        File::create(&path).unwrap();
        assert!(!is_locked_by_us(&file, &path).unwrap(), "another file of that name");
    }

    #[cfg(unix)]
    #[test]
    fn a_replaced_directory_is_detected() {
        let parent = tempdir().unwrap();
        let [dir, away] = ["dir", "away"].map(|name| parent.path().join(name));
        fs::create_dir(&dir).unwrap();
        let staging = Staging::open(&dir).unwrap();
        assert!(staging.check().is_ok());
        fs::rename(&dir, &away).unwrap();
        assert!(matches!(staging.check(), Err(ResultsError::Gone { .. })));
        fs::create_dir(&dir).unwrap();
        let other = Staging::open(&dir).unwrap();
        assert!(staging.check().is_err() && other.check().is_ok());
        drop(staging);
        assert!(other.check().is_ok(), "its lock is left alone");
    }
}
