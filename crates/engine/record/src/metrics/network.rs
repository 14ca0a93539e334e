//! The metrics of a network, and of row locality before and after it.

use super::{distribution, flit_rate, jain_index, quotient};
use crate::column::{Column, count, ratio};
use crate::run::FinishedRun;
use warpmem_gpu::results::RunResult;
use warpmem_network::{LinkEnd, LinkResult, NetworkResult, NodeResult, StreamResult};
use warpmem_sim::total;

pub(crate) const CYCLES: &str = "network cycles";
pub(crate) const FLIT_RATE: &str = "flits / network cycle";
const UNTIL_DONE: &str =
    "Cycles from the start of the run until memory is idle after the last CTA.";

/// Returns counts and rates of a network.
pub(crate) fn network<R: 'static>(of: fn(&R) -> &NetworkResult) -> Vec<Column<R>> {
    let mut columns = vec![
        count("network_cycles", CYCLES, UNTIL_DONE, move |row| of(row).cycles),
        count("packets", "packets", "Packets transferred.", move |row| packets(of(row))),
        count("flits", "flits", "Flits of these packets.", move |row| of(row).flits()),
    ];
    columns.extend(distribution(
        "latency",
        CYCLES,
        "Time from the cycle in which a packet could enter the network until its receiver can take it",
        &[50, 90, 99],
        move |row| &of(row).latency,
    ));
    columns.extend(
        PARTS
            .into_iter()
            .map(|(name, unit, doc, get)| ratio(name, unit, doc, move |row| get(of(row)))),
    );
    columns.extend([
        ratio("throughput", FLIT_RATE, "Flits over network_cycles.", move |row| {
            flit_rate(of(row).flits(), of(row).cycles)
        }),
        ratio(
            "throughput_per_source",
            FLIT_RATE,
            "throughput per node that can send.",
            move |row| {
                let network = of(row);
                quotient(network.flits(), network.cycles * network.sources.len() as u64)
            },
        ),
    ]);
    columns.extend(links(of));
    columns.extend(fairness(of));
    columns
}

/// A component of the mean time of a packet: name, unit, definition and value.
type Part = (&'static str, &'static str, &'static str, fn(&NetworkResult) -> Option<f64>);

const PARTS: [Part; 5] = [
    (
        "wait_mean",
        CYCLES,
        "Part of latency_mean: wait at the source of a packet ready to leave.",
        wait_mean,
    ),
    (
        "pipeline_mean",
        CYCLES,
        "Part of latency_mean: routers and links of the path without contention.",
        |n| quotient(n.pipeline_cycles, packets(n)),
    ),
    ("serialisation_mean", CYCLES, "Part of latency_mean: one cycle per flit.", |n| {
        quotient(n.serialisation_cycles, packets(n))
    }),
    (
        "contention_mean",
        CYCLES,
        "Part of latency_mean: contention with other packets on the path.",
        contention_mean,
    ),
    ("hops_mean", "routers", "Mean number of routers that a packet passes.", |n| {
        quotient(n.hops, packets(n))
    }),
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
                busiest.and_then(|flits| flit_rate(flits, network.cycles))
            },
        ),
        fraction(
            "buffer_utilization_mean",
            "Waiting flits in input buffers of routers over their capacity; mean over \
             cycles. Null where flits do not wait in routers.",
            |network| {
                let sum = |get: fn(&LinkResult) -> u64| network.links.iter().map(get).sum::<u64>();
                let room = network.cycles * sum(|link| link.buffer_flits);
                quotient(sum(|link| link.buffer_flit_cycles), room)
            },
        ),
        fraction(
            "buffer_utilization_max",
            "buffer_utilization_mean of the fullest input buffer, over all its virtual channels.",
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
            "Jain's index of the packets accepted from each source that sent any: (sum)^2 / \
             (sources x sum of squares). 1: equal shares; 1 / sources: all from one source.",
            move |row| {
                let sent = of(row).sources.iter().map(|source| source.packets);
                jain_index(sent.filter(|&packets| packets > 0))
            },
        ),
        ratio(
            "wait_max_over_mean",
            "ratio",
            "Longest wait_mean of a source over wait_mean of the network; null without waits.",
            move |row| {
                let network = of(row);
                let longest =
                    network.sources.iter().filter_map(node_wait_mean).max_by(f64::total_cmp)?;
                let mean = wait_mean(network)?;
                (mean > 0.0).then(|| longest / mean)
            },
        ),
    ]
}

fn wait_mean(network: &NetworkResult) -> Option<f64> {
    quotient(network.wait_cycles, packets(network))
}

fn contention_mean(network: &NetworkResult) -> Option<f64> {
    quotient(network.contention_cycles, packets(network))
}

fn packets(network: &NetworkResult) -> u64 {
    network.latency.count()
}

/// Returns the links that leave routers; nodes may inject more than one flit per cycle.
fn from_routers(network: &NetworkResult) -> impl Iterator<Item = &LinkResult> {
    network.links.iter().filter(|link| matches!(link.from, LinkEnd::Router(_)))
}

pub(crate) fn buffer_utilization(link: &LinkResult, cycles: u64) -> Option<f64> {
    quotient(link.buffer_flit_cycles, cycles * link.buffer_flits)
}

pub(crate) fn node_wait_mean(source: &NodeResult) -> Option<f64> {
    quotient(source.wait_cycles, source.packets)
}

/// Returns the networks of a run in order.
pub(crate) const DIRECTIONS: [&str; 2] = ["request", "reply"];

/// Returns the network metrics of `runs`.
pub(crate) fn run_network_columns() -> Vec<Column<FinishedRun>> {
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
            mean(
                "contention_mean",
                "contention_mean of this network in `networks`.",
                contention_mean,
            ),
        ]);
    }
    let convoy = |run: &FinishedRun| request_convoy(&run.result);
    columns.push(ratio("request_convoy", "fraction", CONVOY, convoy));
    columns
}

const CONVOY: &str = "Requests sent to a slice while at least a quarter of the SMs, four times its even share \
    of them and four, had their next request for it, over all requests. The three slices with the most such requests \
    are left out, as they may be hot spots. Null where requests do not meet in one switch.";

/// Most slices that can be hot spots at once, with a quarter of the SMs each.
const HOT_SPOTS: usize = 3;

/// Returns the fraction of requests sent in a convoy: `request_convoy` of `runs`.
pub fn request_convoy(result: &RunResult) -> Option<f64> {
    let requests = result.networks.first()?;
    let mut crowded = requests.crowded.clone();
    crowded.sort_unstable();
    let (others, _) = crowded.split_last_chunk::<HOT_SPOTS>()?;
    quotient(others.iter().sum(), packets(requests))
}

const LOCALITY: &str = "requests / row";
const BEFORE: &str = "Requests of an SM as they enter the request network, over the times that a \
    bank's row is not that of the request before it to that bank; of several SMs, sum over sum [Yuan Fig 1, 6].";
const AFTER: &str = "The same of all requests to a DRAM channel as they leave the request network; \
    of several channels, sum over sum [Yuan Fig 1, 6].";

/// Returns the row locality of an SM's requests before the network.
pub(crate) fn row_locality_before<R: 'static>(of: fn(&R) -> Option<&StreamResult>) -> Column<R> {
    ratio("row_locality_before", LOCALITY, BEFORE, move |row| locality(of(row)?))
}

/// Returns the row locality of a channel's requests after the network.
pub(crate) fn row_locality_after<R: 'static>(of: fn(&R) -> Option<&StreamResult>) -> Column<R> {
    ratio("row_locality_after", LOCALITY, AFTER, move |row| locality(of(row)?))
}

/// Returns the request network.
pub(crate) fn requests(run: &FinishedRun) -> Option<&NetworkResult> {
    run.result.networks.first()
}

fn locality(stream: &StreamResult) -> Option<f64> {
    quotient(stream.requests, stream.rows)
}
