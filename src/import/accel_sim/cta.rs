//! The instructions of one CTA, as parsed, on their way from a file to the trace.

use super::line::Line;

/// One CTA: its warps in order, the lines of all of them, and the address blocks of all lines.
#[derive(Debug, Default)]
pub struct Cta {
    pub block: [u32; 3],
    pub warps: Vec<WarpSpan>,
    pub lines: Vec<Line>,
    /// For an [`super::address::Expander`].
    pub addresses: Vec<u8>,
}

/// A warp and how many of its CTA's lines are its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarpSpan {
    pub warp: u32,
    pub lines: usize,
}
