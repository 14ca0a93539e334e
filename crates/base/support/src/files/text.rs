//! Text files of bounded length. A device, a pipe or a wrong file may have neither line ends nor an
//! end, so every read has a limit.

use super::input::Unmarked;
use std::fs::File;
use std::io::{self, BufRead, Read};
use std::path::Path;
use std::string::FromUtf8Error;

/// Largest file that is read as a whole, bytes. Hand-written machines, plans, suites, standards and
/// queries are much shorter.
const MAX_FILE: u64 = 16 << 20;

/// Reads a hand-written text file, without its byte order mark.
///
/// # Errors
/// If it cannot be read, is not UTF-8, or is longer than 16 MiB.
pub fn read(path: &Path) -> io::Result<String> {
    read_from(File::open(path)?)
}

/// Reads as [`read`] from an open reader.
///
/// # Errors
/// As [`read`].
pub fn read_from(input: impl Read) -> io::Result<String> {
    let mut text = String::new();
    if Unmarked::new(input).take(MAX_FILE + 1).read_to_string(&mut text)? as u64 <= MAX_FILE {
        return Ok(text);
    }
    Err(too_large(format!("it is longer than {MAX_FILE} bytes, which no such file is")))
}

/// Decodes bytes as text, without a byte order mark.
///
/// # Errors
/// If they are UTF-16 or UTF-32; the inner result fails if they are not text.
pub fn decode(bytes: &[u8]) -> io::Result<Result<String, FromUtf8Error>> {
    let mut text = Vec::with_capacity(bytes.len());
    Unmarked::new(bytes).read_to_end(&mut text)?;
    Ok(String::from_utf8(text))
}

/// Appends the next line, including its line end, to `line`; returns its length in bytes, 0 at the
/// end of the file.
///
/// # Errors
/// If it cannot be read or is longer than `most` bytes.
pub fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>, most: u64) -> io::Result<usize> {
    let bytes = input.take(most + 1).read_until(b'\n', line)?;
    if bytes as u64 <= most {
        return Ok(bytes);
    }
    Err(too_large(format!("a line is longer than {most} bytes; it is no text file of this kind")))
}

/// Returns line and column, from 1, of a byte offset.
pub fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

fn too_large(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endless_inputs_are_refused() {
        let error = read_from(io::repeat(b' ')).unwrap_err();
        assert!(error.to_string().contains("longer than 16777216 bytes"), "{error}");
        let mut zeros = io::BufReader::new(io::repeat(0));
        let error = read_line(&mut zeros, &mut Vec::new(), 100).unwrap_err();
        assert!(error.to_string().contains("longer than 100 bytes"), "{error}");
        let error = crate::files::input::read(Path::new("/dev/zero"), 100).unwrap_err();
        assert!(error.to_string().contains("longer than 100 bytes"), "{error}");
    }

    #[test]
    fn lines_up_to_the_limit_are_read_in_order() {
        let mut input = io::Cursor::new(b"abc\n\nde");
        let mut next = || {
            let mut line = Vec::new();
            read_line(&mut input, &mut line, 4).map(|_| line)
        };
        let lines = [next(), next(), next(), next()].map(Result::unwrap);
        assert_eq!(lines, [&b"abc\n"[..], b"\n", b"de", b""]);
        assert_eq!(read_from(&b"text"[..]).unwrap(), "text");
    }
}
