//! The results of a network at several loads.

use super::Point;
use super::flow::Counts;
use warpmem_record::metrics::{jain_index, quotient};
use warpmem_record::{Column, count, maybe_count, ratio, text};

/// Saturation thresholds: a network is saturated if the arrived flits fall short of the generated
/// ones by more than this fraction, and by more than this many square roots of the packets, because
/// that many may be in flight by chance.
const SHORTFALL: (f64, f64) = (0.01, 4.0);

/// Multiple of the latency of the empty network from which a latency is high.
const HIGH: f64 = 3.0;

impl Point {
    fn flits(&self, packets: u64) -> f64 {
        (packets * self.setup.packet_flits) as f64
    }

    /// Returns the flits of `packets` in the window, per source and cycle.
    fn rate(&self, packets: u64) -> f64 {
        let slots_of_sources = self.setup.pattern.sources as u64 * self.setup.window.cycles;
        self.flits(packets) / slots_of_sources as f64
    }

    /// Returns the flits generated in the window per source and cycle.
    pub fn generated(&self) -> f64 {
        self.rate(self.counts.generated)
    }

    /// Returns the flits that arrived in the window per source and cycle.
    pub fn accepted(&self) -> f64 {
        self.rate(self.counts.accepted.iter().sum())
    }

    /// Returns whether fewer flits arrive than are generated, so that queues grow without bound.
    pub fn is_saturated(&self) -> bool {
        let generated = self.counts.generated as f64;
        let arrived = self.counts.accepted.iter().sum::<u64>() as f64;
        let (fraction, roots) = SHORTFALL;
        let chance = (fraction * generated).max(roots * generated.sqrt());
        self.counts.missing > 0 || generated - arrived > chance
    }

    /// Returns the mean over the packets generated in the window; none if some have not arrived.
    pub fn latency(&self) -> Option<f64> {
        self.whole(|counts| counts.latency.mean())
    }

    /// Returns the mean latency of the empty network.
    pub fn zero_load_latency(&self) -> f64 {
        self.zero_load
    }

    /// Returns a property of the latency of all packets of the window; none if some have not
    /// arrived.
    fn whole<T>(&self, of: impl FnOnce(&Counts) -> Option<T>) -> Option<T> {
        if self.counts.missing == 0 { of(&self.counts) } else { None }
    }

    /// Returns a sum of cycles as the mean over the packets of the window.
    fn mean(&self, sum: impl FnOnce(&Counts) -> u64) -> Option<f64> {
        self.whole(|counts| quotient(sum(counts), counts.latency.count()))
    }

    fn quantile(&self, q: f64) -> Option<u64> {
        self.whole(|counts| counts.latency.quantile(q))
    }

    /// Returns the flits per link and cycle.
    fn link_utilization(&self, flits: f64) -> f64 {
        flits / self.setup.window.cycles as f64
    }

    /// Returns Jain's index of the packets of each source that arrived.
    fn fairness(&self) -> Option<f64> {
        jain_index(self.counts.accepted.iter().copied())
    }
}

/// Returns the columns of a row, in the order of the tables.
pub fn columns() -> Vec<Column<Point>> {
    let mut columns = identity();
    columns.extend(throughput());
    columns.extend(latency());
    columns.extend(link_use());
    columns
}

fn identity() -> Vec<Column<Point>> {
    let policy = |name, doc, of: for<'a> fn(&'a Point) -> &'a str| text(name, doc, of);
    vec![
        policy("machine", "Machine that provides the network keys.", |p| &p.setup.machine.name),
        policy("topology", "Topology and its parameters.", |p| &p.setup.machine.policy.topology),
        policy("arbiter", "Arbitration rule and its parameters.", |p| {
            &p.setup.machine.policy.arbiter
        }),
        policy("allocator", "Allocator of topologies of routers and its parameters.", |p| {
            &p.setup.machine.network.allocator
        }),
        policy("pattern", "Traffic pattern: the destinations of packets.", |p| {
            &p.setup.pattern_text
        }),
        count("sources", "", "Number of sending terminals.", |p: &Point| {
            p.setup.pattern.sources as u64
        }),
        count("destinations", "", "Number of receiving terminals.", |p: &Point| {
            p.setup.pattern.destinations as u64
        }),
        count("packet_flits", "flits", "Flits per packet.", |p: &Point| p.setup.packet_flits),
        count("warmup_cycles", "cycles", "Cycles before the window.", |p: &Point| {
            p.setup.window.warmup
        }),
        count("window_cycles", "cycles", "Cycles of the window.", |p: &Point| {
            p.setup.window.cycles
        }),
        count("seed", "", "Seed of the random numbers.", |p: &Point| p.setup.seed),
    ]
}

fn throughput() -> Vec<Column<Point>> {
    let rate = "flits/cycle";
    vec![
        ratio("load", rate, "Offered load: flits per source and cycle.", |p: &Point| Some(p.load)),
        ratio(
            "generated",
            rate,
            "Flits generated in the window per source and cycle: the random realisation of the load.",
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
            "`yes` if the packets that arrived in the window fall short of those generated by more than 1 % and by more than four times their square root, or if some never arrived.",
            |p: &Point| if p.is_saturated() { "yes" } else { "no" },
        ),
        count("packets", "packets", "Packets generated in the window.", |p: &Point| {
            p.counts.generated
        }),
        count(
            "missing",
            "packets",
            "Packets of the window that had not arrived when the run was abandoned, after five times warm-up and window and 10,000 cycles. Latencies are null then.",
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
            "Mean latency of the packets generated in the window, from the cycle of generation until the last flit can be taken.",
            |p: &Point| p.latency(),
        ),
        maybe_count("latency_p50", cycles, "Median latency.", |p: &Point| p.quantile(0.5)),
        maybe_count("latency_p99", cycles, "99th percentile of the latency.", |p: &Point| {
            p.quantile(0.99)
        }),
        maybe_count("latency_max", cycles, "Largest latency.", |p: &Point| {
            p.whole(|counts| counts.latency.max())
        }),
        ratio(
            "wait_mean",
            cycles,
            "Part of `latency_mean`: waiting at the source.",
            |p: &Point| p.mean(|counts| counts.wait),
        ),
        ratio(
            "pipeline_mean",
            cycles,
            "Part of `latency_mean`: routers and links of the path in an empty network.",
            |p: &Point| p.mean(|c| c.zero_load - c.latency.count() * p.setup.packet_flits),
        ),
        ratio(
            "serialisation_mean",
            cycles,
            "Part of `latency_mean`: one cycle per flit.",
            |p: &Point| p.mean(|counts| counts.latency.count() * p.setup.packet_flits),
        ),
        ratio(
            "contention_mean",
            cycles,
            "Part of `latency_mean`: waiting for other packets in the network.",
            |p: &Point| p.mean(|c| c.latency.sum() as u64 - c.wait - c.zero_load),
        ),
        ratio(
            "zero_load_latency",
            cycles,
            "Mean latency in an empty network, over pairs of terminals weighted by the pattern.",
            |p: &Point| Some(p.zero_load),
        ),
    ]
}

fn link_use() -> Vec<Column<Point>> {
    vec![
        ratio(
            "link_utilization_mean",
            "fraction",
            "Flits per cycle of the window, mean over all links.",
            |p: &Point| {
                let flits: u64 = p.links.iter().sum();
                Some(p.link_utilization(quotient(flits, p.links.len() as u64)?))
            },
        ),
        ratio(
            "link_utilization_max",
            "fraction",
            "Flits per cycle of the window on the busiest link.",
            |p: &Point| Some(p.link_utilization(*p.links.iter().max()? as f64)),
        ),
        ratio(
            "fairness",
            "",
            "Jain's index of the packets that arrived in the window, over the sources: 1 if all are equal, 1 / sources if one source has all.",
            |p: &Point| p.fairness(),
        ),
    ]
}

/// The summary of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Highest load below the first that saturates the network, and that load.
    pub carried: Option<f64>,
    pub saturated: Option<f64>,
    /// Most flits accepted per source and cycle at any load.
    pub throughput: f64,
    /// Load at which the mean latency is three times that of the empty network, interpolated
    /// linearly between the two adjacent loads; below saturation.
    pub high_latency: Option<f64>,
}

/// Summarises points in the order of their loads.
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

/// Returns the load between two measured ones at which the latency becomes high.
fn crossing(below: &Point, above: &Point) -> Option<f64> {
    let high = HIGH * below.zero_load;
    let (low, next) = (below.latency()?, above.latency()?);
    (low < high && high <= next)
        .then(|| below.load + (above.load - below.load) * (high - low) / (next - low))
}
