//! What a table of energies holds.

use warpmem_trace::OpClass;

/// Energy for each event, pJ, and powers, W, of one chip.
#[derive(Clone, Debug)]
pub struct Table {
    /// A warp instruction: its entry in the instruction buffer and its decoding.
    pub decode: f64,
    /// A warp instruction: its selection by the warp scheduler.
    pub schedule: f64,
    /// A warp instruction: its share of the accesses to the instruction cache, which all hit.
    pub instruction_cache: f64,
    /// A warp instruction: the registers that it reads and writes.
    pub registers: f64,
    /// A thread instruction: the registers of the pipeline.
    pub pipeline: f64,
    /// A thread instruction, by its functional unit.
    pub lanes: LanePicojoules,
    /// A pass of a shared-memory instruction over the banks.
    pub shared_pass: f64,
    /// An access to a sector of L1: a read hit, a read miss, a write hit, a write miss.
    pub l1: [f64; 4],
    /// An access to a sector of the last-level cache, as of L1.
    pub l2: [f64; 4],
    /// A byte that enters a network.
    pub network_byte: f64,
    /// A byte that DRAM reads, and one that it writes, the memory controller's share included.
    pub dram_read_byte: f64,
    pub dram_write_byte: f64,
    /// A row that is closed.
    pub dram_precharge: f64,
    /// Power of an SM that has no CTA, W.
    pub idle_sm: f64,
    /// Power of chip and board that does not depend on what is done, W.
    pub constant: f64,
    /// Power of a chip all of whose SMs have CTAs, beyond that.
    pub static_power: StaticWatts,
}

/// Energy of a thread instruction in its functional unit, pJ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LanePicojoules {
    pub integer: f64,
    pub fp32: f64,
    pub fp64: f64,
    pub sfu: f64,
    pub tensor: f64,
    pub control: f64,
    pub uniform: f64,
    pub other: f64,
    pub fp16: f64,
}

impl LanePicojoules {
    /// In the order of [`OpClass`].
    pub(crate) fn by_class(&self) -> [f64; OpClass::COUNT] {
        let LanePicojoules { integer, fp32, fp64, sfu, tensor, control, uniform, other, fp16 } =
            *self;
        [integer, fp32, fp64, sfu, tensor, control, uniform, other, fp16]
    }
}

/// Static power, W, with one active lane, and what each further active lane adds, by what the
/// instructions use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StaticWatts {
    pub integer: Lanes,
    pub integer_fp: Lanes,
    pub integer_fp_fp64: Lanes,
    pub integer_fp_sfu: Lanes,
    pub integer_fp_tensor: Lanes,
    /// Any other mix of functional units.
    pub other: Lanes,
    /// No functional unit, but L1, or shared memory, or the last-level cache alone, or none.
    pub l1: f64,
    pub shared: f64,
    pub l2: f64,
    pub light: f64,
}

/// Power of the first active lane and of each further one, W.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lanes {
    pub first: f64,
    pub further: f64,
}

impl Lanes {
    /// Power with this many active lanes.
    pub(crate) fn watts(self, lanes: f64) -> f64 {
        self.first + (lanes - 1.0).max(0.0) * self.further
    }
}
