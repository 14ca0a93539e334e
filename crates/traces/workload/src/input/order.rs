//! Numberings of vertices, or of the rows and columns of a matrix. The numbering decides which of
//! them are close in memory.

use std::borrow::Cow;
use std::cmp::Reverse;

use super::{Csr, Random};
use crate::parameters::Choice;
use crate::stop;

/// A numbering of vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ordering {
    /// As in the file or the generator.
    AsIs,
    /// Uniformly random.
    Random,
    /// By descending number of neighbours.
    Degree,
    /// In the order of a breadth-first search.
    Bfs,
    /// Reverse Cuthill–McKee: entries near the diagonal.
    Rcm,
}

impl Choice for Ordering {
    const NAMES: &'static [(&'static str, Ordering)] = &[
        ("as-is", Ordering::AsIs),
        ("random", Ordering::Random),
        ("degree", Ordering::Degree),
        ("bfs", Ordering::Bfs),
        ("rcm", Ordering::Rcm),
    ];
}

impl Ordering {
    /// Returns the new label of each of `nodes` vertices, or `None` if they keep theirs. `graph`,
    /// which must be undirected, is called only if the order depends on it; loops do not count.
    /// Ties go to the lower number.
    pub fn labels<'a>(
        self,
        nodes: u32,
        graph: impl FnOnce() -> Cow<'a, Csr>,
        random: &mut Random,
    ) -> Option<Vec<u32>> {
        match self {
            Ordering::AsIs => None,
            Ordering::Random => {
                let mut labels: Vec<u32> = (0..nodes).collect();
                random.shuffle_watched(&mut labels, stop::check);
                Some(labels)
            }
            Ordering::Degree => Some(ranks(&by_degree(&graph()))),
            Ordering::Bfs => Some(ranks(&breadth_first(&graph()))),
            Ordering::Rcm => Some(ranks(&reverse_cuthill_mckee(&graph()))),
        }
    }
}

/// Returns the position of each vertex in `sequence`.
fn ranks(sequence: &[u32]) -> Vec<u32> {
    let mut ranks = vec![0; sequence.len()];
    for (rank, &vertex) in sequence.iter().enumerate() {
        ranks[vertex as usize] = rank as u32;
    }
    ranks
}

fn by_degree(graph: &Csr) -> Vec<u32> {
    let mut vertices: Vec<u32> = (0..graph.rows()).collect();
    vertices.sort_by_key(|&vertex| Reverse(graph.degree(vertex)));
    vertices
}

/// Traverses component by component, each from its vertex with most neighbours, in descending order
/// of their degrees.
fn breadth_first(graph: &Csr) -> Vec<u32> {
    let mut search = Search::new(graph);
    for start in by_degree(graph) {
        search.from(start, |_| {});
    }
    search.sequence
}

/// Traverses component by component in the order of their lowest numbers, each from a
/// pseudo-peripheral vertex, the neighbours of a vertex by ascending degree; then reverses the
/// sequence.
///
/// Cuthill and McKee, ACM '69; George and Liu, *An Implementation of a Pseudoperipheral Node
/// Finder*, ACM TOMS 5(3), 1979.
fn reverse_cuthill_mckee(graph: &Csr) -> Vec<u32> {
    let mut levels = Levels::new(graph);
    let mut search = Search::new(graph);
    for vertex in 0..graph.rows() {
        if !search.reached[vertex as usize] {
            let start = levels.pseudo_peripheral(vertex);
            search.from(start, |found| found.sort_by_key(|&v| (graph.degree(v), v)));
        }
    }
    search.sequence.reverse();
    search.sequence
}

/// Consecutive breadth-first searches that share their visited vertices.
struct Search<'a> {
    graph: &'a Csr,
    reached: Vec<bool>,
    /// Visited vertices, in order.
    sequence: Vec<u32>,
}

impl<'a> Search<'a> {
    fn new(graph: &'a Csr) -> Search<'a> {
        let nodes = graph.rows() as usize;
        Search { graph, reached: vec![false; nodes], sequence: Vec::with_capacity(nodes) }
    }

    /// Visits the component of `start`, unless it is visited already; `arrange` orders the
    /// neighbours of a vertex.
    fn from(&mut self, start: u32, arrange: impl Fn(&mut [u32])) {
        let mut next = self.sequence.len();
        self.reach(start);
        while let Some(&vertex) = self.sequence.get(next) {
            stop::check();
            let found = self.sequence.len();
            for &neighbour in self.graph.row(vertex) {
                self.reach(neighbour);
            }
            arrange(&mut self.sequence[found..]);
            next += 1;
        }
    }

    fn reach(&mut self, vertex: u32) {
        if !std::mem::replace(&mut self.reached[vertex as usize], true) {
            self.sequence.push(vertex);
        }
    }
}

/// Levels of breadth-first searches; each search discards those of the previous one.
struct Levels<'a> {
    graph: &'a Csr,
    /// Last search that reached each vertex, counted from 1.
    reached_by: Vec<u32>,
    search: u32,
    queue: Vec<u32>,
}

impl<'a> Levels<'a> {
    fn new(graph: &'a Csr) -> Levels<'a> {
        let reached_by = vec![0; graph.rows() as usize];
        Levels { graph, reached_by, search: 0, queue: Vec::new() }
    }

    /// Returns a vertex whose eccentricity is about the largest in the component of `root`.
    fn pseudo_peripheral(&mut self, root: u32) -> u32 {
        let (mut depth, mut farthest) = self.farthest(root);
        loop {
            let (deeper, next) = self.farthest(farthest);
            if deeper <= depth {
                return farthest;
            }
            (depth, farthest) = (deeper, next);
        }
    }

    /// Returns the last level of a search from `root`, and its vertex with fewest neighbours.
    fn farthest(&mut self, root: u32) -> (u32, u32) {
        self.search += 1;
        self.queue.clear();
        self.reach(root);
        let (mut depth, mut level) = (0, 0..1);
        loop {
            for place in level.clone() {
                stop::check();
                for &neighbour in self.graph.row(self.queue[place]) {
                    self.reach(neighbour);
                }
            }
            if self.queue.len() == level.end {
                let last = self.queue[level].iter().copied();
                let farthest = last.min_by_key(|&vertex| (self.graph.degree(vertex), vertex));
                return (depth, farthest.unwrap_or(root));
            }
            depth += 1;
            level = level.end..self.queue.len();
        }
    }

    fn reach(&mut self, vertex: u32) {
        let reached_by = &mut self.reached_by[vertex as usize];
        if *reached_by != self.search {
            *reached_by = self.search;
            self.queue.push(vertex);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::input::graph::{GraphKind, graph, undirected};

    fn undirected_graph(nodes: u32, edges: &[(u32, u32)]) -> Csr {
        undirected(nodes, edges.iter().map(|&(from, to)| (from, to, ()))).0
    }

    fn labels(order: Ordering, graph: &Csr) -> Vec<u32> {
        let labels = order.labels(graph.rows(), || Cow::Borrowed(graph), &mut Random::new(1));
        labels.unwrap_or_else(|| (0..graph.rows()).collect())
    }

    fn ordered(order: Ordering, graph: &Csr) -> Csr {
        let nothing = vec![(); graph.columns.len()];
        graph.relabelled(&nothing, &labels(order, graph)).0
    }

    fn bandwidth(graph: &Csr) -> u32 {
        graph.entries().map(|(from, to)| from.abs_diff(to)).max().unwrap_or(0)
    }

    /// Two components: a star around 4 with a tail, and an edge.
    fn small() -> Csr {
        undirected_graph(8, &[(4, 0), (4, 2), (4, 6), (6, 7), (1, 5)])
    }

    #[test]
    fn as_is_keeps_every_label() {
        assert_eq!(Ordering::AsIs.labels(8, || panic!("not needed"), &mut Random::new(1)), None);
    }

    #[test]
    fn degrees_descend_and_ties_keep_their_order() {
        assert_eq!(labels(Ordering::Degree, &small()), [2, 3, 4, 7, 0, 5, 1, 6]);
    }

    #[test]
    fn breadth_first_order_visits_components_in_sequence() {
        // 4 and its neighbours 0, 2, 6, then 7; then 1 and 5; then 3, alone.
        assert_eq!(labels(Ordering::Bfs, &small()), [1, 5, 2, 7, 0, 6, 3, 4]);
    }

    #[test]
    fn reverse_cuthill_mckee_visits_components_in_sequence() {
        // From 0 the farthest is 7, from there 0 and 2. 7, 6, 4, then 0 and 2; then 5 and 1; then 3; backwards.
        assert_eq!(labels(Ordering::Rcm, &small()), [4, 1, 3, 0, 5, 2, 6, 7]);
    }

    /// The example in the tests of SciPy's `reverse_cuthill_mckee`, whose bandwidth is known before
    /// and after.
    #[test]
    fn reverse_cuthill_mckee_narrows_a_known_matrix() {
        let edges = [(0, 4), (1, 2), (1, 5), (1, 7), (2, 4), (3, 6), (5, 7)];
        let graph = undirected_graph(8, &edges);
        assert_eq!(bandwidth(&graph), 6);
        assert_eq!(bandwidth(&ordered(Ordering::Rcm, &graph)), 2);
    }

    #[test]
    fn reverse_cuthill_mckee_recovers_the_bandwidth_of_shuffled_graphs() {
        let path: Vec<(u32, u32)> = (0..199).map(|v| (v, v + 1)).collect();
        let strip: Vec<(u32, u32)> = (0..300)
            .flat_map(|v| [(v, v + 3), (v, if v % 3 < 2 { v + 1 } else { v + 3 })])
            .collect();
        for (graph, known) in [
            (undirected_graph(200, &path), 1),
            (undirected_graph(303, &strip), 3),
            (graph(GraphKind::Grid, 400, 0, &mut Random::new(1)), 20),
        ] {
            let shuffled = ordered(Ordering::Random, &graph);
            let narrowed = bandwidth(&ordered(Ordering::Rcm, &shuffled));
            assert!(bandwidth(&shuffled) > 5 * known);
            assert!((known..=known + 1).contains(&narrowed), "{narrowed}, known {known}");
        }
    }

    #[test]
    fn a_pseudo_peripheral_vertex_of_a_path_is_its_end() {
        let graph = undirected_graph(9, &[(3, 0), (0, 8), (8, 2), (2, 5), (5, 1)]);
        for root in [0, 1, 2, 3, 5, 8] {
            assert!([1, 3].contains(&Levels::new(&graph).pseudo_peripheral(root)), "{root}");
        }
        assert_eq!(Levels::new(&graph).pseudo_peripheral(7), 7);
    }

    proptest! {
        #[test]
        fn every_order_is_a_permutation_that_keeps_the_graph(
            edges in prop::collection::vec((0u32..30, 0u32..30), 0..60)
        ) {
            let graph = undirected_graph(30, &edges);
            for &(name, order) in Ordering::NAMES {
                let labels = labels(order, &graph);
                let mut sorted = labels.clone();
                sorted.sort_unstable();
                prop_assert_eq!(sorted, (0..30).collect::<Vec<_>>(), "{}", name);
                let renamed: Vec<_> = edges
                    .iter()
                    .map(|&(from, to)| (labels[from as usize], labels[to as usize]))
                    .collect();
                prop_assert_eq!(ordered(order, &graph), undirected_graph(30, &renamed), "{}", name);
            }
        }
    }
}
