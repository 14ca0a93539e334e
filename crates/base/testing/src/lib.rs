//! Hand-made traces for unit tests, the overrides of a small machine, and documents generated from the code.

pub mod assembly;
pub mod documents;
mod size;

pub use size::{cases, is_long, is_sampled};

use std::path::Path;
use warpmem_trace::{
    Barrier, CacheOp, Compute, CtaBuilder, Instruction, KernelInfo, Kind, OpClass, Operands,
    Provenance, Space, Trace, TraceWriter, WriterOptions,
};

/// Returns the overrides that make li2015 a small machine, and then `overrides`: one SM and two
/// channels, with equal clocks of one tick per cycle. Stores that miss in the L2 fetch the bytes that
/// they do not write.
pub fn small_machine(overrides: &[&str]) -> Vec<String> {
    let small = [
        "clocks.core_mhz=1000",
        "clocks.network_mhz=1000",
        "clocks.l2_mhz=1000",
        "clocks.dram_mhz=1000",
        "sm.count=1",
        "sm.schedulers=1",
        "dram.channels=2",
        "l1.cache.index=linear",
        "l2.cache.write_allocate=fetch-on-write",
        "l2.port_bytes=0",
    ];
    small.iter().chain(overrides).map(|&o| o.to_owned()).collect()
}

/// One instruction of a hand-made warp.
#[derive(Clone, Debug)]
pub enum Step {
    Compute(Compute),
    Record { instruction: Instruction, addresses: Vec<u64> },
}

/// Returns a compute instruction that depends on earlier ones, at the distances `deps`.
pub fn compute(class: OpClass, deps: &[u8]) -> Step {
    let operands = Operands::spread(deps.len());
    Step::Compute(Compute { class, deps: deps.to_vec(), operands })
}

/// Returns a memory instruction with one active lane per address, four bytes wide, and an unused
/// result.
pub fn memory(kind: Kind, space: Space, addresses: &[u64]) -> Step {
    let instruction = Instruction { space, width: 4, ..blank(kind) };
    Step::Record { instruction, addresses: addresses.to_vec() }
}

pub fn load(addresses: &[u64]) -> Step {
    memory(Kind::Load, Space::Global, addresses)
}

pub fn store(addresses: &[u64]) -> Step {
    memory(Kind::Store, Space::Global, addresses)
}

pub fn fence() -> Step {
    Step::Record { instruction: blank(Kind::Fence), addresses: Vec::new() }
}

/// Returns a wait at a barrier for all warps of the CTA.
pub fn barrier(id: u8) -> Step {
    at_barrier(Kind::Barrier, Barrier::of_cta(id))
}

/// Returns a wait at a barrier for `warps` warps.
pub fn barrier_of_warps(id: u8, warps: u8) -> Step {
    at_barrier(Kind::Barrier, Barrier::of_warps(id, warps))
}

/// Returns an arrival, without a wait, at a barrier for `warps` warps.
pub fn barrier_arrive(id: u8, warps: u8) -> Step {
    at_barrier(Kind::BarrierArrive, Barrier::of_warps(id, warps))
}

fn at_barrier(kind: Kind, barrier: Barrier) -> Step {
    let instruction = Instruction { barrier: Some(barrier), ..blank(kind) };
    Step::Record { instruction, addresses: Vec::new() }
}

/// Returns an arrival at the barrier of the cluster.
pub fn cluster_arrive() -> Step {
    Step::Record { instruction: blank(Kind::ClusterArrive), addresses: Vec::new() }
}

/// Returns a wait at the barrier of the cluster.
pub fn cluster_wait() -> Step {
    Step::Record { instruction: blank(Kind::ClusterWait), addresses: Vec::new() }
}

pub fn exit() -> Step {
    Step::Record { instruction: blank(Kind::Exit), addresses: Vec::new() }
}

fn blank(kind: Kind) -> Instruction {
    Instruction {
        pc: 0,
        kind,
        space: Space::None,
        cache_op: CacheOp::Default,
        width: 0,
        barrier: None,
        destinations: 0,
        mbarrier: None,
        l2_policy: None,
        deps: Vec::new(),
        operands: Operands::NONE,
        use_distance: None,
        address_from: None,
        compute: Vec::new(),
    }
}

impl Step {
    /// Sets the use of the result after `distance` more instructions (0: by the next).
    pub fn used_after(self, distance: u32) -> Step {
        self.with(|instruction| instruction.use_distance = Some(distance))
    }

    /// Adds dependences on the compute instructions at the distances `deps`.
    pub fn needing(self, deps: &[u8]) -> Step {
        self.with(|instruction| instruction.deps = deps.to_vec())
    }

    pub fn with(mut self, change: impl FnOnce(&mut Instruction)) -> Step {
        let Step::Record { instruction, .. } = &mut self else { panic!("not a record") };
        change(instruction);
        self
    }
}

/// The instructions of one warp, in order.
pub type WarpSteps = Vec<Step>;

/// The program of a warp: explicit dependences ([`WarpSteps`]) or registers ([`assembly::Warp`]).
pub trait WarpProgram {
    /// Writes the records of the warp that `cta` began last.
    fn write(&self, writer: &mut TraceWriter, cta: &mut CtaBuilder);
}

/// A kernel of CTAs and their warps.
#[derive(Clone, Debug, Default)]
pub struct TestKernel<W = WarpSteps> {
    /// Name; by default `kernel-N` with its number in the trace.
    pub name: Option<String>,
    pub stream: u64,
    pub shared_bytes: u32,
    /// Registers per thread.
    pub registers: u32,
    /// Threads per CTA for residency limits; 0: the threads of the largest CTA's warps.
    pub threads: u32,
    pub cluster: Option<[u32; 3]>,
    /// Whether persisting L2 lines are reset before the kernel.
    pub resets_l2: bool,
    pub ctas: Vec<Vec<W>>,
}

impl TestKernel {
    pub fn new(ctas: impl IntoIterator<Item = Vec<WarpSteps>>) -> TestKernel {
        TestKernel { ctas: ctas.into_iter().collect(), ..TestKernel::default() }
    }
}

impl<W> TestKernel<W> {
    fn info(&self, index: usize) -> KernelInfo {
        let warps = self.ctas.iter().map(Vec::len).max().unwrap_or(1) as u32;
        let threads = if self.threads == 0 { warps * 32 } else { self.threads };
        KernelInfo {
            name: self.name.clone().unwrap_or_else(|| format!("kernel-{index}")),
            stream: self.stream,
            grid: [self.ctas.len() as u32, 1, 1],
            block: [threads, 1, 1],
            registers_per_thread: self.registers,
            shared_bytes: self.shared_bytes,
            sm_version: 0,
            cluster: self.cluster,
        }
    }
}

/// Returns a trace of `kernels` with one chunk per CTA.
pub fn trace(kernels: &[TestKernel]) -> Trace {
    trace_with(kernels, WriterOptions { chunk_bytes: 1, ..WriterOptions::default() })
}

/// Returns a trace of `kernels` with this layout.
pub fn trace_with<W: WarpProgram>(kernels: &[TestKernel<W>], options: WriterOptions) -> Trace {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.wmt");
    write_trace(&path, kernels, options);
    let bytes = std::fs::read(&path).unwrap();
    Trace::from_bytes(Path::new("t.wmt"), bytes).unwrap()
}

/// Writes a trace of `kernels` to `path`.
pub fn write_trace<W: WarpProgram>(path: &Path, kernels: &[TestKernel<W>], options: WriterOptions) {
    let mut writer = TraceWriter::create(path, Provenance::default(), options).unwrap();
    for (index, kernel) in kernels.iter().enumerate() {
        if kernel.resets_l2 {
            writer.reset_l2();
        }
        writer.begin_kernel(kernel.info(index)).unwrap();
        for (cta, warps) in kernel.ctas.iter().enumerate() {
            write_cta(&mut writer, cta as u32, warps);
        }
        writer.end_kernel().unwrap();
    }
    writer.finish().unwrap();
}

fn write_cta<W: WarpProgram>(writer: &mut TraceWriter, block: u32, warps: &[W]) {
    let mut cta = CtaBuilder::new();
    cta.begin([block, 0, 0]);
    for (number, warp) in warps.iter().enumerate() {
        cta.begin_warp(number as u32);
        warp.write(writer, &mut cta);
    }
    writer.cta(&cta).unwrap();
}

impl WarpProgram for WarpSteps {
    fn write(&self, writer: &mut TraceWriter, cta: &mut CtaBuilder) {
        let mut before = Vec::new();
        for step in self {
            match step {
                Step::Compute(compute) => before.push(compute.clone()),
                Step::Record { instruction, addresses } => {
                    let full = !instruction.kind.is_memory();
                    let mask = if full { u32::MAX } else { lanes(addresses.len()) };
                    let compute = std::mem::take(&mut before);
                    push(writer, cta, instruction, compute, mask, addresses);
                }
            }
        }
        if !before.is_empty() {
            push(writer, cta, &blank(Kind::End), before, 0, &[]);
        }
    }
}

fn push(
    writer: &mut TraceWriter,
    cta: &mut CtaBuilder,
    instruction: &Instruction,
    compute: Vec<Compute>,
    mask: u32,
    addresses: &[u64],
) {
    let mut active = [0; OpClass::COUNT];
    compute.iter().for_each(|c| active[c.class as usize] += 32);
    let id = writer.intern(&Instruction { compute, ..instruction.clone() });
    cta.push(id, mask, &active, addresses);
}

/// Returns a mask of the lowest `count` lanes.
fn lanes(count: usize) -> u32 {
    (1u64 << count).wrapping_sub(1) as u32
}
