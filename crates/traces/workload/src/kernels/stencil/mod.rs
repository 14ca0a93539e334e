//! Stencils: every cell is computed from its neighbours, repeatedly, between two arrays that are
//! swapped.

pub mod plane;
pub mod volume;

use super::prelude::*;

/// Launches `step` repeatedly between two arrays of `cells`; returns the last one written.
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
