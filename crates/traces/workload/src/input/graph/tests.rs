use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;
use crate::WorkloadError;
use crate::input::testing;
use crate::input::testing::checksum;

fn graph_with(given: &[(&str, &str)]) -> Result<Graph, WorkloadError> {
    graph_of(&testing::arguments(GRAPH, given)?, Directions::Both, &mut Random::new(1))
}

fn file_of(text: &str) -> Result<(Graph, Vec<String>), String> {
    file_named("g.el", text, "false")
}

fn file_named(
    file: &str,
    content: impl AsRef<[u8]>,
    directed: &str,
) -> Result<(Graph, Vec<String>), String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(file);
    std::fs::write(&path, content).unwrap();
    let given = [("file", path.to_str().unwrap()), ("directed", directed)];
    let parameters = [GRAPH, &[DIRECTED]].concat();
    let arguments = testing::arguments(&parameters, &given).unwrap();
    let name = |text: String| text.replace(path.to_str().unwrap(), file);
    match graph_of(&arguments, Directions::AsAsked, &mut Random::new(1)) {
        Ok(graph) => Ok((graph, arguments.into_notes().into_iter().map(name).collect())),
        Err(error) => Err(name(error.to_string())),
    }
}

/// Asserts that both directions of all edges and weights agree, without loops or parallel edges.
fn assert_undirected(graph: &Graph) {
    let Graph { structure, weights, .. } = graph;
    assert_eq!(structure.columns.len(), weights.len());
    let weighted = structure.entries().zip(weights).map(|((from, to), &weight)| (from, to, weight));
    let back: std::collections::HashSet<_> = weighted.clone().collect();
    assert_eq!(back.len(), weights.len());
    for (from, to, weight) in weighted {
        assert_ne!(from, to);
        assert!(back.contains(&(to, from, weight)), "{from} - {to} has no way back");
    }
}

fn mean_degree(structure: &Csr) -> f64 {
    structure.columns.len() as f64 / f64::from(structure.rows())
}

fn largest_degree(structure: &Csr) -> u32 {
    (0..structure.rows()).map(|v| structure.degree(v)).max().unwrap()
}

/// Returns the distance of every vertex from `start`; `None` if unreachable.
fn distances(graph: &Csr, start: u32) -> Vec<Option<u32>> {
    let mut distances = vec![None; graph.rows() as usize];
    distances[start as usize] = Some(0);
    let mut queue = VecDeque::from([(start, 0)]);
    while let Some((from, distance)) = queue.pop_front() {
        for &to in graph.row(from) {
            if distances[to as usize].is_none() {
                distances[to as usize] = Some(distance + 1);
                queue.push_back((to, distance + 1));
            }
        }
    }
    distances
}

/// Returns the longest shortest path from any of a few vertices.
fn about_the_diameter(graph: &Csr) -> u32 {
    let farthest = |start| {
        let distances = distances(graph, start);
        let reached = distances.iter().enumerate().filter_map(|(v, d)| Some(((*d)?, v as u32)));
        reached.max().unwrap()
    };
    let (_, end) = farthest(0);
    let (_, end) = farthest(end);
    farthest(end).0
}

#[test]
fn every_kind_is_undirected_and_has_the_degree_asked_for() {
    for (name, lowest, highest) in [
        ("rmat", 4.0, 8.0),
        ("uniform", 7.5, 8.0),
        ("grid", 3.5, 4.0),
        ("grid3d", 5.0, 6.0),
        ("road", 2.4, 2.45),
        ("small-world", 7.9, 8.0),
        ("power-law", 7.0, 8.0),
    ] {
        let graph = graph_with(&[("graph", name), ("nodes", "1000")]).unwrap();
        assert_undirected(&graph);
        let mean = mean_degree(&graph.structure);
        assert!((lowest..=highest).contains(&mean), "{name}: {mean}");
    }
    assert_eq!(GraphKind::NAMES.len(), 7);
}

/// Existing traces depend on these checksums.
#[test]
fn graph_checksums_are_stable() {
    for (kind, expected) in [
        (GraphKind::Rmat, 0x9070_2276),
        (GraphKind::Uniform, 0x5f65_c097),
        (GraphKind::Grid, 0x72cb_7786),
        (GraphKind::Grid3d, 0x5048_ad2e),
    ] {
        let structure = graph(kind, 3000, 9, &mut Random::new(5));
        assert_eq!(checksum(&structure), expected, "{kind:?}");
    }
}

#[test]
fn rmat_is_skewed_and_uniform_is_not() {
    let largest = |kind| largest_degree(&graph(kind, 4096, 16, &mut Random::new(1)));
    assert!(largest(GraphKind::Rmat) > 150);
    assert!(largest(GraphKind::Uniform) < 50);
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

#[test]
fn roads_are_connected_sparse_and_long() {
    let nodes: u32 = 10_000;
    let roads = graph(GraphKind::Road, nodes, 0, &mut Random::new(1));
    assert_eq!(roads.columns.len(), 2 * 12_240);
    assert!(largest_degree(&roads) <= 4);
    assert!(distances(&roads, 0).iter().all(Option::is_some));
    let sides = f64::from(about_the_diameter(&roads)) / f64::from(nodes.isqrt());
    assert!((1.5..2.5).contains(&sides), "{sides}");
    let grid = graph(GraphKind::Grid, nodes, 0, &mut Random::new(1));
    assert!(roads.entries().all(|(from, to)| grid.row(from).contains(&to)));
}

#[test]
fn roads_need_no_square() {
    for nodes in [1, 2, 3, 5, 7, 1001] {
        let roads = graph(GraphKind::Road, nodes, 0, &mut Random::new(1));
        assert_eq!(roads.rows(), nodes);
        assert!(distances(&roads, 0).iter().all(Option::is_some), "{nodes}");
    }
}

#[test]
fn a_small_world_without_rewiring_is_a_ring() {
    let draw = |degree, rewire| {
        let kind = GraphKind::SmallWorld;
        Drawing { kind, nodes: 1000, degree, exponent: 250, rewire }.draw(&mut Random::new(1))
    };
    let ring = draw(4, 0);
    assert_eq!(ring.row(0), [1, 2, 998, 999]);
    assert_eq!(ring.row(500), [498, 499, 501, 502]);
    assert_eq!(draw(1, 0).row(5), [4, 6]);
    // Watts and Strogatz: a few rewired edges bring all vertices close together.
    assert_eq!(about_the_diameter(&ring), 250);
    assert!(about_the_diameter(&draw(4, 10)) < 30);
    let moved = |rewire| {
        let far = |&(from, to): &(u32, u32)| (3..997).contains(&from.abs_diff(to));
        draw(4, rewire).entries().filter(far).count() / 2
    };
    assert_eq!(moved(0), 0);
    assert!((150..250).contains(&moved(10)), "{}", moved(10));
    assert!(moved(100) > 1900);
}

#[test]
fn degrees_follow_the_power_law_asked_for() {
    let at_least = |graph: &Csr, degree| {
        (0..graph.rows()).filter(|&v| graph.degree(v) >= degree).count() as f64
    };
    for (exponent, expected) in [(220u64, 2.2f64), (250, 2.5), (300, 3.0)] {
        let kind = GraphKind::PowerLaw;
        let drawing = Drawing { kind, nodes: 1 << 16, degree: 8, exponent, rewire: 0 };
        let graph = drawing.draw(&mut Random::new(1));
        // The share of vertices with at least k neighbours falls as k^(1 - exponent).
        let fall = (at_least(&graph, 20) / at_least(&graph, 80)).log2() / 2.0 + 1.0;
        assert!((fall - expected).abs() < 0.15, "{exponent}: {fall}");
        assert!((6.5..8.0).contains(&mean_degree(&graph)), "{}", mean_degree(&graph));
    }
}

#[test]
fn power_law_graphs_have_any_size() {
    for nodes in [1, 2, 3, 100] {
        let graph = graph(GraphKind::PowerLaw, nodes, 4, &mut Random::new(1));
        assert_eq!(graph.rows(), nodes);
    }
}

#[test]
fn generated_weights_cover_their_range_and_follow_their_edges() {
    let given = [("graph", "grid"), ("nodes", "4096"), ("order", "as-is")];
    let graph = graph_with(&given).unwrap();
    let mut seen = [0u32; 65];
    graph.weights.iter().for_each(|&weight| seen[weight as usize] += 1);
    assert_eq!(seen[0], 0);
    let mean = graph.weights.len() as u32 / 64;
    assert!(seen[1..].iter().all(|&n| (mean / 2..mean * 2).contains(&n)), "{seen:?}");

    let sorted = |mut weights: Vec<u32>| {
        weights.sort_unstable();
        weights
    };
    let ordered = graph_with(&[("graph", "grid"), ("nodes", "4096"), ("order", "degree")]).unwrap();
    assert_undirected(&ordered);
    assert_ne!(ordered.structure, graph.structure);
    assert_eq!(sorted(ordered.weights), sorted(graph.weights.clone()));
    let other = testing::arguments(GRAPH, &given).unwrap();
    let other = graph_of(&other, Directions::Both, &mut Random::new(2)).unwrap();
    assert_ne!(other.weights, graph.weights);
}

#[test]
fn loops_are_dropped_and_the_lightest_parallel_edge_is_kept() {
    let (graph, notes) = file_of("0 1 5\n1 0 3\n2 2 9\n4 1 7\n0 1 4\n").unwrap();
    assert_eq!(graph.structure.offsets, [0, 1, 3, 3, 3, 4]);
    assert_eq!(graph.structure.columns, [1, 0, 4, 1]);
    assert_eq!(graph.weights, [3, 3, 7, 7]);
    assert_eq!(
        notes,
        [
            "g.el: vertices 5, edges 2; dropped: loops 1, repeats and other directions 2; weights of the file",
            "g.el: the graph is undirected: edges that the file lists in one direction, 1 of 2, go both ways \
             (--directed keeps their directions)"
        ]
    );
    let (graph, notes) = file_of("0 1\n").unwrap();
    assert_undirected(&graph);
    assert!(notes[0].ends_with("weights drawn"), "{notes:?}");
}

#[test]
fn general_matrices_become_undirected_with_a_note() {
    let file = |kind: &str, directed| {
        let text =
            format!("%%MatrixMarket matrix coordinate pattern {kind}\n3 3 3\n2 1\n3 1\n3 3\n");
        file_named("g.mtx", text, directed).unwrap()
    };
    let (graph, notes) = file("general", "false");
    assert_undirected(&graph);
    assert!(!graph.directed);
    assert!(notes[1].contains("undirected: edges that the file lists in one direction, 2 of 2"));
    let (graph, notes) = file("general", "true");
    assert!(graph.directed);
    assert_eq!(graph.structure.entries().collect::<Vec<_>>(), [(1, 0), (2, 0)]);
    let incoming = graph.incoming().unwrap();
    assert_eq!(incoming.entries().collect::<Vec<_>>(), [(0, 1), (0, 2)]);
    let expected =
        "g.mtx: vertices 3, directed edges 2; dropped: loops 1, repeats 0; weights drawn";
    assert_eq!(notes, [expected]);
    // A symmetric matrix needs no note.
    for directed in ["false", "true"] {
        let (graph, notes) = file("symmetric", directed);
        assert_undirected(&graph);
        assert_eq!(notes.len(), 1, "{notes:?}");
    }
    let (_, notes) = file_named("g.el", "0 1\n1 0\n", "false").unwrap();
    assert_eq!(notes.len(), 1, "{notes:?}");
}

#[test]
fn directed_graphs_are_ordered_by_their_edges_in_both_directions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g.el");
    std::fs::write(&path, "3 0\n2 3\n1 2\n").unwrap();
    let given = [("file", path.to_str().unwrap()), ("directed", "true"), ("order", "rcm")];
    let arguments = testing::arguments(&[GRAPH, &[DIRECTED]].concat(), &given).unwrap();
    let graph = graph_of(&arguments, Directions::AsAsked, &mut Random::new(1)).unwrap();
    // A path, which reverse Cuthill-McKee numbers along.
    assert!(graph.structure.entries().all(|(from, to)| from.abs_diff(to) == 1));
    assert_eq!(graph.structure.columns.len(), 3);
}

#[test]
fn bipartite_vertices_are_numbered_consecutively() {
    let (graph, notes) =
        file_named("out.actors", "% bip unweighted\n1 2\n2 3 1 1082008561\n", "false").unwrap();
    assert_eq!(graph.structure.rows(), 5);
    let edges = [(0, 3), (1, 4), (3, 0), (4, 1)];
    assert_eq!(graph.structure.entries().collect::<Vec<_>>(), edges);
    assert!(notes[0].starts_with("out.actors: vertices 5, edges 2;"), "{notes:?}");
}

#[test]
fn high_vertex_numbers_are_renumbered_with_a_note() {
    // In tests numbers from 2^12 on are high.
    let text = "18446744073709551615 7\n7 4096\n4000000000 4095\n";
    let (graph, notes) = file_of(text).unwrap();
    assert_eq!(graph.structure.rows(), 5);
    // 7, 4095, 4096, 4000000000, 18446744073709551615.
    let edges = [(0, 2), (0, 4), (1, 3), (2, 0), (3, 1), (4, 0)];
    assert_eq!(graph.structure.entries().collect::<Vec<_>>(), edges);
    let expected = "g.el: vertices renumbered in the order of their numbers, as the highest, 18446744073709551615, is \
                    not below 2^12: 5";
    assert_eq!(notes[1], expected);
    assert_eq!(file_of("0 4095\n").unwrap().0.structure.rows(), 1 << 12);
}

#[test]
fn graphs_without_edges_have_vertices() {
    let (graph, _) = file_of("3 3\n").unwrap();
    assert_eq!(graph.structure.offsets, [0; 5]);
    assert!(graph.weights.is_empty());
    for order in ["random", "degree", "bfs", "rcm"] {
        let graph = graph_with(&[("nodes", "1"), ("order", order)]).unwrap();
        assert_eq!(graph.structure.offsets, [0, 0]);
    }
}

#[test]
fn a_graph_needs_a_square_matrix() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.mtx");
    std::fs::write(&path, "%%MatrixMarket matrix coordinate pattern general\n2 3 0\n").unwrap();
    let error = graph_with(&[("file", path.to_str().unwrap())]).unwrap_err().to_string();
    assert!(
        error.ends_with("m.mtx: 2 rows and 3 columns; a graph needs a square matrix"),
        "{error}"
    );
}

#[test]
fn too_many_edges_are_refused_only_where_the_degree_counts() {
    let error = graph_with(&[("nodes", "2^24"), ("degree", "2^5")]).unwrap_err().to_string();
    assert_eq!(error, "2^29 edges are more than 2^28");
}

proptest! {
    #[test]
    fn any_listing_becomes_an_undirected_graph(
        edges in prop::collection::vec((0u32..12, 0u32..12, 0u32..5), 0..50)
    ) {
        let (structure, weights) = undirected(12, edges.iter().copied());
        let graph = Graph { structure, weights, labels: None, directed: false };
        assert_undirected(&graph);
        let Graph { structure, weights, .. } = graph;
        for (from, to, weight) in edges {
            if from != to {
                let place = structure.row(from).binary_search(&to);
                prop_assert!(place.is_ok());
                let place = structure.offsets[from as usize] as usize + place.unwrap();
                prop_assert!(weights[place] <= weight);
            }
        }
    }
}
