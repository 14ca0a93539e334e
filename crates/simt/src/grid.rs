//! A launch: CTAs that take turns, and the warps of each that do.
//!
//! A CTA usually runs from its begin to its end alone. One that takes longer than its first turn may
//! wait for another: it then takes turns with all that have begun, and after each round of them as
//! many more begin.

use std::collections::VecDeque;

use warpmem_ptx::FunctionId;

use crate::error::{Fault, LaunchError};
use crate::execute::{Arrival, Context, Event, Trap, is_supported, step};
use crate::image::Image;
use crate::lanes::WARP;
use crate::launch::Launch;
use crate::memory::DeviceMemory;
use crate::program::{Dest, Program, Step};
use crate::recorder::{Recorder, WarpRecorder};
use crate::warp::{Place, Rows, State, Warp};

/// Instructions that a warp executes before the next one of its CTA does.
const WARP_TURN: u32 = 1 << 12;
/// Instructions after which the first turn of a CTA is over, and a later one.
const FIRST_TURN: u64 = 1 << 16;
const LATER_TURN: u64 = 1 << 12;
/// Bytes of shared memory that a CTA can have on any architecture (sm_90 and sm_100).
const MOST_SHARED: u32 = 227 << 10;
/// Most CTAs that have begun and not ended.
const RESIDENT: usize = 4096;

/// Bounds of a run.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Warp instructions after which a kernel is taken to run for ever.
    pub instructions: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { instructions: u64::MAX }
    }
}

/// Told how far a kernel is; may stop it.
pub trait Progress {
    /// CTAs that have ended, and warp instructions executed. Whether the kernel is to go on.
    fn advance(&self, ctas: u64, instructions: u64) -> bool;
}

impl Progress for () {
    fn advance(&self, _: u64, _: u64) -> bool {
        true
    }
}

/// A kernel that is ready to be launched.
pub struct Run<'a> {
    image: &'a Image,
    launch: &'a Launch,
    program: Program,
    params: Vec<u8>,
    shared_bytes: u32,
}

/// What a launch did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub ctas: u64,
    pub warps: u64,
    pub warp_instructions: u64,
}

impl<'a> Run<'a> {
    /// Prepares a launch.
    ///
    /// # Errors
    /// When there is no such kernel, it needs what is not supported, or the launch does not fit it.
    pub fn new(image: &'a Image, launch: &'a Launch) -> Result<Run<'a>, LaunchError> {
        let module = image.module();
        let id = find(image, &launch.kernel)?;
        let kernel = module.function(id);
        launch.check_dimensions()?;
        launch.check_threads(kernel)?;
        let params = launch.params.memory(module, kernel)?;
        let program = Program::of(image, id)?;
        program.check_supported(module, id, is_supported)?;
        let shared_bytes = program.shared_bytes.saturating_add(launch.dynamic_shared);
        match shared_bytes <= MOST_SHARED {
            true => Ok(Run { image, launch, program, params, shared_bytes }),
            false => {
                Err(LaunchError::Shared { kernel: launch.kernel.clone(), bytes: shared_bytes })
            }
        }
    }

    /// Registers of a thread: an estimate from the values that are live at once.
    pub fn registers(&self) -> u32 {
        self.program.registers
    }

    /// Bytes of shared memory of a CTA.
    pub fn shared_bytes(&self) -> u32 {
        self.shared_bytes
    }

    /// Executes the kernel.
    ///
    /// # Errors
    /// When a thread does what is not allowed, the kernel cannot go on or goes beyond a limit, the
    /// recorder fails, or `progress` says that it is to stop.
    pub fn execute<R: Recorder>(
        &self,
        memory: &mut DeviceMemory,
        recorder: &mut R,
        limits: Limits,
        progress: &dyn Progress,
    ) -> Result<Counts, LaunchError> {
        let total: u64 = self.launch.grid.iter().map(|&n| u64::from(n)).product();
        let mut counts = Counts::default();
        let mut resident: VecDeque<Cta<R::Warp>> = VecDeque::new();
        let mut spare = Vec::new();
        let mut next = 0;
        while counts.ctas < total {
            for _ in 0..resident.len().max(1) {
                if next < total && resident.len() < RESIDENT {
                    resident.push_back(Cta::new(self, next, recorder, &mut spare));
                    next += 1;
                }
            }
            let mut moved = false;
            for _ in 0..resident.len() {
                let Some(mut cta) = resident.pop_front() else { break };
                let before = counts.warp_instructions;
                let turn = cta.turn(self, memory, &mut counts.warp_instructions, limits);
                moved |= counts.warp_instructions > before;
                turn.map_err(|stop| self.stopped(stop, &cta, &resident))?;
                if cta.has_ended() {
                    counts.ctas += 1;
                    counts.warps += cta.warps.len() as u64;
                    let parts = cta.warps.into_iter().map(Warp::into_parts);
                    let (warps, rows): (Vec<_>, Vec<_>) = parts.unzip();
                    spare.extend(rows);
                    recorder.end_cta(cta.number, cta.block, warps)?;
                } else {
                    resident.push_back(cta);
                }
                if !progress.advance(counts.ctas, counts.warp_instructions) {
                    return Err(LaunchError::Cancelled);
                }
            }
            if !moved && !resident.is_empty() && (next == total || resident.len() == RESIDENT) {
                let waiting = self.waiting(resident.iter());
                return Err(LaunchError::Deadlock { kernel: self.launch.kernel.clone(), waiting });
            }
        }
        Ok(counts)
    }

    fn stopped<W>(&self, stop: Stop, cta: &Cta<W>, others: &VecDeque<Cta<W>>) -> LaunchError {
        let kernel = self.launch.kernel.clone();
        match stop {
            Stop::Trap { warp, pc, trap } => {
                let fault = Box::new(self.fault(&cta.warps[warp], pc, trap));
                LaunchError::Fault { kernel, fault }
            }
            Stop::Limit(instructions) => {
                let waiting = self.waiting(std::iter::once(cta).chain(others));
                LaunchError::Limit { kernel, instructions, waiting }
            }
        }
    }

    fn fault<W>(&self, warp: &Warp<W>, pc: u64, trap: Trap) -> Fault {
        let step = self.program.step_at(pc);
        let (line, location) = step.map_or((0, None), |step| (step.line, step.location));
        let files = &self.image.module().files;
        let source = location.and_then(|(file, line)| {
            let (_, name) = files.iter().find(|(number, _)| *number == file)?;
            Some((name.clone(), line))
        });
        Fault {
            reason: trap.reason,
            cta: warp.place.cta,
            thread: warp.thread(trap.lane),
            pc,
            line,
            source,
        }
    }

    /// Where warps that have not ended are.
    fn waiting<'c, W: 'c>(&self, ctas: impl Iterator<Item = &'c Cta<W>>) -> String {
        const SHOWN: usize = 8;
        let mut warps = ctas.flat_map(|cta| &cta.warps).filter(|warp| warp.state != State::Ended);
        let shown: Vec<String> =
            warps.by_ref().take(SHOWN).map(|warp| self.place_of(warp)).collect();
        let more = warps.count();
        let more = if more > 0 { format!(", and {more} more warps") } else { String::new() };
        format!("{}{more}", shown.join("; "))
    }

    fn place_of<W>(&self, warp: &Warp<W>) -> String {
        let [x, y, z] = warp.place.cta;
        let path = warp.stack.paths().last();
        let routine = &self.program.routines[warp.frame().routine];
        let pc = path.map_or(0, |path| routine.pc + u64::from(path.pc) * crate::program::PC_STEP);
        let line =
            path.and_then(|path| routine.steps.get(path.pc as usize)).map_or(0, |step| step.line);
        let what = match warp.state {
            State::AtBarrier { barrier } => format!("waits at barrier {barrier} at"),
            State::Divided { barrier } => {
                let [waiting, all] = [warp.stack.waiting(), warp.stack.lanes()];
                format!("waits at barrier {barrier} with lanes {waiting:#x} of {all:#x} at")
            }
            _ => "is at".into(),
        };
        format!(
            "CTA ({x}, {y}, {z}) warp {} {what} PC {pc:#x} (line {line})",
            warp.place.warp_in_cta
        )
    }
}

fn find(image: &Image, name: &str) -> Result<FunctionId, LaunchError> {
    let module = image.module();
    module.kernel(name).ok_or_else(|| {
        let names: Vec<&str> = module.kernels().map(|kernel| kernel.name.as_str()).collect();
        let known = if names.is_empty() { "none".into() } else { names.join(", ") };
        LaunchError::NoKernel { name: name.to_owned(), known }
    })
}

/// Why a CTA does not go on.
enum Stop {
    Trap { warp: usize, pc: u64, trap: Trap },
    Limit(u64),
}

/// A CTA that has begun.
struct Cta<W> {
    number: u64,
    block: [u32; 3],
    warps: Vec<Warp<W>>,
    shared: Vec<u8>,
    barriers: [Rendezvous; 16],
    has_had_turn: bool,
}

/// Warps at a barrier.
#[derive(Clone, Copy, Debug, Default)]
struct Rendezvous {
    arrived: u32,
    /// Warps that it is for, if they are counted.
    expected: Option<u32>,
    /// Lanes that have arrived, and those for which the condition of a reduction holds.
    lanes: u32,
    holds: u32,
}

impl<W: WarpRecorder> Cta<W> {
    fn new<R: Recorder<Warp = W>>(
        run: &Run<'_>,
        number: u64,
        recorder: &mut R,
        spare: &mut Vec<Rows>,
    ) -> Cta<W> {
        let [x, y, _] = run.launch.grid.map(u64::from);
        let block = [number % x, number / x % y, number / x / y].map(|n| n as u32);
        let warp = |warp_in_cta| {
            let place = Place {
                grid: run.launch.grid,
                block: run.launch.block,
                cta: block,
                cta_number: number,
                warp_in_cta,
                shared: [run.shared_bytes, run.launch.dynamic_shared],
            };
            let params = run.params.len() as u64;
            Warp::new(&run.program, place, params, recorder.begin_warp(), spare.pop())
        };
        Cta {
            number,
            block,
            warps: (0..run.launch.threads().div_ceil(WARP as u32)).map(warp).collect(),
            shared: vec![0; run.shared_bytes as usize],
            barriers: [Rendezvous::default(); 16],
            has_had_turn: false,
        }
    }

    fn has_ended(&self) -> bool {
        self.warps.iter().all(|warp| warp.state == State::Ended)
    }

    /// Lets the warps go on, round after round, until none can or the turn is over.
    fn turn(
        &mut self,
        run: &Run<'_>,
        memory: &mut DeviceMemory,
        executed: &mut u64,
        limits: Limits,
    ) -> Result<(), Stop> {
        let mut ctx = Context {
            program: &run.program,
            memory,
            shared: &mut self.shared,
            params: &run.params,
            pc: 0,
        };
        let budget =
            if std::mem::replace(&mut self.has_had_turn, true) { LATER_TURN } else { FIRST_TURN };
        let end = *executed + budget;
        while *executed < end {
            let mut moved = false;
            for at in 0..self.warps.len() {
                let warp = &mut self.warps[at];
                let before = warp.executed;
                let event = run_warp(warp, &mut ctx);
                *executed += warp.executed - before;
                moved |= warp.executed > before;
                match event {
                    Err(trap) => return Err(Stop::Trap { warp: at, pc: ctx.pc, trap }),
                    Ok(Event::Barrier(arrival)) => arrive(&mut self.barriers, arrival),
                    Ok(Event::None | Event::Yield) => {}
                }
                release(&mut self.warps, &mut self.barriers, &run.program);
                if *executed > limits.instructions {
                    return Err(Stop::Limit(limits.instructions));
                }
            }
            if !moved {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// Executes a warp until it waits, ends, comes to a barrier, or has had its turn.
fn run_warp<W: WarpRecorder>(warp: &mut Warp<W>, ctx: &mut Context<'_>) -> Result<Event, Trap> {
    for _ in 0..WARP_TURN {
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

fn arrive(barriers: &mut [Rendezvous; 16], arrival: Arrival) {
    let barrier = &mut barriers[usize::from(arrival.barrier)];
    barrier.arrived += 1;
    barrier.expected = arrival.warps;
    barrier.lanes += arrival.lanes.count_ones();
    barrier.holds += arrival.holds.count_ones();
}

/// Lets the warps go on that wait at a barrier to which all have come.
fn release<W>(warps: &mut [Warp<W>], barriers: &mut [Rendezvous; 16], program: &Program) {
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

/// Lets the lanes of a warp go on behind a barrier, with the result of a reduction over it.
fn deliver<W>(warp: &mut Warp<W>, program: &Program, done: Rendezvous) {
    for at in 0..warp.stack.paths().len() {
        let path = warp.stack.paths()[at];
        let steps = &program.routines[warp.frame().routine].steps;
        if let Some(step) = steps.get(path.pc as usize).filter(|_| path.waits) {
            deliver_to(warp, step, path.lanes, done);
        }
    }
    warp.stack.release();
}

/// Writes the result of a reduction over a barrier to the instruction's destination.
fn deliver_to<W>(warp: &mut Warp<W>, step: &Step, lanes: u32, done: Rendezvous) {
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
