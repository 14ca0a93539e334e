//! The product of tokens, grouped by expert, with the weights of their experts; and the sum over a
//! token's experts.
//!
//! ```cuda
//! // Grid: (n / 64, blocks of ROWS tokens), 128 threads. Every block has one expert's tokens; the last of an expert is padded.
//! __shared__ half sA[STAGES][ROWS][64], sB[STAGES][64][64];           // swizzled
//! int expert = expert_ids[blockIdx.y], row = threadIdx.x / 8, piece = threadIdx.x % 8;
//! int slot[ROWS / 16];                                                 // of the rows that the thread copies
//! for (int r = 0; r < ROWS / 16; r++) slot[r] = sorted_ids[blockIdx.y * ROWS + 16 * r + row];
//! auto copy = [&](int step) {
//!     for (int r = 0; r < ROWS / 16; r++)
//!         if (slot[r] < slots) copy_async(sA[step % STAGES][16 * r + row], a + slot[r] / TOP_K * k + 64 * step);
//!     for (int r = 0; r < 4; r++)
//!         copy_async(sB[step % STAGES][16 * r + row], b + (expert * n + 64 * blockIdx.x + 16 * r + row) * k + 64 * step);
//! };
//! for (int step = 0; step < STAGES - 1; step++) copy(step), commit();
//! float acc[ROWS / 16][2][4] = {};
//! for (int step = 0; step < k / 64; step++) {
//!     wait(STAGES - 2), __syncthreads();
//!     if (step + STAGES - 1 < k / 64) copy(step + STAGES - 1);
//!     commit();
//!     mma(acc, sA[step % STAGES], sB[step % STAGES]);                  // 16 columns for each warp, by ldmatrix
//! }
//! for (each row of the lane's)
//!     if (sorted_ids[row] < slots) c[sorted_ids[row] * n + column] = acc * (IS_WEIGHTED ? topk_weights[sorted_ids[row]] : 1);
//!
//! __global__ void moe_sum_kernel(half *out, const half *slots, int d) {
//!     for (int i = threadIdx.x; i < d; i += blockDim.x) {
//!         half sum = 0;
//!         for (int e = 0; e < TOP_K; e++) sum += slots[(blockIdx.x * TOP_K + e) * d + i];
//!         out[blockIdx.x * d + i] = sum;
//!     }
//! }
//! ```
//!
//! A slot pairs a token with one of its experts. Loops over rows and tiles are unrolled, the loop
//! over `k` is not.

use half::f16;
use warpmem_trace::OpClass;

use super::super::prelude::*;
use super::super::tile::Tile;
use crate::tensor::{FragmentA, FragmentC, multiply};

const THREADS: u32 = 128;
/// Columns per CTA, and elements per step.
pub const COLUMNS: u32 = 64;
const STEP: u32 = 64;
const STAGES: u32 = 3;

/// Arguments of the kernel.
#[derive(Clone, Copy)]
pub struct Grouped {
    pub a: Array<f16>,
    pub b: Array<f16>,
    pub c: Array<f16>,
    /// Slots in expert order, padded with `slots` to whole blocks of `rows`.
    pub sorted_ids: Array<u32>,
    pub expert_ids: Array<u32>,
    /// Weight of each slot, if results are weighted.
    pub weights: Option<Array<f32>>,
    pub slots: u32,
    /// Slots per row of `a`.
    pub per_row: u32,
    pub rows: u32,
    pub n: u32,
    pub k: u32,
}

impl Grouped {
    pub fn launch(&self, gpu: &mut Gpu) -> Result<(), WorkloadError> {
        let launch = Launch {
            grid: [self.n / COLUMNS, self.expert_ids.len() as u32, 1],
            shared_bytes: STAGES * (Tile::bytes(self.rows, STEP) + Tile::bytes(COLUMNS, STEP)),
            ..grid_of("fused_moe_kernel", 0, THREADS, 64 + self.rows)
        };
        gpu.launch(&launch, async |w| self.multiply(w).await)
    }

    async fn multiply(&self, w: &Warp) {
        let a_tile = Tile::new(w, self.rows * STAGES, STEP);
        let b_tile = Tile::new(w, COLUMNS * STAGES, STEP);
        let thread = w.thread_x();
        let lane = thread & 31;
        let copy = self.sources(w, thread, [&a_tile, &b_tile]);
        let steps = self.k / STEP;
        for step in 0..STAGES - 1 {
            copy.step(w, w.var(step).get(), step < steps);
        }
        let column = (thread >> 5) << 4;
        let (a, b) = (a_tile.by_rows(lane, 0), b_tile.by_columns(lane, column));
        let acc: Vec<[Var<'_, FragmentC>; 2]> =
            (0..self.rows / 16).map(|_| [0, 1].map(|_| w.var([0.0; 4]))).collect();
        w.range_in_step(0, steps, 1, async |step| {
            w.wait_copies(STAGES as usize - 2);
            w.barrier().await;
            let next = step + (STAGES - 1);
            w.when(next.lt(steps), || copy.issue(w, next));
            w.commit_copies();
            let stage = step.remainder(STAGES);
            let (a, b) = (a.plus(stage * (self.rows * 8)), b.plus(stage * (COLUMNS * 8)));
            for inner in 0..STEP / 16 {
                let columns = b.load(0, inner).halves();
                for (rows, acc) in (0..).zip(&acc) {
                    let rows = a.load(rows, inner);
                    for (acc, column) in acc.iter().zip(columns) {
                        acc.set(multiply(rows, column, acc.get()));
                    }
                }
            }
        })
        .await;
        self.store(w, lane, column, &acc);
    }

    /// Returns the sources and destinations of a thread's pieces.
    fn sources<'w>(
        &self,
        w: &'w Warp,
        thread: Lanes<'w, u32>,
        [a_tile, b_tile]: [&Tile; 2],
    ) -> Copies<'w> {
        let (row, piece) = (thread >> 3, thread & 7);
        let pieces = self.k / 8;
        let ids = self.sorted_ids.at(w.block_y().mad(self.rows, row));
        let rows = (0..self.rows / 16).map(|round| {
            let slot = ids.offset(16 * round).load();
            let row = slot.quotient(self.per_row);
            let from = self.a.cast::<FragmentA>().at(row.mad(pieces, piece));
            (slot.lt(self.slots), from)
        });
        let rows = rows.collect();
        let expert = self.expert_ids.load(w.block_y());
        let column = expert.mad(self.n, w.block_x().mad(COLUMNS, row));
        Copies {
            rows,
            columns: self.b.cast::<FragmentA>().at(column.mad(pieces, piece)),
            column_stride: 16 * pieces,
            to: [a_tile.own(thread), b_tile.own(thread)],
            stage_pieces: [self.rows * 8, COLUMNS * 8],
        }
    }

    /// Stores the results of the rows that are not padding.
    fn store<'w>(
        &self,
        w: &'w Warp,
        lane: Lanes<'w, u32>,
        column: Lanes<'w, u32>,
        acc: &[[Var<'w, FragmentC>; 2]],
    ) {
        let ids = self.sorted_ids.at(w.block_y().mad(self.rows, lane >> 2));
        let column = w.block_x().mad(COLUMNS / 2, (column >> 1) + (lane & 3));
        for (rows, acc) in (0..).zip(acc) {
            let slots = [0, 8].map(|below| ids.offset(16 * rows + below).load());
            let exists = slots.map(|slot| slot.lt(self.slots));
            let pairs = acc.each_ref().map(|acc| self.weighted(w, acc.get(), slots, exists));
            for half in [0, 1] {
                w.predicated(exists[half], || {
                    let to = self.c.cast::<[f16; 2]>().at(slots[half].mad(self.n / 2, column));
                    (0..).zip(&pairs).for_each(|(n, pairs)| to.offset(4 * n).store(pairs[half]));
                });
            }
        }
    }

    fn weighted<'w>(
        &self,
        w: &'w Warp,
        acc: Lanes<'w, FragmentC>,
        slots: [Lanes<'w, u32>; 2],
        exists: [Predicate<'w>; 2],
    ) -> [Lanes<'w, [f16; 2]>; 2] {
        let Some(weights) = self.weights else { return acc.to_pairs() };
        let weight = |half: usize| {
            let weight = w.var(0.0);
            w.predicated(exists[half], || weight.set(weights.load(slots[half])));
            weight.get()
        };
        acc.by_row(OpClass::Fp32, [0, 1].map(weight), |acc, weight| acc * weight).to_pairs()
    }
}

/// The copies of a step's tiles by a thread.
struct Copies<'w> {
    /// Whether a round's row of A is valid, and its address.
    rows: Vec<(Predicate<'w>, Pointer<'w, FragmentA>)>,
    columns: Pointer<'w, FragmentA>,
    column_stride: u32,
    to: [Pointer<'w, FragmentA>; 2],
    stage_pieces: [u32; 2],
}

impl<'w> Copies<'w> {
    /// Issues a step before the loop, which a short product lacks.
    fn step(&self, w: &'w Warp, step: Lanes<'w, u32>, is_there: bool) {
        if is_there {
            self.issue(w, step);
        }
        w.commit_copies();
    }

    fn issue(&self, w: &'w Warp, step: Lanes<'w, u32>) {
        let (stage, from) = (step.remainder(STAGES), step * (STEP / 8));
        let [to_a, to_b] = [0, 1].map(|of| self.to[of].plus(stage * self.stage_pieces[of]));
        for (round, &(exists, row)) in (0..).zip(&self.rows) {
            let row = row.plus(from);
            w.predicated(exists, || row.copy_async(to_a.offset(round * THREADS)));
        }
        let columns = self.columns.plus(from);
        for round in 0..COLUMNS / 16 {
            columns.offset(round * self.column_stride).copy_async(to_b.offset(round * THREADS));
        }
    }
}

/// Sums the slots of each token.
pub fn launch_sum(
    gpu: &mut Gpu,
    [slots, out]: [Array<f16>; 2],
    [tokens, top_k, d]: [u32; 3],
) -> Result<(), WorkloadError> {
    let launch = grid_of("moe_sum_kernel", tokens, d.min(1024), 24);
    gpu.launch(&launch, async |w| {
        let (thread, token) = (w.thread_x(), w.block_x());
        w.range(thread, d, w.block_width(), |i| {
            let first = slots.at(token.mad(top_k * d, i));
            let part = |e: u32| first.offset(e * d).load();
            let sum = (1..top_k).fold(part(0), |sum, e| sum.hadd(part(e)));
            out.store(token.mad(d, i), sum);
        });
    })
}
