//! Compares a layer with the same layer computed launch by launch in double precision.

use std::collections::BTreeSet;
use warpmem_trace::{KernelInfo, Kind, Space};

use super::super::testing::*;
use super::super::{linear, rms_norm};
use super::*;

/// Inputs and outputs of a step.
struct Ran {
    infos: Vec<KernelInfo>,
    before: Snapshot,
    after: Snapshot,
    weights: [Vec<f16>; 6],
    angles: Vec<f16>,
    tables: Vec<u32>,
}

struct Snapshot {
    hidden: Vec<f16>,
    residual: Vec<f16>,
    keys: Vec<f16>,
    values: Vec<f16>,
}

impl Snapshot {
    fn of(gpu: &Gpu, step: &Step) -> Snapshot {
        let [hidden, residual, keys, values] =
            [step.hidden, step.residual, step.cache.keys, step.cache.values]
                .map(|array| gpu.download(array));
        Snapshot { hidden, residual, keys, values }
    }
}

fn ran(model: Model, sequences: u32, context: u32) -> Ran {
    let run = run(|gpu| {
        let random = &mut Random::new(5);
        let layer = Layer::drawn(gpu, model, random);
        let step = Step::drawn(gpu, model, [sequences, context], random);
        let before = Snapshot::of(gpu, &step);
        layer.decode(gpu, &step)?;
        let Layer { input_norm, qkv, out, post_norm, gate_up, down, .. } = layer;
        let weights =
            [input_norm, qkv, out, post_norm, gate_up, down].map(|array| gpu.download(array));
        let (angles, tables) = (gpu.download(step.angles), gpu.download(step.block_tables));
        Ok((before, Snapshot::of(gpu, &step), weights, angles, tables))
    });
    let infos = run.trace().kernels().iter().map(|kernel| kernel.info.clone()).collect();
    let (before, after, weights, angles, tables) = run.result;
    Ran { infos, before, after, weights, angles, tables }
}

fn added(a: &[f16], b: &[f16]) -> Vec<f16> {
    a.iter().zip(b).map(|(a, b)| f16::from_f64(a.to_f64() + b.to_f64())).collect()
}

/// Computes the attention of a sequence's query over its cached tokens.
fn attention(
    model: Model,
    query: &[f16],
    cache: &Snapshot,
    pages: &[u32],
    context: usize,
) -> Vec<f16> {
    let (size, tokens) = (model.head_size as usize, PAGE.tokens() as usize);
    let row = |token: usize, head: usize| {
        (pages[token / tokens] as usize * model.kv_heads as usize + head) * size * tokens
    };
    let per_kv_head = (model.heads / model.kv_heads) as usize;
    let of_head = |(head, query): (usize, &[f16])| {
        let head = head / per_kv_head;
        let key = |token: usize, d: usize| {
            cache.keys[row(token, head) + d / 8 * tokens * 8 + token % tokens * 8 + d % 8].to_f64()
        };
        let weight = |token| {
            let dot: f64 = query.iter().enumerate().map(|(d, q)| q.to_f64() * key(token, d)).sum();
            (dot / (size as f64).sqrt()).exp()
        };
        let weights: Vec<f64> = (0..context).map(weight).collect();
        let all: f64 = weights.iter().sum();
        let value = |token: usize, d: usize| {
            cache.values[row(token, head) + d * tokens + token % tokens].to_f64()
        };
        let element = |d| {
            let parts = weights.iter().enumerate().map(|(token, weight)| weight * value(token, d));
            f16::from_f64(parts.sum::<f64>() / all)
        };
        (0..size).map(element).collect::<Vec<_>>()
    };
    query.chunks_exact(size).enumerate().flat_map(of_head).collect()
}

/// Computes hidden state and residual after the layer from the final cache, which has its own test.
fn plain(model: Model, ran: &Ran, context: usize) -> [Vec<f16>; 2] {
    let (hidden, size) = (model.hidden() as usize, model.head_size as usize);
    let [input_norm, w_qkv, w_out, post_norm, w_gate_up, w_down] = &ran.weights;
    let residual = added(&ran.before.hidden, &ran.before.residual);
    let qkv = linear::plain(&rms_norm::plain(&residual, input_norm), w_qkv, hidden);
    let pages = ran.tables.len() * hidden / residual.len();
    let of_token = |(row, pages): (&[f16], &[u32])| {
        let rotated = |head: &[f16]| rotary::plain::rotated(head, &ran.angles, context - 1);
        let query: Vec<f16> = row[..hidden].chunks_exact(size).flat_map(rotated).collect();
        attention(model, &query, &ran.after, pages, context)
    };
    let rows = qkv.chunks_exact(model.qkv() as usize).zip(ran.tables.chunks_exact(pages));
    let attended: Vec<f16> = rows.flat_map(of_token).collect();
    let residual = added(&linear::plain(&attended, w_out, hidden), &residual);
    let gate_up = linear::plain(&rms_norm::plain(&residual, post_norm), w_gate_up, hidden);
    let act: Vec<f16> =
        gate_up.chunks_exact(2 * model.intermediate as usize).flat_map(activation::plain).collect();
    [linear::plain(&act, w_down, model.intermediate as usize), residual]
}

/// Relative to the largest result: half precision has steps of 1/2048, and several roundings
/// accumulate.
const TOLERANCE: f64 = 1.0 / 64.0;

fn assert_near(found: &[f16], expected: &[f16], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let error = |(a, b): (&f16, &f16)| (a.to_f64() - b.to_f64()).abs();
    let worst = found.iter().zip(expected).map(error).fold(0.0, f64::max);
    let largest = expected.iter().map(|x| x.to_f64().abs()).fold(0.0, f64::max);
    assert!(worst <= largest * TOLERANCE, "{what}: {worst} of {largest}");
}

const SMALL: Model = Model { heads: 4, kv_heads: 2, head_size: 32, intermediate: 200, split: 0 };

#[test]
fn a_layer_matches_double_precision_within_tolerance() {
    for (model, sequences, context) in [
        (SMALL, 1, 1),
        (SMALL, 3, 40),
        (Model { heads: 3, kv_heads: 3, head_size: 64, intermediate: 96, split: 0 }, 2, 17),
        (Model { heads: 8, kv_heads: 1, head_size: 128, intermediate: 512, split: 0 }, 2, 130),
        (Model { split: 48, ..SMALL }, 2, 130),
    ] {
        let ran = ran(model, sequences, context);
        let [hidden, residual] = plain(model, &ran, context as usize);
        let context = format!("{model:?} {sequences} {context}");
        assert_near(&ran.after.residual, &residual, &context);
        assert_near(&ran.after.hidden, &hidden, &context);
    }
}

/// The new token's key is that of its row of the linear layer, rotated; the rest of the cache is
/// unchanged.
#[test]
fn only_new_tokens_enter_the_cache() {
    let ran = ran(SMALL, 3, 40);
    let residual = added(&ran.before.hidden, &ran.before.residual);
    let hidden = SMALL.hidden() as usize;
    let qkv = linear::plain(&rms_norm::plain(&residual, &ran.weights[0]), &ran.weights[1], hidden);
    let [mut keys, mut values] = [ran.before.keys.clone(), ran.before.values.clone()];
    for (row, pages) in qkv.chunks_exact(SMALL.qkv() as usize).zip(ran.tables.chunks_exact(3)) {
        let (page, slot) = (pages[2] as usize, 39 % 16);
        for head in 0..2 {
            let key = &row[hidden + 32 * head..][..32];
            let value = &row[hidden + 64 + 32 * head..][..32];
            let key = rotary::plain::rotated(key, &ran.angles, 39);
            for d in 0..32 {
                let first = (page * 2 + head) * 32 * 16;
                keys[first + d / 8 * 128 + slot * 8 + d % 8] = key[d];
                values[first + d * 16 + slot] = value[d];
            }
        }
    }
    for (found, expected, before) in [
        (&ran.after.keys, &keys, &ran.before.keys),
        (&ran.after.values, &values, &ran.before.values),
    ] {
        assert_near(found, expected, "cache");
        let changed = found.iter().zip(before).filter(|(a, b)| a != b).count();
        assert!((3 * 64 - 20..=3 * 64).contains(&changed), "{changed}");
    }
}

#[test]
fn a_step_is_ten_launches() {
    let names: Vec<_> = ran(SMALL, 1, 1).infos.into_iter().map(|info| info.name).collect();
    let expected = [
        "fused_add_rms_norm_kernel",
        "cudaCoreGemm",
        "rotary_embedding_kernel",
        "reshape_and_cache_kernel",
        "paged_attention_v1",
        "cudaCoreGemm",
        "fused_add_rms_norm_kernel",
        "cudaCoreGemm",
        "silu_and_mul_kernel",
        "cudaCoreGemm",
    ];
    assert_eq!(names, expected);
}

/// Layers pass the same tokens on and have weights and a cache of their own.
#[test]
fn each_layer_reads_weights_of_its_own() {
    let given = [("layers".to_owned(), "3".to_owned())];
    let arguments =
        Arguments::resolve("decode-layer", GENERATOR.parameters, &given.into()).unwrap();
    let run = run(|gpu| (GENERATOR.run)(gpu, &arguments, &mut Random::new(1)));
    let trace = run.trace();
    assert_eq!(trace.kernels().len(), 30);
    let mut read = vec![BTreeSet::new(); 30];
    visit_records(trace, |kernel, _, instruction, record| {
        if instruction.kind == Kind::Load && instruction.space == Space::Global {
            read[kernel].extend(record.addresses.iter().copied());
        }
    });
    for launch in 0..10 {
        let [first, second] = [&read[launch], &read[10 + launch]];
        let shared = first.intersection(second).count();
        let has_own = matches!(
            trace.kernels()[launch].info.name.as_str(),
            "cudaCoreGemm" | "paged_attention_v1"
        );
        assert!(
            !has_own || shared < first.len() / 2,
            "launch {launch}: {shared} of {}",
            first.len()
        );
        assert_eq!(first.len(), second.len());
    }
}

#[test]
fn a_split_context_adds_one_launch() {
    let infos = ran(Model { split: 16, ..SMALL }, 1, 40).infos;
    let attention: Vec<_> = infos[4..6].iter().map(|info| (&*info.name, info.grid)).collect();
    let expected = [("paged_attention_v2", [4, 1, 3]), ("paged_attention_v2_reduce", [4, 1, 1])];
    assert_eq!((infos.len(), attention), (11, expected.to_vec()));
}

#[test]
fn oversized_models_are_refused() {
    let refusal = |model: Model| model.check(16, 1 << 13).unwrap_err().to_string();
    assert_eq!(refusal(Model { heads: 5, ..SMALL }), "--heads 5 is not a multiple of 2");
    assert_eq!(refusal(Model { head_size: 40, ..SMALL }), "--head-size 40 is not a multiple of 32");
    assert_eq!(
        refusal(Model { intermediate: 100, ..SMALL }),
        "--intermediate 100 is not a multiple of 8"
    );
    assert_eq!(refusal(Model { split: 24, ..SMALL }), "--split 24 is not a multiple of 16");
    let wide = Model { heads: 128, kv_heads: 128, head_size: 128, intermediate: 8, split: 0 };
    assert_eq!(refusal(wide), "805306368 weights of the attention are more than 2^28");
    let deep = Model { heads: 64, kv_heads: 8, head_size: 128, intermediate: 1 << 16, split: 0 };
    assert_eq!(refusal(deep), "2^30 weights of the feed-forward layer are more than 2^28");
    let llama = Model { heads: 32, kv_heads: 8, head_size: 128, intermediate: 14336, split: 0 };
    assert!(llama.check(16, 4096).is_ok());
}
