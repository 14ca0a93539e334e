//! Five-point Jacobi iteration on a plane: one thread per cell, neighbours read directly from
//! memory.
//!
//! ```cuda
//! __global__ void runJacobiCUDA_kernel1(const float *A, float *B, int width, int height) {
//!     int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (i >= 1 && i < height - 1 && j >= 1 && j < width - 1)
//!         B[i * width + j] = 0.2f * (A[i * width + j] + A[i * width + j - 1] + A[i * width + j + 1] +
//!                                    A[(i + 1) * width + j] + A[(i - 1) * width + j]);
//! }
//! ```
//!
//! PolyBench's second kernel, which copies B back, is replaced by swapping the arrays, as is usual.

use super::super::prelude::*;
use super::iterate;

pub const GENERATOR: Generator = Generator {
    name: "stencil2d",
    summary: "five-point Jacobi iteration on a plane, one thread per cell",
    source: "PolyBench/GPU 1.0, jacobi2D (Grauer-Gray et al., InPar 2012)",
    parameters: &[&[
        Parameter::count("width", 1 << 10, (1, 1 << 15), "cells", "Columns of the plane"),
        Parameter::count("height", 1 << 10, (1, 1 << 15), "cells", "Rows of the plane"),
        Parameter::count("iterations", 4, (1, 1 << 16), "launches", "Steps, one launch each"),
        Parameter::count("block-x", 32, (1, 1024), "threads", "Columns of a CTA"),
        Parameter::count("block-y", 8, (1, 1024), "threads", "Rows of a CTA"),
    ]],
    run: |gpu, arguments, random| {
        let (width, height) = (arguments.count32("width"), arguments.count32("height"));
        check_entries("cells", width, height)?;
        let plane = Plane { width, height, block: block_of(arguments)? };
        let cells = small_floats(width * height, random);
        plane.run(gpu, &cells, arguments.count32("iterations")).map(drop)
    },
};

/// The size of the plane and of a CTA.
#[derive(Clone, Copy)]
struct Plane {
    width: u32,
    height: u32,
    block: [u32; 3],
}

impl Plane {
    fn run(
        &self,
        gpu: &mut Gpu,
        cells: &[f32],
        iterations: u32,
    ) -> Result<Array<f32>, WorkloadError> {
        let [x, y, _] = self.block;
        let launch = Launch {
            name: "runJacobiCUDA_kernel1",
            grid: [self.width.div_ceil(x), self.height.div_ceil(y), 1],
            block: self.block,
            registers_per_thread: 16,
            shared_bytes: 0,
        };
        iterate(gpu, cells, iterations, |gpu, from, to| {
            gpu.launch(&launch, async |w| self.step(w, from, to))
        })
    }

    fn step(&self, w: &Warp, from: Array<f32>, to: Array<f32>) {
        let (i, j) = (w.global_y(), w.global_x());
        let (rows, columns) = (self.height - 1, self.width - 1);
        w.exit_unless(i.ge(1) & i.lt(rows) & j.ge(1) & j.lt(columns));
        let cell = i.mad(self.width, j);
        let centre = from.at(cell);
        let (below, above) = (from.at(cell + self.width), from.at(cell - self.width));
        let sum = centre.load() + centre.before(1).load() + centre.offset(1).load();
        let mean = (sum + below.load() + above.load()) * 0.2;
        to.store(cell, mean);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::*;
    use super::*;

    fn plain(width: usize, height: usize, mut cells: Vec<f32>, iterations: u32) -> Vec<f32> {
        for _ in 0..iterations {
            let old = cells.clone();
            for i in 1..height.saturating_sub(1) {
                for j in 1..width.saturating_sub(1) {
                    let at = i * width + j;
                    let sum = old[at] + old[at - 1] + old[at + 1];
                    cells[at] = (sum + old[at + width] + old[at - width]) * 0.2;
                }
            }
        }
        cells
    }

    #[test]
    fn every_step_averages_and_keeps_the_boundary() {
        for (width, height, block) in
            [(1, 1, [32, 8, 1]), (2, 9, [32, 8, 1]), (70, 19, [32, 8, 1]), (33, 40, [8, 4, 1])]
        {
            let cells = small_floats(width * height, &mut Random::new(2));
            for iterations in [1, 2, 3] {
                let run = run(|gpu| {
                    let plane = Plane { width, height, block };
                    let result = plane.run(gpu, &cells, iterations)?;
                    Ok(gpu.download(result))
                });
                let expected = plain(width as usize, height as usize, cells.clone(), iterations);
                assert_eq!(run.result, expected, "{width} × {height}, {iterations} steps");
                assert_eq!(run.trace().kernels().len(), iterations as usize);
            }
        }
    }

    #[test]
    fn an_interior_warp_reads_five_times_and_crosses_line_boundaries() {
        let plane = Plane { width: 96, height: 10, block: [32, 8, 1] };
        let run = run(|gpu| plane.run(gpu, &vec![1.0; 960], 1));
        // CTA 1 of 3, its second row: cells 32 to 63 of row 1.
        let executed = run.warp(8 + 1);
        let lines = |record: &warpmem_trace::Record| {
            let addresses = record.active_addresses();
            addresses[addresses.len() - 1] / 128 - addresses[0] / 128 + 1
        };
        let of = |kind| {
            executed
                .iter()
                .filter(|(i, _)| i.kind == kind)
                .map(|(_, r)| lines(r))
                .collect::<Vec<_>>()
        };
        assert_eq!(of(Kind::Load), [1, 2, 2, 1, 1]);
        assert_eq!(of(Kind::Store), [1]);
    }
}
