//! Fast Walsh-Hadamard transform, applied to the dyadic convolution of a long array with a short
//! one: both are transformed and multiplied element by element, and the product is transformed
//! back. Butterflies of four distant elements run in global memory, one launch per distance; once
//! the parts are short enough, the remaining stages run in shared memory.
//!
//! ```cuda
//! __device__ void butterfly(float *data, int i0, int stride);   // four elements, `stride` apart
//! __global__ void fwtBatch1Kernel(float *data, int log2N) {
//!     const int N = 1 << log2N;
//!     float *part = data + (blockIdx.x << log2N);
//!     extern __shared__ float s[];
//!     for (int i = threadIdx.x; i < N; i += blockDim.x) s[i] = part[i];
//!     for (int stride = N >> 2; stride > 0; stride >>= 2) {
//!         int lo = threadIdx.x & (stride - 1);
//!         __syncthreads();
//!         butterfly(s, ((threadIdx.x - lo) << 2) + lo, stride);
//!     }
//!     if (log2N & 1) {
//!         __syncthreads();
//!         for (int i = threadIdx.x; i < N / 2; i += blockDim.x) {
//!             float a = s[2 * i], b = s[2 * i + 1];
//!             s[2 * i] = a + b; s[2 * i + 1] = a - b;
//!         }
//!     }
//!     __syncthreads();
//!     for (int i = threadIdx.x; i < N; i += blockDim.x) part[i] = s[i];
//! }
//! __global__ void fwtBatch2Kernel(float *data, int stride) {
//!     int i = blockIdx.x * blockDim.x + threadIdx.x, lo = i & (stride - 1);
//!     butterfly(data, ((i - lo) << 2) + lo, stride);
//! }
//! __global__ void modulateKernel(float *a, const float *b, int n) {
//!     float rcpN = 1.0f / (float)n;
//!     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) a[i] *= b[i] * rcpN;
//! }
//! ```
//!
//! `stride` and `n` are powers of two, so their masks and the reciprocal are constants here. As
//! compiled, `b[i]` is read before `a[i]`.

use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "fwt",
    summary: "dyadic convolution by fast Walsh transforms: distant butterflies in global memory, then in shared memory",
    source: "CUDA samples, fastWalshTransform",
    parameters: &[&[
        Parameter::count("n", 1 << 18, (4, 1 << 26), "elements", "Length, a power of two"),
        Parameter::count("kernel", 128, (1, 1 << 26), "elements", "Length of the other array"),
    ]],
    run: |gpu, arguments, random| {
        let [n, kernel] = ["n", "kernel"].map(|name| arguments.count32(name));
        check_lengths(n, kernel)?;
        let (data, kernel) = (small_floats(n, random), small_floats(kernel, random));
        convolve(gpu, &data, &kernel).map(drop)
    },
};

fn check_lengths(n: u32, kernel: u32) -> Result<(), WorkloadError> {
    check_power_of_two("n", n.into())?;
    if kernel <= n {
        return Ok(());
    }
    let [kernel, n] = [kernel, n].map(|length| show_count(length.into()));
    let message = format!("--kernel {kernel} is more than --n {n}");
    Err(WorkloadError::Inconsistent { message })
}

/// Log2 of the elements transformed in shared memory, at most.
const ELEMENTARY_LOG2: u32 = 11;
/// Threads per CTA in global memory.
const THREADS: u32 = 256;

/// Returns the dyadic convolution of `data` and `kernel`: element `i ^ j` sums the products of
/// elements `i` and `j`.
fn convolve(gpu: &mut Gpu, data: &[f32], kernel: &[f32]) -> Result<Array<f32>, WorkloadError> {
    let mut padded = kernel.to_vec();
    padded.resize(data.len(), 0.0);
    let (kernel, data) = (gpu.upload(&padded), gpu.upload(data));
    transform(gpu, kernel)?;
    transform(gpu, data)?;
    gpu.launch(&grid_of("modulateKernel", 128, 256, 16), async |w| modulate(w, data, kernel))?;
    transform(gpu, data)?;
    Ok(data)
}

/// Transforms `data` in place.
fn transform(gpu: &mut Gpu, data: Array<f32>) -> Result<(), WorkloadError> {
    let n = data.len() as u32;
    let (mut log2, mut parts) = (n.ilog2(), 1);
    while log2 > ELEMENTARY_LOG2 {
        let stride = 1 << (log2 - 2);
        let launch = grid_of("fwtBatch2Kernel", n / (4 * THREADS), THREADS, 16);
        gpu.launch(&launch, async |w| far(w, data, stride))?;
        (log2, parts) = (log2 - 2, parts << 2);
    }
    let length = 1 << log2;
    let launch = grid_of("fwtBatch1Kernel", parts, length / 4, 20);
    let launch = Launch { shared_bytes: 4 * length, ..launch };
    gpu.launch(&launch, async |w| near(w, data, log2).await)
}

/// Returns the first element of butterfly `i`; `mask` is the distance of its elements minus one.
fn first_of<'w>(i: Lanes<'w, u32>, mask: impl Operand<u32>) -> Lanes<'w, u32> {
    let lo = i & mask;
    ((i - lo) << 2) + lo
}

/// Applies two stages at once.
fn butterfly(elements: [Pointer<'_, f32>; 4]) {
    let [a, b, c, d] = elements.map(Pointer::load);
    let (a, c) = (a + c, a - c);
    let (b, d) = (b + d, b - d);
    let [to_a, to_b, to_c, to_d] = elements;
    to_a.store(a + b);
    to_b.store(a - b);
    to_c.store(c + d);
    to_d.store(c - d);
}

fn far(w: &Warp, data: Array<f32>, stride: u32) {
    let first = first_of(w.global_x(), stride - 1);
    butterfly([0, 1, 2, 3].map(|k| data.at(first + k * stride)));
}

async fn near(w: &Warp, data: Array<f32>, log2: u32) {
    let n = 1 << log2;
    let part = w.block_x() << log2;
    let (s, thread) = (w.shared::<f32>(n), w.thread_x());
    w.range(thread, n, w.block_width(), |i| s.at(i).store(data.load(part + i)));
    let stride = w.var(n >> 2);
    w.do_while_in_step(async || {
        let first = first_of(thread, stride.get() - 1);
        w.barrier().await;
        let second = first + &stride;
        let third = second + &stride;
        butterfly([first, second, third, third + &stride].map(|i| s.at(i)));
        stride.set(stride.get() >> 2);
        stride.get().ne(0)
    })
    .await;
    if log2 % 2 == 1 {
        w.barrier().await;
        w.range(thread, n / 2, w.block_width(), |i| {
            let pair = s.at(i << 1);
            let (a, b) = (pair.load(), pair.offset(1).load());
            pair.store(a + b);
            pair.offset(1).store(a - b);
        });
    }
    w.barrier().await;
    w.range(thread, n, w.block_width(), |i| data.store(part + i, s.at(i).load()));
}

fn modulate(w: &Warp, a: Array<f32>, b: Array<f32>) {
    let n = a.len() as u32;
    let inverse = 1.0 / n as f32;
    w.range(w.global_x(), n, w.grid_width() * w.block_width(), |i| {
        let (element, factor) = (a.at(i), b.load(i) * inverse);
        element.store(element.load() * factor);
    });
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    /// Sums all elements with the sign given by the parity of the bits that their index and the
    /// result's share.
    fn plain(data: &[f32]) -> Vec<f32> {
        let sign =
            |i: usize, j: usize| if (i & j).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 };
        let sum = |i| data.iter().enumerate().map(|(j, value)| sign(i, j) * value).sum();
        (0..data.len()).map(sum).collect()
    }

    #[test]
    fn transforms_are_walsh_hadamard_transforms() {
        for log2 in [2, 3, 7, 8, 11, 12] {
            let data = small_floats(1 << log2, &mut Random::new(7));
            let run = run(|gpu| {
                let array = gpu.upload(&data);
                transform(gpu, array)?;
                Ok(gpu.download(array))
            });
            assert_eq!(run.result, plain(&data), "2^{log2} elements");
            assert_eq!(run.trace().kernels().len(), 1 + usize::from(log2 > 11));
        }
    }

    #[test]
    fn the_convolution_is_dyadic() {
        let mut random = Random::new(7);
        let (data, kernel) = (small_floats(256, &mut random), small_floats(20, &mut random));
        let run = run(|gpu| {
            let result = convolve(gpu, &data, &kernel)?;
            Ok(gpu.download(result))
        });
        let element = |i: usize| -> f32 {
            kernel.iter().enumerate().map(|(j, value)| value * data[i ^ j]).sum()
        };
        assert_eq!(run.result, (0..256).map(element).collect::<Vec<_>>());
    }

    #[test]
    fn distant_butterflies_are_coalesced_and_near_ones_have_bank_conflicts() {
        let run = run(|gpu| {
            let array = gpu.upload(&[1.0; 1 << 12]);
            transform(gpu, array)
        });
        let far = run.warp(1);
        let lines = |addresses: &[u64]| addresses[31] / 128 - addresses[0] / 128 + 1;
        let spans: Vec<u64> = far
            .iter()
            .filter(|(i, _)| i.kind.is_memory())
            .map(|(_, r)| lines(r.active_addresses()))
            .collect();
        assert_eq!(spans, [1; 8]);
        let mut apart = Vec::new();
        visit_records(run.trace(), |kernel, warp, instruction, record| {
            if (kernel, warp) == (1, 0)
                && (instruction.kind, instruction.space) == (Kind::Load, Space::Shared)
            {
                let addresses = record.active_addresses();
                apart.push((addresses[1] - addresses[0]) / 4);
            }
        });
        // Strides of 256, 64, 16, 4 and 1, four loads each, and finally the loads for the store to
        // memory.
        let strides = [1, 1, 1, 1, 4].map(|apart| [apart; 4]).concat();
        assert_eq!(apart, [strides, vec![1; 4]].concat());
    }

    #[test]
    fn inconsistent_lengths_are_refused() {
        let refusal = |n, kernel| check_lengths(n, kernel).unwrap_err().to_string();
        assert_eq!(refusal(48, 4), "--n 48 is not a power of two");
        assert_eq!(refusal(64, 65), "--kernel 65 is more than --n 64");
        assert!(check_lengths(64, 64).is_ok());
    }
}
