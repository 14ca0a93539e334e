//! What the bandwidths of DRAM have in common, as STREAM counts it (McCalpin 1995): bytes that the
//! kernel reads and writes, of vectors of more than four times what L2 holds. What L2 still holds at the
//! end is counted and not written: an eighth of a copy at most, on both sides.

use crate::device::DeviceInfo;
use crate::work::{Cycles, Figure, Parameters, Program, Unit, Work};

use super::{power_of_two_below, size, sizes};

const THREADS_OF_CTA: u64 = 256;

pub fn parameters(device: &DeviceInfo) -> Parameters {
    sizes([("bytes", power_of_two_below(8 * device.l2_bytes).max(1 << 20))])
}

/// A kernel that takes vectors of `bytes` as its arguments, in this order; it writes the last one.
pub fn stream(
    name: &'static str,
    kernel: &str,
    vectors: &[&str],
    parameters: &Parameters,
) -> Result<Work, String> {
    let bytes = size(parameters, "bytes")?;
    let cta_bytes = 16 * THREADS_OF_CTA;
    if !bytes.is_multiple_of(cta_bytes) {
        return Err(format!("{bytes} bytes are no multiple of {cta_bytes}"));
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

/// The name of a vector of one element, which only keeps the compiler from leaving reads out.
pub const SINK: &str = "sink";
