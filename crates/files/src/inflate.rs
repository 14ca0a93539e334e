//! Reading files that may be compressed.

use std::io::{self, BufRead, Read};

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

/// Memory limit for inflating an xz file, bytes. `xz -9` needs 65 MiB, but a hostile file may ask
/// for 4 GiB.
const XZ_MEMORY: u64 = 256 << 20;

/// The compression of `file`, and a reader of its inflated content. Concatenated streams are read
/// as one.
pub fn inflated<'a>(
    mut file: impl BufRead + Send + 'a,
) -> io::Result<(Codec, Box<dyn Read + Send + 'a>)> {
    let codec = Codec::of(file.fill_buf()?);
    let reader: Box<dyn Read + Send + 'a> = match codec {
        Codec::Plain => Box::new(file),
        Codec::Xz => {
            let several = liblzma::stream::CONCATENATED;
            let stream = liblzma::stream::Stream::new_stream_decoder(XZ_MEMORY, several)?;
            Box::new(liblzma::bufread::XzDecoder::new_stream(file, stream))
        }
        Codec::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(file)),
        Codec::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(file)?),
    };
    Ok((codec, reader))
}
