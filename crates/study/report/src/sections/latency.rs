//! Components of the read latency.

use super::{compared_scopes, run_table};
use crate::columns::POLICY;
use crate::document::Section;
use crate::frame::{has_some, long};
use crate::limits::Shown;
use crate::prose::Prose;
use crate::study::Study;
use crate::table::spelled;
use warpmem_analysis::STAGES;
use warpmem_chart::{Axis, Chart, Kind, StackedBars};

pub fn section(study: &Study, shown: &Shown) -> anyhow::Result<Section> {
    let section = Section::new("latency", "Latency by stage");
    if !has_some(&study.runs, "latency_mean") {
        return Ok(
            section.note(Prose::new("No read left L1, so there is no latency to break down."))
        );
    }
    let mut section = section.text(Prose::new(
        "Mean latency of the read requests not served by L1, broken down by the stages of their path; the stages add up to the mean. A stage that a request did not pass counts as 0, so reads that hit in the L2 lower the share of DRAM.",
    ));
    let columns = STAGES.map(|stage| format!("latency_{stage}"));
    let called = STAGES.map(spelled);
    let parts: Vec<(&str, &str)> = columns
        .iter()
        .zip(&called)
        .map(|(column, called)| (column.as_str(), called.as_str()))
        .collect();
    for scope in compared_scopes(study, shown)? {
        let data = long(&scope.runs, &["trace", POLICY], &parts, "stage", "cycles")?;
        let bars =
            StackedBars::new("trace", "stage", "cycles", Axis::new("mean latency", "core cycles"));
        let caption = format!("Mean latency of reads not served by L1{}, by stage.", scope.on);
        let name = format!("latency{}", scope.file);
        section = section.figure(Chart::new(
            name,
            "Latency by stage",
            caption,
            data,
            Kind::StackedBars(bars.series(POLICY)),
        ));
    }
    let whole = ["latency_mean", "latency_p50", "latency_p90", "latency_p99", "latency_max"];
    let columns: Vec<&str> = whole.into_iter().chain(parts.iter().map(|part| part.0)).collect();
    Ok(section.table(run_table(study, "latency-by-run", "Latency of each run", &columns)?.folded()))
}
