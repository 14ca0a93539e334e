//! AccelWattch's energies of Quadro GV100 (Kandiah et al., "AccelWattch: A Power Modeling Framework
//! for Modern GPUs", MICRO 2021), in its variant for simulated SASS: `accelwattch_sass_sim.xml` of
//! GPGPU-Sim 4.2, `SM7_QV100`. Its `SM75_RTX2060_S` has the same values.
//!
//! AccelWattch multiplies a factor of that file by the energy that its version of McPAT computes
//! for a structure. The products below are measured: AccelWattch is given one count at a time, and
//! the added energy is divided by the count. They depend neither on the clock nor on the number of
//! SMs.
//!
//! Quantities that a trace does not contain, the registers of an instruction and the share of
//! multiplications, are means over 10.2 million warp instructions of captured SASS (197 launches of
//! `sm_70` and `sm_75`).

use crate::table::{LanePicojoules, Lanes, StaticWatts, Table};

/// Lanes of a register access: all, as the register file is not gated by lane.
const LANES: f64 = 32.0;
/// Mean registers read and written per warp instruction.
const REGISTERS_READ: f64 = 1.2886;
const REGISTERS_WRITTEN: f64 = 0.8255;
/// Instructions per access to the instruction cache.
const FETCHED: f64 = 2.0;
/// Bytes of a flit; AccelWattch counts flits that enter a network.
const FLIT_BYTES: f64 = 40.0;
/// Bytes of a column command.
const COLUMN_BYTES: f64 = 32.0;

/// Energy per lane of additions, comparisons and logic, and of multiplications, pJ.
const INTEGER: [f64; 2] = [6.92238, 4.45129];
const FP: [f64; 2] = [9.98617, 3.46198];
const FP64_MULTIPLY: f64 = 5.10994;
/// Reciprocals and powers of two; square roots 7.545, sines 5.158, logarithms 4.854.
const SFU: f64 = 14.00166;
const TENSOR: f64 = 31.53684;
/// Fraction of multiplications (and multiply-adds) among the lanes of captured instructions.
const INTEGER_MULTIPLIES: f64 = 0.4427;
const FP_MULTIPLIES: f64 = 0.9708;

/// Returns the mean energy per lane for a fraction of multiplications.
const fn mixed([add, multiply]: [f64; 2], multiplies: f64) -> f64 {
    add * (1.0 - multiplies) + multiply * multiplies
}

/// The table; its derivation is described above.
pub const ACCELWATTCH_VOLTA: Table = Table {
    decode: 5.87836,
    schedule: 17.31058,
    instruction_cache: 149.80376 / FETCHED,
    registers: LANES * (REGISTERS_READ * 2.50016 + REGISTERS_WRITTEN * 2.13674),
    // 125.09 pJ per cycle of an SM at its maximum of 8 x 32 thread instructions.
    pipeline: 125.089 / 256.0,
    lanes: LanePicojoules {
        integer: mixed(INTEGER, INTEGER_MULTIPLIES),
        fp32: mixed(FP, FP_MULTIPLIES),
        fp16: mixed(FP, FP_MULTIPLIES),
        // No captured kernel uses it; kernels that do, multiply and add.
        fp64: FP64_MULTIPLY,
        sfu: SFU,
        tensor: TENSOR,
        uniform: INTEGER[0],
        control: 0.0,
        other: 0.0,
    },
    shared_pass: 112.60505,
    // L1 includes the coalescer, which AccelWattch reports with the memory controller.
    l1: [506.43218, 338.4553, 37.31262, 393.3843],
    l2: [68.78749, 4.48159, 269.74065, 129.99893],
    network_byte: 86.10123 / FLIT_BYTES,
    dram_read_byte: 2062.17284 / COLUMN_BYTES,
    dram_write_byte: 1178.88574 / COLUMN_BYTES,
    dram_precharge: 332.69421,
    idle_sm: 0.28279166,
    // The second term is the power of idle memory controllers.
    constant: 32.32522272 + 0.55022,
    static_power: StaticWatts {
        integer: Lanes { first: 15.29035866, further: 0.586233603 },
        integer_fp: Lanes { first: 18.6179906, further: 0.645228013 },
        integer_fp_fp64: Lanes { first: 19.10017723, further: 0.726863055 },
        integer_fp_sfu: Lanes { first: 18.55029744, further: 0.6099397 },
        integer_fp_tensor: Lanes { first: 48.94875596, further: 0.0 },
        other: Lanes { first: 17.21745077, further: 0.650630555 },
        l1: 34.79491352,
        shared: 31.40965691,
        l2: 17.30654755,
        light: 1.965373811,
    },
};
