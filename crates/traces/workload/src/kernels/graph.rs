//! Helpers of graph kernels: the graph on the device, queues of vertices, sums over a warp.

use warpmem_trace::WARP_SIZE;

use super::prelude::*;
use crate::warp::numbers::Number;

/// Parameter of kernels that start at one vertex.
pub const SOURCE: Parameter = Parameter::count(
    "source",
    0,
    (0, 1 << 24),
    "-",
    "Source of the search: rank of the vertex by descending number of neighbours",
);

/// Returns the vertex of rank `rank` by descending number of neighbours; ties go to the lower
/// number before `labels` renamed the vertices, so that the search starts at the same vertex in any
/// order.
pub fn by_rank(graph: &Csr, labels: Option<&[u32]>, rank: u32) -> Result<u32, WorkloadError> {
    let label = |vertex: u32| labels.map_or(vertex, |labels| labels[vertex as usize]);
    let mut vertices: Vec<u32> = (0..graph.rows()).collect();
    vertices.sort_by_key(|&vertex| std::cmp::Reverse(graph.degree(label(vertex))));
    let found = vertices.get(rank as usize).map(|&vertex| label(vertex));
    found.ok_or_else(|| WorkloadError::Inconsistent {
        message: format!("--source {rank} is not a rank among {} vertices", graph.rows()),
    })
}

/// A graph in device memory, in compressed sparse rows.
#[derive(Clone, Copy)]
pub struct DeviceGraph {
    /// First edge of every vertex, and the number of edges.
    pub row: Array<u32>,
    /// Destinations of the edges.
    pub col: Array<u32>,
}

impl DeviceGraph {
    pub fn upload(gpu: &mut Gpu, graph: &Csr) -> DeviceGraph {
        DeviceGraph { row: gpu.upload(&graph.offsets), col: gpu.upload(&graph.columns) }
    }

    /// Returns the addresses of the edges if the graph is the first upload.
    #[cfg(test)]
    pub fn edge_addresses(graph: &Csr) -> std::ops::Range<u64> {
        use super::testing::run;
        run(|gpu| Ok(DeviceGraph::upload(gpu, graph).col)).result.range()
    }

    /// `row[v]` and `row[v + 1]`: the first edge of `v`, and the end of its edges.
    pub fn edges<'w>(&self, v: Lanes<'w, u32>) -> (Lanes<'w, u32>, Lanes<'w, u32>) {
        let bounds = self.row.at(v);
        (bounds.load(), bounds.offset(1).load())
    }

    /// `for (e = row[v]; e < row[v + 1]; e++) body(e)`
    pub fn each_edge<'w>(&self, v: Lanes<'w, u32>, body: impl FnMut(Lanes<'w, u32>)) {
        let (first, end) = self.edges(v);
        v.warp().range(first, end, 1, body);
    }

    /// As [`DeviceGraph::each_edge`], with the destinations: `body(col[e])`.
    pub fn each_neighbour<'w>(&self, v: Lanes<'w, u32>, mut body: impl FnMut(Lanes<'w, u32>)) {
        self.each_edge(v, |e| body(self.col.load(e)));
    }
}

/// A list that all threads append to.
#[derive(Clone, Copy)]
pub struct Queue {
    pub items: Array<u32>,
    tail: Array<u32>,
}

impl Queue {
    /// Creates a list with room for `capacity` items.
    pub fn new(gpu: &mut Gpu, capacity: u32) -> Queue {
        Queue { items: gpu.zeros(u64::from(capacity)), tail: gpu.zeros(1) }
    }

    /// Sets the list to `items`.
    pub fn fill(&self, gpu: &mut Gpu, items: &[u32]) {
        gpu.copy_to(self.items, items);
        gpu.copy_to(self.tail, &[items.len() as u32]);
    }

    /// Empties the list.
    pub fn clear(&self, gpu: &mut Gpu) {
        gpu.copy_to(self.tail, &[0]);
    }

    pub fn len(&self, gpu: &Gpu) -> u32 {
        gpu.download(self.tail)[0]
    }

    /// `items[atomicAdd(tail, 1)] = item`, with one atomic for all active lanes, as `nvcc` compiles
    /// it since CUDA 9 (Adinets, "CUDA Pro Tip: Optimized Filtering with Warp-Aggregated Atomics",
    /// 2014):
    ///
    /// ```cuda
    /// unsigned peers = __activemask();
    /// int rank = __popc(peers & lanemask_lt()), first;
    /// if (rank == 0) first = atomicAdd(tail, __popc(peers));
    /// items[__shfl_sync(peers, first, __ffs(peers) - 1) + rank] = item;
    /// ```
    pub fn push(&self, item: Lanes<'_, u32>) {
        let w = item.warp();
        let peers = w.active_mask();
        let rank = (peers & w.lanes_below()).count_ones();
        let first = w.var(0);
        w.when(rank.eq(0), || first.set(self.tail.first(w).fetch_add(peers.count_ones())));
        let slot = first.get().shuffle(peers.lowest_bit()) + rank;
        self.items.store(slot, item);
    }
}

/// Sums over the warp into lane 0. All 32 lanes must be active:
///
/// ```cuda
/// for (int d = 16; d > 0; d /= 2) value += __shfl_down_sync(~0, value, d);
/// ```
pub fn warp_sum<T: Number>(value: Lanes<'_, T>) -> Lanes<'_, T> {
    [16, 8, 4, 2, 1].into_iter().fold(value, |sum, distance| sum.shuffle_down(distance) + sum)
}

/// `warp_add(total, value)`: replaces `atomicAdd(total, value)` of every lane by one atomic of lane
/// 0 with the sum over the warp. All 32 lanes must be active.
pub fn warp_add<T: Number>(total: Pointer<'_, T>, value: Lanes<'_, T>) {
    let sum = warp_sum(value);
    let lane = value.warp().lane();
    value.warp().when(lane.eq(0), || total.add(sum));
}

/// Refuses CTAs with partial warps, for kernels in which a warp works as a unit.
pub fn check_full_warps(block: u32) -> Result<(), WorkloadError> {
    check_multiple("block", u64::from(block), WARP_SIZE as u64)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn ranks_count_from_the_busiest_vertex() {
        let star = Csr::from_pairs(4, vec![(2, 0), (2, 1), (2, 3), (0, 2), (1, 2), (3, 2)]);
        assert_eq!(by_rank(&star, None, 0).unwrap(), 2);
        assert_eq!(by_rank(&star, None, 1).unwrap(), 0);
        let labels = [3, 2, 1, 0];
        let (renamed, _) = star.relabelled(&vec![(); star.columns.len()], &labels);
        assert_eq!(
            by_rank(&renamed, Some(&labels), 0).unwrap(),
            1,
            "the same vertex by its new name"
        );
        assert_eq!(by_rank(&renamed, Some(&labels), 1).unwrap(), 3);
        assert_eq!(
            by_rank(&star, None, 4).unwrap_err().to_string(),
            "--source 4 is not a rank among 4 vertices"
        );
    }

    #[test]
    fn simultaneous_pushes_share_an_atomic_and_keep_lane_order() {
        let run = run(|gpu| {
            let queue = Queue::new(gpu, 100);
            queue.fill(gpu, &[7]);
            gpu.launch(&launch("push", 70, 35, 8), async |w| {
                let thread = w.global_x();
                w.when((thread & 1).eq(0), || queue.push(thread));
            })?;
            let len = queue.len(gpu) as usize;
            Ok(gpu.download(queue.items)[..len].to_vec())
        });
        // CTA 1 starts at thread 35, so its even threads are its odd lanes.
        let even: Vec<u32> = (0..70).step_by(2).collect();
        assert_eq!(run.result, [&[7], even.as_slice()].concat());
        // One in each of the two warps of both CTAs.
        assert_eq!(run.accesses(Kind::Atomic).len(), 4);
    }

    #[test]
    fn warp_add_issues_one_atomic_per_warp() {
        let run = run(|gpu| {
            let total: Array<u32> = gpu.zeros(1);
            gpu.launch(&launch("add", 96, 32, 8), async |w| {
                warp_add(total.first(w), w.global_x());
            })?;
            Ok(gpu.download(total))
        });
        assert_eq!(run.result, [95 * 96 / 2]);
        assert_eq!(run.accesses(Kind::Reduction).len(), 3);
    }
}
