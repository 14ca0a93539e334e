//! The columns of the network tables: whole networks, nodes and links.

use super::rows::{LinkRow, NodeRow, Side, UnitRow};
use crate::column::{Column, count, ratio, text};
use crate::metrics::network::{self, CYCLES, DIRECTIONS, FLIT_RATE};
use crate::metrics::{self, flit_rate};
use warpmem_network::LinkEnd;

/// Returns the columns of `networks`: one row per run and direction.
pub(crate) fn network_columns() -> Vec<Column<UnitRow>> {
    let mut columns = metrics::key::<UnitRow>(|row| &row.run.key);
    columns.push(direction(|row: &UnitRow| row.unit));
    columns.extend(network::network(UnitRow::network));
    columns
}

/// Returns the columns of `network_nodes`: one row per run, direction, side and node.
pub(crate) fn node_columns() -> Vec<Column<NodeRow>> {
    let mut columns = metrics::key::<NodeRow>(|row| &row.run.key);
    columns.extend([
        direction(|row: &NodeRow| row.network),
        text("side", "Whether the node is a `source` or a `destination`.", |row: &NodeRow| {
            match row.side {
                Side::Source => "source",
                Side::Destination => "destination",
            }
        }),
        count(
            "node",
            "",
            "Index of the node on its side: SMs or groups of `network.sms_per_node` SMs, or L2 slices.",
            |row: &NodeRow| row.node as u64,
        ),
        count("packets", "packets", "Packets sent or received.", |row: &NodeRow| row.counts().packets),
        count("flits", "flits", "Flits of these packets.", |row: &NodeRow| row.counts().flits),
        ratio(
            "wait_mean",
            CYCLES,
            "Mean time of a packet at its source with the network ready to take it; null for destinations.",
            |row: &NodeRow| match row.side {
                Side::Source => network::node_wait_mean(row.counts()),
                Side::Destination => None,
            },
        ),
        ratio("throughput", FLIT_RATE, "Flits over cycles.", |row: &NodeRow| {
            flit_rate(row.counts().flits, row.network().cycles)
        }),
    ]);
    columns
}

/// Returns the columns of `network_links`: one row per run, direction and link.
pub(crate) fn link_columns() -> Vec<Column<LinkRow>> {
    const KIND: &str = "`source`, `router` or `destination`.";
    const INDEX: &str = "Index among the nodes of its kind.";
    let mut columns = metrics::key::<LinkRow>(|row| &row.run.key);
    columns.extend([
        direction(|row: &LinkRow| row.network),
        text("from_kind", KIND, |row: &LinkRow| kind(row.link().from)),
        count("from_index", "", INDEX, |row: &LinkRow| index(row.link().from)),
        text("to_kind", KIND, |row: &LinkRow| kind(row.link().to)),
        count("to_index", "", INDEX, |row: &LinkRow| index(row.link().to)),
        count("flits", "flits", "Flits transferred.", |row: &LinkRow| row.link().flits),
        ratio("utilization", "flits / network cycle", "Flits over cycles.", |row: &LinkRow| {
            flit_rate(row.link().flits, row.network().cycles)
        }),
        count(
            "buffer_flits",
            "flits",
            "Buffer capacity at its end in flits, over all virtual channels; 0 where flits do \
             not wait there.",
            |row: &LinkRow| row.link().buffer_flits,
        ),
        ratio(
            "buffer_utilization",
            "fraction",
            "Waiting flits at its end over its buffer capacity; mean over cycles.",
            |row: &LinkRow| network::buffer_utilization(row.link(), row.network().cycles),
        ),
    ]);
    columns
}

fn kind(end: LinkEnd) -> &'static str {
    match end {
        LinkEnd::Source(_) => "source",
        LinkEnd::Router(_) => "router",
        LinkEnd::Destination(_) => "destination",
    }
}

fn index(end: LinkEnd) -> u64 {
    let (LinkEnd::Source(index) | LinkEnd::Router(index) | LinkEnd::Destination(index)) = end;
    index.into()
}

fn direction<R: 'static>(network: fn(&R) -> usize) -> Column<R> {
    text("direction", "`request`: from SMs to slices; `reply`: from slices to SMs.", move |row| {
        DIRECTIONS[network(row)]
    })
}
