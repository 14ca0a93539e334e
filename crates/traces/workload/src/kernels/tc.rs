//! Triangle counting: the common neighbours of the two ends of each edge, from ascending lists.
//! Edges lead from the vertex with fewer neighbours to the other, so that every triangle is counted
//! at one edge and the lists of hubs are short.
//!
//! `merge` has a thread per edge, which merges both lists (Polak, IPDPSW 2016). `binary-search` has
//! a warp per edge, whose lanes look up the shorter list's vertices in the longer one (TriCore: Hu,
//! Liu and Huang, SC 2018; without its copy of the search tree's top in shared memory). The edges
//! are one array, first their destinations and then their origins, so that the word after the last
//! list is readable.
//!
//! ```cuda
//! __global__ void tc_merge(const int *row, const int *edges, int m, unsigned long long *triangles) {
//!     int i = blockIdx.x * blockDim.x + threadIdx.x, count = 0;
//!     if (i < m) {
//!         int v = edges[i], u = edges[m + i];
//!         int u_at = row[u], u_end = row[u + 1], v_at = row[v], v_end = row[v + 1];
//!         int a = edges[u_at], b = edges[v_at];
//!         while (u_at < u_end && v_at < v_end) {
//!             int d = a - b;
//!             if (d <= 0) a = edges[++u_at];
//!             if (d >= 0) b = edges[++v_at];
//!             if (d == 0) count++;
//!         }
//!     }
//!     warp_add(triangles, count);                  // one atomic per warp
//! }
//! __global__ void tc_binary(const int *row, const int *edges, int m, unsigned long long *triangles) {
//!     int warps = blockDim.x / 32, lane = threadIdx.x % 32, count = 0;
//!     for (int i = blockIdx.x * warps + threadIdx.x / 32; i < m; i += gridDim.x * warps) {
//!         int v = edges[i], u = edges[m + i];
//!         int keys = row[u], keys_end = row[u + 1], table = row[v], table_end = row[v + 1];
//!         if (keys_end - keys > table_end - table) { swap(keys, table); swap(keys_end, table_end); }
//!         for (int k = keys + lane; k < keys_end; k += 32) {
//!             int key = edges[k], low = table, high = table_end;
//!             while (low < high) {
//!                 int middle = (low + high) / 2, found = edges[middle];
//!                 if (found == key) { count++; break; }
//!                 if (found < key) low = middle + 1; else high = middle;
//!             }
//!         }
//!     }
//!     warp_add(triangles, count);
//! }
//! ```

use super::graph::{check_full_warps, warp_sum};
use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "tc",
    summary: "triangle counting, sorted lists intersected by merging or by binary search",
    source: "Polak, IPDPSW 2016 (merge); TriCore (Hu, Liu and Huang, SC 2018; binary search)",
    parameters: &[
        &[Parameter::choice::<Variant>(
            "variant",
            "merge",
            "One thread merges two lists, or one warp looks up one list in the other",
        )],
        GRAPH,
        &[BLOCK],
    ],
    run: |gpu, arguments, random| {
        let graph = graph_of(arguments, Directions::Both, random)?.structure;
        let (variant, block) = (arguments.choice("variant"), arguments.count32("block"));
        triangles(gpu, variant, &graph, block).map(drop)
    },
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variant {
    Merge,
    BinarySearch,
}

impl Choice for Variant {
    const NAMES: &'static [(&'static str, Variant)] =
        &[("merge", Variant::Merge), ("binary-search", Variant::BinarySearch)];
}

/// For `binary-search`, as in TriCore; the remaining edges go to the same warps.
const MOST_CTAS: u32 = 1024;

/// The graph on the device, every edge in one direction, and the count.
#[derive(Clone, Copy)]
struct Device {
    /// First edge of every vertex, and the number of edges.
    row: Array<u32>,
    /// Destinations of the edges, then their origins.
    edges: Array<u32>,
    triangles: Array<u64>,
    /// Number of edges.
    m: u32,
}

/// Returns an array of one element, the number of triangles.
fn triangles(
    gpu: &mut Gpu,
    variant: Variant,
    graph: &Csr,
    block: u32,
) -> Result<Array<u64>, WorkloadError> {
    check_full_warps(block)?;
    let device = Device::upload(gpu, &to_busier(graph));
    // A grid has at least one CTA.
    let m = device.m.max(1);
    match variant {
        Variant::Merge => {
            gpu.launch(&launch("tc_merge", m, block, 24), async |w| device.merge(w))?;
        }
        Variant::BinarySearch => {
            let grid = m.div_ceil(block / 32).min(MOST_CTAS);
            let launch = grid_of("tc_binary", grid, block, 24);
            gpu.launch(&launch, async |w| device.binary_search(w))?;
        }
    }
    Ok(device.triangles)
}

/// Directs every edge to the end with more neighbours; ties go to the higher number.
fn to_busier(graph: &Csr) -> Csr {
    let order = |v: u32| (graph.degree(v), v);
    let mut directed =
        Csr { offsets: vec![0], columns: Vec::with_capacity(graph.columns.len() / 2) };
    for u in 0..graph.rows() {
        let busier = graph.row(u).iter().filter(|&&v| order(v) > order(u));
        directed.columns.extend(busier);
        directed.offsets.push(directed.columns.len() as u32);
    }
    directed
}

impl Device {
    fn upload(gpu: &mut Gpu, directed: &Csr) -> Device {
        let mut edges = directed.columns.clone();
        for u in 0..directed.rows() {
            edges.extend(std::iter::repeat_n(u, directed.degree(u) as usize));
        }
        Device {
            row: gpu.upload(&directed.offsets),
            edges: gpu.upload(&edges),
            triangles: gpu.zeros(1),
            m: directed.columns.len() as u32,
        }
    }

    fn merge(&self, w: &Warp) {
        let i = w.global_x();
        let count = w.var(0);
        w.when(i.lt(self.m), || {
            let [(u_first, u_end), (v_first, v_end)] = self.lists(i);
            let (u_at, v_at) = (w.var(u_first), w.var(v_first));
            let (a, b) = (w.var(self.edges.load(u_first)), w.var(self.edges.load(v_first)));
            w.while_loop(
                || u_at.get().lt(u_end) & v_at.get().lt(v_end),
                || {
                    let (a_first, b_first) = (a.get().le(&b), a.get().ge(&b));
                    w.when(a_first & b_first, || count.set(count.get() + 1));
                    w.when(a_first, || self.advance(&u_at, &a));
                    w.when(b_first, || self.advance(&v_at, &b));
                },
            );
        });
        self.add(w, count.get());
    }

    /// `item = edges[++at]`
    fn advance(&self, at: &Var<'_, u32>, item: &Var<'_, u32>) {
        at.set(at.get() + 1);
        item.set(self.edges.load(at.get()));
    }

    fn binary_search(&self, w: &Warp) {
        let (block, thread, lane) = (w.block_x(), w.thread_x(), w.lane());
        let warps = w.block_width() / 32;
        let first = block.mad(warps, thread >> 5);
        let count = w.var(0);
        w.range(first, self.m, w.grid_width() * warps, |i| {
            let [(u, u_end), (v, v_end)] = self.lists(i);
            let is_u_longer = (u_end - u).gt(v_end - v);
            let (keys, keys_end) = (is_u_longer.select(v, u), is_u_longer.select(v_end, u_end));
            let (table, table_end) = (is_u_longer.select(u, v), is_u_longer.select(u_end, v_end));
            w.range(keys + lane, keys_end, 32, |k| {
                let key = self.edges.load(k);
                let found = self.contains(w, key, table, table_end);
                count.set(count.get() + found);
            });
        });
        self.add(w, count.get());
    }

    /// Returns 1 if `key` is in the list from `first` to `end`, otherwise 0.
    fn contains<'w>(
        &self,
        w: &'w Warp,
        key: Lanes<'w, u32>,
        first: Lanes<'w, u32>,
        end: Lanes<'w, u32>,
    ) -> Lanes<'w, u32> {
        // Copies, since the list is searched again.
        let (low, high, is_there) = (w.var(first + 0), w.var(end + 0), w.var(0u32));
        w.while_loop(
            || low.get().lt(&high) & is_there.get().eq(0),
            || {
                let middle = (low.get() + &high) >> 1;
                let found = self.edges.load(middle);
                is_there.set(found.eq(key).select(1, 0));
                w.when_else(found.lt(key), || low.set(middle + 1), || high.set(middle));
            },
        );
        is_there.get()
    }

    /// Returns the bounds of the lists of both ends of edge `i`: its origin's, then its
    /// destination's.
    fn lists<'w>(&self, i: Lanes<'w, u32>) -> [(Lanes<'w, u32>, Lanes<'w, u32>); 2] {
        let (v, u) = (self.edges.load(i), self.edges.load(i + self.m));
        [u, v].map(|vertex| {
            let bounds = self.row.at(vertex);
            (bounds.load(), bounds.offset(1).load())
        })
    }

    fn add(&self, w: &Warp, count: Lanes<'_, u32>) {
        let sum = warp_sum(count).to_u64();
        w.when(w.lane().eq(0), || self.triangles.first(w).add(sum));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    /// Tries every triple of vertices.
    fn brute_force(graph: &Csr) -> u64 {
        let joined = |u: u32, v: u32| graph.row(u).contains(&v);
        let third = |u, v| (v + 1..graph.rows()).filter(|&w| joined(u, w) && joined(v, w)).count();
        let pairs = (0..graph.rows()).flat_map(|u| (u + 1..graph.rows()).map(move |v| (u, v)));
        pairs.filter(|&(u, v)| joined(u, v)).map(|(u, v)| third(u, v) as u64).sum()
    }

    fn count(variant: Variant, graph: &Csr) -> Run<u64> {
        run(|gpu| {
            let count = triangles(gpu, variant, graph, 64)?;
            Ok(gpu.download(count)[0])
        })
    }

    /// Returns the complete graph of `n` vertices.
    fn complete(n: u32) -> Csr {
        let others = |v: u32| (0..n).filter(move |&u| u != v).map(move |u| (v, u));
        Csr::from_pairs(n, (0..n).flat_map(others).collect())
    }

    #[test]
    fn triangle_counts_match_brute_force() {
        let mut seen = 0;
        for (kind, graph) in graphs(150, 12) {
            let expected = brute_force(&graph);
            seen += expected;
            for &(name, variant) in Variant::NAMES {
                assert_eq!(count(variant, &graph).result, expected, "{name} {kind}");
            }
        }
        assert!(seen > 100);
        for &(name, variant) in Variant::NAMES {
            assert_eq!(count(variant, &complete(65)).result, 65 * 64 * 63 / 6, "{name}");
        }
    }

    #[test]
    fn edges_lead_to_the_end_with_more_neighbours() {
        // 0 - 1, 0 - 2, 0 - 3, 1 - 2: degrees 3, 2, 2, 1.
        let pairs = [(0, 1), (0, 2), (0, 3), (1, 2)];
        let graph = Csr::from_pairs(4, pairs.iter().flat_map(|&(u, v)| [(u, v), (v, u)]).collect());
        let directed = to_busier(&graph);
        assert_eq!((directed.offsets, directed.columns), (vec![0, 0, 2, 3, 4], vec![0, 2, 0, 0]));
    }

    #[test]
    fn threads_merge_lists_far_apart_and_a_warp_searches_one() {
        let graph = complete(65);
        let edges = run(|gpu| Ok(Device::upload(gpu, &to_busier(&graph)).edges)).result.range();
        let lines = |variant| count(variant, &graph).lines(Kind::Load, &edges);
        // The first warp: 32 edges from vertex 0, whose list all lanes read; the lists of their
        // other ends have 63 words and fewer, are consecutive, and start in one line each.
        assert_eq!(lines(Variant::Merge)[..4], [1, 1, 1, 32]);
        // The warp of every edge reads 32 contiguous words and looks them up in 64 words.
        let searched = lines(Variant::BinarySearch);
        assert_eq!(searched[..4], [1, 1, 1, 1]);
        assert!(searched.iter().all(|&lines| lines <= 3));
        // 2080 edges, two warps in each CTA: one edge for every warp, another for 32 of them.
        let run = count(Variant::BinarySearch, &graph);
        assert_eq!(run.trace().kernels()[0].info.grid, [1024, 1, 1]);
        assert_eq!(run.accesses(Kind::Reduction).len(), 2048);
    }
}
