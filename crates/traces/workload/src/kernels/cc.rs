//! Connected components by Afforest: trees of labels that only point to lower ones. First every
//! vertex is linked to two of its neighbours, which joins most of the largest component; then only
//! the vertices outside of it, which a sample identifies, process their remaining edges. Trees are
//! flattened after every pass.
//!
//! The functions are those of the GAP benchmark suite's `cc.cc`, one thread per vertex. Labels that
//! other threads change concurrently are read as volatile.
//!
//! ```cuda
//! __device__ void link(int u, int v, volatile int *comp) {
//!     int p1 = comp[u], p2 = comp[v];
//!     while (p1 != p2) {
//!         int high = max(p1, p2), low = min(p1, p2), p_high = comp[high];
//!         if (p_high == low || (p_high == high && atomicCAS(&comp[high], high, low) == high)) break;
//!         p1 = comp[comp[high]];
//!         p2 = comp[low];
//!     }
//! }
//! __global__ void link_one(const int *row, const int *col, int *comp, int n, int round) {
//!     int v = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (v < n && row[v] + round < row[v + 1]) link(v, col[row[v] + round], comp);
//! }
//! __global__ void compress(int *comp, int n) {
//!     int v = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (v < n) while (comp[v] != comp[comp[v]]) comp[v] = comp[comp[v]];
//! }
//! __global__ void link_rest(const int *row, const int *col, int *comp, int n, int rounds, int largest) {
//!     int v = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (v >= n || comp[v] == largest) return;
//!     for (int e = row[v] + rounds, end = row[v + 1]; e < end; e++) link(v, col[e], comp);
//! }
//! ```

use std::collections::BTreeMap;

use warpmem_trace::CacheOp;

use super::graph::DeviceGraph;
use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "cc",
    summary: "connected components: Afforest, linking with compare-and-swap and pointer jumping",
    source: "Afforest (Sutton et al., IPDPS 2018), GAP benchmark suite, cc",
    parameters: &[GRAPH, &[BLOCK]],
    run: |gpu, arguments, random| {
        let graph = graph_of(arguments, Directions::Both, random)?.structure;
        components(gpu, &graph, arguments.count32("block"), random).map(drop)
    },
};

/// Neighbours linked per vertex before the sample (GAP's `neighbor_rounds`).
const ROUNDS: u32 = 2;
/// Labels in the sample (GAP's `num_samples`).
const SAMPLES: u32 = 1024;

/// The graph and its labels on the device.
#[derive(Clone, Copy)]
struct Device {
    graph: DeviceGraph,
    comp: Array<u32>,
    n: u32,
    block: u32,
}

/// Returns the lowest vertex of each vertex's component.
fn components(
    gpu: &mut Gpu,
    graph: &Csr,
    block: u32,
    random: &mut Random,
) -> Result<Array<u32>, WorkloadError> {
    let n = graph.rows();
    let device = Device {
        graph: DeviceGraph::upload(gpu, graph),
        comp: gpu.upload(&(0..n).collect::<Vec<_>>()),
        n,
        block,
    };
    for round in 0..ROUNDS {
        gpu.launch(&launch("link_one", n, block, 20), async |w| device.link_one(w, round))?;
        device.flatten(gpu)?;
    }
    let largest = most_frequent(&gpu.download(device.comp), random);
    gpu.launch(&launch("link_rest", n, block, 24), async |w| device.link_rest(w, largest))?;
    device.flatten(gpu)?;
    Ok(device.comp)
}

/// Returns the most frequent label of a sample; ties go to the lowest.
fn most_frequent(labels: &[u32], random: &mut Random) -> u32 {
    let mut counts = BTreeMap::new();
    for _ in 0..SAMPLES {
        let label = labels[random.index(labels.len() as u32) as usize];
        *counts.entry(label).or_insert(0u32) += 1;
    }
    let most = counts.into_iter().max_by_key(|&(label, count)| (count, std::cmp::Reverse(label)));
    most.map_or(0, |(label, _)| label)
}

impl Device {
    fn flatten(&self, gpu: &mut Gpu) -> Result<(), WorkloadError> {
        gpu.launch(&launch("compress", self.n, self.block, 10), async |w| self.compress(w))
    }

    fn link_one(&self, w: &Warp, round: u32) {
        let v = w.global_x();
        w.exit_unless(v.lt(self.n));
        let (first, end) = self.graph.edges(v);
        let e = first + round;
        w.exit_unless(e.lt(end));
        self.link(w, v, self.graph.col.load(e));
    }

    fn link_rest(&self, w: &Warp, largest: u32) {
        let v = w.global_x();
        w.exit_unless(v.lt(self.n));
        w.exit_unless(self.label(v).ne(largest));
        let (first, end) = self.graph.edges(v);
        w.range(first + ROUNDS, end, 1, |e| self.link(w, v, self.graph.col.load(e)));
    }

    fn link<'w>(&self, w: &'w Warp, u: Lanes<'w, u32>, v: Lanes<'w, u32>) {
        let (p1, p2) = (w.var(self.label(u)), w.var(self.label(v)));
        w.when(p1.get().ne(&p2), || {
            w.do_while(|| {
                let (high, low) = (p1.get().max(&p2), p1.get().min(&p2));
                let p_high = self.label(high);
                let linked = w.var(p_high.eq(low).select(1u32, 0));
                w.when(p_high.eq(high), || {
                    let seen = self.comp.at(high).compare_exchange(high, low);
                    linked.set(seen.eq(high).select(1, 0));
                });
                w.when(linked.get().eq(0), || {
                    p1.set(self.label(self.label(high)));
                    p2.set(self.label(low));
                });
                linked.get().eq(0) & p1.get().ne(&p2)
            });
        });
    }

    /// `comp[v]`, which other threads change.
    fn label<'w>(&self, v: Lanes<'w, u32>) -> Lanes<'w, u32> {
        self.comp.at(v).load_as(CacheOp::Volatile)
    }

    fn compress(&self, w: &Warp) {
        let v = w.global_x();
        w.exit_unless(v.lt(self.n));
        let own = self.comp.at(v);
        let above = w.var(0);
        w.while_loop(
            || {
                let parent = own.load();
                above.set(self.comp.load(parent));
                parent.ne(&above)
            },
            || own.store(&above),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    /// Union-find.
    fn plain_components(graph: &Csr) -> Vec<u32> {
        fn root(parent: &[u32], mut v: u32) -> u32 {
            while parent[v as usize] != v {
                v = parent[v as usize];
            }
            v
        }
        let mut parent: Vec<u32> = (0..graph.rows()).collect();
        for u in 0..graph.rows() {
            for &v in graph.row(u) {
                let (a, b) = (root(&parent, u), root(&parent, v));
                parent[a.max(b) as usize] = a.min(b);
            }
        }
        (0..graph.rows()).map(|v| root(&parent, v)).collect()
    }

    fn search(graph: &Csr, block: u32) -> Run<Vec<u32>> {
        run(|gpu| {
            let comp = components(gpu, graph, block, &mut Random::new(1))?;
            Ok(gpu.download(comp))
        })
    }

    #[test]
    fn labels_match_union_find() {
        // Few edges leave many components, in which some vertices have more than two neighbours.
        for (name, graph) in graphs(700, 2) {
            for block in [48, 256] {
                assert_eq!(search(&graph, block).result, plain_components(&graph), "{name}");
            }
        }
    }

    #[test]
    fn the_last_pass_joins_the_remaining_components() {
        // Two rings, joined by an edge that is the third of both its ends.
        let ring = |from: u32, n: u32| (0..n).map(move |v| (from + v, from + (v + 1) % n));
        let edges = ring(0, 50).chain(ring(50, 30)).chain([(49, 79)]);
        let graph = Csr::from_pairs(80, edges.flat_map(|(u, v)| [(u, v), (v, u)]).collect());
        assert_eq!(graph.row(79), [49, 50, 78]);
        let run = search(&graph, 64);
        assert_eq!(run.result, [0; 80]);
    }

    #[test]
    fn the_largest_component_is_skipped() {
        let others = |v: u32| (0..64).filter(move |&u| u != v).map(move |u| (v, u));
        let complete = Csr::from_pairs(64, (0..64).flat_map(others).collect());
        let run = search(&complete, 64);
        let names: Vec<&str> = run.trace().kernels().iter().map(|k| k.info.name.as_str()).collect();
        let pass = ["link_one", "compress"];
        assert_eq!(names, [&pass[..], &pass, &["link_rest", "compress"]].concat());
        let edges = DeviceGraph::edge_addresses(&complete);
        assert_eq!(run.count(Kind::Load, &edges), 2 * 64);
    }

    #[test]
    fn the_most_frequent_label_is_found_by_sample() {
        let labels: Vec<u32> = (0..100).map(|v| if v < 60 { 7 } else { v }).collect();
        assert_eq!(most_frequent(&labels, &mut Random::new(1)), 7);
        assert_eq!(most_frequent(&[3], &mut Random::new(1)), 3);
    }
}
