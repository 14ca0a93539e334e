//! The columns about networks: as a whole, by node and by link.

use super::column::{Column, count, ratio, text};
use super::metrics::{self, distribution, quotient};
use super::rows::{FinishedRun, LinkRow, NodeRow, Side, UnitRow};
use warpmem_gpu::results::total;
use warpmem_network::{LinkEnd, LinkResult, NetworkResult, NodeResult, StreamResult};

const CYCLES: &str = "network cycles";
const FLIT_RATE: &str = "flits / network cycle";
const UNTIL_DONE: &str =
    "Cycles from the start of the run until memory is done, after the last CTA.";

/// The columns of `networks`: one row per run and direction.
pub(super) fn network_columns() -> Vec<Column<UnitRow>> {
    let mut columns = metrics::key::<UnitRow>(|row| &row.run.key);
    columns.push(direction(|row: &UnitRow| row.unit));
    columns.extend(network(UnitRow::network));
    columns
}

/// Counts and rates of a network.
fn network<R: 'static>(of: fn(&R) -> &NetworkResult) -> Vec<Column<R>> {
    let mut columns = vec![
        count("network_cycles", CYCLES, UNTIL_DONE, move |row| of(row).cycles),
        count("packets", "packets", "Packets that passed.", move |row| packets(of(row))),
        count("flits", "flits", "Flits of these packets.", move |row| flits(of(row))),
    ];
    columns.extend(distribution(
        "latency",
        CYCLES,
        "From the cycle in which a packet could enter the network until its reader can take it",
        &[50, 90, 99],
        move |row| &of(row).latency,
    ));
    columns.extend(PARTS.into_iter().map(|(name, unit, doc, get)| {
        ratio(name, unit, doc, move |row| quotient(get(of(row)), packets(of(row))))
    }));
    columns.extend([
        ratio("throughput", FLIT_RATE, "Flits over network_cycles.", move |row| {
            quotient(flits(of(row)), of(row).cycles)
        }),
        ratio(
            "throughput_per_source",
            FLIT_RATE,
            "throughput over the nodes that can send.",
            move |row| {
                let network = of(row);
                quotient(flits(network), network.cycles * network.sources.len() as u64)
            },
        ),
    ]);
    columns.extend(links(of));
    columns.extend(fairness(of));
    columns
}

/// A part of the time of all packets: name, unit and definition of its mean, and its sum.
type Part = (&'static str, &'static str, &'static str, fn(&NetworkResult) -> u64);

const PARTS: [Part; 5] = [
    (
        "wait_mean",
        CYCLES,
        "Part of latency_mean: at the source although the packet could have left it.",
        |n| n.wait_cycles,
    ),
    (
        "pipeline_mean",
        CYCLES,
        "Part of latency_mean: routers and links of the way without other packets.",
        |n| n.pipeline_cycles,
    ),
    ("serialisation_mean", CYCLES, "Part of latency_mean: one cycle for each flit.", |n| {
        n.serialisation_cycles
    }),
    ("contention_mean", CYCLES, "Part of latency_mean: what other packets cost on the way.", |n| {
        n.contention_cycles
    }),
    ("hops_mean", "routers", "Mean number of routers that a packet passes.", |n| n.hops),
];

fn links<R: 'static>(of: fn(&R) -> &NetworkResult) -> Vec<Column<R>> {
    let fraction = |name, doc, get: fn(&NetworkResult) -> Option<f64>| {
        ratio(name, "fraction", doc, move |row| get(of(row)))
    };
    vec![
        fraction(
            "link_utilization_mean",
            "Flits per cycle of a link between routers or from a router to a node; mean over these links.",
            |network| {
                let links = || from_routers(network);
                let cycles = network.cycles * links().count() as u64;
                quotient(links().map(|link| link.flits).sum(), cycles)
            },
        ),
        fraction(
            "link_utilization_max",
            "Flits per cycle of the busiest link between routers or from a router to a node.",
            |network| {
                let busiest = from_routers(network).map(|link| link.flits).max();
                busiest.and_then(|flits| quotient(flits, network.cycles))
            },
        ),
        fraction(
            "buffer_utilization_mean",
            "Flits that wait in input buffers of routers over those for which there is room; mean over \
             cycles. Null where flits do not wait in routers.",
            |network| {
                let sum = |get: fn(&LinkResult) -> u64| network.links.iter().map(get).sum::<u64>();
                let room = network.cycles * sum(|link| link.buffer_flits);
                quotient(sum(|link| link.buffer_flit_cycles), room)
            },
        ),
        fraction(
            "buffer_utilization_max",
            "buffer_utilization_mean of the fullest input buffer, all its virtual channels together.",
            |network| {
                let of = |link| buffer_utilization(link, network.cycles);
                network.links.iter().filter_map(of).max_by(f64::total_cmp)
            },
        ),
    ]
}

fn fairness<R: 'static>(of: fn(&R) -> &NetworkResult) -> [Column<R>; 2] {
    [
        ratio(
            "fairness",
            "fraction",
            "Jain's index of the packets that the network took from each source that sent any: (sum)^2 / \
             (sources x sum of squares). 1: from each as many; 1 / sources: all from one.",
            move |row| jain(of(row).sources.iter().map(|source| source.packets)),
        ),
        ratio(
            "wait_max_over_mean",
            "ratio",
            "wait_mean of the source with the longest over wait_mean of the network; null where nothing waited.",
            move |row| {
                let network = of(row);
                let longest =
                    network.sources.iter().filter_map(wait_mean).max_by(f64::total_cmp)?;
                let mean = quotient(network.wait_cycles, packets(network))?;
                (mean > 0.0).then(|| longest / mean)
            },
        ),
    ]
}

/// Jain's fairness index over the values that are not 0 (Jain, Chiu and Hawe, DEC-TR-301, 1984).
fn jain(values: impl Iterator<Item = u64>) -> Option<f64> {
    let values: Vec<f64> = values.filter(|&value| value > 0).map(|value| value as f64).collect();
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|value| value * value).sum();
    (squares > 0.0).then(|| sum * sum / (values.len() as f64 * squares))
}

fn packets(network: &NetworkResult) -> u64 {
    network.latency.count()
}

fn flits(network: &NetworkResult) -> u64 {
    network.sources.iter().map(|source| source.flits).sum()
}

/// Links that routers send on. Nodes may send to their routers faster than a flit a cycle.
fn from_routers(network: &NetworkResult) -> impl Iterator<Item = &LinkResult> {
    network.links.iter().filter(|link| matches!(link.from, LinkEnd::Router(_)))
}

fn buffer_utilization(link: &LinkResult, cycles: u64) -> Option<f64> {
    quotient(link.buffer_flit_cycles, cycles * link.buffer_flits)
}

fn wait_mean(source: &NodeResult) -> Option<f64> {
    quotient(source.wait_cycles, source.packets)
}

/// The columns of `network_nodes`: one row per run, direction, side and node.
pub(super) fn node_columns() -> Vec<Column<NodeRow>> {
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
            "Index of the node on its side: SMs, or groups of `network.sms_per_node`, and LLC slices.",
            |row: &NodeRow| row.node as u64,
        ),
        count("packets", "packets", "Packets sent or taken.", |row: &NodeRow| row.counts().packets),
        count("flits", "flits", "Flits of these packets.", |row: &NodeRow| row.counts().flits),
        ratio(
            "wait_mean",
            CYCLES,
            "Mean time of a packet at its source although it could have left it; null of destinations.",
            |row: &NodeRow| match row.side {
                Side::Source => wait_mean(row.counts()),
                Side::Destination => None,
            },
        ),
        ratio("throughput", FLIT_RATE, "Flits over cycles.", |row: &NodeRow| {
            quotient(row.counts().flits, row.network().cycles)
        }),
    ]);
    columns
}

/// The columns of `network_links`: one row per run, direction and link.
pub(super) fn link_columns() -> Vec<Column<LinkRow>> {
    const KIND: &str = "`source`, `router` or `destination`.";
    const INDEX: &str = "Index among those of its kind.";
    let mut columns = metrics::key::<LinkRow>(|row| &row.run.key);
    columns.extend([
        direction(|row: &LinkRow| row.network),
        text("from_kind", KIND, |row: &LinkRow| kind(row.link().from)),
        count("from_index", "", INDEX, |row: &LinkRow| index(row.link().from)),
        text("to_kind", KIND, |row: &LinkRow| kind(row.link().to)),
        count("to_index", "", INDEX, |row: &LinkRow| index(row.link().to)),
        count("flits", "flits", "Flits that passed.", |row: &LinkRow| row.link().flits),
        ratio("utilization", "flits / network cycle", "Flits over cycles.", |row: &LinkRow| {
            quotient(row.link().flits, row.network().cycles)
        }),
        count(
            "buffer_flits",
            "flits",
            "Flits for which there is room at its end, all virtual channels together; 0 where flits do \
             not wait there.",
            |row: &LinkRow| row.link().buffer_flits,
        ),
        ratio(
            "buffer_utilization",
            "fraction",
            "Flits that wait at its end over those for which there is room; mean over cycles.",
            |row: &LinkRow| buffer_utilization(row.link(), row.network().cycles),
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

/// The networks of a run in order.
const DIRECTIONS: [&str; 2] = ["request", "reply"];

fn direction<R: 'static>(network: fn(&R) -> usize) -> Column<R> {
    text("direction", "`request`: from SMs to slices; `reply`: back.", move |row| {
        DIRECTIONS[network(row)]
    })
}

/// What `runs` says of the networks.
pub(super) fn run_network_columns() -> Vec<Column<FinishedRun>> {
    let before = |run: &FinishedRun| locality(&total(&requests(run)?.before));
    let after = |run: &FinishedRun| locality(&total(&requests(run)?.after));
    let mut columns = vec![
        ratio("row_locality_before", LOCALITY, BEFORE, before),
        ratio("row_locality_after", LOCALITY, AFTER, after),
        ratio(
            "row_locality_preserved",
            "fraction",
            "row_locality_after over row_locality_before [Yuan Fig 6b, 8b].",
            move |run: &FinishedRun| Some(after(run)? / before(run)?),
        ),
    ];
    for (network, direction) in DIRECTIONS.into_iter().enumerate() {
        let mean = |name, doc: &str, get: fn(&NetworkResult) -> Option<f64>| {
            let of = move |run: &FinishedRun| get(run.result.networks.get(network)?);
            ratio(&format!("{direction}_network_{name}"), CYCLES, doc, of)
        };
        columns.extend([
            mean("latency_mean", "latency_mean of this network in `networks`.", |network| {
                network.latency.mean()
            }),
            mean("contention_mean", "contention_mean of this network in `networks`.", |network| {
                quotient(network.contention_cycles, packets(network))
            }),
        ]);
    }
    columns
}

const LOCALITY: &str = "requests / row";
const BEFORE: &str = "Requests of an SM as they enter the request network, over the times that a \
    bank's row is not that of the request before it to that bank; of several SMs, sum over sum [Yuan Fig 1, 6].";
const AFTER: &str = "The same of all requests to a DRAM channel as they leave the request network; \
    of several channels, sum over sum [Yuan Fig 1, 6].";

/// Row locality of an SM's requests before the network.
pub(super) fn row_locality_before() -> Column<UnitRow> {
    ratio("row_locality_before", LOCALITY, BEFORE, |row: &UnitRow| {
        locality(requests(&row.run)?.before.get(row.unit)?)
    })
}

/// Row locality of a channel's requests behind the network.
pub(super) fn row_locality_after() -> Column<UnitRow> {
    ratio("row_locality_after", LOCALITY, AFTER, |row: &UnitRow| {
        locality(requests(&row.run)?.after.get(row.unit)?)
    })
}

fn requests(run: &FinishedRun) -> Option<&NetworkResult> {
    run.result.networks.first()
}

fn locality(stream: &StreamResult) -> Option<f64> {
    quotient(stream.requests, stream.rows)
}
