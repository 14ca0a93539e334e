//! Version 2: 16 × 16 threads for a tile of the image in shared memory, with its surrounding
//! neighbours.
//!
//! ```cuda
//! // rows and columns are multiples of 16
//! __global__ void srad_cuda_1(float *E, float *W, float *N, float *S, const float *J, float *C,
//!                             int columns, float q0sqr) {
//!     __shared__ float temp[16][16], temp_result[16][16], north[16][16], south[16][16], east[16][16], west[16][16];
//!     int tx = threadIdx.x, ty = threadIdx.y, corner = columns * 16 * blockIdx.y + 16 * blockIdx.x;
//!     int index = corner + columns * ty + tx;
//!     north[ty][tx] = J[blockIdx.y == 0 ? corner + tx : corner + tx - columns];
//!     south[ty][tx] = J[blockIdx.y == gridDim.y - 1 ? corner + columns * 15 + tx : corner + columns * 16 + tx];
//!     __syncthreads();
//!     west[ty][tx] = J[blockIdx.x == 0 ? corner + columns * ty : corner + columns * ty - 1];
//!     east[ty][tx] = J[blockIdx.x == gridDim.x - 1 ? corner + columns * ty + 15 : corner + columns * ty + 16];
//!     __syncthreads();
//!     temp[ty][tx] = J[index];
//!     __syncthreads();
//!     float jc = temp[ty][tx];
//!     float n = (ty == 0 ? north[ty][tx] : temp[ty - 1][tx]) - jc, s = (ty == 15 ? south[ty][tx] : temp[ty + 1][tx]) - jc;
//!     float w = (tx == 0 ? west[ty][tx] : temp[ty][tx - 1]) - jc, e = (tx == 15 ? east[ty][tx] : temp[ty][tx + 1]) - jc;
//!     temp_result[ty][tx] = coefficient(jc, n, s, w, e, q0sqr);
//!     __syncthreads();
//!     C[index] = temp_result[ty][tx];
//!     E[index] = e; W[index] = w; S[index] = s; N[index] = n;
//! }
//! __global__ void srad_cuda_2(const float *E, const float *W, const float *N, const float *S, float *J, const float *C,
//!                             int columns) {
//!     __shared__ float south_c[16][16], east_c[16][16], c_temp[16][16], c_result[16][16], temp[16][16];
//!     temp[ty][tx] = J[index];
//!     __syncthreads();
//!     south_c[ty][tx] = C[…];                                // as `south` above
//!     __syncthreads();
//!     east_c[ty][tx] = C[…];                                 // as `east` above
//!     __syncthreads();
//!     c_temp[ty][tx] = C[index];
//!     __syncthreads();
//!     float cn = c_temp[ty][tx], cs = ty == 15 ? south_c[ty][tx] : c_temp[ty + 1][tx];
//!     float cw = cn, ce = tx == 15 ? east_c[ty][tx] : c_temp[ty][tx + 1];
//!     c_result[ty][tx] = diffused(temp[ty][tx], cn, cs, cw, ce, N[index], S[index], W[index], E[index]);
//!     __syncthreads();
//!     J[index] = c_result[ty][tx];
//! }
//! ```
//!
//! Rodinia loads beyond the image's edge, possibly outside the image, and then loads the
//! replacement; here the index is selected before the load. Its nine cases of pixels in corners,
//! along sides and inside are a selection of the shared array for each neighbour. The host sums the
//! image before each step, and copies it to the device and back.

use super::super::prelude::*;
use super::{Image, WHITE, coefficient, diffused, speckle};

/// Rows and columns of a tile.
pub const SIDE: u32 = 16;

/// The image, the coefficients and the differences of a step.
#[derive(Clone, Copy)]
struct Step {
    columns: u32,
    pixels: Array<f32>,
    coefficients: Array<f32>,
    /// Differences to the north, south, west and east.
    differences: [Array<f32>; 4],
}

pub fn diffuse(gpu: &mut Gpu, image: &Image, iterations: u32) -> Result<Array<f32>, WorkloadError> {
    let mut pixels: Vec<f32> = image.pixels.iter().map(|&p| libm::expf(p / WHITE)).collect();
    let len = pixels.len() as u64;
    let step = Step {
        columns: image.columns,
        pixels: gpu.zeros(len),
        coefficients: gpu.zeros(len),
        differences: [(); 4].map(|()| gpu.zeros(len)),
    };
    let launch = |name, arrays: u32| Launch {
        name,
        grid: [image.columns / SIDE, image.rows / SIDE, 1],
        block: [SIDE, SIDE, 1],
        registers_per_thread: 24,
        shared_bytes: arrays * SIDE * SIDE * 4,
    };
    for _ in 0..iterations {
        let (sum, squares) = (pixels.iter().sum(), pixels.iter().map(|p| p * p).sum());
        let scale = speckle(sum, squares, len);
        gpu.copy_to(step.pixels, &pixels);
        gpu.launch(&launch("srad_cuda_1", 6), async |w| step.coefficients(w, scale).await)?;
        gpu.launch(&launch("srad_cuda_2", 5), async |w| step.diffuse(w).await)?;
        pixels = gpu.download(step.pixels);
    }
    Ok(step.pixels)
}

/// A thread's position, and its offset in shared arrays.
#[derive(Clone, Copy)]
struct Place<'w> {
    w: &'w Warp,
    columns: u32,
    tx: Lanes<'w, u32>,
    ty: Lanes<'w, u32>,
    /// First pixel of the tile.
    corner: Lanes<'w, u32>,
    /// First pixel of the tile's row.
    row: Lanes<'w, u32>,
    own: Lanes<'w, u32>,
}

impl<'w> Place<'w> {
    fn new(w: &'w Warp, columns: u32) -> Place<'w> {
        let (tx, ty) = (w.thread_x(), w.thread_y());
        let corner = w.block_y().mad(columns * SIDE, w.block_x() * SIDE);
        let row = ty.mad(columns, corner);
        Place { w, columns, tx, ty, corner, row, own: ty.mad(SIDE, tx) }
    }

    fn index(&self) -> Lanes<'w, u32> {
        self.row + self.tx
    }

    /// Returns the pixel above the tile in the thread's column.
    fn north(&self) -> Lanes<'w, u32> {
        let first = self.corner + self.tx;
        self.w.block_y().eq(0).select(first, first - self.columns)
    }

    /// Returns the pixel below the tile in the thread's column.
    fn south(&self) -> Lanes<'w, u32> {
        let last = self.corner + self.tx + self.columns * (SIDE - 1);
        let is_last = self.w.block_y().eq(self.w.grid_height() - 1);
        is_last.select(last, last + self.columns)
    }

    /// Returns the pixel left of the tile in the thread's row.
    fn west(&self) -> Lanes<'w, u32> {
        self.w.block_x().eq(0).select(self.row, self.row - 1)
    }

    /// Returns the pixel right of the tile in the thread's row.
    fn east(&self) -> Lanes<'w, u32> {
        let last = self.row + (SIDE - 1);
        self.w.block_x().eq(self.w.grid_width() - 1).select(last, last + 1)
    }

    /// Allocates a shared array; returns the thread's element.
    fn shared(&self) -> Pointer<'w, f32> {
        self.w.shared::<f32>(SIDE * SIDE).at(self.own)
    }
}

impl Step {
    async fn coefficients(&self, w: &Warp, speckle: f32) {
        let place = Place::new(w, self.columns);
        let [temp, result, north, south, east, west] = [(); 6].map(|()| place.shared());
        let index = place.index();
        north.store(self.pixels.load(place.north()));
        south.store(self.pixels.load(place.south()));
        w.barrier().await;
        west.store(self.pixels.load(place.west()));
        east.store(self.pixels.load(place.east()));
        w.barrier().await;
        temp.store(self.pixels.load(index));
        w.barrier().await;
        let pixel = temp.load();
        let differences = [
            Pointer::select(place.ty.eq(0), north, temp.before(SIDE)),
            Pointer::select(place.ty.eq(SIDE - 1), south, temp.offset(SIDE)),
            Pointer::select(place.tx.eq(0), west, temp.before(1)),
            Pointer::select(place.tx.eq(SIDE - 1), east, temp.offset(1)),
        ]
        .map(|neighbour| neighbour.load() - pixel);
        result.store(coefficient(pixel, differences, speckle));
        w.barrier().await;
        self.coefficients.store(index, result.load());
        for direction in [3, 2, 1, 0] {
            self.differences[direction].store(index, differences[direction]);
        }
    }

    async fn diffuse(&self, w: &Warp) {
        let place = Place::new(w, self.columns);
        let [south, east, own, result, temp] = [(); 5].map(|()| place.shared());
        let index = place.index();
        temp.store(self.pixels.load(index));
        w.barrier().await;
        south.store(self.coefficients.load(place.south()));
        w.barrier().await;
        east.store(self.coefficients.load(place.east()));
        w.barrier().await;
        own.store(self.coefficients.load(index));
        w.barrier().await;
        let centre = own.load();
        let below = Pointer::select(place.ty.eq(SIDE - 1), south, own.offset(SIDE)).load();
        let right = Pointer::select(place.tx.eq(SIDE - 1), east, own.offset(1)).load();
        let differences = self.differences.map(|array| array.load(index));
        result.store(diffused(temp.load(), [centre, below, centre, right], differences));
        w.barrier().await;
        self.pixels.store(index, result.load());
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::*;
    use super::super::tests::{farthest, plain};
    use super::*;

    #[test]
    fn pixels_match_the_plain_algorithm() {
        for (rows, columns, iterations) in [(16, 16, 1), (48, 32, 3), (16, 64, 2)] {
            let image = Image::random(rows, columns, &mut Random::new(4));
            let run = run(|gpu| {
                let pixels = diffuse(gpu, &image, iterations)?;
                Ok(gpu.download(pixels))
            });
            let farthest = farthest(&run.result, &plain(&image, iterations));
            assert!(farthest < 1e-5, "{rows} × {columns}, {iterations} steps: {farthest}");
            assert_eq!(run.trace().kernels().len() as u32, 2 * iterations);
        }
    }

    #[test]
    fn a_tile_is_read_once_and_its_borders_sixteen_times() {
        let image = Image::random(48, 48, &mut Random::new(4));
        let run = run(|gpu| diffuse(gpu, &image, 1));
        // The middle tile, CTA 4 of 9.
        let mut lines = Vec::new();
        visit_records(run.trace(), |kernel, warp, instruction, record| {
            let is_load = (instruction.kind, instruction.space) == (Kind::Load, Space::Global);
            if (kernel, warp) == (0, 4 * 8 + 3) && is_load {
                let mut words = record.active_addresses().to_vec();
                words.sort_unstable();
                words.dedup();
                lines.push(words.len());
            }
        });
        assert_eq!(lines, [16, 16, 2, 2, 32], "north, south, west, east and the pixels");
    }
}
