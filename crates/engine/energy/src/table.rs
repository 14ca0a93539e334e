//! The contents of a table of energies.

use warpmem_trace::OpClass;

/// Energies per event, pJ, and powers, W, of one chip.
#[derive(Clone, Debug)]
pub struct Table {
    /// Per warp instruction: instruction buffer and decode.
    pub decode: f64,
    /// Per warp instruction: selection by the warp scheduler.
    pub schedule: f64,
    /// Per warp instruction: share of accesses to the instruction cache, which always hits.
    pub instruction_cache: f64,
    /// Per warp instruction: registers read and written.
    pub registers: f64,
    /// Per thread instruction: pipeline registers.
    pub pipeline: f64,
    /// Per thread instruction, by functional unit.
    pub lanes: LanePicojoules,
    /// Per pass of a shared-memory instruction over the banks.
    pub shared_pass: f64,
    /// Per access to an L1 sector: read hit, read miss, write hit, write miss.
    pub l1: [f64; 4],
    /// Per access to an L2 sector, as of L1.
    pub l2: [f64; 4],
    /// Per byte that enters a network.
    pub network_byte: f64,
    /// Per byte that DRAM reads or writes, memory controller included.
    pub dram_read_byte: f64,
    pub dram_write_byte: f64,
    /// Per precharge.
    pub dram_precharge: f64,
    /// Power of an SM without CTAs, W.
    pub idle_sm: f64,
    /// Activity-independent power of chip and board, W.
    pub constant: f64,
    /// Additional power of a chip with CTAs on all SMs.
    pub static_power: StaticWatts,
}

/// Energy per thread instruction in its functional unit, pJ.
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

/// Static power of the first active lane and of each further one, W, by the mix of units in use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StaticWatts {
    pub integer: Lanes,
    pub integer_fp: Lanes,
    pub integer_fp_fp64: Lanes,
    pub integer_fp_sfu: Lanes,
    pub integer_fp_tensor: Lanes,
    /// Any other mix of functional units.
    pub other: Lanes,
    /// No functional unit: only L1, only shared memory, only the L2, or none.
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
    /// Returns the power with `lanes` active lanes.
    pub(crate) fn watts(self, lanes: f64) -> f64 {
        self.first + (lanes - 1.0).max(0.0) * self.further
    }
}
