//! Version 1: one thread per pixel, neighbours through index arrays, and the sums over the image on
//! the device. Images are stored column by column.
//!
//! ```cuda
//! __global__ void extract(int n, float *I)  { if (ei < n) I[ei] = expf(I[ei] / 255); }    // ei: the thread
//! __global__ void compress(int n, float *I) { if (ei < n) I[ei] = logf(I[ei]) * 255; }
//! __global__ void prepare(int n, const float *I, float *sums, float *sums2) {
//!     if (ei < n) { sums[ei] = I[ei]; sums2[ei] = I[ei] * I[ei]; }
//! }
//! // Adds up `no` elements, `mul` apart, of each array: CTA by CTA into its first.
//! __global__ void reduce(int no, int mul, float *sums, float *sums2) {
//!     __shared__ float psum[BLOCK], psum2[BLOCK];
//!     if (ei < no) { psum[tx] = sums[ei * mul]; psum2[tx] = sums2[ei * mul]; }
//!     else { psum[tx] = 0; psum2[tx] = 0; }
//!     __syncthreads();
//!     for (int i = 2; i <= BLOCK; i *= 2) {
//!         if ((tx + 1) % i == 0) { psum[tx] += psum[tx - i / 2]; psum2[tx] += psum2[tx - i / 2]; }
//!         __syncthreads();
//!     }
//!     if (tx == BLOCK - 1) { sums[bx * mul * BLOCK] = psum[tx]; sums2[bx * mul * BLOCK] = psum2[tx]; }
//! }
//! __global__ void srad(int rows, int n, const int *iN, const int *iS, const int *jE, const int *jW, float *dN,
//!                      float *dS, float *dW, float *dE, float q0sqr, float *c, const float *I) {
//!     int row = ei % rows, col = ei / rows;
//!     if (ei >= n) return;
//!     float jc = I[ei];
//!     float n = I[iN[row] + rows * col] - jc, s = I[iS[row] + rows * col] - jc;
//!     float w = I[row + rows * jW[col]] - jc, e = I[row + rows * jE[col]] - jc;
//!     float value = coefficient(jc, n, s, w, e, q0sqr);
//!     dN[ei] = n; dS[ei] = s; dW[ei] = w; dE[ei] = e;
//!     c[ei] = value;
//! }
//! __global__ void srad2(int rows, int n, const int *iS, const int *jE, const float *dN, const float *dS,
//!                       const float *dW, const float *dE, const float *c, float *I) {
//!     int row = ei % rows, col = ei / rows;
//!     if (ei >= n) return;
//!     float cn = c[ei], cs = c[iS[row] + rows * col], ce = c[row + rows * jE[col]];
//!     I[ei] = diffused(I[ei], cn, cs, cn, ce, dN[ei], dS[ei], dW[ei], dE[ei]);
//! }
//! ```
//!
//! In Rodinia the last CTA of `reduce` sums its elements with fewer threads, and the rest with one;
//! here it adds zeros. The division by the number of rows is by a constant. `expf` and `logf` are
//! the fast ones.

use super::super::prelude::*;
use super::{Image, WHITE, coefficient, diffused, speckle};

/// Arguments of the kernels of a step.
#[derive(Clone, Copy)]
struct Step {
    rows: u32,
    n: u32,
    pixels: Array<f32>,
    coefficients: Array<f32>,
    /// Differences to the north, south, west and east.
    differences: [Array<f32>; 4],
    /// Row above and below each row.
    north: Array<u32>,
    south: Array<u32>,
    /// Column left and right of each column.
    west: Array<u32>,
    east: Array<u32>,
    /// Sums of the pixels, and of their squares.
    sums: [Array<f32>; 2],
}

/// Returns the diffused image, column by column.
pub fn diffuse(
    gpu: &mut Gpu,
    image: &Image,
    iterations: u32,
    block: u32,
) -> Result<Array<f32>, WorkloadError> {
    let (rows, columns) = (image.rows, image.columns);
    let n = rows * columns;
    let turned: Vec<f32> =
        (0..n).map(|i| image.pixels[(i % rows * columns + i / rows) as usize]).collect();
    let before = |len: u32| (0..len).map(|i: u32| i.saturating_sub(1)).collect::<Vec<_>>();
    let after = |len: u32| (0..len).map(|i| (i + 1).min(len - 1)).collect::<Vec<_>>();
    let step = Step {
        rows,
        n,
        pixels: gpu.upload(&turned),
        north: gpu.upload(&before(rows)),
        south: gpu.upload(&after(rows)),
        west: gpu.upload(&before(columns)),
        east: gpu.upload(&after(columns)),
        sums: [(); 2].map(|()| gpu.zeros(n.into())),
        differences: [(); 4].map(|()| gpu.zeros(n.into())),
        coefficients: gpu.zeros(n.into()),
    };
    gpu.launch(&launch("extract", n, block, 10), async |w| {
        step.change(w, |pixel| pixel.divided_by(WHITE).exp());
    })?;
    for _ in 0..iterations {
        gpu.launch(&launch("prepare", n, block, 12), async |w| step.prepare(w))?;
        let [sum, squares] = step.add_up(gpu, block)?;
        let scale = speckle(sum, squares, n.into());
        gpu.launch(&launch("srad", n, block, 24), async |w| step.coefficients(w, scale))?;
        gpu.launch(&launch("srad2", n, block, 20), async |w| step.diffuse(w))?;
    }
    gpu.launch(&launch("compress", n, block, 10), async |w| {
        step.change(w, |pixel| pixel.ln() * WHITE);
    })?;
    Ok(step.pixels)
}

impl Step {
    /// Replaces each pixel.
    fn change<'w>(&self, w: &'w Warp, to: impl Fn(Lanes<'w, f32>) -> Lanes<'w, f32>) {
        let i = w.global_x();
        w.exit_unless(i.lt(self.n));
        let pixel = self.pixels.at(i);
        pixel.store(to(pixel.load()));
    }

    /// The compiler cannot exclude that pixels alias the sums.
    fn prepare(&self, w: &Warp) {
        let i = w.global_x();
        w.exit_unless(i.lt(self.n));
        let pixel = self.pixels.at(i);
        self.sums[0].store(i, pixel.load());
        let again = pixel.load();
        self.sums[1].store(i, again * again);
    }

    /// Returns the sums of all pixels and of their squares.
    fn add_up(&self, gpu: &mut Gpu, block: u32) -> Result<[f32; 2], WorkloadError> {
        let (mut count, mut apart) = (self.n, 1);
        while count > 1 {
            let launch = launch("reduce", count, block, 16);
            let launch = Launch { shared_bytes: 2 * 4 * block, ..launch };
            gpu.launch(&launch, async |w| self.reduce(w, count, apart).await)?;
            (count, apart) = (count.div_ceil(block), apart.saturating_mul(block));
        }
        Ok(self.sums.map(|sums| gpu.download(sums)[0]))
    }

    async fn reduce(&self, w: &Warp, count: u32, apart: u32) {
        let block = w.block_width();
        let (tx, i) = (w.thread_x(), w.global_x());
        let own = [(); 2].map(|()| w.shared::<f32>(block).at(tx));
        let values = [(); 2].map(|()| w.var(0.0));
        w.when(i.lt(count), || {
            let at = i * apart;
            values.iter().zip(self.sums).for_each(|(value, sums)| value.set(sums.load(at)));
        });
        own.iter().zip(&values).for_each(|(own, value)| own.store(value));
        w.barrier().await;
        for fold in (1..).map(|k| 1 << k).take_while(|&fold| fold <= block) {
            w.when(((tx + 1) & (fold - 1)).eq(0), || {
                own.iter().for_each(|own| own.store(own.load() + own.before(fold / 2).load()));
            });
            w.barrier().await;
        }
        w.when(tx.eq(block - 1), || {
            let to = w.block_x() * apart.wrapping_mul(block);
            self.sums.iter().zip(own).for_each(|(sums, own)| sums.store(to, own.load()));
        });
    }

    fn coefficients(&self, w: &Warp, speckle: f32) {
        let i = w.global_x();
        let (row, column) = (i.remainder(self.rows), i.quotient(self.rows));
        w.exit_unless(i.lt(self.n));
        let pixel = self.pixels.load(i);
        let differences = [
            column.mad(self.rows, self.north.load(row)),
            column.mad(self.rows, self.south.load(row)),
            self.west.load(column).mad(self.rows, row),
            self.east.load(column).mad(self.rows, row),
        ]
        .map(|neighbour| self.pixels.load(neighbour) - pixel);
        let coefficient = coefficient(pixel, differences, speckle);
        for (array, difference) in self.differences.iter().zip(differences) {
            array.store(i, difference);
        }
        self.coefficients.store(i, coefficient);
    }

    fn diffuse(&self, w: &Warp) {
        let i = w.global_x();
        let (row, column) = (i.remainder(self.rows), i.quotient(self.rows));
        w.exit_unless(i.lt(self.n));
        let own = self.coefficients.load(i);
        let south = self.coefficients.load(column.mad(self.rows, self.south.load(row)));
        let east = self.coefficients.load(self.east.load(column).mad(self.rows, row));
        let differences = self.differences.map(|array| array.load(i));
        let pixel = self.pixels.at(i);
        pixel.store(diffused(pixel.load(), [own, south, own, east], differences));
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::*;
    use super::super::tests::{farthest, plain};
    use super::*;

    fn turned<T: Copy>(pixels: &[T], rows: usize) -> Vec<T> {
        let columns = pixels.len() / rows;
        (0..pixels.len()).map(|i| pixels[i % rows * columns + i / rows]).collect()
    }

    #[test]
    fn pixels_match_the_plain_algorithm() {
        for (rows, columns, iterations, block) in
            [(16, 16, 1, 512), (9, 50, 3, 64), (37, 21, 2, 32), (1, 70, 1, 128)]
        {
            let image = Image::random(rows, columns, &mut Random::new(4));
            let run = run(|gpu| {
                let pixels = diffuse(gpu, &image, iterations, block)?;
                Ok(gpu.download(pixels))
            });
            let logarithms: Vec<f64> = plain(&image, iterations).iter().map(|p| p.ln()).collect();
            let expected = turned(&logarithms, rows as usize);
            let found: Vec<f32> = run.result.iter().map(|p| p / WHITE).collect();
            let farthest = farthest(&found, &expected);
            assert!(farthest < 1e-5, "{rows} × {columns}, {iterations} steps: {farthest}");
        }
    }

    #[test]
    fn sums_are_folded_launch_by_launch() {
        let image = Image { rows: 50, columns: 20, pixels: vec![0.0; 1000] };
        let run = run(|gpu| diffuse(gpu, &image, 1, 32));
        let names = run.trace().kernels().iter().map(|k| (k.info.name.clone(), k.ctas));
        let names: Vec<(String, u32)> = names.collect();
        let expected = [
            ("extract", 32),
            ("prepare", 32),
            ("reduce", 32),
            ("reduce", 1),
            ("srad", 32),
            ("srad2", 32),
            ("compress", 32),
        ];
        assert_eq!(names, expected.map(|(name, ctas)| (name.to_owned(), ctas)));
    }

    #[test]
    fn column_neighbours_are_contiguous_and_row_neighbours_a_column_apart() {
        let image = Image::random(64, 4, &mut Random::new(4));
        let run = run(|gpu| diffuse(gpu, &image, 1, 64));
        let mut first = Vec::new();
        visit_records(run.trace(), |kernel, warp, instruction, record| {
            let name = &run.trace().kernels()[kernel].info.name;
            if name == "srad" && warp == 3 && instruction.kind == Kind::Load {
                first.push(record.active_addresses()[0]);
            }
        });
        // The pixel, the four indices, and then the pixels of the north, south, west and east.
        let own = first[0] as i64;
        let distances: Vec<i64> = first[5..].iter().map(|&at| (at as i64 - own) / 4).collect();
        assert_eq!(distances, [-1, 1, -64, 64]);
    }
}
