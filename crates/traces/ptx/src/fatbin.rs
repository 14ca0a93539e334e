//! Fat binaries: containers of PTX text and machine code for several architectures.
//!
//! ```text
//!  container   magic u32 │ version u16 │ header bytes u16 │ bytes of all entries u64
//!  entry       kind u16 │ … │ header bytes u32 │ payload bytes u64 │ compressed bytes u32 │ …
//!              │ architecture u32 at 28 │ … │ flags u64 at 40 │ … │ bytes of text u64 at 56
//! ```
//!
//! The layout is undocumented; this is what compilers of CUDA 11 to 13 write.

pub use crate::error::FatBinaryError;
use crate::listing;

const MAGIC: u32 = 0xBA55_ED50;
const KIND_PTX: u16 = 1;
const KIND_ELF: u16 = 2;
const FLAG_LZ4: u64 = 0x2000;
const FLAG_ZSTD: u64 = 0x8000;

/// Maximum bytes of decompressed PTX, so that a damaged size cannot exhaust memory.
const MAX_TEXT: u64 = 1 << 30;

/// Returns the PTX of a container, of a listing of `cuobjdump -ptx`, or of plain PTX text: for the highest
/// architecture not above `highest`.
///
/// # Errors
/// When the container is damaged or has no such PTX.
pub fn ptx(bytes: &[u8], highest: u32) -> Result<String, FatBinaryError> {
    if !is_container(bytes) {
        return listing::ptx(text(bytes, 0)?, highest);
    }
    let entries = entries(bytes)?;
    let of_ptx = || entries.iter().filter(|entry| entry.kind == KIND_PTX);
    let best = of_ptx().filter(|entry| entry.architecture <= highest);
    match best.max_by_key(|entry| entry.architecture) {
        Some(entry) => entry.text(bytes),
        None if of_ptx().next().is_some() => {
            let architectures = of_ptx().map(|entry| entry.architecture).collect();
            Err(FatBinaryError::TooNew { architectures, highest })
        }
        None => {
            let of_code = entries.iter().filter(|entry| entry.kind == KIND_ELF);
            let architectures = of_code.map(|entry| entry.architecture).collect();
            Err(FatBinaryError::NoPtx { architectures })
        }
    }
}

/// Returns whether bytes start like a container.
pub fn is_container(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC.to_le_bytes())
}

/// Returns the size of the container at the start of `bytes`, header and all entries, in bytes.
pub fn container_bytes(bytes: &[u8]) -> Option<usize> {
    let header = usize::from(u16_at(bytes, 6)?);
    let entries = usize::try_from(u64_at(bytes, 8)?).ok()?;
    is_container(bytes).then(|| header.checked_add(entries))?
}

struct Entry {
    kind: u16,
    architecture: u32,
    flags: u64,
    /// Range of the payload.
    payload: std::ops::Range<usize>,
    /// Compressed bytes of the payload; 0 if it is uncompressed.
    compressed: usize,
    text_bytes: u64,
}

fn damaged(at: usize, reason: impl Into<String>) -> FatBinaryError {
    FatBinaryError::Damaged { at, reason: reason.into() }
}

fn entries(bytes: &[u8]) -> Result<Vec<Entry>, FatBinaryError> {
    let end = container_bytes(bytes).filter(|&end| end <= bytes.len());
    let end = end.ok_or_else(|| damaged(0, "the container is truncated"))?;
    let mut at = usize::from(u16_at(bytes, 6).unwrap_or(0));
    let mut entries = Vec::new();
    while at < end {
        let entry = entry(&bytes[..end], at).ok_or_else(|| damaged(at, "an entry is truncated"))?;
        if entry.payload.end <= at {
            return Err(damaged(at, "an entry is empty"));
        }
        at = entry.payload.end;
        entries.push(entry);
    }
    Ok(entries)
}

fn entry(bytes: &[u8], at: usize) -> Option<Entry> {
    let header = usize::try_from(u32_at(bytes, at + 4)?).ok()?;
    let size = usize::try_from(u64_at(bytes, at + 8)?).ok()?;
    let start = at.checked_add(header)?;
    let end = start.checked_add(size).filter(|&end| end <= bytes.len())?;
    Some(Entry {
        kind: u16_at(bytes, at)?,
        architecture: u32_at(bytes, at + 28)?,
        flags: u64_at(bytes, at + 40)?,
        payload: start..end,
        compressed: usize::try_from(u32_at(bytes, at + 16)?).ok()?,
        text_bytes: if header >= 64 { u64_at(bytes, at + 56)? } else { 0 },
    })
}

impl Entry {
    fn text(&self, bytes: &[u8]) -> Result<String, FatBinaryError> {
        let at = self.payload.start;
        let payload = &bytes[self.payload.clone()];
        if self.flags & (FLAG_LZ4 | FLAG_ZSTD) == 0 {
            return text(payload, at);
        }
        if self.text_bytes > MAX_TEXT {
            return Err(damaged(at, format!("PTX of {} bytes", self.text_bytes)));
        }
        let compressed = payload.get(..self.compressed).unwrap_or(payload);
        let size = self.text_bytes as usize;
        let inflated = if self.flags & FLAG_ZSTD != 0 {
            zstd::bulk::decompress(compressed, size).map_err(|error| error.to_string())
        } else {
            lz4_flex::block::decompress(compressed, size).map_err(|error| error.to_string())
        };
        let inflated =
            inflated.map_err(|error| damaged(at, format!("it does not inflate: {error}")))?;
        text(&inflated, at)
    }
}

/// Returns the text up to an optional zero byte.
fn text(bytes: &[u8], at: usize) -> Result<String, FatBinaryError> {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    match std::str::from_utf8(&bytes[..end]) {
        Ok(text) => Ok(text.to_owned()),
        Err(error) => Err(damaged(at + error.valid_up_to(), "it is neither PTX nor a container")),
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|word| u16::from_le_bytes(*word))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|word| u32::from_le_bytes(*word))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|word| u64::from_le_bytes(*word))
}
