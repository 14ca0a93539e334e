//! Executed kernels: their results in memory, and their records.

mod arithmetic;
mod barriers;
mod bulk;
mod calls;
mod clusters;
mod control;
mod coverage;
mod errors;
pub(crate) mod events;
mod forms;
mod instructions;
mod isa;
mod l2_policies;
mod machine_code;
mod matrices;
mod mbarriers;
mod memory;
mod products;
mod random_programs;
mod recorded;
mod rounding;
mod sweep;
mod system;
mod tensor;
mod textures;
mod threads;
mod warpgroup;
mod warps;
mod wide_numbers;

use warpmem_trace::{KernelInfo, Provenance, TraceWriter, WriterOptions};

use self::coverage::{BEGIN, END, note_all};
use crate::{Counts, DeviceMemory, Image, Launch, LaunchError, Limits, Params, Run, TraceRecorder};

/// Wraps code into a kernel `k(.u64 a, .u64 b, .u64 c, .u32 n)` that declares registers and sets %r0 to
/// %tid.x and %rd1 to %rd3 to the addresses, each advanced by 8 bytes per thread.
pub(super) fn kernel(code: &str) -> String {
    kernel_with("", code)
}

/// Wraps code as [`kernel`] does, with declarations before it.
pub(super) fn kernel_with(declarations: &str, code: &str) -> String {
    format!(
        ".version 8.7\n.target sm_80\n.address_size 64\n{declarations}\n\
         .visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)\n{{\n\
         .reg .pred %p<16>;\n.reg .b16 %h<16>;\n.reg .b32 %r<64>;\n.reg .f32 %f<32>;\n\
         .reg .b64 %rd<64>;\n.reg .f64 %fd<32>;\n.shared .align 16 .b8 tile[4096]; .local .align 8 .b8 own[8];\n\
         mov.u32 %r0, %tid.x;\nld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [b];\n\
         ld.param.u64 %rd3, [c];\nld.param.u32 %r63, [n];\nmul.wide.u32 %rd0, %r0, 8;\n\
         add.u64 %rd1, %rd1, %rd0;\nadd.u64 %rd2, %rd2, %rd0;\nadd.u64 %rd3, %rd3, %rd0; {BEGIN}\n\
         {code}\n{END}\nret;\n}}\n"
    )
}

/// Wraps code as [`kernel_with`] does, without noting its instructions for the coverage table.
pub(super) fn silent_kernel(declarations: &str, code: &str) -> String {
    kernel_with(declarations, code).replace(BEGIN, "")
}

/// Three arrays of 64-bit words that kernels read and write.
pub(super) struct Machine {
    pub memory: DeviceMemory,
    pub arrays: [u64; 3],
    pub words: usize,
}

impl Machine {
    pub fn new(words: usize) -> Machine {
        let mut memory = DeviceMemory::default();
        let arrays = std::array::from_fn(|_| memory.allocate(8 * words as u64).unwrap());
        Machine { memory, arrays, words }
    }

    pub fn set(&mut self, array: usize, values: &[u64]) {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.memory
            .bytes_mut(self.arrays[array], bytes.len() as u64)
            .unwrap()
            .copy_from_slice(&bytes);
    }

    pub fn get(&self, array: usize) -> Vec<u64> {
        let bytes = self.memory.bytes(self.arrays[array], 8 * self.words as u64).unwrap();
        bytes.chunks_exact(8).map(|word| u64::from_le_bytes(*word.first_chunk().unwrap())).collect()
    }

    pub fn launch(&self, grid: u32, block: u32) -> Launch {
        let mut params: Vec<Vec<u8>> =
            self.arrays.iter().map(|a| a.to_le_bytes().to_vec()).collect();
        params.push((self.words as u32).to_le_bytes().to_vec());
        Launch {
            kernel: "k".into(),
            grid: [grid, 1, 1],
            block: [block, 1, 1],
            cluster: None,
            dynamic_shared: 0,
            workspace: 0,
            window: None,
            params: Params(params),
        }
    }

    pub fn run(&mut self, text: &str, grid: u32, block: u32) -> Result<Counts, LaunchError> {
        note_all(text);
        let module = warpmem_ptx::parse(text).unwrap_or_else(|error| panic!("{error}"));
        let image = Image::load(module, &mut self.memory)?;
        let launch = self.launch(grid, block);
        let limits = Limits { instructions: 10_000_000, ..Limits::default() };
        Run::new(&image, &launch)?.execute(&mut self.memory, None, limits, &())
    }
}

/// Executes and records a launch; returns the bytes of the trace, if it completes.
pub(super) fn recorded(
    machine: &mut Machine,
    code: &str,
    launch: &Launch,
    limits: Limits,
) -> Result<(Counts, Vec<u8>), LaunchError> {
    recorded_module(machine, &kernel(code), launch, limits)
}

/// Executes and records a launch of a whole module.
pub(super) fn recorded_module(
    machine: &mut Machine,
    text: &str,
    launch: &Launch,
    limits: Limits,
) -> Result<(Counts, Vec<u8>), LaunchError> {
    let module = warpmem_ptx::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let image = Image::load(module, &mut machine.memory)?;
    let run = Run::new(&image, launch)?;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.wmt");
    let mut writer = TraceWriter::create(&path, Provenance::default(), WriterOptions::default())?;
    let (name, grid, block) = (launch.kernel.clone(), launch.grid, launch.block);
    let cluster = run.cluster();
    let info = KernelInfo { name, grid, block, cluster, ..KernelInfo::default() };
    let mut recorder = TraceRecorder::begin(&mut writer, info)?;
    let counts = run.execute(&mut machine.memory, Some(&mut recorder), limits, &())?;
    recorder.end()?;
    writer.finish()?;
    Ok((counts, std::fs::read(path).unwrap()))
}

/// Executes code on one warp whose thread t has `a[t]` at [%rd1] and `b[t]` at [%rd2]; returns the words
/// written to [%rd3].
pub(super) fn result(code: &str, a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut machine = Machine::new(32);
    machine.set(0, a);
    machine.set(1, b);
    machine.run(&kernel(code), 1, 32).unwrap_or_else(|error| panic!("{error}\n{code}"));
    machine.get(2)
}

pub(super) fn tids() -> Vec<u64> {
    (0..32).collect()
}
