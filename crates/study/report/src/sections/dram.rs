//! Row locality, bank-level parallelism, and DRAM bus utilization.

use super::{compared_scopes, run_table};
use crate::columns::POLICY;
use crate::document::Section;
use crate::frame::has_some;
use crate::limits::Shown;
use crate::prose::Prose;
use crate::study::Study;
use warpmem_chart::{Axis, Chart, Kind, Scatter};

pub fn section(study: &Study, shown: &Shown) -> anyhow::Result<Section> {
    let section = Section::new("dram", "Row locality and BLP");
    if !has_some(&study.runs, "row_locality") {
        return Ok(section
            .note(Prose::new("No run had an activation: DRAM was not used, or was perfect.")));
    }
    let mut section = section.text(Prose::new(
        "Row locality is requests served per activation: fewer activations leave more time for data. Bank-level parallelism (BLP) is the mean number of banks of a channel with an outstanding request, over the cycles with at least one: more banks hide each other's activations.",
    ));
    for scope in compared_scopes(study, shown)? {
        let data = scope.runs.select(["trace", POLICY, "blp", "row_locality"])?;
        let (x, y) =
            (Axis::new("BLP", "banks"), Axis::new("row locality", "requests / activation"));
        let scatter = Scatter::new("blp", "row_locality", POLICY, x, y).group("trace");
        let (scatter, arrows) = match scope.only_baseline()? {
            Some(baseline) => (
                scatter.arrows_from(&baseline),
                format!(" Arrows lead from {baseline} to the other policies of the workload."),
            ),
            None => (scatter, String::new()),
        };
        let caption = format!("Each point is a run{}.{arrows}", scope.on);
        let name = format!("row-locality-blp{}", scope.file);
        section = section.figure(Chart::new(
            name,
            "Row locality against bank-level parallelism",
            caption,
            data,
            Kind::Scatter(scatter),
        ));
    }
    let columns = [
        "row_hit_rate",
        "row_locality",
        "blp",
        "blp_busy",
        "activations",
        "reads",
        "writes",
        "bandwidth_utilization",
        "dram_efficiency",
        "dram_bandwidth",
        "queue_occupancy_mean",
        "row_locality_preserved",
    ];
    Ok(section.table(run_table(study, "dram-by-run", "DRAM in each run", &columns)?))
}
