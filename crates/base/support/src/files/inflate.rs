//! Reading of possibly compressed files.

use super::input::{Unmarked, peeked};
use std::io::{self, BufRead, Cursor, Read};

/// Compression of a file, recognised by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    Plain,
    Xz,
    Gzip,
    Zstd,
}

impl Codec {
    fn of(head: &[u8]) -> Codec {
        match head {
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Codec::Xz,
            [0x1f, 0x8b, ..] => Codec::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Codec::Zstd,
            _ => Codec::Plain,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Codec::Plain => "plain",
            Codec::Xz => "xz",
            Codec::Gzip => "gzip",
            Codec::Zstd => "zstd",
        }
    }
}

/// Memory limit of xz inflation, bytes. `xz -9` needs 65 MiB; a hostile file may request 4 GiB.
const XZ_MEMORY: u64 = 256 << 20;

/// Bytes that identify the compression.
const MAGIC: u64 = 6;

/// Returns the compression of `file` and a reader of its inflated text, without a byte order mark.
/// Concatenated streams are read as one.
///
/// # Errors
/// If the file cannot be read. Reading the text fails if it is damaged, or is UTF-16 or UTF-32.
pub fn inflated<'a>(
    file: impl BufRead + Send + 'a,
) -> io::Result<(Codec, Box<dyn Read + Send + 'a>)> {
    let (head, rest) = peeked(file, MAGIC)?;
    let codec = Codec::of(&head);
    let file = Cursor::new(head).chain(rest);
    let text: Box<dyn Read + Send + 'a> = match codec {
        Codec::Plain => Box::new(Unmarked::new(file)),
        Codec::Xz => {
            let several = liblzma::stream::CONCATENATED;
            let stream = liblzma::stream::Stream::new_stream_decoder(XZ_MEMORY, several)?;
            Box::new(Unmarked::new(liblzma::bufread::XzDecoder::new_stream(file, stream)))
        }
        Codec::Gzip => Box::new(Unmarked::new(flate2::bufread::MultiGzDecoder::new(file))),
        Codec::Zstd => Box::new(Unmarked::new(zstd::stream::read::Decoder::with_buffer(file)?)),
    };
    Ok((codec, text))
}
