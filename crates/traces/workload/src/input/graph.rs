//! Graphs, undirected unless a file keeps its directions on request.

mod grid;
mod power_law;
mod rmat;
mod small_world;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::path::Path;

use super::file::{self, InputError, Listing, Symmetry};
use super::{
    Csr, FILE, FILE_FORMAT, MAX_ENTRIES, MAX_NODES, ORDER, Ordering, Random, check_entries,
};
use crate::parameters::{Arguments, Choice, Parameter, show_count};
use crate::{WorkloadError, stop};
pub use rmat::rmat_pair;
use warpmem_support::random::mixed;

/// The distribution of a graph's edges.
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
    /// Connected part of a square grid with 1.22 edges per vertex.
    Road,
    /// Ring lattice with some edges rewired at random (Watts and Strogatz).
    SmallWorld,
    /// Power-law degrees with a given exponent (Chung and Lu).
    PowerLaw,
}

impl Choice for GraphKind {
    const NAMES: &'static [(&'static str, GraphKind)] = &[
        ("rmat", GraphKind::Rmat),
        ("uniform", GraphKind::Uniform),
        ("grid", GraphKind::Grid),
        ("grid3d", GraphKind::Grid3d),
        ("road", GraphKind::Road),
        ("small-world", GraphKind::SmallWorld),
        ("power-law", GraphKind::PowerLaw),
    ];
}

/// Parameters of kernels that work on a graph.
pub const GRAPH: &[Parameter] = &[
    Parameter::choice::<GraphKind>("graph", "rmat", "Kind of graph").unless_given("file"),
    Parameter::count("nodes", 1 << 16, (1, MAX_NODES), "vertices", "Vertices").unless_given("file"),
    Parameter::count("degree", 8, (1, 1 << 10), "edges", "Mean neighbours per vertex")
        .only_with("graph", &["rmat", "uniform", "small-world", "power-law"]),
    Parameter::decimal(
        "exponent",
        250,
        (210, 500),
        "-",
        "Exponent of the power law: k neighbours with probability k^-exponent",
    )
    .only_with("graph", &["power-law"]),
    Parameter::decimal("rewire", 10, (0, 100), "-", "Fraction of edges rewired at random")
        .only_with("graph", &["small-world"]),
    FILE,
    FILE_FORMAT,
    ORDER,
];

/// Parameter of kernels that follow edges in one direction.
pub const DIRECTED: Parameter =
    Parameter::flag("directed", "Keep the edge directions of the file").only_given("file");

/// The edge directions that a kernel needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Directions {
    /// Every edge in both directions.
    Both,
    /// As the parameter [`DIRECTED`] states.
    AsAsked,
}

/// A graph without loops or parallel edges.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    pub structure: Csr,
    /// Weight of every entry of `structure`, equal for both directions of an edge: from the file,
    /// or uniform from 1 to 64, as in Gunrock's evaluation (Wang et al., PPoPP 2016).
    pub weights: Vec<u32>,
    /// New label of each vertex after `--order`.
    pub labels: Option<Vec<u32>>,
    /// Whether an entry is an edge from row to column only; otherwise every edge has two entries.
    pub directed: bool,
}

impl Graph {
    /// Returns the incoming edges of each vertex, if they differ from the outgoing ones.
    pub fn incoming(&self) -> Option<Csr> {
        self.directed.then(|| {
            let edges = self.structure.entries().map(|(from, to)| (to, from, ()));
            Csr::from_entries(self.structure.rows(), edges, |(), ()| ()).0
        })
    }
}

/// Returns the graph that the parameters of [`GRAPH`] describe.
pub fn graph_of(
    arguments: &Arguments,
    directions: Directions,
    random: &mut Random,
) -> Result<Graph, WorkloadError> {
    let directed = directions == Directions::AsAsked && arguments.flag("directed");
    let (structure, weights) = match arguments.path("file") {
        Some(path) => from_file(path, arguments, directions)?,
        None => (drawn(arguments, random)?, None),
    };
    let key = random.bits();
    let weights = weights.unwrap_or_else(|| {
        structure.entries().map(|(from, to)| drawn_weight(key, from, to)).collect()
    });
    let order: Ordering = arguments.choice("order");
    let nodes = structure.rows();
    let both_ways = || match directed {
        true => Cow::Owned(undirected(nodes, with_nothing(&structure)).0),
        false => Cow::Borrowed(&structure),
    };
    let labels = order.labels(nodes, both_ways, random);
    let (structure, weights) = match &labels {
        Some(labels) => structure.relabelled(&weights, labels),
        None => (structure, weights),
    };
    Ok(Graph { structure, weights, labels, directed })
}

fn with_nothing(graph: &Csr) -> impl Iterator<Item = (u32, u32, ())> + Clone {
    graph.entries().map(|(from, to)| (from, to, ()))
}

fn drawn(arguments: &Arguments, random: &mut Random) -> Result<Csr, WorkloadError> {
    let graph = Drawing::of(arguments)?.draw(random);
    let (vertices, entries) = (graph.rows(), graph.columns.len());
    let mean = entries as f64 / f64::from(vertices);
    arguments.note(format!(
        "graph: vertices {vertices}, edges {}, {mean:.2} neighbours in the mean",
        entries / 2
    ));
    Ok(graph)
}

/// Reads the structure of the file at `path`, and its weights if it has any.
fn from_file(
    path: &Path,
    arguments: &Arguments,
    directions: Directions,
) -> Result<(Csr, Option<Vec<u32>>), WorkloadError> {
    let directed = directions == Directions::AsAsked && arguments.flag("directed");
    let listing: Listing<u32> = file::read(path, arguments.choice("file-format"))?;
    let listing = listing.with_one_kind_of_vertices();
    let Listing { rows, columns, symmetry, valued, entries, notes, .. } = listing;
    let unfit = |message| InputError::Unfit { path: path.to_path_buf(), message };
    if rows != columns {
        let message = format!("{rows} rows and {columns} columns; a graph needs a square matrix");
        return Err(unfit(message).into());
    }
    let edges = entries.iter().copied().filter(|(from, to, _)| from != to);
    let (listed, between) = (entries.len(), edges.clone().count());
    let keeps_directions = directed && symmetry == Symmetry::General;
    let (structure, weights, one_way) = match keeps_directions {
        true => {
            let (structure, weights) = Csr::from_entries(rows, edges, u32::min);
            (structure, weights, 0)
        }
        false => both_ways(rows, edges),
    };
    drop(entries);
    let arcs = structure.columns.len();
    if arcs as u64 > MAX_ENTRIES {
        let most = show_count(MAX_ENTRIES / 2);
        return Err(unfit(format!("{} edges are more than {most}", arcs / 2)).into());
    }
    let (kept, what, repeats) = match keeps_directions {
        true => (arcs, "directed edges", "repeats"),
        false => (arcs / 2, "edges", "repeats and other directions"),
    };
    let name = path.display();
    arguments.note(format!(
        "{name}: vertices {rows}, {what} {kept}; dropped: loops {}, {repeats} {}; weights {}",
        listed - between,
        between - kept,
        if valued { "of the file" } else { "drawn" }
    ));
    notes.iter().for_each(|note| arguments.note(format!("{name}: {note}")));
    if one_way > 0 && symmetry == Symmetry::General {
        let other = match directions {
            Directions::AsAsked => " (--directed keeps their directions)",
            Directions::Both => "",
        };
        arguments.note(format!(
            "{name}: the graph is undirected: edges that the file lists in one direction, {one_way} of {kept}, go both \
             ways{other}"
        ));
    }
    Ok((structure, valued.then_some(weights)))
}

/// As [`undirected`], for edges without loops; also counts the edges listed in one direction only.
fn both_ways(
    nodes: u32,
    edges: impl Iterator<Item = (u32, u32, u32)> + Clone,
) -> (Csr, Vec<u32>, usize) {
    let arcs = edges.flat_map(|(a, b, weight)| [(a, b, (weight, true)), (b, a, (weight, false))]);
    let lighter = |(a, in_a): (u32, bool), (b, in_b): (u32, bool)| (a.min(b), in_a | in_b);
    let (structure, arcs) = Csr::from_entries(nodes, arcs, lighter);
    let one_way = arcs.iter().filter(|(_, is_listed)| !is_listed).count();
    (structure, arcs.into_iter().map(|(weight, _)| weight).collect(), one_way)
}

/// Returns both directions of every edge, without loops. Parallel edges merge to the lowest weight.
pub fn undirected<V: Copy + Default + Ord>(
    nodes: u32,
    edges: impl Iterator<Item = (u32, u32, V)> + Clone,
) -> (Csr, Vec<V>) {
    let edges = edges.filter(|(from, to, _)| from != to);
    Csr::from_entries(nodes, edges.flat_map(|(a, b, w)| [(a, b, w), (b, a, w)]), V::min)
}

/// Returns a weight from 1 to 64, equal for both directions and independent of renumbering.
fn drawn_weight(key: u64, from: u32, to: u32) -> u32 {
    let edge = u64::from(from.min(to)) << 32 | u64::from(from.max(to));
    1 + (mixed(key ^ edge) >> 58) as u32
}

/// The parameters of a generated graph.
struct Drawing {
    kind: GraphKind,
    nodes: u32,
    degree: u32,
    /// Power-law exponent, hundredths.
    exponent: u64,
    /// Rewired edges of a small-world graph, percent.
    rewire: u64,
}

impl Drawing {
    fn of(arguments: &Arguments) -> Result<Drawing, WorkloadError> {
        let drawing = Drawing {
            kind: arguments.choice("graph"),
            nodes: arguments.count32("nodes"),
            degree: arguments.count32("degree"),
            exponent: arguments.hundredths("exponent"),
            rewire: arguments.hundredths("rewire"),
        };
        check_entries("edges", drawing.nodes, drawing.degree)?;
        Ok(drawing)
    }

    /// Generates an undirected graph of `nodes` vertices (grids: the largest square or cube within)
    /// with about the mean degree `degree` (grids and roads: their own). Loops and parallel edges
    /// are dropped, so the mean degree is slightly lower.
    fn draw(&self, random: &mut Random) -> Csr {
        let &Drawing { kind, nodes, degree, exponent, rewire } = self;
        let drawn = u64::from(nodes) * u64::from(degree) / 2;
        let (nodes, edges) = match kind {
            GraphKind::Rmat => (nodes, rmat::rmat(nodes, drawn, random)),
            GraphKind::Uniform => {
                let edge = |_| {
                    stop::check();
                    (random.index(nodes), random.index(nodes))
                };
                (nodes, (0..drawn).map(edge).collect())
            }
            GraphKind::Grid => grid::grid(nodes, 2),
            GraphKind::Grid3d => grid::grid(nodes, 3),
            GraphKind::Road => (nodes, grid::road(nodes, random)),
            GraphKind::SmallWorld => {
                (nodes, small_world::small_world(nodes, degree, rewire, random))
            }
            GraphKind::PowerLaw => (nodes, power_law::power_law(nodes, drawn, exponent, random)),
        };
        undirected(nodes, edges.iter().map(|&(from, to)| (from, to, ()))).0
    }
}

/// Generates a graph of this kind with default parameters.
#[cfg(test)]
pub fn graph(kind: GraphKind, nodes: u32, degree: u32, random: &mut Random) -> Csr {
    Drawing { kind, nodes, degree, exponent: 250, rewire: 10 }.draw(random)
}
