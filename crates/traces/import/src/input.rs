//! Reads and inflates input files in any compression, on a thread of their own.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, sync_channel};

use crate::error::ImportError;
use crate::progress::Progress;
use warpmem_support::files::inflate::{Codec, inflated};

/// A file's text.
pub struct Input<'a> {
    path: PathBuf,
    codec: Codec,
    reader: Box<dyn Read + Send + 'a>,
}

impl<'a> Input<'a> {
    /// Opens a file; reports the bytes read from disk to `progress`.
    pub fn open(path: &Path, progress: &'a dyn Progress) -> Result<Input<'a>, ImportError> {
        let file = File::open(path).map_err(ImportError::io("open", path))?;
        let file = BufReader::with_capacity(64 << 10, Counting { inner: file, progress });
        let (codec, reader) = inflated(file).map_err(ImportError::io("read", path))?;
        Ok(Input { path: path.to_path_buf(), codec, reader })
    }

    /// Reads until `buffer` is full or the text ends; returns the bytes read.
    pub fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, ImportError> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.reader.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(bytes) => filled += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failed(error)),
            }
        }
        Ok(filled)
    }

    /// Returns the error for a failed read.
    pub fn failed(&self, source: io::Error) -> ImportError {
        let path = self.path.clone();
        match self.codec {
            Codec::Plain => ImportError::Io { action: "read", path, source },
            codec => ImportError::Inflate { path, codec: codec.name(), source },
        }
    }
}

impl Read for Input<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer)
    }
}

struct Counting<'a, R> {
    inner: R,
    progress: &'a dyn Progress,
}

impl<R: Read> Read for Counting<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.inner.read(buffer)?;
        self.progress.advance(bytes as u64);
        Ok(bytes)
    }
}

/// Text per message from the inflating to the parsing thread, bytes.
const BLOCK: usize = 256 << 10;
/// Maximum queued blocks between them.
pub const BLOCKS_AHEAD: usize = 4;
/// Maximum line, bytes: many times 32 lanes of eight stored registers.
const MAX_LINE: usize = 1 << 20;

/// Sends the text of a file in blocks of whole lines. Stops early if the receiver is gone.
pub fn pump(path: &Path, progress: &dyn Progress, out: &SyncSender<Result<Vec<u8>, ImportError>>) {
    if let Err(error) = try_pump(path, progress, out) {
        // A receiver that is gone has failed itself.
        let _ = out.send(Err(error));
    }
}

fn try_pump(
    path: &Path,
    progress: &dyn Progress,
    out: &SyncSender<Result<Vec<u8>, ImportError>>,
) -> Result<(), ImportError> {
    let mut input = Input::open(path, progress)?;
    let mut rest = Vec::new();
    loop {
        if progress.cancelled() {
            return Err(ImportError::Cancelled);
        }
        let start = rest.len();
        let mut block = vec![0; start + BLOCK];
        block[..start].copy_from_slice(&rest);
        let bytes = input.fill(&mut block[start..])?;
        block.truncate(start + bytes);
        let ended = bytes < BLOCK;
        rest.clear();
        if !ended {
            let whole = memchr::memrchr(b'\n', &block).map_or(0, |newline| newline + 1);
            rest.extend(block.drain(whole..));
            if rest.len() > MAX_LINE {
                return Err(ImportError::file(path, "a line of more than 1 MiB; not a trace"));
            }
        }
        let heard = block.is_empty() || out.send(Ok(block)).is_ok();
        if ended || !heard {
            return Ok(());
        }
    }
}

/// Returns the size of a file on disk.
pub fn bytes_of(path: &Path) -> Result<u64, ImportError> {
    Ok(std::fs::metadata(path).map_err(ImportError::io("open", path))?.len())
}

/// Iterates over the lines of a block, without line ends.
pub fn lines_of(block: &[u8]) -> impl Iterator<Item = &[u8]> {
    let text = block.strip_suffix(b"\n").unwrap_or(block);
    let mut start = 0;
    memchr::memchr_iter(b'\n', text).chain([text.len()]).map(move |end| {
        let line = &text[start..end];
        start = end + 1;
        line
    })
}

/// Calls `take` with the number, from 1, and the text of each line of a file, which another thread
/// inflates; returns the bytes of its text.
pub fn for_each_line(
    path: &Path,
    progress: &dyn Progress,
    mut take: impl FnMut(u64, &[u8]) -> Result<(), ImportError>,
) -> Result<u64, ImportError> {
    let (out, blocks) = sync_channel(BLOCKS_AHEAD);
    std::thread::scope(|scope| {
        scope.spawn(move || pump(path, progress, &out));
        let (mut number, mut bytes) = (0, 0);
        for block in blocks {
            let block = block?;
            bytes += block.len() as u64;
            for line in lines_of(&block) {
                number += 1;
                take(number, line)?;
            }
        }
        Ok(bytes)
    })
}

/// Reads the whole text of a small file.
pub fn read_small(path: &Path, most: usize) -> Result<Vec<u8>, ImportError> {
    let mut input = Input::open(path, &())?;
    let mut text = vec![0; most + 1];
    let bytes = input.fill(&mut text)?;
    if bytes > most {
        return Err(ImportError::file(path, format!("more than {most} bytes; not a kernel list")));
    }
    text.truncate(bytes);
    Ok(text)
}

/// Reads the first bytes of a file's text.
pub fn read_head(path: &Path, bytes: usize) -> Result<Vec<u8>, ImportError> {
    let mut input = Input::open(path, &())?;
    let mut head = vec![0; bytes];
    let read = input.fill(&mut head)?;
    head.truncate(read);
    Ok(head)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::mpsc::sync_channel;

    use super::*;

    fn compress(text: &[u8], codec: Codec) -> Vec<u8> {
        let mut out = Vec::new();
        match codec {
            Codec::Plain => out.extend_from_slice(text),
            Codec::Xz => {
                let mut encoder = liblzma::write::XzEncoder::new(&mut out, 1);
                encoder.write_all(text).unwrap();
                encoder.finish().unwrap();
            }
            Codec::Gzip => {
                let level = flate2::Compression::fast();
                let mut encoder = flate2::write::GzEncoder::new(&mut out, level);
                encoder.write_all(text).unwrap();
                encoder.finish().unwrap();
            }
            Codec::Zstd => out = zstd::encode_all(text, 1).unwrap(),
        }
        out
    }

    fn blocks(bytes: &[u8]) -> Result<Vec<Vec<u8>>, ImportError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("named-wrongly.gz");
        std::fs::write(&path, bytes).unwrap();
        let (out, blocks) = sync_channel(1000);
        pump(&path, &(), &out);
        drop(out);
        blocks.into_iter().collect()
    }

    /// Lines with little redundancy.
    fn text() -> Vec<u8> {
        let line = |n: u32| format!("{} {}\n", n, n.wrapping_mul(2_654_435_769));
        (0..60_000).flat_map(|n| line(n).into_bytes()).collect()
    }

    #[test]
    fn every_codec_gives_the_text_in_whole_lines() {
        let text = text();
        for codec in [Codec::Plain, Codec::Xz, Codec::Gzip, Codec::Zstd] {
            let blocks = blocks(&compress(&text, codec)).unwrap();
            assert!(blocks.len() > 1, "{codec:?}");
            assert!(blocks.iter().all(|block| block.ends_with(b"\n")), "{codec:?}");
            assert!(blocks.concat() == text, "{codec:?}");
        }
    }

    #[test]
    fn several_streams_in_one_file_are_one_text() {
        for codec in [Codec::Xz, Codec::Gzip, Codec::Zstd] {
            let bytes = [compress(b"one\n", codec), compress(b"two\n", codec)].concat();
            assert_eq!(blocks(&bytes).unwrap().concat(), b"one\ntwo\n", "{codec:?}");
        }
    }

    #[test]
    fn a_truncated_or_damaged_file_is_an_error() {
        let text = text();
        for codec in [Codec::Xz, Codec::Gzip, Codec::Zstd] {
            let whole = compress(&text, codec);
            for cut in [whole.len() / 2, whole.len() - 1] {
                let error = blocks(&whole[..cut]).unwrap_err();
                assert!(matches!(error, ImportError::Inflate { .. }), "{codec:?} {cut}: {error}");
            }
            let mut damaged = whole;
            let middle = damaged.len() / 2;
            damaged[middle] ^= 0xff;
            if codec != Codec::Zstd {
                assert!(blocks(&damaged).is_err(), "{codec:?}");
            }
        }
    }

    #[test]
    fn endless_lines_are_refused() {
        let error = blocks(&vec![b'x'; MAX_LINE + 2 * BLOCK]).unwrap_err();
        assert!(error.to_string().contains("1 MiB"), "{error}");
    }
}
