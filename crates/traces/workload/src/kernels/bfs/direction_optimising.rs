//! Direction-optimising: top-down from a queue while the frontier is small; bottom-up, where every
//! unreached vertex looks for one neighbour on the frontier, while it is large. The frontier is
//! then a bitmap.
//!
//! The direction changes by the rule of the GAP benchmark suite's `bfs.cc`, with its alpha and
//! beta; the host evaluates it between launches. As there, `level` holds -degree of an unreached
//! vertex, so that its degree is known without reading its edges. In a directed graph, `bottom_up`
//! reads the incoming edges from separate arrays.
//!
//! ```cuda
//! __global__ void top_down(const int *row, const int *col, int *level, const int *in, int size,
//!                          int *out, int *tail, int *scout, int depth) {
//!     int i = blockIdx.x * blockDim.x + threadIdx.x, degrees = 0;
//!     if (i < size) {
//!         int src = in[i];
//!         for (int e = row[src], end = row[src + 1]; e < end; e++) {
//!             int dst = col[e], seen = level[dst];
//!             if (seen < 0 && atomicCAS(&level[dst], seen, depth) == seen) {
//!                 out[atomicAdd(tail, 1)] = dst;
//!                 degrees -= seen;
//!             }
//!         }
//!     }
//!     warp_add(scout, degrees);                // one atomic per warp
//! }
//! __global__ void queue_to_bitmap(const int *in, int size, unsigned *front) {
//!     int i = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (i < size) atomicOr(&front[in[i] / 32], 1u << in[i] % 32);
//! }
//! __global__ void bottom_up(const int *row, const int *col, int *level, const unsigned *front,
//!                           unsigned *next, int *awake, int n, int depth) {
//!     int v = blockIdx.x * blockDim.x + threadIdx.x;
//!     unsigned found = 0;
//!     if (v < n && level[v] < 0) {
//!         for (int e = row[v], end = row[v + 1]; e < end && !found; e++)
//!             found = front[col[e] / 32] >> col[e] % 32 & 1;
//!         if (found) level[v] = depth;
//!     }
//!     unsigned word = __ballot_sync(~0, found);
//!     if (threadIdx.x % 32 == 0 && v < n) {
//!         next[v / 32] = word;
//!         atomicAdd(awake, __popc(word));
//!     }
//! }
//! __global__ void bitmap_to_queue(const unsigned *front, int *out, int *tail, int n) {
//!     int v = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (v < n && front[v / 32] >> v % 32 & 1) out[atomicAdd(tail, 1)] = v;
//! }
//! ```

use super::super::graph::{DeviceGraph, Queue, check_full_warps, warp_add};
use super::super::prelude::*;
use super::Search;

/// Switch to bottom-up when the frontier has more than this fraction (1 / ALPHA) of the unseen
/// edges (GAP, `bfs.cc`).
const ALPHA: u64 = 15;
/// Switch to top-down when the frontier shrinks to at most this fraction (1 / BETA) of the
/// vertices.
const BETA: u32 = 18;
/// Largest `int`; larger unsigned values are negative.
const INT_MAX: u32 = i32::MAX as u32;

pub fn bfs(gpu: &mut Gpu, graph: &Graph, search: &Search) -> Result<Array<u32>, WorkloadError> {
    check_full_warps(search.block)?;
    let mut device = Device::upload(gpu, graph, search);
    let mut scout = graph.structure.degree(search.source);
    let mut unseen = graph.structure.columns.len() as u64;
    let mut size = 1;
    let mut depth = 0;
    while size > 0 && depth < search.levels {
        if u64::from(scout) > unseen / ALPHA {
            device.make_bitmap(gpu, size)?;
            let mut awake = size;
            loop {
                let before = awake;
                depth += 1;
                awake = device.up(gpu, depth)?;
                let shrinks_to_few = awake < before && awake <= device.n / BETA;
                if shrinks_to_few || depth == search.levels {
                    break;
                }
            }
            size = device.make_queue(gpu)?;
            scout = 1;
        } else {
            unseen = unseen.saturating_sub(u64::from(scout));
            depth += 1;
            (size, scout) = device.down(gpu, size, depth)?;
        }
    }
    Ok(device.level)
}

/// The graph and the state of the search on the device.
#[derive(Clone, Copy)]
struct Device {
    graph: DeviceGraph,
    /// Incoming edges; those of `graph` if it is undirected.
    incoming: DeviceGraph,
    /// Distance, or minus the degree (at least 1) of unreached vertices.
    level: Array<u32>,
    frontier: Queue,
    next: Queue,
    front: Array<u32>,
    next_front: Array<u32>,
    /// Edges of the vertices reached by a top-down step.
    scout: Array<u32>,
    /// Vertices reached by a bottom-up step.
    awake: Array<u32>,
    n: u32,
    block: u32,
}

/// Host code.
impl Device {
    fn upload(gpu: &mut Gpu, graph: &Graph, search: &Search) -> Device {
        let outgoing = &graph.structure;
        let n = outgoing.rows();
        let words = u64::from(n.div_ceil(32));
        let mut level: Vec<u32> =
            (0..n).map(|v| outgoing.degree(v).max(1).wrapping_neg()).collect();
        level[search.source as usize] = 0;
        let on_device = DeviceGraph::upload(gpu, outgoing);
        let incoming = graph.incoming().map(|edges| DeviceGraph::upload(gpu, &edges));
        let device = Device {
            graph: on_device,
            incoming: incoming.unwrap_or(on_device),
            level: gpu.upload(&level),
            frontier: Queue::new(gpu, n),
            next: Queue::new(gpu, n),
            front: gpu.zeros(words),
            next_front: gpu.zeros(words),
            scout: gpu.zeros(1),
            awake: gpu.zeros(1),
            n,
            block: search.block,
        };
        device.frontier.fill(gpu, &[search.source]);
        device
    }

    /// Runs one level from the queue; returns the vertices reached and their edges.
    fn down(&mut self, gpu: &mut Gpu, size: u32, depth: u32) -> Result<(u32, u32), WorkloadError> {
        self.next.clear(gpu);
        gpu.copy_to(self.scout, &[0]);
        gpu.launch(&launch("top_down", size, self.block, 24), async |w| {
            self.top_down(w, size, depth);
        })?;
        std::mem::swap(&mut self.frontier, &mut self.next);
        Ok((self.frontier.len(gpu), gpu.download(self.scout)[0]))
    }

    fn make_bitmap(&self, gpu: &mut Gpu, size: u32) -> Result<(), WorkloadError> {
        gpu.copy_to(self.front, &vec![0; self.front.len() as usize]);
        gpu.launch(&launch("queue_to_bitmap", size, self.block, 12), async |w| {
            self.queue_to_bitmap(w, size);
        })
    }

    /// Runs one level from the bitmap; returns the vertices reached.
    fn up(&mut self, gpu: &mut Gpu, depth: u32) -> Result<u32, WorkloadError> {
        gpu.copy_to(self.awake, &[0]);
        gpu.launch(&launch("bottom_up", self.n, self.block, 20), async |w| {
            self.bottom_up(w, depth);
        })?;
        std::mem::swap(&mut self.front, &mut self.next_front);
        Ok(gpu.download(self.awake)[0])
    }

    /// Moves the vertices of the bitmap to the queue; returns their number.
    fn make_queue(&self, gpu: &mut Gpu) -> Result<u32, WorkloadError> {
        self.frontier.clear(gpu);
        gpu.launch(&launch("bitmap_to_queue", self.n, self.block, 14), async |w| {
            self.bitmap_to_queue(w);
        })?;
        Ok(self.frontier.len(gpu))
    }
}

/// Kernels.
impl Device {
    fn top_down(&self, w: &Warp, size: u32, depth: u32) {
        let i = w.global_x();
        let degrees = w.var(0);
        w.when(i.lt(size), || {
            let src = self.frontier.items.load(i);
            self.graph.each_neighbour(src, |dst| {
                let level = self.level.at(dst);
                let seen = level.load();
                w.when(seen.gt(INT_MAX), || {
                    w.when(level.compare_exchange(seen, depth).eq(seen), || {
                        self.next.push(dst);
                        degrees.set(degrees.get() - seen);
                    });
                });
            });
        });
        warp_add(self.scout.first(w), degrees.get());
    }

    fn queue_to_bitmap(&self, w: &Warp, size: u32) {
        let i = w.global_x();
        w.exit_unless(i.lt(size));
        let v = self.frontier.items.load(i);
        let bit = w.var(1).get() << (v & 31);
        self.front.at(v >> 5).or(bit);
    }

    fn bottom_up(&self, w: &Warp, depth: u32) {
        let v = w.global_x();
        let found = w.var(0);
        w.when(v.lt(self.n), || {
            let level = self.level.at(v);
            w.when(level.load().gt(INT_MAX), || {
                self.find_parent(w, v, &found);
                w.when(found.get().ne(0), || level.store(depth));
            });
        });
        let word = found.get().ne(0).ballot();
        w.when(w.lane().eq(0) & v.lt(self.n), || {
            self.next_front.store(v >> 5, word);
            self.awake.first(w).add(word.count_ones());
        });
    }

    /// Scans the neighbours of `v` up to the first on the frontier.
    fn find_parent<'w>(&self, w: &'w Warp, v: Lanes<'w, u32>, found: &Var<'w, u32>) {
        let (first, end) = self.incoming.edges(v);
        let e = w.var(first);
        w.while_loop(
            || e.get().lt(end) & found.get().eq(0),
            || {
                found.set(self.bit(self.incoming.col.load(e.get())));
                e.set(e.get() + 1);
            },
        );
    }

    fn bitmap_to_queue(&self, w: &Warp) {
        let v = w.global_x();
        w.exit_unless(v.lt(self.n));
        w.when(self.bit(v).ne(0), || self.frontier.push(v));
    }

    /// `front[v / 32] >> v % 32 & 1`
    fn bit<'w>(&self, v: Lanes<'w, u32>) -> Lanes<'w, u32> {
        let word = self.front.load(v >> 5);
        (word >> (v & 31)) & 1
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::*;
    use super::super::Variant;
    use super::super::tests::search;
    use super::*;

    fn launches(graph: &Csr, source: u32) -> Vec<String> {
        let task = Search { source, levels: u32::MAX, block: 64 };
        let run = search(Variant::DirectionOptimising, graph, &task);
        run.trace().kernels().iter().map(|kernel| kernel.info.name.clone()).collect()
    }

    /// Returns the complete graph of `n` vertices.
    fn complete(n: u32) -> Csr {
        let others = |v: u32| (0..n).filter(move |&u| u != v).map(move |u| (v, u));
        Csr::from_pairs(n, (0..n).flat_map(others).collect())
    }

    #[test]
    fn direction_changes_follow_the_rule_of_gap() {
        // 1560 edges. The source has 39, not more than 1560 / 15. The vertices it reaches have 39 *
        // 39, more than 1521 / 15 of the remaining; the bottom-up step reaches none, at most 40 /
        // 18 and fewer than before.
        let up = ["queue_to_bitmap", "bottom_up", "bitmap_to_queue"];
        assert_eq!(launches(&complete(40), 0), [&["top_down"], up.as_slice()].concat());

        // On a grid of 10 by 10, from a corner, the frontiers are the diagonals. The sixth has 22
        // edges, more than a fifteenth of the 310 left. The fifteenth shrinks to five vertices, not
        // more than 100 / 18; later ones have 14, 10, 6 and 2 edges of 309 and fewer, and the last
        // reaches none.
        let grid = graph(GraphKind::Grid, 100, 1, &mut Random::new(1));
        let names: Vec<String> = launches(&grid, 0);
        let of = |name: &str| names.iter().filter(|other| *other == name).count();
        assert_eq!(["top_down", "queue_to_bitmap", "bottom_up"].map(of), [5 + 5, 1, 9]);
        assert_eq!(names[4..7], ["top_down", "queue_to_bitmap", "bottom_up"]);
    }

    #[test]
    fn bottom_up_stops_at_the_first_neighbour_on_the_frontier() {
        // A hub, and a ring of 64 around it.
        let spokes = (1..=64).map(|v| (0, v));
        let pairs = spokes.chain((1..=64).map(|v| (v, v % 64 + 1)));
        let graph = Csr::from_pairs(65, pairs.flat_map(|(u, v)| [(u, v), (v, u)]).collect());
        let task = Search { source: 5, levels: u32::MAX, block: 64 };
        assert_eq!(
            launches(&graph, 5)[..4],
            ["top_down", "queue_to_bitmap", "bottom_up", "bottom_up"]
        );
        let run = search(Variant::DirectionOptimising, &graph, &task);
        // The source's three neighbours; then each of the remaining 61 checks its first, the hub.
        let edges = DeviceGraph::edge_addresses(&graph);
        assert_eq!(run.count(Kind::Load, &edges), 3 + 61);
    }
}
