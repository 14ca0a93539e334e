//! Breadth-first search in four variants: over all vertices at each level, over a queue of the
//! frontier, with a warp per frontier vertex, or from the cheaper direction.

mod direction_optimising;
mod frontier;
mod topology;
mod warp_centric;

use super::graph::{SOURCE, by_rank};
use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "bfs",
    summary: "breadth-first search: topology-driven, with a queue, warp-centric, direction-optimising",
    source: "Rodinia 3.1, bfs (Che et al., IISWC 2009); LonestarGPU (Burtscher et al., IISWC 2012); \
             Hong et al., PPoPP 2011; Beamer et al., SC 2012",
    parameters: &[
        &[Parameter::choice::<Variant>("variant", "topology", "Strategy of a level")],
        GRAPH,
        &[
            DIRECTED,
            SOURCE,
            Parameter::count("levels", 1 << 20, (1, 1 << 20), "levels", "Maximum levels"),
            BLOCK,
        ],
    ],
    run: |gpu, arguments, random| {
        let graph = graph_of(arguments, Directions::AsAsked, random)?;
        let rank = arguments.count32("source");
        let search = Search {
            source: by_rank(&graph.structure, graph.labels.as_deref(), rank)?,
            levels: arguments.count32("levels"),
            block: arguments.count32("block"),
        };
        bfs(gpu, arguments.choice("variant"), &graph, &search).map(drop)
    },
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variant {
    Topology,
    Frontier,
    WarpCentric,
    DirectionOptimising,
}

impl Choice for Variant {
    const NAMES: &'static [(&'static str, Variant)] = &[
        ("topology", Variant::Topology),
        ("frontier", Variant::Frontier),
        ("warp-centric", Variant::WarpCentric),
        ("direction-optimising", Variant::DirectionOptimising),
    ];
}

/// Parameters of a search.
struct Search {
    source: u32,
    /// Maximum levels.
    levels: u32,
    block: u32,
}

/// Distance of unreached vertices (-1 as an `int`).
const UNREACHED: u32 = u32::MAX;

/// Returns the distance of each vertex; negative, as an `int`, if unreached.
fn bfs(
    gpu: &mut Gpu,
    variant: Variant,
    graph: &Graph,
    search: &Search,
) -> Result<Array<u32>, WorkloadError> {
    match variant {
        Variant::Topology => topology::bfs(gpu, &graph.structure, search),
        Variant::Frontier => frontier::bfs(gpu, &graph.structure, search),
        Variant::WarpCentric => warp_centric::bfs(gpu, &graph.structure, search),
        Variant::DirectionOptimising => direction_optimising::bfs(gpu, graph, search),
    }
}

impl Search {
    /// Returns the initial distances: zero at the source, `UNREACHED` elsewhere.
    fn at_first(&self, graph: &Csr) -> Vec<u32> {
        let mut distances = vec![UNREACHED; graph.rows() as usize];
        distances[self.source as usize] = 0;
        distances
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, VecDeque};

    use super::super::testing::*;
    use super::*;

    fn plain_bfs(graph: &Csr, source: u32) -> Vec<u32> {
        let mut distance = vec![UNREACHED; graph.rows() as usize];
        distance[source as usize] = 0;
        let mut queue = VecDeque::from([source]);
        while let Some(from) = queue.pop_front() {
            for &to in graph.row(from) {
                if distance[to as usize] == UNREACHED {
                    distance[to as usize] = distance[from as usize] + 1;
                    queue.push_back(to);
                }
            }
        }
        distance
    }

    /// Runs one variant; returns its distances and their array.
    pub fn search(variant: Variant, graph: &Csr, search: &Search) -> Run<(Vec<u32>, Array<u32>)> {
        search_in(variant, &unweighted(graph, false), search)
    }

    fn search_in(variant: Variant, graph: &Graph, search: &Search) -> Run<(Vec<u32>, Array<u32>)> {
        run(|gpu| {
            let array = bfs(gpu, variant, graph, search)?;
            let signed = gpu.download(array).into_iter();
            Ok((signed.map(|d| if d > i32::MAX as u32 { UNREACHED } else { d }).collect(), array))
        })
    }

    #[test]
    fn distances_match_a_plain_search_and_only_reached_vertices_are_written() {
        for (name, graph) in graphs(700, 3) {
            let source = by_rank(&graph, None, 0).unwrap();
            let expected = plain_bfs(&graph, source);
            for &(variant_name, variant) in Variant::NAMES {
                let run = search(variant, &graph, &Search { source, levels: u32::MAX, block: 128 });
                let (distances, array) = &run.result;
                assert_eq!(*distances, expected, "{variant_name} {name}");

                let mut written = run.addresses(Kind::Store);
                written.extend(run.addresses(Kind::Atomic));
                let written: BTreeSet<u64> = written.range(array.range()).copied().collect();
                let reached = (0..graph.rows())
                    .filter(|&v| v != source && distances[v as usize] != UNREACHED)
                    .map(|v| array.address(u64::from(v)));
                assert_eq!(written, reached.collect(), "{variant_name} {name}");
            }
        }
    }

    #[test]
    fn directed_edges_are_followed_in_their_direction() {
        for (name, graph) in graphs(300, 4) {
            // Keeps one direction of every edge, by a rule that leaves vertices with only incoming
            // or only outgoing edges.
            let arcs = graph.entries().filter(|(from, to)| (from < to) == ((from + to) % 3 > 0));
            let directed = Csr::from_pairs(graph.rows(), arcs.collect());
            let source = by_rank(&directed, None, 0).unwrap();
            let expected = plain_bfs(&directed, source);
            for &(variant_name, variant) in Variant::NAMES {
                let task = Search { source, levels: u32::MAX, block: 128 };
                let run = search_in(variant, &unweighted(&directed, true), &task);
                assert_eq!(run.result.0, expected, "{variant_name} {name}");
            }
        }
    }

    #[test]
    fn every_variant_stops_after_the_levels_asked_for() {
        let graph = graph(GraphKind::Grid, 100, 1, &mut Random::new(1));
        let expected = plain_bfs(&graph, 0);
        for &(name, variant) in Variant::NAMES {
            let run = search(variant, &graph, &Search { source: 0, levels: 3, block: 128 });
            let reached = |&d: &u32| if d <= 3 { d } else { UNREACHED };
            assert_eq!(run.result.0, expected.iter().map(reached).collect::<Vec<_>>(), "{name}");
        }
    }
}
