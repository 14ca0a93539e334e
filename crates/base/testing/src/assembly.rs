//! Warps written with registers. The trace's assembler derives their dependences.

use std::fmt;

use warpmem_trace::{
    Barrier, CacheOp, CtaBuilder, Kind, L2Policy, Mbarrier, MemoryOp, OpClass, Reg, Registers,
    Space, TraceWriter, WarpAssembler,
};

use crate::WarpProgram;

/// All lanes of a warp.
pub const ALL: u32 = u32::MAX;

/// Bytes of an instruction.
const INSTRUCTION_BYTES: u64 = 16;

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

/// One instruction of a warp.
#[derive(Clone, Debug)]
pub enum Step {
    Compute {
        class: OpClass,
        dest: u16,
        source: u16,
    },
    Memory(Access),
    /// An async copy to the shared memory of these CTAs of the cluster, one bit per rank.
    CopyTo(u16, Access),
    /// An access with an mbarrier operation.
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

/// The instructions of a warp.
pub type Warp = Vec<Step>;

/// Formats the access on one line, for the reports of failed tests.
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
    /// Returns a load of `width` bytes by each lane with an unused result.
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

impl WarpProgram for Warp {
    fn write(&self, writer: &mut TraceWriter, cta: &mut CtaBuilder) {
        let mut assembler = WarpAssembler::new();
        for (at, step) in self.iter().enumerate() {
            step.assemble(at as u64 * INSTRUCTION_BYTES, &mut assembler);
        }
        assembler.finish(writer.dictionary(), cta);
    }
}
