//! Any text, read as a PTX module; its kernels are executed for a while, with arguments that point to
//! memory.

#![no_main]

use libfuzzer_sys::fuzz_target;
use warpmem_ptx::{Module, parse};
use warpmem_simt::{DeviceMemory, Image, Launch, LaunchError, Limits, NoRecorder, Params, Run};

/// Warp instructions after which a kernel is stopped.
const LIMIT: u64 = 2_000;
/// Kernels of modules with larger variables are not executed: memory is not what is tested.
const MOST_BYTES: u64 = 1 << 20;

fuzz_target!(|text: &str| {
    let Ok(module) = parse(text) else { return };
    let bytes = module.variables.iter().map(|variable| variable.bytes);
    if bytes.fold(0, u64::saturating_add) > MOST_BYTES {
        return;
    }
    let kernels: Vec<String> = module.kernels().map(|kernel| kernel.name.clone()).collect();
    let mut memory = DeviceMemory::default();
    let Ok(image) = Image::load(module, &mut memory) else { return };
    // Three CTAs run one after the other, or two of them at once.
    let limits = Limits { instructions: LIMIT, threads: 1 + text.len() % 2, ..Limits::default() };
    for kernel in kernels {
        let _ = execute(&image, &mut memory, kernel, limits);
    }
});

fn execute(
    image: &Image,
    memory: &mut DeviceMemory,
    kernel: String,
    limits: Limits,
) -> Result<(), LaunchError> {
    let array = memory.allocate(4096)?;
    let params = params(image.module(), &kernel, array);
    let (grid, block) = ([3, 1, 1], [48, 1, 1]);
    let (cluster, window) = (None, None);
    let launch =
        Launch { kernel, grid, block, cluster, dynamic_shared: 64, params, workspace: 0, window };
    Run::new(image, &launch)?.execute(memory, &mut NoRecorder, limits, &()).map(drop)
}

/// An address for every parameter of its size, zeros for the others.
fn params(module: &Module, kernel: &str, array: u64) -> Params {
    let Some(id) = module.kernel(kernel) else { return Params::default() };
    let value = |bytes: u64| match bytes {
        8 => array.to_le_bytes().to_vec(),
        bytes => vec![0; bytes as usize],
    };
    let params = module.function(id).params.iter();
    Params(params.map(|&param| value(module.variable(param).bytes)).collect())
}
