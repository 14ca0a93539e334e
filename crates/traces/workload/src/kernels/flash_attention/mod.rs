//! Attention of a prompt: tiles of queries, keys and values in shared memory, with an online
//! softmax.

mod kernel;

use half::f16;

use super::halves::activations;
use super::prelude::*;
use kernel::{Attention, ROWS};

pub const GENERATOR: Generator = Generator {
    name: "flash-attention",
    summary: "attention of prompts with a causal mask: tiles by asynchronous copies, tensor cores, online softmax",
    source: "FlashAttention-2, flash_fwd_kernel for sm_80 (Dao, ICLR 2024, Algorithm 1)",
    parameters: &[&[
        Parameter::count("sequences", 1, (1, 1 << 10), "sequences", "Prompts"),
        Parameter::count(
            "tokens",
            1 << 8,
            (128, 1 << 15),
            "tokens",
            "Tokens per prompt, a multiple of 128",
        ),
        Parameter::count("heads", 2, (1, 256), "heads", "Heads of the query"),
        Parameter::count(
            "kv-heads",
            1,
            (1, 256),
            "heads",
            "Heads of keys and values, each shared by several query heads",
        ),
        Parameter::choice::<HeadSize>("head-size", "128", "Elements per head, half precision"),
    ]],
    run: |gpu, arguments, random| {
        let shape = Shape {
            sequences: arguments.count32("sequences"),
            tokens: arguments.count32("tokens"),
            heads: arguments.count32("heads"),
            kv_heads: arguments.count32("kv-heads"),
            head_size: arguments.choice::<HeadSize>("head-size").elements(),
        };
        shape.check()?;
        attend(gpu, &shape, &shape.drawn(random)).map(drop)
    },
};

#[derive(Clone, Copy, Debug)]
enum HeadSize {
    Of64,
    Of128,
}

impl HeadSize {
    fn elements(self) -> u32 {
        match self {
            HeadSize::Of64 => 64,
            HeadSize::Of128 => 128,
        }
    }
}

impl Choice for HeadSize {
    const NAMES: &'static [(&'static str, HeadSize)] =
        &[("64", HeadSize::Of64), ("128", HeadSize::Of128)];
}

#[derive(Clone, Copy, Debug)]
struct Shape {
    sequences: u32,
    tokens: u32,
    heads: u32,
    kv_heads: u32,
    head_size: u32,
}

impl Shape {
    fn check(&self) -> Result<(), WorkloadError> {
        check_multiple("tokens", u64::from(self.tokens), u64::from(ROWS))?;
        check_multiple("heads", u64::from(self.heads), u64::from(self.kv_heads))?;
        check_entries("queries", self.sequences * self.tokens, self.heads * self.head_size)
    }

    /// Generates queries, keys and values, token by token.
    fn drawn(&self, random: &mut Random) -> [Vec<f16>; 3] {
        [self.heads, self.kv_heads, self.kv_heads]
            .map(|heads| activations(self.sequences * self.tokens * heads * self.head_size, random))
    }
}

fn attend(
    gpu: &mut Gpu,
    &Shape { sequences, tokens, heads, kv_heads, head_size }: &Shape,
    [q, k, v]: &[Vec<f16>; 3],
) -> Result<Attention, WorkloadError> {
    let attention = Attention {
        q: gpu.upload(q),
        k: gpu.upload(k),
        v: gpu.upload(v),
        out: gpu.zeros(q.len() as u64),
        sequences,
        tokens,
        heads,
        kv_heads,
        head_size,
    };
    attention.launch(gpu)?;
    Ok(attention)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    fn shape(sequences: u32, tokens: u32, [heads, kv_heads]: [u32; 2], head_size: u32) -> Shape {
        Shape { sequences, tokens, heads, kv_heads, head_size }
    }

    /// Computes attention in double precision.
    fn plain(shape: &Shape, [q, k, v]: &[Vec<f16>; 3]) -> Vec<f64> {
        let [tokens, heads, kv_heads, size] =
            [shape.tokens, shape.heads, shape.kv_heads, shape.head_size].map(|n| n as usize);
        let mut out = Vec::with_capacity(q.len());
        for (row, query) in q.chunks_exact(size).enumerate() {
            let (token, head) = (row / heads, row % heads / (heads / kv_heads));
            let first = token / tokens * tokens;
            let cached = |array: &[f16], token: usize, d: usize| {
                array[(token * kv_heads + head) * size + d].to_f64()
            };
            let weight = |of: usize| {
                let dot: f64 =
                    query.iter().enumerate().map(|(d, q)| q.to_f64() * cached(k, of, d)).sum();
                (dot / (size as f64).sqrt()).exp()
            };
            let weights: Vec<f64> = (first..=token).map(weight).collect();
            let all: f64 = weights.iter().sum();
            out.extend((0..size).map(|d| {
                let parts = (first..).zip(&weights).map(|(of, weight)| weight * cached(v, of, d));
                parts.sum::<f64>() / all
            }));
        }
        out
    }

    /// Weights and results, of up to 2, are rounded to half precision.
    const TOLERANCE: f64 = 1.0 / 512.0;

    #[test]
    fn attention_matches_double_precision_within_tolerance() {
        for shape in
            [shape(1, 128, [2, 1], 128), shape(2, 256, [1, 1], 64), shape(1, 384, [1, 1], 64)]
        {
            let arrays = shape.drawn(&mut Random::new(3));
            let run = run(|gpu| {
                let attention = attend(gpu, &shape, &arrays)?;
                Ok(gpu.download(attention.out))
            });
            let expected = plain(&shape, &arrays);
            assert_eq!(run.result.len(), expected.len());
            let error = |(got, expected): (&f16, &f64)| (got.to_f64() - expected).abs();
            let worst = run.result.iter().zip(&expected).map(error).fold(0.0, f64::max);
            assert!(worst <= TOLERANCE, "{shape:?}: {worst}");
        }
    }

    #[test]
    fn keys_are_copied_by_the_ctas_of_later_queries() {
        let shape = shape(1, 384, [2, 1], 64);
        let arrays = shape.drawn(&mut Random::new(3));
        let run = run(|gpu| {
            let attention = attend(gpu, &shape, &arrays)?;
            Ok([attention.q, attention.k, attention.v].map(|array| array.range()))
        });
        let [q, k, v] = &run.result;
        // A copy has 16 bytes; the three CTAs of a head read 1 to 3 times 128 tokens, and each
        // query once.
        let keys = 2 * (1 + 2 + 3) * 128 * 64 * 2 / 16;
        let copied = [q, k, v].map(|range| run.count(Kind::AsyncCopy, range));
        assert_eq!(copied, [384 * 2 * 64 * 2 / 16, keys, keys]);
        assert_eq!(run.lines(Kind::AsyncCopy, k), vec![4; keys / 32]);
        let [copies, waited] = run.copies_and_waited();
        assert_eq!(copies, copied.iter().sum::<usize>() / 32);
        assert_eq!(waited, copies);
    }

    #[test]
    fn masked_blocks_are_not_multiplied() {
        let shape = shape(1, 256, [1, 1], 64);
        let arrays = shape.drawn(&mut Random::new(3));
        let run = run(|gpu| attend(gpu, &shape, &arrays));
        let mut products = 0;
        visit_records(run.trace(), |_, _, instruction, _| {
            let is_tensor = |c: &&warpmem_trace::Compute| c.class == warpmem_trace::OpClass::Tensor;
            products += instruction.compute.iter().filter(is_tensor).count();
        });
        // Two and four blocks of 128 by 64 by 64, twice, in products of 16 by 8 by 16.
        assert_eq!(products, 6 * 2 * 128 * 64 * 64 / (16 * 8 * 16));
    }

    #[test]
    fn invalid_shapes_are_refused() {
        let refusal = |shape: Shape| shape.check().unwrap_err().to_string();
        assert_eq!(refusal(shape(1, 200, [1, 1], 64)), "--tokens 200 is not a multiple of 128");
        assert_eq!(refusal(shape(1, 128, [3, 2], 64)), "--heads 3 is not a multiple of 2");
        assert_eq!(
            refusal(shape(1 << 4, 1 << 15, [32, 8], 128)),
            "2^31 queries are more than 2^28"
        );
        assert!(shape(1, 4096, [32, 8], 128).check().is_ok());
    }
}
