//! The decoding kernel, for one query token per sequence.
//!
//! ```cuda
//! // Grid: (heads, sequences). PAGE tokens per block, GROUP = 32 / PAGE lanes per token, VEC = 8 / GROUP halves per lane.
//! __shared__ Vec q_vecs[GROUP][HEAD_SIZE / 8];
//! for (int i = thread / GROUP; i < HEAD_SIZE / 8; i += THREADS / GROUP)
//!     q_vecs[thread % GROUP][i] = q_ptr[thread % GROUP + i * GROUP];
//! __syncthreads();
//! float qk_max = -FLT_MAX;
//! for (int block = warp; block < blocks; block += WARPS) {
//!     int page = block_table[block], slot = thread / GROUP % PAGE, token = block * PAGE + slot;
//!     Vec k_vecs[HEAD_SIZE / 8];
//!     for (int j = 0; j < HEAD_SIZE / 8; j++)           // unrolled: k_cache is [pages][kv_heads][HEAD_SIZE / 8][PAGE][8]
//!         k_vecs[j] = *(Vec *)&k_cache[page * kv_block_stride + kv_head * kv_head_stride + slot * 8 + j * PAGE * 8 + …];
//!     float qk = scale * dot(q_vecs[thread % GROUP], k_vecs);        // in floats, with shuffles among the group
//!     if (thread % GROUP == 0) {
//!         bool mask = token >= context_len;
//!         logits[token] = mask ? 0 : qk;
//!         qk_max = mask ? qk_max : fmaxf(qk_max, qk);
//!     }
//! }
//! qk_max = block_max(qk_max);                                         // shuffles, red_smem, __syncthreads()
//! float exp_sum = 0;
//! for (int i = thread; i < context_len; i += THREADS) exp_sum += logits[i] = __expf(logits[i] - qk_max);
//! exp_sum = block_sum(exp_sum);
//! float inv_sum = __fdividef(1, exp_sum + 1e-6f);
//! for (int i = thread; i < context_len; i += THREADS) logits[i] *= inv_sum;
//! __syncthreads();
//! float accs[HEAD_SIZE / ROWS] = {};                                  // a warp reads ROWS = 256 / PAGE rows of V at once
//! for (int block = warp; block < blocks; block += WARPS) {
//!     int page = block_table[block], token = block * PAGE + lane % (PAGE / 8) * 8;
//!     half8 logits_vec = *(float8 *)&logits[token];
//!     for (int i = 0; i < HEAD_SIZE / ROWS; i++) {      // unrolled: v_cache is [pages][kv_heads][HEAD_SIZE][PAGE]
//!         int row = lane / (PAGE / 8) + i * ROWS;
//!         if (row < HEAD_SIZE) {
//!             half8 v = *(half8 *)&v_cache[page * kv_block_stride + kv_head * kv_head_stride + row * PAGE + …];
//!             if (block == blocks - 1) for (int j = 0; j < 8; j++) v[j] = token + j < context_len ? v[j] : 0;
//!             accs[i] += dot(logits_vec, v);                          // in halves
//!         }
//!     }
//! }
//! for (float &acc : accs) for (int mask = PAGE / 16; mask > 0; mask /= 2) acc += __shfl_xor_sync(~0u, acc, mask);
//! __syncthreads();
//! for (int i = WARPS; i > 1; i /= 2) {                                // the upper warps' sums through shared memory
//!     if (warp >= i / 2 && warp < i) for (row…) out_smem[(warp - i / 2) * HEAD_SIZE + row] = accs[…];
//!     __syncthreads();
//!     if (warp < i / 2) for (row…) accs[…] += out_smem[warp * HEAD_SIZE + row];
//!     __syncthreads();
//! }
//! if (warp == 0) for (row…) out[(seq * heads + head) * HEAD_SIZE + row] = __float2half(accs[…]);
//! ```
//!
//! Loops over the head are unrolled, the others are not. The keys of a token are loaded before the first is used; the query is
//! read from shared memory for each.

use half::f16;

use super::super::halves::halvings;
use super::super::prelude::*;

/// Warps of a CTA.
const WARPS: u32 = 4;
/// Threads of a CTA.
const THREADS: u32 = 32 * WARPS;

/// What the kernel gets. `P` is the page's size in eights: a lane reads `2 * P` halves of a key at once.
#[derive(Clone, Copy)]
pub struct Attention<const P: usize> {
    pub q: Array<[[f16; 2]; P]>,
    /// Halves from one sequence's query to the next: more than the heads have where keys and values lie between them.
    pub q_stride: u32,
    pub k: Array<[[f16; 2]; P]>,
    pub v: Array<[[f16; 2]; 4]>,
    /// Pages of each sequence, `max_blocks` for each.
    pub block_tables: Array<u32>,
    pub context_lens: Array<u32>,
    pub out: Array<f16>,
    pub heads: u32,
    pub kv_heads: u32,
    pub head_size: u32,
    pub max_blocks: u32,
}

/// What a thread knows of itself and its sequence.
struct Thread<'w> {
    w: &'w Warp,
    thread: Lanes<'w, u32>,
    warp: Lanes<'w, u32>,
    lane: Lanes<'w, u32>,
    seq: Lanes<'w, u32>,
    head: Lanes<'w, u32>,
    kv_head: Lanes<'w, u32>,
    context_len: Lanes<'w, u32>,
    /// Blocks of the context, and where the table of their pages starts.
    blocks: Lanes<'w, u32>,
    table: Lanes<'w, u32>,
}

impl<const P: usize> Attention<P> {
    /// Tokens in a page.
    const PAGE: u32 = 8 * P as u32;
    /// Lanes that read a token's key together.
    const GROUP: u32 = 4 / P as u32;
    /// Rows of V that a warp reads at once; each is read by `P` lanes, 8 tokens each.
    const ROWS: u32 = 32 / P as u32;

    /// Pieces of 16 bytes that a head is.
    fn pieces(&self) -> u32 {
        self.head_size / 8
    }

    fn rows_per_thread(&self) -> u32 {
        self.head_size.div_ceil(Self::ROWS)
    }

    /// Floats that logits, and after them sums of other warps, take in shared memory.
    fn workspace(&self) -> u32 {
        (self.max_blocks * Self::PAGE).max(WARPS / 2 * self.head_size)
    }

    /// A CTA for each head of each of `sequences`.
    pub fn launch(&self, gpu: &mut Gpu, sequences: u32) -> Result<(), WorkloadError> {
        let launch = Launch {
            grid: [self.heads, sequences, 1],
            shared_bytes: self.shared_bytes(),
            ..grid_of("paged_attention_v1", 0, THREADS, 64)
        };
        gpu.launch(&launch, async |w| self.decode(w).await)
    }

    fn shared_bytes(&self) -> u32 {
        2 * self.head_size + 4 * (2 * WARPS + self.workspace()) + 16
    }

    async fn decode(&self, w: &Warp) {
        let q_vecs = w.shared::<[[f16; 2]; P]>(self.pieces() * Self::GROUP);
        let red_smem = w.shared::<f32>(2 * WARPS);
        let logits = w.shared::<f32>(self.workspace());
        let t = self.thread(w);
        self.load_query(&t, q_vecs);
        w.barrier().await;
        let qk_max = self.scores(&t, q_vecs, logits);
        let qk_max = t.block_fold(qk_max, Self::GROUP, (red_smem, 0), Lanes::max).await;
        t.softmax(logits, red_smem, qk_max).await;
        let accs = self.values(&t, logits);
        w.barrier().await;
        self.add_up(&t, &accs, logits).await;
        w.when(t.warp.eq(0), || {
            let out = t.seq.mad(self.heads, t.head) * self.head_size;
            self.each_row(&t, &accs, |row, acc| self.out.store(out + row, acc.get().to_f16()));
        });
    }

    fn thread<'w>(&self, w: &'w Warp) -> Thread<'w> {
        let (thread, seq, head) = (w.thread_x(), w.block_y(), w.block_x());
        let context_len = self.context_lens.load(seq);
        Thread {
            w,
            thread,
            warp: thread >> 5,
            lane: thread & 31,
            seq,
            head,
            kv_head: head.quotient(self.heads / self.kv_heads),
            context_len,
            blocks: (context_len + (Self::PAGE - 1)).quotient(Self::PAGE),
            table: seq * self.max_blocks,
        }
    }

    fn load_query(&self, t: &Thread<'_>, q_vecs: Shared<[[f16; 2]; P]>) {
        let (i, part) = (t.thread.quotient(Self::GROUP), t.thread.remainder(Self::GROUP));
        t.w.when(i.lt(self.pieces()), || {
            let vec = i.mad(Self::GROUP, part);
            let own = t.head.mad(self.pieces() * Self::GROUP, vec);
            let loaded = self.q.load(t.seq.mad(self.q_stride / (2 * P as u32), own));
            q_vecs.at(part.mad(self.pieces(), i)).store(loaded);
        });
    }

    /// Leaves the logits of the context, and returns the largest that each group has seen.
    fn scores<'w>(
        &self,
        t: &Thread<'w>,
        q_vecs: Shared<[[f16; 2]; P]>,
        logits: Shared<f32>,
    ) -> Var<'w, f32> {
        let (group, part) = (t.thread.quotient(Self::GROUP), t.thread.remainder(Self::GROUP));
        let slot = group.remainder(Self::PAGE);
        let head_stride = self.pieces() * Self::PAGE * Self::GROUP;
        let own = t.kv_head.mad(head_stride, slot.mad(Self::GROUP, part));
        let query = q_vecs.at(part * self.pieces());
        let scale = 1.0 / (self.head_size as f32).sqrt();
        let qk_max = t.w.var(f32::MIN);
        t.w.range(t.warp, t.blocks, WARPS, |block| {
            let page = self.block_tables.load(t.table + block);
            let token = block.mad(Self::PAGE, slot);
            let key = self.k.at(page.mad(self.kv_heads * head_stride, own));
            let piece = |j| key.offset(j * Self::PAGE * Self::GROUP).load();
            let keys: Vec<_> = (0..self.pieces()).map(piece).collect();
            let qk = Self::dot(query, &keys) * scale;
            t.w.when(part.eq(0), || {
                let is_masked = token.ge(t.context_len);
                logits.at(token).store(is_masked.select(0.0, qk));
                let greater = qk_max.get().max(qk);
                qk_max.set(is_masked.select(&qk_max, greater));
            });
        });
        qk_max
    }

    /// Product of the query and a key, in floats: of the thread's parts, then of the group's.
    fn dot<'w>(
        query: Pointer<'w, [[f16; 2]; P]>,
        keys: &[Lanes<'w, [[f16; 2]; P]>],
    ) -> Lanes<'w, f32> {
        let float = |vec: Lanes<'w, [[f16; 2]; P]>, e: usize| vec.part(e / 2).part(e % 2).to_f32();
        let mut sums: Vec<Lanes<'w, f32>> = Vec::with_capacity(2 * P);
        for (j, &key) in keys.iter().enumerate() {
            let query = query.offset(j as u32).load();
            for e in 0..2 * P {
                let (q, k) = (float(query, e), float(key, e));
                match sums.get_mut(e) {
                    Some(sum) => *sum = q.mad(k, *sum),
                    None => sums.push(q * k),
                }
            }
        }
        let own = sums.into_iter().reduce(|a, b| a + b).expect("a vector has elements");
        halvings(Self::GROUP / 2).fold(own, |sum, mask| sum + sum.shuffle_xor(mask))
    }

    /// Sums over the warp's part of the context, of the rows that each lane reads.
    fn values<'w>(&self, t: &Thread<'w>, logits: Shared<f32>) -> Vec<Var<'w, f32>> {
        let accs: Vec<_> = (0..self.rows_per_thread()).map(|_| t.w.var(0.0)).collect();
        let first_row = t.lane.quotient(P as u32);
        let offset = t.lane.remainder(P as u32) << 3;
        let head_stride = self.head_size * P as u32;
        let own = t.kv_head.mad(head_stride, t.lane);
        t.w.range(t.warp, t.blocks, WARPS, |block| {
            let page = self.block_tables.load(t.table + block);
            let token = block.mad(Self::PAGE, offset);
            let logits = logits.at(token).cast::<[f32; 4]>();
            let (lower, upper) = (logits.load(), logits.offset(1).load());
            let weights = [
                lower.part(0).pack(lower.part(1)),
                lower.part(2).pack(lower.part(3)),
                upper.part(0).pack(upper.part(1)),
                upper.part(2).pack(upper.part(3)),
            ];
            let rows = self.v.at(page.mad(self.kv_heads * head_stride, own));
            for (i, acc) in (0..).zip(&accs) {
                t.w.when((first_row + i * Self::ROWS).lt(self.head_size), || {
                    let v = rows.offset(32 * i).load();
                    let v = [0, 1, 2, 3].map(|pair| t.w.var(v.part(pair)));
                    t.w.when((block + 1).eq(t.blocks), || t.clear_behind_context(token, &v));
                    acc.set(half_dot(weights, &v) + acc);
                });
            }
        });
        for acc in &accs {
            for mask in halvings(P as u32 / 2) {
                acc.set(acc.get().shuffle_xor(mask) + acc);
            }
        }
        accs
    }

    /// Adds the upper warps' sums to the lower's until the first has all.
    async fn add_up(&self, t: &Thread<'_>, accs: &[Var<'_, f32>], workspace: Shared<f32>) {
        for middle in halvings(WARPS / 2).map(|middle| middle as u32) {
            let is_upper = t.warp.ge(middle) & t.warp.lt(2 * middle);
            t.w.when(is_upper, || {
                let place = (t.warp - middle) * self.head_size;
                self.each_row(t, accs, |row, acc| workspace.at(place + row).store(acc));
            });
            t.w.barrier().await;
            t.w.when(t.warp.lt(middle), || {
                let place = t.warp * self.head_size;
                self.each_row(t, accs, |row, acc| acc.set(workspace.at(place + row).load() + acc));
            });
            t.w.barrier().await;
        }
    }

    /// `if (row < HEAD_SIZE && lane % (PAGE / 8) == 0)` for each of the thread's rows.
    fn each_row<'w>(
        &self,
        t: &Thread<'w>,
        accs: &[Var<'w, f32>],
        mut body: impl FnMut(Lanes<'w, u32>, &Var<'w, f32>),
    ) {
        for (i, acc) in (0..).zip(accs) {
            let row = t.lane.quotient(P as u32) + i * Self::ROWS;
            let is_first = t.lane.remainder(P as u32).eq(0);
            t.w.when(row.lt(self.head_size) & is_first, || body(row, acc));
        }
    }
}

impl<'w> Thread<'w> {
    /// What `with` makes of the CTA's values, to every thread: of those that a warp's lanes have `group` apart, then of the
    /// warps', in shared memory from `first` on.
    async fn block_fold(
        &self,
        value: Var<'w, f32>,
        group: u32,
        (red_smem, first): (Shared<f32>, u32),
        with: fn(Lanes<'w, f32>, Lanes<'w, f32>) -> Lanes<'w, f32>,
    ) -> Lanes<'w, f32> {
        let fold = |mask| value.set(with(value.get().shuffle_xor(mask), value.get()));
        halvings(16).filter(|&mask| mask as u32 >= group).for_each(fold);
        self.w.when(self.lane.eq(0), || red_smem.at(self.warp).offset(first).store(&value));
        self.w.barrier().await;
        self.w.when(self.lane.lt(WARPS), || {
            value.set(red_smem.at(self.lane).offset(first).load());
        });
        halvings(WARPS / 2).for_each(fold);
        value.get().shuffle(0)
    }

    /// Turns logits into shares of one.
    async fn softmax(&self, logits: Shared<f32>, red_smem: Shared<f32>, qk_max: Lanes<'w, f32>) {
        let exp_sum = self.w.var(0.0);
        self.w.range(self.thread, self.context_len, THREADS, |i| {
            let logit = logits.at(i);
            let value = (logit.load() - qk_max).exp();
            logit.store(value);
            exp_sum.set(exp_sum.get() + value);
        });
        let exp_sum = self.block_fold(exp_sum, 1, (red_smem, WARPS), |a, b| a + b).await;
        let inv_sum = (exp_sum + 1e-6).reciprocal();
        self.w.range(self.thread, self.context_len, THREADS, |i| {
            let logit = logits.at(i);
            logit.store(logit.load() * inv_sum);
        });
        self.w.barrier().await;
    }

    /// `v[j] = token + j < context_len ? v[j] : 0`
    fn clear_behind_context(&self, token: Lanes<'w, u32>, v: &[Var<'w, [f16; 2]>; 4]) {
        for (pair, v) in (0..).zip(v) {
            let half = |index: u32| {
                let is_inside = (token + (2 * pair + index)).lt(self.context_len);
                is_inside.select(v.get().part(index as usize), f16::ZERO)
            };
            v.set(half(0).pack(half(1)));
        }
    }
}

/// Product of eight halves, in halves, its two parts added in floats.
fn half_dot<'w>(weights: [Lanes<'w, [f16; 2]>; 4], v: &[Var<'w, [f16; 2]>; 4]) -> Lanes<'w, f32> {
    let [a, b, c, d] = [0, 1, 2, 3].map(|pair| weights[pair].hmul2(v[pair].get()));
    let sum = a.hadd2(b).hadd2(c).hadd2(d);
    sum.part(0).to_f32() + sum.part(1).to_f32()
}
