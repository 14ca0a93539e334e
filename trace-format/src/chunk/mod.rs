mod cursor;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::context::column;
use crate::dictionary::{SLOTS, Sites};
use crate::encode::Expectation;
use crate::error::TraceError;
use crate::pack::PADDING;
use crate::varint;
pub use cursor::WarpCursor;

/// An inflated range of CTAs of one kernel. [`Chunk::warp`] reads its warps.
pub struct Chunk {
    first_cta: u32,
    ctas: Vec<CtaEntry>,
    pub(crate) sites: Arc<Sites>,
    pub(crate) expectations: Vec<Expectation>,
    /// Start of each warp's piece of each column; one row more than warps.
    starts: Vec<[u32; column::COUNT]>,
    pub(crate) data: Vec<u8>,
    path: Arc<Path>,
    offset: u64,
}

/// A CTA of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CtaEntry {
    /// Coordinates in the grid.
    pub block: [u32; 3],
    pub warps: Vec<WarpEntry>,
}

/// A warp of a CTA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarpEntry {
    pub warp_in_cta: u32,
    pub records: u32,
    /// Number of the warp within the chunk.
    ordinal: u32,
}

/// The position of a chunk in the trace.
pub(crate) struct Origin {
    pub path: Arc<Path>,
    pub offset: u64,
    /// Numbers of its CTAs within the kernel.
    pub ctas: Range<u32>,
}

impl Chunk {
    /// Parses the directory of an inflated chunk. Records are checked when they are read.
    pub(crate) fn parse(
        data: Vec<u8>,
        sites: Arc<Sites>,
        origin: Origin,
    ) -> Result<Chunk, TraceError> {
        let mut directory = Directory::new(&data);
        let read = directory.read(origin.ctas.len());
        let Directory { at, expectations, ctas, mut starts, .. } = directory;
        let placed = read.and_then(|()| place_columns(&mut starts, at, data.len()));
        if let Err(reason) = placed {
            return Err(damaged(&origin.path, origin.offset, &reason));
        }
        let mut data = data;
        data.resize(data.len() + PADDING, 0);
        Ok(Chunk {
            first_cta: origin.ctas.start,
            ctas,
            sites,
            expectations,
            starts,
            data,
            path: origin.path,
            offset: origin.offset,
        })
    }

    /// Returns the index within the kernel of the chunk's first CTA, in file order.
    pub fn first_cta(&self) -> u32 {
        self.first_cta
    }

    pub fn ctas(&self) -> &[CtaEntry] {
        &self.ctas
    }

    /// Starts reading a warp.
    ///
    /// # Panics
    /// When the chunk has no such CTA or the CTA no such warp.
    pub fn warp(self: &Arc<Self>, cta_in_chunk: usize, warp_index: usize) -> WarpCursor {
        let warp = self.ctas[cta_in_chunk].warps[warp_index];
        WarpCursor::new(Arc::clone(self), warp.ordinal, warp.records)
    }

    /// Returns the start and end of each column of a warp.
    pub(crate) fn columns(&self, warp: u32) -> [[u32; column::COUNT]; 2] {
        [self.starts[warp as usize], self.starts[warp as usize + 1]]
    }

    /// Returns the control bytes of all warps.
    #[cfg(test)]
    pub(crate) fn controls(&self) -> Vec<u8> {
        let start = self.starts[0][column::CONTROLS] as usize;
        let end = self.starts[0][column::MASKS] as usize;
        self.data[start..end].to_vec()
    }

    /// Returns the error for a chunk with inconsistent content.
    #[must_use]
    pub fn damaged(&self, reason: &str) -> TraceError {
        damaged(&self.path, self.offset, reason)
    }
}

fn damaged(path: &Path, offset: u64, reason: &str) -> TraceError {
    TraceError::Damaged { path: PathBuf::from(path), offset, reason: format!("chunk: {reason}") }
}

/// The part of a chunk before its columns.
struct Directory<'a> {
    data: &'a [u8],
    at: usize,
    expectations: Vec<Expectation>,
    ctas: Vec<CtaEntry>,
    /// Lengths of the columns, warp by warp.
    starts: Vec<[u32; column::COUNT]>,
}

impl<'a> Directory<'a> {
    fn new(data: &'a [u8]) -> Directory<'a> {
        Directory { data, at: 0, expectations: Vec::new(), ctas: Vec::new(), starts: Vec::new() }
    }

    fn read(&mut self, expected_ctas: usize) -> Result<(), String> {
        let ctas = self.count(4, "CTAs")?;
        if ctas != expected_ctas {
            return Err(format!("{ctas} CTAs where the index says {expected_ctas}"));
        }
        let slots = self.count(2, "address slots")?;
        if slots > SLOTS {
            return Err(format!("{slots} address slots; at most {SLOTS} exist"));
        }
        let mut base = 0u64;
        for _ in 0..slots {
            base = base.wrapping_add(self.signed()? as u64);
            let stride = self.signed()? as u64;
            self.expectations.push(Expectation { base, stride });
        }
        self.ctas.reserve_exact(ctas);
        let mut block = [0u32; 3];
        for _ in 0..ctas {
            for coordinate in &mut block {
                *coordinate = coordinate.wrapping_add(self.signed_u32()?);
            }
            let warps = self.warps()?;
            self.ctas.push(CtaEntry { block, warps });
        }
        Ok(())
    }

    fn warps(&mut self) -> Result<Vec<WarpEntry>, String> {
        let count = self.count(1 + column::COUNT, "warps")?;
        let mut warps = Vec::with_capacity(count);
        let mut expected = 0u32;
        for _ in 0..count {
            let warp_in_cta = expected.wrapping_add(self.signed_u32()?);
            expected = warp_in_cta.wrapping_add(1);
            let mut lengths = [0; column::COUNT];
            for length in &mut lengths {
                *length = varint::get_u32(self.data, &mut self.at).ok_or("column length")?;
            }
            let ordinal = self.starts.len() as u32;
            self.starts.push(lengths);
            warps.push(WarpEntry { warp_in_cta, records: lengths[column::CONTROLS], ordinal });
        }
        Ok(warps)
    }

    /// Reads a count of items that take at least `least` bytes each, which must fit in the
    /// remaining bytes.
    fn count(&mut self, least: usize, what: &str) -> Result<usize, String> {
        let count = varint::get(self.data, &mut self.at);
        let count = count.ok_or_else(|| format!("ends within the number of {what}"))?;
        let remaining = self.data.len() - self.at;
        match usize::try_from(count) {
            Ok(count) if count <= remaining / least => Ok(count),
            _ => Err(format!("{count} {what} cannot lie in {remaining} bytes")),
        }
    }

    fn signed(&mut self) -> Result<i64, String> {
        varint::get_signed(self.data, &mut self.at)
            .ok_or_else(|| "ends within its directory".into())
    }

    fn signed_u32(&mut self) -> Result<u32, String> {
        match i32::try_from(self.signed()?) {
            Ok(value) => Ok(value as u32),
            Err(_) => Err("a coordinate exceeds 32 bits".into()),
        }
    }
}

/// Turns column lengths into positions, which must fill the chunk from `start` to `end`.
fn place_columns(
    warps: &mut Vec<[u32; column::COUNT]>,
    start: usize,
    end: usize,
) -> Result<(), String> {
    warps.push([0; column::COUNT]);
    let mut at = start as u64;
    for column in 0..column::COUNT {
        for warp in warps.iter_mut() {
            let length = u64::from(warp[column]);
            // Beyond 32 bits the check below fails.
            warp[column] = at as u32;
            at += length;
        }
    }
    if at != end as u64 {
        return Err(format!("columns end at byte {at} of {end}"));
    }
    Ok(())
}
