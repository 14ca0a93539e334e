//! The forward kernel with a causal mask.
//!
//! ```cuda
//! // Grid: (tokens / 128, batch, heads), 128 threads. q and out are [batch][tokens][heads][D], k and v with kv_heads.
//! __shared__ half sQ[128][D], sK[64][D], sV[64][D];                   // swizzled
//! copy_async(sQ, q, 128 * blockIdx.x), copy_async(sK, k, 64 * (blocks - 1)), commit();     // blocks = 2 * (blockIdx.x + 1)
//! float acc[2][D / 8][4] = {}, row_max[2][2] = {-INFINITY, …}, row_sum[2][2] = {};
//! for (int n = blocks - 1; n >= 0; n--) {                              // the first two, which need the mask, unrolled
//!     wait(0), __syncthreads();
//!     copy_async(sV, v, 64 * n), commit();
//!     float s[2][8][4] = {};
//!     mma(s, sQ, sK);                                                  // rows 64 m + 16 warp, …, by ldmatrix
//!     if (n >= blocks - 2) mask(s);
//!     wait(0), __syncthreads();
//!     if (n > 0) copy_async(sK, k, 64 * (n - 1)), commit();
//!     for (each row) {
//!         float before = row_max[row];
//!         row_max[row] = quad_max(fmaxf(before, max(s[row])));         // with shuffles among the row's four lanes
//!         float factor = exp2f((before - row_max[row]) * scale_log2);
//!         s[row] = exp2f(s[row] * scale_log2 - row_max[row] * scale_log2);
//!         row_sum[row] = row_sum[row] * factor + sum(s[row]);
//!         acc[row] *= factor;
//!     }
//!     mma(acc, (half)s, sV);                                           // by ldmatrix.trans
//! }
//! acc /= quad_sum(row_sum);
//! sQ = (half)acc, __syncthreads(), out = sQ;                           // 16 bytes per thread
//! ```
//!
//! Loops over tiles are unrolled, the loop over blocks is not.

use half::f16;
use warpmem_trace::OpClass;

use super::super::prelude::*;
use super::super::tile::{Operand16, Tile};
use crate::functions::exp2;
use crate::tensor::{FragmentA, FragmentC, multiply};

/// Queries per CTA.
pub const ROWS: u32 = 128;
/// Keys and values per step.
const COLUMNS: u32 = 64;
const THREADS: u32 = 128;
/// Tiles of 16 queries per warp: one in each 64 rows.
const TILES: usize = 2;

/// Arguments of the kernel.
#[derive(Clone, Copy)]
pub struct Attention {
    pub q: Array<f16>,
    pub k: Array<f16>,
    pub v: Array<f16>,
    pub out: Array<f16>,
    pub sequences: u32,
    /// Tokens per sequence, in units of 128.
    pub tokens: u32,
    pub heads: u32,
    pub kv_heads: u32,
    /// 64 or 128.
    pub head_size: u32,
}

/// Position of a thread.
struct Thread<'w> {
    w: &'w Warp,
    thread: Lanes<'w, u32>,
    lane: Lanes<'w, u32>,
    /// Row g of its first tile.
    row: Lanes<'w, u32>,
    first_token: Lanes<'w, u32>,
    q: Operand16<'w>,
    k: Operand16<'w>,
    v: Operand16<'w>,
    k_tile: Tile,
    v_tile: Tile,
    keys: Pointer<'w, FragmentA>,
    values: Pointer<'w, FragmentA>,
}

/// Partial results of a tile of 16 queries: rows g and g + 8 of each lane.
struct Sums<'w> {
    acc: Vec<Var<'w, FragmentC>>,
    max: [Var<'w, f32>; 2],
    sum: [Var<'w, f32>; 2],
}

impl Attention {
    pub fn launch(&self, gpu: &mut Gpu) -> Result<(), WorkloadError> {
        let tile = |rows| Tile::bytes(rows, self.head_size);
        let launch = Launch {
            grid: [self.tokens / ROWS, self.sequences, self.heads],
            shared_bytes: tile(ROWS) + 2 * tile(COLUMNS),
            ..grid_of("flash_fwd_kernel", 0, THREADS, 127 + self.head_size)
        };
        gpu.launch(&launch, async |w| self.forward(w).await)
    }

    async fn forward(&self, w: &Warp) {
        let q_tile = Tile::new(w, ROWS, self.head_size);
        let t = self.thread(w, &q_tile);
        let row = (t.thread >> 3) + t.first_token;
        let queries = self.piece(self.q, w.block_z(), self.heads, row, t.thread);
        let stride = self.heads * self.head_size / 8;
        q_tile.copy(t.thread, THREADS, |round| queries.offset(round * THREADS / 8 * stride));
        let blocks = (w.block_x() + 1) * (ROWS / COLUMNS);
        let mut block = blocks - 1;
        self.copy(&t, &t.k_tile, t.keys, block);
        let sums: [Sums<'_>; TILES] = std::array::from_fn(|_| Sums::new(w, self.head_size));
        for _ in 0..ROWS / COLUMNS {
            self.block(&t, &sums, block, true).await;
            block = block - 1;
        }
        w.range_in_step(0, blocks - ROWS / COLUMNS, 1, async |i| {
            self.block(&t, &sums, block - i, false).await;
        })
        .await;
        self.finish(&t, &sums, &q_tile);
        w.barrier().await;
        let out = self.piece(self.out, w.block_z(), self.heads, row, t.thread);
        q_tile.write_out(t.thread, THREADS, |round| out.offset(round * THREADS / 8 * stride));
    }

    fn thread<'w>(&self, w: &'w Warp, q_tile: &Tile) -> Thread<'w> {
        let [k_tile, v_tile] = [0, 1].map(|_| Tile::new(w, COLUMNS, self.head_size));
        let (thread, first_token) = (w.thread_x(), w.block_x() * ROWS);
        let (lane, first_row) = (thread & 31, (thread >> 5) << 4);
        let kv_head = w.block_z().quotient(self.heads / self.kv_heads);
        let [keys, values] = [self.k, self.v]
            .map(|array| self.piece(array, kv_head, self.kv_heads, thread >> 3, thread));
        Thread {
            w,
            thread,
            lane,
            row: first_row + (lane >> 2),
            first_token,
            q: q_tile.by_rows(lane, first_row),
            k: k_tile.by_columns(lane, 0),
            v: v_tile.by_rows(lane, 0),
            k_tile,
            v_tile,
            keys,
            values,
        }
    }

    /// Returns a thread's piece of a token's head in `array`.
    fn piece<'w>(
        &self,
        array: Array<f16>,
        head: Lanes<'w, u32>,
        heads: u32,
        token: Lanes<'w, u32>,
        thread: Lanes<'w, u32>,
    ) -> Pointer<'w, FragmentA> {
        let token = thread.warp().block_y().mad(self.tokens, token);
        let head = token.mad(heads, head);
        array.cast::<FragmentA>().at(head.mad(self.head_size / 8, thread & 7))
    }

    /// Copies a block of keys or values.
    fn copy<'w>(
        &self,
        t: &Thread<'w>,
        tile: &Tile,
        first: Pointer<'w, FragmentA>,
        block: Lanes<'w, u32>,
    ) {
        let stride = self.kv_heads * self.head_size / 8;
        let from = first.plus(block * (COLUMNS * stride));
        tile.copy(t.thread, THREADS, |round| from.offset(round * THREADS / 8 * stride));
        t.w.commit_copies();
    }

    async fn block<'w>(
        &self,
        t: &Thread<'w>,
        sums: &[Sums<'w>; TILES],
        block: Lanes<'w, u32>,
        is_masked: bool,
    ) {
        t.w.wait_copies(0);
        t.w.barrier().await;
        self.copy(t, &t.v_tile, t.values, block);
        let mut scores = self.scores(t);
        if is_masked {
            self.mask(t, &mut scores, block);
        }
        t.w.wait_copies(0);
        t.w.barrier().await;
        t.w.when(block.gt(0), || self.copy(t, &t.k_tile, t.keys, block - 1));
        let scale = std::f32::consts::LOG2_E / (self.head_size as f32).sqrt();
        for (sums, scores) in sums.iter().zip(&mut scores) {
            sums.fold(scores, scale, is_masked);
        }
        self.values(t, sums, &scores);
    }

    /// Multiplies the queries by the keys of a block.
    fn scores<'w>(&self, t: &Thread<'w>) -> [Vec<Lanes<'w, FragmentC>>; TILES] {
        let none = || vec![Lanes::zeros(t.w); COLUMNS as usize / 8];
        let mut scores: [_; TILES] = std::array::from_fn(|_| none());
        for step in 0..self.head_size / 16 {
            let queries = [0, 1].map(|m| t.q.load(m * 64 / 16, step));
            for pair in 0..COLUMNS / 16 {
                let keys = t.k.load(pair, step).halves();
                for (scores, &query) in scores.iter_mut().zip(&queries) {
                    for (score, key) in scores[2 * pair as usize..].iter_mut().zip(keys) {
                        *score = multiply(query, key, *score);
                    }
                }
            }
        }
        scores
    }

    /// Masks the keys after each query.
    fn mask<'w>(
        &self,
        t: &Thread<'w>,
        scores: &mut [Vec<Lanes<'w, FragmentC>>; TILES],
        block: Lanes<'w, u32>,
    ) {
        let first = block.mad(COLUMNS, (t.lane & 3) << 1);
        for (m, scores) in (0..).zip(scores) {
            let row = (t.row + t.first_token) + 64 * m;
            let rows = [row, row + 8].map(|row| row - first);
            for (n, score) in (0..).zip(scores) {
                *score = score.masked(rows, 8 * n);
            }
        }
    }

    /// Adds the weighted values of a block.
    fn values<'w>(
        &self,
        t: &Thread<'w>,
        sums: &[Sums<'w>; TILES],
        weights: &[Vec<Lanes<'w, FragmentC>>; TILES],
    ) {
        for step in 0..COLUMNS / 16 {
            let weights = weights.each_ref().map(|weights| {
                let [left, right] = [0, 1].map(|n| weights[2 * step as usize + n].to_pairs());
                Lanes::of_pairs([left[0], left[1], right[0], right[1]])
            });
            for pair in 0..self.head_size / 16 {
                let values = t.v.load_transposed(step, pair).halves();
                for (sums, &weights) in sums.iter().zip(&weights) {
                    for (acc, value) in sums.acc[2 * pair as usize..].iter().zip(values) {
                        acc.set(multiply(weights, value, acc.get()));
                    }
                }
            }
        }
    }

    /// Writes the results to the tile of the queries.
    fn finish<'w>(&self, t: &Thread<'w>, sums: &[Sums<'w>; TILES], tile: &Tile) {
        for (m, sums) in (0..).zip(sums) {
            let inverse = sums.sum.each_ref().map(|sum| {
                let add = |sum: Lanes<'w, f32>, mask| sum + sum.shuffle_xor(mask);
                [2, 1].into_iter().fold(sum.get(), add).reciprocal()
            });
            for (piece, acc) in (0..).zip(&sums.acc) {
                let scaled = acc.get().by_row(OpClass::Fp32, inverse, |acc, inverse| acc * inverse);
                tile.store_fragment(t.row + 64 * m, t.lane, piece, scaled);
            }
        }
    }
}

impl<'w> Sums<'w> {
    fn new(w: &'w Warp, head_size: u32) -> Sums<'w> {
        Sums {
            acc: (0..head_size / 8).map(|_| w.var([0.0; 4])).collect(),
            max: [0, 1].map(|_| w.var(f32::NEG_INFINITY)),
            sum: [0, 1].map(|_| w.var(0.0)),
        }
    }

    /// Turns scores into weights relative to the running maximum, and rescales the partial sums.
    fn fold(&self, scores: &mut [Lanes<'w, FragmentC>], scale: f32, is_masked: bool) {
        let rows = [0, 1].map(|row| self.new_max(row, scores, is_masked));
        let factors = [0, 1].map(|row| {
            let [before, now] = rows[row];
            ((before - now) * scale).exp2()
        });
        let scaled = rows.map(|[_, now]| now * scale);
        for score in &mut *scores {
            let less = |score: f32, max: f32| score.mul_add(scale, -max);
            *score = score.by_row(OpClass::Fp32, scaled, less).each(OpClass::Sfu, exp2);
        }
        for (row, sum) in self.sum.iter().enumerate() {
            let parts = elements(scores, row);
            sum.set(parts.fold(sum.get() * factors[row], |sum, part| sum + part));
        }
        for acc in &self.acc {
            acc.set(acc.get().by_row(OpClass::Fp32, factors, |acc, factor| acc * factor));
        }
    }

    /// Returns the maximum of a row's earlier and current scores; zero for a row without any.
    fn new_max(
        &self,
        row: usize,
        scores: &[Lanes<'w, FragmentC>],
        is_masked: bool,
    ) -> [Lanes<'w, f32>; 2] {
        let (w, max) = (scores[0].warp(), &self.max[row]);
        let before = w.var(max);
        let own = elements(scores, row).fold(max.get(), |max, score| max.max(score));
        max.set([2, 1].into_iter().fold(own, |max, mask| max.max(max.shuffle_xor(mask))));
        let now = match is_masked {
            true => max.get().eq(f32::NEG_INFINITY).select(0.0, max),
            false => max.get(),
        };
        [before.get(), now]
    }
}

/// Returns a row's elements in a lane.
fn elements<'a, 'w>(
    scores: &'a [Lanes<'w, FragmentC>],
    row: usize,
) -> impl Iterator<Item = Lanes<'w, f32>> + use<'a, 'w> {
    scores.iter().flat_map(move |score| [0, 1].map(|i| score.part(2 * row + i)))
}
