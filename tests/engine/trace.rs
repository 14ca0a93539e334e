//! Small traces, written step by step, and their runs.

use warpmem::gpu::engine::Simulation;
use warpmem::gpu::results::{Discard, RunResult};
use warpmem::machine::Machine;
pub use warpmem_testing::assembly::{ALL, Access, Step, Warp};
use warpmem_testing::{TestKernel, trace_with};
use warpmem_trace::{Kind, Trace, WriterOptions};

pub type Kernel = TestKernel<Warp>;

/// A trace in memory.
pub struct TraceFile {
    pub trace: Trace,
}

/// Writes a trace.
pub fn write(kernels: &[Kernel]) -> TraceFile {
    write_with(kernels, WriterOptions::default())
}

/// Writes a trace with a given layout. Kernels without a name share one, so that equal launches are alike.
pub fn write_with(kernels: &[Kernel], options: WriterOptions) -> TraceFile {
    let shared = || Some("kernel".to_owned());
    let named = kernels
        .iter()
        .map(|kernel| Kernel { name: kernel.name.clone().or_else(shared), ..kernel.clone() });
    TraceFile { trace: trace_with(&named.collect::<Vec<_>>(), options) }
}

/// Overrides under which closed forms hold on a preset: refreshed banks delay others.
pub const NO_REFRESH: [&str; 5] = [
    "dram.timing.trefi=0",
    "dram.timing.trfc=0",
    "dram.timing.trefipb=0",
    "dram.timing.trfcpb=0",
    "dram.timing.trrefd=0",
];

/// Keeps the path of a load free of translation, which has closed forms of its own.
pub const UNTRANSLATED: &str = "vm.enabled=false";

/// Makes a preset with overrides.
pub fn machine(preset: &str, overrides: &[&str]) -> Machine {
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    warpmem::machine::load(preset, &overrides).unwrap()
}

/// Replays a trace.
pub fn run(machine: &Machine, trace: &Trace) -> RunResult {
    let result = Simulation::new(machine, trace).run(&mut Discard);
    result.unwrap_or_else(|error| panic!("{error}"))
}

/// Makes a kernel of `ctas` CTAs of `warps` warps that load 4 bytes per lane `steps` times;
/// `address` maps the numbers of the warp, the step and the lane to a lane's address.
pub fn loads([ctas, warps, steps]: [usize; 3], address: impl Fn(u64, u64, u64) -> u64) -> Kernel {
    let access = |warp: usize, step: usize| {
        let lane = |lane| address(warp as u64, step as u64, lane);
        Step::Memory(Access::load(4, (0..32).map(lane).collect()))
    };
    let warp = |number: usize| (0..steps).map(|step| access(number, step)).collect();
    let cta = |cta: usize| (0..warps).map(|number| warp(cta * warps + number)).collect();
    Kernel { ctas: (0..ctas).map(cta).collect(), ..Kernel::default() }
}

/// Makes loads, stores and atomics, scattered over `span` bytes and contiguous.
pub fn mixed(ctas: usize, steps: usize, span: u64) -> Kernel {
    let scatter = |n: u64| (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) % span / 4 * 4;
    let line = |warp, step| scatter(warp * 64 + step) / 128 * 128;
    let mut kernel = loads([ctas, 4, steps], |warp, step, lane| line(warp, step) + 4 * lane);
    let warps = kernel.ctas.iter_mut().flatten();
    for (number, step) in warps.flatten().enumerate() {
        let Step::Memory(access) = step else { continue };
        access.kind = [Kind::Load, Kind::Store, Kind::Load, Kind::Atomic, Kind::Store][number % 5];
        if number % 3 == 0 {
            access.addresses = (0..32).map(|lane| scatter(number as u64 * 32 + lane)).collect();
        }
    }
    kernel
}
