//! The tables that a run leaves, column by column.

use super::column::{Column, count, maybe_count, ratio, text};
use super::energy::energy;
use super::llc::llc;
use super::metrics::{self, SM_CYCLES, distribution, quotient};
use super::rows::{BankRow, CounterRow, FinishedRun, UnitRow};
use super::{ENGINE_VERSION, RunKey, dram, network};
use serde_json::{Map, Value};
use warpmem_gpu::results::{LoadResult, RunResult, Stage, total};
use warpmem_sim::Histogram;

/// The column of `runs` that names files.
pub(super) const COMMAND: &str = "command";

/// The columns of `runs`: key, provenance, and all scalar metrics.
pub fn run_columns() -> Vec<Column<FinishedRun>> {
    let mut columns = metrics::key::<FinishedRun>(|run| &run.key);
    columns.extend(provenance());
    columns.push(count(
        "cycles",
        "core cycles",
        "First CTA launch to last CTA completion.",
        |run: &FinishedRun| run.result.core_cycles,
    ));
    columns.extend(metrics::ipc::<FinishedRun>(
        |run| run.sms.warp_instructions,
        |run| run.sms.thread_instructions,
        |run| run.result.core_cycles,
    ));
    columns.push(count("kernels", "launches", "Kernel launches.", |run: &FinishedRun| {
        run.result.kernels.len() as u64
    }));
    columns.extend(metrics::work::<FinishedRun>(|run| &run.sms));
    columns.extend(SM_CYCLES.into_iter().map(|(name, doc, get)| {
        ratio(name, "core cycles per SM", doc, move |run: &FinishedRun| {
            quotient(get(&run.sms), run.result.sms.len() as u64)
        })
    }));
    columns.push(metrics::schedulable_warps::<FinishedRun>(|run| &run.sms));
    columns.extend(loads());
    columns.extend(latency());
    columns.extend(network::run_network_columns());
    columns.extend(metrics::cache::<FinishedRun>("l1", |run| &run.sms.l1));
    columns.extend(llc::<FinishedRun>(|run| &run.slices));
    columns.extend(dram::bank::<FinishedRun>(|run| run.banks.clone()));
    columns.extend(dram::row_sharing());
    columns.extend(dram::channel::<FinishedRun>(|run| &run.channels));
    columns.extend(dram::data::<FinishedRun>(|run| run.banks.clone(), |run| run));
    columns.extend(energy::<FinishedRun>(
        |run| run.energy(&run.channels, &run.banks),
        |run| run.bytes(&run.banks),
    ));
    columns
}

/// The row of `runs` for one run: names and order of its columns, numbers as numbers.
pub fn run_row_json(key: &RunKey, result: &RunResult) -> Map<String, Value> {
    let run = FinishedRun::new(key.clone(), result.clone());
    run_columns()
        .into_iter()
        .map(|column| {
            let value = column.json(&run);
            (column.name, value)
        })
        .collect()
}

fn provenance() -> Vec<Column<FinishedRun>> {
    vec![
        text("trace_hash", "Hash of the trace's content, in hexadecimal.", |run: &FinishedRun| {
            &run.key.trace_hash
        }),
        text(
            "engine_version",
            "Version of Warpmem, and behind `+` a hash of the engine's source.",
            |_| ENGINE_VERSION,
        ),
        text(
            COMMAND,
            "Command that makes the run alone, with its files as they were named; in a sweep, from the folder of the plan.",
            |run: &FinishedRun| &run.key.command,
        ),
        maybe_count(
            "seed",
            "",
            "Seed of the run; null where its policies take none. Those that draw at random have a fixed one: a run is always the same.",
            |run: &FinishedRun| run.key.seed,
        ),
        text(
            "parameters",
            "Every machine parameter after overrides: a JSON object with dotted names.",
            |run: &FinishedRun| run.key.parameters(),
        ),
    ]
}

fn loads() -> Vec<Column<FinishedRun>> {
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
            "Mean number of requests of a load that the LLC could not answer from its data [WMC Fig 3].",
            |l| &l.offchip_requests,
        ),
        per_load(
            "channels_per_load",
            "channels",
            "Mean number of different channels among the requests of a load [Yuan Fig 14].",
            |l| &l.channels,
        ),
        per_load(
            "banks_per_load",
            "banks",
            "Mean number of different banks among the requests of a load [Yuan Fig 14].",
            |l| &l.banks,
        ),
        count(
            "divergent_loads",
            "warp instructions",
            "Loads with two or more off-chip requests; divergence and load time are about these.",
            |run: &FinishedRun| run.result.loads.divergence.count(),
        ),
    ];
    columns.extend(distribution(
        "divergence",
        "core cycles",
        "Slowest minus fastest turnaround of a load's off-chip requests [WMC Fig 4a]",
        &[50, 90, 99],
        |run: &FinishedRun| &run.result.loads.divergence,
    ));
    columns.extend([
        ratio(
            "in_mc_fraction",
            "fraction",
            "(Time in the memory controller of the slowest minus of the fastest request of a load), \
             summed over loads, over the sum of divergence [WMC Fig 6].",
            in_mc_fraction,
        ),
        ratio("ex_mc_fraction", "fraction", "1 - in_mc_fraction [WMC Fig 6].", |run| {
            in_mc_fraction(run).map(|fraction| 1.0 - fraction)
        }),
    ]);
    columns.extend(distribution(
        "load_time",
        "core cycles",
        "Issue of a load with two or more off-chip requests until its last datum is back \
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

fn latency() -> Vec<Column<FinishedRun>> {
    let mut columns = vec![count(
        "read_requests",
        "requests",
        "Read requests that L1 did not answer, those merged into an outstanding miss too; latency is about these.",
        |run: &FinishedRun| run.result.latency.total.count(),
    )];
    columns.extend(distribution(
        "latency",
        "core cycles",
        "Latency of read requests that L1 did not answer [Li Fig 6.5, 6.6]",
        &[50, 90, 99],
        |run: &FinishedRun| &run.result.latency.total,
    ));
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
        "Mean time from coalescing until the request leaves L1, or the one that it joined has.",
    ),
    (Stage::RequestNetwork, "Mean time in the request network."),
    (Stage::LlcQueue, "Mean time in the queue of the LLC slice."),
    (Stage::Llc, "Mean time in tags, data and MSHR of the LLC slice."),
    (Stage::LlcToDram, "Mean time from the LLC slice to the DRAM channel's queue."),
    (Stage::DramQueue, "Mean time in the DRAM channel's queue."),
    (Stage::DramService, "Mean time in service by DRAM."),
    (Stage::ReplyNetwork, "Mean time in the reply network."),
];

/// The columns of `kernels`: one row per kernel launch.
pub(super) fn kernel_columns() -> Vec<Column<UnitRow>> {
    let mut columns = unit_key("kernel", "Index of the launch in the trace.");
    columns.extend([
        text("name", "Name of the kernel.", |row: &UnitRow| &row.kernel().name),
        count("start_cycle", "core cycles", "Launch of its first CTA.", |row: &UnitRow| {
            row.kernel().start_cycle
        }),
        count("end_cycle", "core cycles", "Completion of its last CTA.", |row: &UnitRow| {
            row.kernel().end_cycle
        }),
        count("cycles", "core cycles", "end_cycle - start_cycle.", kernel_cycles),
        count("ctas", "CTAs", "CTAs of the launch.", |row: &UnitRow| row.kernel().ctas),
    ]);
    columns.extend(metrics::ipc::<UnitRow>(
        |row| row.kernel().warp_instructions,
        |row| row.kernel().thread_instructions,
        kernel_cycles,
    ));
    columns
}

fn kernel_cycles(row: &UnitRow) -> u64 {
    row.kernel().end_cycle.saturating_sub(row.kernel().start_cycle)
}

/// The columns of `sms`: one row per SM.
pub(super) fn sm_columns() -> Vec<Column<UnitRow>> {
    let mut columns = unit_key("sm", "Index of the SM.");
    columns.extend(metrics::ipc::<UnitRow>(
        |row| row.sm().warp_instructions,
        |row| row.sm().thread_instructions,
        |row| row.run.result.core_cycles,
    ));
    columns.extend(metrics::work::<UnitRow>(UnitRow::sm));
    columns.extend(SM_CYCLES.into_iter().map(|(name, doc, get)| {
        count(name, "core cycles", doc, move |row: &UnitRow| get(row.sm()))
    }));
    columns.push(metrics::schedulable_warps::<UnitRow>(UnitRow::sm));
    columns.extend(metrics::cache::<UnitRow>("l1", |row| &row.sm().l1));
    columns.push(network::row_locality_before());
    columns
}

/// The columns of `slices`: one row per LLC slice.
pub(super) fn slice_columns() -> Vec<Column<UnitRow>> {
    let mut columns = unit_key("slice", "Index of the LLC slice.");
    columns.push(count(
        "channel",
        "",
        "Index of the DRAM channel that the slice belongs to.",
        |row: &UnitRow| {
            row.unit as u64 / u64::from(row.run.key.machine.llc.slices_per_channel.max(1))
        },
    ));
    columns.extend(llc::<UnitRow>(UnitRow::slice));
    columns
}

/// The columns of `channels`: one row per DRAM channel.
pub(super) fn channel_columns() -> Vec<Column<UnitRow>> {
    let mut columns = unit_key("channel", "Index of the DRAM channel.");
    columns.extend(dram::bank::<UnitRow>(|row| total(&row.channel().banks)));
    columns.push(network::row_locality_after());
    columns.extend(dram::channel::<UnitRow>(UnitRow::channel));
    columns.extend(dram::data::<UnitRow>(|row| total(&row.channel().banks), |row| &row.run));
    columns.extend(energy::<UnitRow>(
        |row| row.run.energy(row.channel(), &total(&row.channel().banks)),
        |row| row.run.bytes(&total(&row.channel().banks)),
    ));
    columns
}

/// The columns of `banks`: one row per DRAM bank.
pub(super) fn bank_columns() -> Vec<Column<BankRow>> {
    let mut columns = metrics::key::<BankRow>(|row| &row.run.key);
    columns.extend([
        count("channel", "", "Index of the DRAM channel.", |row: &BankRow| row.channel as u64),
        count("bank", "", "Index of the bank in its channel.", |row: &BankRow| row.bank as u64),
    ]);
    columns.extend(dram::bank::<BankRow>(|row| row.counts().clone()));
    columns
}

/// The columns of `policy_counters`: one row per unit and number of a policy's own.
pub(super) fn counter_columns() -> Vec<Column<CounterRow>> {
    let mut columns = metrics::key::<CounterRow>(|row| &row.run.key);
    columns.extend([
        text(
            "unit",
            "What it was counted in: channel, slice, sm or machine.",
            |row: &CounterRow| row.counter().unit,
        ),
        count("index", "", "Index of the unit.", |row: &CounterRow| row.counter().index.into()),
        text("policy", "Policy that it is counted for.", |row: &CounterRow| &row.counter().policy),
        text("counter", "Name of the number; the policy's page defines it.", |row: &CounterRow| {
            row.counter().counter
        }),
        count("value", "", "The number, in the unit of its definition.", |row: &CounterRow| {
            row.counter().value
        }),
    ]);
    columns
}

fn unit_key(name: &str, doc: &str) -> Vec<Column<UnitRow>> {
    let mut columns = metrics::key::<UnitRow>(|row| &row.run.key);
    columns.push(count(name, "", doc, |row: &UnitRow| row.unit as u64));
    columns
}

/// The columns that tables of single runs begin with, as every table.
pub(super) fn run_key_columns() -> Vec<Column<RunKey>> {
    metrics::key::<RunKey>(|key| key)
}
