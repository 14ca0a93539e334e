//! Topology-driven, as in Rodinia: two kernels per level over all vertices; one thread per vertex
//! expands it if it is in the frontier. Extremely divergent.
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

use super::super::prelude::*;
use super::Search;

/// The graph and the state of the search on the device.
#[derive(Clone, Copy)]
struct Device {
    /// First edge and number of edges of each vertex.
    nodes: Array<[u32; 2]>,
    edges: Array<u32>,
    mask: Array<u8>,
    updating: Array<u8>,
    visited: Array<u8>,
    cost: Array<u32>,
    over: Array<u8>,
    n: u32,
}

pub fn bfs(gpu: &mut Gpu, graph: &Csr, search: &Search) -> Result<Array<u32>, WorkloadError> {
    let device = Device::upload(gpu, graph, search);
    for _ in 0..search.levels {
        gpu.copy_to(device.over, &[0]);
        gpu.launch(&launch("Kernel", device.n, search.block, 24), async |w| device.expand(w))?;
        gpu.launch(&launch("Kernel2", device.n, search.block, 12), async |w| device.update(w))?;
        if gpu.download(device.over) == [0] {
            break;
        }
    }
    Ok(device.cost)
}

impl Device {
    fn upload(gpu: &mut Gpu, graph: &Csr, search: &Search) -> Device {
        let n = graph.rows();
        let at_source: Vec<u8> = (0..n).map(|v| u8::from(v == search.source)).collect();
        let nodes: Vec<[u32; 2]> =
            (0..n).map(|v| [graph.offsets[v as usize], graph.degree(v)]).collect();
        Device {
            nodes: gpu.upload(&nodes),
            edges: gpu.upload(&graph.columns),
            mask: gpu.upload(&at_source),
            updating: gpu.upload(&vec![0; n as usize]),
            visited: gpu.upload(&at_source),
            cost: gpu.upload(&search.at_first(graph)),
            over: gpu.zeros(1),
            n,
        }
    }

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
    use super::super::super::testing::*;
    use super::super::Variant;
    use super::super::tests::search;
    use super::*;

    /// Returns the edges of a search, whose address is the same in every run.
    fn edges(graph: &Csr, task: &Search) -> Array<u32> {
        run(|gpu| Ok(Device::upload(gpu, graph, task).edges)).result
    }

    #[test]
    fn a_level_is_two_launches_over_all_vertices_and_every_edge_is_read_once() {
        let graph = graph(GraphKind::Grid, 100, 1, &mut Random::new(1));
        let task = Search { source: 0, levels: u32::MAX, block: 64 };
        let run = search(Variant::Topology, &graph, &task);
        let kernels = run.trace().kernels();
        // The corners of a grid of 10 by 10 are 18 apart; the last level finds nothing.
        assert_eq!(kernels.len(), 2 * 19);
        assert!(kernels.iter().all(|kernel| kernel.info.grid == [2, 1, 1]));
        let edges = edges(&graph, &task).range();
        assert_eq!(run.count(Kind::Load, &edges), graph.columns.len());
    }

    #[test]
    fn neighbouring_lanes_read_one_edge_list_apart() {
        // 32 vertices with 32 edges each: lanes read 128 bytes apart, one line each in every round.
        let (left, right) = (0..32, 32..64);
        let pairs = left.flat_map(|u| right.clone().flat_map(move |v| [(u, v), (v, u)]));
        let graph = Csr::from_pairs(64, pairs.collect());
        let task = Search { source: 40, levels: u32::MAX, block: 64 };
        let run = search(Variant::Topology, &graph, &task);
        let lines = run.lines(Kind::Load, &edges(&graph, &task).range());
        let expected = [[1; 32], [32; 32], [31; 32]].concat();
        assert_eq!(lines, expected);
    }

    #[test]
    fn loads_take_any_number_of_lines() {
        // A sixteenth of the size of the graph distributed with Rodinia.
        let graph = graph(GraphKind::Uniform, 1 << 12, 6, &mut Random::new(1));
        let task = Search { source: 0, levels: u32::MAX, block: 256 };
        let lines = search(Variant::Topology, &graph, &task).lines(Kind::Load, &(0..u64::MAX));
        let of = |number: usize| lines.iter().filter(|&&lines| lines == number).count();
        assert!((1..=14).all(|number| of(number) > 0));
        // "A major part of the memory warps generates only a single memory request" (CaLRS 2015, section 3.2).
        assert!((of(1) as f64 / lines.len() as f64 - 0.5).abs() < 0.1);
    }
}
