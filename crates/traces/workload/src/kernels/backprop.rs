//! Back-propagation in a network with one hidden layer of 16 units: one launch sums the weighted
//! inputs, one updates the weights. The host computes the small remainder between them.
//!
//! ```cuda
//! // 16 × 16 threads for 16 inputs and the 16 hidden units; row and column 0 of the weights are those of the thresholds.
//! __global__ void bpnn_layerforward_CUDA(const float *input, float *weights, float *partial_sum, int hid) {
//!     int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
//!     int index = (hid + 1) * 16 * by + (hid + 1) * ty + tx + 1 + (hid + 1), index_in = 16 * by + ty + 1;
//!     __shared__ float input_node[16], weight_matrix[16][16];
//!     if (tx == 0) input_node[ty] = input[index_in];
//!     __syncthreads();
//!     weight_matrix[ty][tx] = weights[index];
//!     __syncthreads();
//!     weight_matrix[ty][tx] *= input_node[ty];
//!     __syncthreads();
//!     for (int i = 1; i <= 4; i++) {              // __log2f(16), and __powf(2, i) below
//!         int power_two = 1 << i;
//!         if (ty % power_two == 0) weight_matrix[ty][tx] += weight_matrix[ty + power_two / 2][tx];
//!         __syncthreads();
//!     }
//!     weights[index] = weight_matrix[ty][tx];
//!     __syncthreads();
//!     if (tx == 0) partial_sum[by * hid + ty] = weight_matrix[tx][ty];
//! }
//! __global__ void bpnn_adjust_weights_cuda(const float *delta, int hid, const float *ly, float *w, float *oldw) {
//!     int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
//!     int index = (hid + 1) * 16 * by + (hid + 1) * ty + tx + 1 + (hid + 1), index_y = 16 * by + ty + 1, index_x = tx + 1;
//!     w[index] += ETA * delta[index_x] * ly[index_y] + MOMENTUM * oldw[index];
//!     oldw[index] = ETA * delta[index_x] * ly[index_y] + MOMENTUM * oldw[index];
//!     __syncthreads();
//!     if (ty == 0 && by == 0) {
//!         w[index_x] += ETA * delta[index_x] + MOMENTUM * oldw[index_x];
//!         oldw[index_x] = ETA * delta[index_x] + MOMENTUM * oldw[index_x];
//!     }
//! }
//! ```
//!
//! As compiled: `w` may alias the inputs, so everything is read again after the first store. The
//! loop over the powers of two is unrolled, and the constants are single precision (double in
//! Rodinia).

use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "backprop",
    summary: "back-propagation through a hidden layer: weighted sums in shared memory, then weight updates",
    source: "Rodinia 3.1, backprop (Che et al., IISWC 2009)",
    parameters: &[&[
        Parameter::count("inputs", 1 << 14, (16, 1 << 20), "units", "Inputs, a multiple of 16"),
        Parameter::count("iterations", 1, (1, 1 << 10), "rounds", "Rounds of training"),
    ]],
    run: |gpu, arguments, random| {
        check_multiple("inputs", arguments.count("inputs"), SIDE.into())?;
        let network = Network::random(arguments.count32("inputs"), random);
        network.train(gpu, arguments.count32("iterations")).map(drop)
    },
};

/// Hidden units; rows and columns of a CTA.
const SIDE: u32 = 16;
/// Pitch of the weights: the hidden units and their threshold.
const PITCH: u32 = SIDE + 1;
/// Learning rate and momentum.
const ETA: f32 = 0.3;
const MOMENTUM: f32 = 0.3;
/// Target output.
const TARGET: f32 = 0.1;

/// The network. Unit 0 of each layer is the threshold, always 1.
struct Network {
    inputs: Vec<f32>,
    /// Weights from each input to each hidden unit, rows of `PITCH`.
    weights: Vec<f32>,
    /// Weights from each hidden unit to the output.
    output_weights: [f32; PITCH as usize],
}

impl Network {
    /// Generates a network whose weights are multiples of 1/256 around zero, so that sums are exact
    /// in any order.
    fn random(inputs: u32, random: &mut Random) -> Network {
        let mut weight = || (random.index(8) as f32 - 3.5) / 128.0;
        let weights = (0..(inputs + 1) * PITCH).map(|_| weight()).collect();
        let output_weights = [0.0; PITCH as usize].map(|_| weight());
        let mut inputs = small_floats(inputs + 1, random);
        inputs[0] = 1.0;
        Network { inputs, weights, output_weights }
    }

    fn ctas(&self) -> u32 {
        (self.inputs.len() as u32 - 1) / SIDE
    }

    /// Returns the weights of the inputs after `iterations` rounds.
    fn train(&self, gpu: &mut Gpu, iterations: u32) -> Result<Vec<f32>, WorkloadError> {
        let (mut weights, mut output_weights) = (self.weights.clone(), self.output_weights);
        let layer = Layer {
            inputs: gpu.upload(&self.inputs),
            weights: gpu.zeros(weights.len() as u64),
            last_change: gpu.zeros(weights.len() as u64),
            partial_sums: gpu.zeros(u64::from(self.ctas() * SIDE)),
            delta: gpu.zeros(PITCH.into()),
        };
        let launch = |name, registers_per_thread, shared_bytes| Launch {
            name,
            grid: [1, self.ctas(), 1],
            block: [SIDE, SIDE, 1],
            registers_per_thread,
            shared_bytes,
        };
        let forward = launch("bpnn_layerforward_CUDA", 12, 4 * (SIDE + SIDE * SIDE));
        let adjust = launch("bpnn_adjust_weights_cuda", 18, 0);
        for _ in 0..iterations {
            gpu.copy_to(layer.weights, &weights);
            gpu.launch(&forward, async |w| layer.forward(w).await)?;
            let hidden = hidden_units(&weights, &gpu.download(layer.partial_sums));
            let delta = propagate(&hidden, &mut output_weights);
            gpu.copy_to(layer.weights, &weights);
            gpu.copy_to(layer.delta, &delta);
            gpu.launch(&adjust, async |w| layer.adjust(w).await)?;
            weights = gpu.download(layer.weights);
        }
        Ok(weights)
    }
}

/// Computes the hidden units from their threshold weights and the sums of the CTAs.
fn hidden_units(weights: &[f32], partial_sums: &[f32]) -> [f32; PITCH as usize] {
    std::array::from_fn(|unit| match unit {
        0 => 1.0,
        unit => {
            let sums = partial_sums.chunks_exact(SIDE as usize).map(|sums| sums[unit - 1]);
            squash(sums.sum::<f32>() + weights[unit])
        }
    })
}

fn squash(x: f32) -> f32 {
    1.0 / (1.0 + libm::expf(-x))
}

/// Updates the weights of the output; returns the errors of the hidden units.
fn propagate(
    hidden: &[f32; PITCH as usize],
    weights: &mut [f32; PITCH as usize],
) -> [f32; PITCH as usize] {
    let output = squash(hidden.iter().zip(&*weights).map(|(unit, weight)| unit * weight).sum());
    let error = output * (1.0 - output) * (TARGET - output);
    let delta =
        std::array::from_fn(|unit| hidden[unit] * (1.0 - hidden[unit]) * error * weights[unit]);
    for (weight, unit) in weights.iter_mut().zip(hidden) {
        *weight += ETA * error * unit;
    }
    delta
}

/// The inputs and their weights on the device.
#[derive(Clone, Copy)]
struct Layer {
    inputs: Array<f32>,
    weights: Array<f32>,
    last_change: Array<f32>,
    partial_sums: Array<f32>,
    delta: Array<f32>,
}

impl Layer {
    async fn forward(&self, w: &Warp) {
        let (node, matrix) = (w.shared::<f32>(SIDE), w.shared::<f32>(SIDE * SIDE));
        let (by, tx, ty) = (w.block_y(), w.thread_x(), w.thread_y());
        let weight = self.weights.at(weight_index(by, tx, ty));
        let own_node = node.at(ty);
        w.when(tx.eq(0), || own_node.store(self.inputs.load(by.mad(SIDE, ty) + 1)));
        w.barrier().await;
        let own = matrix.at(ty.mad(SIDE, tx));
        own.store(weight.load());
        w.barrier().await;
        own.store(own.load() * own_node.load());
        w.barrier().await;
        for power in [2, 4, 8, 16] {
            w.when((ty & (power - 1)).eq(0), || {
                own.store(own.load() + own.offset(power / 2 * SIDE).load());
            });
            w.barrier().await;
        }
        weight.store(own.load());
        w.barrier().await;
        w.when(tx.eq(0), || {
            let sum = matrix.at(tx.mad(SIDE, ty)).load();
            self.partial_sums.store(by.mad(SIDE, ty), sum);
        });
    }

    async fn adjust(&self, w: &Warp) {
        let (by, tx, ty) = (w.block_y(), w.thread_x(), w.thread_y());
        let index = weight_index(by, tx, ty);
        let (weight, last) = (self.weights.at(index), self.last_change.at(index));
        let (delta, input) =
            (self.delta.at(tx).offset(1), self.inputs.at(by.mad(SIDE, ty)).offset(1));
        let change = || (delta.load() * ETA).mad(input.load(), last.load() * MOMENTUM);
        weight.store(change() + weight.load());
        last.store(change());
        w.barrier().await;
        w.when(ty.eq(0) & by.eq(0), || {
            let (weight, last) = (self.weights.at(tx).offset(1), self.last_change.at(tx).offset(1));
            let change = || delta.load().mad(ETA, last.load() * MOMENTUM);
            weight.store(change() + weight.load());
            last.store(change());
        });
    }
}

/// Returns the index of the weight from input 16 `by` + `ty` to hidden unit `tx`, both counted
/// without the threshold.
fn weight_index<'w>(by: Lanes<'w, u32>, tx: Lanes<'w, u32>, ty: Lanes<'w, u32>) -> Lanes<'w, u32> {
    by.mad(SIDE, ty).mad(PITCH, tx) + (1 + PITCH)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    /// Runs a round of training on the host.
    fn plain_round(
        network: &Network,
        weights: &mut [f32],
        last: &mut [f32],
        output_weights: &mut [f32; 17],
    ) {
        let n = network.inputs.len();
        let hidden: [f32; 17] = std::array::from_fn(|unit| match unit {
            0 => 1.0,
            unit => squash((0..n).map(|i| network.inputs[i] * weights[i * 17 + unit]).sum()),
        });
        let output = squash(hidden.iter().zip(&*output_weights).map(|(h, w)| h * w).sum());
        let error = output * (1.0 - output) * (TARGET - output);
        let delta: Vec<f32> = (0..17)
            .map(|unit| hidden[unit] * (1.0 - hidden[unit]) * error * output_weights[unit])
            .collect();
        (0..17).for_each(|unit| output_weights[unit] += ETA * error * hidden[unit]);
        let rows = weights.chunks_exact_mut(17).zip(last.chunks_exact_mut(17));
        for ((weights, last), input) in rows.zip(&network.inputs) {
            let units = weights.iter_mut().zip(last).zip(&delta).skip(1);
            for ((weight, last), delta) in units {
                *last = (delta * ETA).mul_add(*input, *last * MOMENTUM);
                *weight += *last;
            }
        }
    }

    #[test]
    fn weight_updates_match_the_host() {
        for (inputs, iterations) in [(16, 1), (160, 1), (64, 4)] {
            let network = Network::random(inputs, &mut Random::new(3));
            let run = run(|gpu| network.train(gpu, iterations));
            let mut expected = network.weights.clone();
            let mut last = vec![0.0; expected.len()];
            let mut output_weights = network.output_weights;
            for _ in 0..iterations {
                plain_round(&network, &mut expected, &mut last, &mut output_weights);
            }
            let distance = |(a, b): (&f32, &f32)| (a - b).abs();
            let farthest = run.result.iter().zip(&expected).map(distance).fold(0.0, f32::max);
            assert!(farthest < 1e-6, "{inputs} inputs, {iterations} rounds: {farthest}");
            assert_ne!(run.result, network.weights);
        }
    }

    #[test]
    fn cta_sums_match_their_inputs() {
        let network = Network::random(48, &mut Random::new(5));
        let run = run(|gpu| {
            let zeros = |gpu: &mut Gpu, n| gpu.zeros(n);
            let layer = Layer {
                inputs: gpu.upload(&network.inputs),
                weights: gpu.upload(&network.weights),
                last_change: zeros(gpu, 1),
                partial_sums: zeros(gpu, 48),
                delta: zeros(gpu, 1),
            };
            let launch = Launch {
                grid: [1, 3, 1],
                block: [16, 16, 1],
                shared_bytes: 1088,
                ..grid_of("test", 1, 1, 8)
            };
            gpu.launch(&launch, async |w| layer.forward(w).await)?;
            Ok(gpu.download(layer.partial_sums))
        });
        let sum = |cta: usize, unit: usize| {
            let inputs = cta * 16 + 1..cta * 16 + 17;
            inputs.map(|i| network.inputs[i] * network.weights[i * 17 + unit + 1]).sum::<f32>()
        };
        let expected: Vec<f32> = (0..48).map(|at| sum(at / 16, at % 16)).collect();
        assert_eq!(run.result, expected);
    }

    #[test]
    fn a_warp_reads_two_rows_of_weights_with_a_gap_between_them() {
        let network = Network::random(32, &mut Random::new(3));
        let run = run(|gpu| network.train(gpu, 1));
        let executed = run.warp(1);
        let is_load =
            |i: &warpmem_trace::Instruction| (i.kind, i.space) == (Kind::Load, Space::Global);
        let loads: Vec<_> = executed.iter().filter(|(i, _)| is_load(i)).collect();
        assert_eq!(loads.len(), 2, "the inputs and the weights");
        assert_eq!(loads[0].1.mask, 1 << 16 | 1);
        let addresses = loads[1].1.active_addresses();
        assert_eq!([addresses[15] - addresses[0], addresses[16] - addresses[15]], [60, 8]);
    }
}
