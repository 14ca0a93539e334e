//! Breadth-first search, topology-driven, as in Rodinia: two kernels per level over all vertices; one thread
//! per vertex expands it if it is in the frontier. Divergent in the extreme.
//!
//! ```cuda
//! __global__ void Kernel(Node *nodes, int *edges, bool *mask, bool *updating, bool *visited, int *cost, int n) {
//!     int tid = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (tid < n && mask[tid]) {
//!         mask[tid] = false;
//!         for (int i = nodes[tid].starting; i < nodes[tid].no_of_edges + nodes[tid].starting; i++) {
//!             int id = edges[i];
//!             if (!visited[id]) { cost[id] = cost[tid] + 1; updating[id] = true; }
//!         }
//!     }
//! }
//! __global__ void Kernel2(bool *mask, bool *updating, bool *visited, bool *over, int n) {
//!     int tid = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (tid < n && updating[tid]) {
//!         mask[tid] = true; visited[tid] = true; *over = true; updating[tid] = false;
//!     }
//! }
//! ```

use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "bfs",
    summary: "breadth-first search, topology-driven, two kernels per level",
    source: "Rodinia 3.1, bfs (Che et al., IISWC 2009)",
    parameters: &[
        GRAPH,
        &[
            Parameter::count(
                "source",
                0,
                (0, 1 << 24),
                "-",
                "Where the search starts: rank of the vertex by its neighbours, 0 has most",
            ),
            Parameter::count("levels", 1 << 20, (1, 1 << 20), "levels", "Stop after this many"),
            BLOCK,
        ],
    ],
    run: |gpu, arguments, random| {
        let graph = graph_of(arguments, random)?.structure;
        let source = by_rank(&graph, arguments.count32("source"))?;
        bfs(gpu, &graph, source, arguments.count32("levels"), arguments.count32("block")).map(drop)
    },
};

/// The vertex of which `rank` others have more neighbours (or as many, and a lower number).
fn by_rank(graph: &Csr, rank: u32) -> Result<u32, WorkloadError> {
    let mut vertices: Vec<u32> = (0..graph.rows()).collect();
    vertices.sort_by_key(|&vertex| std::cmp::Reverse(graph.degree(vertex)));
    vertices.get(rank as usize).copied().ok_or_else(|| WorkloadError::Inconsistent {
        message: format!("--source {rank} is not a rank among {} vertices", graph.rows()),
    })
}

/// The graph and the search's state on the device.
#[derive(Clone, Copy)]
struct Search {
    /// Number of the first edge, number of edges.
    nodes: Array<[u32; 2]>,
    edges: Array<u32>,
    mask: Array<u8>,
    updating: Array<u8>,
    visited: Array<u8>,
    cost: Array<u32>,
    over: Array<u8>,
    n: u32,
}

/// Cost of what was not reached (-1 as an `int`).
const UNREACHED: u32 = u32::MAX;

fn bfs(
    gpu: &mut Gpu,
    graph: &Csr,
    source: u32,
    levels: u32,
    block: u32,
) -> Result<Search, WorkloadError> {
    let n = graph.rows();
    let at_source: Vec<u8> = (0..n).map(|v| u8::from(v == source)).collect();
    let mut cost = vec![UNREACHED; n as usize];
    cost[source as usize] = 0;
    let nodes: Vec<[u32; 2]> =
        (0..n).map(|v| [graph.offsets[v as usize], graph.degree(v)]).collect();
    let search = Search {
        nodes: gpu.upload(&nodes),
        edges: gpu.upload(&graph.columns),
        mask: gpu.upload(&at_source),
        updating: gpu.upload(&vec![0; n as usize]),
        visited: gpu.upload(&at_source),
        cost: gpu.upload(&cost),
        over: gpu.zeros(1),
        n,
    };
    for _ in 0..levels {
        gpu.copy_to(search.over, &[0]);
        gpu.launch(&launch("Kernel", n, block, 24), async |w| search.expand(w))?;
        gpu.launch(&launch("Kernel2", n, block, 12), async |w| search.update(w))?;
        if gpu.download(search.over) == [0] {
            break;
        }
    }
    Ok(search)
}

impl Search {
    fn expand(&self, w: &Warp) {
        let tid = w.global_x();
        w.exit_unless(tid.lt(self.n));
        let mask = self.mask.at(tid);
        w.exit_unless(mask.load().ne(0));
        mask.store(0);
        let node = self.nodes.at(tid);
        let (count, first) = (node.part(1).load(), node.part(0).load());
        let own_cost = self.cost.at(tid);
        w.range(first, count + first, 1, |i| {
            let id = self.edges.load(i);
            w.when(self.visited.load(id).eq(0), || {
                self.cost.store(id, own_cost.load() + 1);
                self.updating.store(id, 1);
            });
        });
    }

    fn update(&self, w: &Warp) {
        let tid = w.global_x();
        w.exit_unless(tid.lt(self.n));
        let updating = self.updating.at(tid);
        w.exit_unless(updating.load().ne(0));
        self.mask.store(tid, 1);
        self.visited.store(tid, 1);
        self.over.first(w).store(1);
        updating.store(0);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, VecDeque};

    use super::super::testing::*;
    use super::*;

    fn plain_bfs(graph: &Csr, source: u32) -> Vec<u32> {
        let mut cost = vec![UNREACHED; graph.rows() as usize];
        cost[source as usize] = 0;
        let mut queue = VecDeque::from([source]);
        while let Some(from) = queue.pop_front() {
            for &to in graph.row(from) {
                if cost[to as usize] == UNREACHED {
                    cost[to as usize] = cost[from as usize] + 1;
                    queue.push_back(to);
                }
            }
        }
        cost
    }

    #[test]
    fn costs_are_distances_and_exactly_what_is_reached_is_written() {
        for &(name, kind) in GraphKind::NAMES {
            let graph = graph(kind, 700, 3, &mut Random::new(11));
            let source = by_rank(&graph, 5).unwrap();
            let run = run(|gpu| {
                let search = bfs(gpu, &graph, source, u32::MAX, 128)?;
                Ok((gpu.download(search.cost), search.cost, search.edges))
            });
            let (cost, array, edges) = &run.result;
            assert_eq!(*cost, plain_bfs(&graph, source), "{name}");

            let stored = run.addresses(Kind::Store);
            let reached: BTreeSet<u64> = (0..graph.rows())
                .filter(|&v| v != source && cost[v as usize] != UNREACHED)
                .map(|v| array.address(u64::from(v)))
                .collect();
            assert_eq!(
                stored.range(array.range()).copied().collect::<BTreeSet<_>>(),
                reached,
                "{name}"
            );

            let loads = run.accesses(Kind::Load);
            let read = loads.iter().filter(|&address| edges.range().contains(address)).count();
            let expanded = (0..graph.rows()).filter(|&v| cost[v as usize] != UNREACHED);
            assert_eq!(read, expanded.map(|v| graph.degree(v) as usize).sum::<usize>(), "{name}");
        }
    }

    #[test]
    fn stops_after_the_levels_asked_for() {
        let graph = graph(GraphKind::Grid, 100, 1, &mut Random::new(1));
        let run = run(|gpu| bfs(gpu, &graph, 0, 3, 128));
        assert_eq!(run.trace().kernels().len(), 6);
    }

    #[test]
    fn ranks_count_from_the_busiest_vertex() {
        let star = Csr::from_pairs(4, vec![(2, 0), (2, 1), (2, 3), (0, 2), (1, 2), (3, 2)]);
        assert_eq!(by_rank(&star, 0).unwrap(), 2);
        assert_eq!(by_rank(&star, 1).unwrap(), 0);
        assert_eq!(
            by_rank(&star, 4).unwrap_err().to_string(),
            "--source 4 is not a rank among 4 vertices"
        );
    }
}
