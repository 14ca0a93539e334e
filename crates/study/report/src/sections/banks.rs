//! Distribution of requests over banks.

use super::scopes;
use crate::columns::{IS_BASELINE, POLICY, RATIO};
use crate::document::Section;
use crate::frame::{is_one_of, joined};
use crate::limits::{Shown, most_different};
use crate::prose::Prose;
use crate::study::Study;
use polars::prelude::*;
use warpmem_analysis::{bank_map, polars};
use warpmem_chart::{Axis, Chart, HeatMap, Kind};
use warpmem_support::text::counted;

/// Number of workloads whose banks are drawn.
const TRACES: usize = 4;

pub fn section(study: &Study, shown: &Shown) -> anyhow::Result<Section> {
    let section = Section::new("banks", "Requests by bank");
    if !study.results.has("banks")? {
        return Ok(section.note(Prose::new("There is no table ").code("banks").words(".")));
    }
    let mut section = section.text(Prose::new(
        "Each cell is a DRAM bank. Uneven colours mean that many requests wait for some banks while others are idle. Row hits differ between policies; the requests themselves hardly do.",
    ));
    let banks = bank_map(study.results.table("banks")?)?;
    let mut left_out = 0;
    for scope in scopes(study, shown)? {
        let runs = telling(&scope.runs)?;
        left_out += scope.runs.height() - runs.height();
        let panel = (col("trace") + lit(": ") + col(POLICY)).alias(RUN);
        let names = runs.lazy().select([col("run_id"), panel]);
        let values = ["run_id", "channel", "bank", "share", "row_hit_rate"].map(col);
        let data = joined(names, banks.clone().select(values), "run_id")?;
        let data = data.drop("run_id")?;
        let charts = [
            ("requests", "share", "share of requests", "Requests by bank"),
            ("row-hits", "row_hit_rate", "row hits", "Row hits by bank"),
        ];
        for (name, column, label, title) in charts {
            let axes = [Axis::new("channel", ""), Axis::new("bank", "")];
            let [x, y] = axes;
            let map = HeatMap::new("channel", "bank", column, x, y, Axis::percent(label));
            let policies = match study.is_single() {
                true => "",
                false => ": the baseline, the fastest and the slowest policy of a workload",
            };
            let caption = format!("{title} of each DRAM channel{}{policies}.", scope.on);
            let name = format!("{name}-by-bank{}", scope.file);
            let data = data.select([RUN, "channel", "bank", column])?;
            section = section.figure(Chart::new(
                name,
                title,
                caption,
                data,
                Kind::HeatMap(map.panels(RUN)),
            ));
        }
    }
    if left_out > 0 {
        let why = "Shown are the workloads whose IPC differs most between policies";
        let count = counted(left_out, "run");
        section = section.note(
            Prose::new(format!("{why}; {count} are left out. All are in the table "))
                .code("banks")
                .words("."),
        );
    }
    Ok(section)
}

const RUN: &str = "run";

/// Selects the runs of the baseline and of the fastest and slowest policy, for the workloads whose
/// IPC differs most.
fn telling(runs: &DataFrame) -> anyhow::Result<DataFrame> {
    let traces = most_different(runs, TRACES)?;
    let of_trace = |value: Expr| value.over([col("trace")]);
    let is_extreme =
        col(RATIO).eq(of_trace(col(RATIO).max())?).or(col(RATIO).eq(of_trace(col(RATIO).min())?));
    let is_telling = col(IS_BASELINE).or(is_extreme);
    Ok(runs.clone().lazy().filter(is_one_of("trace", &traces).and(is_telling)).collect()?)
}
