//! A mixture-of-experts feed-forward layer: each token goes to a few experts, and popular experts
//! get most tokens.

mod kernel;

use half::f16;

use super::decode_layer::activation::SiluAndMul;
use super::halves::{activations, weights};
use super::prelude::*;
use kernel::{COLUMNS, Grouped, launch_sum};

pub const GENERATOR: Generator = Generator {
    name: "moe",
    summary: "mixture-of-experts layer: tokens gathered by expert, tiles of grouped products, sums",
    source: "vLLM 0.4, fused_moe_kernel (Triton), silu_and_mul, moe_sum; Mixtral (Jiang et al. 2024)",
    parameters: &[&[
        Parameter::count("tokens", 32, (1, 1 << 14), "tokens", "Tokens"),
        Parameter::count("experts", 8, (1, 256), "experts", "Experts"),
        Parameter::count("top-k", 2, (1, 8), "experts", "Experts per token"),
        SKEW,
        Parameter::count(
            "hidden",
            256,
            (64, 1 << 14),
            "elements",
            "Elements per token, a multiple of 64",
        ),
        Parameter::count(
            "intermediate",
            256,
            (64, 1 << 16),
            "elements",
            "Width of an expert, a multiple of 64",
        ),
        Parameter::choice::<Rows>("rows", "16", "Tokens per tile: 16 for few tokens, 64 for many"),
    ]],
    run: |gpu, arguments, random| {
        let layer = Layer {
            tokens: arguments.count32("tokens"),
            experts: arguments.count32("experts"),
            top_k: arguments.count32("top-k"),
            hidden: arguments.count32("hidden"),
            intermediate: arguments.count32("intermediate"),
            rows: arguments.choice::<Rows>("rows").count(),
        };
        layer.check()?;
        let routes = Routes::drawn(&layer, arguments.hundredths("skew"), random);
        let input = activations(layer.tokens * layer.hidden, random);
        let [up, down] = layer.weights().map(|len| weights(len, random));
        forward(gpu, &layer, &routes, [&input, &up, &down]).map(drop)
    },
};

#[derive(Clone, Copy, Debug)]
enum Rows {
    Few,
    Many,
}

impl Rows {
    fn count(self) -> u32 {
        match self {
            Rows::Few => 16,
            Rows::Many => 64,
        }
    }
}

impl Choice for Rows {
    const NAMES: &'static [(&'static str, Rows)] = &[("16", Rows::Few), ("64", Rows::Many)];
}

#[derive(Clone, Copy, Debug)]
struct Layer {
    tokens: u32,
    experts: u32,
    top_k: u32,
    hidden: u32,
    intermediate: u32,
    rows: u32,
}

impl Layer {
    fn check(&self) -> Result<(), WorkloadError> {
        check_multiple("hidden", u64::from(self.hidden), u64::from(COLUMNS))?;
        check_multiple("intermediate", u64::from(self.intermediate), u64::from(COLUMNS))?;
        if self.top_k > self.experts {
            let message = format!("--top-k {} is more than --experts {}", self.top_k, self.experts);
            return Err(WorkloadError::Inconsistent { message });
        }
        check_entries("weights", 2 * self.experts * self.intermediate, self.hidden)?;
        check_entries("elements", self.slots(), 2 * self.intermediate.max(self.hidden))
    }

    /// Returns the number of slots, the pairs of a token and one of its experts.
    fn slots(&self) -> u32 {
        self.tokens * self.top_k
    }

    /// Returns the weights of gates and values of all experts, and of the projection back.
    fn weights(&self) -> [u32; 2] {
        let one = self.experts * self.hidden * self.intermediate;
        [2 * one, one]
    }
}

/// The assignment of tokens to experts.
struct Routes {
    /// Expert of each slot.
    experts: Vec<u32>,
    weights: Vec<f32>,
}

impl Routes {
    /// Draws distinct experts for each token; any experts may be the popular ones.
    fn drawn(layer: &Layer, skew: u64, random: &mut Random) -> Routes {
        let zipf = Zipf::new(layer.experts, skew);
        let mut by_rank: Vec<u32> = (0..layer.experts).collect();
        random.shuffle(&mut by_rank);
        let mut experts: Vec<u32> = Vec::with_capacity(layer.slots() as usize);
        for _ in 0..layer.tokens {
            let first = experts.len();
            while experts.len() < first + layer.top_k as usize {
                let expert = by_rank[zipf.draw(random) as usize];
                if !experts[first..].contains(&expert) {
                    experts.push(expert);
                }
            }
        }
        // Multiples of 1/8, so that their products with small numbers are exact.
        let weights = experts.iter().map(|_| (1 + random.index(8)) as f32 / 8.0).collect();
        Routes { experts, weights }
    }

    /// Returns the slots by expert, each expert's padded to whole blocks of `rows`, and the expert
    /// of each block.
    fn sorted(&self, layer: &Layer) -> [Vec<u32>; 2] {
        let (mut ids, mut blocks) = (Vec::new(), Vec::new());
        for expert in 0..layer.experts {
            let own = (0..).zip(&self.experts).filter(|&(_, &of)| of == expert);
            ids.extend(own.map(|(slot, _)| slot));
            ids.resize(ids.len().next_multiple_of(layer.rows as usize), layer.slots());
            blocks.resize(ids.len() / layer.rows as usize, expert);
        }
        [ids, blocks]
    }
}

/// Returns the tokens' results.
fn forward(
    gpu: &mut Gpu,
    layer: &Layer,
    routes: &Routes,
    [input, up, down]: [&[f16]; 3],
) -> Result<Array<f16>, WorkloadError> {
    let &Layer { tokens, top_k, hidden, intermediate, rows, .. } = layer;
    let [ids, blocks] = routes.sorted(layer);
    let per_slot = u64::from(layer.slots());
    let first = Grouped {
        a: gpu.upload(input),
        b: gpu.upload(up),
        c: gpu.zeros(2 * per_slot * u64::from(intermediate)),
        sorted_ids: gpu.upload(&ids),
        expert_ids: gpu.upload(&blocks),
        weights: None,
        slots: layer.slots(),
        per_row: top_k,
        rows,
        n: 2 * intermediate,
        k: hidden,
    };
    first.launch(gpu)?;
    let act = gpu.zeros(per_slot * u64::from(intermediate));
    SiluAndMul { input: first.c, out: act, d: intermediate }.launch(gpu, layer.slots())?;
    let second = Grouped {
        a: act,
        b: gpu.upload(down),
        c: gpu.zeros(per_slot * u64::from(hidden)),
        weights: Some(gpu.upload(&routes.weights)),
        per_row: 1,
        n: hidden,
        k: intermediate,
        ..first
    };
    second.launch(gpu)?;
    let out = gpu.zeros(u64::from(tokens * hidden));
    launch_sum(gpu, [second.c, out], [tokens, top_k, hidden])?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::super::decode_layer::activation;
    use super::super::linear;
    use super::super::testing::*;
    use super::*;

    const SMALL: Layer =
        Layer { tokens: 20, experts: 4, top_k: 2, hidden: 128, intermediate: 64, rows: 16 };

    struct Inputs {
        routes: Routes,
        input: Vec<f16>,
        up: Vec<f16>,
        down: Vec<f16>,
    }

    fn drawn(layer: &Layer) -> Inputs {
        let mut random = Random::new(3);
        let routes = Routes::drawn(layer, 100, &mut random);
        let input = activations(layer.tokens * layer.hidden, &mut random);
        let [up, down] = layer.weights().map(|len| weights(len, &mut random));
        Inputs { routes, input, up, down }
    }

    /// Passes every token through each of its experts in double precision.
    fn plain(layer: &Layer, Inputs { routes, input, up, down }: &Inputs) -> Vec<f16> {
        let (hidden, top_k) = (layer.hidden as usize, layer.top_k as usize);
        let size = hidden * layer.intermediate as usize;
        let of_slot = |token: &[f16], slot: usize| -> Vec<f64> {
            let expert = routes.experts[slot] as usize;
            let gate_up = linear::plain(token, &up[2 * expert * size..][..2 * size], hidden);
            let act = activation::plain(&gate_up);
            let down = &down[expert * size..][..size];
            let out = linear::plain(&act, down, layer.intermediate as usize);
            out.iter().map(|x| x.to_f64() * f64::from(routes.weights[slot])).collect()
        };
        let of_token = |(token, input): (usize, &[f16])| {
            let slots: Vec<Vec<f64>> =
                (0..top_k).map(|e| of_slot(input, token * top_k + e)).collect();
            let sum = |d: usize| f16::from_f64(slots.iter().map(|slot| slot[d]).sum());
            (0..hidden).map(sum).collect::<Vec<_>>()
        };
        input.chunks_exact(hidden).enumerate().flat_map(of_token).collect()
    }

    #[test]
    fn tokens_pass_through_their_experts() {
        for layer in [
            SMALL,
            Layer { tokens: 150, rows: 64, ..SMALL },
            Layer { tokens: 3, experts: 6, top_k: 3, hidden: 64, intermediate: 320, rows: 16 },
            Layer { tokens: 1, experts: 1, top_k: 1, ..SMALL },
        ] {
            let inputs = drawn(&layer);
            let Inputs { routes, input, up, down } = &inputs;
            let run = run(|gpu| {
                let out = forward(gpu, &layer, routes, [input, up, down])?;
                Ok(gpu.download(out))
            });
            let expected = plain(&layer, &inputs);
            assert_eq!(run.result.len(), expected.len());
            let error = |(a, b): (&f16, &f16)| (a.to_f64() - b.to_f64()).abs();
            let worst = run.result.iter().zip(&expected).map(error).fold(0.0, f64::max);
            let largest = expected.iter().map(|x| x.to_f64().abs()).fold(0.0, f64::max);
            assert!(worst <= largest / 256.0, "{layer:?}: {worst} of {largest}");
        }
    }

    #[test]
    fn blocks_have_one_expert_and_every_slot_once() {
        let layer = Layer { tokens: 100, ..SMALL };
        let routes = drawn(&layer).routes;
        let [ids, blocks] = routes.sorted(&layer);
        assert_eq!(ids.len(), 16 * blocks.len());
        for (ids, &expert) in ids.chunks(16).zip(&blocks) {
            let is_own = |&&slot: &&u32| slot < 200 && routes.experts[slot as usize] == expert;
            let own = ids.iter().filter(is_own).count();
            let padding = ids.iter().filter(|&&slot| slot == 200).count();
            assert!(own > 0 && own + padding == 16, "{ids:?}");
        }
        let mut slots: Vec<u32> = ids.into_iter().filter(|&slot| slot < 200).collect();
        slots.sort_unstable();
        assert_eq!(slots, (0..200).collect::<Vec<_>>());
        for token in routes.experts.chunks(2) {
            assert_ne!(token[0], token[1]);
        }
    }

    #[test]
    fn weights_are_copied_once_for_each_block_of_their_expert() {
        let inputs = drawn(&SMALL);
        let Inputs { routes, input, up, down } = &inputs;
        let [_, blocks] = routes.sorted(&SMALL);
        let run = run(|gpu| forward(gpu, &SMALL, routes, [input, up, down]));
        let bytes = 16 * run.accesses(Kind::AsyncCopy).len();
        // Gate and up, then down; and the tokens once for each 64 columns.
        let of_weights = blocks.len() * 3 * 128 * 64 * 2;
        let of_tokens = 40 * (2 * 128 * 2 + 2 * 64 * 2);
        assert_eq!(bytes, of_weights + of_tokens);
        let [copies, waited] = run.copies_and_waited();
        assert!(copies > 0 && waited == copies, "{waited} of {copies}");
    }

    #[test]
    fn oversized_layers_are_refused() {
        let refusal = |layer: Layer| layer.check().unwrap_err().to_string();
        assert_eq!(refusal(Layer { hidden: 100, ..SMALL }), "--hidden 100 is not a multiple of 64");
        assert_eq!(
            refusal(Layer { intermediate: 96, ..SMALL }),
            "--intermediate 96 is not a multiple of 64"
        );
        assert_eq!(refusal(Layer { top_k: 5, ..SMALL }), "--top-k 5 is more than --experts 4");
        let wide = Layer { experts: 128, hidden: 4096, intermediate: 4096, ..SMALL };
        assert_eq!(refusal(wide), "2^32 weights are more than 2^28");
    }
}
