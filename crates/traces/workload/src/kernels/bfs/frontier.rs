//! Data-driven, with a queue of the frontier's vertices, as in LonestarGPU: one thread per vertex
//! claims its unreached neighbours and appends them to the next queue.
//!
//! ```cuda
//! __global__ void bfs_frontier(const int *row, const int *col, int *level, const int *in, int size,
//!                              int *out, int *tail, int depth) {
//!     int i = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (i >= size) return;
//!     int src = in[i];
//!     for (int e = row[src], end = row[src + 1]; e < end; e++) {
//!         int dst = col[e];
//!         if (level[dst] == UNREACHED && atomicCAS(&level[dst], UNREACHED, depth) == UNREACHED)
//!             out[atomicAdd(tail, 1)] = dst;
//!     }
//! }
//! ```

use super::super::graph::{DeviceGraph, Queue};
use super::super::prelude::*;
use super::{Search, UNREACHED};

pub fn bfs(gpu: &mut Gpu, graph: &Csr, search: &Search) -> Result<Array<u32>, WorkloadError> {
    let device = Device {
        graph: DeviceGraph::upload(gpu, graph),
        level: gpu.upload(&search.at_first(graph)),
    };
    let mut frontier = Queue::new(gpu, graph.rows());
    let mut next = Queue::new(gpu, graph.rows());
    frontier.fill(gpu, &[search.source]);
    let mut size = 1;
    for depth in 1..=search.levels {
        next.clear(gpu);
        gpu.launch(&launch("bfs_frontier", size, search.block, 22), async |w| {
            device.expand(w, frontier.items, size, &next, depth);
        })?;
        size = next.len(gpu);
        if size == 0 {
            break;
        }
        std::mem::swap(&mut frontier, &mut next);
    }
    Ok(device.level)
}

/// The graph and the state of the search on the device.
#[derive(Clone, Copy)]
struct Device {
    graph: DeviceGraph,
    level: Array<u32>,
}

impl Device {
    fn expand(&self, w: &Warp, frontier: Array<u32>, size: u32, next: &Queue, depth: u32) {
        let i = w.global_x();
        w.exit_unless(i.lt(size));
        let src = frontier.load(i);
        self.graph.each_neighbour(src, |dst| {
            let level = self.level.at(dst);
            w.when(level.load().eq(UNREACHED), || {
                let seen = level.compare_exchange(UNREACHED, depth);
                w.when(seen.eq(UNREACHED), || next.push(dst));
            });
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::*;
    use super::super::Variant;
    use super::super::tests::search;
    use super::*;

    #[test]
    fn only_the_frontier_has_threads() {
        let graph = graph(GraphKind::Grid, 100, 1, &mut Random::new(1));
        let task = Search { source: 0, levels: u32::MAX, block: 4 };
        let run = search(Variant::Frontier, &graph, &task);
        // On a grid of 10 by 10, from a corner, the frontiers are the diagonals.
        let diagonals = (1..=10).chain((1..10).rev());
        let grids: Vec<u32> = run.trace().kernels().iter().map(|k| k.info.grid[0]).collect();
        assert_eq!(grids, diagonals.map(|size: u32| size.div_ceil(4)).collect::<Vec<_>>());
    }

    #[test]
    fn every_vertex_is_queued_once() {
        // The first level is fully connected to the second.
        let (first, second) = (1..=40, 41..=80);
        let pairs = first.clone().map(|v| (0, v));
        let pairs = pairs.chain(first.flat_map(|u| second.clone().map(move |v| (u, v))));
        let pairs = pairs.flat_map(|(u, v)| [(u, v), (v, u)]).collect();
        let graph = Csr::from_pairs(81, pairs);
        let task = Search { source: 0, levels: u32::MAX, block: 64 };
        let run = search(Variant::Frontier, &graph, &task);
        assert_eq!(run.accesses(Kind::Store).len(), 80);
        // The source claims the first level one by one. The 32 lanes of the first warp claim each
        // vertex of the second level together, and one succeeds; the second warp finds them
        // reached. Each success appends alone.
        assert_eq!(run.accesses(Kind::Atomic).len(), 40 + 40 * 32 + 80);
    }
}
