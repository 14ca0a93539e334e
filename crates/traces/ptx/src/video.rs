//! Video instructions: arithmetic on bytes and halves of registers (ISA, "Video Instructions").

use crate::types::Compare;

/// The arithmetic of a video instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VideoOp {
    Add,
    Subtract,
    AbsoluteDifference,
    /// Half of the sum, rounded up; of a negative sum, away from zero.
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

/// A byte, half, or all of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VideoPart {
    pub signed: bool,
    /// The first bit.
    pub at: u8,
    /// Number of bits: 8, 16 or 32.
    pub bits: u8,
}

/// The second step of a scalar instruction, with its third source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Finish {
    None,
    Add,
    Min,
    Max,
    /// The result replaces a part of the source.
    Merge,
}

/// `vadd` and its like: d = finish(f(part of a, part of b), c).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Video {
    pub f: VideoOp,
    pub a: VideoPart,
    pub b: VideoPart,
    /// The type of the result, and its place in d where it is merged.
    pub d: VideoPart,
    /// The result is clamped to the type of `d`.
    pub saturate: bool,
    pub finish: Finish,
}

/// `vmad`: d = part of a × part of b + c, shifted to the right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VideoMultiplyAdd {
    pub a: VideoPart,
    pub b: VideoPart,
    pub negates_product: bool,
    pub negates_c: bool,
    /// `.po`: 1 is added.
    pub plus_one: bool,
    pub shift: u8,
    pub saturate: bool,
}

/// `vadd2`, `vadd4` and their like: the same on each byte or half of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VideoVector {
    pub f: VideoOp,
    /// Number of bits of an element: 8 or 16.
    pub bits: u8,
    /// Whether the elements of the result, of a and of b are signed.
    pub signed: [bool; 3],
    /// By element of the result, the elements of the register pair b:a that it is computed from.
    pub a: [u8; 4],
    pub b: [u8; 4],
    /// The elements that are computed, a bit for each.
    pub mask: u8,
    pub saturate: bool,
    /// They are added to c; otherwise they replace its elements.
    pub adds: bool,
}
