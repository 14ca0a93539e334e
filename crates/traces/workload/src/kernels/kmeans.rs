//! k-means: each thread finds the centre nearest to its point, and the host moves the centres,
//! until no point changes its cluster. Points are stored feature by feature (`soa`, after a kernel
//! that transposes them) or point by point (`aos`).
//!
//! ```cuda
//! __global__ void invert_mapping(float *input, float *output, int npoints, int nfeatures) {
//!     int point_id = threadIdx.x + blockDim.x * blockIdx.x;
//!     if (point_id < npoints)
//!         for (int i = 0; i < nfeatures; i++)
//!             output[point_id + npoints * i] = input[point_id * nfeatures + i];
//! }
//! __global__ void kmeansPoint(int nfeatures, int npoints, int nclusters, int *membership) {
//!     unsigned block_id = gridDim.x * blockIdx.y + blockIdx.x;
//!     unsigned point_id = block_id * blockDim.x * blockDim.y + threadIdx.x;
//!     if (point_id >= npoints) return;
//!     int index = -1;
//!     float min_dist = FLT_MAX;
//!     for (int i = 0; i < nclusters; i++) {
//!         float ans = 0;
//!         for (int j = 0; j < nfeatures; j++) {
//!             float diff = tex1Dfetch(t_features, point_id + j * npoints) - c_clusters[i * nfeatures + j];
//!             ans += diff * diff;
//!         }
//!         if (ans < min_dist) { min_dist = ans; index = i; }
//!     }
//!     membership[point_id] = index;
//! }
//! ```
//!
//! Texture fetches are loads through the read-only path, as texture references no longer exist; the
//! centres are in constant memory. The nearer centre is chosen with selects, and no loop is
//! unrolled.

use warpmem_trace::CacheOp;

use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "kmeans",
    summary: "k-means clustering: points against centres, updated by the host between launches",
    source: "Rodinia 3.1, kmeans (Che et al., IISWC 2009)",
    parameters: &[&[
        Parameter::choice::<Layout>(
            "layout",
            "soa",
            "Feature by feature, after a transposing kernel (soa), or point by point (aos)",
        ),
        Parameter::count("points", 1 << 15, (1, 1 << 24), "points", "Points"),
        Parameter::count("features", 34, (1, 1 << 10), "features", "Features per point"),
        Parameter::count("clusters", 5, (1, 1 << 10), "clusters", "Clusters"),
        Parameter::count("iterations", 3, (1, 1 << 10), "rounds", "Maximum iterations"),
        BLOCK,
    ]],
    run: |gpu, arguments, random| {
        let (points, features) = (arguments.count32("points"), arguments.count32("features"));
        let clusters = arguments.count32("clusters");
        check_entries("features", points, features)?;
        check_clusters(clusters, points, features)?;
        let data = Points { features, values: small_floats(points * features, random) };
        let stop = arguments.count32("iterations");
        let block = arguments.count32("block");
        kmeans(gpu, arguments.choice("layout"), &data, clusters, stop, block).map(drop)
    },
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Layout {
    /// Structure of arrays: neighbouring lanes read neighbouring words.
    Soa,
    /// Array of structures: neighbouring lanes read one point length apart.
    Aos,
}

impl Choice for Layout {
    const NAMES: &'static [(&'static str, Layout)] = &[("soa", Layout::Soa), ("aos", Layout::Aos)];
}

/// Bytes of constant memory.
const CONSTANT_BYTES: u32 = 64 << 10;
/// Cluster of an unassigned point (-1 as an `int`).
const NONE: u32 = u32::MAX;

/// Checks that the initial centres are points and that all centres fit in constant memory.
fn check_clusters(clusters: u32, points: u32, features: u32) -> Result<(), WorkloadError> {
    let refuse = |message| Err(WorkloadError::Inconsistent { message });
    if clusters > points {
        return refuse(format!("--clusters {clusters} is more than --points {points}"));
    }
    if clusters * features * 4 > CONSTANT_BYTES {
        return refuse(format!(
            "{clusters} clusters of {features} features do not fit into {CONSTANT_BYTES} bytes of constant memory"
        ));
    }
    Ok(())
}

/// Points, stored one after the other.
struct Points {
    features: u32,
    values: Vec<f32>,
}

impl Points {
    fn len(&self) -> u32 {
        self.values.len() as u32 / self.features
    }

    fn iter(&self) -> std::slice::ChunksExact<'_, f32> {
        self.values.chunks_exact(self.features as usize)
    }
}

/// Returns the array with the cluster of each point.
fn kmeans(
    gpu: &mut Gpu,
    layout: Layout,
    points: &Points,
    clusters: u32,
    iterations: u32,
    block: u32,
) -> Result<Array<u32>, WorkloadError> {
    let (n, features) = (points.len(), points.features);
    let side = square_side(n.div_ceil(block));
    let input = gpu.upload(&points.values);
    let search = Search {
        features: match layout {
            Layout::Soa => gpu.zeros(input.len()),
            Layout::Aos => input,
        },
        layout,
        membership: gpu.upload(&vec![NONE; n as usize]),
        shape: [n, features, clusters],
    };
    if layout == Layout::Soa {
        let launch = grid_of("invert_mapping", side * side, block, 16);
        gpu.launch(&launch, async |w| search.invert_mapping(w, input))?;
    }
    let mut membership = vec![NONE; n as usize];
    let mut centres = points.values[..(clusters * features) as usize].to_vec();
    for _ in 0..iterations {
        let launch = Launch { grid: [side, side, 1], ..grid_of("kmeansPoint", 1, block, 22) };
        let constants = Constants::new(&centres);
        gpu.launch(&launch, async |w| search.nearest(w, &constants))?;
        let before = std::mem::replace(&mut membership, gpu.download(search.membership));
        if before == membership {
            break;
        }
        move_centres(&mut centres, points, &membership);
    }
    Ok(search.membership)
}

/// Returns the side of the smallest square grid of at least `ctas` CTAs.
fn square_side(ctas: u32) -> u32 {
    (ctas - 1).isqrt() + 1
}

/// Moves each centre to the mean of its points; a centre without points stays.
fn move_centres(centres: &mut [f32], points: &Points, membership: &[u32]) {
    let mut sums = vec![0.0; centres.len()];
    let mut sizes = vec![0.0; centres.len() / points.features as usize];
    for (point, &cluster) in points.iter().zip(membership) {
        let first = (cluster * points.features) as usize;
        sums[first..].iter_mut().zip(point).for_each(|(sum, value)| *sum += value);
        sizes[cluster as usize] += 1.0;
    }
    let features = points.features as usize;
    for (index, (centre, sum)) in centres.iter_mut().zip(sums).enumerate() {
        let size: f32 = sizes[index / features];
        if size > 0.0 {
            *centre = sum / size;
        }
    }
}

/// Arguments of the kernels.
#[derive(Clone, Copy)]
struct Search {
    features: Array<f32>,
    layout: Layout,
    membership: Array<u32>,
    /// Points, features, clusters.
    shape: [u32; 3],
}

impl Search {
    fn invert_mapping(&self, w: &Warp, input: Array<f32>) {
        let [n, features, _] = self.shape;
        let point = w.global_x();
        w.exit_unless(point.lt(n));
        w.range(0, features, 1, |i| {
            let value = input.load(point.mad(features, i));
            self.features.store(i.mad(n, point), value);
        });
    }

    fn nearest(&self, w: &Warp, centres: &Constants<f32>) {
        let [n, features, clusters] = self.shape;
        let block = w.block_y().mad(w.grid_width(), w.block_x());
        let point = block.mad(w.block_width(), w.thread_x());
        w.exit_unless(point.lt(n));
        let (index, min_dist) = (w.var(NONE), w.var(f32::MAX));
        w.range(0, clusters, 1, |i| {
            let ans = w.var(0.0);
            w.range(0, features, 1, |j| {
                let feature = match self.layout {
                    Layout::Soa => j.mad(n, point),
                    Layout::Aos => point.mad(features, j),
                };
                let value = self.features.at(feature).load_as(CacheOp::ReadOnly);
                let diff = value - centres.load(i.mad(features, j));
                ans.set(diff.mad(diff, &ans));
            });
            let is_nearer = ans.get().lt(&min_dist);
            min_dist.set(is_nearer.select(&ans, &min_dist));
            index.set(is_nearer.select(i, &index));
        });
        self.membership.store(point, &index);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::testing::*;
    use super::*;

    fn points(n: u32, features: u32, seed: u64) -> Points {
        Points { features, values: small_floats(n * features, &mut Random::new(seed)) }
    }

    /// Runs Lloyd's algorithm in single precision; also returns the number of rounds.
    fn plain(points: &Points, clusters: usize, iterations: u32) -> (Vec<u32>, usize) {
        let mut centres: Vec<Vec<f32>> =
            points.iter().take(clusters).map(<[f32]>::to_vec).collect();
        let mut membership = vec![NONE; points.len() as usize];
        for round in 1..=iterations {
            let distance = |centre: &[f32], point: &[f32]| {
                point.iter().zip(centre).fold(0.0, |sum: f32, (p, c)| (p - c).mul_add(p - c, sum))
            };
            let nearest = |point: &[f32]| {
                let distances: Vec<f32> = centres.iter().map(|c| distance(c, point)).collect();
                let least = distances.iter().copied().fold(f32::MAX, f32::min);
                distances.iter().position(|&d| d == least).unwrap() as u32
            };
            let next: Vec<u32> = points.iter().map(nearest).collect();
            if next == membership {
                return (membership, round as usize);
            }
            membership = next;
            for (cluster, centre) in centres.iter_mut().enumerate() {
                let members: Vec<&[f32]> = points
                    .iter()
                    .zip(&membership)
                    .filter(|&(_, &m)| m as usize == cluster)
                    .map(|(point, _)| point)
                    .collect();
                for (feature, value) in centre.iter_mut().enumerate() {
                    if !members.is_empty() {
                        *value =
                            members.iter().map(|m| m[feature]).sum::<f32>() / members.len() as f32;
                    }
                }
            }
        }
        (membership, iterations as usize)
    }

    #[test]
    fn clusters_match_plain_k_means() {
        for (n, features, clusters, iterations) in
            [(1, 1, 1, 5), (100, 3, 4, 100), (300, 34, 5, 3), (257, 2, 7, 1), (40, 1, 20, 50)]
        {
            let points = points(n, features, 8);
            let (expected, rounds) = plain(&points, clusters as usize, iterations);
            for &(name, layout) in Layout::NAMES {
                let run = run(|gpu| {
                    let membership = kmeans(gpu, layout, &points, clusters, iterations, 64)?;
                    Ok((gpu.download(membership), membership.range()))
                });
                assert_eq!(run.result.0, expected, "{name}, {n} points, {clusters} clusters");
                let inversions = usize::from(layout == Layout::Soa);
                assert_eq!(run.trace().kernels().len(), inversions + rounds, "{name}, {n} points");
                let stored = run.addresses(Kind::Store);
                assert_eq!(stored.range(run.result.1.clone()).count(), n as usize);
            }
        }
        assert!(plain(&points(100, 3, 8), 4, 100).1 > 3, "the centres move");
    }

    /// Returns the 128-byte lines read by each load of the first warp, by kernel.
    fn lines_per_load(layout: Layout) -> Vec<(usize, usize)> {
        let points = points(64, 34, 8);
        let run = run(|gpu| kmeans(gpu, layout, &points, 5, 1, 64));
        let mut loads = Vec::new();
        visit_records(run.trace(), |kernel, warp, instruction, record| {
            if warp == 0 && instruction.kind == Kind::Load {
                let lines: BTreeSet<u64> =
                    record.active_addresses().iter().map(|address| address / 128).collect();
                loads.push((kernel, lines.len()));
            }
        });
        loads
    }

    /// A point is 136 bytes long.
    #[test]
    fn loads_point_by_point_are_scattered_and_feature_by_feature_coalesced() {
        let inversion = std::iter::repeat_n((0, 32), 34);
        let soa: Vec<_> = inversion.chain(std::iter::repeat_n((1, 1), 5 * 34)).collect();
        assert_eq!(lines_per_load(Layout::Soa), soa);
        assert_eq!(lines_per_load(Layout::Aos), [(0, 32); 5 * 34]);
    }

    #[test]
    fn the_grid_is_a_square_that_covers_all_points() {
        let run = run(|gpu| kmeans(gpu, Layout::Soa, &points(500, 2, 1), 3, 1, 96));
        let grids: Vec<_> = run.trace().kernels().iter().map(|k| k.info.grid).collect();
        assert_eq!(grids, [[9, 1, 1], [3, 3, 1]]);
    }

    #[test]
    fn centres_beyond_constant_memory_are_refused() {
        let refusal = |clusters, points, features| {
            check_clusters(clusters, points, features).unwrap_err().to_string()
        };
        assert_eq!(refusal(6, 5, 3), "--clusters 6 is more than --points 5");
        assert_eq!(
            refusal(1024, 2048, 17),
            "1024 clusters of 17 features do not fit into 65536 bytes of constant memory"
        );
        assert!(check_clusters(1024, 1024, 16).is_ok());
    }
}
