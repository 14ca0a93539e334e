//! Carrying out a plan.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;
use warpmem_random::Random;
use warpmem_simt::{
    Counts, DeviceMemory, Image, Launch, LaunchError, Limits, NoRecorder, Params, Progress, Run,
    TraceRecorder,
};
use warpmem_trace::{KernelInfo, Provenance, TraceSummary, TraceWriter, WriterOptions};

use crate::argument::Argument;
use crate::array_file;
use crate::buffer::{BufferSpec, Filled};
use crate::element::Element;
use crate::error::CaptureError;
use crate::expectation::Mismatch;
use crate::module::PtxModule;
use crate::plan::{Plan, PlannedBuffer, PlannedLaunch};
use crate::ptxas;
use crate::selection::{Selection, Selector};

/// How a plan is carried out.
#[derive(Clone, Debug)]
pub struct Options {
    /// The trace; `None`: nothing is written.
    pub output: Option<PathBuf>,
    pub selection: Selection,
    pub limits: Limits,
    pub registers: Registers,
    /// The command line, for the trace's header.
    pub command: String,
}

/// Where the number of registers of a thread is from.
#[derive(Clone, Debug, Default)]
pub enum Registers {
    /// The values that are live at once, and a margin.
    #[default]
    Estimated,
    /// A `ptxas`.
    Ptxas(PathBuf),
}

/// Told how a capture goes; may stop it.
pub trait Watch {
    /// Launch `number` of `launches`, 0 where that is not known, begins.
    fn launch(&self, number: usize, launches: usize, kernel: &str, ctas: u64);
    /// CTAs of the launch that have ended, and its warp instructions so far. Whether to go on.
    fn advance(&self, ctas: u64, warp_instructions: u64) -> bool;

    /// What a kernel prints.
    fn print(&self, _text: &str) {}

    /// Whether the user wants to stop.
    fn is_stopped(&self) -> bool {
        false
    }
}

impl Watch for () {
    fn launch(&self, _: usize, _: usize, _: &str, _: u64) {}

    fn advance(&self, _: u64, _: u64) -> bool {
        true
    }
}

/// What a capture gave.
#[derive(Clone, Debug)]
pub struct Captured {
    /// In their order; those that ended.
    pub launches: Vec<Launched>,
    pub trace: Option<TraceSummary>,
    pub mismatches: Vec<Mismatch>,
    /// It was stopped before its end: outputs are not written and not compared.
    pub interrupted: bool,
}

/// A launch that ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Launched {
    pub number: usize,
    pub kernel: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Registers of 32 bits of a thread.
    pub registers_per_thread: u32,
    /// Bytes of shared memory of a CTA.
    pub shared_bytes: u32,
    pub warps: u64,
    /// PTX instructions, each counted once for every warp that executes it. The trace counts the
    /// machine instructions that stand for them.
    pub warp_instructions: u64,
    /// It is in the trace.
    pub recorded: bool,
}

/// Carries out a plan.
///
/// # Errors
/// When a file cannot be read or written, a buffer or argument is not what its kernel takes, or a
/// kernel fails. No trace is left then.
pub fn capture(
    plan: &Plan,
    options: &Options,
    watch: &dyn Watch,
) -> Result<Captured, CaptureError> {
    check(&options.selection, plan)?;
    let module = PtxModule::read(&plan.module)?;
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
    let (launches, interrupted) = session.launch_all(watch)?;
    let mismatches = if interrupted { Vec::new() } else { session.deliver()? };
    // Of a capture that was stopped before its first kernel had ended, nothing is left.
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

/// Fails if no launch of the plan is selected.
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

/// The buffers of a plan in device memory.
#[derive(Default)]
struct Arrays {
    named: BTreeMap<String, Placed>,
    /// Handles of textures.
    textures: BTreeMap<String, u64>,
    /// Those of arguments, by launch and argument, in their order.
    own: Vec<Placed>,
}

/// A buffer in device memory.
struct Placed {
    address: u64,
    element: Element,
    shape: Vec<u64>,
    bytes: u64,
}

impl Arrays {
    fn allocate(plan: &Plan, memory: &mut DeviceMemory) -> Result<Arrays, CaptureError> {
        let mut number = 0;
        let mut place = |spec: &BufferSpec, name: &str| {
            let mut random = Random::numbered(plan.seed, number);
            number += 1;
            let filled = spec.filled(name, &plan.folder, &mut random)?;
            Placed::put(filled, memory)
        };
        let mut arrays = Arrays::default();
        for PlannedBuffer { name, spec, .. } in &plan.buffers {
            arrays.named.insert(name.clone(), place(spec, name)?);
        }
        for argument in plan.launches.iter().flat_map(|launch| &launch.arguments) {
            for address in argument.addresses() {
                if let Argument::Buffer(spec) = address {
                    arrays.own.push(place(spec, "of an argument")?);
                }
            }
        }
        Ok(arrays)
    }

    fn make_textures(
        &mut self,
        plan: &Plan,
        image: &Image,
        memory: &mut DeviceMemory,
    ) -> Result<(), CaptureError> {
        for (name, spec) in &plan.textures {
            let user = || format!("texture `{name}`");
            let placed = self.named.get(&spec.buffer);
            let placed = placed.ok_or_else(|| self.no_buffer(user(), &spec.buffer))?;
            let failed = |source| CaptureError::Texture { name: name.clone(), source };
            let texture = spec.over(placed.element, placed.address);
            let handle = memory.create_texture(texture).map_err(failed)?;
            if let Some(reference) = &spec.bind {
                image.bind(reference, memory, handle).map_err(failed)?;
            }
            self.textures.insert(name.clone(), handle);
        }
        Ok(())
    }

    /// The address of a buffer, or the handle of a texture.
    fn value_of(&self, name: &str, offset: u64, launch: usize) -> Result<u64, CaptureError> {
        match (self.named.get(name), self.textures.get(name)) {
            (Some(placed), _) => Ok(placed.address + offset),
            (None, Some(&handle)) if offset == 0 => Ok(handle),
            _ => Err(self.no_buffer(format!("launch {launch} (counted from 0)"), name)),
        }
    }

    fn no_buffer(&self, user: String, name: &str) -> CaptureError {
        let names: Vec<&str> = self.named.keys().map(String::as_str).collect();
        let known = match names.is_empty() {
            true => "are none".into(),
            false => format!("are {}", names.join(", ")),
        };
        CaptureError::NoBuffer { user, name: name.to_owned(), known }
    }
}

impl Placed {
    fn put(filled: Filled, memory: &mut DeviceMemory) -> Result<Placed, CaptureError> {
        let bytes = filled.bytes.len() as u64;
        let address = memory.allocate(bytes)?;
        if let Some(place) = memory.bytes_mut(address, bytes) {
            place.copy_from_slice(&filled.bytes);
        }
        Ok(Placed { address, element: filled.element, shape: filled.shape, bytes })
    }
}

struct Session<'a> {
    plan: &'a Plan,
    options: &'a Options,
    selector: Selector<'a>,
    image: Image,
    arrays: Arrays,
    memory: DeviceMemory,
    /// Registers by kernel, where they are known exactly.
    exact: BTreeMap<String, u32>,
    writer: Option<TraceWriter>,
}

impl Session<'_> {
    /// The copies that put the buffers into device memory.
    fn note_copies(&mut self) {
        let Some(writer) = &mut self.writer else { return };
        for placed in self.arrays.named.values().chain(&self.arrays.own) {
            writer.memcpy(placed.address, placed.bytes);
        }
    }

    /// The launches that ended, and whether the user stopped before all had.
    fn launch_all(&mut self, watch: &dyn Watch) -> Result<(Vec<Launched>, bool), CaptureError> {
        let mut own = 0;
        let mut launched = Vec::new();
        for (number, planned) in self.plan.launches.iter().enumerate() {
            let launch = self.launch_of(number, planned, &mut own)?;
            match self.launch(number, &launch, watch) {
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

    /// The launch with its arguments' bytes. `own` counts the buffers of arguments.
    fn launch_of(
        &self,
        number: usize,
        planned: &PlannedLaunch,
        own: &mut usize,
    ) -> Result<Launch, CaptureError> {
        let module = self.image.module();
        let kernel = module.kernel(&planned.kernel).map(|id| module.function(id));
        let params = kernel.map_or(&[][..], |kernel| &kernel.params);
        let mut launch = Launch {
            kernel: planned.kernel.clone(),
            grid: planned.grid.0,
            block: planned.block.0,
            dynamic_shared: planned.shared,
            workspace: 0,
            params: Params::default(),
        };
        // A wrong count or an unknown kernel is reported by the launch.
        let fits = params.len() == planned.arguments.len();
        for (at, argument) in planned.arguments.iter().enumerate() {
            let addresses = self.addresses(number, argument, own)?;
            let Some(&param) = params.get(at).filter(|_| fits) else {
                launch.params.0.push(Vec::new());
                continue;
            };
            let param = module.variable(param);
            let mut addresses = addresses.into_iter();
            let mut address = |_: &Argument| addresses.next().unwrap_or_default();
            let bytes = argument.bytes(param, &mut address);
            launch.params.0.push(bytes.map_err(|what| CaptureError::Argument {
                number: at + 1,
                kernel: planned.kernel.clone(),
                param: param.name.clone(),
                ty: param.ty.name().to_owned(),
                what,
            })?);
        }
        Ok(launch)
    }

    /// The addresses of an argument's buffers.
    fn addresses(
        &self,
        launch: usize,
        argument: &Argument,
        own: &mut usize,
    ) -> Result<Vec<u64>, CaptureError> {
        let address = |argument: &Argument| match argument {
            Argument::Named(name, offset) => self.arrays.value_of(name, *offset, launch),
            _ => {
                *own += 1;
                Ok(self.arrays.own[*own - 1].address)
            }
        };
        argument.addresses().into_iter().map(address).collect()
    }

    fn launch(
        &mut self,
        number: usize,
        launch: &Launch,
        watch: &dyn Watch,
    ) -> Result<Launched, CaptureError> {
        let run = Run::new(&self.image, launch)?;
        let registers = self.exact.get(&launch.kernel).copied().unwrap_or(run.registers());
        let recorded = self.selector.takes(&launch.kernel);
        let ctas = launch.grid.iter().map(|&n| u64::from(n)).product();
        watch.launch(number, self.plan.launches.len(), &launch.kernel, ctas);
        let info = KernelInfo {
            name: launch.kernel.clone(),
            stream: 0,
            grid: launch.grid,
            block: launch.block,
            registers_per_thread: registers,
            shared_bytes: run.shared_bytes(),
            sm_version: self.image.module().sm_version(),
        };
        let writer = self.writer.as_mut().filter(|_| recorded);
        let counts = execute(&run, &mut self.memory, writer, info, self.options.limits, watch)?;
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

    /// Writes the outputs and compares what is expected.
    fn deliver(&self) -> Result<Vec<Mismatch>, CaptureError> {
        let mut mismatches = Vec::new();
        for planned in &self.plan.buffers {
            let placed = &self.arrays.named[&planned.name];
            let bytes = self.memory.bytes(placed.address, placed.bytes).unwrap_or_default();
            if let Some(output) = &planned.output {
                let path = self.plan.folder.join(output);
                array_file::write(&path, placed.element, &placed.shape, bytes)?;
            }
            mismatches.extend(self.mismatch(planned, placed.element, bytes)?);
        }
        Ok(mismatches)
    }

    fn mismatch(
        &self,
        planned: &PlannedBuffer,
        element: Element,
        bytes: &[u8],
    ) -> Result<Option<Mismatch>, CaptureError> {
        let Some(expectation) = &planned.expectation else { return Ok(None) };
        let path = self.plan.folder.join(&expectation.file);
        let expected = array_file::read(&path)?;
        if expected.bytes.len() != bytes.len() {
            let what = format!(
                "it has {} bytes, buffer `{}` {}",
                expected.bytes.len(),
                planned.name,
                bytes.len()
            );
            return Err(CaptureError::Array { path, what });
        }
        Ok(expectation.compare(&planned.name, element, bytes, &expected.bytes))
    }
}

/// Tells a watch of the progress of a launch.
struct Told<'a>(&'a dyn Watch);

impl Progress for Told<'_> {
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
    watch: &dyn Watch,
) -> Result<Counts, CaptureError> {
    let Some(writer) = writer else {
        return Ok(run.execute(memory, &mut NoRecorder, limits, &Told(watch))?);
    };
    let mut recorder = TraceRecorder::begin(writer, info)?;
    let counts = run.execute(memory, &mut recorder, limits, &Told(watch))?;
    recorder.end()?;
    Ok(counts)
}
