//! One double per thread and no loop: bandwidth as a function of CTA size and CTAs per SM.
//!
//! ```cuda
//! __global__ void element_triad(double *a, const double *b, const double *c, int n) {
//!     __shared__ char unused[SHARED];                   // limits the CTAs of an SM
//!     int i = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (i >= n) return;                               // sum3: i < 1 || i >= n - 1; sum5: by two
//!     a[i] = b[i] * 3.0 + c[i];                         // init: 3.0; scale: b[i] * 3.0
//! }       // read: if (b[i] == 123.0) a[i] = b[i]; sum3: 0.5 * b[i - 1] - b[i] + 0.5 * b[i + 1]
//! ```

use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "element-stream",
    summary: "init, read, scale, triad, 3- or 5-point sum, one double per thread without a loop",
    source: "gpu-benches: gpu-stream, gpu-small-kernels",
    parameters: &[&[
        Parameter::choice::<Operation>("op", "triad", "Operation"),
        Parameter::count("n", 1 << 20, (5, 1 << 28), "doubles", "Length of each vector"),
        BLOCK,
        Parameter::count(
            "shared",
            0,
            (0, 227 << 10),
            "bytes",
            "Unused shared memory per CTA, which limits the CTAs of an SM",
        ),
        Parameter::count(
            "launches",
            1,
            (1, 1 << 16),
            "launches",
            "Launches in a row; every second one exchanges the vectors a and b",
        ),
    ]],
    run: |gpu, arguments, _| {
        let shape = Shape {
            n: arguments.count32("n"),
            block: arguments.count32("block"),
            shared_bytes: arguments.count32("shared"),
        };
        stream(gpu, arguments.choice("op"), &shape, arguments.count32("launches")).map(drop)
    },
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Operation {
    Init,
    Read,
    Scale,
    Triad,
    Sum3,
    Sum5,
}

impl Choice for Operation {
    const NAMES: &'static [(&'static str, Operation)] = &[
        ("init", Operation::Init),
        ("read", Operation::Read),
        ("scale", Operation::Scale),
        ("triad", Operation::Triad),
        ("sum3", Operation::Sum3),
        ("sum5", Operation::Sum5),
    ];
}

impl Operation {
    fn kernel(self) -> &'static str {
        match self {
            Operation::Init => "element_init",
            Operation::Read => "element_read",
            Operation::Scale => "element_scale",
            Operation::Triad => "element_triad",
            Operation::Sum3 => "element_sum3",
            Operation::Sum5 => "element_sum5",
        }
    }

    /// Elements at either end of the vectors that the operation leaves out.
    fn margin(self) -> u32 {
        match self {
            Operation::Sum3 => 1,
            Operation::Sum5 => 2,
            _ => 0,
        }
    }
}

struct Shape {
    n: u32,
    block: u32,
    shared_bytes: u32,
}

const SCALAR: f64 = 3.0;

/// Launches the operation `launches` times; returns the vectors a and b.
fn stream(
    gpu: &mut Gpu,
    operation: Operation,
    &Shape { n, block, shared_bytes }: &Shape,
    launches: u32,
) -> Result<[Array<f64>; 2], WorkloadError> {
    let upload = |gpu: &mut Gpu, of: fn(u32) -> u32| {
        gpu.upload(&(0..n).map(|i| f64::from(of(i))).collect::<Vec<_>>())
    };
    let vectors = [upload(gpu, |_| 0), upload(gpu, |i| i % 8)];
    let c = match operation {
        Operation::Triad => upload(gpu, |i| i % 5),
        _ => vectors[1],
    };
    let grid = grid_of(operation.kernel(), n / block + 1, block, 16);
    let launch = Launch { shared_bytes, ..grid };
    for number in 0..launches {
        let [a, b] = if number % 2 == 0 { vectors } else { [vectors[1], vectors[0]] };
        gpu.launch(&launch, async |w| element(w, operation, n, [a, b, c]))?;
    }
    Ok(vectors)
}

fn element(w: &Warp, operation: Operation, n: u32, [a, b, c]: [Array<f64>; 3]) {
    let i = w.global_x();
    w.exit_unless(match operation.margin() {
        0 => i.lt(n),
        margin => (i - margin).lt(n - 2 * margin),
    });
    match operation {
        Operation::Init => a.store(i, SCALAR),
        Operation::Read => {
            let value = b.load(i);
            w.predicated(value.eq(123.0), || a.store(i, value));
        }
        Operation::Scale => a.store(i, b.load(i) * SCALAR),
        Operation::Triad => {
            let (scaled, base) = (b.load(i), c.load(i));
            a.store(i, scaled.mad(SCALAR, base));
        }
        Operation::Sum3 => {
            let p = b.at(i);
            let [before, here, after] = [p.before(1), p, p.offset(1)].map(Pointer::load);
            a.store(i, after.mad(0.5, before * 0.5 - here));
        }
        Operation::Sum5 => {
            let p = b.at(i);
            let places = [p.before(2), p.before(1), p, p.offset(1), p.offset(2)];
            let [first, before, here, after, last] = places.map(Pointer::load);
            let left = before.mad(0.25, first * 0.25) - here;
            a.store(i, last.mad(0.5, after.mad(0.5, left)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    fn expected(operation: Operation, b: &[f64], i: usize) -> f64 {
        match operation {
            Operation::Init => 3.0,
            Operation::Read => 0.0,
            Operation::Scale => 3.0 * b[i],
            Operation::Triad => 3.0 * b[i] + (i % 5) as f64,
            Operation::Sum3 => 0.5 * b[i - 1] - b[i] + 0.5 * b[i + 1],
            Operation::Sum5 => {
                0.25 * b[i - 2] + 0.25 * b[i - 1] - b[i] + 0.5 * b[i + 1] + 0.5 * b[i + 2]
            }
        }
    }

    #[test]
    fn every_operation_computes_its_formula_one_element_per_thread() {
        let n = 1000usize;
        let b: Vec<f64> = (0..n).map(|i| (i % 8) as f64).collect();
        let loads = [0, n, n, 2 * n, 3 * (n - 2), 5 * (n - 4)];
        for (&(name, operation), loads) in Operation::NAMES.iter().zip(loads) {
            let shape = Shape { n: n as u32, block: 96, shared_bytes: 48 << 10 };
            let run = run(|gpu| {
                let [a, _] = stream(gpu, operation, &shape, 1)?;
                Ok(gpu.download(a))
            });
            let margin = operation.margin() as usize;
            for (i, &value) in run.result.iter().enumerate() {
                let is_inside = (margin..n - margin).contains(&i);
                let expected = if is_inside { expected(operation, &b, i) } else { 0.0 };
                assert_eq!(value, expected, "{name} {i}");
            }
            assert_eq!(run.accesses(Kind::Load).len(), loads, "{name}");
            let info = &run.trace().kernels()[0].info;
            assert_eq!((info.grid[0], info.shared_bytes), (11, 48 << 10));
        }
    }

    #[test]
    fn launches_in_a_row_exchange_the_vectors() {
        let shape = Shape { n: 100, block: 32, shared_bytes: 0 };
        let run = run(|gpu| {
            let vectors = stream(gpu, Operation::Scale, &shape, 2)?;
            Ok(vectors.map(|vector| gpu.download(vector)[7]))
        });
        assert_eq!(run.trace().kernels().len(), 2);
        assert_eq!(run.result, [21.0, 63.0]);
        assert_eq!(run.addresses(Kind::Load), run.addresses(Kind::Store));
    }
}
