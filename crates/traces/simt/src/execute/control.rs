//! Branches, calls and exits.

use warpmem_ptx::{Op, Wgmma};
use warpmem_trace::OpClass;

use super::words::{LaneWords, words_of, write_words};
use super::{ExecutionContext, Outcome, Trap, record, system};
use crate::bounds::MAX_LOCAL;
use crate::image::function_at;
use crate::lanes::lanes_of;
use crate::program::{CallPlan, CallTarget, Passed, Source, Step};
use crate::warp::Warp;

/// Position of a control instruction.
#[derive(Clone, Copy)]
pub(super) struct Site {
    pub pc: u32,
    /// Lanes of the path.
    pub lanes: u32,
    /// Lanes that pass the guard.
    pub mask: u32,
}

/// Returns whether an operation sets its path's continuation itself.
pub(super) fn is_control(op: Op) -> bool {
    matches!(
        op,
        Op::Branch(_)
            | Op::BranchIndexed(_)
            | Op::Call(_)
            | Op::Return
            | Op::Exit
            | Op::Trap
            | Op::Barrier(_)
            | Op::ClusterBarrier(_)
            | Op::Mbarrier { .. }
            | Op::Wgmma(Wgmma::Wait(_))
    )
}

/// Executes `bra`.
pub(super) fn branch(
    warp: &mut Warp,
    ctx: &ExecutionContext<'_>,
    step: &Step,
    site: Site,
    target: u32,
) {
    let Site { pc, lanes, mask } = site;
    match lanes & !mask {
        // The exit that follows is the branch.
        0 if step.ends_thread && warp.frames.len() == 1 => {}
        0 => {
            record::compute(warp, step, lanes);
            record::skipped(warp, step);
        }
        _ => record::compute(warp, step, lanes),
    }
    let meets = reconvergence(warp, ctx, pc);
    split(warp, &[(target, mask), (pc + 1, lanes & !mask)], meets);
}

/// Executes `ret`.
pub(super) fn ret(warp: &mut Warp, ctx: &ExecutionContext<'_>, step: &Step, site: Site) {
    set_pc(warp, site.pc + 1);
    if warp.frames.len() > 1 {
        record::one(warp, step, OpClass::Control, site.lanes);
    } else {
        record_exit(warp, ctx, site.mask);
    }
    leave(warp, ctx, site.mask);
}

/// Executes `exit`.
pub(super) fn exit(warp: &mut Warp, ctx: &ExecutionContext<'_>, site: Site) {
    set_pc(warp, site.pc + 1);
    record_exit(warp, ctx, site.mask);
    warp.stack.exit(site.mask);
}

/// Executes `trap`.
pub(super) fn trap(warp: &mut Warp, site: Site) -> Outcome {
    set_pc(warp, site.pc + 1);
    match lanes_of(site.mask).next() {
        Some(lane) => Err(Trap::new(lane, "the kernel trapped")),
        None => Ok(()),
    }
}

pub(super) fn set_pc(warp: &mut Warp, pc: u32) {
    if let Some(top) = warp.stack.top_unchecked() {
        top.pc = pc;
    }
}

fn reconvergence(warp: &Warp, ctx: &ExecutionContext<'_>, pc: u32) -> Option<u32> {
    ctx.program.routines[warp.frame().routine].flow.reconvergence(pc)
}

/// Splits the top path into `ways`, dropping those without lanes.
fn split(warp: &mut Warp, ways: &[(u32, u32)], meets: Option<u32>) {
    let taken: Vec<(u32, u32)> = ways.iter().copied().filter(|&(_, lanes)| lanes != 0).collect();
    warp.stack.split(&taken, meets);
}

/// Executes `brx.idx`.
pub(super) fn branch_indexed(
    warp: &mut Warp,
    ctx: &ExecutionContext<'_>,
    step: &Step,
    site: Site,
    table: u32,
) -> Outcome {
    let Site { pc, lanes, mask } = site;
    record::compute(warp, step, lanes);
    let targets = &ctx.program.routines[warp.frame().routine].branch_tables[table as usize];
    let indices = warp.narrow(step.sources[0]);
    let mut ways: Vec<(u32, u32)> = Vec::new();
    for lane in lanes_of(mask) {
        let Some(&target) = targets.get(indices[lane] as usize) else {
            let reason = format!("`brx` to target {} of {}", indices[lane], targets.len());
            return Err(Trap::new(lane, reason));
        };
        match ways.iter_mut().find(|(to, _)| *to == target) {
            Some((_, lanes)) => *lanes |= 1 << lane,
            None => ways.push((target, 1 << lane)),
        }
    }
    ways.push((pc + 1, lanes & !mask));
    let meets = reconvergence(warp, ctx, pc);
    split(warp, &ways, meets);
    Ok(())
}

/// Executes `call`. If a register names the function, lanes that call another function execute the
/// instruction again, and all lanes reconverge after it.
pub(super) fn call(
    warp: &mut Warp,
    ctx: &mut ExecutionContext<'_>,
    step: &Step,
    site: Site,
    number: u32,
) -> Outcome {
    let Site { pc, lanes, mask } = site;
    record::compute(warp, step, lanes);
    let program = ctx.program;
    let plan: &CallPlan = &program.routines[warp.frame().routine].calls[number as usize];
    let Some(first) = lanes_of(mask).next() else {
        set_pc(warp, pc + 1);
        return Ok(());
    };
    let (callee, entering) = match plan.target {
        CallTarget::Routine(callee) => (callee, mask),
        CallTarget::Register => indirect(warp, ctx, step.sources[0], first, mask)?,
        CallTarget::System(system) => {
            set_pc(warp, pc + 1);
            return system::call(warp, ctx, step, mask, plan, system);
        }
    };
    let others = mask & !entering;
    split(warp, &[(pc, others), (pc + 1, lanes & !others)], Some(pc + 1));
    enter(warp, ctx, step, (plan, number), callee, entering)
}

/// Enters a routine with the arguments of a call.
fn enter(
    warp: &mut Warp,
    ctx: &ExecutionContext<'_>,
    step: &Step,
    (plan, number): (&CallPlan, u32),
    callee: usize,
    lanes: u32,
) -> Outcome {
    const MAX_NESTING: usize = 1000;
    let lane = lanes.trailing_zeros() as usize;
    if warp.frames.len() >= MAX_NESTING {
        return Err(Trap::new(
            lane,
            format!("calls are nested more than {MAX_NESTING} levels deep"),
        ));
    }
    let private = warp.private_bytes_with(ctx.program, callee);
    if private > MAX_LOCAL {
        let why = format!("nested calls need {private} bytes of local memory, of {MAX_LOCAL}");
        return Err(Trap::new(lane, why));
    }
    let signature = &ctx.program.signatures[callee];
    let caller = *warp.frame();
    let pairs = plan.arguments.iter().zip(&signature.params);
    let values: Vec<LaneWords> = pairs
        .clone()
        .map(|(passed, slot)| words_of(warp, step, &caller, *passed, slot.bytes, lanes))
        .collect();
    warp.push_frame(ctx.program, callee, number);
    let entered = *warp.frame();
    for ((_, &slot), values) in pairs.zip(values) {
        write_words(warp, &entered, slot, &values);
    }
    warp.stack.call(lanes);
    Ok(())
}

/// Returns the routine at the first lane's address, and the lanes that share it.
fn indirect(
    warp: &Warp,
    ctx: &ExecutionContext<'_>,
    source: Source,
    first: usize,
    mask: u32,
) -> Result<(usize, u32), Trap> {
    let addresses = warp.wide(source);
    let address = addresses[first];
    let routine = function_at(address).and_then(|id| ctx.program.routine_of.get(&id).copied());
    let same = lanes_of(mask)
        .filter(|&lane| addresses[lane] == address)
        .fold(0, |mask, lane| mask | 1 << lane);
    match routine {
        Some(routine) => Ok((routine, same)),
        None => Err(Trap::new(first, format!("call of {address:#x}, which is not a function"))),
    }
}

/// Returns from the innermost function, with its results.
pub(super) fn leave(warp: &mut Warp, ctx: &ExecutionContext<'_>, lanes: u32) {
    let frame = *warp.frame();
    if warp.frames.len() > 1 {
        let caller = warp.frames[warp.frames.len() - 2];
        let routine = &ctx.program.routines[caller.routine];
        let plan = &routine.calls[frame.call as usize];
        let signature = &ctx.program.signatures[frame.routine];
        let call = routine.steps.iter().find(|step| step.op == Op::Call(frame.call));
        for (passed, &result) in plan.results.iter().zip(&signature.results) {
            match *passed {
                Passed::FrameSlot(slot) => {
                    let slot = slot.at_most(result.bytes);
                    let Some(call) = call else { continue };
                    let source = Passed::FrameSlot(result);
                    let values = words_of(warp, call, &frame, source, slot.bytes, lanes);
                    write_words(warp, &caller, slot, &values);
                }
                Passed::Value(at) => {
                    let Some(&dest) = call.and_then(|call| call.dests.get(at)) else { continue };
                    let mut values = [0; 32];
                    for lane in lanes_of(lanes) {
                        values[lane] = warp.read_slot(&frame, result, lane, 0, result.bytes.min(8));
                    }
                    warp.in_caller(|warp| warp.set_wide(dest, &values, lanes));
                }
            }
        }
    }
    warp.stack.leave(lanes);
}

fn record_exit(warp: &mut Warp, ctx: &ExecutionContext<'_>, mask: u32) {
    warp.record(|records| records.exit(ctx.pc, mask));
}
