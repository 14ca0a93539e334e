//! Warp-centric: a warp takes 32 vertices, copies their levels and the bounds of their edge lists
//! to shared memory with coalesced loads, then walks the edges of the frontier vertices one vertex
//! at a time with all its lanes. Edge reads are coalesced, and only the last 32 edges of a list
//! leave lanes idle.
//!
//! As in Hong et al. with a virtual warp of 32 threads and chunks of 32 vertices; the last chunk
//! may be short:
//!
//! ```cuda
//! __global__ void warp_bfs(const int *nodes, const int *edges, int *levels, bool *finished, int n, int curr) {
//!     __shared__ struct { int levels[32], nodes[33]; } smem[blockDim.x / 32];
//!     int lane = threadIdx.x % 32, v0 = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 32;
//!     auto *mine = &smem[threadIdx.x / 32];
//!     if (v0 >= n) return;
//!     int count = min(v0 + 32, n) - v0;
//!     for (int i = lane; i < count; i += 32) mine->levels[i] = levels[v0 + i];
//!     for (int i = lane; i < count + 1; i += 32) mine->nodes[i] = nodes[v0 + i];
//!     for (int v = 0; v < count; v++)
//!         if (mine->levels[v] == curr)
//!             for (int i = mine->nodes[v] + lane; i < mine->nodes[v + 1]; i += 32) {
//!                 int u = edges[i];
//!                 if (levels[u] == INF) { levels[u] = curr + 1; *finished = false; }
//!             }
//! }
//! ```

use warpmem_trace::WARP_SIZE;

use super::super::graph::{DeviceGraph, check_full_warps};
use super::super::prelude::*;
use super::{Search, UNREACHED};

/// Vertices per warp.
const CHUNK: u32 = WARP_SIZE as u32;
/// Shared memory of a warp in words: levels, first edges, and the end of the last list.
const WORDS: u32 = CHUNK + CHUNK + 1;

pub fn bfs(gpu: &mut Gpu, graph: &Csr, search: &Search) -> Result<Array<u32>, WorkloadError> {
    check_full_warps(search.block)?;
    let device = Device::upload(gpu, graph, search);
    let plain = launch("warp_bfs", device.n, search.block, 20);
    let launch = Launch { shared_bytes: search.block / CHUNK * WORDS * 4, ..plain };
    for current in 0..search.levels {
        gpu.copy_to(device.finished, &[1]);
        gpu.launch(&launch, async |w| device.expand(w, current))?;
        if gpu.download(device.finished) == [1] {
            break;
        }
    }
    Ok(device.levels)
}

/// The graph and the state of the search on the device.
#[derive(Clone, Copy)]
struct Device {
    graph: DeviceGraph,
    levels: Array<u32>,
    finished: Array<u8>,
    n: u32,
}

impl Device {
    fn upload(gpu: &mut Gpu, graph: &Csr, search: &Search) -> Device {
        Device {
            graph: DeviceGraph::upload(gpu, graph),
            levels: gpu.upload(&search.at_first(graph)),
            finished: gpu.zeros(1),
            n: graph.rows(),
        }
    }

    fn expand(&self, w: &Warp, current: u32) {
        let smem = w.shared::<u32>(w.block_width() / CHUNK * WORDS);
        let lane = w.lane();
        let (thread, warp_in_cta) = (w.global_x(), w.thread_x() >> 5);
        let mine = warp_in_cta * WORDS;
        let first = thread & !(CHUNK - 1);
        w.exit_unless(first.lt(self.n));
        let count = (first + CHUNK).min(self.n) - first;
        w.range(lane, count, CHUNK, |i| smem.at(mine + i).store(self.levels.load(first + i)));
        w.range(lane, count + 1, CHUNK, |i| {
            smem.at(mine + i).offset(CHUNK).store(self.graph.row.load(first + i));
        });
        w.range(0, count, 1, |v| {
            let own = smem.at(mine + v);
            w.when(own.load().eq(current), || {
                let edges = own.offset(CHUNK);
                let (first, end) = (edges.load(), edges.offset(1).load());
                w.range(first + lane, end, CHUNK, |i| self.visit(w, i, current));
            });
        });
    }

    fn visit(&self, w: &Warp, edge: Lanes<'_, u32>, current: u32) {
        let level = self.levels.at(self.graph.col.load(edge));
        w.when(level.load().eq(UNREACHED), || {
            level.store(current + 1);
            self.finished.first(w).store(0);
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
    fn a_warp_reads_the_edges_of_a_vertex_coalesced() {
        // 0..32 fully connected to 32..64; every edge list starts at a line.
        let (left, right) = (0..32, 32..64);
        let pairs = left.flat_map(|u| right.clone().flat_map(move |v| [(u, v), (v, u)]));
        let graph = Csr::from_pairs(64, pairs.collect());
        let task = Search { source: 40, levels: u32::MAX, block: 64 };
        let run = search(Variant::WarpCentric, &graph, &task);
        let device = run_device(&graph, &task);
        // The source, the 32 it reaches, and the other 31 on its side: one line each.
        assert_eq!(run.lines(Kind::Load, &device.graph.col.range()), [1; 64]);
        // Three launches of two warps: 32 bounds, and one more that a single lane reads.
        assert_eq!(run.lines(Kind::Load, &device.graph.row.range()), [1; 12]);
        // One load of levels per chunk; then those of the neighbours, which are contiguous here.
        assert_eq!(run.lines(Kind::Load, &device.levels.range()), [1; 6 + 64]);
    }

    /// Returns the arrays of a search, whose addresses are the same in every run.
    fn run_device(graph: &Csr, task: &Search) -> Device {
        run(|gpu| Ok(Device::upload(gpu, graph, task))).result
    }
}
