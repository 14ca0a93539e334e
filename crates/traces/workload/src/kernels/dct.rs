//! The transform stage of JPEG: inverse discrete cosine transform of dequantised 8 × 8 blocks, or
//! forward transform with quantisation. A CTA covers 32 × 16 pixels; each thread transforms one row
//! and one column of a block through shared memory.
//!
//! ```cuda
//! // 8 × 4 × 2 threads: 4 × 2 blocks, 8 threads for each. Images of multiples of 32 × 16 pixels.
//! __constant__ unsigned short quantisers[64];
//! __global__ void decode(const short *coefficients, unsigned char *pixels, int width) {
//!     __shared__ float tile[16 * 33];
//!     int x = threadIdx.y * 8 + threadIdx.x, y = threadIdx.z * 8;
//!     int at = (blockIdx.y * 16 + y) * width + blockIdx.x * 32 + x;
//!     float *column = tile + y * 33 + x, *row = tile + (y + threadIdx.x) * 33 + threadIdx.y * 8;
//!     for (int i = 0; i < 8; i++)
//!         column[i * 33] = coefficients[at + i * width] * (float)quantisers[i * 8 + threadIdx.x];
//!     __syncthreads();
//!     inverse(row, 1);
//!     __syncthreads();
//!     inverse(column, 33);                                    // results stay in registers
//!     for (int i = 0; i < 8; i++)
//!         pixels[at + i * width] = rintf(fminf(fmaxf(column[i * 33] + 128, 0), 255));
//! }
//! __global__ void encode(const unsigned char *pixels, short *coefficients, int width) {
//!     …                                                       // the same way back
//!     for (int i = 0; i < 8; i++) column[i * 33] = pixels[at + i * width] - 128.0f;
//!     __syncthreads();
//!     forward(row, 1);
//!     __syncthreads();
//!     forward(column, 33);
//!     for (int i = 0; i < 8; i++)
//!         coefficients[at + i * width] = rintf(column[i * 33] / quantisers[i * 8 + threadIdx.x]);
//! }
//! ```
//!
//! All loops are unrolled. The CUDA sample keeps coefficients in single precision and quantises
//! them in another launch; here, as in decoders, they are 16-bit numbers dequantised on load, and
//! pixels are bytes. The table is that of Annex K of the JPEG standard (ITU-T T.81), for luminance.
//! Huffman coding is not modelled: coefficients are stored in image order, not in a stream.

use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "dct",
    summary: "JPEG's cosine transform of 8 by 8 blocks with quantisation, inverse or forward",
    source: "CUDA samples, dct8x8 (kernel 2); ITU-T T.81",
    parameters: &[&[
        Parameter::choice::<Direction>(
            "direction",
            "decode",
            "Coefficients to pixels (decode) or pixels to coefficients (encode)",
        ),
        Parameter::count("width", 1 << 10, (32, 1 << 14), "pixels", "Columns, a multiple of 32"),
        Parameter::count("height", 1 << 10, (16, 1 << 14), "pixels", "Rows, a multiple of 16"),
    ]],
    run: |gpu, arguments, random| {
        check_multiple("width", arguments.count("width"), TILE[0].into())?;
        check_multiple("height", arguments.count("height"), TILE[1].into())?;
        let size = ["width", "height"].map(|name| arguments.count32(name));
        match arguments.choice("direction") {
            Direction::Decode => decode(gpu, size, &spectrum(size, random)).map(drop),
            Direction::Encode => encode(gpu, size, &picture(size, random)).map(drop),
        }
    },
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Direction {
    Decode,
    Encode,
}

impl Choice for Direction {
    const NAMES: &'static [(&'static str, Direction)] =
        &[("decode", Direction::Decode), ("encode", Direction::Encode)];
}

/// Columns and rows of a block.
const SIDE: u32 = 8;
/// Columns and rows of pixels per CTA.
const TILE: [u32; 2] = [32, 16];
/// Pitch of shared memory, which spreads a block's column over eight banks.
const PITCH: u32 = TILE[0] + 1;
/// Level shift that centres pixels around zero.
const LEVEL: f32 = 128.0;

/// Quantisers of luminance, row by row (T.81, Table K.1).
const QUANTISERS: [u32; 64] = [
    16, 11, 10, 16, 24, 40, 51, 61, //
    12, 12, 14, 19, 26, 58, 60, 55, //
    14, 13, 16, 24, 40, 57, 69, 56, //
    14, 17, 22, 29, 51, 87, 80, 62, //
    18, 22, 37, 56, 68, 109, 103, 77, //
    24, 35, 55, 64, 81, 104, 113, 92, //
    49, 64, 78, 87, 103, 121, 120, 101, //
    72, 92, 95, 98, 112, 100, 103, 99,
];

/// Generates coefficients like those of a picture: any brightness of a block, small ones at low
/// frequencies, otherwise zero.
fn spectrum([width, height]: [u32; 2], random: &mut Random) -> Vec<i16> {
    let mut coefficient = |at: u32| match (at % width % SIDE, at / width % SIDE) {
        (0, 0) => random.index(129) as i16 - 64,
        (u, v) if u + v < 4 => random.index(9) as i16 - 4,
        _ => 0,
    };
    (0..width * height).map(&mut coefficient).collect()
}

fn picture([width, height]: [u32; 2], random: &mut Random) -> Vec<u8> {
    (0..width * height).map(|_| random.index(256) as u8).collect()
}

fn grid(name: &'static str, [width, height]: [u32; 2]) -> Launch {
    let [columns, rows] = TILE;
    Launch {
        name,
        grid: [width / columns, height / rows, 1],
        block: [SIDE, columns / SIDE, rows / SIDE],
        registers_per_thread: 32,
        shared_bytes: 4 * PITCH * rows,
    }
}

fn decode(gpu: &mut Gpu, size: [u32; 2], coefficients: &[i16]) -> Result<Array<u8>, WorkloadError> {
    let (from, to) = (gpu.upload(coefficients), gpu.zeros(coefficients.len() as u64));
    let quantisers = Constants::new(&QUANTISERS);
    gpu.launch(&grid("decode", size), async |w| {
        let place = Place::new(w, size[0]);
        let table = ROWS.map(|i| quantisers.load(place.tx + i * SIDE).to_f32());
        let rows = place.rows(from);
        for i in ROWS {
            let coefficient = rows[i as usize].load().to_f32();
            place.column.offset(i * PITCH).store(coefficient * table[i as usize]);
        }
        let pixels = place.transform(inverse).await;
        for (to, pixel) in place.rows(to).into_iter().zip(pixels) {
            to.store((pixel + LEVEL).max(0.0).min(255.0).to_u8());
        }
    })?;
    Ok(to)
}

fn encode(gpu: &mut Gpu, size: [u32; 2], pixels: &[u8]) -> Result<Array<i16>, WorkloadError> {
    let (from, to) = (gpu.upload(pixels), gpu.zeros(pixels.len() as u64));
    let quantisers = Constants::new(&QUANTISERS);
    gpu.launch(&grid("encode", size), async |w| {
        let place = Place::new(w, size[0]);
        for (i, pixel) in ROWS.into_iter().zip(place.rows(from)) {
            place.column.offset(i * PITCH).store(pixel.load().to_f32() - LEVEL);
        }
        let coefficients = place.transform(forward).await;
        let rows = place.rows(to);
        for i in ROWS {
            let quantiser = quantisers.load(place.tx + i * SIDE).to_f32();
            let quantised = coefficients[i as usize].divided_by(quantiser);
            rows[i as usize].store(quantised.to_i16());
        }
    })?;
    Ok(to)
}

const ROWS: [u32; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

/// The position of a thread in its block, and the row and column it transforms.
struct Place<'w> {
    w: &'w Warp,
    width: u32,
    tx: Lanes<'w, u32>,
    /// First pixel of the column.
    at: Lanes<'w, u32>,
    column: Pointer<'w, f32>,
    row: Pointer<'w, f32>,
}

/// Eight values per lane.
type Eight<'w> = [Lanes<'w, f32>; 8];

impl<'w> Place<'w> {
    fn new(w: &'w Warp, width: u32) -> Place<'w> {
        let tile = w.shared::<f32>(PITCH * TILE[1]);
        let (tx, ty, tz) = (w.thread_x(), w.thread_y(), w.thread_z());
        let (x, y) = (ty.mad(SIDE, tx), tz * SIDE);
        let at = w.block_y().mad(TILE[1], y).mad(width, w.block_x().mad(TILE[0], x));
        let column = tile.at(y.mad(PITCH, x));
        let row = tile.at((y + tx).mad(PITCH, ty * SIDE));
        Place { w, width, tx, at, column, row }
    }

    /// Returns the pixels of the column in an image.
    fn rows<T: Word>(&self, image: Array<T>) -> [Pointer<'w, T>; 8] {
        ROWS.map(|i| image.at(self.at + i * self.width))
    }

    /// Transforms the row in shared memory, then the column.
    async fn transform(&self, of: fn(Eight<'w>) -> Eight<'w>) -> Eight<'w> {
        self.w.barrier().await;
        let row = ROWS.map(|i| self.row.offset(i));
        for (to, value) in row.into_iter().zip(of(row.map(Pointer::load))) {
            to.store(value);
        }
        self.w.barrier().await;
        of(ROWS.map(|i| self.column.offset(i * PITCH).load()))
    }
}

/// Returns the weight of input `n` in coefficient `k` (T.81, A.3.3, in one dimension).
fn basis(k: usize, n: usize) -> f32 {
    let angle = ((2 * n + 1) * k) as f64 * std::f64::consts::PI / 16.0;
    let scale = if k == 0 { std::f64::consts::FRAC_1_SQRT_2 } else { 1.0 };
    (0.5 * scale * libm::cos(angle)) as f32
}

/// Returns the dot product of lanes and factors.
fn dot<'w, const N: usize>(lanes: [Lanes<'w, f32>; N], factors: [f32; N]) -> Lanes<'w, f32> {
    let mut terms = lanes.into_iter().zip(factors);
    let (first, factor) = terms.next().expect("there are terms");
    terms.fold(first * factor, |sum, (value, factor)| value.mad(factor, sum))
}

/// Returns the coefficients of eight inputs: even ones from the sums of opposite inputs, odd ones
/// from the differences.
fn forward(x: Eight<'_>) -> Eight<'_> {
    let sums = [0, 1, 2, 3].map(|n| x[n] + x[7 - n]);
    let differences = [0, 1, 2, 3].map(|n| x[n] - x[7 - n]);
    let (outer, inner) = (sums[0] + sums[3], sums[1] + sums[2]);
    let apart = [sums[0] - sums[3], sums[1] - sums[2]];
    [0, 1, 2, 3, 4, 5, 6, 7].map(|k| match k {
        0 => (outer + inner) * basis(0, 0),
        4 => (outer - inner) * basis(4, 0),
        2 | 6 => dot(apart, [basis(k, 0), basis(k, 1)]),
        _ => dot(differences, [0, 1, 2, 3].map(|n| basis(k, n))),
    })
}

/// Returns eight outputs from their coefficients, the inverse of [`forward`].
fn inverse(y: Eight<'_>) -> Eight<'_> {
    let (outer, inner) = ((y[0] + y[4]) * basis(0, 0), (y[0] - y[4]) * basis(0, 0));
    let apart = [0, 1].map(|n| dot([y[2], y[6]], [basis(2, n), basis(6, n)]));
    let sums = [outer + apart[0], inner + apart[1], inner - apart[1], outer - apart[0]];
    let odd = [y[1], y[3], y[5], y[7]];
    let differences = [0, 1, 2, 3].map(|n| dot(odd, [1, 3, 5, 7].map(|k| basis(k, n))));
    [0, 1, 2, 3, 4, 5, 6, 7].map(|n| match n {
        0..4 => sums[n] + differences[n],
        _ => sums[7 - n] - differences[7 - n],
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::testing::*;
    use super::*;

    const SIZE: [u32; 2] = [64, 48];

    /// Computes each element of each block by `of`, given the block's values and the position.
    fn per_block(
        values: &[f64],
        of: impl Fn(&dyn Fn(usize, usize) -> f64, usize, usize) -> f64,
    ) -> Vec<f64> {
        let width = SIZE[0] as usize;
        let place = |at: usize| {
            let (x, y) = (at % width, at / width);
            let block = |u: usize, v: usize| values[(y / 8 * 8 + v) * width + x / 8 * 8 + u];
            of(&block, x % 8, y % 8)
        };
        (0..values.len()).map(place).collect()
    }

    /// T.81, A.3.3.
    fn wave(k: usize, n: usize) -> f64 {
        let scale = if k == 0 { 0.5_f64.sqrt() } else { 1.0 };
        0.5 * scale * (((2 * n + 1) * k) as f64 * std::f64::consts::PI / 16.0).cos()
    }

    fn quantiser(u: usize, v: usize) -> f64 {
        QUANTISERS[v * 8 + u].into()
    }

    fn sum_of_64(of: impl Fn(usize, usize) -> f64) -> f64 {
        (0..64).map(|at| of(at % 8, at / 8)).sum()
    }

    #[test]
    fn decoding_is_the_inverse_transform_of_dequantised_blocks() {
        let coefficients = spectrum(SIZE, &mut Random::new(4));
        let run = run(|gpu| {
            let pixels = decode(gpu, SIZE, &coefficients)?;
            Ok(gpu.download(pixels))
        });
        let values: Vec<f64> = coefficients.iter().map(|&c| c.into()).collect();
        let expected = per_block(&values, |block, x, y| {
            sum_of_64(|u, v| block(u, v) * quantiser(u, v) * wave(u, x) * wave(v, y)) + 128.0
        });
        for (found, expected) in run.result.iter().zip(expected) {
            let distance = (f64::from(*found) - expected.clamp(0.0, 255.0)).abs();
            assert!(distance < 0.501, "{found}, {expected}");
        }
        assert!(run.result.contains(&0) && run.result.contains(&255), "values are capped");
    }

    #[test]
    fn encoding_is_the_forward_transform_quantised() {
        let pixels = picture(SIZE, &mut Random::new(4));
        let run = run(|gpu| {
            let coefficients = encode(gpu, SIZE, &pixels)?;
            Ok(gpu.download(coefficients))
        });
        let values: Vec<f64> = pixels.iter().map(|&p| f64::from(p) - 128.0).collect();
        let expected = per_block(&values, |block, u, v| {
            sum_of_64(|x, y| block(x, y) * wave(u, x) * wave(v, y)) / quantiser(u, v)
        });
        for (found, expected) in run.result.iter().zip(expected) {
            let distance = (f64::from(*found) - expected).abs();
            assert!(distance < 0.501, "{found}, {expected}");
        }
    }

    #[test]
    fn a_warp_reads_and_writes_eight_rows_of_its_blocks_without_bank_conflicts() {
        let run = run(|gpu| decode(gpu, SIZE, &spectrum(SIZE, &mut Random::new(1))));
        let executed = run.warp(1);
        let of =
            |kind, space| executed.iter().filter(move |(i, _)| (i.kind, i.space) == (kind, space));
        for (kind, bytes) in [(Kind::Load, 2), (Kind::Store, 1)] {
            assert_eq!(of(kind, Space::Global).count(), 8);
            for (instruction, record) in of(kind, Space::Global) {
                let addresses = record.active_addresses();
                assert_eq!(instruction.width, bytes);
                assert_eq!(addresses[31] - addresses[0], 31 * u64::from(bytes));
            }
            for (_, record) in of(kind, Space::Shared) {
                let banks = record.active_addresses().iter().map(|address| address / 4 % 32);
                assert_eq!(banks.collect::<BTreeSet<_>>().len(), 32);
            }
        }
    }
}
