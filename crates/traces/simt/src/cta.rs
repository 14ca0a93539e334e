//! A CTA: schedules its warps in a fixed order and synchronizes them at barriers.

use crate::bounds::Limits;
use crate::execute::{Event, ExecutionContext, Trap, step};
use crate::global::Global;
use crate::lanes::WARP;
use crate::peers::{Peers, address_in};
use crate::prepared::Prepared;
use crate::program::{Dest, Program, Step};
use crate::recorder::{Ended, WarpAssembler};
use crate::warp::{Arrival, Place, Rows, State, Warp};

/// Reason why a CTA stops.
pub(crate) enum Stop {
    /// A trap in the CTA of this rank.
    Trap {
        rank: usize,
        warp: usize,
        pc: u64,
        trap: Trap,
    },
    Limit(u64),
}

/// A running CTA.
pub(crate) struct Cta {
    pub number: u64,
    /// Rank in its cluster.
    rank: u32,
    pub block: [u32; 3],
    pub warps: Vec<Warp>,
    /// Printed text.
    output: String,
    barriers: [BarrierState; 16],
    /// Committed wgmma groups of each warp.
    committed: Vec<u64>,
}

/// Warps that have arrived at a barrier.
#[derive(Clone, Copy, Debug, Default)]
struct BarrierState {
    arrived: u32,
    /// Expected warps, if the barrier counts them.
    expected: Option<u32>,
    /// Arrived lanes, and those whose condition of a reduction holds.
    lanes: u32,
    holds: u32,
}

impl Cta {
    /// Creates a CTA, with the records of each warp; reuses the register memory of ended warps.
    pub fn new(
        prepared: &Prepared<'_>,
        number: u64,
        rank: u32,
        block: [u32; 3],
        mut records: impl FnMut() -> Option<WarpAssembler>,
        spare: &mut Vec<Rows>,
    ) -> Cta {
        let warp = |warp_in_cta| {
            let place = Place {
                grid: prepared.launch.grid,
                block: prepared.launch.block,
                cta: block,
                cluster: prepared.cluster,
                rank,
                cta_number: number,
                warp_in_cta,
                shared: [prepared.shared_bytes, prepared.launch.dynamic_shared],
                workspace: prepared.launch.workspace,
            };
            let params = prepared.params.len() as u64;
            Warp::new(&prepared.program, place, params, records(), spare.pop())
        };
        let warps: Vec<_> =
            (0..prepared.launch.threads().div_ceil(WARP as u32)).map(warp).collect();
        Cta {
            number,
            rank,
            block,
            committed: vec![0; warps.len()],
            warps,
            output: String::new(),
            barriers: [BarrierState::default(); 16],
        }
    }

    /// Returns the results of the completed CTA; recycles the memory of its warps.
    pub fn end(self, spare: &mut Vec<Rows>) -> Ended {
        let (warps, rows): (Vec<_>, Vec<_>) = self.warps.into_iter().map(Warp::into_parts).unzip();
        spare.extend(rows);
        Ended { number: self.number, block: self.block, warps, output: self.output }
    }

    pub fn has_ended(&self) -> bool {
        self.warps.iter().all(|warp| warp.state == State::Ended)
    }

    /// Runs each warp until it waits, ends, or exhausts its quantum; returns whether any made progress.
    pub fn round(
        &mut self,
        prepared: &Prepared<'_>,
        global: Global<'_>,
        peers: &mut Peers,
        executed: &mut u64,
        limits: Limits,
    ) -> Result<bool, Stop> {
        let mut shared = peers.take(self.rank);
        let mut ctx = ExecutionContext {
            program: &prepared.program,
            global,
            shared: &mut shared,
            shared_base: address_in(self.rank.into(), 0),
            peers,
            params: &prepared.params,
            window: prepared.launch.window,
            committed: &mut self.committed,
            pc: 0,
            output: &mut self.output,
        };
        let mut moved = false;
        for at in 0..self.warps.len() {
            let warp = &mut self.warps[at];
            let before = warp.executed;
            let event = run_warp(warp, &mut ctx, limits.warp_quantum);
            *executed += warp.executed - before;
            moved |= warp.executed > before;
            match event {
                Err(trap) => {
                    let rank = self.rank as usize;
                    return Err(Stop::Trap { rank, warp: at, pc: ctx.pc, trap });
                }
                Ok(Event::Barrier(number, arrival)) => {
                    arrive(&mut self.barriers, number, arrival);
                }
                Ok(Event::None | Event::Yield) => {}
            }
            release(&mut self.warps, &mut self.barriers, &prepared.program);
            if *executed > limits.instructions {
                return Err(Stop::Limit(limits.instructions));
            }
        }
        peers.give(self.rank, shared);
        Ok(moved)
    }
}

/// Runs a warp until it waits, ends, reaches a barrier, or exhausts its quantum.
fn run_warp(warp: &mut Warp, ctx: &mut ExecutionContext<'_>, quantum: u32) -> Result<Event, Trap> {
    for _ in 0..quantum {
        if warp.state != State::Runs {
            break;
        }
        match step(warp, ctx)? {
            Event::None => {}
            event => return Ok(event),
        }
    }
    Ok(Event::None)
}

fn arrive(barriers: &mut [BarrierState; 16], number: u8, arrival: Arrival) {
    let barrier = &mut barriers[usize::from(number)];
    barrier.arrived += 1;
    barrier.expected = arrival.warps.map(u32::from);
    barrier.lanes += arrival.lanes.count_ones();
    barrier.holds += arrival.holds.count_ones();
}

/// Releases the warps at every complete barrier.
fn release(warps: &mut [Warp], barriers: &mut [BarrierState; 16], program: &Program) {
    let live = warps.iter().filter(|warp| warp.state != State::Ended).count() as u32;
    for (number, barrier) in (0u8..).zip(barriers) {
        let expected = barrier.expected.unwrap_or(live);
        if barrier.arrived == 0 || barrier.arrived < expected {
            continue;
        }
        let done = std::mem::take(barrier);
        for warp in
            warps.iter_mut().filter(|warp| warp.state == State::AtBarrier { barrier: number })
        {
            warp.state = State::Runs;
            deliver(warp, program, done);
        }
    }
}

/// Resumes the lanes of a warp after a barrier, with the result of its reduction.
fn deliver(warp: &mut Warp, program: &Program, done: BarrierState) {
    for at in 0..warp.stack.paths().len() {
        let path = warp.stack.paths()[at];
        let steps = &program.routines[warp.frame().routine].steps;
        if let Some(step) = steps.get(path.pc as usize).filter(|_| path.waits) {
            deliver_to(warp, step, path.lanes, done);
        }
    }
    warp.stack.release();
}

/// Writes the result of a barrier reduction to the instruction's destination.
fn deliver_to(warp: &mut Warp, step: &Step, lanes: u32, done: BarrierState) {
    match step.dests.first() {
        Some(&dest @ Dest::Narrow(_)) => warp.set_narrow(dest, &[done.holds; WARP], lanes),
        Some(&dest @ Dest::Predicate(_)) => {
            let holds = match step.op {
                warpmem_ptx::Op::Barrier(barrier)
                    if barrier.kind == warpmem_ptx::BarrierKind::AllTrue =>
                {
                    done.holds == done.lanes
                }
                _ => done.holds > 0,
            };
            warp.set_predicate(dest, if holds { u32::MAX } else { 0 }, lanes);
        }
        _ => {}
    }
}
