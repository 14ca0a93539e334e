//! Seven-point stencil in a volume: a thread descends a column of cells and keeps the layer above,
//! its own and the one below in registers.
//!
//! ```cuda
//! // Rodinia's sizes are multiples of the CTA; the guard is ours.
//! __global__ void hotspotOpt1(const float *p, const float *tIn, float *tOut, float sdc, int nx, int ny, int nz,
//!                             float ce, float cw, float cn, float cs, float ct, float cb, float cc) {
//!     float amb_temp = 80.0;
//!     int i = blockDim.x * blockIdx.x + threadIdx.x, j = blockDim.y * blockIdx.y + threadIdx.y;
//!     if (i >= nx || j >= ny) return;
//!     int c = i + j * nx, xy = nx * ny;
//!     int W = i == 0 ? c : c - 1, E = i == nx - 1 ? c : c + 1, N = j == 0 ? c : c - nx, S = j == ny - 1 ? c : c + nx;
//!     float temp1, temp2, temp3;
//!     temp1 = temp2 = tIn[c]; temp3 = tIn[c + xy];
//!     tOut[c] = cc * temp2 + cw * tIn[W] + ce * tIn[E] + cs * tIn[S] + cn * tIn[N] + cb * temp1 + ct * temp3 +
//!               sdc * p[c] + ct * amb_temp;
//!     c += xy; W += xy; E += xy; N += xy; S += xy;
//!     for (int k = 1; k < nz - 1; ++k) {
//!         temp1 = temp2; temp2 = temp3; temp3 = tIn[c + xy];
//!         tOut[c] = …;
//!         c += xy; W += xy; E += xy; N += xy; S += xy;
//!     }
//!     temp1 = temp2; temp2 = temp3;
//!     tOut[c] = …;
//! }
//! ```
//!
//! nvcc unrolls the loop by four; here it is not unrolled.

use super::super::prelude::*;
use super::iterate;

pub const GENERATOR: Generator = Generator {
    name: "stencil3d",
    summary: "seven-point stencil in a volume, one thread per column of cells, layers kept in registers",
    source: "Rodinia 3.1, hotspot3D (Che et al., IISWC 2009)",
    parameters: &[&[
        Parameter::count(
            "width",
            256,
            (1, 1 << 12),
            "cells",
            "Cells along x, contiguous in memory",
        ),
        Parameter::count("height", 256, (1, 1 << 12), "cells", "Cells along y"),
        Parameter::count(
            "depth",
            8,
            (2, 1 << 12),
            "cells",
            "Layers along z, traversed by each thread",
        ),
        Parameter::count("iterations", 2, (1, 1 << 16), "launches", "Steps, one launch each"),
        Parameter::count("block-x", 64, (1, 1024), "threads", "Columns of a CTA"),
        Parameter::count("block-y", 4, (1, 1024), "threads", "Rows of a CTA"),
    ]],
    run: |gpu, arguments, random| {
        let size = ["width", "height", "depth"].map(|name| arguments.count32(name));
        check_entries("cells", size[0] * size[1], size[2])?;
        let volume = Volume { size, block: block_of(arguments)? };
        let cells: u32 = size.iter().product();
        let (power, heat) = (small_floats(cells, random), small_floats(cells, random));
        volume.run(gpu, &power, &heat, arguments.count32("iterations")).map(drop)
    },
};

/// Ambient temperature.
const AMBIENT: f32 = 80.0;
/// Weights of a neighbour, the power and the cell itself. (Values are not part of a trace; Rodinia
/// derives them from the size of a chip.)
const NEIGHBOUR: f32 = 0.0625;
const POWER: f32 = 0.25;
const OWN: f32 = 1.0 - 7.0 * NEIGHBOUR;

/// The size of the volume and of a CTA.
#[derive(Clone, Copy)]
struct Volume {
    size: [u32; 3],
    block: [u32; 3],
}

/// The arrays of one step.
#[derive(Clone, Copy)]
struct Step {
    power: Array<f32>,
    from: Array<f32>,
    to: Array<f32>,
}

impl Volume {
    fn run(
        &self,
        gpu: &mut Gpu,
        power: &[f32],
        heat: &[f32],
        iterations: u32,
    ) -> Result<Array<f32>, WorkloadError> {
        let ([width, height, _], [x, y, _]) = (self.size, self.block);
        let launch = Launch {
            name: "hotspotOpt1",
            grid: [width.div_ceil(x), height.div_ceil(y), 1],
            block: self.block,
            registers_per_thread: 40,
            shared_bytes: 0,
        };
        let power = gpu.upload(power);
        iterate(gpu, heat, iterations, |gpu, from, to| {
            let step = Step { power, from, to };
            gpu.launch(&launch, async |w| self.column(w, &step))
        })
    }

    fn column(&self, w: &Warp, step: &Step) {
        let [width, height, depth] = self.size;
        let layer = width * height;
        let (i, j) = (w.global_x(), w.global_y());
        w.exit_unless(i.lt(width) & j.lt(height));
        let cell = w.var(j.mad(width, i));
        let c = cell.get();
        let west = w.var(i.eq(0).select(c, c - 1));
        let east = w.var(i.eq(width - 1).select(c, c + 1));
        let north = w.var(j.eq(0).select(c, c - width));
        let south = w.var(j.eq(height - 1).select(c, c + width));
        let sides = [&west, &east, &south, &north];
        let centre = w.var(step.from.load(c));
        let above = w.var(0.0);
        above.set(&centre);
        let below = w.var(step.from.load(c + layer));
        let descend = || {
            for index in [&cell, &west, &east, &north, &south] {
                index.set(index.get() + layer);
            }
            above.set(&centre);
            centre.set(&below);
        };
        step.cell(&cell, sides, [&above, &centre, &below]);
        descend();
        w.range(1, depth - 1, 1, |_| {
            below.set(step.from.load(cell.get() + layer));
            step.cell(&cell, sides, [&above, &centre, &below]);
            descend();
        });
        step.cell(&cell, sides, [&above, &centre, &below]);
    }
}

impl Step {
    /// `tOut[c]` from the cell's neighbours `west`, `east`, `south`, `north`, and from `above`,
    /// itself and `below`.
    fn cell(&self, cell: &Var<u32>, sides: [&Var<u32>; 4], column: [&Var<f32>; 3]) {
        let [west, east, south, north] = sides.map(|side| self.from.load(side.get()));
        let [above, centre, below] = column.map(Var::get);
        let c = cell.get();
        let mut heat = west * NEIGHBOUR;
        heat = centre.mad(OWN, heat);
        for neighbour in [east, south, north, above, below] {
            heat = neighbour.mad(NEIGHBOUR, heat);
        }
        heat = self.power.load(c).mad(POWER, heat);
        self.to.store(c, heat + NEIGHBOUR * AMBIENT);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::*;
    use super::*;

    fn plain([width, height, depth]: [u32; 3], power: &[f32], heat: &[f32]) -> Vec<f32> {
        let at = |x: u32, y: u32, z: u32| heat[((z * height + y) * width + x) as usize];
        let cell = |index: u32| {
            let (x, y, z) = (index % width, index / width % height, index / width / height);
            let own = at(x, y, z);
            let mut new = at(x.saturating_sub(1), y, z) * NEIGHBOUR;
            new = own.mul_add(OWN, new);
            for neighbour in [
                at((x + 1).min(width - 1), y, z),
                at(x, (y + 1).min(height - 1), z),
                at(x, y.saturating_sub(1), z),
                at(x, y, z.saturating_sub(1)),
                at(x, y, (z + 1).min(depth - 1)),
            ] {
                new = neighbour.mul_add(NEIGHBOUR, new);
            }
            power[index as usize].mul_add(POWER, new) + NEIGHBOUR * AMBIENT
        };
        (0..width * height * depth).map(cell).collect()
    }

    #[test]
    fn every_step_matches_a_plain_stencil() {
        for (size, block) in [
            ([1, 1, 2], [64, 4, 1]),
            ([5, 3, 3], [4, 2, 1]),
            ([70, 9, 2], [64, 4, 1]),
            ([33, 6, 7], [32, 4, 1]),
        ] {
            let cells = size.iter().product();
            let mut random = Random::new(6);
            let power = small_floats(cells, &mut random);
            let mut expected = small_floats(cells, &mut random);
            let heat = expected.clone();
            for iterations in [1, 2, 3] {
                let run = run(|gpu| {
                    let result = Volume { size, block }.run(gpu, &power, &heat, iterations)?;
                    Ok(gpu.download(result))
                });
                expected = plain(size, &power, &expected);
                assert_eq!(run.result, expected, "{size:?}, {iterations} steps");
                assert_eq!(run.trace().kernels().len(), iterations as usize);
            }
        }
    }

    #[test]
    fn each_cell_of_a_column_is_read_once_with_four_neighbours_and_its_power() {
        let volume = Volume { size: [32, 4, 6], block: [32, 4, 1] };
        let cells = [1.0; 32 * 4 * 6];
        let run = run(|gpu| volume.run(gpu, &cells, &cells, 1));
        let executed = run.warp(2);
        let of = |kind| executed.iter().filter(|(i, _)| i.kind == kind).count();
        assert_eq!((of(Kind::Load), of(Kind::Store)), (6 + 5 * 6, 6));
    }
}
