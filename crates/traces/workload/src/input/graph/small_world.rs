//! Small-world graphs: Watts and Strogatz, *Collective dynamics of "small-world" networks*, Nature 393 (1998).

use crate::stop;
use warpmem_support::random::Random;

/// Generates a ring of `nodes` vertices, each joined to the next `degree` / 2 (at least one);
/// `percent` of the edges are rewired to a random vertex.
pub fn small_world(nodes: u32, degree: u32, percent: u64, random: &mut Random) -> Vec<(u32, u32)> {
    let nearest = (degree / 2).max(1);
    let mut edge = |from: u32, distance: u32| {
        if random.below(100) < percent {
            (from, random.index(nodes))
        } else {
            (from, ((u64::from(from) + u64::from(distance)) % u64::from(nodes)) as u32)
        }
    };
    let mut edges = Vec::with_capacity(nodes as usize * nearest as usize);
    for from in 0..nodes {
        stop::check();
        edges.extend((1..=nearest).map(|distance| edge(from, distance)));
    }
    edges
}
