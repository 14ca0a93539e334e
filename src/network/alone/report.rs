//! What came of a network at several loads.

use super::Point;
use crate::record::{Column, count, ratio, text};

/// Below this fraction of what is offered a network is saturated.
const KEEPS_UP: f64 = 0.95;

/// A latency is high at so many times that of the empty network.
const HIGH: f64 = 3.0;

impl Point {
    fn flits(&self, packets: u64) -> f64 {
        (packets * self.setup.packet_flits) as f64
    }

    /// Of packets in the window: flits per source and cycle.
    fn rate(&self, packets: u64) -> f64 {
        let places = self.setup.pattern.sources as u64 * self.setup.window.cycles;
        self.flits(packets) / places as f64
    }

    /// Flits generated in the window per source and cycle.
    pub fn generated(&self) -> f64 {
        self.rate(self.counts.generated)
    }

    /// Flits that arrived in the window per source and cycle.
    pub fn accepted(&self) -> f64 {
        self.rate(self.counts.accepted.iter().sum())
    }

    /// Whether less arrives than is generated, so that queues grow without end.
    pub fn is_saturated(&self) -> bool {
        self.counts.missing > 0 || self.accepted() < KEEPS_UP * self.generated()
    }

    /// Mean over the packets generated in the window; nothing where some have not arrived.
    pub fn latency(&self) -> Option<f64> {
        self.whole(|counts| counts.latency.mean())
    }

    /// Of the empty network.
    pub fn zero_load_latency(&self) -> f64 {
        self.zero_load
    }

    /// What holds of the latency of all packets of the window.
    fn whole(&self, of: impl FnOnce(&super::flow::Counts) -> Option<f64>) -> Option<f64> {
        if self.counts.missing == 0 { of(&self.counts) } else { None }
    }

    /// A sum of cycles over the packets of the window as a mean.
    fn mean(&self, sum: impl FnOnce(&super::flow::Counts) -> u64) -> Option<f64> {
        self.whole(|counts| quotient(sum(counts) as f64, counts.latency.count() as f64))
    }

    fn quantile(&self, q: f64) -> Option<f64> {
        self.whole(|counts| counts.latency.quantile(q).map(|cycles| cycles as f64))
    }

    /// Flits per link and cycle.
    fn link_utilization(&self, flits: f64) -> Option<f64> {
        quotient(flits, self.setup.window.cycles as f64)
    }

    /// Jain, Chiu, Hawe 1984.
    fn fairness(&self) -> Option<f64> {
        let accepted = self.counts.accepted.iter().map(|&packets| packets as f64);
        let sum: f64 = accepted.clone().sum();
        let squares: f64 = accepted.clone().map(|x| x * x).sum();
        quotient(sum * sum, accepted.count() as f64 * squares)
    }
}

fn quotient(above: f64, below: f64) -> Option<f64> {
    (below > 0.0).then(|| above / below)
}

/// The columns of a row, in the order of the tables.
pub fn columns() -> Vec<Column<Point>> {
    let mut columns = identity();
    columns.extend(throughput());
    columns.extend(latency());
    columns.extend(use_of_it());
    columns
}

fn identity() -> Vec<Column<Point>> {
    let policy = |name, doc, of: for<'a> fn(&'a Point) -> &'a str| text(name, doc, of);
    vec![
        policy("machine", "Machine whose network keys hold.", |p| &p.setup.machine.name),
        policy("topology", "Topology and its parameters.", |p| &p.setup.machine.policy.topology),
        policy("arbiter", "Arbitration rule and its parameters.", |p| {
            &p.setup.machine.policy.arbiter
        }),
        policy("allocator", "Allocator of topologies of routers, and its parameters.", |p| {
            &p.setup.machine.network.allocator
        }),
        policy("pattern", "Where packets go.", |p| &p.setup.pattern_text),
        count("sources", "", "Terminals that send.", |p: &Point| p.setup.pattern.sources as u64),
        count("destinations", "", "Terminals that take.", |p: &Point| {
            p.setup.pattern.destinations as u64
        }),
        count("packet_flits", "flits", "Flits of a packet.", |p: &Point| p.setup.packet_flits),
        count("warmup_cycles", "cycles", "Cycles before the window.", |p: &Point| {
            p.setup.window.warmup
        }),
        count("window_cycles", "cycles", "Cycles of the window.", |p: &Point| {
            p.setup.window.cycles
        }),
        count("seed", "", "What chance is drawn from.", |p: &Point| p.setup.seed),
    ]
}

fn throughput() -> Vec<Column<Point>> {
    let rate = "flits/cycle";
    vec![
        ratio(
            "load",
            rate,
            "Flits offered per source and cycle: what was asked for.",
            |p: &Point| Some(p.load),
        ),
        ratio(
            "generated",
            rate,
            "Flits generated in the window per source and cycle: what chance made of the load.",
            |p: &Point| Some(p.generated()),
        ),
        ratio(
            "accepted",
            rate,
            "Flits that arrived in the window per source and cycle.",
            |p: &Point| Some(p.accepted()),
        ),
        text(
            "saturated",
            "`yes` where less than 95 % of what was generated arrived in the window, or some of its packets never did.",
            |p: &Point| if p.is_saturated() { "yes" } else { "no" },
        ),
        count("packets", "packets", "Packets generated in the window.", |p: &Point| {
            p.counts.generated
        }),
        count(
            "missing",
            "packets",
            "Those of them that had not arrived when the run was given up: five times warm-up and window, and 10,000 \
             cycles. Latencies are left out then.",
            |p: &Point| p.counts.missing,
        ),
    ]
}

fn latency() -> Vec<Column<Point>> {
    let cycles = "cycles";
    vec![
        ratio(
            "latency_mean",
            cycles,
            "Mean time from the cycle in which a packet is generated until its last flit can be taken, over the packets \
             generated in the window.",
            |p: &Point| p.latency(),
        ),
        ratio("latency_p50", cycles, "Median of it.", |p: &Point| p.quantile(0.5)),
        ratio("latency_p99", cycles, "99th percentile of it.", |p: &Point| p.quantile(0.99)),
        ratio("latency_max", cycles, "Largest of it.", |p: &Point| {
            p.whole(|counts| counts.latency.max().map(|cycles| cycles as f64))
        }),
        ratio(
            "wait_mean",
            cycles,
            "Part of the mean: at the source, until the network takes the packet from it.",
            |p: &Point| p.mean(|counts| counts.wait),
        ),
        ratio(
            "pipeline_mean",
            cycles,
            "Part of the mean: routers and links of the way, in an empty network.",
            |p: &Point| p.mean(|c| c.alone - c.latency.count() * p.setup.packet_flits),
        ),
        ratio("serialisation_mean", cycles, "Part of the mean: one for each flit.", |p: &Point| {
            p.mean(|counts| counts.latency.count() * p.setup.packet_flits)
        }),
        ratio(
            "contention_mean",
            cycles,
            "Part of the mean: what other packets cost on the way.",
            |p: &Point| p.mean(|c| c.latency.sum() as u64 - c.wait - c.alone),
        ),
        ratio(
            "zero_load_latency",
            cycles,
            "Mean latency in an empty network, every pair of terminals weighted as the pattern has it.",
            |p: &Point| Some(p.zero_load),
        ),
    ]
}

fn use_of_it() -> Vec<Column<Point>> {
    vec![
        ratio(
            "link_utilization_mean",
            "fraction",
            "Flits over a link in the window per cycle, mean over all links.",
            |p: &Point| {
                let flits: u64 = p.links.iter().sum();
                p.link_utilization(quotient(flits as f64, p.links.len() as f64)?)
            },
        ),
        ratio("link_utilization_max", "fraction", "The same of the busiest link.", |p: &Point| {
            p.link_utilization(*p.links.iter().max()? as f64)
        }),
        ratio(
            "fairness",
            "",
            "Jain's index over the sources of the packets that arrived in the window: 1 where all got the same, one over \
             the sources where one got all.",
            |p: &Point| p.fairness(),
        ),
    ]
}

/// What a curve says as a whole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The highest load, of those below the first that saturates the network, and that one.
    pub carried: Option<f64>,
    pub saturated: Option<f64>,
    /// Most flits accepted per source and cycle at any load.
    pub throughput: f64,
    /// Load at which the mean latency is three times that of the empty network, by the straight line between the two
    /// loads beside it; below saturation.
    pub high_latency: Option<f64>,
}

/// Of points in the order of their loads.
pub fn summary(points: &[Point]) -> Summary {
    let saturated = points.iter().position(Point::is_saturated);
    let carried = &points[..saturated.unwrap_or(points.len())];
    Summary {
        carried: carried.last().map(|point| point.load),
        saturated: saturated.map(|at| points[at].load),
        throughput: points.iter().map(Point::accepted).fold(0.0, f64::max),
        high_latency: carried.windows(2).find_map(|pair| crossing(&pair[0], &pair[1])),
    }
}

/// Where the latency becomes high between two loads.
fn crossing(below: &Point, above: &Point) -> Option<f64> {
    let high = HIGH * below.zero_load;
    let (low, next) = (below.latency()?, above.latency()?);
    (low < high && high <= next)
        .then(|| below.load + (above.load - below.load) * (high - low) / (next - low))
}
