//! Gaussian elimination without pivoting: for each pivot, one launch computes the multipliers of
//! its column and one subtracts its row from the rows below. The host substitutes back.
//!
//! ```cuda
//! __global__ void Fan1(float *m, const float *a, int n, int t) {
//!     int x = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (x >= n - 1 - t) return;
//!     m[n * (x + t + 1) + t] = a[n * (x + t + 1) + t] / a[n * t + t];
//! }
//! __global__ void Fan2(const float *m, float *a, float *b, int n, int t) {
//!     int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
//!     if (x >= n - 1 - t) return;
//!     if (y >= n - t) return;
//!     a[n * (x + 1 + t) + (y + t)] -= m[n * (x + 1 + t) + t] * a[n * t + (y + t)];
//!     if (y == 0) b[x + 1 + t] -= m[n * (x + 1 + t) + (y + t)] * b[t];
//! }
//! ```
//!
//! As compiled, both read the pivot's row first.

use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "gaussian",
    summary: "Gaussian elimination, two launches per pivot",
    source: "Rodinia 3.1, gaussian (Che et al., IISWC 2009)",
    parameters: &[&[
        Parameter::count("n", 512, (2, 1 << 13), "rows", "Rows and columns"),
        Parameter::count("pivots", 4, (1, 1 << 13), "pivots", "Maximum pivots"),
        Parameter::count("block", 512, (1, 1024), "threads", "Threads per CTA of Fan1"),
        Parameter::count("side", 4, (1, 32), "threads", "Rows and columns of a CTA of Fan2"),
    ]],
    run: |gpu, arguments, random| {
        let system = system(arguments.count32("n"), random);
        let [pivots, block, side] = ["pivots", "block", "side"].map(|name| arguments.count32(name));
        gaussian(gpu, &system, pivots, [block, side]).map(drop)
    },
};

/// The system `a` x = `b`.
struct System {
    n: u32,
    a: Vec<f32>,
    b: Vec<f32>,
}

/// Generates small numbers, with a dominant diagonal so that no pivot is zero.
fn system(n: u32, random: &mut Random) -> System {
    let (mut a, b) = (small_floats(n * n, random), small_floats(n, random));
    for row in 0..n {
        a[(row * n + row) as usize] += (8 * n) as f32;
    }
    System { n, a, b }
}

/// The system on the device, and the multipliers of its rows.
#[derive(Clone, Copy)]
struct Elimination {
    n: u32,
    m: Array<f32>,
    a: Array<f32>,
    b: Array<f32>,
}

fn gaussian(
    gpu: &mut Gpu,
    system: &System,
    pivots: u32,
    [block, side]: [u32; 2],
) -> Result<Elimination, WorkloadError> {
    let n = system.n;
    let (a, b) = (gpu.upload(&system.a), gpu.upload(&system.b));
    let elimination = Elimination { n, m: gpu.zeros(a.len()), a, b };
    let fan1 = launch("Fan1", n, block, 12);
    let fan2 = Launch {
        name: "Fan2",
        grid: [n.div_ceil(side), n.div_ceil(side), 1],
        block: [side, side, 1],
        registers_per_thread: 16,
        shared_bytes: 0,
    };
    for t in 0..pivots.min(n - 1) {
        gpu.launch(&fan1, async |w| elimination.multipliers(w, t))?;
        gpu.launch(&fan2, async |w| elimination.subtract(w, t))?;
    }
    Ok(elimination)
}

impl Elimination {
    fn multipliers(&self, w: &Warp, t: u32) {
        let (n, x) = (self.n, w.global_x());
        w.exit_unless(x.lt(n - 1 - t));
        let at = (x + (t + 1)).mad(n, t);
        let pivot = self.a.first(w).offset(n * t + t).load();
        self.m.store(at, self.a.load(at).divided_by(pivot));
    }

    fn subtract(&self, w: &Warp, t: u32) {
        let (n, x, y) = (self.n, w.global_x(), w.global_y());
        w.exit_unless(x.lt(n - 1 - t));
        w.exit_unless(y.lt(n - t));
        let (row, column) = (x + (t + 1), y + t);
        let element = self.a.at(row.mad(n, column));
        let pivot = self.a.at(column + n * t).load();
        let multiplier = self.m.load(row.mad(n, t));
        element.store((-multiplier).mad(pivot, element.load()));
        w.when(y.eq(0), || {
            let (own, pivot) = (self.b.at(row), self.b.first(w).offset(t).load());
            let multiplier = self.m.load(row.mad(n, column));
            own.store((-multiplier).mad(pivot, own.load()));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    fn plain(System { n, a, b }: &System, pivots: u32) -> (Vec<f32>, Vec<f32>) {
        let (n, mut a, mut b) = (*n as usize, a.clone(), b.clone());
        for t in 0..(pivots as usize).min(n - 1) {
            for row in t + 1..n {
                let multiplier = a[row * n + t] / a[t * n + t];
                for column in t..n {
                    let pivot = a[t * n + column];
                    a[row * n + column] = (-multiplier).mul_add(pivot, a[row * n + column]);
                }
                b[row] = (-multiplier).mul_add(b[t], b[row]);
            }
        }
        (a, b)
    }

    #[test]
    fn elimination_matches_the_plain_algorithm() {
        for (n, pivots, shape) in
            [(2, 9, [512, 4]), (19, 30, [32, 4]), (40, 3, [16, 8]), (21, 20, [64, 1])]
        {
            let system = system(n, &mut Random::new(9));
            let run = run(|gpu| {
                let done = gaussian(gpu, &system, pivots, shape)?;
                Ok((gpu.download(done.a), gpu.download(done.b)))
            });
            assert_eq!(run.result, plain(&system, pivots), "{n} rows, {pivots} pivots");
            assert_eq!(run.trace().kernels().len() as u32, 2 * pivots.min(n - 1));
        }
    }

    #[test]
    fn the_remaining_matrix_is_triangular() {
        let system = system(24, &mut Random::new(2));
        let run = run(|gpu| {
            let done = gaussian(gpu, &system, 24, [512, 4])?;
            Ok(gpu.download(done.a))
        });
        let is_below = |at: &usize| at / 24 > at % 24;
        let largest =
            (0..24 * 24).filter(is_below).map(|at| run.result[at].abs()).fold(0.0, f32::max);
        assert!(largest < 1e-3, "{largest}");
    }

    #[test]
    fn lanes_of_a_column_read_rows_a_matrix_width_apart() {
        let system = system(96, &mut Random::new(2));
        let run = run(|gpu| gaussian(gpu, &system, 1, [32, 4]));
        let executed = run.warp(0);
        let loads = executed.iter().filter(|(i, _)| i.kind == Kind::Load);
        let apart = |addresses: &[u64]| {
            let distance = addresses[1] - addresses[0];
            assert!(addresses.windows(2).all(|pair| pair[1] - pair[0] == distance));
            distance
        };
        let distances: Vec<u64> = loads.map(|(_, r)| apart(r.active_addresses())).collect();
        assert_eq!(distances, [0, 4 * 96], "the pivot and its column");
    }
}
