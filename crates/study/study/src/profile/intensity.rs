//! Arithmetic intensity relative to global memory.
//!
//! A trace records instruction classes and lanes, not opcodes: an FP32 or FP64 instruction counts
//! as one operation per active lane, even a fused multiply-add, and a packed FP16 instruction as
//! two. Special functions and tensor instructions do not count.

use super::footprint::Footprint;
use super::sampled::Estimate;
use serde::Serialize;
use warpmem_record::metrics::quotient;
use warpmem_trace::OpClass;

/// Lane operations, and bytes of global memory requested by some kernels.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Intensity {
    pub fp_operations: u64,
    pub integer_operations: u64,
    /// Bytes that lanes load, store or modify, counted for every access.
    pub requested_bytes: u64,
    /// Bytes of the distinct sectors of each warp instruction: network traffic without any caching.
    pub sector_bytes: u64,
    pub fp_per_requested_byte: Option<f64>,
    pub fp_per_sector_byte: Option<f64>,
    pub integer_per_requested_byte: Option<f64>,
    pub integer_per_sector_byte: Option<f64>,
}

/// Operations of the whole trace per byte of compulsory traffic, as with an infinite cache. Ratios
/// of estimated bytes have the same relative standard error.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compulsory {
    /// Bytes of all distinct lines.
    pub line_bytes: Estimate,
    /// Bytes of all distinct sectors.
    pub sector_bytes: Estimate,
    pub fp_per_line_byte: Option<f64>,
    pub fp_per_sector_byte: Option<f64>,
    pub integer_per_line_byte: Option<f64>,
    pub integer_per_sector_byte: Option<f64>,
}

/// Returns operations per byte; none without bytes.
fn per_byte(operations: u64, bytes: u64) -> Option<f64> {
    quotient(operations, bytes)
}

impl Intensity {
    pub(super) fn new(
        lanes: &[u64; OpClass::COUNT],
        requested_bytes: u64,
        sector_bytes: u64,
    ) -> Intensity {
        let of = |class: OpClass| lanes[class as usize];
        let fp = of(OpClass::Fp32) + of(OpClass::Fp64) + 2 * of(OpClass::Fp16);
        let integer = of(OpClass::Integer);
        Intensity {
            fp_operations: fp,
            integer_operations: integer,
            requested_bytes,
            sector_bytes,
            fp_per_requested_byte: per_byte(fp, requested_bytes),
            fp_per_sector_byte: per_byte(fp, sector_bytes),
            integer_per_requested_byte: per_byte(integer, requested_bytes),
            integer_per_sector_byte: per_byte(integer, sector_bytes),
        }
    }
}

impl Compulsory {
    pub(super) fn new(all: &Intensity, global: &Footprint, line: u32, sector: u32) -> Compulsory {
        let (line_bytes, sector_bytes) = (global.lines.times(line), global.sectors.times(sector));
        Compulsory {
            line_bytes,
            sector_bytes,
            fp_per_line_byte: per_byte(all.fp_operations, line_bytes.value),
            fp_per_sector_byte: per_byte(all.fp_operations, sector_bytes.value),
            integer_per_line_byte: per_byte(all.integer_operations, line_bytes.value),
            integer_per_sector_byte: per_byte(all.integer_operations, sector_bytes.value),
        }
    }
}
