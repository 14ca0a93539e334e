//! Barriers of the CTA and of its cluster.
//!
//! From sm_70 on, a thread at a barrier waits for all live threads of its warp, and the warp arrives with the
//! last of them (ISA, "barrier"). Lanes of other paths run until they reach the same barrier or exit; if they
//! cannot, the warp stays divergent. Before sm_70, the first lanes at a barrier arrive for their whole warp.

use super::control::{Site, set_pc};
use super::{Event, ExecutionContext, Trap};
use crate::program::Step;
use crate::warp::{Arrival, ClusterPhase, State, WaitPoint, Warp};
use warpmem_ptx::{Barrier, BarrierKind, ClusterBarrier};

/// Maximum threads of a CTA.
const MAX_THREADS: u32 = 1024;

/// Executes `bar` and `barrier`. Lanes that wait for the rest of their warp execute it again when no other
/// path can run.
pub(super) fn arrive(
    warp: &mut Warp,
    ctx: &mut ExecutionContext<'_>,
    step: &Step,
    site: Site,
    barrier: Barrier,
) -> Result<Event, Trap> {
    meet(warp, ctx, site, |warp| arrival(warp, step, site.mask, barrier))
}

/// Executes `barrier.cluster`; the threads of a warp wait for each other here too (ISA, "barrier.cluster").
pub(super) fn meet_cluster(
    warp: &mut Warp,
    ctx: &mut ExecutionContext<'_>,
    site: Site,
    half: ClusterBarrier,
) -> Result<Event, Trap> {
    let mask = site.mask;
    meet(warp, ctx, site, |warp| {
        check_phase(warp.cluster_phase, half)
            .map_err(|reason| Trap::new(mask.trailing_zeros() as usize, reason))?;
        let at = WaitPoint::Cluster(half);
        Ok(Arrival { at, warps: None, holds: 0, lanes: mask, waits: true })
    })
}

/// Checks that each thread arrives exactly once before it waits.
fn check_phase(phase: ClusterPhase, half: ClusterBarrier) -> Result<(), &'static str> {
    match (half, phase) {
        (ClusterBarrier::Arrive, ClusterPhase::Arrived | ClusterPhase::Complete) => {
            Err("arrives at the cluster barrier twice without waiting in between")
        }
        (ClusterBarrier::Wait, ClusterPhase::Idle) => {
            Err("waits at the cluster barrier without having arrived")
        }
        _ => Ok(()),
    }
}

fn meet(
    warp: &mut Warp,
    ctx: &mut ExecutionContext<'_>,
    Site { pc, mask, .. }: Site,
    arrival: impl FnOnce(&Warp) -> Result<Arrival, Trap>,
) -> Result<Event, Trap> {
    if mask == 0 {
        set_pc(warp, pc + 1);
        return Ok(Event::None);
    }
    let top = warp.stack.paths().last();
    let (path, waits_already) = top.map_or((0, false), |top| (top.lanes, top.waits));
    if !waits_already {
        let arrival = arrival(warp)?;
        warp.stack.wait(if ctx.program.threads_arrive { mask } else { path });
        match gathered(warp.gathered, arrival) {
            Ok(gathered) => warp.gathered = Some(gathered),
            Err(at) => warp.state = State::Divided { at },
        }
    }
    Ok(match warp.state {
        State::Runs => gather(warp, ctx),
        _ => Event::None,
    })
}

/// Reads the operands of a barrier.
fn arrival(warp: &Warp, step: &Step, mask: u32, barrier: Barrier) -> Result<Arrival, Trap> {
    let lane = mask.trailing_zeros() as usize;
    let id = warp.narrow(step.sources[0])[lane];
    let id = u8::try_from(id).ok().filter(|&id| id < 16).ok_or_else(|| {
        let reason = format!("barrier {id}: a CTA has barriers 0 to 15");
        Trap::new(lane, reason)
    })?;
    let mut sources = step.sources[1..].iter();
    let threads =
        barrier.counted.then(|| sources.next()).flatten().map(|&source| warp.narrow(source)[lane]);
    let warps = threads.map(|threads| warps_of(threads).map_err(|reason| Trap::new(lane, reason)));
    let warps = warps.transpose()?;
    let holds = sources.next().map_or(0, |&condition| warp.predicate_of(condition) & mask);
    let waits = barrier.kind != BarrierKind::Arrive;
    let at = WaitPoint::Barrier(id);
    Ok(Arrival { at, warps, holds, lanes: mask, waits })
}

/// Converts a thread count to warps.
fn warps_of(threads: u32) -> Result<u8, String> {
    match threads {
        0 => Err("a barrier for 0 threads".to_owned()),
        _ if !threads.is_multiple_of(32) => {
            Err(format!("a barrier for {threads} threads, which is not a multiple of 32"))
        }
        1..=MAX_THREADS => Ok((threads / 32) as u8),
        _ => Err(format!("a barrier for {threads} threads: a CTA has at most {MAX_THREADS}")),
    }
}

/// Merges the arrival of lanes with the lanes that already wait; the error is the other barrier at which
/// those wait.
fn gathered(before: Option<Arrival>, arrival: Arrival) -> Result<Arrival, WaitPoint> {
    match before {
        None => Ok(arrival),
        Some(before) if before.at != arrival.at => Err(before.at),
        Some(before) => Ok(Arrival {
            holds: before.holds | arrival.holds,
            lanes: before.lanes | arrival.lanes,
            waits: before.waits | arrival.waits,
            ..arrival
        }),
    }
}

/// Arrives with the warp if all its lanes wait; otherwise lets other paths run.
fn gather(warp: &mut Warp, ctx: &mut ExecutionContext<'_>) -> Event {
    let Some(arrival) = warp.gathered else { return Event::None };
    if ctx.program.threads_arrive && warp.stack.waiting() != warp.stack.lanes() {
        if !warp.stack.switch() {
            warp.state = State::Divided { at: arrival.at };
        }
        return Event::None;
    }
    warp.gathered = None;
    let number = match arrival.at {
        WaitPoint::Barrier(number) => number,
        WaitPoint::Cluster(half) => {
            at_cluster_barrier(warp, ctx, half, arrival.lanes);
            return Event::None;
        }
    };
    let barrier = warpmem_trace::Barrier { id: number, warps: arrival.warps };
    if arrival.waits {
        warp.record(|records| {
            ctx.program.generation.begin_barrier(records, arrival.lanes);
            records.barrier(ctx.pc, barrier, arrival.lanes);
        });
        warp.state = State::AtBarrier { barrier: number };
    } else {
        warp.record(|records| records.barrier_arrive(ctx.pc, barrier, arrival.lanes));
        warp.stack.release();
    }
    Event::Barrier(number, arrival)
}

/// Completes a warp's arrival at half of the cluster barrier.
fn at_cluster_barrier(
    warp: &mut Warp,
    ctx: &mut ExecutionContext<'_>,
    half: ClusterBarrier,
    lanes: u32,
) {
    match half {
        ClusterBarrier::Arrive => {
            warp.record(|records| records.cluster_arrive(ctx.pc, lanes));
            warp.cluster_phase = ClusterPhase::Arrived;
            ctx.peers.has_arrivals = true;
            warp.stack.release();
        }
        ClusterBarrier::Wait => {
            warp.record(|records| records.cluster_wait(ctx.pc, lanes));
            let is_complete = warp.cluster_phase == ClusterPhase::Complete;
            warp.state = State::AtClusterBarrier;
            if is_complete {
                warp.leave_cluster_barrier();
            }
        }
    }
}
