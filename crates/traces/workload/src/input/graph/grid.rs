//! Grids, and road networks cut out of them.

use crate::input::largest_side;
use crate::stop;
use warpmem_support::random::Random;

/// Returns the largest square (two dimensions) or cubic (three) grid of at most `nodes` vertices:
/// its vertices and edges.
pub fn grid(nodes: u32, dimensions: u32) -> (u32, Vec<(u32, u32)>) {
    let side = largest_side(nodes, dimensions);
    let nodes = side.pow(dimensions);
    let next_along = |vertex: u32, axis: u32| {
        let stride = side.pow(axis);
        (vertex / stride % side + 1 < side).then_some((vertex, vertex + stride))
    };
    let edges_of = |vertex| {
        stop::check();
        (0..dimensions).filter_map(move |axis| next_along(vertex, axis))
    };
    (nodes, (0..nodes).flat_map(edges_of).collect())
}

/// Edges of a road network per thousand vertices: `dimacs9-CAL` (California and Nevada) has
/// 1,890,815 vertices and 4,630,444 arcs, two per edge.
const ROAD_EDGES: u64 = 1224;

/// Returns a connected part of the square grid that resembles a road network: a random spanning
/// tree and random further grid edges. Vertices are numbered row by row; the last row may be short.
pub fn road(nodes: u32, random: &mut Random) -> Vec<(u32, u32)> {
    let side = nodes.isqrt();
    let right = |v: u32| (v + 1 < nodes && !(v + 1).is_multiple_of(side)).then_some((v, v + 1));
    let below = |v: u32| (nodes - v > side).then_some((v, v + side));
    let edges_of = |v: u32| {
        stop::check();
        right(v).into_iter().chain(below(v))
    };
    let mut edges: Vec<_> = (0..nodes).flat_map(edges_of).collect();
    random.shuffle_watched(&mut edges, stop::check);
    let mut forest = Forest::new(nodes);
    let (mut roads, mut others): (Vec<_>, Vec<_>) =
        edges.into_iter().partition(|&(from, to)| forest.join(from, to));
    random.shuffle_watched(&mut others, stop::check);
    let wanted = (u64::from(nodes) * ROAD_EDGES / 1000) as usize;
    others.truncate(wanted.saturating_sub(roads.len()));
    roads.append(&mut others);
    roads
}

/// Disjoint sets of vertices (union by size, path halving).
struct Forest {
    parent: Vec<u32>,
    size: Vec<u32>,
}

impl Forest {
    fn new(nodes: u32) -> Forest {
        Forest { parent: (0..nodes).collect(), size: vec![1; nodes as usize] }
    }

    fn root(&mut self, mut vertex: u32) -> u32 {
        while self.parent[vertex as usize] != vertex {
            let above = self.parent[self.parent[vertex as usize] as usize];
            self.parent[vertex as usize] = above;
            vertex = above;
        }
        vertex
    }

    /// Joins the sets of `a` and `b`; returns whether they were separate.
    fn join(&mut self, a: u32, b: u32) -> bool {
        stop::check();
        let (a, b) = (self.root(a), self.root(b));
        let (low, high) =
            if self.size[a as usize] < self.size[b as usize] { (a, b) } else { (b, a) };
        if low != high {
            self.parent[low as usize] = high;
            self.size[high as usize] += self.size[low as usize];
        }
        low != high
    }
}
