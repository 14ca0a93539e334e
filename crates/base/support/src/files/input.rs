//! Opening of inputs: files, pipes and devices, and text with an optional byte order mark.

use std::fs::{self, File};
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempPath;

/// Opens a text file, a pipe or a device.
///
/// # Errors
/// If it cannot be opened. Reading fails if it is UTF-16 or UTF-32.
pub fn open(path: &Path) -> io::Result<BufReader<Unmarked<File>>> {
    Ok(BufReader::with_capacity(64 << 10, Unmarked::new(File::open(path)?)))
}

/// A text reader that skips the byte order mark of UTF-8 and refuses text with that of UTF-16 or UTF-32.
pub struct Unmarked<R> {
    /// First bytes after the mark; none before the first read.
    head: Option<Cursor<Vec<u8>>>,
    rest: R,
}

impl<R: Read> Unmarked<R> {
    pub fn new(text: R) -> Unmarked<R> {
        Unmarked { head: None, rest: text }
    }

    fn read_head(&mut self) -> io::Result<Cursor<Vec<u8>>> {
        let mut head = Vec::new();
        self.rest.by_ref().take(4).read_to_end(&mut head)?;
        match head[..] {
            [0xef, 0xbb, 0xbf, ..] => drop(head.drain(..3)),
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, 0, 0xfe, 0xff] => {
                let what = "it is UTF-16 or UTF-32; save it as UTF-8";
                return Err(io::Error::new(io::ErrorKind::InvalidData, what));
            }
            _ => {}
        }
        Ok(Cursor::new(head))
    }
}

impl<R: Read> Read for Unmarked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let head = match &mut self.head {
            Some(head) => head,
            None => {
                let head = self.read_head()?;
                self.head.insert(head)
            }
        };
        match head.read(buffer)? {
            0 => self.rest.read(buffer),
            bytes => Ok(bytes),
        }
    }
}

/// Reads a file of at most `most` bytes.
///
/// # Errors
/// If it cannot be read or is longer.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 <= most {
        return Ok(bytes);
    }
    let what = format!("it is longer than {most} bytes, which no such file is");
    Err(io::Error::new(io::ErrorKind::FileTooLarge, what))
}

/// Reads up to `most` bytes from a reader, over several reads if necessary, and returns them with the
/// reader of the rest.
///
/// # Errors
/// If it cannot be read.
pub fn peeked<R: Read>(mut reader: R, most: u64) -> io::Result<(Vec<u8>, R)> {
    let mut head = Vec::new();
    reader.by_ref().take(most).read_to_end(&mut head)?;
    Ok((head, reader))
}

/// A file that can be read repeatedly and at any offset: the given one, or a copy of the content of a
/// pipe.
#[derive(Clone, Debug)]
pub struct Rereadable {
    given: PathBuf,
    /// Copy of a pipe, removed with the last clone.
    copy: Option<Arc<TempPath>>,
}

impl Rereadable {
    /// Reads a pipe to its end into a temporary file; opens nothing else.
    ///
    /// # Errors
    /// If the pipe cannot be read or the copy written.
    pub fn of(path: &Path) -> io::Result<Rereadable> {
        let copy = is_pipe(path).then(|| copied(path)).transpose()?;
        Ok(Rereadable { given: path.to_owned(), copy: copy.map(Arc::new) })
    }

    /// Returns the path as given, for messages.
    pub fn given(&self) -> &Path {
        &self.given
    }

    /// Whether it was a pipe.
    pub fn is_copy(&self) -> bool {
        self.copy.is_some()
    }

    /// Returns the path to open.
    pub fn place(&self) -> &Path {
        self.copy.as_deref().map_or(&self.given, |copy| copy)
    }
}

fn copied(pipe: &Path) -> io::Result<TempPath> {
    let mut copy = tempfile::NamedTempFile::new()?;
    io::copy(&mut File::open(pipe)?, &mut copy)?;
    Ok(copy.into_temp_path())
}

/// Whether `path` is a pipe, a socket or, where these are not distinguished, another special file.
#[cfg(unix)]
pub fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    let kind = fs::metadata(path).map(|found| found.file_type());
    kind.is_ok_and(|kind| kind.is_fifo() || kind.is_socket())
}

#[cfg(not(unix))]
pub fn is_pipe(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(bytes: &[u8]) -> io::Result<String> {
        let mut text = String::new();
        Unmarked::new(bytes).read_to_string(&mut text).map(|_| text)
    }

    #[test]
    fn the_mark_of_utf_8_is_skipped_and_others_are_refused() {
        for (bytes, text) in [
            (&b""[..], ""),
            (b"a", "a"),
            (b"abcdef", "abcdef"),
            (b"\xef\xbb\xbf", ""),
            (b"\xef\xbb\xbfa", "a"),
            (b"\xef\xbb\xbfabc", "abc"),
        ] {
            assert_eq!(text_of(bytes).unwrap(), text);
        }
        for bytes in [&b"\xff\xfea\0"[..], b"\xfe\xff\0a", b"\xff\xfe\0\0", b"\0\0\xfe\xff"] {
            let error = text_of(bytes).unwrap_err().to_string();
            assert_eq!(error, "it is UTF-16 or UTF-32; save it as UTF-8");
        }
    }

    #[test]
    fn short_reads_do_not_split_the_mark() {
        let short = Cursor::new(b"\xef").chain(Cursor::new(b"\xbb")).chain(Cursor::new(b"\xbfab"));
        let mut text = String::new();
        Unmarked::new(short).read_to_string(&mut text).unwrap();
        assert_eq!(text, "ab");
    }

    #[test]
    fn files_longer_than_the_limit_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "12345").unwrap();
        assert_eq!(read(&path, 5).unwrap(), b"12345");
        assert!(read(&path, 4).unwrap_err().to_string().contains("longer than 4 bytes"));
    }

    #[cfg(unix)]
    #[test]
    fn files_are_read_in_place_and_pipes_from_a_copy() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "text").unwrap();
        assert_eq!(Rereadable::of(&file).unwrap().place(), file);
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        if !made.is_ok_and(|status| status.success()) {
            return;
        }
        let input = std::thread::scope(|scope| {
            scope.spawn(|| fs::write(&pipe, "text").unwrap());
            Rereadable::of(&pipe).unwrap()
        });
        assert_eq!(input.given(), pipe);
        for _ in 0..2 {
            assert_eq!(fs::read_to_string(input.place()).unwrap(), "text");
        }
        let copy = input.place().to_owned();
        drop(input);
        assert!(!copy.exists());
    }
}
