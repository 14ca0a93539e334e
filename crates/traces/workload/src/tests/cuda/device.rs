//! A device that executes CUDA versions on the arrays of a generator's run.

use std::path::Path;

use warpmem_simt::{DeviceMemory, Image, Launch, Limits, Params, Run, TraceRecorder};
use warpmem_trace::{KernelInfo, Provenance, Space, Trace, TraceWriter, WriterOptions};

use crate::tests::replay::{self, TracedKernel};

/// A kernel and its arguments.
pub struct Call {
    pub kernel: String,
    pub arguments: Vec<Argument>,
    /// Whether the launch's shared memory is passed as dynamic shared memory.
    pub dynamic_shared: bool,
}

pub enum Argument {
    /// A pointer: the index of an array, and an offset in bytes.
    Array(usize, u64),
    Word(u32),
}

/// An array of the run and its copy on this device.
struct Array {
    generator_address: u64,
    device_address: u64,
    bytes: u64,
}

/// Device memory with a copy of every array of the run.
pub struct Device {
    memory: DeviceMemory,
    image: Image,
    arrays: Vec<Array>,
}

/// Stands for any address outside the arrays.
const OUTSIDE: u64 = u64::MAX;

impl Device {
    /// Allocates zeroed arrays of the same sizes as `arrays`, which are keyed by their address in the run.
    pub fn new(ptx: &str, arrays: &replay::Image) -> Device {
        let mut memory = DeviceMemory::default();
        let allocate = |(&generator_address, contents): (&u64, &Vec<u8>)| {
            let bytes = contents.len() as u64;
            Array { generator_address, device_address: memory.allocate(bytes).unwrap(), bytes }
        };
        let arrays = arrays.iter().map(allocate).collect();
        let image = Image::load(warpmem_ptx::parse(ptx).unwrap(), &mut memory).unwrap();
        Device { memory, image, arrays }
    }

    /// Copies `bytes` to the array that contains `address` in the run.
    pub fn upload(&mut self, address: u64, bytes: &[u8]) {
        let array = self.arrays.iter().rfind(|array| array.generator_address <= address);
        let array = array.expect("uploads lie in arrays");
        let address = array.device_address + (address - array.generator_address);
        self.memory.bytes_mut(address, bytes.len() as u64).unwrap().copy_from_slice(bytes);
    }

    /// Returns the contents of the arrays.
    pub fn contents(&self) -> Vec<&[u8]> {
        let bytes = |array: &Array| self.memory.bytes(array.device_address, array.bytes).unwrap();
        self.arrays.iter().map(bytes).collect()
    }

    /// Executes a call; returns its accesses, with global addresses translated to those of the run.
    pub fn execute(&mut self, call: &Call, info: &KernelInfo, path: &Path) -> TracedKernel {
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
            .for_each(|address| *address = self.generator_address(*address));
        kernel
    }

    fn param(&self, argument: &Argument) -> Vec<u8> {
        match *argument {
            Argument::Array(at, offset) => {
                (self.arrays[at].device_address + offset).to_le_bytes().to_vec()
            }
            Argument::Word(word) => word.to_le_bytes().to_vec(),
        }
    }

    fn record(&mut self, launch: &Launch, info: &KernelInfo, path: &Path) {
        let run = Run::new(&self.image, launch).unwrap();
        let options = WriterOptions::default();
        let mut writer = TraceWriter::create(path, Provenance::default(), options).unwrap();
        let mut recorder = TraceRecorder::begin(&mut writer, info.clone()).unwrap();
        // Generators run each warp until its next barrier before the next warp starts.
        let limits = Limits { warp_quantum: u32::MAX, ..Limits::default() };
        run.execute(&mut self.memory, Some(&mut recorder), limits, &()).unwrap();
        recorder.end().unwrap();
        writer.finish().unwrap();
    }

    fn generator_address(&self, address: u64) -> u64 {
        let translate = |array: &Array| {
            let offset = address.checked_sub(array.device_address)?;
            (offset < array.bytes).then_some(array.generator_address + offset)
        };
        self.arrays.iter().find_map(translate).unwrap_or(OUTSIDE)
    }
}
