//! The parsed instructions of one CTA, between a kernel file and the trace.

use super::line::{Line, Parsed};
use crate::error::Expected;

/// One CTA: its warps in order, the lines of all of them, and the address blocks of all lines.
#[derive(Debug, Default)]
pub struct Cta {
    pub block: [u32; 3],
    pub warps: Vec<WarpSpan>,
    pub lines: Vec<Line>,
    /// Packed for an [`crate::packed::Expander`].
    pub addresses: Vec<u8>,
    pub(super) size: Size,
}

impl Cta {
    /// Adds a line whose address block is already appended.
    pub fn push(&mut self, parsed: &Parsed) -> Result<(), Expected> {
        self.size.add(parsed)?;
        self.lines.push(parsed.line);
        Ok(())
    }

    /// Returns the bytes that its lines take while queued.
    pub fn waiting_bytes(&self) -> u64 {
        (self.lines.len() * size_of::<Line>() + self.addresses.len()) as u64
    }
}

/// Memory that the lines of a CTA take during its write, which handles whole CTAs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Size(u64);

/// Maximum size, bytes: about 60 million instructions, or 7 million loads by all lanes.
const MAX_SIZE: u64 = if cfg!(test) { 1 << 20 } else { 4 << 30 };

impl Size {
    /// Adds a line; refuses lines beyond the maximum.
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

/// A warp and its number of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarpSpan {
    pub warp: u32,
    pub lines: usize,
}
