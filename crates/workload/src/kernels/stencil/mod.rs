//! Stencils: every cell is computed from its neighbours, repeatedly, between two arrays that are
//! swapped.

pub mod plane;
pub mod volume;

use super::prelude::*;
use crate::parameters::Arguments;

/// Launches `step` on two arrays of `cells`, from one to the other and then back; the array it wrote last.
fn iterate(
    gpu: &mut Gpu,
    cells: &[f32],
    iterations: u32,
    mut step: impl FnMut(&mut Gpu, Array<f32>, Array<f32>) -> Result<(), WorkloadError>,
) -> Result<Array<f32>, WorkloadError> {
    let (mut from, mut to) = (gpu.upload(cells), gpu.upload(cells));
    for _ in 0..iterations {
        step(gpu, from, to)?;
        (from, to) = (to, from);
    }
    Ok(from)
}

/// The shape of a CTA that `--block-x` and `--block-y` ask for.
fn block_of(arguments: &Arguments) -> Result<[u32; 3], WorkloadError> {
    let (x, y) = (arguments.count32("block-x"), arguments.count32("block-y"));
    if x * y <= 1024 {
        return Ok([x, y, 1]);
    }
    let message = format!("--block-x {x} and --block-y {y} are more than 2^10 threads in a CTA");
    Err(WorkloadError::Inconsistent { message })
}
