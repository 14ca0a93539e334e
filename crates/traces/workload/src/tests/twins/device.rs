//! The device on which twins are executed.

use std::path::Path;

use warpmem_simt::{DeviceMemory, Image, Launch, Limits, Params, Run, TraceRecorder};
use warpmem_trace::{KernelInfo, Provenance, Space, Trace, TraceWriter, WriterOptions};

use super::replay::{self, TracedKernel};

/// How a twin is called.
pub struct Call {
    pub kernel: String,
    pub arguments: Vec<Argument>,
    /// Its shared memory is that of the launch.
    pub dynamic_shared: bool,
    /// What a variable in constant memory holds.
    pub constant: Option<(&'static str, Vec<u8>)>,
}

pub enum Argument {
    /// So many bytes into an array.
    Array(usize, u64),
    Word(u32),
    Float(f32),
}

/// Where an array lies.
struct Placed {
    in_run: u64,
    here: u64,
    bytes: u64,
}

/// Device memory with a run's arrays.
pub struct Device {
    memory: DeviceMemory,
    image: Image,
    arrays: Vec<Placed>,
}

/// Where no array of a run lies.
const NOWHERE: u64 = u64::MAX;

impl Device {
    /// With room for arrays as long as these, by address in the run.
    pub fn new(ptx: &str, arrays: &replay::Image) -> Device {
        let mut memory = DeviceMemory::default();
        let place = |(&in_run, contents): (&u64, &Vec<u8>)| {
            let bytes = contents.len() as u64;
            Placed { in_run, here: memory.allocate(bytes).unwrap(), bytes }
        };
        let arrays = arrays.iter().map(place).collect();
        let image = Image::load(warpmem_ptx::parse(ptx).unwrap(), &mut memory).unwrap();
        Device { memory, image, arrays }
    }

    pub fn upload(&mut self, address: u64, bytes: &[u8]) {
        let array = self.arrays.iter().rfind(|array| array.in_run <= address);
        let array = array.expect("it lies in an array");
        let here = array.here + (address - array.in_run);
        self.memory.bytes_mut(here, bytes.len() as u64).unwrap().copy_from_slice(bytes);
    }

    pub fn contents(&self) -> Vec<&[u8]> {
        let bytes = |array: &Placed| self.memory.bytes(array.here, array.bytes).unwrap();
        self.arrays.iter().map(bytes).collect()
    }

    /// Executes a twin; returns what it accessed, at the addresses of the run.
    pub fn call(&mut self, call: &Call, info: &KernelInfo, path: &Path) -> TracedKernel {
        if let Some((symbol, bytes)) = &call.constant {
            let (address, _) = self.image.symbol(symbol).unwrap();
            self.memory.bytes_mut(address, bytes.len() as u64).unwrap().copy_from_slice(bytes);
        }
        let launch = Launch {
            kernel: call.kernel.clone(),
            grid: info.grid,
            block: info.block,
            cluster: None,
            dynamic_shared: if call.dynamic_shared { info.shared_bytes } else { 0 },
            workspace: 0,
            window: None,
            params: Params(call.arguments.iter().map(|argument| self.param(argument)).collect()),
        };
        self.record(&launch, info, path);
        let mut kernel = replay::kernels(&Trace::open(path).unwrap()).remove(0);
        let global = kernel.ctas.iter_mut().flatten().flatten();
        global
            .filter(|traced| traced.space == Space::Global)
            .flat_map(|traced| &mut traced.addresses)
            .for_each(|address| *address = self.in_run(*address));
        kernel
    }

    fn param(&self, argument: &Argument) -> Vec<u8> {
        match *argument {
            Argument::Array(at, offset) => (self.arrays[at].here + offset).to_le_bytes().to_vec(),
            Argument::Word(word) => word.to_le_bytes().to_vec(),
            Argument::Float(float) => float.to_le_bytes().to_vec(),
        }
    }

    fn record(&mut self, launch: &Launch, info: &KernelInfo, path: &Path) {
        let run = Run::new(&self.image, launch).unwrap();
        let options = WriterOptions::default();
        let mut writer = TraceWriter::create(path, Provenance::default(), options).unwrap();
        let mut recorder = TraceRecorder::begin(&mut writer, info.clone()).unwrap();
        // A generator lets one warp after the other run, as far as its barriers allow.
        let limits = Limits { warp_turn: u32::MAX, ..Limits::default() };
        run.execute(&mut self.memory, &mut recorder, limits, &()).unwrap();
        recorder.end().unwrap();
        writer.finish().unwrap();
    }

    /// The address in the run of one here.
    fn in_run(&self, address: u64) -> u64 {
        let offset = |array: &Placed| address.checked_sub(array.here).filter(|o| *o < array.bytes);
        let found = self.arrays.iter().find_map(|array| Some(array.in_run + offset(array)?));
        found.unwrap_or(NOWHERE)
    }
}
