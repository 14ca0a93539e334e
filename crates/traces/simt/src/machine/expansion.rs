//! Expansions: the machine instructions of each operation, by class and generation.
//!
//! Measured: kernels with one operation on loaded values, compiled by ptxas 12.9 for sm_70, sm_75, sm_80, sm_86
//! and sm_90, less the same kernels without it (docs/lab/machine-code.md). Where a program has a slow path
//! for rare operands, the counts are those of the common one. Conversions of 32 bits run on the special function
//! units, and those of 64 bits where double precision does.

use warpmem_ptx::{
    Access, Binary, CarryOp, ClusterOp, Convert, Mma, MmaForm, Modes, Op, ProductPart, Rounding,
    Space, Ternary, Type, Unary, Wgmma,
};
use warpmem_trace::OpClass;

use super::Count;
use super::generation::Generation;
use OpClass::{Control, Fp16, Fp32, Fp64, Integer, Sfu, Tensor, Uniform};

/// Machine instructions of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Expansion {
    pub counts: &'static [Count],
    /// Whether a branch leads to a slow path for rare operands.
    pub has_slow_path: bool,
}

const fn plain(counts: &'static [Count]) -> Expansion {
    Expansion { counts, has_slow_path: false }
}

const fn branching(counts: &'static [Count]) -> Expansion {
    Expansion { counts, has_slow_path: true }
}

const NONE: Expansion = plain(&[]);

/// Returns the machine instructions of an operation; `constant` tells whether an operand is a constant.
/// Accesses, branches, barriers and exits are not among them.
pub(super) fn of(op: Op, constant: bool, generation: Generation) -> Expansion {
    match op {
        Op::Unary(f, ty, modes) => unary(f, ty, modes, generation),
        Op::Binary(Binary::Divide | Binary::Remainder, ty, modes) if ty.is_float() => {
            divide(ty, modes)
        }
        Op::Binary(f @ (Binary::Divide | Binary::Remainder), ty, _) => {
            let index = usize::from(generation > Generation::Volta);
            plain(quotient(f == Binary::Divide, ty, constant)[index])
        }
        Op::Binary(f, ty, _) => plain(binary(f, ty, constant, generation)),
        Op::Ternary(f, ty, _) => plain(ternary(f, ty, constant)),
        Op::SetPredicate { ty, .. } | Op::Test(_, ty) => plain(by_words(ty)),
        Op::Set { ty, .. } => plain(set(ty)),
        Op::Select(ty) => plain(select(ty)),
        Op::SelectBySign { ty: Type::F32, .. } => plain(&[(Fp32, 1), (Integer, 1)]),
        Op::SelectBySign { ty, .. } => plain(if ty.bits() == 64 { &[(Integer, 3)] } else { TWO }),
        Op::Carry { op, ty, .. } => plain(carry(op, ty)),
        Op::BitFieldInsert(ty) => plain(insert(ty, constant)),
        Op::Move(ty) => plain(if ty.bits() == 64 { &[(Integer, 2)] } else { ONE }),
        Op::Convert(conversion) => plain(convert(conversion, generation)),
        Op::Load(Access { space: Space::Param, .. }) if generation.loads_constants() => {
            plain(&[(Uniform, 1)])
        }
        Op::Mma(mma) => plain(product_steps(mma)),
        Op::Shuffle(_) | Op::Vote(_) | Op::Match { .. } => plain(ONE),
        Op::ReduceLanes(..) => plain(&[(Uniform, 1)]),
        Op::ActiveMask => plain(&[(Integer, 4)]),
        Op::WarpBarrier
        | Op::CopyAsyncCommit
        | Op::CopyAsyncWait(_)
        | Op::BulkGroup
        | Op::ProxyFence => plain(&[(Control, 1)]),
        Op::Wgmma(Wgmma::Product(_)) => NONE,
        Op::Wgmma(_) => plain(&[(Control, 1)]),
        Op::Lop3 { .. }
        | Op::Permute(_)
        | Op::Funnel { .. }
        | Op::Dot { .. }
        | Op::Video(_)
        | Op::VideoMultiplyAdd(_)
        | Op::VideoVector(_)
        | Op::Pack(_)
        | Op::Unpack(_)
        | Op::Repack
        | Op::PackClamped { .. }
        | Op::IsSpace(_)
        | Op::CreatePolicy(_)
        | Op::CreateRangePolicy { .. }
        | Op::Cluster(ClusterOp::Map(_) | ClusterOp::Rank(_))
        | Op::MoveMatrix
        | Op::Elect => plain(ONE),
        // Recorded where they are executed: accesses with their addresses, and control.
        Op::ConvertAddress { .. }
        | Op::Hint
        | Op::Nop
        | Op::Load(_)
        | Op::Store(_)
        | Op::Atomic(_)
        | Op::Reduce(_)
        | Op::Prefetch { .. }
        | Op::CopyAsync { .. }
        | Op::Bulk { .. }
        | Op::Tensor { .. }
        | Op::ReplaceInMap { .. }
        | Op::PublishMap { .. }
        | Op::Cluster(ClusterOp::Store { .. } | ClusterOp::Reduce { .. })
        | Op::LoadMatrix(_)
        | Op::StoreMatrix(_)
        | Op::Texture { .. }
        | Op::WmmaLoad(_)
        | Op::WmmaStore(_)
        | Op::Fence
        | Op::Branch(_)
        | Op::BranchIndexed(_)
        | Op::Call(_)
        | Op::Return
        | Op::Exit
        | Op::Trap
        | Op::Barrier(_)
        | Op::ClusterBarrier(_)
        | Op::Mbarrier { .. } => NONE,
    }
}

const ONE: &[Count] = &[(Integer, 1)];
const TWO: &[Count] = &[(Integer, 2)];

/// Returns one instruction per 32-bit word, or one of floating point.
fn by_words(ty: Type) -> &'static [Count] {
    match ty {
        Type::F32 => &[(Fp32, 1)],
        Type::F64 => &[(Fp64, 1)],
        Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2 => &[(Fp16, 1)],
        ty if ty.bits() == 64 => TWO,
        _ => ONE,
    }
}

/// Division of floating-point numbers: a reciprocal, Newton steps, and a check of the range.
fn divide(ty: Type, modes: Modes) -> Expansion {
    match (ty, modes.approximate, modes.full_range, modes.ftz) {
        (Type::F64, ..) => branching(&[(Sfu, 1), (Fp64, 8), (Fp32, 3), (Integer, 1)]),
        (_, false, ..) => branching(&[(Sfu, 1), (Fp32, 6)]),
        (_, true, true, false) => plain(&[(Sfu, 1), (Fp32, 9)]),
        (_, true, true, true) | (_, true, false, false) => plain(&[(Sfu, 1), (Fp32, 6)]),
        (_, true, false, true) => plain(&[(Sfu, 1), (Fp32, 1)]),
    }
}

/// Integer quotient or remainder, on Volta and later: conversion to single precision, reciprocal, back, and
/// corrections. A divisor that is a constant saves the checks of its sign and of zero.
fn quotient(divide: bool, ty: Type, constant: bool) -> [&'static [Count]; 2] {
    match (ty, divide, constant) {
        (Type::U64 | Type::S64, ..) => quotient_of_64_bits(divide, ty, constant),
        (Type::U16, true, _) => [
            &[(Integer, 9), (Sfu, 4), (Fp32, 7), (Control, 2)],
            &[(Integer, 8), (Sfu, 4), (Fp32, 7), (Control, 2)],
        ],
        (Type::U16, false, _) => [
            &[(Integer, 11), (Sfu, 4), (Fp32, 7), (Control, 2)],
            &[(Integer, 10), (Sfu, 4), (Fp32, 7), (Control, 2)],
        ],
        (Type::S16, true, _) => [
            &[(Integer, 15), (Sfu, 4), (Fp32, 7), (Control, 2)],
            &[(Integer, 14), (Sfu, 4), (Fp32, 7), (Control, 2)],
        ],
        (Type::S16, false, _) => [
            &[(Integer, 16), (Sfu, 4), (Fp32, 7), (Control, 2)],
            &[(Integer, 15), (Sfu, 4), (Fp32, 7), (Control, 2)],
        ],
        (Type::S32, true, false) => [&[(Integer, 21), (Sfu, 3)], &[(Integer, 22), (Sfu, 3)]],
        (Type::S32, false, false) => [&[(Integer, 21), (Sfu, 3)], &[(Integer, 20), (Sfu, 3)]],
        (Type::S32, true, true) => [&[(Integer, 16), (Sfu, 3)], &[(Integer, 15), (Sfu, 3)]],
        (Type::S32, false, true) => [&[(Integer, 14), (Sfu, 3)], &[(Integer, 13), (Sfu, 3)]],
        (_, true, false) => [&[(Integer, 16), (Sfu, 3)], &[(Integer, 15), (Sfu, 3)]],
        (_, false, false) => [&[(Integer, 14), (Sfu, 3)]; 2],
        (_, true, true) => [&[(Integer, 11), (Sfu, 3)]; 2],
        (_, false, true) => [&[(Integer, 10), (Sfu, 3)]; 2],
    }
}

/// Quotients and remainders of 64 bits are functions, with a call and a return.
fn quotient_of_64_bits(divide: bool, ty: Type, constant: bool) -> [&'static [Count]; 2] {
    match (ty, divide, constant) {
        (Type::S64, true, false) => [
            &[(Integer, 88), (Sfu, 1), (Fp64, 2), (Control, 2)],
            &[(Integer, 83), (Sfu, 1), (Fp64, 2), (Control, 2)],
        ],
        (Type::S64, false, false) => [
            &[(Integer, 82), (Sfu, 1), (Fp64, 2), (Control, 2)],
            &[(Integer, 77), (Sfu, 1), (Fp64, 2), (Control, 2)],
        ],
        (Type::S64, true, true) => [
            &[(Integer, 74), (Sfu, 1), (Fp64, 2), (Control, 2)],
            &[(Integer, 69), (Sfu, 1), (Fp64, 2), (Control, 2)],
        ],
        (Type::S64, false, true) => [
            &[(Integer, 70), (Sfu, 1), (Fp64, 2), (Control, 2)],
            &[(Integer, 65), (Sfu, 1), (Fp64, 2), (Control, 2)],
        ],
        (_, true, false) => [
            &[(Integer, 71), (Sfu, 1), (Fp64, 2), (Control, 2)],
            &[(Integer, 67), (Sfu, 1), (Fp64, 2), (Control, 2)],
        ],
        (_, false, false) => [
            &[(Integer, 67), (Sfu, 1), (Fp64, 2), (Control, 2)],
            &[(Integer, 63), (Sfu, 1), (Fp64, 2), (Control, 2)],
        ],
        (_, true, true) => [
            &[(Integer, 64), (Sfu, 1), (Fp64, 2), (Control, 2)],
            &[(Integer, 60), (Sfu, 1), (Fp64, 2), (Control, 2)],
        ],
        (_, false, true) => [
            &[(Integer, 60), (Sfu, 1), (Fp64, 2), (Control, 2)],
            &[(Integer, 56), (Sfu, 1), (Fp64, 2), (Control, 2)],
        ],
    }
}

/// Functions of one operand. Without `.ftz`, approximations scale subnormal operands and results.
fn unary(f: Unary, ty: Type, modes: Modes, generation: Generation) -> Expansion {
    let exact = !modes.approximate;
    match (f, ty) {
        (Unary::Reciprocal, Type::F32) if exact => branching(&[(Sfu, 1), (Fp32, 3), (Integer, 3)]),
        (Unary::SquareRoot, Type::F32) if exact && modes.rounding == Rounding::Nearest => {
            branching(&[(Sfu, 1), (Fp32, 4), (Integer, 2)])
        }
        (Unary::SquareRoot, Type::F32) if exact => branching(&[(Sfu, 1), (Fp32, 8), (Integer, 2)]),
        (Unary::Reciprocal, Type::F64) if exact => {
            branching(&[(Sfu, 1), (Fp64, 5), (Fp32, 1), (Integer, 1)])
        }
        (Unary::SquareRoot, Type::F64) => branching(&[(Sfu, 1), (Fp64, 8), (Integer, 6)]),
        (Unary::Reciprocal | Unary::ReciprocalRoot, Type::F64) if modes.ftz => {
            plain(&[(Sfu, 1), (Integer, 1)])
        }
        (Unary::Reciprocal | Unary::ReciprocalRoot, Type::F64) => {
            branching(&[(Sfu, 1), (Fp64, 5), (Integer, 5)])
        }
        (Unary::Reciprocal, Type::F32) if !modes.ftz => plain(&[(Sfu, 1), (Fp32, 6), (Integer, 1)]),
        (Unary::SquareRoot | Unary::ReciprocalRoot | Unary::Log2 | Unary::Exp2, Type::F32)
            if !modes.ftz =>
        {
            plain(&[(Sfu, 1), (Fp32, 4)])
        }
        (Unary::Exp2 | Unary::Tanh, Type::F16x2 | Type::Bf16x2) => plain(&[(Sfu, 2), (Integer, 1)]),
        (
            Unary::Reciprocal
            | Unary::SquareRoot
            | Unary::ReciprocalRoot
            | Unary::Log2
            | Unary::Exp2
            | Unary::Tanh,
            _,
        ) => plain(&[(Sfu, 1)]),
        (Unary::Sine | Unary::Cosine, _) => plain(&[(Fp32, 1), (Sfu, 1)]),
        (Unary::FindBit { .. }, _) if ty.bits() == 64 => find_bit(f, ty),
        _ => plain(simple_unary(f, ty, generation)),
    }
}

/// `bfind` of 64 bits: of the upper word, or else of the lower.
fn find_bit(f: Unary, ty: Type) -> Expansion {
    match (f, ty.is_signed()) {
        (Unary::FindBit { shift_amount: true }, true) => branching(&[(Integer, 8)]),
        (Unary::FindBit { shift_amount: true }, false) => plain(&[(Integer, 7)]),
        _ => branching(&[(Integer, 3)]),
    }
}

/// Functions of one operand without approximations.
fn simple_unary(f: Unary, ty: Type, generation: Generation) -> &'static [Count] {
    match (f, ty.bits()) {
        (Unary::Abs, 32) if !ty.is_float() && generation == Generation::Hopper => TWO,
        (Unary::Negate, 16) if ty.is_signed() => TWO,
        (Unary::Cnot, 16) => &[(Integer, 4)],
        (Unary::Abs, 64) if !ty.is_float() => &[(Integer, 5)],
        (Unary::Abs, 16) if !ty.is_float() => &[(Integer, 3)],
        (Unary::Cnot, 64) => &[(Integer, 5)],
        (Unary::Cnot, _) => &[(Integer, 3)],
        (Unary::CountLeadingZeros, 64) => &[(Integer, 6)],
        (Unary::CountLeadingZeros, _) => TWO,
        (Unary::CountOnes, 64) => &[(Integer, 3)],
        _ => by_words(ty),
    }
}

fn binary(f: Binary, ty: Type, constant: bool, generation: Generation) -> &'static [Count] {
    match (f, ty.bits()) {
        (Binary::CopySign, bits) => {
            if bits == 64 {
                TWO
            } else {
                ONE
            }
        }
        (Binary::Multiply(ProductPart::Low), 64) => &[(Integer, 4)],
        (Binary::Multiply(ProductPart::High), 64) if ty.is_signed() => &[(Integer, 17)],
        (Binary::Multiply(ProductPart::High), 64) => &[(Integer, 7)],
        (Binary::Multiply(ProductPart::Wide), _) => ONE,
        (Binary::Min | Binary::Max, 64) if ty.is_float() => &[(Fp64, 1), (Fp32, 1), (Integer, 7)],
        (Binary::Min | Binary::Max, 64) => &[(Integer, 4)],
        (Binary::Min | Binary::Max, 16 | 32)
            if ty.is_integer() && generation == Generation::Volta =>
        {
            TWO
        }
        (Binary::Subtract, 16) if ty.is_integer() => &[(Integer, 3)],
        (Binary::Multiply(ProductPart::High), 16) => TWO,
        (Binary::Multiply24 { .. }, _) => &[(Integer, 3)],
        (Binary::ShiftLeft | Binary::ShiftRight, 16) if !constant => &[(Integer, 4)],
        _ => by_words(ty),
    }
}

fn ternary(f: Ternary, ty: Type, constant: bool) -> &'static [Count] {
    match (f, ty.bits()) {
        (Ternary::MultiplyAdd(ProductPart::Low), 64) => &[(Integer, 4)],
        (Ternary::MultiplyAdd(ProductPart::High), 64) if ty.is_signed() => &[(Integer, 17)],
        (Ternary::MultiplyAdd(ProductPart::High), 64) => &[(Integer, 7)],
        (Ternary::MultiplyAdd(ProductPart::High), _) => TWO,
        (Ternary::MultiplyAdd(ProductPart::Wide), 32) if !constant => &[(Integer, 3)],
        (Ternary::MultiplyAdd(ProductPart::Wide), _) => ONE,
        (Ternary::SumOfDifferences, 64) => &[(Integer, 10)],
        (Ternary::SumOfDifferences, 16) if ty.is_signed() => TWO,
        (Ternary::Multiply24Add { .. }, _) => &[(Integer, 3)],
        (Ternary::BitFieldExtract, bits) => extract(bits, ty.is_signed(), constant),
        (Ternary::Min3 | Ternary::Max3, _) => &[(Fp32, 2)],
        _ => by_words(ty),
    }
}

/// `set`: a comparison, and the choice of its result.
fn set(ty: Type) -> &'static [Count] {
    match ty {
        Type::F32 => &[(Fp32, 1), (Integer, 1)],
        Type::F64 => &[(Fp64, 1), (Integer, 1)],
        ty if ty.bits() == 64 => &[(Integer, 3)],
        _ => TWO,
    }
}

fn select(ty: Type) -> &'static [Count] {
    match ty {
        Type::F64 => &[(Fp32, 2)],
        _ => by_words(ty),
    }
}

/// Bit fields have no instructions of their own: they are shifts and masks, which constants shorten.
fn extract(bits: u32, is_signed: bool, constant: bool) -> &'static [Count] {
    match (bits, is_signed, constant) {
        (64, true, true) => &[(Integer, 7)],
        (64, true, false) => &[(Integer, 18)],
        (64, false, true) => &[(Integer, 3)],
        (64, false, false) => &[(Integer, 9)],
        (_, _, true) => TWO,
        _ => &[(Integer, 5)],
    }
}

fn insert(ty: Type, constant: bool) -> &'static [Count] {
    match (ty.bits(), constant) {
        (64, true) => &[(Integer, 5)],
        (64, false) => &[(Integer, 13)],
        (_, true) => TWO,
        _ => &[(Integer, 6)],
    }
}

/// Sums with the carry of another: one instruction per word.
fn carry(op: CarryOp, ty: Type) -> &'static [Count] {
    match (op, ty.bits()) {
        (CarryOp::MultiplyAdd(_), 64) => &[(Integer, 8)],
        (CarryOp::MultiplyAdd(_), _) => TWO,
        _ => by_words(ty),
    }
}

fn convert(conversion: Convert, generation: Generation) -> &'static [Count] {
    let Convert { to, from, to_integral, .. } = conversion;
    let is_half = |ty: Type| matches!(ty, Type::F16 | Type::Bf16);
    match (to, from) {
        _ if !to.is_float() && !from.is_float() => ONE,
        _ if to.bits() == 64 || from.bits() == 64 => &[(Fp64, 1)],
        (Type::F32, from) if is_half(from) => &[(Fp16, 1)],
        (to, Type::F32) if is_half(to) && !to_integral && generation >= Generation::Ampere => ONE,
        _ => &[(Sfu, 1)],
    }
}

/// Returns the machine instructions of a product, unless its parts are recorded one by one. Quad-pair
/// products take one step for every two rows of D, or four of half precision.
fn product_steps(mma: Mma) -> &'static [Count] {
    match mma.form {
        _ if mma.parts() > 1 => &[],
        MmaForm::QuadPairs { .. } if mma.d == Type::F16 => &[(Tensor, 2)],
        MmaForm::QuadPairs { .. } => &[(Tensor, 4)],
        _ => &[(Tensor, 1)],
    }
}
