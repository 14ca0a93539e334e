//! Rotary position embedding of queries and keys, one CTA per token (Su et al. 2021; vLLM 0.2,
//! `rotary_embedding_kernel`).
//!
//! ```cuda
//! // Queries of `heads` heads, then keys of `kv_heads`, in rows of `stride` halves.
//! __global__ void rotary_embedding_kernel(const int64_t *positions, half *query, half *key, const half *cos_sin, …) {
//!     const half *cos = cos_sin + positions[blockIdx.x] * HEAD_SIZE, *sin = cos + HEAD_SIZE / 2;
//!     for (int i = threadIdx.x; i < heads * HEAD_SIZE / 2; i += blockDim.x)
//!         rotate(query + blockIdx.x * stride + i / (HEAD_SIZE / 2) * HEAD_SIZE, cos, sin, i % (HEAD_SIZE / 2));
//!     for (int i = threadIdx.x; i < kv_heads * HEAD_SIZE / 2; i += blockDim.x) …          // the same with `key`
//! }
//! __device__ void rotate(half *head, const half *cos, const half *sin, int d) {
//!     float x = head[d], y = head[d + HEAD_SIZE / 2];
//!     head[d] = x * cos[d] - y * sin[d];
//!     head[d + HEAD_SIZE / 2] = y * cos[d] + x * sin[d];
//! }
//! ```

use half::f16;

use super::super::prelude::*;

/// Arguments of the kernel.
#[derive(Clone, Copy)]
pub struct Rotary {
    pub positions: Array<u64>,
    /// One row per token: queries, keys, and anything else.
    pub rows: Array<f16>,
    pub stride: u32,
    /// The cosines and then the sines of each position.
    pub table: Array<f16>,
    pub heads: u32,
    pub kv_heads: u32,
    pub head_size: u32,
}

impl Rotary {
    pub fn launch(&self, gpu: &mut Gpu) -> Result<(), WorkloadError> {
        let threads = (self.heads * self.head_size / 2).min(512);
        let tokens = self.positions.len() as u32;
        let launch = grid_of("rotary_embedding_kernel", tokens, threads, 32);
        gpu.launch(&launch, async |w| self.embed(w))
    }

    fn embed(&self, w: &Warp) {
        let (thread, token) = (w.thread_x(), w.block_x());
        let position = self.positions.load(token).to_u32();
        let table = position * self.head_size;
        let row = token * self.stride;
        for (heads, first) in [(self.heads, 0), (self.kv_heads, self.heads * self.head_size)] {
            w.range(thread, heads * self.head_size / 2, w.block_width(), |i| {
                self.rotate(i, row, first, table);
            });
        }
    }

    /// Rotates pair `i` of the heads from element `first` of a row.
    fn rotate<'w>(
        &self,
        i: Lanes<'w, u32>,
        row: Lanes<'w, u32>,
        first: u32,
        table: Lanes<'w, u32>,
    ) {
        let half = self.head_size / 2;
        let (head, d) = (i.quotient(half), i.remainder(half));
        let table = self.table.at(table + d);
        let [cos, sin] = [0, half].map(|at| table.offset(at).load().to_f32());
        let pair = self.rows.at(head.mad(self.head_size, row + d)).offset(first);
        let [x, y] = [0, half].map(|at| pair.offset(at).load().to_f32());
        pair.store(x.mad(cos, -(y * sin)).to_f16());
        pair.offset(half).store(y.mad(cos, x * sin).to_f16());
    }
}

/// Returns the cosines and sines of every position's angles: position / 10000^(2 d / head_size).
pub fn table(positions: u32, head_size: u32) -> Vec<f16> {
    let half = head_size / 2;
    let angle = |position: u32, d: u32| {
        f64::from(position) * libm::pow(10_000.0, -2.0 * f64::from(d) / f64::from(head_size))
    };
    let row = |position| {
        let cosines = (0..half).map(move |d| libm::cos(angle(position, d)));
        cosines.chain((0..half).map(move |d| libm::sin(angle(position, d))))
    };
    (0..positions).flat_map(row).map(f16::from_f64).collect()
}

#[cfg(test)]
pub mod plain {
    use super::*;

    /// Rotates a head to a position in double precision with the table's cosines and sines.
    pub fn rotated(head: &[f16], table: &[f16], position: usize) -> Vec<f16> {
        let half = head.len() / 2;
        let row = &table[position * head.len()..][..head.len()];
        let element = |i: usize| {
            let (d, sign) = (i % half, if i < half { -1.0 } else { 1.0 });
            let [cos, sin, own, other] =
                [row[d], row[d + half], head[i], head[(i + half) % head.len()]].map(f16::to_f64);
            f16::from_f64(own * cos + sign * other * sin)
        };
        (0..head.len()).map(element).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::halves::activations;
    use super::super::super::testing::*;
    use super::*;

    #[test]
    fn pairs_are_rotated_and_the_rest_is_unchanged() {
        let (heads, kv_heads, head_size, stride) = (3, 1, 24, 100);
        let positions = [0, 7, 30];
        let rows = activations(3 * stride, &mut Random::new(2));
        let table = table(31, head_size);
        let run = run(|gpu| {
            let rotary = Rotary {
                positions: gpu.upload(&positions),
                rows: gpu.upload(&rows),
                stride,
                table: gpu.upload(&table),
                heads,
                kv_heads,
                head_size,
            };
            rotary.launch(gpu)?;
            Ok(gpu.download(rotary.rows))
        });
        for (token, &position) in positions.iter().enumerate() {
            let [before, after] = [&rows, &run.result]
                .map(|rows| &rows[token * stride as usize..][..stride as usize]);
            for (before, after) in before[..96].chunks(24).zip(after[..96].chunks(24)) {
                let expected = plain::rotated(before, &table, position as usize);
                let near = |(a, b): (&f16, &f16)| (a.to_f64() - b.to_f64()).abs() < 0.003;
                assert!(after.iter().zip(&expected).all(near), "{after:?} {expected:?}");
                assert_eq!(after == before, position == 0);
            }
            assert_eq!(before[96..], after[96..], "values");
        }
    }

    #[test]
    fn angles_match_the_paper() {
        let table = table(3, 8);
        let near = |at: usize, expected: f64| (table[at].to_f64() - expected).abs() < 0.001;
        assert!(near(0, 1.0) && near(4, 0.0), "position 0");
        assert!(near(16, 2f64.cos()) && near(20, 2f64.sin()), "position 2, first pair");
        assert!(near(17, 0.2f64.cos()) && near(21, 0.2f64.sin()), "second pair: a tenth");
    }
}
