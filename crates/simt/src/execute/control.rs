//! Branches, calls, and ends.

use warpmem_ptx::{Op, Wgmma};
use warpmem_trace::OpClass;

use super::mbarrier::{self, Operation};
use super::{Context, Event, Trap, barrier, record, system, warpgroup};
use crate::bounds::MOST_LOCAL;
use crate::image::function_at;
use crate::lanes::lanes_of;
use crate::program::{CallPlan, CallTarget, Passed, Source, Step};
use crate::recorder::WarpRecorder;
use crate::warp::Warp;

/// Whether an operation decides where its path goes on, or whether it does.
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

/// Executes a control instruction of the path with these lanes, of which `mask` pass its guard.
pub(super) fn step<W: WarpRecorder>(
    warp: &mut Warp<W>,
    ctx: &mut Context<'_>,
    step: &Step,
    pc: u32,
    lanes: u32,
    mask: u32,
) -> Result<Event, Trap> {
    match step.op {
        Op::Branch(target) => {
            record::one(warp, step, OpClass::Control, lanes);
            let meets = reconvergence(warp, ctx, pc);
            split(warp, &[(target, mask), (pc + 1, lanes & !mask)], meets);
        }
        Op::BranchIndexed(table) => {
            record::one(warp, step, OpClass::Control, lanes);
            branch_indexed(warp, ctx, step, pc, lanes, mask, table)?;
        }
        Op::Call(number) => {
            record::one(warp, step, OpClass::Control, lanes);
            set_pc(warp, pc + 1);
            if mask != 0 {
                call(warp, ctx, step, mask, number)?;
            }
        }
        Op::Return => {
            set_pc(warp, pc + 1);
            if warp.frames.len() > 1 {
                record::one(warp, step, OpClass::Control, lanes);
            } else {
                record_exit(warp, ctx, mask);
            }
            leave(warp, ctx, mask);
        }
        Op::Exit => {
            set_pc(warp, pc + 1);
            record_exit(warp, ctx, mask);
            warp.stack.exit(mask);
        }
        Op::Trap => {
            set_pc(warp, pc + 1);
            if let Some(lane) = lanes_of(mask).next() {
                return Err(Trap::new(lane, "the kernel trapped"));
            }
        }
        Op::Barrier(of) => {
            if mask != 0 {
                return barrier::arrive(warp, ctx, step, mask, of);
            }
            set_pc(warp, pc + 1);
        }
        Op::ClusterBarrier(half) => {
            if mask != 0 {
                return barrier::meet_cluster(warp, ctx, mask, half);
            }
            set_pc(warp, pc + 1);
        }
        Op::Mbarrier { f, space, offset } => {
            set_pc(warp, pc + 1);
            return mbarrier::execute(warp, ctx, step, mask, Operation { f, space, offset });
        }
        Op::Wgmma(Wgmma::Wait(pending)) => {
            let event = match mask {
                0 => Event::None,
                _ => warpgroup::wait(warp, ctx, step, mask, pending)?,
            };
            if matches!(event, Event::None) {
                set_pc(warp, pc + 1);
            }
            return Ok(event);
        }
        _ => {}
    }
    Ok(Event::None)
}

fn set_pc<R>(warp: &mut Warp<R>, pc: u32) {
    if let Some(top) = warp.stack.top_unchecked() {
        top.pc = pc;
    }
}

fn reconvergence<W: WarpRecorder>(warp: &Warp<W>, ctx: &Context<'_>, pc: u32) -> Option<u32> {
    ctx.program.routines[warp.frame().routine].flow.reconvergence(pc)
}

/// Sends the lanes of the top path their ways; those without a lane are no ways.
fn split<R>(warp: &mut Warp<R>, ways: &[(u32, u32)], meets: Option<u32>) {
    let taken: Vec<(u32, u32)> = ways.iter().copied().filter(|&(_, lanes)| lanes != 0).collect();
    warp.stack.split(&taken, meets);
}

fn branch_indexed<W: WarpRecorder>(
    warp: &mut Warp<W>,
    ctx: &Context<'_>,
    step: &Step,
    pc: u32,
    lanes: u32,
    mask: u32,
    table: u32,
) -> Result<(), Trap> {
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

/// Lanes enter a function. Where it is named by a register, lanes that call another one call it
/// next: the instruction is executed again for them.
fn call<W: WarpRecorder>(
    warp: &mut Warp<W>,
    ctx: &mut Context<'_>,
    step: &Step,
    mask: u32,
    number: u32,
) -> Result<(), Trap> {
    const DEEPEST: usize = 1000;
    let program = ctx.program;
    let plan: &CallPlan = &program.routines[warp.frame().routine].calls[number as usize];
    let Some(first) = lanes_of(mask).next() else { return Ok(()) };
    let (callee, lanes) = match plan.target {
        CallTarget::Routine(callee) => (callee, mask),
        CallTarget::Register => indirect(warp, ctx, step.sources[0], first, mask)?,
        CallTarget::System(system) => return system::call(warp, ctx, step, mask, plan, system),
    };
    if lanes != mask {
        return Err(Trap::new(first, "lanes of a warp call different functions"));
    }
    if warp.frames.len() >= DEEPEST {
        return Err(Trap::new(first, format!("calls are nested more than {DEEPEST} deep")));
    }
    let private = warp.private_bytes_with(program, callee);
    if private > MOST_LOCAL {
        let why = format!("nested calls need {private} bytes of local memory, of {MOST_LOCAL}");
        return Err(Trap::new(first, why));
    }
    let signature = &ctx.program.signatures[callee];
    let caller = *warp.frame();
    let pairs = plan.arguments.iter().zip(&signature.params);
    let values: Vec<LaneWords> = pairs
        .clone()
        .map(|(passed, &(_, bytes))| words_of(warp, step, caller.param, *passed, bytes, lanes))
        .collect();
    warp.push_frame(ctx.program, callee, number);
    let base = warp.frame().param;
    for ((_, &(to, bytes)), values) in pairs.zip(values) {
        write_words(warp, base + to, bytes, &values);
    }
    warp.stack.call(lanes);
    Ok(())
}

/// The routine at the address that the first lane has, and the lanes that have the same.
fn indirect<W: WarpRecorder>(
    warp: &Warp<W>,
    ctx: &Context<'_>,
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
        None => Err(Trap::new(first, format!("call of {address:#x}, where no function is"))),
    }
}

/// Lanes and their values.
pub(super) type LaneWords = Vec<(usize, u64)>;

/// Words of an argument, one after the other: for every word, the lanes and their values.
pub(super) fn words_of<R>(
    warp: &Warp<R>,
    step: &Step,
    base: u64,
    passed: Passed,
    bytes: u64,
    lanes: u32,
) -> LaneWords {
    let starts = || (0..bytes).step_by(8);
    match passed {
        Passed::Param { offset, bytes: held } => starts()
            .flat_map(|at| {
                let length = (bytes.min(held).saturating_sub(at)).min(8);
                lanes_of(lanes)
                    .map(move |lane| (lane, warp.params.read(lane, base + offset + at, length)))
            })
            .collect(),
        Passed::Value(at) => {
            let values = warp.wide(step.sources[at]);
            lanes_of(lanes).map(|lane| (lane, values[lane])).collect()
        }
    }
}

/// Writes what [`words_of`] has read.
pub(super) fn write_words<R>(warp: &mut Warp<R>, base: u64, bytes: u64, values: &[(usize, u64)]) {
    let words = bytes.div_ceil(8).max(1) as usize;
    let lanes = values.len() / words;
    for (word, values) in (0..).zip(values.chunks(lanes.max(1))) {
        let length = bytes.saturating_sub(word * 8).min(8);
        for &(lane, value) in values {
            warp.params.write(lane, base + word * 8, length, value);
        }
    }
}

/// Lanes return from the innermost function, with its results.
pub(super) fn leave<W: WarpRecorder>(warp: &mut Warp<W>, ctx: &Context<'_>, lanes: u32) {
    let frame = *warp.frame();
    if warp.frames.len() > 1 {
        let caller = warp.frames[warp.frames.len() - 2];
        let routine = &ctx.program.routines[caller.routine];
        let plan = &routine.calls[frame.call as usize];
        let signature = &ctx.program.signatures[frame.routine];
        let call = routine.steps.iter().find(|step| step.op == Op::Call(frame.call));
        for (passed, &(from, bytes)) in plan.results.iter().zip(&signature.results) {
            let source = Passed::Param { offset: from, bytes };
            match *passed {
                Passed::Param { offset, bytes: held } => {
                    let bytes = bytes.min(held);
                    let Some(call) = call else { continue };
                    let values = words_of(warp, call, frame.param, source, bytes, lanes);
                    write_words(warp, caller.param + offset, bytes, &values);
                }
                Passed::Value(at) => {
                    let Some(&dest) = call.and_then(|call| call.dests.get(at)) else { continue };
                    let mut values = [0; 32];
                    for lane in lanes_of(lanes) {
                        values[lane] = warp.params.read(lane, frame.param + from, bytes.min(8));
                    }
                    warp.in_caller(|warp| warp.set_wide(dest, &values, lanes));
                }
            }
        }
    }
    warp.stack.leave(lanes);
}

fn record_exit<W: WarpRecorder>(warp: &mut Warp<W>, ctx: &Context<'_>, mask: u32) {
    warp.recorder.exit(ctx.pc, mask);
}
