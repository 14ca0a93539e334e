//! PageRank by vertices that gather from their neighbours (`pull`) or scatter to them (`push`), one
//! thread each. The rank of vertices without neighbours is distributed to all vertices; the host
//! stops when the ranks have settled. In a directed graph, `pull` reads the incoming edges from
//! separate arrays.
//!
//! `pull` is the GAP benchmark suite's `pr.cc` as kernels, `push` Pannotia's `pagerank`, both with
//! the sums that the host reads (`warp_add` is one atomic per warp):
//!
//! ```cuda
//! __global__ void contributions(const int *row, const float *rank, float *share, float *dangling, int n) {
//!     int v = blockIdx.x * blockDim.x + threadIdx.x;
//!     float lost = 0;
//!     if (v < n) {
//!         int degree = row[v + 1] - row[v];
//!         if (degree == 0) lost = rank[v]; else share[v] = rank[v] / (float)degree;
//!     }
//!     warp_add(dangling, lost);
//! }
//! __global__ void pull(const int *row, const int *col, float *rank, const float *share, const float *dangling,
//!                      float *change, int n) {
//!     int v = blockIdx.x * blockDim.x + threadIdx.x;
//!     float moved = 0;
//!     if (v < n) {
//!         float sum = 0;
//!         for (int e = row[v], end = row[v + 1]; e < end; e++) sum += share[col[e]];
//!         float fresh = D * sum + (*dangling * (D / n) + (1 - D) / n);
//!         moved = fabsf(fresh - rank[v]);
//!         rank[v] = fresh;
//!     }
//!     warp_add(change, moved);
//! }
//! __global__ void push(const int *row, const int *col, const float *rank, float *sum, float *dangling, int n) {
//!     int v = blockIdx.x * blockDim.x + threadIdx.x;
//!     float lost = 0;
//!     if (v < n) {
//!         int first = row[v], end = row[v + 1];
//!         if (first == end) lost = rank[v];
//!         else {
//!             float share = rank[v] / (float)(end - first);
//!             for (int e = first; e < end; e++) atomicAdd(&sum[col[e]], share);
//!         }
//!     }
//!     warp_add(dangling, lost);
//! }
//! __global__ void settle(float *rank, float *sum, const float *dangling, float *change, int n) {
//!     int v = blockIdx.x * blockDim.x + threadIdx.x;
//!     float moved = 0;
//!     if (v < n) {
//!         float fresh = D * sum[v] + (*dangling * (D / n) + (1 - D) / n);
//!         moved = fabsf(fresh - rank[v]);
//!         rank[v] = fresh;
//!         sum[v] = 0;
//!     }
//!     warp_add(change, moved);
//! }
//! ```

use super::graph::{DeviceGraph, check_full_warps, warp_add};
use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "pagerank",
    summary: "PageRank by gathering (pull) or by atomic additions (push), with its residual",
    source: "GAP benchmark suite, pr (Beamer et al. 2015); Pannotia, pagerank (Che et al., IISWC 2013)",
    parameters: &[
        &[Parameter::choice::<Variant>(
            "variant",
            "pull",
            "Vertices gather from their neighbours (pull) or scatter to them (push)",
        )],
        GRAPH,
        &[
            DIRECTED,
            Parameter::count(
                "iterations",
                4,
                (1, 1000),
                "iterations",
                "Maximum iterations; fewer if the ranks settle",
            ),
            BLOCK,
        ],
    ],
    run: |gpu, arguments, random| {
        let graph = graph_of(arguments, Directions::AsAsked, random)?;
        let (variant, block) = (arguments.choice("variant"), arguments.count32("block"));
        pagerank(gpu, variant, &graph, arguments.count32("iterations"), block).map(drop)
    },
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variant {
    Pull,
    Push,
}

impl Choice for Variant {
    const NAMES: &'static [(&'static str, Variant)] =
        &[("pull", Variant::Pull), ("push", Variant::Push)];
}

/// Fraction of the rank that follows edges (Page et al. 1999).
const DAMPING: f32 = 0.85;
/// Total change of all ranks below which the host stops (GAP's default).
const SETTLED: f32 = 1e-4;

/// The graph and its ranks on the device.
#[derive(Clone, Copy)]
struct Device {
    graph: DeviceGraph,
    /// Incoming edges, along which vertices gather; those of `graph` if it is undirected.
    incoming: DeviceGraph,
    rank: Array<f32>,
    /// Pull: the contribution of a vertex to each neighbour. Push: the sum received by a vertex.
    scratch: Array<f32>,
    /// Rank of vertices without neighbours, and total change of all ranks.
    totals: Array<[f32; 2]>,
    n: u32,
}

/// Returns the rank of each vertex.
fn pagerank(
    gpu: &mut Gpu,
    variant: Variant,
    graph: &Graph,
    iterations: u32,
    block: u32,
) -> Result<Array<f32>, WorkloadError> {
    check_full_warps(block)?;
    let n = graph.structure.rows();
    let outgoing = DeviceGraph::upload(gpu, &graph.structure);
    let incoming = match variant {
        Variant::Pull => graph.incoming().map(|edges| DeviceGraph::upload(gpu, &edges)),
        Variant::Push => None,
    };
    let device = Device {
        graph: outgoing,
        incoming: incoming.unwrap_or(outgoing),
        rank: gpu.upload(&vec![1.0 / n as f32; n as usize]),
        scratch: gpu.zeros(u64::from(n)),
        totals: gpu.zeros(1),
        n,
    };
    for _ in 0..iterations {
        gpu.copy_to(device.totals, &[[0.0, 0.0]]);
        match variant {
            Variant::Pull => {
                let contributions = launch("contributions", n, block, 14);
                gpu.launch(&contributions, async |w| device.contributions(w))?;
                gpu.launch(&launch("pull", n, block, 22), async |w| device.pull(w))?;
            }
            Variant::Push => {
                gpu.launch(&launch("push", n, block, 20), async |w| device.push(w))?;
                gpu.launch(&launch("settle", n, block, 16), async |w| device.settle(w))?;
            }
        }
        let [_, change] = gpu.download(device.totals)[0];
        if change < SETTLED {
            break;
        }
    }
    Ok(device.rank)
}

impl Device {
    fn contributions(&self, w: &Warp) {
        let v = w.global_x();
        let lost = w.var(0.0);
        w.when(v.lt(self.n), || {
            let (first, end) = self.graph.edges(v);
            let degree = end - first;
            let rank = self.rank.load(v);
            w.when_else(
                degree.eq(0),
                || lost.set(rank),
                || self.scratch.store(v, rank.divided_by(degree.to_f32())),
            );
        });
        warp_add(self.dangling(w), lost.get());
    }

    fn pull(&self, w: &Warp) {
        let v = w.global_x();
        let moved = w.var(0.0);
        w.when(v.lt(self.n), || {
            let sum = w.var(0.0);
            self.incoming.each_neighbour(v, |u| sum.set(self.scratch.load(u) + &sum));
            self.replace_rank(w, v, sum.get(), &moved);
        });
        warp_add(self.change(w), moved.get());
    }

    fn push(&self, w: &Warp) {
        let v = w.global_x();
        let lost = w.var(0.0);
        w.when(v.lt(self.n), || {
            let (first, end) = self.graph.edges(v);
            let rank = self.rank.load(v);
            w.when_else(
                first.eq(end),
                || lost.set(rank),
                || {
                    let share = rank.divided_by((end - first).to_f32());
                    w.range(first, end, 1, |e| {
                        self.scratch.at(self.graph.col.load(e)).add(share);
                    });
                },
            );
        });
        warp_add(self.dangling(w), lost.get());
    }

    fn settle(&self, w: &Warp) {
        let v = w.global_x();
        let moved = w.var(0.0);
        w.when(v.lt(self.n), || {
            let sum = self.scratch.at(v);
            self.replace_rank(w, v, sum.load(), &moved);
            sum.store(0.0);
        });
        warp_add(self.change(w), moved.get());
    }

    /// Sets the new rank of `v` from the neighbours' `sum`, and `moved` to its change.
    fn replace_rank<'w>(
        &self,
        w: &'w Warp,
        v: Lanes<'w, u32>,
        sum: Lanes<'w, f32>,
        moved: &Var<'w, f32>,
    ) {
        let share_of_all = 1.0 / self.n as f32;
        let dangling = self.dangling(w).load();
        let base = dangling.mad(DAMPING * share_of_all, (1.0 - DAMPING) * share_of_all);
        let fresh = sum.mad(DAMPING, base);
        let rank = self.rank.at(v);
        moved.set((fresh - rank.load()).abs());
        rank.store(fresh);
    }

    fn dangling<'w>(&self, w: &'w Warp) -> Pointer<'w, f32> {
        self.totals.first(w).part(0)
    }

    fn change<'w>(&self, w: &'w Warp) -> Pointer<'w, f32> {
        self.totals.first(w).part(1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    /// Computes the ranks in double precision.
    fn plain_pagerank(graph: &Csr, iterations: u32) -> Vec<f64> {
        let n = graph.rows();
        let share_of_all = 1.0 / f64::from(n);
        let mut rank = vec![share_of_all; n as usize];
        for _ in 0..iterations {
            let of = |v: u32| rank[v as usize];
            let dangling: f64 = (0..n).filter(|&v| graph.degree(v) == 0).map(of).sum();
            let fresh = |v: u32| {
                let neighbours = graph.row(v).iter();
                let sum: f64 = neighbours.map(|&u| of(u) / f64::from(graph.degree(u))).sum();
                0.15 * share_of_all + 0.85 * (sum + dangling * share_of_all)
            };
            let ranks: Vec<f64> = (0..n).map(fresh).collect();
            let change: f64 = ranks.iter().zip(&rank).map(|(a, b)| (a - b).abs()).sum();
            rank = ranks;
            if change < 1e-4 {
                break;
            }
        }
        rank
    }

    fn ranks(variant: Variant, graph: &Csr, iterations: u32) -> Run<Vec<f32>> {
        ranks_in(variant, &unweighted(graph, false), iterations)
    }

    fn ranks_in(variant: Variant, graph: &Graph, iterations: u32) -> Run<Vec<f32>> {
        run(|gpu| {
            let rank = pagerank(gpu, variant, graph, iterations, 64)?;
            Ok(gpu.download(rank))
        })
    }

    /// Sums of up to a few hundred terms, each rounded to 24 bits.
    const TOLERANCE: f64 = 1e-5;

    #[test]
    fn ranks_match_double_precision() {
        for (kind, graph) in graphs(700, 3) {
            for &(name, variant) in Variant::NAMES {
                let result = ranks(variant, &graph, 5).result;
                for (v, (rank, plain)) in result.iter().zip(plain_pagerank(&graph, 5)).enumerate() {
                    let error = (f64::from(*rank) - plain).abs() / plain;
                    assert!(error < TOLERANCE, "{name} {kind}: rank of {v} is {rank}, not {plain}");
                }
                let all: f64 = result.iter().copied().map(f64::from).sum();
                assert!((all - 1.0).abs() < TOLERANCE, "{name} {kind}: all ranks are {all}");
            }
        }
    }

    #[test]
    fn rank_follows_directed_edges() {
        // 0 and 1 lead to 2, which leads nowhere.
        let graph = unweighted(&Csr::from_pairs(3, vec![(0, 2), (1, 2)]), true);
        for &(name, variant) in Variant::NAMES {
            let result = ranks_in(variant, &graph, 1).result;
            let lost = 0.85 / 9.0 + 0.05;
            let expected = [lost, lost, 0.85 * 2.0 / 3.0 + lost];
            for (rank, plain) in result.iter().zip(expected) {
                assert!((f64::from(*rank) - plain).abs() < TOLERANCE, "{name}: {result:?}");
            }
        }
    }

    #[test]
    fn stops_when_the_ranks_settle() {
        // On a ring the initial ranks are already correct.
        let ring = Csr::from_pairs(
            50,
            (0..50).flat_map(|v| [(v, (v + 1) % 50), ((v + 1) % 50, v)]).collect(),
        );
        // In a star, the centre and the leaves exchange their ranks.
        let star = Csr::from_pairs(50, (1..50).flat_map(|v| [(0, v), (v, 0)]).collect());
        for &(_, variant) in Variant::NAMES {
            assert_eq!(ranks(variant, &ring, 100).trace().kernels().len(), 2);
            // The change in round k is at most 2 * 0.85^k, which is below 1e-4 from round 61 on.
            let launches = ranks(variant, &star, 100).trace().kernels().len();
            assert!((2 * 30..=2 * 61).contains(&launches), "{launches} launches");
        }
    }

    #[test]
    fn pulling_reads_and_pushing_adds_once_per_edge() {
        let graph = graph(GraphKind::Rmat, 500, 6, &mut Random::new(2));
        let edges = graph.columns.len();
        let isolated = (0..500).filter(|&v| graph.degree(v) == 0).count();
        assert!(isolated > 0);
        let (pull, push) = (ranks(Variant::Pull, &graph, 1), ranks(Variant::Push, &graph, 1));
        let count = |run: &Run<_>, kind| run.accesses(kind).len();
        // 500 vertices are 8 CTAs of 2 warps, each with a sum of lost rank and one of changes.
        assert_eq!(count(&pull, Kind::Reduction), 16 + 16);
        assert_eq!(count(&push, Kind::Reduction), edges + 16 + 16);
        // Three words of every vertex, then: two bounds, edge and share, the lost rank, the old
        // rank.
        assert_eq!(count(&pull, Kind::Load), 3 * 500 + 2 * 500 + 2 * edges + 500 + 500);
        // The same three words of every vertex, and its edges; then the sum, the lost rank, the old
        // rank.
        assert_eq!(count(&push, Kind::Load), 3 * 500 + edges + 3 * 500);
        assert_eq!(count(&pull, Kind::Store), 500 - isolated + 500);
        assert_eq!(count(&push, Kind::Store), 2 * 500);
    }
}
