//! The path at which a file is to appear once it is complete.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// The file that `path` names, with links followed, so that a rename to it replaces the file and
/// keeps the link.
///
/// # Errors
/// If the path names something other than a regular file, such as a device or a pipe, which a
/// rename would replace.
pub fn destination(path: &Path) -> io::Result<PathBuf> {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(found) if !found.is_file() => {
            Err(io::Error::new(io::ErrorKind::InvalidInput, "it exists and is not a regular file"))
        }
        Ok(_) => fs::canonicalize(path),
        Err(_) => Ok(path.to_owned()),
    }
}

/// Whether a name is a plain file name, without a path to another folder.
pub fn is_file_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..")
        && !name.contains(['/', '\\'])
        && !name.contains(char::is_control)
}

/// Whether both paths lead to the same existing file.
pub fn is_same(a: &Path, b: &Path) -> bool {
    match (fs::canonicalize(a), fs::canonicalize(b)) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn names_of_files_lead_nowhere_else() {
        for name in ["a", "my plan", "..a", "a..b", "µ"] {
            assert!(is_file_name(name), "{name}");
        }
        for name in ["", ".", "..", "../a", "/a", "a/b", "a\\b", "a\u{1b}[2J", "a\0"] {
            assert!(!is_file_name(name), "{name}");
        }
    }

    #[test]
    fn a_link_leads_to_its_file_and_devices_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        symlink(&file, &link).unwrap();
        assert_eq!(destination(&file).unwrap(), file, "a file to come");
        fs::write(&file, "").unwrap();
        assert_eq!(destination(&link).unwrap(), fs::canonicalize(&file).unwrap());
        assert!(destination(Path::new("/dev/null")).is_err());
        assert!(destination(folder.path()).is_err());
        assert!(is_same(&file, &link) && !is_same(&file, folder.path()));
        assert!(!is_same(&folder.path().join("none"), &folder.path().join("none")));
    }
}
