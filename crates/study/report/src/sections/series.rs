//! Runs over time.

use super::{file_name, scopes};
use crate::columns::POLICY;
use crate::document::Section;
use crate::frame::joined;
use crate::limits::{Shown, most_different};
use crate::prose::Prose;
use crate::study::Study;
use polars::prelude::*;
use warpmem_analysis::polars;
use warpmem_chart::{Axis, Chart, Kind, Lines};
use warpmem_support::text::counted;

/// Number of workloads whose time series are drawn.
const TRACES: usize = 4;
/// Points of a line; more cannot be distinguished in print.
const POINTS: i64 = 400;

/// Columns of `intervals`, their axes, and titles.
fn charts() -> [(&'static str, Axis, &'static str); 3] {
    [
        ("ipc_thread", Axis::metric("ipc_thread"), "IPC over time"),
        ("bandwidth_utilization", Axis::percent("bus used"), "Use of the DRAM bus over time"),
        (
            "queue_occupancy_mean",
            Axis::new("DRAM queue", "requests"),
            "Requests in the DRAM queues over time",
        ),
    ]
}

pub fn section(study: &Study, shown: &Shown) -> anyhow::Result<Section> {
    let section = Section::new("series", "Over time");
    if !study.results.has("intervals")? {
        let why = "Time series were not recorded; ";
        return Ok(section
            .note(Prose::new(why).code("--intervals N").words(" does, every N core cycles.")));
    }
    let mut section = section.text(Prose::new(
        "The whole machine in each interval of core cycles. Each workload has its own axes. A point is at the first cycle of its interval. Faster policies end earlier.",
    ));
    let mut left_out = 0;
    for scope in scopes(study, shown)? {
        let traces = most_different(&scope.runs, TRACES)?;
        left_out = left_out.max(study.traces.len() - traces.len());
        for trace in &traces {
            let runs = scope.runs.clone().lazy().filter(col("trace").eq(lit(trace.as_str())));
            let data = series(study, &runs.collect()?)?;
            for (column, axis, title) in charts() {
                let x = Axis::new("cycle", "core cycles");
                let lines = Lines::new("start_cycle", column, POLICY, x, axis);
                let title = format!("{title}: {trace}");
                let caption = format!("Workload {trace}{}.", scope.on);
                let name =
                    format!("{}-series-{}{}", file_name(column), file_name(trace), scope.file);
                let data = data.select([POLICY, "start_cycle", column])?;
                section =
                    section.figure(Chart::new(name, title, caption, data, Kind::Lines(lines)));
            }
        }
    }
    if left_out > 0 {
        let count = counted(left_out, "workload");
        let why = "are left out: shown are those whose IPC differs most between policies. All are in the table ";
        section = section.note(Prose::new(format!("{count} {why}")).code("intervals").words("."));
    }
    Ok(section)
}

/// Returns the intervals of these runs.
fn series(study: &Study, runs: &DataFrame) -> anyhow::Result<DataFrame> {
    let columns = charts().map(|(column, ..)| column);
    let names = runs.clone().lazy().select(["run_id", POLICY].map(col));
    let ids = runs.column("run_id")?.as_materialized_series().clone();
    let wanted = || col("run_id").is_in(lit(ids.clone()).implode(true), false);
    let of_file = |rows: LazyFrame| Ok(thinned(rows.filter(wanted()), &columns));
    joined(names, study.results.by_file("intervals", of_file)?, "run_id")
}

/// Merges intervals of a long run, so that at most [`POINTS`] remain: means weighted by cycles.
fn thinned(rows: LazyFrame, columns: &[&str]) -> LazyFrame {
    const POINT: &str = "point";
    let together = (len().cast(DataType::Int64) - lit(1)) / lit(POINTS) + lit(1);
    let point = (int_range(lit(0), len(), 1, DataType::Int64) / together).alias(POINT);
    let mean = |name: &&str| {
        let is_there = col(*name).is_not_null();
        let sum = (col(*name) * col("cycles")).sum();
        let cycles = col("cycles").filter(is_there).sum();
        when(cycles.clone().gt(lit(0))).then(sum / cycles).otherwise(lit(NULL)).alias(*name)
    };
    let values = [col("start_cycle").first()].into_iter().chain(columns.iter().map(mean));
    rows.with_columns([point])
        .group_by_stable(["run_id", POINT].map(col))
        .agg(values.collect::<Vec<_>>())
        .drop(by_name([POINT], true, false))
}
