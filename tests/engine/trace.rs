//! Small traces, written step by step, and their runs.

use std::fmt;
use std::path::PathBuf;
use tempfile::TempDir;
use warpmem::gpu::engine::Simulation;
use warpmem::gpu::results::{Discard, RunResult};
use warpmem::machine::Machine;
use warpmem_trace::{
    Barrier, CacheOp, CtaBuilder, KernelInfo, Kind, L2Policy, Mbarrier, MemoryOp, OpClass,
    Provenance, Reg, Registers, Space, Trace, TraceWriter, WarpAssembler, WriterOptions,
};

/// All lanes of a warp.
pub const ALL: u32 = u32::MAX;

/// A memory instruction. `addresses` has one entry per lane of `mask`.
#[derive(Clone)]
pub struct Access {
    pub kind: Kind,
    pub space: Space,
    pub cache_op: CacheOp,
    pub width: u32,
    pub mask: u32,
    pub dest: Option<u16>,
    pub source: Option<u16>,
    pub addresses: Vec<u64>,
}

/// An instruction of a warp.
#[derive(Clone, Debug)]
pub enum Step {
    Compute {
        class: OpClass,
        dest: u16,
        source: u16,
    },
    Memory(Access),
    /// An async copy into the shared memory of several CTAs of the cluster, one bit per rank.
    CopyTo(u16, Access),
    /// A step with an mbarrier operation.
    Mbarrier(Mbarrier, Box<Step>),
    /// An access with an L2 eviction policy.
    L2(L2Policy, Access),
    Barrier(Barrier),
    BarrierArrive(Barrier),
    ClusterArrive,
    ClusterWait,
    Fence,
    WaitAsync,
    Exit,
}

/// Instructions of a warp.
pub type Warp = Vec<Step>;

/// A kernel: its CTAs, each with its warps.
#[derive(Clone, Debug, Default)]
pub struct Kernel {
    pub stream: u64,
    pub shared_bytes: u32,
    pub registers: u32,
    pub cluster: Option<[u32; 3]>,
    /// Whether persisting L2 lines are reset to normal before the kernel.
    pub resets_l2: bool,
    pub ctas: Vec<Vec<Warp>>,
}

/// A trace in a temporary directory, deleted when dropped.
pub struct TraceFile {
    pub trace: Trace,
    _directory: TempDir,
}

/// Formats the access on one line, for reports of failed tests.
impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Access { kind, space, cache_op, width, mask, dest, source, addresses } = self;
        let line = format!(
            "{kind:?} {space:?} {cache_op:?} w{width} m{mask:x} {dest:?}<-{source:?} {addresses:x?}"
        );
        f.write_str(&line)
    }
}

impl Access {
    /// Makes a load of `width` bytes by each lane, with no dependents.
    pub fn load(width: u32, addresses: Vec<u64>) -> Access {
        let mask = if addresses.len() == 32 { ALL } else { (1 << addresses.len()) - 1 };
        Access {
            kind: Kind::Load,
            space: Space::Global,
            cache_op: CacheOp::Default,
            width,
            mask,
            dest: None,
            source: None,
            addresses,
        }
    }

    fn assemble(&self, pc: u64, warp: &mut WarpAssembler) {
        let registers = |reg: Option<u16>| reg.map(Reg).into_iter().collect::<Vec<_>>();
        let op = MemoryOp {
            kind: self.kind,
            space: self.space,
            width: self.width,
            cache_op: self.cache_op,
        };
        let (dests, srcs) = (registers(self.dest), registers(self.source));
        warp.memory(pc, op, self.mask, Registers::new(&dests, &srcs), &self.addresses);
    }
}

impl Step {
    fn assemble(&self, pc: u64, warp: &mut WarpAssembler) {
        match self {
            Step::Compute { class, dest, source } => {
                warp.compute(*class, ALL, Registers::new(&[Reg(*dest)], &[Reg(*source)]));
            }
            Step::Memory(access) => access.assemble(pc, warp),
            Step::CopyTo(destinations, access) => {
                access.assemble(pc, warp);
                warp.copied_to(*destinations);
            }
            Step::Mbarrier(operation, access) => {
                access.assemble(pc, warp);
                warp.with_mbarrier(*operation);
            }
            Step::L2(policy, access) => {
                access.assemble(pc, warp);
                warp.with_l2_policy(*policy);
            }
            Step::Barrier(barrier) => warp.barrier(pc, *barrier, ALL),
            Step::BarrierArrive(barrier) => warp.barrier_arrive(pc, *barrier, ALL),
            Step::ClusterArrive => warp.cluster_arrive(pc, ALL),
            Step::ClusterWait => warp.cluster_wait(pc, ALL),
            Step::Fence => warp.fence(pc, ALL),
            Step::WaitAsync => warp.wait_async(),
            Step::Exit => warp.exit(pc, ALL),
        }
    }
}

/// Writes a trace.
pub fn write(kernels: &[Kernel]) -> TraceFile {
    write_with(kernels, WriterOptions::default())
}

/// Writes a trace with a given layout.
pub fn write_with(kernels: &[Kernel], options: WriterOptions) -> TraceFile {
    let directory = tempfile::tempdir().unwrap();
    let path: PathBuf = directory.path().join("t.wmt");
    let mut writer = TraceWriter::create(&path, Provenance::default(), options).unwrap();
    kernels.iter().for_each(|kernel| write_kernel(&mut writer, kernel));
    writer.finish().unwrap();
    TraceFile { trace: Trace::open(&path).unwrap(), _directory: directory }
}

fn write_kernel(writer: &mut TraceWriter, kernel: &Kernel) {
    let warps = kernel.ctas.iter().map(Vec::len).max().unwrap_or(1);
    let info = KernelInfo {
        name: "kernel".to_owned(),
        stream: kernel.stream,
        grid: [kernel.ctas.len() as u32, 1, 1],
        block: [warps as u32 * 32, 1, 1],
        registers_per_thread: kernel.registers,
        shared_bytes: kernel.shared_bytes,
        sm_version: 0,
        cluster: kernel.cluster,
    };
    if kernel.resets_l2 {
        writer.reset_l2();
    }
    writer.begin_kernel(info).unwrap();
    let mut cta = CtaBuilder::new();
    let mut assembler = WarpAssembler::new();
    for (x, warps) in kernel.ctas.iter().enumerate() {
        cta.begin([x as u32, 0, 0]);
        for (number, warp) in warps.iter().enumerate() {
            cta.begin_warp(number as u32);
            for (at, step) in warp.iter().enumerate() {
                step.assemble(at as u64 * 16, &mut assembler);
            }
            assembler.finish(writer.dictionary(), &mut cta);
        }
        writer.cta(&cta).unwrap();
    }
    writer.end_kernel().unwrap();
}

/// Overrides under which closed forms hold on a preset: refreshed banks delay others.
pub const NO_REFRESH: [&str; 5] = [
    "dram.timing.trefi=0",
    "dram.timing.trfc=0",
    "dram.timing.trefipb=0",
    "dram.timing.trfcpb=0",
    "dram.timing.trrefd=0",
];

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
