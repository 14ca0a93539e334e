//! The metrics of loads and of read latency, of a run.

use super::{distribution, quotient};
use crate::column::{Column, count, ratio};
use crate::run::FinishedRun;
use warpmem_gpu::results::{LoadResult, Stage};
use warpmem_sim::Histogram;

/// Returns the metrics of loads.
pub(crate) fn loads() -> Vec<Column<FinishedRun>> {
    let per_load = |name, unit, doc, get: fn(&LoadResult) -> &Histogram| {
        ratio(name, unit, doc, move |run: &FinishedRun| get(&run.result.loads).mean())
    };
    let mut columns = vec![
        count(
            "loads",
            "warp instructions",
            "Load warp instructions: loads, atomics and async copies that return data.",
            |run: &FinishedRun| run.result.loads.loads,
        ),
        per_load(
            "requests_per_load",
            "requests",
            "Mean number of requests of a load after coalescing [CaLRS Fig 4].",
            |l| &l.requests,
        ),
        per_load(
            "offchip_per_load",
            "requests",
            "Mean number of off-chip requests of a load: misses in the L2 [WMC Fig 3].",
            |l| &l.offchip_requests,
        ),
        per_load(
            "channels_per_load",
            "channels",
            "Mean number of distinct channels of the requests of a load [Yuan Fig 14].",
            |l| &l.channels,
        ),
        per_load(
            "banks_per_load",
            "banks",
            "Mean number of distinct banks of the requests of a load [Yuan Fig 14].",
            |l| &l.banks,
        ),
        count(
            "divergent_loads",
            "warp instructions",
            "Loads with two or more off-chip requests, the basis of divergence and load time.",
            |run: &FinishedRun| run.result.loads.divergence.count(),
        ),
    ];
    columns.extend(distribution(
        "divergence",
        "core cycles",
        "Difference in turnaround between the slowest and the fastest off-chip request of a load [WMC Fig 4a]",
        &[50, 90, 99],
        |run: &FinishedRun| &run.result.loads.divergence,
    ));
    columns.extend([
        ratio(
            "in_mc_fraction",
            "fraction",
            "Difference in memory-controller time between the slowest and the fastest request of a load, \
             summed over loads, over the sum of divergence [WMC Fig 6]. Below 0 where the slowest \
             requests spent less time there than the fastest; above 1 where they spent less time elsewhere.",
            in_mc_fraction,
        ),
        ratio("ex_mc_fraction", "fraction", "1 - in_mc_fraction [WMC Fig 6]; also below 0 or above 1 where the two components have opposite signs.", |run| {
            in_mc_fraction(run).map(|fraction| 1.0 - fraction)
        }),
    ]);
    columns.extend(distribution(
        "load_time",
        "core cycles",
        "Latency from the issue of a load with two or more off-chip requests to its last datum \
         [WMC Fig 4b, 5]",
        &[1, 25, 50, 75, 99],
        |run: &FinishedRun| &run.result.loads.load_time,
    ));
    columns
}

fn in_mc_fraction(run: &FinishedRun) -> Option<f64> {
    let divergence = run.result.loads.divergence.sum();
    (divergence > 0).then(|| run.result.loads.in_mc_divergence as f64 / divergence as f64)
}

/// Returns the latency of read requests, in total and by stage.
pub(crate) fn latency() -> Vec<Column<FinishedRun>> {
    let mut columns = vec![count(
        "read_requests",
        "requests",
        "Read requests that missed in L1, including those merged into an outstanding miss; the basis of latency.",
        |run: &FinishedRun| run.result.latency.total.count(),
    )];
    columns.extend(distribution(
        "latency",
        "core cycles",
        "Latency of read requests that missed in L1 [Li Fig 6.5, 6.6]",
        &[50, 90, 99],
        |run: &FinishedRun| &run.result.latency.total,
    ));
    columns.extend([
        count(
            "replies",
            "replies",
            "Replies delivered to SMs, including those of stores and atomics.",
            |run: &FinishedRun| run.sms.replies,
        ),
        ratio(
            "reply_latency_mean",
            "core cycles",
            "Mean time from the coalescer to the acceptance of the reply by its SM (GPGPU-Sim's `averagemflatency`).",
            |run: &FinishedRun| {
                quotient(run.sms.reply_ticks, run.sms.replies * run.result.latency.ticks_per_core_cycle)
            },
        ),
    ]);
    columns.extend(STAGES.into_iter().map(|(stage, doc)| {
        let name = format!("latency_{}", Stage::NAMES[stage as usize]);
        ratio(&name, "core cycles", doc, move |run: &FinishedRun| {
            let latency = &run.result.latency;
            let below = latency.total.count() as f64 * latency.ticks_per_core_cycle as f64;
            (below > 0.0).then(|| latency.stage_ticks[stage as usize] as f64 / below)
        })
    }));
    columns
}

const STAGES: [(Stage, &str); Stage::COUNT] = [
    (
        Stage::L1,
        "Mean time from coalescing to the departure from L1, of the request or the one that it merged into.",
    ),
    (Stage::RequestNetwork, "Mean time in the request network."),
    (Stage::L2Queue, "Mean time in the queue of the L2 slice."),
    (Stage::L2, "Mean time in tags, data and MSHR of the L2 slice."),
    (Stage::L2ToDram, "Mean time from the L2 slice to the DRAM channel's queue."),
    (Stage::DramQueue, "Mean time in the DRAM channel's queue."),
    (Stage::DramService, "Mean time in service by DRAM."),
    (Stage::ReplyNetwork, "Mean time in the reply network."),
];
