//! Traces written from Python, instruction by instruction.

use crate::error::{Error, OrRaise};
use pyo3::prelude::*;
use std::path::PathBuf;
use warpmem::trace::{
    Barrier, CacheOp, CtaBuilder, Eviction, KernelInfo, Kind, L2Policy, MemoryOp, OpClass,
    Provenance, Reg, Registers, Space, TraceWriter as Writer, WARP_SIZE, WarpAssembler,
    WriterOptions,
};

/// Writes a trace: kernels, their CTAs, their warps, and the instructions of each, in this order.
/// Its parts are aligned to cache lines, which Python does not guarantee for its objects, so they
/// are boxed.
#[pyclass(module = "warpmem")]
pub struct TraceWriter {
    path: PathBuf,
    writer: Option<Box<Writer>>,
    open: Open,
    grid: [u32; 3],
    /// Number of warps per CTA.
    warps: u32,
    cta: Box<CtaBuilder>,
    warp: Box<WarpAssembler>,
    /// Default program counter of the next instruction.
    pc: u64,
}

/// Innermost open unit of the trace.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Open {
    File,
    Kernel,
    Cta,
    Warp,
}

#[pymethods]
impl TraceWriter {
    #[new]
    fn new(path: PathBuf, source: String) -> PyResult<TraceWriter> {
        let provenance =
            Provenance { tool: "warpmem.TraceWriter".into(), source, command: String::new() };
        let writer = Writer::create(&path, provenance, WriterOptions::default()).or_raise()?;
        Ok(TraceWriter {
            path,
            writer: Some(Box::new(writer)),
            open: Open::File,
            grid: [0; 3],
            warps: 0,
            cta: Box::default(),
            warp: Box::default(),
            pc: 0,
        })
    }

    /// Resets persisting L2 lines to normal before the next launch.
    fn reset_l2(&mut self) -> PyResult<()> {
        self.end_kernel()?;
        self.writer()?.reset_l2();
        Ok(())
    }

    /// Begins a launch.
    #[pyo3(signature = (name, grid, block, registers=32, shared_bytes=0, stream=0, cluster=None))]
    fn kernel(
        &mut self,
        name: String,
        grid: Dimensions,
        block: Dimensions,
        registers: u32,
        shared_bytes: u32,
        stream: u64,
        cluster: Option<Dimensions>,
    ) -> PyResult<()> {
        self.end_kernel()?;
        let (grid, block) = (grid.all(), block.all());
        let info = KernelInfo {
            name,
            stream,
            grid,
            block,
            registers_per_thread: registers,
            shared_bytes,
            sm_version: 0,
            cluster: cluster.map(|cluster| cluster.all()),
        };
        let threads = info.threads_per_cta();
        if threads == 0 || grid.contains(&0) {
            let text = format!(
                "kernel `{}`: grid and block must be at least 1 in each dimension",
                info.name
            );
            return Err(Error::new_err(text));
        }
        self.grid = grid;
        self.warps = threads.div_ceil(WARP_SIZE as u64) as u32;
        self.writer()?.begin_kernel(info).or_raise()?;
        self.open = Open::Kernel;
        Ok(())
    }

    /// Begins a CTA of the kernel, given by index or coordinates.
    fn cta(&mut self, block: Block) -> PyResult<()> {
        self.end_cta()?;
        self.require(Open::Kernel, "cta")?;
        let [x, y, z] = self.grid;
        let block = match block {
            Block::At((x, y, z)) => [x, y, z],
            Block::Index(at) => [at % x, at / x % y, at / x / y],
        };
        if block[0] >= x || block[1] >= y || block[2] >= z {
            return Err(Error::new_err(format!(
                "CTA {block:?} is outside of the grid {:?}",
                self.grid
            )));
        }
        self.cta.begin(block);
        self.open = Open::Cta;
        Ok(())
    }

    /// Begins a warp of the CTA.
    fn warp(&mut self, warp: u32) -> PyResult<()> {
        self.end_warp()?;
        self.require(Open::Cta, "warp")?;
        if warp >= self.warps {
            let text = format!("warp {warp} is outside of the CTA, which has {} warps", self.warps);
            return Err(Error::new_err(text));
        }
        self.cta.begin_warp(warp);
        self.open = Open::Warp;
        self.pc = 0;
        Ok(())
    }

    /// Adds a memory instruction, with an address for each active lane, lowest lane first.
    #[pyo3(signature = (kind, addresses, bytes, space, mask, dests, srcs, pc, l2))]
    fn memory(
        &mut self,
        kind: &str,
        addresses: Vec<u64>,
        bytes: u32,
        space: &str,
        mask: Option<u32>,
        dests: Vec<u16>,
        srcs: Vec<u16>,
        pc: Option<u64>,
        l2: Option<&str>,
    ) -> PyResult<()> {
        self.require(Open::Warp, kind)?;
        let eviction = l2.map(|name| named(name, &Eviction::ALL)).transpose()?;
        let op = MemoryOp {
            kind: named(kind, &Kind::MEMORY)?,
            space: named(space, &Space::MEMORY)?,
            width: bytes,
            cache_op: CacheOp::Default,
        };
        if addresses.len() > WARP_SIZE {
            let text =
                format!("a warp has {WARP_SIZE} lanes; {} addresses are given", addresses.len());
            return Err(Error::new_err(text));
        }
        let mask = mask.unwrap_or((((1u64) << addresses.len()) - 1) as u32);
        if mask.count_ones() as usize != addresses.len() {
            let text = format!(
                "expected one address for each of the {} lanes of the mask, found {}",
                mask.count_ones(),
                addresses.len()
            );
            return Err(Error::new_err(text));
        }
        let pc = self.next_pc(pc);
        let (dests, srcs) = (regs(&dests), regs(&srcs));
        self.warp.memory(pc, op, mask, Registers::new(&dests, &srcs), &addresses);
        if let Some(eviction) = eviction {
            self.warp.with_l2_policy(L2Policy::of_all(eviction));
        }
        Ok(())
    }

    /// Adds an instruction that does not access memory.
    #[pyo3(signature = (class="integer", dests=vec![], srcs=vec![], mask=u32::MAX))]
    fn compute(&mut self, class: &str, dests: Vec<u16>, srcs: Vec<u16>, mask: u32) -> PyResult<()> {
        self.require(Open::Warp, "compute")?;
        let classes = OpClass::ALL.map(|class| (class.name(), class));
        let class = named(class, &classes)?;
        self.next_pc(None);
        let (dests, srcs) = (regs(&dests), regs(&srcs));
        self.warp.compute(class, mask, Registers::new(&dests, &srcs));
        Ok(())
    }

    /// Adds a wait at a barrier of the CTA.
    #[pyo3(signature = (id=0, warps=None, mask=u32::MAX, pc=None))]
    fn barrier(&mut self, id: u8, warps: Option<u8>, mask: u32, pc: Option<u64>) -> PyResult<()> {
        self.require(Open::Warp, "barrier")?;
        let pc = self.next_pc(pc);
        self.warp.barrier(pc, Barrier { id, warps }, mask);
        Ok(())
    }

    /// Adds an arrival at a CTA barrier of `warps` warps.
    #[pyo3(signature = (id, warps, mask=u32::MAX, pc=None))]
    fn barrier_arrive(&mut self, id: u8, warps: u8, mask: u32, pc: Option<u64>) -> PyResult<()> {
        self.require(Open::Warp, "barrier_arrive")?;
        let pc = self.next_pc(pc);
        self.warp.barrier_arrive(pc, Barrier::of_warps(id, warps), mask);
        Ok(())
    }

    /// Adds an arrival at the barrier of the cluster.
    #[pyo3(signature = (mask=u32::MAX, pc=None))]
    fn cluster_arrive(&mut self, mask: u32, pc: Option<u64>) -> PyResult<()> {
        self.require(Open::Warp, "cluster_arrive")?;
        let pc = self.next_pc(pc);
        self.warp.cluster_arrive(pc, mask);
        Ok(())
    }

    /// Adds a wait at the barrier of the cluster.
    #[pyo3(signature = (mask=u32::MAX, pc=None))]
    fn cluster_wait(&mut self, mask: u32, pc: Option<u64>) -> PyResult<()> {
        self.require(Open::Warp, "cluster_wait")?;
        let pc = self.next_pc(pc);
        self.warp.cluster_wait(pc, mask);
        Ok(())
    }

    /// Adds a memory fence.
    #[pyo3(signature = (mask=u32::MAX, pc=None))]
    fn fence(&mut self, mask: u32, pc: Option<u64>) -> PyResult<()> {
        self.require(Open::Warp, "fence")?;
        let pc = self.next_pc(pc);
        self.warp.fence(pc, mask);
        Ok(())
    }

    /// Completes the file and renames it to its final name.
    fn close(&mut self) -> PyResult<()> {
        if self.writer.is_some() {
            self.end_kernel()?;
        }
        if let Some(writer) = self.writer.take() {
            writer.finish().or_raise()?;
        }
        Ok(())
    }

    /// Discards the file.
    fn abandon(&mut self) {
        self.writer = None;
    }
}

/// Dimensions: along x, along x and y, or along all three.
#[derive(FromPyObject)]
enum Dimensions {
    X(u32),
    Xy((u32, u32)),
    Xyz((u32, u32, u32)),
}

impl Dimensions {
    fn all(&self) -> [u32; 3] {
        match *self {
            Dimensions::X(x) => [x, 1, 1],
            Dimensions::Xy((x, y)) => [x, y, 1],
            Dimensions::Xyz((x, y, z)) => [x, y, z],
        }
    }
}

/// Position of a CTA in its grid.
#[derive(FromPyObject)]
enum Block {
    /// Index along x, then y, then z.
    Index(u32),
    At((u32, u32, u32)),
}

/// Returns the value with this name.
fn named<T: Copy>(name: &str, all: &[(&str, T)]) -> PyResult<T> {
    let found = all.iter().find(|(known, _)| *known == name);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
        Error::new_err(format!("there is no `{name}`; valid: {}", names.join(", ")))
    })
}

fn regs(numbers: &[u16]) -> Vec<Reg> {
    numbers.iter().map(|&number| Reg(number)).collect()
}

/// Size of an instruction in bytes: the increment of omitted program counters.
const INSTRUCTION_BYTES: u64 = 16;

impl TraceWriter {
    fn writer(&mut self) -> PyResult<&mut Writer> {
        let closed = || Error::new_err("the trace is closed");
        self.writer.as_deref_mut().ok_or_else(closed)
    }

    /// Refuses a call outside the unit that must be open.
    fn require(&self, outer: Open, what: &str) -> PyResult<()> {
        if self.open >= outer && self.writer.is_some() {
            return Ok(());
        }
        let outer = ["file", "kernel", "cta", "warp"][outer as usize];
        Err(Error::new_err(format!("{}: `{what}` without a `{outer}`", self.path.display())))
    }

    /// Returns the program counter of the next instruction.
    fn next_pc(&mut self, given: Option<u64>) -> u64 {
        let pc = given.unwrap_or(self.pc);
        self.pc = pc + INSTRUCTION_BYTES;
        pc
    }

    fn end_warp(&mut self) -> PyResult<()> {
        if self.open == Open::Warp {
            let pc = self.next_pc(None);
            self.warp.exit(pc, u32::MAX);
            let TraceWriter { writer, warp, cta, .. } = self;
            if let Some(writer) = writer {
                warp.finish(writer.dictionary(), cta);
            }
            self.open = Open::Cta;
        }
        Ok(())
    }

    fn end_cta(&mut self) -> PyResult<()> {
        self.end_warp()?;
        if self.open == Open::Cta {
            let TraceWriter { writer, cta, .. } = self;
            if let Some(writer) = writer {
                writer.cta(cta).or_raise()?;
            }
            self.open = Open::Kernel;
        }
        Ok(())
    }

    fn end_kernel(&mut self) -> PyResult<()> {
        self.end_cta()?;
        if self.open == Open::Kernel {
            self.writer()?.end_kernel().or_raise()?;
            self.open = Open::File;
        }
        Ok(())
    }
}
