//! Undirected graphs.

use super::check_entries;
use super::{Csr, Random};
use crate::workload::WorkloadError;
use crate::workload::parameters::{Arguments, Choice, Parameter};

/// How a graph's edges are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphKind {
    /// Recursive matrix with the Graph500 probabilities: a few vertices have most edges.
    Rmat,
    /// Every edge equally likely (Erdős and Rényi).
    Uniform,
    /// Square grid, four neighbours.
    Grid,
    /// Cubic grid, six neighbours.
    Grid3d,
}

impl Choice for GraphKind {
    const NAMES: &'static [(&'static str, GraphKind)] = &[
        ("rmat", GraphKind::Rmat),
        ("uniform", GraphKind::Uniform),
        ("grid", GraphKind::Grid),
        ("grid3d", GraphKind::Grid3d),
    ];
}

/// Parameters of kernels that work on a graph.
pub const GRAPH: &[Parameter] = &[
    Parameter::choice::<GraphKind>("graph", "rmat", "Kind of graph"),
    Parameter::count("nodes", 1 << 16, (1, 1 << 24), "vertices", "Vertices"),
    Parameter::count(
        "degree",
        8,
        (1, 1 << 10),
        "edges",
        "Mean neighbours of a vertex (not for grids)",
    ),
];

/// An undirected graph without loops or parallel edges.
#[derive(Clone, Debug)]
pub struct Graph {
    pub structure: Csr,
    /// Of every entry of `structure`; both directions of an edge have the same.
    pub weights: Vec<u32>,
}

/// The graph that the parameters of [`GRAPH`] ask for.
pub fn graph_of(arguments: &Arguments, random: &mut Random) -> Result<Graph, WorkloadError> {
    let (nodes, degree) = (arguments.count32("nodes"), arguments.count32("degree"));
    check_entries("edges", nodes, degree)?;
    let structure = graph(arguments.choice("graph"), nodes, degree, random);
    let weights = structure.columns.iter().map(|_| 1).collect();
    Ok(Graph { structure, weights })
}

/// An undirected graph of `nodes` vertices (grids: the largest square or cube within) with about `degree`
/// neighbours each (grids: as many as the grid gives). No loops, no parallel edges: those that were drawn
/// are dropped, so the mean degree is a little below `degree`.
pub fn graph(kind: GraphKind, nodes: u32, degree: u32, random: &mut Random) -> Csr {
    let drawn = u64::from(nodes) * u64::from(degree) / 2;
    match kind {
        GraphKind::Rmat => {
            let mut label: Vec<u32> = (0..nodes).collect();
            random.shuffle(&mut label);
            let edges = (0..drawn).map(|_| {
                let (from, to) = rmat_pair(nodes, random);
                (label[from as usize], label[to as usize])
            });
            undirected(nodes, edges)
        }
        GraphKind::Uniform => {
            undirected(nodes, (0..drawn).map(|_| (random.index(nodes), random.index(nodes))))
        }
        GraphKind::Grid => grid(largest_side(nodes, 2), 2),
        GraphKind::Grid3d => grid(largest_side(nodes, 3), 3),
    }
}

/// One entry of a recursive matrix (Chakrabarti, Zhan and Faloutsos 2004) with the probabilities of
/// Graph500: 0.57, 0.19, 0.19, 0.05. The matrix is the smallest power of two that holds `n`; entries
/// beyond `n` are drawn again.
pub(super) fn rmat_pair(n: u32, random: &mut Random) -> (u32, u32) {
    const TOP_LEFT: u64 = 57;
    const TOP_RIGHT: u64 = TOP_LEFT + 19;
    const BOTTOM_LEFT: u64 = TOP_RIGHT + 19;
    let levels = u32::BITS - (n - 1).leading_zeros();
    loop {
        let (mut row, mut column) = (0u32, 0u32);
        for _ in 0..levels {
            let (down, right) = match random.below(100) {
                x if x < TOP_LEFT => (0, 0),
                x if x < TOP_RIGHT => (0, 1),
                x if x < BOTTOM_LEFT => (1, 0),
                _ => (1, 1),
            };
            row = row << 1 | down;
            column = column << 1 | right;
        }
        if row < n && column < n {
            return (row, column);
        }
    }
}

fn undirected(nodes: u32, edges: impl Iterator<Item = (u32, u32)>) -> Csr {
    let pairs = edges.filter(|(from, to)| from != to).flat_map(|(a, b)| [(a, b), (b, a)]);
    Csr::from_pairs(nodes, pairs.collect())
}

/// Largest `side` with `side`^`dimensions` at most `nodes`.
fn largest_side(nodes: u32, dimensions: u32) -> u32 {
    let fits = |side: u64| side.pow(dimensions) <= u64::from(nodes);
    (1..).take_while(|&side| fits(side)).last().unwrap_or(1) as u32
}

fn grid(side: u32, dimensions: u32) -> Csr {
    let nodes = side.pow(dimensions);
    let edges = (0..dimensions).flat_map(|dimension| {
        let step = side.pow(dimension);
        (0..nodes)
            .filter(move |node| node / step % side + 1 < side)
            .map(move |node| (node, node + step))
    });
    undirected(nodes, edges)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_undirected(graph: &Csr) {
        for from in 0..graph.rows() {
            for &to in graph.row(from) {
                assert_ne!(from, to);
                assert!(graph.row(to).contains(&from), "{from} - {to} has no way back");
            }
        }
    }

    #[test]
    fn every_kind_is_undirected_and_has_the_degree_asked_for() {
        for (kind, lowest, highest) in [
            (GraphKind::Rmat, 4.0, 8.0),
            (GraphKind::Uniform, 7.5, 8.0),
            (GraphKind::Grid, 3.5, 4.0),
        ] {
            let graph = graph(kind, 1000, 8, &mut Random::new(1));
            assert_undirected(&graph);
            let mean = graph.columns.len() as f64 / f64::from(graph.rows());
            assert!((lowest..=highest).contains(&mean), "{kind:?}: {mean}");
        }
    }

    #[test]
    fn rmat_is_skewed_and_uniform_is_not() {
        let largest = |kind| {
            let graph = graph(kind, 4096, 16, &mut Random::new(1));
            (0..4096).map(|v| graph.degree(v)).max().unwrap()
        };
        assert!(largest(GraphKind::Rmat) > 150);
        assert!(largest(GraphKind::Uniform) < 50);
    }

    #[test]
    fn rmat_quadrants_have_the_probabilities_of_graph500() {
        let mut random = Random::new(5);
        let mut quadrants = [0u32; 4];
        for _ in 0..100_000 {
            let (row, column) = rmat_pair(2, &mut random);
            quadrants[(row * 2 + column) as usize] += 1;
        }
        for (count, percent) in quadrants.iter().zip([57, 19, 19, 5]) {
            assert!(count.abs_diff(percent * 1000) < 600, "{quadrants:?}");
        }
    }

    #[test]
    fn rmat_reaches_any_number_of_vertices() {
        let mut random = Random::new(5);
        assert!((0..2000).map(|_| rmat_pair(5, &mut random)).all(|(r, c)| r < 5 && c < 5));
        assert_eq!(rmat_pair(1, &mut random), (0, 0));
    }

    #[test]
    fn grids_join_neighbours() {
        let square = graph(GraphKind::Grid, 10, 0, &mut Random::new(0));
        assert_eq!(square.rows(), 9);
        assert_eq!(square.row(4), [1, 3, 5, 7]);
        assert_eq!(square.row(2), [1, 5]);
        let cube = graph(GraphKind::Grid3d, 27, 0, &mut Random::new(0));
        assert_eq!(cube.row(13), [4, 10, 12, 14, 16, 22]);
        assert_eq!(cube.row(0), [1, 3, 9]);
    }
}
