//! Checksums of whole tables, stored in the table itself.
//!
//! Parquet has checksums only of pages, which exclude footers and page headers and which few
//! readers verify. Tables of this project carry a checksum of the whole file. Parquet finds
//! everything by offsets from its footer, so other readers skip the bytes between the first magic
//! number and the first page:
//!
//! ```text
//! 0   "PAR1"
//! 4   "warpmem crc32 "
//! 18  CRC-32 (IEEE 802.3) of the whole file with zeros for these digits: 8 hexadecimal digits,
//! lower case
//! 26  pages, footer, "PAR1"
//! ```
//!
//! A file is verified without any other file, so it can be moved, copied or merged. Files without
//! the mark come from other programs or older versions. A file with a damaged mark is not mistaken
//! for one of them: its footer also holds a [`WITNESS`].

use crc32fast::Hasher;
use std::io::{self, Read, Seek, SeekFrom, Write};

/// The mark after the magic number of a file with a checksum.
const MARK: &[u8] = b"warpmem crc32 ";
const MARK_AT: usize = 4;
const DIGITS_AT: usize = MARK_AT + MARK.len();
const DIGITS: usize = 8;
const HEAD: usize = DIGITS_AT + DIGITS;

/// Key in the metadata of the footer: the file was written with a checksum. It must be near the end of the file.
pub const WITNESS: &str = "warpmem.checksum";
/// Value of the witness, for readers.
pub const WITNESS_VALUE: &str = "CRC-32 of the file with zeros at bytes 18 to 25, which hold it";
/// Bytes at the end of a file that are searched for the witness.
const TAIL: u64 = 64 << 10;

/// Bytes per read.
const BUFFER: usize = 256 << 10;

/// Returns the bytes to write directly after the magic number.
pub fn placeholder() -> [u8; HEAD - MARK_AT] {
    let mut placeholder = [b'0'; HEAD - MARK_AT];
    placeholder[..MARK.len()].copy_from_slice(MARK);
    placeholder
}

/// A file being written from its start, with a [`placeholder`].
pub struct Writer<W> {
    file: W,
    hasher: Hasher,
}

impl<W: Write + Seek> Writer<W> {
    pub fn new(file: W) -> Writer<W> {
        Writer { file, hasher: Hasher::new() }
    }

    /// Replaces the placeholder by the checksum of everything written.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.file.seek(SeekFrom::Start(DIGITS_AT as u64))?;
        self.file.write_all(digits(self.hasher.finalize()).as_bytes())?;
        self.file.flush()?;
        Ok(self.file)
    }
}

impl<W: Write> Write for Writer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// The state of a file without known damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksum {
    /// Its checksum matches its content.
    Right,
    /// It has no checksum, so damage cannot be detected.
    Absent,
}

/// Why a file is not reliable.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    #[error("failed to read it")]
    Io(#[from] io::Error),
    #[error("its checksum is `{}`, that of its content {found}", expected.escape_debug())]
    Damaged { expected: String, found: String },
    #[error("it had a checksum, which is gone")]
    MarkDamaged,
}

/// Reads a whole file and verifies its checksum.
///
/// # Errors
/// If it cannot be read or is damaged.
pub fn check(file: &mut (impl Read + Seek)) -> Result<Checksum, CheckError> {
    file.rewind()?;
    let mut head = Vec::with_capacity(HEAD);
    file.by_ref().take(HEAD as u64).read_to_end(&mut head)?;
    match head.split_at_checked(DIGITS_AT) {
        Some((before, expected)) if before.ends_with(MARK) => {
            let expected = String::from_utf8_lossy(expected).into_owned();
            let found = digits(with_zeros(before, file)?);
            if found == expected {
                return Ok(Checksum::Right);
            }
            Err(CheckError::Damaged { expected, found })
        }
        _ if has_witness(file)? => Err(CheckError::MarkDamaged),
        _ => Ok(Checksum::Absent),
    }
}

/// Returns the checksum of a file of `before`, zeros for the digits, and `rest`.
fn with_zeros(before: &[u8], rest: &mut impl Read) -> io::Result<u32> {
    let mut hasher = Hasher::new();
    hasher.update(before);
    hasher.update(&[b'0'; DIGITS]);
    let mut buffer = vec![0; BUFFER];
    loop {
        match rest.read(&mut buffer) {
            Ok(0) => return Ok(hasher.finalize()),
            Ok(bytes) => hasher.update(&buffer[..bytes]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn has_witness(file: &mut (impl Read + Seek)) -> io::Result<bool> {
    let bytes = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(bytes.saturating_sub(TAIL)))?;
    let mut tail = Vec::new();
    file.take(TAIL).read_to_end(&mut tail)?;
    Ok(tail.windows(WITNESS.len()).any(|window| window == WITNESS.as_bytes()))
}

/// Prefix of the last line of a text, which holds the checksum of the lines before it.
const TEXT_MARK: &str = "# crc32 ";

/// Appends a line with the checksum to a text of lines.
pub fn with_checksum(mut text: String) -> String {
    let checksum = digits(crc32fast::hash(text.as_bytes()));
    text.push_str(TEXT_MARK);
    text.push_str(&checksum);
    text.push('\n');
    text
}

/// Verifies the checksum of a text of lines.
///
/// # Errors
/// If the text is damaged.
pub fn check_text(text: &str) -> Result<Checksum, CheckError> {
    let Some((content, expected)) = text.rsplit_once(TEXT_MARK) else {
        return Ok(Checksum::Absent);
    };
    let (expected, found) = (expected.to_owned(), digits(crc32fast::hash(content.as_bytes())));
    match expected.strip_suffix('\n') == Some(found.as_str()) {
        true => Ok(Checksum::Right),
        false => Err(CheckError::Damaged { expected, found }),
    }
}

fn digits(checksum: u32) -> String {
    format!("{checksum:08x}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn file(content: &[u8]) -> Vec<u8> {
        let mut writer = Writer::new(Cursor::new(Vec::new()));
        for part in [b"PAR1", &placeholder()[..], content, WITNESS.as_bytes(), b"PAR1"] {
            writer.write_all(part).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    fn checked(bytes: &[u8]) -> Result<Checksum, CheckError> {
        check(&mut Cursor::new(bytes))
    }

    #[test]
    fn the_checksum_is_at_its_documented_offset() {
        let mut whole = file(b"content");
        assert_eq!(&whole[..18], b"PAR1warpmem crc32 ");
        let digits: [u8; 8] = whole[18..26].try_into().unwrap();
        whole[18..26].fill(b'0');
        assert_eq!(format!("{:08x}", crc32fast::hash(&whole)).as_bytes(), digits);
    }

    #[test]
    fn every_flipped_bit_is_detected() {
        let whole = file(&[7; 100]);
        assert_eq!(checked(&whole).unwrap(), Checksum::Right);
        for bit in 0..8 * whole.len() {
            let mut damaged = whole.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            // The checksum includes the magic number.
            assert!(checked(&damaged).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn truncated_and_extended_files_are_damaged() {
        let whole = file(&[7; 3 * BUFFER]);
        assert_eq!(checked(&whole).unwrap(), Checksum::Right);
        for length in [HEAD - 1, HEAD, HEAD + 1, whole.len() - 1] {
            assert!(checked(&whole[..length]).is_err(), "{length}");
        }
        assert!(checked(&[&whole[..], b"x"].concat()).is_err());
    }

    #[test]
    fn a_file_without_the_mark_has_no_checksum() {
        for bytes in [&b""[..], b"PAR1", b"PAR1 and pages of another program PAR1"] {
            assert_eq!(checked(bytes).unwrap(), Checksum::Absent);
        }
    }

    #[test]
    fn a_flipped_bit_of_a_text_never_changes_its_lines() {
        let lines = "# words\n0123456789abcdef\nfedcba9876543210\n";
        let whole = with_checksum(lines.to_owned());
        assert_eq!(check_text(&whole).unwrap(), Checksum::Right);
        assert_eq!(check_text(lines).unwrap(), Checksum::Absent);
        for bit in 0..8 * whole.len() {
            let mut damaged = whole.clone().into_bytes();
            damaged[bit / 8] ^= 1 << (bit % 8);
            // Only the mark itself is damaged.
            let Ok(damaged) = String::from_utf8(damaged) else { continue };
            assert!(check_text(&damaged).is_err() || damaged.starts_with(lines), "bit {bit}");
        }
    }

    #[test]
    fn the_witness_reveals_a_removed_mark() {
        let mut whole = file(b"content");
        whole[4..18].fill(0);
        assert!(matches!(checked(&whole), Err(CheckError::MarkDamaged)));
    }
}
