//! Embedding bags: a warp per bag sums the table rows selected by the bag's indices, four floats
//! per lane.
//!
//! ```cuda
//! __global__ void embedding_bag_sum(const float *weights, const int64_t *weights_offsets, const int64_t *indices,
//!                                   const int64_t *offsets, float *output, FixedDivisor B, int T, int D) {
//!     int b_t = blockIdx.x * blockDim.y + threadIdx.y, t, b;
//!     if (b_t >= B * T) return;
//!     B.DivMod(b_t, &t, &b);
//!     const float *table = weights + weights_offsets[t] + 4 * threadIdx.x;
//!     int64_t start = offsets[b_t];
//!     int L = offsets[b_t + 1] - start;
//!     float4 sum[VECS] = {};
//!     for (int l_start = 0; l_start < L; l_start += 32) {
//!         int l = l_start + threadIdx.x;
//!         int64_t idx = l < L ? indices[start + l] : 0;
//!         for (int j = 0; j < 32 && l_start + j < L; j++) {
//!             int64_t row = __shfl_sync(~0u, idx, j);
//!             for (int i = 0; i < VECS && 128 * i + 4 * threadIdx.x < D; i++)
//!                 sum[i] += *(float4 *)&table[row * D + 128 * i];
//!         }
//!     }
//!     for (int i = 0; i < VECS && 128 * i + 4 * threadIdx.x < D; i++)
//!         *(float4 *)&output[(b * T + t) * D + 128 * i + 4 * threadIdx.x] = sum[i];
//! }
//! ```
//!
//! VECS is a compile-time constant, so its loops are unrolled. Offsets into tables count 16 bytes
//! here, to fit 32 bits.

use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "embedding",
    summary: "sums of embedding rows, one warp per bag of indices, with popular rows",
    source: "FBGEMM, table-batched embedding forward; DLRM (Naumov et al. 2019)",
    parameters: &[&[
        Parameter::count("tables", 4, (1, 1 << 10), "tables", "Tables"),
        Parameter::count("rows", 1 << 15, (1, 1 << 28), "rows", "Rows per table"),
        Parameter::count("dim", 128, (4, 1024), "floats", "Length of a row, a multiple of 4"),
        Parameter::count("batch", 1 << 11, (1, 1 << 24), "bags", "Bags per table"),
        Parameter::count("bag", 32, (1, 1 << 12), "indices", "Indices per bag"),
        SKEW,
        Parameter::count("warps", 16, (1, 32), "warps", "Warps per CTA"),
    ]],
    run: |gpu, arguments, random| {
        let shape = Shape {
            tables: arguments.count32("tables"),
            rows: arguments.count32("rows"),
            dim: arguments.count32("dim"),
            batch: arguments.count32("batch"),
        };
        let per_bag = arguments.count32("bag");
        shape.check(per_bag)?;
        let weights = small_floats(shape.tables * shape.rows * shape.dim, random);
        let bags = Bags::drawn(&shape, per_bag, arguments.hundredths("skew"), random);
        embedding(gpu, &shape, &weights, &bags, arguments.count32("warps")).map(drop)
    },
};

struct Shape {
    tables: u32,
    rows: u32,
    dim: u32,
    batch: u32,
}

impl Shape {
    fn bags(&self) -> u32 {
        self.tables * self.batch
    }

    fn check(&self, per_bag: u32) -> Result<(), WorkloadError> {
        check_multiple("dim", u64::from(self.dim), 4)?;
        check_entries("rows", self.tables, self.rows)?;
        check_entries("weights", self.tables * self.rows, self.dim)?;
        check_entries("bags", self.tables, self.batch)?;
        check_entries("sums", self.bags(), self.dim)?;
        check_entries("indices", self.bags(), per_bag)
    }
}

/// The rows to sum: bag `b` of table `t` has the indices from `offsets[t * batch + b]` on.
struct Bags {
    offsets: Vec<u64>,
    indices: Vec<u64>,
}

impl Bags {
    /// Draws bags of `per_bag` indices each. Every table has its own popular rows, anywhere in it.
    fn drawn(shape: &Shape, per_bag: u32, skew: u64, random: &mut Random) -> Bags {
        let zipf = Zipf::new(shape.rows, skew);
        let mut indices = Vec::with_capacity((shape.bags() * per_bag) as usize);
        for _ in 0..shape.tables {
            let mut by_rank: Vec<u32> = (0..shape.rows).collect();
            random.shuffle(&mut by_rank);
            let mut row = || u64::from(by_rank[zipf.draw(random) as usize]);
            indices.extend((0..shape.batch * per_bag).map(|_| row()));
        }
        let offsets = (0..=shape.bags()).map(|bag| u64::from(bag * per_bag)).collect();
        Bags { offsets, indices }
    }
}

/// Arguments of the kernel.
struct Lookup {
    weights: Array<[f32; 4]>,
    /// Start of each table.
    tables: Array<u64>,
    indices: Array<u64>,
    offsets: Array<u64>,
    /// Sums of each batch element over all tables in sequence.
    output: Array<[f32; 4]>,
    shape: [u32; 3],
}

/// Returns the sums.
fn embedding(
    gpu: &mut Gpu,
    shape: &Shape,
    weights: &[f32],
    bags: &Bags,
    warps: u32,
) -> Result<Array<[f32; 4]>, WorkloadError> {
    let &Shape { tables, rows, dim, batch } = shape;
    let vectors = dim / 4;
    let starts: Vec<u64> = (0..tables).map(|t| u64::from(t * rows * vectors)).collect();
    let lookup = Lookup {
        weights: gpu.upload(weights.as_chunks::<4>().0),
        tables: gpu.upload(&starts),
        indices: gpu.upload(&bags.indices),
        offsets: gpu.upload(&bags.offsets),
        output: gpu.zeros(u64::from(tables * batch * vectors)),
        shape: [batch, tables, vectors],
    };
    let launch = Launch {
        block: [32, warps, 1],
        ..grid_of("embedding_bag_sum", (tables * batch).div_ceil(warps), 0, 40)
    };
    gpu.launch(&launch, async |w| lookup.sum(w))?;
    Ok(lookup.output)
}

impl Lookup {
    fn sum(&self, w: &Warp) {
        let [batch, tables, vectors] = self.shape;
        let (lane, bag) = (w.thread_x(), w.block_x().mad(w.block_height(), w.thread_y()));
        w.exit_unless(bag.lt(batch * tables));
        let (t, b) = (bag.quotient(batch), bag.remainder(batch));
        let table = self.tables.load(t).to_u32() + lane;
        let bounds = self.offsets.at(bag);
        let start = bounds.load();
        let len = (bounds.offset(1).load() - start).to_u32();
        let sums: Vec<Sum> = (0..vectors.div_ceil(32)).map(|i| Sum::new(w, i, vectors)).collect();
        w.range(0, len, 32, |l_start| {
            let (l, idx) = (l_start + lane, w.var(0));
            w.when(l.lt(len), || {
                idx.set(self.indices.load(start.to_u32() + l).to_u32());
            });
            w.range(0, (len - l_start).min(32), 1, |j| {
                let row = idx.get().shuffle(j);
                let row = self.weights.at(row.mad(vectors, table));
                sums.iter().for_each(|sum| sum.add(w, row));
            });
        });
        let output = self.output.at(b.mad(tables, t).mad(vectors, lane));
        sums.iter().for_each(|sum| sum.store(w, output));
    }
}

/// A lane's part of one vector of a row, if the row is long enough.
struct Sum<'w> {
    vector: u32,
    is_inside: Predicate<'w>,
    parts: [Var<'w, f32>; 4],
}

impl<'w> Sum<'w> {
    fn new(w: &'w Warp, vector: u32, vectors: u32) -> Sum<'w> {
        let is_inside = (w.lane() + 32 * vector).lt(vectors);
        Sum { vector, is_inside, parts: std::array::from_fn(|_| w.var(0.0)) }
    }

    fn add(&self, w: &Warp, row: Pointer<'_, [f32; 4]>) {
        w.when(self.is_inside, || {
            let loaded = row.offset(32 * self.vector).load();
            for (i, part) in self.parts.iter().enumerate() {
                part.set(loaded.part(i) + part);
            }
        });
    }

    fn store(&self, w: &Warp, output: Pointer<'_, [f32; 4]>) {
        w.when(self.is_inside, || {
            output.offset(32 * self.vector).store_parts(self.parts.each_ref().map(Var::get));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    fn shape(tables: u32, rows: u32, dim: u32, batch: u32) -> Shape {
        Shape { tables, rows, dim, batch }
    }

    /// Computes the sums of each element's bags, table by table.
    fn plain(shape: &Shape, weights: &[f32], bags: &Bags) -> Vec<f32> {
        let mut sums = Vec::new();
        for b in 0..shape.batch {
            for t in 0..shape.tables {
                let bag = (t * shape.batch + b) as usize;
                let rows = bags.offsets[bag] as usize..bags.offsets[bag + 1] as usize;
                for d in 0..shape.dim {
                    let weight = |&row: &u64| {
                        weights[((u64::from(t * shape.rows) + row) * u64::from(shape.dim)) as usize
                            + d as usize]
                    };
                    sums.push(bags.indices[rows.clone()].iter().map(weight).sum());
                }
            }
        }
        sums
    }

    #[test]
    fn sums_match_the_rows() {
        for (shape, per_bag, warps) in [
            (shape(1, 1, 4, 1), 1, 1),
            (shape(3, 50, 64, 7), 5, 4),
            (shape(2, 20, 132, 3), 40, 2),
            (shape(2, 9, 256, 2), 32, 16),
        ] {
            let mut random = Random::new(3);
            let weights = small_floats(shape.tables * shape.rows * shape.dim, &mut random);
            let bags = Bags::drawn(&shape, per_bag, 100, &mut random);
            let run = run(|gpu| {
                let output = embedding(gpu, &shape, &weights, &bags, warps)?;
                Ok(gpu.download(output))
            });
            assert_eq!(
                *run.result.as_flattened(),
                *plain(&shape, &weights, &bags),
                "{}",
                shape.dim
            );
        }
    }

    #[test]
    fn bags_may_be_empty_or_of_any_length() {
        let shape = shape(1, 30, 8, 4);
        let weights = small_floats(240, &mut Random::new(3));
        let indices: Vec<u64> = (0..70).map(|i| i * 7 % 30).collect();
        let bags = Bags { offsets: vec![0, 0, 1, 34, 70], indices };
        let run = run(|gpu| {
            let output = embedding(gpu, &shape, &weights, &bags, 3)?;
            Ok(gpu.download(output))
        });
        assert_eq!(*run.result.as_flattened(), *plain(&shape, &weights, &bags));
    }

    #[test]
    fn a_row_is_read_by_its_length_in_lanes_with_coalesced_loads() {
        let shape = shape(1, 10, 160, 1);
        let bags = Bags { offsets: vec![0, 2], indices: vec![9, 4] };
        let run = run(|gpu| {
            let output = embedding(gpu, &shape, &[1.0; 1600], &bags, 1)?;
            Ok((output.address(0), ()))
        });
        let rows: Vec<(usize, u64)> = run
            .warp(0)
            .iter()
            .filter(|(i, _)| i.kind == Kind::Load && i.width == 16)
            .map(|(_, record)| {
                let lanes = record.active_addresses();
                assert!(lanes.windows(2).all(|pair| pair[1] == pair[0] + 16), "coalesced");
                (lanes.len(), lanes[0])
            })
            .collect();
        let first = rows[0].1 - 9 * 640;
        let row = |row: u64| [(32, first + row * 640), (8, first + row * 640 + 512)];
        assert_eq!(rows, [row(9), row(4)].concat());
    }

    #[test]
    fn every_table_has_its_own_popular_rows() {
        let shape = shape(2, 1000, 4, 500);
        let bags = Bags::drawn(&shape, 20, 120, &mut Random::new(1));
        let most = |indices: &[u64]| {
            let mut counts = vec![0; 1000];
            indices.iter().for_each(|&row| counts[row as usize] += 1);
            counts
                .iter()
                .enumerate()
                .max_by_key(|&(_, count)| count)
                .map(|(row, &n)| (row, n))
                .unwrap()
        };
        let (a, b) = (most(&bags.indices[..10_000]), most(&bags.indices[10_000..]));
        assert!(a.0 != b.0 && a.1 > 1500 && b.1 > 1500, "{a:?} {b:?}");
    }

    #[test]
    fn oversized_inputs_are_refused() {
        let refusal = |shape: Shape, per_bag| shape.check(per_bag).unwrap_err().to_string();
        assert_eq!(refusal(shape(1, 1, 6, 1), 1), "--dim 6 is not a multiple of 4");
        assert_eq!(refusal(shape(1024, 1 << 28, 4, 1), 1), "2^38 rows are more than 2^28");
        assert_eq!(refusal(shape(4, 1 << 26, 4, 1), 1), "2^30 weights are more than 2^28");
        assert_eq!(refusal(shape(1024, 1, 4, 1 << 24), 1), "2^34 bags are more than 2^28");
        assert_eq!(refusal(shape(4, 1, 4, 1 << 24), 64), "2^32 indices are more than 2^28");
        assert_eq!(refusal(shape(4, 1, 1024, 1 << 24), 1), "2^36 sums are more than 2^28");
        assert!(shape(4, 1 << 15, 128, 1 << 11).check(32).is_ok());
    }
}
