//! Runs of a single policy: their speed, and their stalls.

use crate::columns::SETTING;
use crate::document::Section;
use crate::frame::{has_value, values};
use crate::limits::Shown;
use crate::prose::Prose;
use crate::sections::one_run::Run;
use crate::sections::{run_table, sm_cycles};
use crate::study::Study;
use crate::table::spelled;
use polars::prelude::*;
use warpmem_analysis::{STAGES, polars};
use warpmem_chart::{Axis, Bars, Chart, Kind};
use warpmem_support::text::counted;

/// Column of half of the 95 % interval of the cycles, as a fraction of them.
const INTERVAL: &str = "cycles_interval";
/// Columns of the ends of the interval of the IPC.
const LOW: &str = "low";
const HIGH: &str = "high";

/// Columns shown for each run, beside the requested metrics.
const COLUMNS: [&str; 9] = [
    "ipc_thread",
    "cycles",
    "bandwidth_utilization",
    "dram_bandwidth",
    "l1_read_miss_rate",
    "l2_read_miss_rate",
    "row_hit_rate",
    "latency_mean",
    "latency_p99",
];

pub fn add(section: Section, study: &Study, shown: &Shown) -> anyhow::Result<Section> {
    let (section, title) = match study.only_run() {
        Some(run) => (add_run(section, &Run(run))?, "The run in numbers"),
        None => (add_runs(section, study, shown)?, "Every run"),
    };
    let metrics = study.metrics.iter().map(String::as_str);
    let more = metrics.filter(|metric| !COLUMNS.contains(metric));
    let columns: Vec<&str> = COLUMNS.into_iter().chain(more).collect();
    Ok(section.table(run_table(study, "runs", title, &columns)?))
}

/// Adds the breakdown of a run's cycles.
fn add_run(section: Section, run: &Run) -> anyhow::Result<Section> {
    let section = sentences(run).into_iter().fold(section, Section::text);
    let charts = [chart_of_cycles(run)?, chart_of_latency(run)?];
    Ok(charts.into_iter().flatten().fold(section, Section::figure))
}

/// Adds the speed of the runs, and their share of the peak bandwidth.
fn add_runs(section: Section, study: &Study, shown: &Shown) -> anyhow::Result<Section> {
    let settings = shown.settings.iter().map(|setting| shown.runs(study, setting));
    let data = concat(settings.collect::<Vec<_>>(), UnionArgs::default())?.collect()?;
    let charts = [
        ("outcome-ipc", "ipc_thread", Axis::metric("ipc_thread"), "IPC of each workload"),
        (
            "outcome-bandwidth",
            "bandwidth_utilization",
            Axis::percent("share of peak bandwidth"),
            "Use of the DRAM bus by each workload",
        ),
    ];
    let is_sampled = has_value(&data, INTERVAL);
    let data = if is_sampled { with_ends(data)? } else { data };
    let charts = charts.into_iter().map(|(name, column, axis, title)| {
        let bars = Bars::new("trace", SETTING, column, axis);
        let (bars, ends) = match column {
            "ipc_thread" if is_sampled => (bars.range(LOW, HIGH), &[LOW, HIGH][..]),
            _ => (bars, &[][..]),
        };
        let data = data.select([&["trace", SETTING, column], ends].concat())?;
        let caption = match (column, ends) {
            ("ipc_thread", []) => "Thread instructions per core cycle.",
            ("ipc_thread", _) => "Thread instructions per core cycle; whiskers are the 95 % confidence interval of sampled runs.",
            _ => "Cycles in which a DRAM data bus is busy, over all DRAM cycles: 100 % is the peak bandwidth.",
        };
        anyhow::Ok(Chart::new(name, title, caption, data, Kind::Bars(bars)))
    });
    let charts = charts.collect::<anyhow::Result<Vec<_>>>()?;
    Ok(charts.into_iter().fold(section.text(overview(study)), Section::figure))
}

/// Adds the ends of the interval of the IPC, from that of the cycles.
fn with_ends(runs: DataFrame) -> anyhow::Result<DataFrame> {
    let end = |side: f64, name: &str| {
        (col("ipc_thread") / (lit(1.0) - lit(side) * col(INTERVAL))).alias(name)
    };
    Ok(runs.lazy().with_columns([end(-1.0, LOW), end(1.0, HIGH)]).collect()?)
}

fn overview(study: &Study) -> Prose {
    let prose = Prose::new(counted(study.runs.height(), "run")).words(" of one policy, ");
    let prose = prose.code(study.policies.first().map_or("", String::as_str)).words(".");
    let used = values(&study.runs, "bandwidth_utilization");
    let (least, most) =
        (used.iter().copied().reduce(f64::min), used.iter().copied().reduce(f64::max));
    match least.zip(most) {
        Some((least, most)) => prose.words(format!(
            " They use {:.1} to {:.1} % of the peak bandwidth of DRAM.",
            100.0 * least,
            100.0 * most
        )),
        None => prose,
    }
}

fn sentences(run: &Run) -> Vec<Prose> {
    let sentences = [speed(run), stalls(run), memory(run)].into_iter().flatten();
    sentences.map(Prose::new).collect()
}

fn speed(run: &Run) -> Option<String> {
    let (ipc, cycles) = (run.value("ipc_thread")?, run.value("cycles")?);
    Some(format!(
        "The run takes {cycles:.0} core cycles, at {ipc:.3} thread instructions per core cycle."
    ))
}

/// Describes the share of cycles in which SMs issue, and the main reason for stalls.
fn stalls(run: &Run) -> Option<String> {
    let cycles = run.value("cycles").filter(|cycles| *cycles > 0.0)?;
    let shares = sm_cycles::PARTS
        .iter()
        .map(|(column, called)| Some((100.0 * run.value(column)? / cycles, *called)));
    let shares = shares.collect::<Option<Vec<_>>>()?;
    let (active, stalls) = shares.split_first()?;
    let (share, called) = stalls.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(format!(
        "SMs issue in {:.1} % of their cycles. The largest share of the rest is “{called}”, {share:.1} % of all cycles.",
        active.0
    ))
}

fn memory(run: &Run) -> Option<String> {
    let (used, rate) = (run.value("bandwidth_utilization")?, run.value("dram_bandwidth")?);
    let latency = run.value("latency_mean").map_or_else(String::new, |latency| {
        format!(" A read not served by L1 takes {latency:.0} core cycles on average.")
    });
    Some(format!(
        "DRAM transfers {rate:.1} GB/s, {:.1} % of its peak bandwidth.{latency}",
        100.0 * used
    ))
}

fn chart_of_cycles(run: &Run) -> anyhow::Result<Option<Chart>> {
    let cycles = run.value("cycles").unwrap_or_default();
    let parts = sm_cycles::PARTS.iter().map(|(column, called)| {
        ((*called).to_owned(), run.value(column).map(|value| value / cycles))
    });
    run.bars(
        ("outcome-sm-cycles", "Breakdown of SM cycles"),
        "Activity of the SMs, in shares of the cycles of the run; means over SMs.",
        parts.collect(),
        Axis::percent("cycles"),
    )
}

fn chart_of_latency(run: &Run) -> anyhow::Result<Option<Chart>> {
    let stages =
        STAGES.iter().map(|stage| (spelled(stage), run.value(&format!("latency_{stage}"))));
    run.bars(
        ("outcome-latency", "Latency by stage"),
        "Mean latency of reads not served by L1, by stage.",
        stages.collect(),
        Axis::new("mean latency", "core cycles"),
    )
}
