//! Gridding of magnetic resonance samples: each sample, anywhere in space, contributes to the
//! points of a cubic grid within a cutoff, weighted by a Kaiser-Bessel kernel of the distance.
//! `gather` sorts the samples by cell, and one thread per grid point sums those of the surrounding
//! cells; `scatter` has one thread per sample, which adds to the surrounding points with atomics.
//!
//! ```cuda
//! struct sample { float real, imag, x, y, z, sdc; };
//!
//! __device__ float weight(float d2) {                                        // a table by the squared distance
//!     float at = d2 * STEPS / CUTOFF2;
//!     unsigned k = at;
//!     float low = table[k], high = table[k + 1];
//!     return fmaf(at - k, high - low, low);
//! }
//! __global__ void binning(const sample *samples, unsigned n, unsigned *bin, unsigned *rank, unsigned *count) {
//!     unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (i >= n) return;
//!     unsigned x = samples[i].x, y = samples[i].y, z = samples[i].z, cell = ((z << LOG) + y << LOG) + x;
//!     bin[i] = cell;
//!     rank[i] = atomicAdd(&count[cell], 1);
//! }
//! // Then start, the exclusive prefix sum of count.
//! __global__ void reorder(const sample *samples, unsigned n, const unsigned *bin, const unsigned *rank,
//!                         const unsigned *start, float4 *where, float2 *data) {
//!     unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (i >= n) return;
//!     unsigned place = start[bin[i]] + rank[i];
//!     where[place] = make_float4(samples[i].x, samples[i].y, samples[i].z, samples[i].sdc);
//!     data[place] = make_float2(samples[i].real, samples[i].imag);
//! }
//! __global__ void gridding(const float4 *where, const float2 *data, const unsigned *start, float2 *points) {
//!     unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (i >= SIDE * SIDE * SIDE) return;
//!     unsigned X = i & SIDE - 1, Y = i >> LOG & SIDE - 1, Z = i >> 2 * LOG;
//!     float real = 0, imag = 0;
//!     unsigned firstX = max(X, BELOW) - BELOW, lastX = min(X + ABOVE, SIDE - 1);         // and so on
//!     for (unsigned z = firstZ; z <= lastZ; z++)
//!         for (unsigned y = firstY; y <= lastY; y++) {
//!             unsigned row = (z << LOG) + y << LOG;
//!             for (unsigned s = start[row + firstX], end = start[row + lastX + 1]; s < end; s++) {
//!                 float4 p = where[s];
//!                 float dx = p.x - X, dy = p.y - Y, dz = p.z - Z, d2 = fmaf(dx, dx, fmaf(dy, dy, dz * dz));
//!                 if (d2 < CUTOFF2) {
//!                     float w = weight(d2) * p.w;
//!                     float2 value = data[s];
//!                     real = fmaf(w, value.x, real);
//!                     imag = fmaf(w, value.y, imag);
//!                 }
//!             }
//!         }
//!     points[i] = make_float2(real, imag);
//! }
//! __global__ void scatter(const sample *samples, unsigned n, float2 *points) {
//!     unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (i >= n) return;
//!     float px = samples[i].x, py = samples[i].y, pz = samples[i].z, sdc = samples[i].sdc;
//!     float real = samples[i].real, imag = samples[i].imag;
//!     unsigned cellX = px, firstX = max(cellX, ABOVE) - ABOVE, lastX = min(cellX + BELOW, SIDE - 1);    // and so on
//!     for (unsigned Z = firstZ; Z <= lastZ; Z++)
//!         for (unsigned Y = firstY; Y <= lastY; Y++)
//!             for (unsigned X = firstX; X <= lastX; X++) {
//!                 float dx = px - X, dy = py - Y, dz = pz - Z, d2 = fmaf(dx, dx, fmaf(dy, dy, dz * dz));
//!                 if (d2 < CUTOFF2) {
//!                     float w = weight(d2) * sdc;
//!                     float2 *point = &points[((Z << LOG) + Y << LOG) + X];
//!                     atomicAdd(&point->x, w * real);
//!                     atomicAdd(&point->y, w * imag);
//!                 }
//!             }
//! }
//! ```

use super::prelude::*;
use super::scan::exclusive_scan;

pub const GENERATOR: Generator = Generator {
    name: "mri-gridding",
    summary: "gridding of samples in space: sorted by cell and gathered, or scattered with atomics",
    source: "Parboil, mri-gridding (Stratton et al. 2012)",
    parameters: &[&[
        Parameter::choice::<Variant>(
            "variant",
            "gather",
            "Grid points gather from sorted samples, or samples add to grid points",
        ),
        Parameter::count("samples", 1 << 16, (1, 1 << 24), "samples", "Samples, 24 bytes each"),
        Parameter::choice::<Trajectory>(
            "trajectory",
            "radial",
            "Samples along spokes from the centre, or uniformly random",
        ),
        Parameter::count("side", 32, (2, 256), "points", "Side of the grid, a power of two"),
        Parameter::decimal("kernel-width", 300, (150, 1600), "points", "Width of the kernel"),
        BLOCK,
    ]],
    run: |gpu, arguments, random| {
        let side = arguments.count32("side");
        check_power_of_two("side", side.into())?;
        let grid = Grid { side, width: arguments.hundredths("kernel-width") as u32 };
        let (trajectory, n) = (arguments.choice("trajectory"), arguments.count32("samples"));
        let samples = grid.samples(trajectory, n, random);
        grid.run(gpu, arguments.choice("variant"), &samples, arguments.count32("block")).map(drop)
    },
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Variant {
    Gather,
    Scatter,
}

impl Choice for Variant {
    const NAMES: &'static [(&'static str, Variant)] =
        &[("gather", Variant::Gather), ("scatter", Variant::Scatter)];
}

/// The sampling pattern.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Trajectory {
    /// Along spokes in random directions.
    Radial,
    Uniform,
}

impl Choice for Trajectory {
    const NAMES: &'static [(&'static str, Trajectory)] =
        &[("radial", Trajectory::Radial), ("uniform", Trajectory::Uniform)];
}

/// Samples per spoke.
const READOUT: u32 = 128;
/// Intervals in the table of weights.
const STEPS: u32 = 1 << 12;

/// Real and imaginary part, position, and density compensation.
type Sample = [f32; 6];
const PLACE: usize = 2;
const DENSITY: usize = 5;

/// A cubic grid, and the kernel width in hundredths of the grid spacing.
#[derive(Clone, Copy)]
struct Grid {
    side: u32,
    width: u32,
}

impl Grid {
    fn samples(self, trajectory: Trajectory, n: u32, random: &mut Random) -> Vec<Sample> {
        let mut direction = [0.0; 3];
        let sample = |i: u32| {
            let value = [random.index(8) as f32, random.index(8) as f32];
            let (place, density) = match trajectory {
                Trajectory::Uniform => ([(); 3].map(|()| self.anywhere(random)), 1.0),
                Trajectory::Radial => {
                    if i.is_multiple_of(READOUT) {
                        direction = unit_vector(random);
                    }
                    // The volume of a sample grows with the square of the radius.
                    let radius = ((i % READOUT) as f32 + 0.5) / READOUT as f32;
                    let centre = self.side as f32 / 2.0;
                    (direction.map(|part| (part * radius).mul_add(centre, centre)), radius * radius)
                }
            };
            [value[0], value[1], place[0], place[1], place[2], density]
        };
        (0..n).map(sample).collect()
    }

    /// Draws a coordinate within the grid.
    fn anywhere(self, random: &mut Random) -> f32 {
        random.index(1 << 16) as f32 * self.side as f32 / 65536.0
    }

    /// Returns the grid points, x first: real and imaginary sums.
    fn run(
        self,
        gpu: &mut Gpu,
        variant: Variant,
        samples: &[Sample],
        block: u32,
    ) -> Result<Array<[f32; 2]>, WorkloadError> {
        let points = self.side.pow(3);
        let n = samples.len() as u32;
        let device = Device {
            grid: self,
            samples: gpu.upload(&samples.concat()),
            n,
            weights: gpu.upload(&self.weights()),
            points: gpu.zeros(points.into()),
        };
        match variant {
            Variant::Gather => {
                let sorted = device.sort(gpu, block)?;
                gpu.launch(&launch("gridding", points, block, 40), async |w| {
                    device.gridding(w, &sorted);
                })?;
            }
            Variant::Scatter => {
                gpu.launch(&launch("scatter", n, block, 40), async |w| device.scatter(w))?;
            }
        }
        Ok(device.points)
    }

    fn log(self) -> u32 {
        self.side.ilog2()
    }

    fn cutoff(self) -> f32 {
        self.width as f32 / 200.0
    }

    fn squared_cutoff(self) -> f32 {
        self.cutoff() * self.cutoff()
    }

    /// Returns the cells within reach of a point: the number below and above its own.
    fn reach(self) -> (u32, u32) {
        (self.width.div_ceil(200), self.width / 200)
    }

    /// Returns the kernel at equally spaced squared distances from 0 to the cutoff, and one more
    /// for interpolation.
    fn weights(self) -> Vec<f32> {
        let beta = self.beta();
        let weight = |step: u32| {
            let rest = 1.0 - f64::from(step.min(STEPS)) / f64::from(STEPS);
            (bessel_i0(beta * rest.sqrt()) / bessel_i0(beta)) as f32
        };
        (0..STEPS + 2).map(weight).collect()
    }

    /// Returns the shape parameter of the kernel for twofold oversampling (Beatty et al., IEEE TMI
    /// 24, 2005, equation 5).
    fn beta(self) -> f64 {
        let width = f64::from(self.width) / 100.0;
        std::f64::consts::PI * ((width * 0.75).powi(2) - 0.8).max(0.0).sqrt()
    }
}

/// Draws a uniformly distributed direction.
fn unit_vector(random: &mut Random) -> [f32; 3] {
    loop {
        let vector = [(); 3].map(|()| (random.index(1 << 16) as f32 - 32767.5) / 32768.0);
        let length = vector.iter().map(|part| part * part).sum::<f32>().sqrt();
        if (0.01..=1.0).contains(&length) {
            return vector.map(|part| part / length);
        }
    }
}

/// Computes the modified Bessel function of order zero by its power series.
fn bessel_i0(x: f64) -> f64 {
    let quarter = x * x / 4.0;
    let (mut sum, mut term, mut k) = (1.0, 1.0, 0.0);
    while term > sum * f64::EPSILON {
        k += 1.0;
        term *= quarter / (k * k);
        sum += term;
    }
    sum
}

#[derive(Clone, Copy)]
struct Device {
    grid: Grid,
    /// Structures of six.
    samples: Array<f32>,
    n: u32,
    weights: Array<f32>,
    points: Array<[f32; 2]>,
}

/// Samples sorted by cell.
struct Sorted {
    /// Position and density compensation.
    at: Array<[f32; 4]>,
    data: Array<[f32; 2]>,
    /// First sample of each cell, and the number of samples.
    start: Array<u32>,
}

impl Device {
    fn sort(&self, gpu: &mut Gpu, block: u32) -> Result<Sorted, WorkloadError> {
        let n = u64::from(self.n);
        let (bin, rank): (Array<u32>, Array<u32>) = (gpu.zeros(n), gpu.zeros(n));
        let count = gpu.zeros(self.points.len());
        let start = gpu.zeros(self.points.len() + 1);
        gpu.launch(&launch("binning", self.n, block, 18), async |w| {
            let i = self.sample(w);
            let cell = self.cell(self.place(i).map(|at| at.to_u32()));
            bin.store(i, cell);
            rank.store(i, count.at(cell).fetch_add(1));
        })?;
        exclusive_scan(gpu, count, start)?;
        let sorted = Sorted { at: gpu.zeros(n), data: gpu.zeros(n), start };
        gpu.launch(&launch("reorder", self.n, block, 20), async |w| {
            let i = self.sample(w);
            let place = start.load(bin.load(i)) + rank.load(i);
            let [x, y, z] = self.place(i);
            sorted.at.at(place).store_parts([x, y, z, self.part(i, DENSITY)]);
            sorted.data.at(place).store_parts([self.part(i, 0), self.part(i, 1)]);
        })?;
        Ok(sorted)
    }

    /// Returns the thread's sample; threads without one exit.
    fn sample<'w>(&self, w: &'w Warp) -> Lanes<'w, u32> {
        let i = w.global_x();
        w.exit_unless(i.lt(self.n));
        i
    }

    fn part<'w>(&self, i: Lanes<'w, u32>, part: usize) -> Lanes<'w, f32> {
        self.samples.at(i * 6).offset(part as u32).load()
    }

    fn place<'w>(&self, i: Lanes<'w, u32>) -> [Lanes<'w, f32>; 3] {
        [0, 1, 2].map(|axis| self.part(i, PLACE + axis))
    }

    fn cell<'w>(&self, [x, y, z]: [Lanes<'w, u32>; 3]) -> Lanes<'w, u32> {
        let log = self.grid.log();
        (((z << log) + y) << log) + x
    }

    /// Returns the first and last of the cells or points around `at`, `below` it and `above` it,
    /// within the grid.
    fn around<'w>(
        &self,
        at: Lanes<'w, u32>,
        (below, above): (u32, u32),
    ) -> (Lanes<'w, u32>, Lanes<'w, u32>) {
        (at.max(below) - below, (at + above).min(self.grid.side - 1))
    }

    fn gridding(&self, w: &Warp, sorted: &Sorted) {
        let i = w.global_x();
        w.exit_unless(i.lt(self.points.len() as u32));
        let (log, mask) = (self.grid.log(), self.grid.side - 1);
        let point = [i & mask, (i >> log) & mask, i >> (2 * log)];
        let around = point.map(|at| self.around(at, self.grid.reach()));
        let point = point.map(|at| at.to_f32());
        let (real, imag) = (w.var(0.0), w.var(0.0));
        let [(first_x, last_x), (first_y, last_y), (first_z, last_z)] = around;
        w.range(first_z, last_z + 1, 1, |z| {
            w.range(first_y + 0, last_y + 1, 1, |y| {
                let first = sorted.start.load(self.cell([first_x, y, z]));
                let end = sorted.start.at(self.cell([last_x, y, z])).offset(1).load();
                w.range(first, end, 1, |s| {
                    let at = sorted.at.load(s);
                    let d2 = squared_distance([0, 1, 2].map(|axis| at.part(axis)), point);
                    w.when(d2.lt(self.grid.squared_cutoff()), || {
                        let weight = self.weight(d2) * at.part(3);
                        let value = sorted.data.load(s);
                        real.set(weight.mad(value.part(0), &real));
                        imag.set(weight.mad(value.part(1), &imag));
                    });
                });
            });
        });
        self.points.at(i).store_parts([real.get(), imag.get()]);
    }

    fn scatter(&self, w: &Warp) {
        let i = self.sample(w);
        let place = self.place(i);
        let density = self.part(i, DENSITY);
        let value = [0, 1].map(|part| self.part(i, part));
        let (below, above) = self.grid.reach();
        let around = place.map(|at| self.around(at.to_u32(), (above, below)));
        let [(first_x, last_x), (first_y, last_y), (first_z, last_z)] = around;
        w.range(first_z, last_z + 1, 1, |z| {
            w.range(first_y + 0, last_y + 1, 1, |y| {
                w.range(first_x + 0, last_x + 1, 1, |x| {
                    let d2 = squared_distance(place, [x, y, z].map(|at| at.to_f32()));
                    w.when(d2.lt(self.grid.squared_cutoff()), || {
                        let weight = self.weight(d2) * density;
                        let point = self.points.at(self.cell([x, y, z]));
                        for (part, value) in value.into_iter().enumerate() {
                            point.part(part).add(weight * value);
                        }
                    });
                });
            });
        });
    }

    /// Interpolates between the two nearest entries of the table.
    fn weight<'w>(&self, d2: Lanes<'w, f32>) -> Lanes<'w, f32> {
        let at = d2 * (STEPS as f32 / self.grid.squared_cutoff());
        let step = at.to_u32();
        let entry = self.weights.at(step);
        let (low, high) = (entry.load(), entry.offset(1).load());
        (at - step.to_f32()).mad(high - low, low)
    }
}

fn squared_distance<'w>(a: [Lanes<'w, f32>; 3], b: [Lanes<'w, f32>; 3]) -> Lanes<'w, f32> {
    let [dx, dy, dz] = [0, 1, 2].map(|axis| a[axis] - b[axis]);
    dx.mad(dx, dy.mad(dy, dz * dz))
}

#[cfg(test)]
mod tests;
