//! Blocks: units of compression, each with a checksum. Chunks, dictionaries and the index are
//! blocks.

use std::io::{self, Read};

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use serde::{Deserialize, Serialize};

use crate::pack;

/// How a block is compressed. The discriminant is the code in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[repr(u8)]
pub enum Codec {
    /// Raw deflate (RFC 1951), levels 0 to 9.
    #[default]
    Deflate,
    /// Zstandard frames (RFC 8878), levels 1 to 22.
    Zstd,
}

/// Largest inflated size of a block, which bounds the memory that a hostile file can make a reader
/// allocate.
pub(crate) const MAX_INFLATED: usize = 1 << 30;

/// Largest inflated size of an index or a dictionary, smaller because decoding expands it up to
/// twentyfold in memory.
pub(crate) const MAX_DECODED: usize = 1 << 25;

/// Bytes reserved for a declared inflated size; beyond it the buffer grows with the data.
const TRUSTED_CAPACITY: usize = 1 << 22;

/// Upper bound on what deflate adds to incompressible data, beyond one eighth of it.
const DEFLATED_BESIDE: usize = 1 << 15;

/// Compares the CRC-32 of `bytes`. Disabled under fuzzing, so that the fuzzer reaches the code
/// after it.
pub(crate) fn check_crc(bytes: &[u8], recorded: u32) -> Result<(), String> {
    let crc = crc32fast::hash(bytes);
    if crc == recorded || cfg!(fuzzing) {
        return Ok(());
    }
    Err(format!("checksum {crc:08x} where {recorded:08x} is recorded"))
}

/// The description of a block in the index. Its offset is the total size of the blocks before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Block {
    pub codec: Codec,
    /// Bytes in the file.
    pub stored: u32,
    pub inflated: u32,
    /// CRC-32 (IEEE) of the stored bytes.
    pub crc: u32,
}

impl Block {
    /// Checks and inflates the `stored` bytes of this block to at most `limit` bytes.
    pub fn unpack(&self, stored: &[u8], limit: usize) -> Result<Vec<u8>, String> {
        check_crc(stored, self.crc)?;
        let declared = self.inflated as usize;
        if declared > limit {
            return Err(format!("declared size {declared} above the limit of {limit} bytes"));
        }
        // Padding also exposes data beyond the declared size.
        let mut bytes = Vec::with_capacity(declared.min(TRUSTED_CAPACITY) + pack::PADDING);
        let inflated = match self.codec {
            Codec::Deflate => inflate(stored, declared, &mut bytes),
            Codec::Zstd => decompress(stored, declared, &mut bytes),
        };
        match (inflated, bytes.len()) {
            (Err(error), _) => Err(format!("does not inflate: {error}")),
            (Ok(()), length) if length == declared => Ok(bytes),
            (Ok(()), length) if length > declared => {
                Err(format!("inflates to more than the declared {declared} bytes"))
            }
            (Ok(()), length) => {
                Err(format!("inflates to {length} of the declared {declared} bytes"))
            }
        }
    }
}

/// Compresses blocks. The tables of a compressor take several hundred kilobytes, so one compressor
/// serves all blocks.
pub(crate) struct Packer {
    compressor: Compressor,
}

enum Compressor {
    Deflate(Compress),
    Zstd(zstd::bulk::Compressor<'static>),
}

impl Packer {
    /// Levels beyond the range of the codec are clamped.
    ///
    /// # Errors
    /// When the compressor cannot be allocated.
    pub fn new(codec: Codec, level: u32) -> io::Result<Packer> {
        let compressor = match codec {
            Codec::Deflate => {
                Compressor::Deflate(Compress::new(Compression::new(level.min(9)), false))
            }
            Codec::Zstd => {
                Compressor::Zstd(zstd::bulk::Compressor::new(level.clamp(1, 22) as i32)?)
            }
        };
        Ok(Packer { compressor })
    }

    /// Compresses `bytes` to a block; its bytes in the file replace `stored`.
    ///
    /// # Errors
    /// When the bytes exceed the size of a block before or after compression.
    pub fn pack(&mut self, bytes: &[u8], stored: &mut Vec<u8>) -> io::Result<Block> {
        if bytes.len() > MAX_INFLATED {
            let message = format!("{} bytes exceed the {MAX_INFLATED} of a block", bytes.len());
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        stored.clear();
        let codec = match &mut self.compressor {
            Compressor::Deflate(compress) => {
                deflate(compress, bytes, stored)?;
                Codec::Deflate
            }
            Compressor::Zstd(compressor) => {
                stored.resize(zstd::zstd_safe::compress_bound(bytes.len()), 0);
                let length = compressor.compress_to_buffer(bytes, stored)?;
                stored.truncate(length);
                Codec::Zstd
            }
        };
        Ok(Block {
            codec,
            stored: u32::try_from(stored.len()).map_err(io::Error::other)?,
            inflated: bytes.len() as u32,
            crc: crc32fast::hash(stored),
        })
    }
}

/// Compresses in a single call: the output would depend on where a compressor that runs out of
/// space is resumed.
fn deflate(compress: &mut Compress, bytes: &[u8], stored: &mut Vec<u8>) -> io::Result<()> {
    compress.reset();
    loop {
        stored.reserve(bytes.len() + bytes.len() / 8 + DEFLATED_BESIDE);
        let rest = &bytes[compress.total_in() as usize..];
        if compress.compress_vec(rest, stored, FlushCompress::Finish)? == Status::StreamEnd {
            return Ok(());
        }
    }
}

/// Inflates to the end of the data, or until the output exceeds `declared` bytes.
fn inflate(stored: &[u8], declared: usize, bytes: &mut Vec<u8>) -> io::Result<()> {
    let mut decoder = Decompress::new(false);
    loop {
        let rest = &stored[decoder.total_in() as usize..];
        let status = decoder.decompress_vec(rest, bytes, FlushDecompress::Finish)?;
        if status == Status::StreamEnd || bytes.len() > declared {
            return Ok(());
        }
        if bytes.len() < bytes.capacity() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes.reserve((declared - bytes.len()).min(bytes.len()) + pack::PADDING);
    }
}

/// Decompresses Zstandard frames under the same limits as [`inflate`].
fn decompress(stored: &[u8], declared: usize, bytes: &mut Vec<u8>) -> io::Result<()> {
    let decoder = zstd::stream::Decoder::with_buffer(stored)?;
    decoder.take(declared as u64 + 1).read_to_end(bytes)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers with occasional repeats, in which a compressor finds many short matches.
    fn content() -> Vec<u8> {
        let mut state = 1u32;
        let next = |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 20).wrapping_mul(0x9e37_79b9).to_le_bytes()
        };
        (0..75_000).flat_map(next).collect()
    }

    #[test]
    fn compressed_bytes_do_not_depend_on_buffer_capacity() {
        for (codec, level) in [(Codec::Deflate, 1), (Codec::Deflate, 6), (Codec::Zstd, 3)] {
            let mut packer = Packer::new(codec, level).unwrap();
            let stored = [0, 50_000, 1 << 20].map(|capacity| {
                let mut stored = Vec::with_capacity(capacity);
                packer.pack(&content(), &mut stored).unwrap();
                stored
            });
            assert!(stored[0].len() > 1 << 17, "more than a compressor of before got at once");
            assert!(stored.iter().all(|other| *other == stored[0]), "{codec:?}, level {level}");
        }
    }
}
