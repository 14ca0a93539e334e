//! Operations of instructions: opcodes with their modifiers, typed.
//!
//! Operands are not part of an operation. Their number and order follow the ISA's syntax, with vectors
//! expanded: `st.v2.f32 [a], {b, c}` has the sources a, b, c.

mod memory;

use crate::cache_policy::CachePolicy;
use crate::cluster::ClusterBarrier;
use crate::matrix::{Mma, Wgmma, WmmaAccess};
use crate::mbarrier::Mbarrier;
use crate::tensor_map::TensorMapField;
use crate::types::{Compare, Rounding, Space, Type};
use crate::video::{Video, VideoMultiplyAdd, VideoVector};

pub use memory::{Access, Atomic, AtomicOp, Bulk, Cache, ClusterOp, Matrices, TensorCopy};

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// d = f(a)
    Unary(Unary, Type, Modes),
    /// d = f(a, b)
    Binary(Binary, Type, Modes),
    /// d = f(a, b, c)
    Ternary(Ternary, Type, Modes),
    Video(Video),
    VideoMultiplyAdd(VideoMultiplyAdd),
    VideoVector(VideoVector),
    /// d = f(a, b, c, d) for `bfi`: insert d bits of a into b, at bit c
    BitFieldInsert(Type),
    /// `lop3` with its table, and the operation that combines the result's predicate with another one.
    Lop3 {
        table: u8,
        combine: Option<Logic>,
    },
    /// `prmt` with its mode.
    Permute(PermuteMode),
    /// Funnel shift of a and b by c.
    Funnel {
        left: bool,
        clamp: bool,
    },
    /// `dp4a`, `dp2a`: types of a and b, and the half of b for `dp2a`.
    Dot {
        a_signed: bool,
        b_signed: bool,
        halves: Option<Half>,
    },
    /// Addition and subtraction with the carry flag.
    Carry {
        op: CarryOp,
        ty: Type,
        reads: bool,
        writes: bool,
    },
    /// p|q = a cmp b, combined with c.
    SetPredicate {
        compare: Compare,
        combine: Option<Logic>,
        ty: Type,
        ftz: bool,
    },
    /// d = a cmp b, combined with c: all ones or 1.0, or 0.
    Set {
        compare: Compare,
        combine: Option<Logic>,
        to: Type,
        ty: Type,
        ftz: bool,
    },
    /// d = c ? a : b
    Select(Type),
    /// d = c >= 0 ? a : b, for a c of this type
    SelectBySign {
        ty: Type,
        by: Type,
        ftz: bool,
    },
    /// `testp`
    Test(FloatTest, Type),
    /// `mov`
    Move(Type),
    /// `mov` of a vector of sources into one register.
    Pack(Type),
    /// `mov` of one register into a vector of destinations.
    Unpack(Type),
    /// `mov.b128`: the bits of the sources, lowest first, become the bits of the destinations.
    Repack,
    Convert(Convert),
    /// `cvt.pack`: a and b, clamped to this many bits, above the low bits of c.
    PackClamped {
        bits: u8,
        signed: bool,
    },
    /// `cvta`: converts a generic address to a space, or back.
    ConvertAddress {
        space: Space,
        to_space: bool,
    },
    IsSpace(Space),

    Load(Access),
    Store(Access),
    Atomic(Atomic),
    /// `red`
    Reduce(Atomic),
    Prefetch {
        space: Space,
        offset: i64,
    },
    /// Hints, which have no effect here.
    Hint,
    /// `createpolicy.fractional`: the policy; the source is the share of lines.
    CreatePolicy(CachePolicy),
    /// `createpolicy.range`: the priorities; the sources are the address, the bytes of the primary priority,
    /// and the bytes of both.
    CreateRangePolicy {
        policy: CachePolicy,
        offset: i64,
    },
    Fence,
    /// `fence.proxy` and `fence.mbarrier_init`: no effect, since all accesses of a thread take the same path
    /// here.
    ProxyFence,
    /// `cp.async`; sources: shared address, global address, bytes, bytes to read; the sizes are constants.
    CopyAsync {
        bypass: bool,
        to_offset: i64,
        from_offset: i64,
    },
    CopyAsyncCommit,
    /// Waits until at most this many groups are pending; `None` waits for all.
    CopyAsyncWait(Option<u32>),
    /// Constant offsets of the addresses among the sources, in order.
    Bulk {
        f: Bulk,
        offsets: [i64; 3],
    },
    /// Constant offsets of the shared-memory addresses: box, mbarrier.
    Tensor {
        f: TensorCopy,
        /// Dimensions of the box.
        rank: u8,
        offsets: [i64; 2],
    },
    /// `tensormap.replace`: map, value
    ReplaceInMap {
        field: TensorMapField,
        space: Space,
        offset: i64,
    },
    /// `tensormap.cp_fenceproxy`: destination of the map in global memory, source in shared memory; constant
    /// offsets of both
    PublishMap {
        offsets: [i64; 2],
    },
    /// `cp.async.bulk.commit_group` and `.wait_group`
    BulkGroup,
    Mbarrier {
        f: Mbarrier,
        space: Space,
        offset: i64,
    },
    Cluster(ClusterOp),
    LoadMatrix(Matrices),
    StoreMatrix(Matrices),
    MoveMatrix,
    Texture {
        dimensions: TextureShape,
        to: Type,
        coordinates: Type,
    },
    Mma(Mma),
    WmmaLoad(WmmaAccess),
    WmmaStore(WmmaAccess),
    Wgmma(Wgmma),

    /// Branch to an instruction.
    Branch(u32),
    /// `brx.idx`: branch to a target of this table of the body.
    BranchIndexed(u32),
    /// Call, by index in the body.
    Call(u32),
    Return,
    Exit,
    Trap,
    Nop,

    Barrier(Barrier),
    ClusterBarrier(ClusterBarrier),
    /// `bar.warp.sync`
    WarpBarrier,
    Vote(Vote),
    Shuffle(Shuffle),
    Match {
        all: bool,
        ty: Type,
    },
    ReduceLanes(Reduction, Type),
    ActiveMask,
    /// `elect.sync`: d|p
    Elect,
}

impl Op {
    /// Returns the space of an access through a generic address.
    pub(crate) fn generic_space(&mut self) -> Option<&mut Space> {
        let space = match self {
            Op::Load(access) | Op::Store(access) => &mut access.space,
            Op::Atomic(atomic) | Op::Reduce(atomic) => &mut atomic.space,
            Op::WmmaLoad(access) | Op::WmmaStore(access) => &mut access.space,
            Op::Prefetch { space, .. } | Op::Mbarrier { space, .. } => space,
            Op::LoadMatrix(matrices) | Op::StoreMatrix(matrices) => &mut matrices.space,
            _ => return None,
        };
        (*space == Space::Generic).then_some(space)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    Abs,
    Negate,
    Not,
    /// Logical negation.
    Cnot,
    CountLeadingZeros,
    CountOnes,
    Reverse,
    /// `bfind`; with `shiftamt` the result is the shift that moves the bit to the top.
    FindBit {
        shift_amount: bool,
    },
    Reciprocal,
    SquareRoot,
    ReciprocalRoot,
    Sine,
    Cosine,
    Log2,
    Exp2,
    Tanh,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    Add,
    Subtract,
    Multiply(ProductPart),
    /// `mul24`
    Multiply24 {
        high: bool,
    },
    Divide,
    Remainder,
    Min,
    Max,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
    CopySign,
    /// `bmsk`
    BitMask {
        wrap: bool,
    },
    /// `szext`
    SignExtend {
        wrap: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ternary {
    MultiplyAdd(ProductPart),
    Multiply24Add {
        high: bool,
    },
    /// `fma`, and `mad` of floating-point numbers
    FusedMultiplyAdd,
    /// c + |a - b|
    SumOfDifferences,
    BitFieldExtract,
    /// `fns`: the c-th set bit of a, counted from bit b
    FindNthBit,
    /// `min` and `max` of three values
    Min3,
    Max3,
}

/// Part of an integer product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProductPart {
    Low,
    High,
    /// The full product, twice as wide.
    Wide,
    /// Floating-point product.
    Whole,
}

/// Modifiers of arithmetic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Modes {
    pub rounding: Rounding,
    /// Whether the rounding is written: then a product and a sum are never fused.
    pub rounding_written: bool,
    /// Whether subnormal inputs and results are flushed to zero.
    pub ftz: bool,
    /// Whether results are clamped to the type's range, or to [0, 1] if floating-point.
    pub saturate: bool,
    /// Whether the fast approximation is allowed.
    pub approximate: bool,
    /// Whether the approximation holds over the full range of divisors (`.full`).
    pub full_range: bool,
    /// `.NaN` of `min` and `max`: NaN if any input is NaN.
    pub nan: bool,
    /// Whether negative results become zero.
    pub relu: bool,
    /// `.xorsign` of `min` and `max` with `.abs`: magnitudes are compared, and the result gets the product's sign.
    pub xorsign: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PermuteMode {
    Generic,
    F4e,
    B4e,
    Rc8,
    Ecl,
    Ecr,
    Rc16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Half {
    Low,
    High,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CarryOp {
    Add,
    Subtract,
    MultiplyAdd(ProductPart),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Logic {
    And,
    Or,
    Xor,
}

impl Logic {
    /// Combines two sets of lanes.
    pub fn of(self, a: u32, b: u32) -> u32 {
        match self {
            Logic::And => a & b,
            Logic::Or => a | b,
            Logic::Xor => a ^ b,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatTest {
    Finite,
    Infinite,
    Number,
    NotANumber,
    Normal,
    Subnormal,
}

/// `cvt`. With two sources, the first becomes the upper half of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Convert {
    pub to: Type,
    pub from: Type,
    pub rounding: Option<Rounding>,
    /// Whether the rounding yields an integral number (`.rni` …).
    pub to_integral: bool,
    pub ftz: bool,
    pub saturate: bool,
    pub relu: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextureShape {
    OneD,
    TwoD,
    ThreeD,
    OneDArray,
    TwoDArray,
}

/// `bar` and `barrier` of a CTA. Sources: barrier, thread count (if given), predicate (of `red`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Barrier {
    pub kind: BarrierKind,
    /// Whether the thread count is a source.
    pub counted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BarrierKind {
    Sync,
    Arrive,
    CountTrue,
    AllTrue,
    AnyTrue,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vote {
    All,
    Any,
    Uniform,
    Ballot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shuffle {
    Up,
    Down,
    Butterfly,
    Index,
}

/// `redux.sync`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
}
