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
//! Where the context is split ([`Split`], paged_attention_v2), there is a CTA for each part as well, `blockIdx.z`. It goes
//! through its part alone, and leaves what the parts are brought together with (reduce.rs):
//!
//! ```cuda
//! if (blockIdx.z * PARTITION >= context_len) return;
//! int start = blockIdx.z * (PARTITION / PAGE), end = min(start + PARTITION / PAGE, blocks), start_token = start * PAGE;
//! int num_tokens = min(start_token + (end - start) * PAGE, context_len) - start_token;
//! // for (int block = start + warp; block < end; block += WARPS) … logits[token - start_token] …, i < num_tokens
//! if (thread == 0) { max_logits[part] = qk_max; exp_sums[part] = exp_sum; }   // part = (seq * heads + head) * parts + blockIdx.z
//! // tmp_out[part * HEAD_SIZE + row] instead of out
//! ```
//!
//! Loops over the head are unrolled, the others are not. The keys of a token are loaded before the
//! first is used; the query is read from shared memory for each.

use half::f16;

use super::super::halves::halvings;
use super::super::prelude::*;
use super::fold::{Cta, THREADS, WARPS};

/// Arguments of the kernel. `P` is the page size in eights: a lane reads `2 * P` halves of a key in
/// one access.
#[derive(Clone, Copy)]
pub struct Attention<const P: usize> {
    pub q: Array<[[f16; 2]; P]>,
    /// Halves from one sequence's query to the next, more than its heads take if keys and values
    /// are in between.
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
    /// Division of the context among CTAs; `None`: one CTA processes all of it.
    pub split: Option<Split>,
}

/// The division of a context into parts, and the outputs of each part besides its result.
#[derive(Clone, Copy)]
pub struct Split {
    /// Tokens per part, in whole pages.
    pub tokens: u32,
    /// Parts of the longest context.
    pub parts: u32,
    /// Largest logit of each part of each head of each sequence, and the sum of the exponentials
    /// relative to it.
    pub max_logits: Array<f32>,
    pub exp_sums: Array<f32>,
}

/// Position of a thread and its sequence.
struct Thread<'w> {
    w: &'w Warp,
    thread: Lanes<'w, u32>,
    cta: Cta<'w>,
    seq: Lanes<'w, u32>,
    head: Lanes<'w, u32>,
    kv_head: Lanes<'w, u32>,
    context_len: Lanes<'w, u32>,
    /// Blocks of the context, and the start of their page table.
    blocks: Lanes<'w, u32>,
    table: Lanes<'w, u32>,
    part: Part<'w>,
}

/// The part of the context that a CTA processes.
struct Part<'w> {
    /// First block of the thread's warp, and end of the CTA's blocks.
    start: Lanes<'w, u32>,
    end: Lanes<'w, u32>,
    /// Its tokens, and the tokens before it; `None` at the start of the context.
    tokens: Lanes<'w, u32>,
    before: Option<Lanes<'w, u32>>,
}

impl<'w> Part<'w> {
    /// Returns the index of a context token's logit within the part.
    fn place(&self, token: Lanes<'w, u32>) -> Lanes<'w, u32> {
        self.before.map_or(token, |before| token - before)
    }
}

impl<const P: usize> Attention<P> {
    /// Tokens per page.
    pub(super) const PAGE: u32 = 8 * P as u32;
    /// Lanes that share a token's key.
    const GROUP: u32 = 4 / P as u32;
    /// Rows of V read by a warp in one access; `P` lanes read each, 8 tokens per lane.
    const ROWS: u32 = 32 / P as u32;

    /// Returns the number of 16-byte pieces of a head.
    fn pieces(&self) -> u32 {
        self.head_size / 8
    }

    fn rows_per_thread(&self) -> u32 {
        self.head_size.div_ceil(Self::ROWS)
    }

    /// Returns the floats of shared memory for logits, and later for the sums of other warps.
    fn workspace(&self) -> u32 {
        let tokens = self.split.map_or(self.max_blocks * Self::PAGE, |split| split.tokens);
        tokens.max(WARPS / 2 * self.head_size)
    }

    /// Launches a CTA for each head of each of `sequences`, and of each part of the context.
    pub fn launch(&self, gpu: &mut Gpu, sequences: u32) -> Result<(), WorkloadError> {
        let (name, parts) = match self.split {
            None => ("paged_attention_v1", 1),
            Some(split) => ("paged_attention_v2", split.parts),
        };
        let launch = Launch {
            grid: [self.heads, sequences, parts],
            shared_bytes: self.shared_bytes(),
            ..grid_of(name, 0, THREADS, 64)
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
        let qk_max = t.cta.fold(qk_max, Self::GROUP, (red_smem, 0), Lanes::max).await;
        let exp_sum = t.softmax(logits, red_smem, qk_max).await;
        if let Some(split) = self.split {
            w.when(t.thread.eq(0), || {
                let part = self.result(&t);
                split.max_logits.store(part, qk_max);
                split.exp_sums.store(part, exp_sum);
            });
        }
        let accs = self.values(&t, logits);
        w.barrier().await;
        self.add_up(&t, &accs, logits).await;
        w.when(t.cta.warp.eq(0), || {
            let out = self.result(&t) * self.head_size;
            self.each_row(&t, &accs, |row, acc| self.out.store(out + row, acc.get().to_f16()));
        });
    }

    /// Returns the index of the CTA's result.
    fn result<'w>(&self, t: &Thread<'w>) -> Lanes<'w, u32> {
        let head = t.seq.mad(self.heads, t.head);
        self.split.map_or(head, |split| head.mad(split.parts, t.w.block_z()))
    }

    fn thread<'w>(&self, w: &'w Warp) -> Thread<'w> {
        let (thread, seq, head) = (w.thread_x(), w.block_y(), w.block_x());
        let context_len = self.context_lens.load(seq);
        if let Some(split) = self.split {
            w.exit_unless((w.block_z() * split.tokens).lt(context_len));
        }
        let cta = Cta::new(w, thread);
        let kv_head = head.quotient(self.heads / self.kv_heads);
        let blocks = (context_len + (Self::PAGE - 1)).quotient(Self::PAGE);
        let table = seq * self.max_blocks;
        let part = self.part(w, cta.warp, context_len, blocks);
        Thread { w, thread, cta, seq, head, kv_head, context_len, blocks, table, part }
    }

    fn part<'w>(
        &self,
        w: &'w Warp,
        warp: Lanes<'w, u32>,
        context_len: Lanes<'w, u32>,
        blocks: Lanes<'w, u32>,
    ) -> Part<'w> {
        let Some(split) = self.split else {
            return Part { start: warp, end: blocks, tokens: context_len, before: None };
        };
        let per_part = split.tokens / Self::PAGE;
        let start = w.block_z() * per_part;
        let end = (start + per_part).min(blocks);
        let before = start * Self::PAGE;
        let tokens = (end * Self::PAGE).min(context_len) - before;
        Part { start: start + warp, end, tokens, before: Some(before) }
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

    /// Stores the logits of the context; returns the maximum seen by each group.
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
        t.w.range(t.part.start, t.part.end, WARPS, |block| {
            let page = self.block_tables.load(t.table + block);
            let token = block.mad(Self::PAGE, slot);
            let key = self.k.at(page.mad(self.kv_heads * head_stride, own));
            let piece = |j| key.offset(j * Self::PAGE * Self::GROUP).load();
            let keys: Vec<_> = (0..self.pieces()).map(piece).collect();
            let qk = Self::dot(query, &keys) * scale;
            t.w.when(part.eq(0), || {
                let is_masked = token.ge(t.context_len);
                logits.at(t.part.place(token)).store(is_masked.select(0.0, qk));
                let greater = qk_max.get().max(qk);
                qk_max.set(is_masked.select(&qk_max, greater));
            });
        });
        qk_max
    }

    /// Multiplies the query by a key in floats: over the thread's parts, then over the group's.
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

    /// Sums the rows that each lane reads over the warp's part of the context.
    fn values<'w>(&self, t: &Thread<'w>, logits: Shared<f32>) -> Vec<Var<'w, f32>> {
        let accs: Vec<_> = (0..self.rows_per_thread()).map(|_| t.w.var(0.0)).collect();
        let first_row = t.cta.lane.quotient(P as u32);
        let offset = t.cta.lane.remainder(P as u32) << 3;
        let head_stride = self.head_size * P as u32;
        let own = t.kv_head.mad(head_stride, t.cta.lane);
        t.w.range(t.part.start, t.part.end, WARPS, |block| {
            let page = self.block_tables.load(t.table + block);
            let token = block.mad(Self::PAGE, offset);
            let logits = logits.at(t.part.place(token)).cast::<[f32; 4]>();
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

    /// Adds the upper warps' sums to the lower warps' until the first has the total.
    async fn add_up(&self, t: &Thread<'_>, accs: &[Var<'_, f32>], workspace: Shared<f32>) {
        for middle in halvings(WARPS / 2).map(|middle| middle as u32) {
            let is_upper = t.cta.warp.ge(middle) & t.cta.warp.lt(2 * middle);
            t.w.when(is_upper, || {
                let place = (t.cta.warp - middle) * self.head_size;
                self.each_row(t, accs, |row, acc| workspace.at(place + row).store(acc));
            });
            t.w.barrier().await;
            t.w.when(t.cta.warp.lt(middle), || {
                let place = t.cta.warp * self.head_size;
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
            let row = t.cta.lane.quotient(P as u32) + i * Self::ROWS;
            let is_first = t.cta.lane.remainder(P as u32).eq(0);
            t.w.when(row.lt(self.head_size) & is_first, || body(row, acc));
        }
    }
}

impl<'w> Thread<'w> {
    /// Normalises logits to weights; returns the sum of their exponentials.
    async fn softmax(
        &self,
        logits: Shared<f32>,
        red_smem: Shared<f32>,
        qk_max: Lanes<'w, f32>,
    ) -> Lanes<'w, f32> {
        let exp_sum = self.w.var(0.0);
        self.w.range(self.thread, self.part.tokens, THREADS, |i| {
            let logit = logits.at(i);
            let value = (logit.load() - qk_max).exp();
            logit.store(value);
            exp_sum.set(exp_sum.get() + value);
        });
        let exp_sum = self.cta.fold(exp_sum, 1, (red_smem, WARPS), |a, b| a + b).await;
        let inv_sum = (exp_sum + 1e-6).reciprocal();
        self.w.range(self.thread, self.part.tokens, THREADS, |i| {
            let logit = logits.at(i);
            logit.store(logit.load() * inv_sum);
        });
        self.w.barrier().await;
        exp_sum
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

/// Multiplies eight halves in half precision and adds the two parts in floats.
fn half_dot<'w>(weights: [Lanes<'w, [f16; 2]>; 4], v: &[Var<'w, [f16; 2]>; 4]) -> Lanes<'w, f32> {
    let [a, b, c, d] = [0, 1, 2, 3].map(|pair| weights[pair].hmul2(v[pair].get()));
    let sum = a.hadd2(b).hadd2(c).hadd2(d);
    sum.part(0).to_f32() + sum.part(1).to_f32()
}
