//! Trace records of instructions: their machine instructions with the registers of the trace.

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
        warp.record(|records| records.compute(OpClass::Tensor, mask, registers));
        others.retain(|&Reg(number)| u32::from(number) < narrow);
    }
}

/// Records the machine instructions of a step, apart from its memory access, barrier or exit.
pub(super) fn compute(warp: &mut Warp, step: &Step, mask: u32) {
    if warp.records.is_none() {
        return;
    }
    if step.renames {
        with_registers(warp, step, WarpAssembler::rename);
    }
    for &(class, count) in &step.counts {
        several(warp, step, class, count, mask);
    }
}

/// Records the instructions of a predicated body, which issue although no lane executes it.
pub(super) fn skipped(warp: &mut Warp, step: &Step) {
    for &(class, count) in &step.skipped {
        several(warp, step, class, count, 0);
    }
}
