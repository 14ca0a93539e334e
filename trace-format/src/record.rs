//! The content of a trace: kernels, CTAs, warps, and their memory instructions with the compute
//! between them.
//!
//! A record is one memory instruction (or barrier, fence, exit) of one warp. Its static part, the
//! [`Instruction`], is shared by every execution of the same code path and stored once per kernel;
//! its dynamic part, the [`Record`], is the active mask and the lanes' addresses.

use serde::{Deserialize, Serialize};

use crate::barrier::Barrier;
use crate::l2_policy::L2Policy;
use crate::mbarrier::Mbarrier;
use crate::operands::Operands;

/// Lanes in a warp.
pub const WARP_SIZE: usize = 32;

/// Maximum bytes per lane of a record. A lane of a bulk copy (`UBLKCP`) that moves more takes
/// several records.
pub const MAX_WIDTH: u32 = 1 << 16;

/// Maximum bytes that a lane moves from or to registers. A record with more per lane is a bulk
/// copy: of global memory, or from the CTA's own shared memory to another CTA of its cluster.
pub const MAX_REGISTER_WIDTH: u32 = 255;

/// The functional unit of a compute instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(u8)]
pub enum OpClass {
    /// Integer and logic, moves, comparisons, conversions of addresses.
    Integer,
    /// Single-precision floating point.
    Fp32,
    /// Double-precision floating point.
    Fp64,
    /// Special functions: reciprocal, square root, sine, exponent.
    Sfu,
    /// Matrix multiply-accumulate.
    Tensor,
    /// Branches, calls, exits, convergence barriers, waits.
    Control,
    /// The uniform datapath (Turing and later).
    Uniform,
    /// Any other instruction that takes an issue slot.
    Other,
    /// Packed half-precision floating point, two values per lane.
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

    /// Returns the lower-case name used in tables and machine files.
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

/// The operation of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[repr(u8)]
pub enum Kind {
    Load,
    Store,
    /// Read-modify-write that returns the old value.
    Atomic,
    /// Read-modify-write that returns nothing.
    Reduction,
    /// Copy from global to shared memory that bypasses the registers (`LDGSTS`, `UBLKCP`); the
    /// addresses are the global ones. In [`Space::Cluster`]: copy from the CTA's own shared memory;
    /// the addresses are the destinations.
    AsyncCopy,
    Prefetch,
    /// Arrives at a barrier of the CTA and waits until it completes (`BAR.SYNC`).
    Barrier,
    /// Memory fence (`MEMBAR`).
    Fence,
    /// The lanes in the mask exit. The warp itself ends at its last record.
    Exit,
    /// Not an instruction: holds the compute after a warp's last record. Its mask is 0.
    End,
    /// Arrives at the cluster barrier without waiting (`UCGABAR_ARV`).
    ClusterArrive,
    /// Waits until all warps of the cluster have arrived at its barrier (`UCGABAR_WAIT`).
    ClusterWait,
    /// Arrives at a barrier for some warps of the CTA without waiting (`BAR.ARV`).
    BarrierArrive,
}

impl Kind {
    /// The memory instructions, by their names in tables of accesses.
    pub const MEMORY: [(&str, Kind); 6] = [
        ("load", Kind::Load),
        ("store", Kind::Store),
        ("atomic", Kind::Atomic),
        ("reduction", Kind::Reduction),
        ("async-copy", Kind::AsyncCopy),
        ("prefetch", Kind::Prefetch),
    ];

    /// Returns whether records of this kind carry addresses.
    pub fn is_memory(self) -> bool {
        !matches!(self, Kind::Fence | Kind::Exit | Kind::End)
            && !self.is_of_barrier()
            && !self.is_of_cluster()
    }

    /// Returns whether this kind names a barrier of the CTA.
    pub fn is_of_barrier(self) -> bool {
        matches!(self, Kind::Barrier | Kind::BarrierArrive)
    }

    /// Returns whether this kind uses the cluster barrier.
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

/// Cache operator of a memory instruction.
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
    /// Volatile: no level may serve a stale line (`.CV`, `.STRONG.SYS`).
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
    /// Distances back, in instructions of this warp (1 = the previous one, records count), to the
    /// compute instructions whose results this one reads or overwrites. Dependences on memory
    /// instructions are in [`Instruction::use_distance`]. Ascending, no repeats, each at most
    /// [`MAX_DEPENDENCE`]: an instruction further back is taken as complete.
    pub deps: Vec<u8>,
    /// General registers read.
    pub operands: Operands,
}

/// Longest recorded distance of a compute-to-compute dependence, in warp instructions.
pub const MAX_DEPENDENCE: u8 = 64;

/// The static part of a record, identical for every execution of a code path. Executions that
/// arrive along different paths (other compute before, another distance to the first use) have
/// different `Instruction`s with the same `pc`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Instruction {
    /// Program counter, in bytes from the start of the kernel.
    pub pc: u64,
    pub kind: Kind,
    pub space: Space,
    pub cache_op: CacheOp,
    /// Bytes per lane, from its address on, at most [`MAX_WIDTH`]; 0 for records without addresses.
    /// More than [`MAX_REGISTER_WIDTH`] only in global space and for async copies.
    pub width: u32,
    /// The barrier of [`Kind::Barrier`] and [`Kind::BarrierArrive`]; `None` for other kinds.
    pub barrier: Option<Barrier>,
    /// Destination CTAs of an async copy from global memory to the shared memory of its cluster,
    /// one bit per rank; 0 for the warp's own CTA, and for other kinds.
    pub destinations: u16,
    /// Mbarrier operation, if any.
    pub mbarrier: Option<Mbarrier>,
    /// Eviction policy of an access to global memory for its lines in L2, if any.
    pub l2_policy: Option<L2Policy>,
    /// Compute results that the address or data need, as [`Compute::deps`].
    pub deps: Vec<u8>,
    /// General registers read.
    pub operands: Operands,
    /// For an instruction that writes registers: number of following instructions of the warp
    /// before its result is read or overwritten (0 = the next one uses it). `None`: never.
    pub use_distance: Option<u32>,
    /// For an address (or data) that comes straight from a load: distance back to that load in
    /// records (1 = the previous record). `None`: from compute or kernel arguments.
    pub address_from: Option<u32>,
    /// Instructions between the previous record of the warp and this one, in order.
    pub compute: Vec<Compute>,
}

/// Index of an [`Instruction`] within its kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct InstructionId(pub u32);

/// The layout of a record's addresses over its active lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressForm {
    /// No active lane, or not a memory instruction.
    None,
    /// Distance between consecutive active lanes in bytes (0: all equal, or a single active lane).
    /// Traces written by this crate use this form for every record that allows it.
    Stride(i64),
    /// Any other layout.
    List,
}

/// The dynamic part of a record: one execution by one warp. Readers reuse it to avoid allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub instruction: InstructionId,
    /// Active lanes. With none, the instruction takes its issue slot and makes no traffic.
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

    /// Returns the addresses of the active lanes, lowest lane first; empty when there are none.
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

/// The parameters of a kernel launch.
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
    /// CTAs of a cluster in each dimension, each at least 1; `None`: launched without clusters. The
    /// CTAs of a cluster are consecutive in the trace, by rank, x fastest.
    pub cluster: Option<[u32; 3]>,
}

impl KernelInfo {
    /// Returns the threads per CTA; saturates for block sizes that no GPU supports.
    pub fn threads_per_cta(&self) -> u64 {
        self.block.iter().fold(1, |threads, &n| threads.saturating_mul(u64::from(n)))
    }
}

/// A host-to-device copy before a kernel, kept as metadata.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memcpy {
    /// Index of the following kernel.
    pub before_kernel: u32,
    pub address: u64,
    pub bytes: u64,
}
