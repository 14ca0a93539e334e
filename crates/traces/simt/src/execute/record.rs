//! Trace records of instructions: class, and number of machine instructions.

use warpmem_ptx::{Binary, ClusterOp, Mma, MmaForm, Op, Type, Unary, Wgmma};
use warpmem_trace::{OpClass, Reg, Registers};

use super::ExecutionContext;
use crate::program::{PC_STEP, Program, Step};
use crate::recorder::WarpAssembler;
use crate::warp::Warp;

/// Maximum registers of an instruction: `mma` reads 24.
const MAX: usize = 32;

/// Returns the program counter of an instruction of the innermost routine.
pub(super) fn address(warp: &Warp, program: &Program, pc: u32) -> u64 {
    program.routines[warp.frame().routine].pc + u64::from(pc) * PC_STEP
}

/// Calls a function with the records and the registers of an instruction, unless records are discarded.
#[inline(always)]
pub(super) fn with_registers(
    warp: &mut Warp,
    step: &Step,
    f: impl FnOnce(&mut WarpAssembler, Registers<'_>),
) {
    match warp.frames.len() {
        1 => {
            let (dests, srcs) = (&*step.writes, &*step.reads);
            warp.record(|records| f(records, Registers { dests, srcs, operands: step.operands }));
        }
        _ => with_moved_registers(warp, step, f),
    }
}

/// Offsets the registers of a function above those of its caller.
fn with_moved_registers(
    warp: &mut Warp,
    step: &Step,
    f: impl FnOnce(&mut WarpAssembler, Registers<'_>),
) {
    let (mut writes, mut reads) = ([Reg(0); MAX], [Reg(0); MAX]);
    let counts = [step.writes.len().min(MAX), step.reads.len().min(MAX)];
    for (to, &number) in writes.iter_mut().zip(&step.writes) {
        *to = warp.register(number);
    }
    for (to, &number) in reads.iter_mut().zip(&step.reads) {
        *to = warp.register(number);
    }
    let (dests, srcs) = (&writes[..counts[0]], &reads[..counts[1]]);
    warp.record(|records| f(records, Registers { dests, srcs, operands: step.operands }));
}

/// Records one instruction of a class.
pub(super) fn one(warp: &mut Warp, step: &Step, class: OpClass, mask: u32) {
    several(warp, step, class, 1, mask);
}

/// Records several instructions of a class, each dependent on the one before.
#[inline(always)]
pub(super) fn several(warp: &mut Warp, step: &Step, class: OpClass, count: u32, mask: u32) {
    if count == 0 {
        return;
    }
    with_registers(warp, step, |records, registers| {
        records.compute(class, mask, registers);
        if count > 1 {
            let again = Registers::new(registers.dests, registers.dests);
            (1..count).for_each(|_| records.compute(class, mask, again));
        }
    });
}

/// Records the parts of a `wmma` or warpgroup product, each as an `mma` with the same k that writes its
/// registers of D, reads them if D is added, and reads those of A and B. The first also reads descriptors and
/// predicates.
pub(super) fn product(
    warp: &mut Warp,
    ctx: &ExecutionContext<'_>,
    step: &Step,
    parts: usize,
    mask: u32,
    is_added: bool,
) {
    if warp.records.is_none() {
        return;
    }
    let narrow = ctx.program.routines[warp.frame().routine].rows[1];
    let is_other = |register: &&Reg| !step.writes.contains(register);
    let mut others: Vec<Reg> = step.reads.iter().filter(is_other).copied().collect();
    for writes in step.writes.chunks(step.writes.len().div_ceil(parts)) {
        let of_d = writes.iter().filter(|register| is_added && step.reads.contains(register));
        let reads: Vec<Reg> = others.iter().chain(of_d).map(|&at| warp.register(at)).collect();
        let writes: Vec<Reg> = writes.iter().map(|&at| warp.register(at)).collect();
        let registers = Registers::new(&writes, &reads);
        warp.record(|records| records.compute(Tensor, mask, registers));
        others.retain(|&Reg(number)| u32::from(number) < narrow);
    }
}

/// Records an instruction other than memory and control, as its machine instructions.
pub(super) fn compute(warp: &mut Warp, step: &Step, mask: u32) {
    if warp.records.is_none() {
        return;
    }
    for &(class, count) in machine_instructions(step.op) {
        several(warp, step, class, count, mask);
    }
}

use OpClass::{Control, Fp16, Fp32, Fp64, Integer, Other, Sfu, Tensor};

/// Returns the machine instructions of an operation, by class. Correctly rounded divisions and roots are
/// short programs (the common path of compilers' code); operations that only name an address or a parameter
/// are none.
fn machine_instructions(op: Op) -> &'static [(OpClass, u32)] {
    match op {
        Op::Unary(f, ty, modes) => unary(f, ty, modes.approximate),
        Op::Binary(Binary::Divide, ty, modes) => match (ty, modes.approximate) {
            (Type::F32, true) => &[(Sfu, 1), (Fp32, 1)],
            (Type::F32, false) => &[(Sfu, 1), (Fp32, 7)],
            (Type::F64, _) => &[(Sfu, 1), (Fp64, 8)],
            (ty, _) if ty.bits() == 64 => &[(Integer, 40), (Sfu, 2)],
            _ => &[(Integer, 12), (Sfu, 3)],
        },
        Op::Binary(Binary::Remainder, ty, _) => match ty.bits() {
            64 => &[(Integer, 42), (Sfu, 2)],
            _ => &[(Integer, 13), (Sfu, 3)],
        },
        Op::Binary(_, ty, _) | Op::Ternary(_, ty, _) => one_of(ty),
        Op::SetPredicate { ty, .. } | Op::Set { ty, .. } => one_of(ty),
        Op::Convert(conversion) if conversion.to.is_float() || conversion.from.is_float() => {
            if conversion.to.bits() == 64 || conversion.from.bits() == 64 {
                &[(Fp64, 1)]
            } else {
                &[(Sfu, 1)]
            }
        }
        // Address spaces share one address range on the hardware.
        Op::ConvertAddress { .. } | Op::Hint | Op::Nop => &[],
        Op::Load(access) if access.space == warpmem_ptx::Space::Param => &[],
        Op::Load(_) | Op::Store(_) | Op::Atomic(_) | Op::Reduce(_) | Op::Prefetch { .. } => &[],
        Op::CopyAsync { .. }
        | Op::Bulk { .. }
        | Op::Tensor { .. }
        | Op::ReplaceInMap { .. }
        | Op::PublishMap { .. }
        | Op::Cluster(ClusterOp::Store { .. } | ClusterOp::Reduce { .. })
        | Op::LoadMatrix(_)
        | Op::StoreMatrix(_)
        | Op::Texture { .. } => &[],
        Op::WmmaLoad(_) | Op::WmmaStore(_) => &[],
        Op::Fence | Op::Wgmma(Wgmma::Product(_)) => &[],
        Op::Mma(mma) => product_steps(mma),
        Op::Shuffle(_) | Op::Vote(_) | Op::Match { .. } | Op::ReduceLanes(..) => &[(Other, 1)],
        Op::WarpBarrier
        | Op::CopyAsyncCommit
        | Op::CopyAsyncWait(_)
        | Op::BulkGroup
        | Op::Wgmma(_)
        | Op::ProxyFence => &[(Control, 1)],
        // Recorded by `control`.
        Op::Branch(_)
        | Op::BranchIndexed(_)
        | Op::Call(_)
        | Op::Return
        | Op::Exit
        | Op::Trap
        | Op::Barrier(_)
        | Op::ClusterBarrier(_)
        | Op::Mbarrier { .. } => &[],
        Op::BitFieldInsert(_)
        | Op::Lop3 { .. }
        | Op::Permute(_)
        | Op::Funnel { .. }
        | Op::Dot { .. }
        | Op::Carry { .. }
        | Op::Video(_)
        | Op::VideoMultiplyAdd(_)
        | Op::VideoVector(_)
        | Op::Select(_)
        | Op::SelectBySign { .. }
        | Op::Test(..)
        | Op::Move(_)
        | Op::Pack(_)
        | Op::Unpack(_)
        | Op::Repack
        | Op::PackClamped { .. }
        | Op::Convert(_)
        | Op::IsSpace(_)
        | Op::CreatePolicy(_)
        | Op::CreateRangePolicy { .. }
        | Op::Cluster(ClusterOp::Map(_) | ClusterOp::Rank(_))
        | Op::MoveMatrix
        | Op::ActiveMask
        | Op::Elect => &[(Integer, 1)],
    }
}

/// Returns the machine instructions of a product, unless [`product`] records its parts. Quad-pair products
/// take one step for every two rows of D, or four of half precision.
fn product_steps(mma: Mma) -> &'static [(OpClass, u32)] {
    match mma.form {
        _ if mma.parts() > 1 => &[],
        MmaForm::QuadPairs { .. } if mma.d == Type::F16 => &[(Tensor, 2)],
        MmaForm::QuadPairs { .. } => &[(Tensor, 4)],
        _ => &[(Tensor, 1)],
    }
}

fn unary(f: Unary, ty: Type, approximate: bool) -> &'static [(OpClass, u32)] {
    match (f, ty) {
        (Unary::Reciprocal | Unary::SquareRoot, Type::F32) if !approximate => {
            &[(Sfu, 1), (Fp32, 5)]
        }
        (Unary::Reciprocal | Unary::SquareRoot | Unary::ReciprocalRoot, Type::F64) => {
            &[(Sfu, 1), (Fp64, 6)]
        }
        (
            Unary::Reciprocal
            | Unary::SquareRoot
            | Unary::ReciprocalRoot
            | Unary::Log2
            | Unary::Exp2
            | Unary::Tanh,
            _,
        ) => &[(Sfu, 1)],
        (Unary::Sine | Unary::Cosine, _) => &[(Fp32, 1), (Sfu, 1)],
        (_, ty) => one_of(ty),
    }
}

fn one_of(ty: Type) -> &'static [(OpClass, u32)] {
    match ty {
        Type::F32 => &[(Fp32, 1)],
        Type::F64 => &[(Fp64, 1)],
        Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2 => &[(Fp16, 1)],
        _ => &[(Integer, 1)],
    }
}
