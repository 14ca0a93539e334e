//! Reads any text as a PTX module and executes its kernels for a limited time, with arguments that point to memory.

#![no_main]

use libfuzzer_sys::fuzz_target;
use warpmem_ptx::{Module, parse};
use warpmem_simt::{DeviceMemory, Image, Launch, LaunchError, Limits, Params, Run};

/// Limit of executed warp instructions per kernel.
const LIMIT: u64 = 2_000;
/// Limit of a module's variables, bytes; larger modules are not executed, because memory is not under test.
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
    // Three CTAs in sequence, or two of them concurrently.
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
    Run::new(image, &launch)?.execute(memory, None, limits, &()).map(drop)
}

/// Returns arguments: an address for each parameter of address size, zeros for the others.
fn params(module: &Module, kernel: &str, array: u64) -> Params {
    let Some(id) = module.kernel(kernel) else { return Params::default() };
    let value = |bytes: u64| match bytes {
        8 => array.to_le_bytes().to_vec(),
        bytes => vec![0; bytes as usize],
    };
    let params = module.function(id).params.iter();
    Params(params.map(|&param| value(module.variable(param).bytes)).collect())
}
