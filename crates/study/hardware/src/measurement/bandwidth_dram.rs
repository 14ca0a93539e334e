//! Shared by the DRAM bandwidths. Counts bytes as STREAM does (McCalpin 1995): bytes that the kernel reads
//! and writes, over vectors of more than four times the L2 capacity. Dirty lines left in L2 are counted
//! although never written back: at most an eighth of a copy, on both sides.

use crate::device::DeviceInfo;
use crate::work::{Cycles, Figure, Parameters, Program, Unit, Work};

use super::{power_of_two_below, size, sizes};

const THREADS_OF_CTA: u64 = 256;

pub fn parameters(device: &DeviceInfo) -> Parameters {
    sizes([("bytes", power_of_two_below(8 * device.l2_bytes).max(1 << 20))])
}

/// Builds a launch whose arguments are vectors of `bytes`, in this order; the kernel writes the last one.
pub fn stream(
    name: &'static str,
    kernel: &str,
    vectors: &[&str],
    parameters: &Parameters,
) -> Result<Work, String> {
    let bytes = size(parameters, "bytes")?;
    let cta_bytes = 16 * THREADS_OF_CTA;
    if !bytes.is_multiple_of(cta_bytes) {
        return Err(format!("{bytes} bytes are not a multiple of {cta_bytes}"));
    }
    let mut launch_file = String::from("module = 'stream.ptx'\n");
    for vector in vectors {
        let words = if *vector == SINK { 1 } else { bytes / 4 };
        let fill = if Some(vector) == vectors.last() { "zero" } else { "sequence" };
        launch_file +=
            &format!("[buffers.{vector}]\ntype = 'f32'\nshape = {words}\nfill = '{fill}'\n");
    }
    launch_file += &format!(
        "[[launches]]\nkernel = '{kernel}'\ngrid = {}\nblock = {THREADS_OF_CTA}\narguments = {vectors:?}\n",
        bytes / cta_bytes
    );
    let program = Program::of_text(&launch_file, include_str!("../ptx/stream.ptx"))?;
    let moved = vectors.iter().filter(|&&vector| vector != SINK).count() as f64 * bytes as f64;
    let figure = move |cycles: &Cycles| {
        let seconds = cycles.total(0) / cycles.hz;
        vec![Figure::new(name, Unit::GigabytesPerSecond, moved / seconds / 1e9)]
    };
    Ok(Work::new(name, vec![program], figure))
}

/// Name of a one-element vector that keeps the compiler from removing reads.
pub const SINK: &str = "sink";
