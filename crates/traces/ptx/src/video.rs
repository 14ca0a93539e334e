//! Video instructions: arithmetic on bytes and halves of registers (ISA, "Video Instructions").

use crate::types::Compare;

/// Arithmetic of a video instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VideoOp {
    Add,
    Subtract,
    AbsoluteDifference,
    /// Half of the sum, rounded up; for a negative sum, away from zero.
    Average,
    Min,
    Max,
    ShiftLeft {
        wrap: bool,
    },
    ShiftRight {
        wrap: bool,
    },
    /// 1 or 0.
    Set(Compare),
}

/// A byte, a half, or all of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VideoPart {
    pub signed: bool,
    /// First bit.
    pub at: u8,
    /// Number of bits: 8, 16 or 32.
    pub bits: u8,
}

/// Second step of a scalar instruction, which uses its third source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Finish {
    None,
    Add,
    Min,
    Max,
    /// The result replaces a part of the source.
    Merge,
}

/// `vadd` and similar: d = finish(f(part of a, part of b), c).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Video {
    pub f: VideoOp,
    pub a: VideoPart,
    pub b: VideoPart,
    /// Type of the result, and its position in d when merged.
    pub d: VideoPart,
    /// Whether the result is clamped to the type of `d`.
    pub saturate: bool,
    pub finish: Finish,
}

/// `vmad`: d = part of a × part of b + c, shifted right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VideoMultiplyAdd {
    pub a: VideoPart,
    pub b: VideoPart,
    pub negates_product: bool,
    pub negates_c: bool,
    /// `.po`: adds 1.
    pub plus_one: bool,
    pub shift: u8,
    pub saturate: bool,
}

/// `vadd2`, `vadd4` and similar: one operation on each byte or half of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VideoVector {
    pub f: VideoOp,
    /// Bits of an element: 8 or 16.
    pub bits: u8,
    /// Signedness of the elements of the result, of a and of b.
    pub signed: [bool; 3],
    /// For each element of the result, its source elements in the register pair b:a.
    pub a: [u8; 4],
    pub b: [u8; 4],
    /// Elements to compute, one bit each.
    pub mask: u8,
    pub saturate: bool,
    /// Whether the elements are added to c; otherwise they replace its elements.
    pub adds: bool,
}
