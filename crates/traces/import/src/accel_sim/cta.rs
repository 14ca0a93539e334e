//! The instructions of one CTA, as parsed, on their way from a file to the trace.

use super::line::{Line, Parsed};
use crate::error::Expected;

/// One CTA: its warps in order, the lines of all of them, and the address blocks of all lines.
#[derive(Debug, Default)]
pub struct Cta {
    pub block: [u32; 3],
    pub warps: Vec<WarpSpan>,
    pub lines: Vec<Line>,
    /// For an [`crate::packed::Expander`].
    pub addresses: Vec<u8>,
    pub(super) size: Size,
}

impl Cta {
    /// Adds a line, whose address block is there.
    pub fn push(&mut self, parsed: &Parsed) -> Result<(), Expected> {
        self.size.add(parsed)?;
        self.lines.push(parsed.line);
        Ok(())
    }

    /// Bytes that its lines take until it is written.
    pub fn waiting_bytes(&self) -> u64 {
        (self.lines.len() * size_of::<Line>() + self.addresses.len()) as u64
    }
}

/// Memory that the lines of a CTA take when it is written, which it is in one piece.
#[derive(Clone, Copy, Debug, Default)]
pub struct Size(u64);

/// The most of it, bytes: some 60 million instructions, or 7 million loads by all lanes.
const MAX_SIZE: u64 = if cfg!(test) { 1 << 20 } else { 4 << 30 };

impl Size {
    /// Adds a line, or refuses one too many.
    pub fn add(&mut self, parsed: &Parsed) -> Result<(), Expected> {
        const LINE: u64 = 64;
        const LANE: u64 = 16;
        let lanes = if parsed.addressed { parsed.line.mask.count_ones() } else { 0 };
        self.0 += LINE + LANE * u64::from(lanes);
        if self.0 <= MAX_SIZE {
            return Ok(());
        }
        Err("#END_TB: the instructions of a thread block take at most 4 GiB in memory".into())
    }
}

/// A warp and how many of its CTA's lines are its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarpSpan {
    pub warp: u32,
    pub lines: usize,
}
