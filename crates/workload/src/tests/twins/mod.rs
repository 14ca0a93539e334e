//! What kernels in CUDA access, compiled to PTX and executed, is what their generators write.
//!
//! Each kernel of a run is launched again from its twin in `cuda/`, on the same data: kernel by
//! kernel and warp by warp, the accesses to global memory must be the same, lane by lane, and in the
//! end memory must hold the same values.

mod launches;

use std::collections::BTreeMap;
use std::path::Path;

use warpmem_simt::{DeviceMemory, Image, Launch, Limits, Params, Run as Execution, TraceRecorder};
use warpmem_trace::{KernelInfo, Kind, Provenance, Space, Trace, TraceWriter, WriterOptions};

use super::registry::{Given, variants};
use super::replay::{self, Traced, TracedKernel};
use crate::parameters::Arguments;
use crate::warp::journal::Event;
use crate::{Generator, find};

/// A generator in CUDA.
struct Twin {
    generator: &'static str,
    ptx: &'static str,
    /// Whether it is a twin of this variant.
    covers: fn(&Given) -> bool,
    /// How a kernel of the generator is launched; `None`: it has no twin.
    launch: fn(&Kernel<'_>) -> Call,
    /// Accesses of warps that are compared, as docs/workloads.md says.
    accesses: usize,
    /// How far memory may differ in the end, where sums are in another order.
    tolerance: f64,
}

/// A kernel of a run that its twin is to repeat.
struct Kernel<'a> {
    number: usize,
    info: &'a KernelInfo,
    arguments: &'a Arguments,
    given: &'a Given,
    /// The arrays in the order in which they were allocated, and what they hold now.
    arrays: Vec<&'a [u8]>,
}

/// How a twin is called.
struct Call {
    kernel: String,
    arguments: Vec<Argument>,
    /// Its shared memory is that of the launch.
    dynamic_shared: bool,
    /// What a variable in constant memory holds.
    constant: Option<(&'static str, Vec<u8>)>,
    order: Order,
}

enum Argument {
    /// So many bytes into an array.
    Array(usize, u64),
    Word(u32),
    Float(f32),
}

/// In what order a warp's accesses must come.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    Same,
    /// The compiler changes the order of loads between which nothing is written.
    LoadsMoved,
}

/// Device memory with a run's arrays.
struct Device {
    memory: DeviceMemory,
    image: Image,
    /// By array: its address in the run, its address here, its bytes.
    arrays: Vec<(u64, u64, usize)>,
}

impl Device {
    fn new(twin: &Twin, contents: &BTreeMap<u64, Vec<u8>>) -> Device {
        let mut memory = DeviceMemory::default();
        let place = |(&from, bytes): (&u64, &Vec<u8>)| {
            (from, memory.allocate(bytes.len() as u64).unwrap(), bytes.len())
        };
        let arrays = contents.iter().map(place).collect();
        let image = Image::load(warpmem_ptx::parse(twin.ptx).unwrap(), &mut memory).unwrap();
        Device { memory, image, arrays }
    }

    fn upload(&mut self, address: u64, bytes: &[u8]) {
        let &(from, to, _) =
            self.arrays.iter().rfind(|(from, ..)| *from <= address).expect("it lies in an array");
        let place = self.memory.bytes_mut(to + (address - from), bytes.len() as u64).unwrap();
        place.copy_from_slice(bytes);
    }

    fn contents(&self) -> Vec<&[u8]> {
        let bytes = |&(_, to, bytes): &(u64, u64, usize)| {
            self.memory.bytes(to, bytes as u64).unwrap_or_default()
        };
        self.arrays.iter().map(bytes).collect()
    }

    /// Executes a twin; returns what it accessed.
    fn call(&mut self, call: &Call, info: &KernelInfo, path: &Path) -> TracedKernel {
        if let Some((symbol, bytes)) = &call.constant {
            let (address, _) = self.image.symbol(symbol).unwrap();
            self.memory.bytes_mut(address, bytes.len() as u64).unwrap().copy_from_slice(bytes);
        }
        let param = |argument: &Argument| match *argument {
            Argument::Array(at, offset) => (self.arrays[at].1 + offset).to_le_bytes().to_vec(),
            Argument::Word(word) => word.to_le_bytes().to_vec(),
            Argument::Float(float) => float.to_le_bytes().to_vec(),
        };
        let launch = Launch {
            kernel: call.kernel.clone(),
            grid: info.grid,
            block: info.block,
            dynamic_shared: if call.dynamic_shared { info.shared_bytes } else { 0 },
            params: Params(call.arguments.iter().map(param).collect()),
        };
        let execution = Execution::new(&self.image, &launch).unwrap();
        let options = WriterOptions::default();
        let mut writer = TraceWriter::create(path, Provenance::default(), options).unwrap();
        let mut recorder = TraceRecorder::begin(&mut writer, info.clone()).unwrap();
        execution.execute(&mut self.memory, &mut recorder, Limits::default(), &()).unwrap();
        recorder.end().unwrap();
        writer.finish().unwrap();
        replay::kernels(&Trace::open(path).unwrap()).remove(0)
    }

    /// The address in the run of one here.
    fn of_run(&self, address: u64) -> u64 {
        let at = self.arrays.iter().rfind(|(_, to, _)| *to <= address);
        at.map_or(address, |(from, to, _)| address - to + from)
    }
}

/// An access to global memory: kind, width, mask, addresses.
type Access = (String, usize, u32, Vec<u64>);

fn accesses(warp: &[Traced], address: impl Fn(u64) -> u64, order: Order) -> Vec<Access> {
    let global = warp.iter().filter(|t| t.space == Space::Global && t.kind != Kind::Barrier);
    // An instruction without an active lane touches nothing.
    let touching = global.filter(|traced| traced.mask != 0);
    let access = |t: &Traced| {
        let addresses = t.addresses.iter().map(|&to| address(to)).collect();
        (format!("{:?}", t.kind), t.width, t.mask, addresses)
    };
    let mut all: Vec<Access> = touching.map(access).collect();
    if order == Order::LoadsMoved {
        let is_load = |access: &Access| access.0 == "Load";
        all.chunk_by_mut(|a, b| is_load(a) && is_load(b)).for_each(<[Access]>::sort);
    }
    all
}

/// Compares a kernel of a run with its twin; returns how many accesses are the same.
fn compare(
    expected: &TracedKernel,
    twin: &TracedKernel,
    device: &Device,
    order: Order,
) -> Result<usize, String> {
    let mut compared = 0;
    if expected.ctas.len() != twin.ctas.len() {
        return Err(format!("{} CTAs, not {}", twin.ctas.len(), expected.ctas.len()));
    }
    for (cta, (expected, twin)) in expected.ctas.iter().zip(&twin.ctas).enumerate() {
        for (warp, (expected, twin)) in expected.iter().zip(twin).enumerate() {
            let expected = accesses(expected, |address| address, order);
            let found = accesses(twin, |address| device.of_run(address), order);
            if expected != found {
                let at = expected.iter().zip(&found).position(|(a, b)| a != b);
                let at = at.unwrap_or(expected.len().min(found.len()));
                let [expected, found] = [&expected, &found].map(|all| (all.len(), all.get(at)));
                return Err(format!(
                    "CTA {cta}, warp {warp}: access {at} is\n  {found:?}, not\n  {expected:?}"
                ));
            }
            compared += found.len();
        }
    }
    Ok(compared)
}

/// Accesses of the kernels of a run that its twin repeats.
fn check(twin: &Twin, given: &Given, folder: &Path) -> Result<usize, String> {
    let generator: &Generator = find(twin.generator).unwrap();
    let arguments = Arguments::resolve(generator.name, generator.parameters, given).unwrap();
    let run = replay::run(generator, given, &folder.join("run.wmt"));
    let mut device = Device::new(twin, &run.memory);
    let mut events = run.events.iter().peekable();
    let mut compared = 0;
    for (number, (traced, info)) in run.trace.iter().zip(&run.infos).enumerate() {
        while let Some(Event::Upload(address, bytes)) =
            events.next_if(|event| matches!(event, Event::Upload(..)))
        {
            device.upload(*address, bytes);
        }
        let lanes = traced.ctas.iter().flatten().flatten().map(|traced| traced.addresses.len());
        events.by_ref().take(lanes.sum()).for_each(drop);
        let kernel =
            Kernel { number, info, arguments: &arguments, given, arrays: device.contents() };
        let call = (twin.launch)(&kernel);
        let captured = device.call(&call, info, &folder.join("twin.wmt"));
        compared += compare(traced, &captured, &device, call.order)
            .map_err(|error| format!("kernel {number}, {}: {error}", info.name))?;
    }
    let differing = run
        .memory
        .values()
        .zip(device.contents())
        .position(|(expected, found)| !launches::is_close(expected, found, twin.tolerance));
    match differing {
        Some(array) => Err(format!("array {array} holds other values in the end")),
        None => Ok(compared),
    }
}

fn check_all(twin: &Twin) {
    let folder = tempfile::tempdir().unwrap();
    let cases = variants(find(twin.generator).unwrap());
    let mut compared = 0;
    for given in cases.iter().filter(|given| (twin.covers)(given)) {
        match check(twin, given, folder.path()) {
            Ok(accesses) => compared += accesses,
            Err(error) => panic!("{} {given:?}: {error}", twin.generator),
        }
    }
    assert_eq!(compared, twin.accesses, "{}: accesses compared", twin.generator);
}
