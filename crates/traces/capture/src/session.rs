//! Executes a plan.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;
use warpmem_simt::{
    Counts, DeviceMemory, Image, Launch, LaunchError, Limits, Progress, Run, TraceRecorder,
};
use warpmem_trace::{KernelInfo, Provenance, TraceSummary, TraceWriter, WriterOptions};

use crate::arrays::Arrays;
use crate::error::CaptureError;
use crate::expectation::Mismatch;
use crate::module::PtxModule;
use crate::plan::Plan;
use crate::ptxas;
use crate::selection::{Selection, Selector};

/// Options of a capture.
#[derive(Clone, Debug)]
pub struct Options {
    /// Path of the trace; `None` to write none.
    pub output: Option<PathBuf>,
    pub selection: Selection,
    pub limits: Limits,
    pub registers: Registers,
    /// Command line for the trace's header.
    pub command: String,
}

/// Source of the registers per thread.
#[derive(Clone, Debug, Default)]
pub enum Registers {
    /// Maximum live values, plus a margin.
    #[default]
    Estimated,
    /// Path of a `ptxas`.
    Ptxas(PathBuf),
}

/// Observer of a capture, which may stop it.
pub trait Observer {
    /// Called when launch `number` of `launches` starts; `launches` is 0 if the total is unknown.
    fn launch(&self, number: usize, launches: usize, kernel: &str, ctas: u64);
    /// Called with the completed CTAs and warp instructions of the launch; returns whether to continue.
    fn advance(&self, ctas: u64, warp_instructions: u64) -> bool;

    /// Called with the text that a kernel prints.
    fn print(&self, _text: &str) {}

    /// Returns whether the user wants to stop.
    fn is_stopped(&self) -> bool {
        false
    }
}

impl Observer for () {
    fn launch(&self, _: usize, _: usize, _: &str, _: u64) {}

    fn advance(&self, _: u64, _: u64) -> bool {
        true
    }
}

/// Result of a capture.
#[derive(Clone, Debug)]
pub struct Captured {
    /// Completed launches, in order.
    pub launches: Vec<Launched>,
    pub trace: Option<TraceSummary>,
    pub mismatches: Vec<Mismatch>,
    /// Whether the user stopped the capture; outputs are then neither written nor compared.
    pub interrupted: bool,
}

/// A completed launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Launched {
    pub number: usize,
    pub kernel: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// 32-bit registers per thread.
    pub registers_per_thread: u32,
    /// Shared memory per CTA, bytes.
    pub shared_bytes: u32,
    pub warps: u64,
    /// PTX warp instructions executed. The trace counts the machine instructions that replace them.
    pub warp_instructions: u64,
    /// Whether the launch is in the trace.
    pub recorded: bool,
}

/// Executes a plan.
///
/// # Errors
/// When a file cannot be read or written, a buffer or argument does not match its kernel, or a kernel fails.
/// No trace is left then.
pub fn capture(
    plan: &Plan,
    options: &Options,
    observer: &dyn Observer,
) -> Result<Captured, CaptureError> {
    capture_module(PtxModule::read(&plan.module)?, plan, options, observer)
}

/// Executes a plan with a module that is already parsed.
///
/// # Errors
/// As for [`capture`].
pub fn capture_module(
    module: PtxModule,
    plan: &Plan,
    options: &Options,
    observer: &dyn Observer,
) -> Result<Captured, CaptureError> {
    check(&options.selection, plan)?;
    let exact = match &options.registers {
        Registers::Estimated => BTreeMap::new(),
        Registers::Ptxas(program) => ptxas::registers(program, &module)?,
    };
    let provenance = provenance(&module, options);
    let mut memory = DeviceMemory::default();
    let image = Image::load(module.module, &mut memory)?;
    let mut arrays = Arrays::allocate(plan, &mut memory)?;
    arrays.make_textures(plan, &image, &mut memory)?;
    let writer = match &options.output {
        Some(path) => Some(TraceWriter::create(path, provenance, WriterOptions::default())?),
        None => None,
    };
    let selector = Selector::new(&options.selection);
    let mut session = Session { plan, options, selector, image, arrays, memory, exact, writer };
    session.note_copies();
    let (launches, interrupted) = session.launch_all(observer)?;
    let mismatches = if interrupted { Vec::new() } else { session.deliver()? };
    // A capture that stops before its first kernel completes leaves no trace.
    let kept = session.writer.filter(|_| !interrupted || launches.iter().any(|l| l.recorded));
    let trace = kept.map(TraceWriter::finish).transpose()?;
    Ok(Captured { launches, trace, mismatches, interrupted })
}

fn provenance(module: &PtxModule, options: &Options) -> Provenance {
    let registers = match &options.registers {
        Registers::Estimated => "estimated from live values",
        Registers::Ptxas(_) => "of ptxas",
    };
    let (major, minor) = module.module.version;
    let name = module.path.file_name().unwrap_or_default().display();
    Provenance {
        tool: format!("warpmem {}", env!("CARGO_PKG_VERSION")),
        source: format!(
            "PTX {major}.{minor} of {name} for {}; registers {registers}{}",
            module.module.target,
            options.selection.note().map_or(String::new(), |note| format!("; {note}"))
        ),
        command: options.command.clone(),
    }
}

/// Fails if the selection matches no launch of the plan.
fn check(selection: &Selection, plan: &Plan) -> Result<(), CaptureError> {
    let launches = plan.launches.len() as u64;
    selection
        .launches
        .check("launches", launches)
        .map_err(|error| CaptureError::Selection { what: error.to_string() })?;
    let mut selector = Selector::new(selection);
    match plan.launches.iter().any(|launch| selector.takes(&launch.kernel)) {
        true => Ok(()),
        false => Err(CaptureError::Selection {
            what: format!("none of the {launches} launches is selected"),
        }),
    }
}

struct Session<'a> {
    plan: &'a Plan,
    options: &'a Options,
    selector: Selector<'a>,
    image: Image,
    arrays: Arrays,
    memory: DeviceMemory,
    /// Exactly known registers, by kernel.
    exact: BTreeMap<String, u32>,
    writer: Option<TraceWriter>,
}

impl Session<'_> {
    /// Records the copies that initialize the buffers in device memory.
    fn note_copies(&mut self) {
        let Some(writer) = &mut self.writer else { return };
        for (address, bytes) in self.arrays.extents() {
            writer.memcpy(address, bytes);
        }
    }

    /// Runs the launches; returns the completed ones and whether the user stopped early.
    fn launch_all(
        &mut self,
        observer: &dyn Observer,
    ) -> Result<(Vec<Launched>, bool), CaptureError> {
        let mut launched = Vec::new();
        let launches = self.arrays.launches(self.plan, self.image.module())?;
        for (number, launch) in launches.iter().enumerate() {
            match self.launch(number, launch, observer) {
                Ok(ended) => launched.push(ended),
                Err(CaptureError::Launch(LaunchError::Cancelled)) => {
                    self.writer.as_mut().map(TraceWriter::abandon_kernel).transpose()?;
                    return Ok((launched, true));
                }
                Err(error) => return Err(error),
            }
        }
        Ok((launched, false))
    }

    fn launch(
        &mut self,
        number: usize,
        launch: &Launch,
        observer: &dyn Observer,
    ) -> Result<Launched, CaptureError> {
        let run = Run::new(&self.image, launch)?;
        let registers = self.exact.get(&launch.kernel).copied().unwrap_or(run.registers());
        let recorded = self.selector.takes(&launch.kernel);
        let ctas = launch.grid.iter().map(|&n| u64::from(n)).product();
        observer.launch(number, self.plan.launches.len(), &launch.kernel, ctas);
        let info = KernelInfo {
            name: launch.kernel.clone(),
            stream: 0,
            grid: launch.grid,
            block: launch.block,
            registers_per_thread: registers,
            shared_bytes: run.shared_bytes(),
            sm_version: self.image.module().sm_version(),
            cluster: run.cluster(),
        };
        let writer = self.writer.as_mut().filter(|_| recorded);
        let counts = execute(&run, &mut self.memory, writer, info, self.options.limits, observer)?;
        if recorded {
            self.selector.recorded(counts.warp_instructions);
        }
        Ok(Launched {
            number,
            kernel: launch.kernel.clone(),
            grid: launch.grid,
            block: launch.block,
            registers_per_thread: registers,
            shared_bytes: run.shared_bytes(),
            warps: counts.warps,
            warp_instructions: counts.warp_instructions,
            recorded,
        })
    }

    /// Writes the outputs and compares the expected buffers.
    fn deliver(&self) -> Result<Vec<Mismatch>, CaptureError> {
        self.arrays.write_outputs(self.plan, &self.memory)?;
        self.arrays.mismatches(self.plan, &self.memory)
    }
}

/// Forwards the progress of a launch to an observer.
struct LaunchProgress<'a>(&'a dyn Observer);

impl Progress for LaunchProgress<'_> {
    fn advance(&self, ctas: u64, instructions: u64) -> bool {
        self.0.advance(ctas, instructions)
    }

    fn print(&self, text: &str) {
        self.0.print(text);
    }
}

fn execute(
    run: &Run<'_>,
    memory: &mut DeviceMemory,
    writer: Option<&mut TraceWriter>,
    info: KernelInfo,
    limits: Limits,
    observer: &dyn Observer,
) -> Result<Counts, CaptureError> {
    let Some(writer) = writer else {
        return Ok(run.execute(memory, None, limits, &LaunchProgress(observer))?);
    };
    let mut recorder = TraceRecorder::begin(writer, info)?;
    let counts = run.execute(memory, Some(&mut recorder), limits, &LaunchProgress(observer))?;
    recorder.end()?;
    Ok(counts)
}
