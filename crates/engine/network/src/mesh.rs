//! A two-dimensional mesh: a router at every position of a grid, linked to its horizontal and
//! vertical neighbours.

use super::direct::{self, Step};
use super::placement::Placement;
use super::router::layout::Layout;
use super::{TopologyEntry, router};
use warpmem_params::{PolicyInfo, params};

const INFO: PolicyInfo = PolicyInfo {
    name: "mesh",
    summary: "a grid of routers; packets travel along their row first, then along the column",
    source: "Dally and Towles 2004, chapters 5 and 8; Yuan et al., MICRO 2009; Jog et al., ASPLOS 2013",
    params: Parameters::params,
};

pub(super) const ENTRY: TopologyEntry = TopologyEntry {
    info: INFO,
    build: |context, params| {
        let Parameters { columns } = params.read();
        let nodes = context.placement.nodes;
        INFO.require(
            columns <= nodes,
            "columns",
            columns,
            format!("at most {nodes}, the number of nodes"),
        )?;
        router::build(&layout(&context.placement, columns), context, &INFO)
    },
};

params! {
    struct Parameters {
        /// routers per row, at most as many as nodes; 0 = as in the smallest square that holds all
        /// nodes
        columns: usize = 0, in 0.., unit "positions";
    }
}

/// Builds a mesh with positions numbered along the rows. Packets never turn from a column into a
/// row, which rules out deadlock.
pub(super) fn layout(placement: &Placement, columns: usize) -> Layout {
    let square = (1..).find(|side| side * side >= placement.nodes).expect("squares grow");
    let columns = if columns == 0 { square } else { columns };
    let positions = placement.nodes.div_ceil(columns) * columns;
    let neighbours = |position: usize| {
        let column = position % columns;
        let beside =
            [(column > 0).then(|| position - 1), (column + 1 < columns).then_some(position + 1)];
        let along =
            [position.checked_sub(columns), Some(position + columns).filter(|&p| p < positions)];
        beside.into_iter().chain(along).flatten().collect()
    };
    let neighbours: Vec<Vec<usize>> = (0..positions).map(neighbours).collect();
    direct::layout(placement, &neighbours, 1, |here, there| Step {
        to: next(here, there, columns),
        class: 0,
    })
}

/// Returns the position after `here` on the path to `there`.
fn next(here: usize, there: usize, columns: usize) -> usize {
    let towards =
        |from: usize, to: usize, step: usize| if to > from { here + step } else { here - step };
    let (column, wanted) = (here % columns, there % columns);
    if column != wanted { towards(column, wanted, 1) } else { towards(here, there, columns) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::router::layout::{End, Route};

    #[test]
    fn routing_is_row_first_then_column() {
        let mesh = layout(&Placement::all_to_all(12), 4);
        assert_eq!(mesh.path(0, 11), [0, 1, 2, 3, 7, 11]);
        assert_eq!(mesh.path(11, 0), [11, 10, 9, 8, 4, 0]);
        assert_eq!(mesh.path(2, 8), [2, 1, 0, 4, 8]);
        assert_eq!(mesh.path(5, 5), [5]);
    }

    #[test]
    fn every_path_is_shortest() {
        for (nodes, columns) in [(1, 0), (2, 0), (5, 0), (36, 0), (12, 5), (7, 1), (7, 7)] {
            let mesh = layout(&Placement::all_to_all(nodes), columns);
            let side = if columns == 0 { (nodes as f64).sqrt().ceil() as usize } else { columns };
            let distance =
                |a: usize, b: usize| (a % side).abs_diff(b % side) + (a / side).abs_diff(b / side);
            for (a, b) in (0..nodes).flat_map(|a| (0..nodes).map(move |b| (a, b))) {
                assert_eq!(mesh.path(a, b).len(), distance(a, b) + 1, "{a} to {b} of {nodes}");
            }
        }
    }

    #[test]
    fn no_packet_turns_from_a_column_into_a_row() {
        let mesh = layout(&Placement::all_to_all(30), 6);
        for (a, b) in (0..30).flat_map(|a| (0..30).map(move |b| (a, b))) {
            let steps: Vec<bool> =
                mesh.path(a, b).windows(2).map(|hop| hop[0] / 6 == hop[1] / 6).collect();
            assert!(steps.is_sorted_by_key(|&along_row| !along_row), "{a} to {b}");
        }
    }

    #[test]
    fn edge_routers_and_positions_without_nodes_have_fewer_ports() {
        let mesh = layout(&Placement::all_to_all(7), 3);
        let outputs: Vec<usize> = mesh.outputs.iter().map(Vec::len).collect();
        assert_eq!(outputs, [3, 4, 3, 4, 5, 4, 3, 3, 2]);
        assert_eq!(mesh.inputs(), outputs);
    }

    #[test]
    fn a_node_that_only_sends_has_no_output() {
        let placement = Placement { nodes: 4, inputs: vec![0, 2, 3], outputs: vec![1] };
        let mesh = layout(&placement, 2);
        let outputs: Vec<usize> = mesh.outputs.iter().map(Vec::len).collect();
        assert_eq!(outputs, [2, 3, 2, 2]);
        assert_eq!(mesh.inputs(), [3, 2, 3, 3]);
        assert_eq!(mesh.outputs[1][2], End::Node(0));
        assert_eq!(mesh.routes[1], [Route { output: 2, class: 0 }]);
        assert_eq!(mesh.path(1, 0), [2, 3, 1]);
    }
}
