//! Destinations of paths: the file that an output replaces, or the device that it is written to.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Maximum number of links to follow, as in Linux.
const MAX_LINKS: u32 = 40;

/// The destination of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// A regular file, existing or not, with links resolved, so that a rename keeps them.
    File(PathBuf),
    /// A pipe, a terminal or another device, which receives bytes and cannot be replaced.
    Stream(PathBuf),
}

impl Destination {
    /// Resolves the destination of `path`.
    ///
    /// # Errors
    /// If it is a folder, a disk, or another file that cannot be written sequentially.
    pub fn of(path: &Path) -> io::Result<Destination> {
        match fs::metadata(path) {
            _ if is_descriptor(path) => Ok(Destination::Stream(path.to_owned())),
            Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            Ok(found) if is_stream(&found) => Ok(Destination::Stream(path.to_owned())),
            Ok(found) if !found.is_file() => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "it exists and is no regular file, pipe or character device",
            )),
            _ => Ok(Destination::File(resolved(path))),
        }
    }
}

/// Whether a path is an open file of this process, such as `/dev/stdout`.
fn is_descriptor(path: &Path) -> bool {
    let named = ["/dev/stdout", "/dev/stderr"].map(Path::new);
    named.contains(&path) || path.starts_with("/dev/fd") || path.starts_with("/proc/self/fd")
}

#[cfg(unix)]
fn is_stream(found: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    let kind = found.file_type();
    kind.is_fifo() || kind.is_char_device() || kind.is_socket()
}

#[cfg(not(unix))]
fn is_stream(_: &Metadata) -> bool {
    false
}

/// Resolves links and dots in a path; for a missing file, in its folder.
pub(crate) fn resolved(path: &Path) -> PathBuf {
    resolve(path, MAX_LINKS)
}

fn resolve(path: &Path, links: u32) -> PathBuf {
    if let Ok(whole) = fs::canonicalize(path) {
        return whole;
    }
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return path.to_owned();
    };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    match fs::read_link(path) {
        Ok(target) if links > 0 => resolve(&folder.join(target), links - 1),
        _ => resolve(folder, links).join(name),
    }
}

/// Whether a name is a plain file name, without a path to another folder.
pub fn is_file_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..")
        && !name.contains(['/', '\\'])
        && !name.contains(char::is_control)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn file_names_have_no_path() {
        for name in ["a", "my plan", "..a", "a..b", "µ"] {
            assert!(is_file_name(name), "{name}");
        }
        for name in ["", ".", "..", "../a", "/a", "a/b", "a\\b", "a\u{1b}[2J", "a\0"] {
            assert!(!is_file_name(name), "{name}");
        }
    }

    #[test]
    fn links_resolve_even_to_missing_files() {
        let folder = tempfile::tempdir().unwrap();
        let whole = fs::canonicalize(folder.path()).unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        symlink("file", &link).unwrap();
        let expected = Destination::File(whole.join("file"));
        assert_eq!(Destination::of(&file).unwrap(), expected);
        assert_eq!(Destination::of(&link).unwrap(), expected);
        fs::write(&file, "").unwrap();
        assert_eq!(Destination::of(&link).unwrap(), expected);
        assert!(Destination::of(folder.path()).is_err());
    }

    #[test]
    fn cyclic_links_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let [one, two] = ["one", "two"].map(|name| folder.path().join(name));
        symlink(&one, &two).unwrap();
        symlink(&two, &one).unwrap();
        assert!(resolved(&one).starts_with(fs::canonicalize(folder.path()).unwrap()));
    }

    #[test]
    fn devices_and_open_files_are_streams() {
        for path in ["/dev/null", "/dev/stdout", "/dev/fd/1"].map(Path::new) {
            assert_eq!(Destination::of(path).unwrap(), Destination::Stream(path.to_owned()));
        }
    }
}
