//! Attention of one new token per sequence to all earlier ones, whose keys and values are in pages
//! scattered over a pool.

mod fold;
mod kernel;
mod pages;
mod reduce;

use half::f16;

use super::halves::activations;
use super::prelude::*;
pub use kernel::Attention;
use kernel::Split;
pub use pages::{Page, Pages};
use reduce::Reduce;

/// Parameter of grouped-query attention.
pub const KV_HEADS: Parameter = Parameter::count(
    "kv-heads",
    2,
    (1, 256),
    "heads",
    "Heads of keys and values, each shared by several query heads",
);

/// Parameter of attention with a split context.
pub const SPLIT: Parameter = Parameter::count(
    "split",
    0,
    (0, 1 << 13),
    "tokens",
    "Tokens of the context that a CTA goes through, whole pages; a second launch brings the parts \
     together. 0: all of it",
);

pub const GENERATOR: Generator = Generator {
    name: "paged-attention",
    summary: "decoding attention over a paged key-value cache, one CTA per head, sequence and part of the context",
    source: "vLLM 0.2, paged_attention_v1 and _v2 (Kwon et al., SOSP 2023)",
    parameters: &[&[
        Parameter::count("sequences", 8, (1, 1 << 12), "sequences", "Sequences decoded at once"),
        Parameter::count(
            "context",
            1 << 10,
            (1, 1 << 13),
            "tokens",
            "Longest context; contexts are uniform from 1 to this",
        ),
        Parameter::count("heads", 16, (1, 256), "heads", "Heads of the query"),
        KV_HEADS,
        Parameter::count(
            "head-size",
            128,
            (8, 256),
            "elements",
            "Elements per head, a multiple of 8, half precision",
        ),
        Parameter::choice::<Page>("page", "16", "Tokens per page"),
        SPLIT,
    ]],
    run: |gpu, arguments, random| {
        let shape = Shape {
            heads: arguments.count32("heads"),
            kv_heads: arguments.count32("kv-heads"),
            head_size: arguments.count32("head-size"),
            page: arguments.choice("page"),
            split: arguments.count32("split"),
        };
        let (sequences, context) = (arguments.count32("sequences"), arguments.count32("context"));
        shape.check(sequences, context)?;
        let context_lens = (0..sequences).map(|_| 1 + random.index(context)).collect();
        decode(gpu, &Batch::drawn(shape, context_lens, random)).map(drop)
    },
};

#[derive(Clone, Copy, Debug)]
struct Shape {
    heads: u32,
    kv_heads: u32,
    head_size: u32,
    page: Page,
    split: u32,
}

impl Shape {
    fn check(&self, sequences: u32, context: u32) -> Result<(), WorkloadError> {
        check_multiple("heads", u64::from(self.heads), u64::from(self.kv_heads))?;
        check_multiple("head-size", u64::from(self.head_size), 8)?;
        check_multiple("split", u64::from(self.split), u64::from(self.page.tokens()))?;
        let tokens = context.next_multiple_of(self.page.tokens());
        check_entries("keys", sequences * tokens, self.kv_heads * self.head_size)
    }

    /// Returns the elements of all heads of a page's keys, or values.
    fn per_page(&self) -> u32 {
        self.kv_heads * self.head_size * self.page.tokens()
    }
}

/// Sequences with their queries and cached keys and values.
struct Batch {
    shape: Shape,
    context_lens: Vec<u32>,
    pages: Pages,
    q: Vec<f16>,
    k: Vec<f16>,
    v: Vec<f16>,
}

impl Batch {
    fn drawn(shape: Shape, context_lens: Vec<u32>, random: &mut Random) -> Batch {
        let pages = Pages::drawn(shape.page, &context_lens, random);
        let cached = pages.pool * shape.per_page();
        let q = activations(context_lens.len() as u32 * shape.heads * shape.head_size, random);
        let (k, v) = (activations(cached, random), activations(cached, random));
        Batch { shape, context_lens, pages, q, k, v }
    }
}

/// Returns the queries' results.
fn decode(gpu: &mut Gpu, batch: &Batch) -> Result<Array<f16>, WorkloadError> {
    Ok(match batch.shape.page {
        Page::Of8 => decode_in::<1>(gpu, batch)?.out,
        Page::Of16 => decode_in::<2>(gpu, batch)?.out,
        Page::Of32 => decode_in::<4>(gpu, batch)?.out,
    })
}

/// Runs with pages of `8 * P` tokens.
fn decode_in<const P: usize>(gpu: &mut Gpu, batch: &Batch) -> Result<Attention<P>, WorkloadError> {
    let &Shape { heads, kv_heads, head_size, split, .. } = &batch.shape;
    let attention = Attention::<P> {
        q: gpu.upload(vectors(&batch.q)),
        k: gpu.upload(vectors(&batch.k)),
        v: gpu.upload(vectors(&batch.v)),
        block_tables: gpu.upload(&batch.pages.tables),
        context_lens: gpu.upload(&batch.context_lens),
        out: gpu.zeros(batch.q.len() as u64),
        q_stride: heads * head_size,
        heads,
        kv_heads,
        head_size,
        max_blocks: batch.pages.per_sequence,
        split: None,
    };
    attention.launch_split(gpu, batch.context_lens.len() as u32, split)?;
    Ok(attention)
}

impl<const P: usize> Attention<P> {
    /// As [`Attention::launch`], with contexts split into parts of `split` tokens; 0: not split.
    pub fn launch_split(
        &self,
        gpu: &mut Gpu,
        sequences: u32,
        tokens: u32,
    ) -> Result<(), WorkloadError> {
        if tokens == 0 {
            return self.launch(gpu, sequences);
        }
        let parts = (self.max_blocks * Self::PAGE).div_ceil(tokens);
        let results = u64::from(sequences * self.heads * parts);
        let split =
            Split { tokens, parts, max_logits: gpu.zeros(results), exp_sums: gpu.zeros(results) };
        let partial = gpu.zeros(results * u64::from(self.head_size));
        Attention { out: partial, split: Some(split), ..*self }.launch(gpu, sequences)?;
        let &Attention { context_lens, out, heads, head_size, .. } = self;
        Reduce { split, partial, context_lens, out, heads, head_size }.launch(gpu, sequences)
    }
}

fn vectors<const P: usize>(halves: &[f16]) -> &[[[f16; 2]; P]] {
    halves.as_chunks().0.as_chunks().0
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::testing::*;
    use super::*;

    fn batch(shape: Shape, context_lens: &[u32]) -> Batch {
        Batch::drawn(shape, context_lens.to_vec(), &mut Random::new(2))
    }

    fn shape(heads: u32, kv_heads: u32, head_size: u32, page: Page) -> Shape {
        Shape { heads, kv_heads, head_size, page, split: 0 }
    }

    /// Returns the position of element `d` of a token's key of head `h`, in pages laid out [head][d
    /// / 8][slot][d % 8].
    fn key_at(batch: &Batch, seq: usize, token: usize, h: usize, d: usize) -> usize {
        let (page, slot, tokens) = paged(batch, seq, token);
        let head = h * batch.shape.head_size as usize * tokens;
        page * batch.shape.per_page() as usize + head + d / 8 * tokens * 8 + slot * 8 + d % 8
    }

    /// Returns the same of a value, in pages laid out [head][d][slot].
    fn value_at(batch: &Batch, seq: usize, token: usize, h: usize, d: usize) -> usize {
        let (page, slot, tokens) = paged(batch, seq, token);
        let head = h * batch.shape.head_size as usize * tokens;
        page * batch.shape.per_page() as usize + head + d * tokens + slot
    }

    fn paged(batch: &Batch, seq: usize, token: usize) -> (usize, usize, usize) {
        let tokens = batch.shape.page.tokens() as usize;
        (batch.pages.of(seq, token) as usize, token % tokens, tokens)
    }

    /// Computes attention in double precision.
    fn plain(batch: &Batch) -> Vec<f64> {
        let Shape { heads, kv_heads, head_size, .. } = batch.shape;
        let (size, mut out) = (head_size as usize, Vec::new());
        for (seq, &len) in batch.context_lens.iter().enumerate() {
            for head in 0..heads as usize {
                let kv_head = head / (heads / kv_heads) as usize;
                let query = &batch.q[(seq * heads as usize + head) * size..][..size];
                let weight = |token| {
                    let key = |d| batch.k[key_at(batch, seq, token, kv_head, d)].to_f64();
                    let dot: f64 = query.iter().enumerate().map(|(d, q)| q.to_f64() * key(d)).sum();
                    (dot / f64::from(head_size).sqrt()).exp()
                };
                let weights: Vec<f64> = (0..len as usize).map(weight).collect();
                let all: f64 = weights.iter().sum();
                out.extend((0..size).map(|d| {
                    let value = |token| batch.v[value_at(batch, seq, token, kv_head, d)].to_f64();
                    weights
                        .iter()
                        .enumerate()
                        .map(|(t, weight)| weight / all * value(t))
                        .sum::<f64>()
                }));
            }
        }
        out
    }

    /// Weights, products and the first sums of values up to 2 are in half precision: a few times 2
    /// / 2^11.
    const TOLERANCE: f64 = 1.0 / 256.0;

    /// Writes NaN into the slots after each context, which must not be used.
    fn poison(batch: &mut Batch) {
        for (seq, &len) in batch.context_lens.clone().iter().enumerate() {
            let whole = len.next_multiple_of(batch.shape.page.tokens());
            for token in len as usize..whole as usize {
                for (h, d) in (0..batch.shape.kv_heads as usize)
                    .flat_map(|h| (0..batch.shape.head_size as usize).map(move |d| (h, d)))
                {
                    let (key, value) =
                        (key_at(batch, seq, token, h, d), value_at(batch, seq, token, h, d));
                    batch.k[key] = f16::NAN;
                    batch.v[value] = f16::NAN;
                }
            }
        }
    }

    #[test]
    fn attention_matches_double_precision_within_tolerance() {
        for (shape, context_lens) in [
            (shape(1, 1, 8, Page::Of16), vec![1]),
            (shape(4, 2, 64, Page::Of8), vec![1, 7, 8, 9, 100]),
            (shape(4, 1, 80, Page::Of16), vec![16, 130, 33]),
            (shape(2, 2, 128, Page::Of32), vec![64, 65, 200]),
            (shape(1, 1, 256, Page::Of8), vec![40]),
            (shape(3, 3, 104, Page::Of32), vec![31]),
            // Contexts of one part, of whole parts, and with one token in the last part.
            (Shape { split: 32, ..shape(4, 2, 64, Page::Of8) }, vec![1, 32, 33, 64, 100]),
            (Shape { split: 64, ..shape(2, 1, 128, Page::Of16) }, vec![130, 20, 192]),
            (Shape { split: 512, ..shape(2, 2, 80, Page::Of32) }, vec![64, 1100]),
        ] {
            let mut batch = batch(shape, &context_lens);
            poison(&mut batch);
            let run = run(|gpu| {
                let out = decode(gpu, &batch)?;
                Ok(gpu.download(out))
            });
            let expected = plain(&batch);
            assert_eq!(run.result.len(), expected.len());
            let error = |(got, expected): (&f16, &f64)| (got.to_f64() - expected).abs();
            let worst = run.result.iter().zip(&expected).map(error).fold(0.0, f64::max);
            assert!(worst <= TOLERANCE, "{shape:?} {context_lens:?}: {worst}");
            assert!(
                expected.iter().any(|x| x.abs() > 50.0 * TOLERANCE),
                "there is something to miss"
            );
        }
    }

    /// Returns the addresses of the caches of keys and of values.
    fn run_for_caches(batch: &Batch) -> Run<[u64; 2]> {
        fn caches<const P: usize>(gpu: &mut Gpu, batch: &Batch) -> Result<[u64; 2], WorkloadError> {
            let attention = decode_in::<P>(gpu, batch)?;
            Ok([attention.k.address(0), attention.v.address(0)])
        }
        run(|gpu| match batch.shape.page {
            Page::Of8 => caches::<1>(gpu, batch),
            Page::Of16 => caches::<2>(gpu, batch),
            Page::Of32 => caches::<4>(gpu, batch),
        })
    }

    /// Returns the elements read of a cache at `base`.
    fn elements(run: &Run<[u64; 2]>, base: u64, len: usize) -> BTreeSet<usize> {
        let mut elements = BTreeSet::new();
        visit_records(run.trace(), |_, _, instruction, record| {
            if instruction.kind == Kind::Load && instruction.space == Space::Global {
                let halves = instruction.width as usize / 2;
                for &address in record.active_addresses() {
                    let first = address.wrapping_sub(base) / 2;
                    if first < len as u64 {
                        elements.extend(first as usize..first as usize + halves);
                    }
                }
            }
        });
        elements
    }

    #[test]
    fn the_pages_of_the_context_are_read_whole_and_no_others() {
        let cases = Page::NAMES.iter().flat_map(|case| [0, 32].map(|split| (case, split)));
        for (&(name, page), split) in cases {
            let batch = batch(Shape { split, ..shape(2, 2, 16, page) }, &[70, 3]);
            let run = run_for_caches(&batch);
            let whole = |len: u32| len.next_multiple_of(page.tokens()) as usize;
            let mut expected = [BTreeSet::new(), BTreeSet::new()];
            for (seq, len) in [(0, whole(70)), (1, whole(3))] {
                for (token, h, d) in
                    (0..len).flat_map(|t| (0..32).map(move |i| (t, i / 16, i % 16)))
                {
                    expected[0].insert(key_at(&batch, seq, token, h, d));
                    expected[1].insert(value_at(&batch, seq, token, h, d));
                }
            }
            assert_eq!(elements(&run, run.result[0], batch.k.len()), expected[0], "{name}");
            assert_eq!(elements(&run, run.result[1], batch.v.len()), expected[1], "{name}");
        }
    }

    /// Returns the address span in bytes of each load of keys and of values by the first warp.
    fn spans(page: Page) -> Vec<u64> {
        let batch = batch(shape(1, 1, 128, page), &[4 * page.tokens()]);
        let run = run_for_caches(&batch);
        let caches = run.result[0]..run.result[1] + 2 * batch.v.len() as u64;
        let executed = run.warp(0);
        let loads = executed.iter().filter(|(i, record)| {
            i.kind == Kind::Load
                && i.space == Space::Global
                && caches.contains(&record.active_addresses()[0])
        });
        loads
            .map(|(i, record)| {
                let lanes = record.active_addresses();
                assert_eq!(lanes.len(), 32);
                assert!(lanes.windows(2).all(|pair| pair[1] == pair[0] + u64::from(i.width)));
                32 * u64::from(i.width)
            })
            .collect()
    }

    /// A page's keys take 16 loads, one for each eight elements of a head, its values loads of 512
    /// bytes.
    #[test]
    fn every_load_of_the_cache_is_coalesced() {
        for (page, key_bytes) in [(Page::Of8, 128), (Page::Of16, 256), (Page::Of32, 512)] {
            let values = 128 * u64::from(page.tokens()) * 2 / 512;
            let expected = [vec![key_bytes; 16], vec![512; values as usize]].concat();
            assert_eq!(spans(page), expected, "{page:?}");
        }
    }

    /// The CTAs of a context of 150 tokens process 64, 64 and 22 tokens, and hold no more in shared
    /// memory.
    #[test]
    fn each_part_of_a_split_context_has_a_cta() {
        let shape = Shape { split: 64, ..shape(2, 1, 64, Page::Of16) };
        let batch = batch(shape, &[150, 64]);
        let run = run_for_caches(&batch);
        let launches = run.trace().kernels().iter();
        let launches: Vec<_> = launches.map(|k| (&*k.info.name, k.info.grid)).collect();
        let expected =
            [("paged_attention_v2", [2, 2, 3]), ("paged_attention_v2_reduce", [2, 2, 1])];
        assert_eq!(launches, expected);
        let mut reads = [0; 12];
        let keys = run.result[0]..run.result[1];
        visit_records(run.trace(), |_, warp, instruction, record| {
            let is_key = |address: &u64| keys.contains(address);
            if instruction.kind == Kind::Load && record.active_addresses().iter().any(is_key) {
                reads[warp / 4] += record.active_addresses().len();
            }
        });
        // A key of 64 elements is eight loads of two lanes.
        let tokens: Vec<_> = reads.iter().map(|lanes| lanes / 16).collect();
        assert_eq!(tokens, [64, 64, 64, 64, 64, 64, 0, 0, 32, 32, 0, 0]);
    }

    #[test]
    fn keys_are_loaded_before_the_first_is_used() {
        let batch = batch(shape(1, 1, 64, Page::Of16), &[16]);
        let run = run(|gpu| decode(gpu, &batch));
        let executed = run.warp(0);
        let wide = |(i, _): &&(warpmem_trace::Instruction, _)| i.kind == Kind::Load && i.width == 8;
        let keys: Vec<_> = executed
            .iter()
            .filter(|pair| wide(pair) && pair.0.space == Space::Global)
            .map(|(i, _)| i.use_distance)
            .collect();
        // One of the query, then eight of keys: after the first come seven others, a load of the
        // query, and its conversion.
        assert_eq!(keys.len(), 1 + 8);
        assert_eq!(keys[1], Some(9), "{keys:?}");
    }

    #[test]
    fn invalid_shapes_are_refused() {
        let refusal = |shape: Shape, sequences, context| {
            shape.check(sequences, context).unwrap_err().to_string()
        };
        assert_eq!(refusal(shape(6, 4, 64, Page::Of16), 1, 1), "--heads 6 is not a multiple of 4");
        assert_eq!(
            refusal(shape(4, 4, 60, Page::Of16), 1, 1),
            "--head-size 60 is not a multiple of 8"
        );
        assert_eq!(
            refusal(shape(256, 256, 256, Page::Of16), 1 << 12, 1 << 13),
            "2^41 keys are more than 2^28"
        );
        assert_eq!(
            refusal(Shape { split: 40, ..shape(4, 4, 64, Page::Of16) }, 1, 1),
            "--split 40 is not a multiple of 16"
        );
        assert!(shape(32, 8, 128, Page::Of16).check(16, 512).is_ok());
    }
}
