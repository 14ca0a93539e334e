//! A launch: its preparation, and what may be told of one that runs.

use std::collections::VecDeque;

use warpmem_ptx::FunctionId;

use crate::cta::{Cta, Ended, Stop};
use crate::error::{Fault, LaunchError};
use crate::execute::{Trap, is_supported};
use crate::image::Image;
use crate::launch::Launch;
use crate::memory::DeviceMemory;
use crate::program::Program;
use crate::recorder::Recorder;
use crate::warp::{Rows, State, Warp};
use crate::{independent, turns};

/// Bytes of shared memory that a CTA can have on any architecture (sm_90 and sm_100).
const MOST_SHARED: u32 = 227 << 10;

/// Bounds of a run.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Warp instructions after which a kernel is taken to run for ever.
    pub instructions: u64,
    /// Threads that execute CTAs. What a kernel does does not depend on them.
    pub threads: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { instructions: u64::MAX, threads: 1 }
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
    pub(crate) launch: &'a Launch,
    pub(crate) program: Program,
    pub(crate) params: Vec<u8>,
    pub(crate) shared_bytes: u32,
}

/// A launch that is executed.
pub(crate) struct Grid<'g, 'a, R> {
    pub run: &'g Run<'a>,
    pub memory: &'g mut DeviceMemory,
    pub recorder: &'g mut R,
    pub limits: Limits,
    pub progress: &'g dyn Progress,
    pub counts: Counts,
}

impl<R: Recorder> Grid<'_, '_, R> {
    /// CTAs of the grid.
    pub fn ctas(&self) -> u64 {
        self.run.launch.grid.iter().map(|&n| u64::from(n)).product()
    }

    /// Whether the user lets it go on.
    pub fn goes_on(&self) -> Result<(), LaunchError> {
        match self.progress.advance(self.counts.ctas, self.counts.warp_instructions) {
            true => Ok(()),
            false => Err(LaunchError::Cancelled),
        }
    }

    /// Counts a CTA that has ended, and gives what it executed to the recorder.
    pub fn end(&mut self, cta: Cta<R::Warp>, spare: &mut Vec<Rows>) -> Result<(), LaunchError> {
        record(self.recorder, &mut self.counts, cta.end(spare))
    }

    pub fn deadlock<'c>(&self, ctas: impl Iterator<Item = &'c Cta<R::Warp>>) -> LaunchError
    where
        R::Warp: 'c,
    {
        let kernel = self.run.launch.kernel.clone();
        LaunchError::Deadlock { kernel, waiting: self.run.waiting(ctas) }
    }
}

/// What a launch did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub ctas: u64,
    pub warps: u64,
    pub warp_instructions: u64,
}

/// Counts a CTA that has ended, and gives what it executed to a recorder.
pub(crate) fn record<R: Recorder>(
    recorder: &mut R,
    counts: &mut Counts,
    cta: Ended<R::Warp>,
) -> Result<(), LaunchError> {
    counts.ctas += 1;
    counts.warps += cta.warps.len() as u64;
    Ok(recorder.end_cta(cta.number, cta.block, cta.warps)?)
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
        let mut grid =
            Grid { run: self, memory, recorder, limits, progress, counts: Counts::default() };
        match self.program.has_independent_ctas() {
            true => independent::execute(&mut grid)?,
            false => turns::execute(&mut grid)?,
        }
        Ok(grid.counts)
    }

    pub(crate) fn stopped<W>(
        &self,
        stop: Stop,
        cta: &Cta<W>,
        others: &VecDeque<Cta<W>>,
    ) -> LaunchError {
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
    pub(crate) fn waiting<'c, W: 'c>(&self, ctas: impl Iterator<Item = &'c Cta<W>>) -> String {
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
