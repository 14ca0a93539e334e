//! Barriers of the CTA.
//!
//! From sm_70 on, a thread that comes to a barrier waits for all threads of its warp that have not
//! ended, and the warp arrives with the last of them (ISA, "barrier"). Lanes of other paths go on
//! until they come to the same barrier or end; if they cannot, the warp is divided for ever. Before
//! sm_70, the first lanes that come to a barrier arrive for their whole warp.

use warpmem_ptx::{Barrier, BarrierKind};
use warpmem_trace::OpClass;

use super::{Context, Event, Trap, record};
use crate::program::Step;
use crate::recorder::WarpRecorder;
use crate::warp::{Arrival, State, Warp};

/// `bar` and `barrier`. Lanes that wait for the others of their warp come here again when no other
/// path is left to go on.
pub(super) fn arrive<W: WarpRecorder>(
    warp: &mut Warp<W>,
    ctx: &mut Context<'_>,
    step: &Step,
    mask: u32,
    barrier: Barrier,
) -> Result<Event, Trap> {
    let top = warp.stack.paths().last();
    let (path, waits_already) = top.map_or((0, false), |top| (top.lanes, top.waits));
    if !waits_already {
        let arrival = arrival(warp, step, mask, barrier)?;
        warp.stack.wait(if ctx.program.threads_arrive { mask } else { path });
        match gathered(warp.gathered, arrival) {
            Ok(gathered) => warp.gathered = Some(gathered),
            Err(barrier) => warp.state = State::Divided { barrier },
        }
    }
    Ok(match warp.state {
        State::Runs => gather(warp, ctx, step),
        _ => Event::None,
    })
}

/// The operands of a barrier.
fn arrival<R>(warp: &Warp<R>, step: &Step, mask: u32, barrier: Barrier) -> Result<Arrival, Trap> {
    let lane = mask.trailing_zeros() as usize;
    let id = warp.narrow(step.sources[0])[lane];
    let id = u8::try_from(id).ok().filter(|&id| id < 16).ok_or_else(|| {
        let reason = format!("barrier {id}: a CTA has barriers 0 to 15");
        Trap::new(lane, reason)
    })?;
    let mut sources = step.sources[1..].iter();
    let threads =
        barrier.counted.then(|| sources.next()).flatten().map(|&source| warp.narrow(source)[lane]);
    if let Some(threads) = threads.filter(|&threads| threads == 0 || threads % 32 != 0) {
        let reason = format!("a barrier for {threads} threads, which is not a multiple of 32");
        return Err(Trap::new(lane, reason));
    }
    let holds = sources.next().map_or(0, |&condition| warp.predicate_of(condition) & mask);
    let waits = barrier.kind != BarrierKind::Arrive;
    Ok(Arrival { barrier: id, warps: threads.map(|n| n / 32), holds, lanes: mask, waits })
}

/// The arrival of lanes together with those that wait for them. The error is the barrier at which
/// they wait, if it is another one.
fn gathered(before: Option<Arrival>, arrival: Arrival) -> Result<Arrival, u8> {
    match before {
        None => Ok(arrival),
        Some(before) if before.barrier != arrival.barrier => Err(before.barrier),
        Some(before) => Ok(Arrival {
            holds: before.holds | arrival.holds,
            lanes: before.lanes | arrival.lanes,
            waits: before.waits | arrival.waits,
            ..arrival
        }),
    }
}

/// The warp arrives if all of its lanes wait; otherwise others go on.
fn gather<W: WarpRecorder>(warp: &mut Warp<W>, ctx: &Context<'_>, step: &Step) -> Event {
    let Some(arrival) = warp.gathered else { return Event::None };
    if ctx.program.threads_arrive && warp.stack.waiting() != warp.stack.lanes() {
        if !warp.stack.switch() {
            warp.state = State::Divided { barrier: arrival.barrier };
        }
        return Event::None;
    }
    warp.gathered = None;
    if arrival.waits {
        warp.recorder.barrier(ctx.pc, arrival.barrier, arrival.lanes);
        warp.state = State::AtBarrier { barrier: arrival.barrier };
    } else {
        record::one(warp, step, OpClass::Control, arrival.lanes);
        warp.stack.release();
    }
    Event::Barrier(arrival)
}
