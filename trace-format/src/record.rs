//! What a trace holds: kernels, CTAs, warps, and their memory instructions with the compute
//! between.
//!
//! A record is one memory instruction (or barrier, fence, exit) of one warp. Its static part, the
//! [`Instruction`], is shared by every execution of the same code path and kept once per kernel;
//! its dynamic part, the [`Record`], is the active mask and the lanes' addresses.

use serde::{Deserialize, Serialize};

use crate::barrier::Barrier;
use crate::l2_policy::L2Policy;
use crate::mbarrier::Mbarrier;
use crate::operands::Operands;

/// Lanes in a warp.
pub const WARP_SIZE: usize = 32;

/// Most bytes that a lane of a record moves. Lanes of a bulk copy (`UBLKCP`) that move more are
/// several records.
pub const MAX_WIDTH: u32 = 1 << 16;

/// Most bytes that a lane moves from or to registers. A record with more per lane is a bulk copy:
/// of global memory, or from the CTA's own shared memory to that of another of its cluster.
pub const MAX_REGISTER_WIDTH: u32 = 255;

/// What kind of functional unit a compute instruction occupies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(u8)]
pub enum OpClass {
    /// Integer and logic, moves, comparisons, conversions of addresses.
    Integer,
    /// Single precision floating point.
    Fp32,
    /// Double precision floating point.
    Fp64,
    /// Special functions: reciprocal, square root, sine, exponent.
    Sfu,
    /// Matrix multiply-accumulate.
    Tensor,
    /// Branches, calls, exits, convergence barriers, waits.
    Control,
    /// The uniform datapath (Turing and later).
    Uniform,
    /// Anything else that takes an issue slot.
    Other,
    /// Packed half precision floating point, two values a lane.
    Fp16,
}

impl OpClass {
    /// Number of classes; arrays indexed by class have this length.
    pub const COUNT: usize = 9;
    /// All classes, in the order of their index.
    pub const ALL: [OpClass; OpClass::COUNT] = [
        OpClass::Integer,
        OpClass::Fp32,
        OpClass::Fp64,
        OpClass::Sfu,
        OpClass::Tensor,
        OpClass::Control,
        OpClass::Uniform,
        OpClass::Other,
        OpClass::Fp16,
    ];

    /// Lower-case name, as in tables and machine files.
    pub fn name(self) -> &'static str {
        match self {
            OpClass::Integer => "integer",
            OpClass::Fp32 => "fp32",
            OpClass::Fp64 => "fp64",
            OpClass::Sfu => "sfu",
            OpClass::Tensor => "tensor",
            OpClass::Control => "control",
            OpClass::Uniform => "uniform",
            OpClass::Other => "other",
            OpClass::Fp16 => "fp16",
        }
    }
}

/// What a record does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[repr(u8)]
pub enum Kind {
    Load,
    Store,
    /// Read-modify-write that returns the old value.
    Atomic,
    /// Read-modify-write that returns nothing.
    Reduction,
    /// Copy that bypasses the registers, from global to shared memory (`LDGSTS`, `UBLKCP`): the
    /// addresses are the global ones. In [`Space::Cluster`], from the CTA's own shared memory: the
    /// addresses are those that are written.
    AsyncCopy,
    Prefetch,
    /// Arrives at a barrier of the CTA, and waits until it is complete (`BAR.SYNC`).
    Barrier,
    /// Memory fence (`MEMBAR`).
    Fence,
    /// The lanes in the mask exit. The warp itself ends at its last record.
    Exit,
    /// Not an instruction: holds the compute after the last record of a warp. Its mask is 0.
    End,
    /// Arrives at the barrier of the cluster (`UCGABAR_ARV`), and goes on.
    ClusterArrive,
    /// Waits until all warps of the cluster have arrived at its barrier (`UCGABAR_WAIT`).
    ClusterWait,
    /// Arrives at a barrier of the CTA for some of its warps, and goes on (`BAR.ARV`).
    BarrierArrive,
}

impl Kind {
    /// The kinds of memory instructions, by their names in tables of accesses.
    pub const MEMORY: [(&str, Kind); 6] = [
        ("load", Kind::Load),
        ("store", Kind::Store),
        ("atomic", Kind::Atomic),
        ("reduction", Kind::Reduction),
        ("async-copy", Kind::AsyncCopy),
        ("prefetch", Kind::Prefetch),
    ];

    /// Whether records of this kind carry addresses.
    pub fn is_memory(self) -> bool {
        !matches!(self, Kind::Fence | Kind::Exit | Kind::End)
            && !self.is_of_barrier()
            && !self.is_of_cluster()
    }

    /// Whether it is about a barrier of the CTA.
    pub fn is_of_barrier(self) -> bool {
        matches!(self, Kind::Barrier | Kind::BarrierArrive)
    }

    /// Whether it is about the barrier of a cluster.
    pub fn is_of_cluster(self) -> bool {
        matches!(self, Kind::ClusterArrive | Kind::ClusterWait)
    }
}

/// Address space of a memory instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[repr(u8)]
pub enum Space {
    Global,
    Local,
    Shared,
    Constant,
    Texture,
    /// Not a memory instruction.
    None,
    /// Shared memory of the CTAs of a cluster: see [`ClusterAddress`](crate::ClusterAddress).
    Cluster,
}

impl Space {
    /// The spaces of memory instructions, by their names in tables of accesses.
    pub const MEMORY: [(&str, Space); 6] = [
        ("global", Space::Global),
        ("shared", Space::Shared),
        ("local", Space::Local),
        ("constant", Space::Constant),
        ("texture", Space::Texture),
        ("cluster", Space::Cluster),
    ];
}

/// Cache operator of a memory instruction, where it has one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[repr(u8)]
pub enum CacheOp {
    #[default]
    Default,
    /// Cache at all levels (`.CA`).
    All,
    /// Cache in L2 only (`.CG`, `.BYPASS`).
    Global,
    /// Streaming, evict first (`.CS`, `.EF`).
    Streaming,
    /// Last use (`.LU`).
    LastUse,
    /// Volatile: neither level may answer from a stale line (`.CV`, `.STRONG.SYS`).
    Volatile,
    /// Read-only data path (`.CONSTANT`, `LDG.E.CI`, `.NC`).
    ReadOnly,
    /// GPU-scope strong access (`.STRONG.GPU`): served at L2.
    StrongGpu,
}

/// One compute instruction between two records.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Compute {
    pub class: OpClass,
    /// Distances back, in instructions of this warp (1 = the one just before, records count), of
    /// the compute instructions whose results this one reads or overwrites. Dependences on memory
    /// instructions are not here: see [`Instruction::use_distance`]. Ascending, no repeats, each at
    /// most [`MAX_DEPENDENCE`]: an instruction further back is taken to have finished.
    pub deps: Vec<u8>,
    /// The general registers it reads.
    pub operands: Operands,
}

/// Longest kept distance of a compute-to-compute dependence, in warp instructions.
pub const MAX_DEPENDENCE: u8 = 64;

/// The static part of a record: everything that does not change from one execution of a code path
/// to the next. Two executions that came along different paths (other compute between, other
/// distance to the first use) have different `Instruction`s with the same `pc`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Instruction {
    /// Program counter, bytes from the start of the kernel.
    pub pc: u64,
    pub kind: Kind,
    pub space: Space,
    pub cache_op: CacheOp,
    /// Bytes per lane, from its address on, at most [`MAX_WIDTH`]; 0 where the record has no
    /// addresses. More than [`MAX_REGISTER_WIDTH`] only in global space, and for async copies.
    pub width: u32,
    /// The barrier of [`Kind::Barrier`] and [`Kind::BarrierArrive`]; `None` for other kinds.
    pub barrier: Option<Barrier>,
    /// Of an async copy from global memory, the CTAs of the cluster into whose shared memory it
    /// goes, a bit for each rank; 0 for the warp's own, and for other kinds.
    pub destinations: u16,
    /// What it does with mbarriers, if anything.
    pub mbarrier: Option<Mbarrier>,
    /// Of an access to global memory, how long its lines are to stay in L2, if it says so.
    pub l2_policy: Option<L2Policy>,
    /// As [`Compute::deps`]: compute results that this instruction's address or data need.
    pub deps: Vec<u8>,
    /// The general registers it reads.
    pub operands: Operands,
    /// For an instruction that writes registers: after how many following instructions of the warp
    /// its result is first read or overwritten (0 = by the next one). `None`: never.
    pub use_distance: Option<u32>,
    /// Where the address (or data) comes straight from an earlier load: how many records back that
    /// load is (1 = the previous record). `None`: from compute or from the kernel's arguments.
    pub address_from: Option<u32>,
    /// The instructions between the previous record of the warp and this one, in order.
    pub compute: Vec<Compute>,
}

/// Index of an [`Instruction`] within its kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct InstructionId(pub u32);

/// How the addresses of a record are laid out over its active lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressForm {
    /// No active lane, or not a memory instruction.
    None,
    /// Consecutive active lanes differ by this many bytes (0: all the same, or a single active
    /// lane). Traces written by this crate use this form for every record that allows it.
    Stride(i64),
    /// Anything else.
    List,
}

/// The dynamic part of a record: one execution by one warp. Reused by readers to avoid allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub instruction: InstructionId,
    /// Active lanes. May be zero: the instruction takes its issue slot and makes no traffic.
    pub mask: u32,
    /// Active lanes summed over the compute instructions before this record, by class.
    pub compute_lanes: [u32; OpClass::COUNT],
    pub form: AddressForm,
    /// One byte address per active lane, lowest lane first; the first `mask.count_ones()` are valid
    /// when `form` is not [`AddressForm::None`].
    pub addresses: [u64; WARP_SIZE],
}

impl Record {
    pub fn new() -> Record {
        Record {
            instruction: InstructionId(0),
            mask: 0,
            compute_lanes: [0; OpClass::COUNT],
            form: AddressForm::None,
            addresses: [0; WARP_SIZE],
        }
    }

    /// The addresses of the active lanes, lowest lane first; empty when there are none.
    pub fn active_addresses(&self) -> &[u64] {
        match self.form {
            AddressForm::None => &[],
            _ => &self.addresses[..self.mask.count_ones() as usize],
        }
    }
}

impl Default for Record {
    fn default() -> Record {
        Record::new()
    }
}

/// A kernel launch, as the trace knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelInfo {
    pub name: String,
    /// CUDA stream.
    pub stream: u64,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub registers_per_thread: u32,
    /// Static and dynamic shared memory of a CTA, bytes.
    pub shared_bytes: u32,
    /// SM binary version (70 = Volta, 75 = Turing, …); 0 where unknown or synthetic.
    pub sm_version: u32,
    /// CTAs of a cluster, each at least 1; `None`: launched without clusters. The CTAs of a cluster
    /// follow each other in the trace by rank, x fastest.
    pub cluster: Option<[u32; 3]>,
}

impl KernelInfo {
    /// Threads in a CTA; saturates for block sizes that no GPU has.
    pub fn threads_per_cta(&self) -> u64 {
        self.block.iter().fold(1, |threads, &n| threads.saturating_mul(u64::from(n)))
    }
}

/// A host-to-device copy before a kernel; kept as metadata.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memcpy {
    /// Index of the kernel that follows it.
    pub before_kernel: u32,
    pub address: u64,
    pub bytes: u64,
}
