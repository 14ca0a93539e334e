//! The columns of `histograms`: one row per distribution of a run and non-empty bucket.

use crate::column::{Column, count, text};
use crate::metrics;
use crate::run::FinishedRun;
use std::sync::Arc;
use warpmem_network::NetworkResult;
use warpmem_sim::Histogram;

/// Lowest and highest value of a bucket, and its count.
type Bucket = (u64, u64, u64);

/// A distribution of a run.
struct Distribution {
    name: &'static str,
    /// Unit of the values.
    unit: &'static str,
    /// The items that are counted.
    of: &'static str,
    buckets: fn(&FinishedRun) -> Vec<Bucket>,
}

const DISTRIBUTIONS: [Distribution; 13] = [
    Distribution {
        name: "load_time",
        unit: "core cycles",
        of: "loads with two or more off-chip requests [WMC Fig 5, 12]",
        buckets: |run| buckets(&run.result.loads.load_time),
    },
    Distribution {
        name: "divergence",
        unit: "core cycles",
        of: "loads with two or more off-chip requests [WMC Fig 4a]",
        buckets: |run| buckets(&run.result.loads.divergence),
    },
    Distribution {
        name: "requests_per_load",
        unit: "requests",
        of: "loads [CaLRS Fig 4]",
        buckets: |run| buckets(&run.result.loads.requests),
    },
    Distribution {
        name: "offchip_per_load",
        unit: "requests",
        of: "loads [WMC Fig 3]",
        buckets: |run| buckets(&run.result.loads.offchip_requests),
    },
    Distribution {
        name: "channels_per_load",
        unit: "channels",
        of: "loads [Yuan Fig 14]",
        buckets: |run| buckets(&run.result.loads.channels),
    },
    Distribution {
        name: "banks_per_load",
        unit: "banks",
        of: "loads [Yuan Fig 14]",
        buckets: |run| buckets(&run.result.loads.banks),
    },
    Distribution {
        name: "latency",
        unit: "core cycles",
        of: "read requests that missed in L1 [Li Fig 6.5, 6.6]",
        buckets: |run| buckets(&run.result.latency.total),
    },
    Distribution {
        name: "request_network_latency",
        unit: "network cycles",
        of: "packets",
        buckets: |run| of_network(run.result.networks.first()),
    },
    Distribution {
        name: "reply_network_latency",
        unit: "network cycles",
        of: "packets",
        buckets: |run| of_network(run.result.networks.get(1)),
    },
    Distribution {
        name: "mshr_merge_length",
        unit: "requests",
        of: "L2 MSHR entries when they are released [Li]",
        buckets: |run| buckets(&run.slices.mshr_merge_length),
    },
    Distribution {
        name: "critical_field",
        unit: "requests",
        of: "arrivals at the queue of a slice [CaLRS Fig 6]",
        buckets: |run| buckets(&run.slices.queue.critical_fields),
    },
    Distribution {
        name: "queue_occupancy",
        unit: "requests",
        of: "DRAM cycles of all channels",
        buckets: |run| by_value(&run.channels.occupancy_cycles),
    },
    Distribution {
        name: "ctas_per_row",
        unit: "CTAs",
        of: "DRAM rows, if `run.count_row_sharing` [OWL Table 4]",
        buckets: |run| {
            let rows = run.result.row_sharing.iter();
            rows.map(|(&ctas, shared)| (ctas.into(), ctas.into(), shared.rows)).collect()
        },
    },
];

fn buckets(histogram: &Histogram) -> Vec<Bucket> {
    histogram.buckets().collect()
}

fn of_network(network: Option<&NetworkResult>) -> Vec<Bucket> {
    network.map(|network| buckets(&network.latency)).unwrap_or_default()
}

fn by_value(counts: &[u64]) -> Vec<Bucket> {
    let counted = (0..).zip(counts).filter(|&(_, &count)| count > 0);
    counted.map(|(value, &count)| (value, value, count)).collect()
}

/// A row for one bucket.
pub(crate) struct HistogramRow {
    run: Arc<FinishedRun>,
    distribution: &'static Distribution,
    bucket: Bucket,
}

impl HistogramRow {
    /// Returns one row per bucket of the run, ordered by distribution.
    pub(crate) fn all(run: &Arc<FinishedRun>) -> impl Iterator<Item = HistogramRow> {
        DISTRIBUTIONS.iter().flat_map(move |distribution| {
            let row = move |bucket| HistogramRow { run: Arc::clone(run), distribution, bucket };
            (distribution.buckets)(run).into_iter().map(row)
        })
    }
}

/// Returns the columns of `histograms`.
pub(crate) fn histogram_columns() -> Vec<Column<HistogramRow>> {
    let mut columns = metrics::key::<HistogramRow>(|row| &row.run.key);
    columns.extend([
        text("distribution", &names(), |row: &HistogramRow| row.distribution.name),
        text("unit", "Unit of the values.", |row: &HistogramRow| row.distribution.unit),
        count(
            "lowest",
            "",
            "Lowest value of the bucket; its unit is in `unit`.",
            |row: &HistogramRow| row.bucket.0,
        ),
        count(
            "highest",
            "",
            "Highest value of the bucket: the same below 128, at most 1/64 more above.",
            |row: &HistogramRow| row.bucket.1,
        ),
        count(
            "count",
            "",
            "Items with a value in the bucket; empty buckets have no row.",
            |row: &HistogramRow| row.bucket.2,
        ),
    ]);
    columns
}

fn names() -> String {
    let of = |d: &Distribution| format!("`{}` (of {})", d.name, d.of);
    let all: Vec<String> = DISTRIBUTIONS.iter().map(of).collect();
    format!("Items counted by value: {}.", all.join(", "))
}
