//! Transformer layers in sequence, for one new token of each sequence: ten launches per layer on
//! the same buffers, eleven where attention splits the context. Each layer has its own weights and
//! cache.
//!
//! ```cuda
//! // As vLLM 0.2 runs a LlamaDecoderLayer, with the kernels of the other generators:
//! fused_add_rms_norm(hidden, residual, input_norm);                // rms_norm.rs
//! cudaCoreGemm(hidden, w_qkv, qkv);                                // linear.rs
//! rotary_embedding(positions, qkv, cos_sin);                       // rotary.rs
//! reshape_and_cache(qkv, k_cache, v_cache, slots);                 // kv_cache.rs
//! paged_attention_v1(qkv, k_cache, v_cache, …, attention);         // paged_attention
//! cudaCoreGemm(attention, w_out, hidden);
//! fused_add_rms_norm(hidden, residual, post_norm);
//! cudaCoreGemm(hidden, w_gate_up, gate_up);
//! silu_and_mul(gate_up, act);                                      // activation.rs
//! cudaCoreGemm(act, w_down, hidden);
//! ```

pub mod activation;
mod rotary;
#[cfg(test)]
mod tests;

use half::f16;

use super::halves::{activations, weights};
use super::kv_cache::{Cache, Store};
use super::linear::Linear;
use super::paged_attention::{Attention, KV_HEADS, Page, Pages, SPLIT};
use super::prelude::*;
use super::rms_norm::Norm;
use activation::SiluAndMul;
use rotary::Rotary;

pub const GENERATOR: Generator = Generator {
    name: "decode-layer",
    summary: "one decode step of transformer layers, from norm to feed-forward, ten launches each",
    source: "vLLM 0.2, LlamaDecoderLayer; TensorRT-LLM, cudaCoreGemm; Llama 2 (Touvron et al. 2023)",
    parameters: &[&[
        Parameter::count("sequences", 2, (1, 16), "sequences", "Sequences decoded at once"),
        Parameter::count(
            "context",
            1 << 7,
            (1, 1 << 13),
            "tokens",
            "Tokens per sequence, including the new one",
        ),
        Parameter::count("heads", 4, (1, 256), "heads", "Heads of the query"),
        KV_HEADS,
        Parameter::count(
            "head-size",
            64,
            (32, 256),
            "elements",
            "Elements per head, a multiple of 32",
        ),
        Parameter::count(
            "intermediate",
            1 << 9,
            (8, 1 << 16),
            "elements",
            "Width of the feed-forward layer, a multiple of 8",
        ),
        SPLIT,
        Parameter::count("layers", 1, (1, 128), "layers", "Layers in sequence"),
    ]],
    run: |gpu, arguments, random| {
        let [sequences, context] = ["sequences", "context"].map(|name| arguments.count32(name));
        let model = Model {
            heads: arguments.count32("heads"),
            kv_heads: arguments.count32("kv-heads"),
            head_size: arguments.count32("head-size"),
            intermediate: arguments.count32("intermediate"),
            split: arguments.count32("split"),
        };
        model.check(sequences, context)?;
        let first = Layer::drawn(gpu, model, random);
        let mut step = Step::drawn(gpu, model, [sequences, context], random);
        first.decode(gpu, &step)?;
        for _ in 1..arguments.count32("layers") {
            step.cache = drawn_cache(gpu, step.cached, random);
            Layer::drawn(gpu, model, random).decode(gpu, &step)?;
        }
        Ok(())
    },
};

/// Tokens per page.
const PAGE: Page = Page::Of16;

/// The dimensions of a model.
#[derive(Clone, Copy, Debug)]
struct Model {
    heads: u32,
    kv_heads: u32,
    head_size: u32,
    intermediate: u32,
    /// Context tokens per CTA of attention; 0: all.
    split: u32,
}

impl Model {
    fn check(&self, sequences: u32, context: u32) -> Result<(), WorkloadError> {
        check_multiple("heads", u64::from(self.heads), u64::from(self.kv_heads))?;
        check_multiple("head-size", u64::from(self.head_size), 32)?;
        check_multiple("intermediate", u64::from(self.intermediate), 8)?;
        check_multiple("split", u64::from(self.split), u64::from(PAGE.tokens()))?;
        check_entries("weights of the attention", self.qkv(), self.hidden())?;
        check_entries("weights of the feed-forward layer", 2 * self.intermediate, self.hidden())?;
        let cached = sequences * context.next_multiple_of(PAGE.tokens());
        check_entries("keys", cached, self.kv_heads * self.head_size)
    }

    /// Returns the elements of a token between layers.
    fn hidden(&self) -> u32 {
        self.heads * self.head_size
    }

    /// Returns the elements of a token's queries, keys and values.
    fn qkv(&self) -> u32 {
        (self.heads + 2 * self.kv_heads) * self.head_size
    }
}

/// The weights of a layer on the device.
struct Layer {
    model: Model,
    input_norm: Array<f16>,
    qkv: Array<f16>,
    out: Array<f16>,
    post_norm: Array<f16>,
    gate_up: Array<f16>,
    down: Array<f16>,
}

impl Layer {
    fn drawn(gpu: &mut Gpu, model: Model, random: &mut Random) -> Layer {
        let Model { intermediate, .. } = model;
        let (hidden, qkv) = (model.hidden(), model.qkv());
        let mut norm = |gpu: &mut Gpu| gpu.upload(&activations(hidden, random));
        let (input_norm, post_norm) = (norm(gpu), norm(gpu));
        let mut matrix = |n: u32, k: u32| gpu.upload(&weights(n * k, random));
        Layer {
            model,
            input_norm,
            qkv: matrix(qkv, hidden),
            out: matrix(hidden, hidden),
            post_norm,
            gate_up: matrix(2 * intermediate, hidden),
            down: matrix(hidden, intermediate),
        }
    }

    /// Runs the layer. Its result is in `step.hidden`, to be added to `step.residual`.
    fn decode(&self, gpu: &mut Gpu, step: &Step) -> Result<(), WorkloadError> {
        let Model { intermediate, .. } = self.model;
        let (hidden, qkv) = (self.model.hidden(), self.model.qkv());
        let norm = |weight| Norm { input: step.hidden, weight, hidden };
        norm(self.input_norm).launch_fused(gpu, step.sequences, step.residual)?;
        step.linear(gpu, [step.hidden, self.qkv, step.qkv], [qkv, hidden])?;
        self.attend(gpu, step)?;
        step.linear(gpu, [step.attention, self.out, step.hidden], [hidden, hidden])?;
        norm(self.post_norm).launch_fused(gpu, step.sequences, step.residual)?;
        step.linear(gpu, [step.hidden, self.gate_up, step.gate_up], [2 * intermediate, hidden])?;
        SiluAndMul { input: step.gate_up, out: step.act, d: intermediate }
            .launch(gpu, step.sequences)?;
        step.linear(gpu, [step.act, self.down, step.hidden], [hidden, intermediate])
    }

    /// Runs attention from queries, keys and values to its result.
    fn attend(&self, gpu: &mut Gpu, step: &Step) -> Result<(), WorkloadError> {
        let Model { heads, kv_heads, head_size, .. } = self.model;
        let (stride, keys_begin) = (self.model.qkv(), heads * head_size);
        Rotary {
            positions: step.positions,
            rows: step.qkv,
            stride,
            table: step.angles,
            heads,
            kv_heads,
            head_size,
        }
        .launch(gpu)?;
        Store {
            keys: step.qkv,
            values: step.qkv,
            first: [keys_begin, keys_begin + kv_heads * head_size],
            stride,
            slots: step.slots,
            cache: step.cache,
            kv_heads,
            head_size,
            page: PAGE.tokens(),
        }
        .launch(gpu)?;
        // Two eights: pages of 16 tokens.
        Attention::<2> {
            q: step.qkv.cast(),
            q_stride: stride,
            k: step.cache.keys.cast(),
            v: step.cache.values.cast(),
            block_tables: step.block_tables,
            context_lens: step.context_lens,
            out: step.attention,
            heads,
            kv_heads,
            head_size,
            max_blocks: step.max_blocks,
            split: None,
        }
        .launch_split(gpu, step.sequences, self.model.split)
    }
}

fn drawn_cache(gpu: &mut Gpu, elements: u32, random: &mut Random) -> Cache {
    let mut halves = || gpu.upload(&activations(elements, random));
    Cache { keys: halves(), values: halves() }
}

/// The sequences of a step on the device, and the buffers between launches.
struct Step {
    sequences: u32,
    hidden: Array<f16>,
    residual: Array<f16>,
    /// Cache of the current layer, and elements of its keys.
    cache: Cache,
    cached: u32,
    positions: Array<u64>,
    angles: Array<f16>,
    slots: Array<u64>,
    block_tables: Array<u32>,
    max_blocks: u32,
    context_lens: Array<u32>,
    qkv: Array<f16>,
    attention: Array<f16>,
    gate_up: Array<f16>,
    act: Array<f16>,
}

impl Step {
    fn drawn(
        gpu: &mut Gpu,
        model: Model,
        [sequences, context]: [u32; 2],
        random: &mut Random,
    ) -> Step {
        let pages = Pages::drawn(PAGE, &vec![context; sequences as usize], random);
        let cached = pages.pool * PAGE.tokens() * model.kv_heads * model.head_size;
        let last = context - 1;
        let slot = |sequence| u64::from(pages.slot(sequence, last as usize));
        let slots: Vec<u64> = (0..sequences as usize).map(slot).collect();
        let mut token_rows = || gpu.upload(&activations(sequences * model.hidden(), random));
        let (hidden, residual) = (token_rows(), token_rows());
        let per_token = u64::from(sequences);
        Step {
            sequences,
            hidden,
            residual,
            cache: drawn_cache(gpu, cached, random),
            cached,
            positions: gpu.upload(&vec![u64::from(last); sequences as usize]),
            angles: gpu.upload(&rotary::table(context, model.head_size)),
            slots: gpu.upload(&slots),
            block_tables: gpu.upload(&pages.tables),
            max_blocks: pages.per_sequence,
            context_lens: gpu.upload(&vec![context; sequences as usize]),
            qkv: gpu.zeros(per_token * u64::from(model.qkv())),
            attention: gpu.zeros(per_token * u64::from(model.hidden())),
            gate_up: gpu.zeros(2 * per_token * u64::from(model.intermediate)),
            act: gpu.zeros(per_token * u64::from(model.intermediate)),
        }
    }

    /// Computes `out` = `act` × `weight` for all tokens.
    fn linear(
        &self,
        gpu: &mut Gpu,
        [act, weight, out]: [Array<f16>; 3],
        [n, k]: [u32; 2],
    ) -> Result<(), WorkloadError> {
        Linear { act, weight, out, tokens: self.sequences, n, k }.launch(gpu)
    }
}
