//! Single-source shortest paths: Bellman-Ford rounds over a queue of the vertices whose distance
//! decreased in the previous round; one thread per vertex relaxes its edges. LonestarGPU's `sssp`
//! with work lists queues a vertex at every decrease; here a stamp queues it once per round, as in
//! Davidson et al. (IPDPS 2014), so that the queue never exceeds the number of vertices.
//!
//! ```cuda
//! __global__ void sssp_relax(const int *row, const int *col, const unsigned *weight, unsigned *dist, unsigned *stamp,
//!                            const int *in, int size, int *out, int *tail, unsigned round) {
//!     int i = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (i >= size) return;
//!     int src = in[i];
//!     for (int e = row[src], end = row[src + 1]; e < end; e++) {
//!         int dst = col[e];
//!         unsigned wt = weight[e], alt = dist[src] + wt;
//!         if (alt >= wt && alt < dist[dst])                         // a sum that wraps is no way
//!             if (atomicMin(&dist[dst], alt) > alt && atomicExch(&stamp[dst], round) != round)
//!                 out[atomicAdd(tail, 1)] = dst;
//!     }
//! }
//! ```

use super::graph::{DeviceGraph, Queue, SOURCE, by_rank};
use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "sssp",
    summary: "single-source shortest paths, Bellman-Ford with a queue and atomic minima",
    source: "LonestarGPU, sssp with work lists (Burtscher et al., IISWC 2012); Davidson et al., IPDPS 2014",
    parameters: &[
        GRAPH,
        &[
            DIRECTED,
            SOURCE,
            Parameter::count("rounds", 1 << 20, (1, 1 << 20), "rounds", "Maximum rounds"),
            BLOCK,
        ],
    ],
    run: |gpu, arguments, random| {
        let graph = graph_of(arguments, Directions::AsAsked, random)?;
        let search = Search {
            source: by_rank(
                &graph.structure,
                graph.labels.as_deref(),
                arguments.count32("source"),
            )?,
            rounds: arguments.count32("rounds"),
            block: arguments.count32("block"),
        };
        sssp(gpu, &graph, &search).map(drop)
    },
};

/// Parameters of a search.
struct Search {
    source: u32,
    /// Maximum rounds.
    rounds: u32,
    block: u32,
}

/// Distance of unreached vertices.
const UNREACHED: u32 = u32::MAX;

/// The graph and the state of the search on the device.
#[derive(Clone, Copy)]
struct Device {
    graph: DeviceGraph,
    weight: Array<u32>,
    dist: Array<u32>,
    /// Last round that queued the vertex.
    stamp: Array<u32>,
}

/// Returns the distance of each vertex.
fn sssp(gpu: &mut Gpu, graph: &Graph, search: &Search) -> Result<Array<u32>, WorkloadError> {
    let n = graph.structure.rows();
    let mut dist = vec![UNREACHED; n as usize];
    dist[search.source as usize] = 0;
    let device = Device {
        graph: DeviceGraph::upload(gpu, &graph.structure),
        weight: gpu.upload(&graph.weights),
        dist: gpu.upload(&dist),
        stamp: gpu.zeros(u64::from(n)),
    };
    let (mut queue, mut next) = (Queue::new(gpu, n), Queue::new(gpu, n));
    queue.fill(gpu, &[search.source]);
    let mut size = 1;
    for round in 1..=search.rounds {
        next.clear(gpu);
        gpu.launch(&launch("sssp_relax", size, search.block, 26), async |w| {
            device.relax(w, queue.items, size, &next, round);
        })?;
        size = next.len(gpu);
        if size == 0 {
            break;
        }
        std::mem::swap(&mut queue, &mut next);
    }
    Ok(device.dist)
}

impl Device {
    fn relax(&self, w: &Warp, queue: Array<u32>, size: u32, next: &Queue, round: u32) {
        let i = w.global_x();
        w.exit_unless(i.lt(size));
        let src = queue.load(i);
        let own = self.dist.at(src);
        self.graph.each_edge(src, |e| {
            let dst = self.graph.col.load(e);
            let weight = self.weight.load(e);
            let alternative = own.load() + weight;
            let dist = self.dist.at(dst);
            w.when(alternative.ge(weight) & alternative.lt(dist.load()), || {
                w.when(dist.fetch_min(alternative).gt(alternative), || {
                    let stamp = self.stamp.at(dst).exchange(round);
                    w.when(stamp.ne(round), || next.push(dst));
                });
            });
        });
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    use super::super::testing::*;
    use super::*;

    /// Returns the distances of the vertices nearer than 2^32 - 1.
    fn dijkstra(graph: &Graph, source: u32) -> Vec<u32> {
        let Csr { offsets, columns } = &graph.structure;
        let mut distance = vec![u64::from(UNREACHED); offsets.len() - 1];
        distance[source as usize] = 0;
        let mut queue = BinaryHeap::from([(Reverse(0), source)]);
        while let Some((Reverse(so_far), from)) = queue.pop() {
            for e in offsets[from as usize]..offsets[from as usize + 1] {
                let (to, further) =
                    (columns[e as usize], so_far + u64::from(graph.weights[e as usize]));
                if further < distance[to as usize] {
                    distance[to as usize] = further;
                    queue.push((Reverse(further), to));
                }
            }
        }
        distance.into_iter().map(|d| d as u32).collect()
    }

    fn weighted(structure: Csr, weight: impl FnMut(u32) -> u32) -> Graph {
        let weights = structure.columns.iter().copied().map(weight).collect();
        Graph { structure, weights, labels: None, directed: false }
    }

    fn search(graph: &Graph, search: &Search) -> Run<Vec<u32>> {
        run(|gpu| sssp(gpu, graph, search).map(|dist| gpu.download(dist)))
    }

    #[test]
    fn distances_match_dijkstra() {
        let mut random = Random::new(5);
        for (name, structure) in graphs(700, 3) {
            let source = by_rank(&structure, None, 0).unwrap();
            // Small weights, including zeros, and large ones, with sums beyond 32 bits.
            for bound in [8, 1 << 31] {
                let graph = weighted(structure.clone(), |_| random.index(bound));
                let run = search(&graph, &Search { source, rounds: u32::MAX, block: 96 });
                assert_eq!(run.result, dijkstra(&graph, source), "{name}");
            }
        }
    }

    /// 0 reaches 1 in one step, and by a shorter path over 2; 3 follows 1.
    fn detour() -> Graph {
        let pairs = vec![(0, 1), (0, 2), (1, 0), (1, 2), (1, 3), (2, 0), (2, 1), (3, 1)];
        let mut graph = weighted(Csr::from_pairs(4, pairs), |_| 1);
        (graph.weights[0], graph.weights[2]) = (5, 5);
        graph
    }

    #[test]
    fn vertices_with_a_lower_distance_are_relaxed_again() {
        let graph = detour();
        let run = search(&graph, &Search { source: 0, rounds: u32::MAX, block: 32 });
        assert_eq!(run.result, [0, 2, 1, 3]);
        // Relaxed are 0; then 1 and 2, which lowers 1 before 1 reaches 3; then 1 again, and 3.
        assert_eq!(run.trace().kernels().len(), 3);
        let edges = DeviceGraph::edge_addresses(&graph.structure);
        assert_eq!(run.count(Kind::Load, &edges), 2 + (3 + 2) + (3 + 1));
        let one = search(&graph, &Search { source: 0, rounds: 1, block: 32 });
        assert_eq!(one.result, [0, 5, 1, UNREACHED]);
    }

    #[test]
    fn a_vertex_is_queued_once_per_round() {
        // 0 to 1, 2 and 3, in this order; from them to 4, each path shorter.
        let pairs: Vec<(u32, u32)> = (1..=3).flat_map(|v| [(0, v), (v, 4)]).collect();
        let mut graph = weighted(Csr::from_pairs(5, pairs), |_| 1);
        graph.weights[3..].copy_from_slice(&[9, 7, 5]);
        let run = search(&graph, &Search { source: 0, rounds: u32::MAX, block: 32 });
        assert_eq!(run.result, [0, 1, 1, 1, 6]);
        // One thread lowers three vertices and queues each; three threads lower one, and the first
        // queues it. A lowering is a minimum and an exchange, a queueing an addition.
        assert_eq!(run.accesses(Kind::Atomic).len(), 3 * 3 + (3 * 2 + 1));
    }
}
