//! Chart of both sides' cycles: a point for each run, on logarithmic axes.

use crate::study::correlate::Comparison;
use crate::study::points::Outcome;
use warpmem_analysis::polars::df;
use warpmem_chart::{Axis, Chart, Scatter};

/// Lines parallel to the diagonal, at these ratios of our cycles to the reference's.
const BANDS: [f64; 3] = [0.1, 0.2, 0.5];
/// Error above which a run is labelled.
const NAMED: f64 = 0.2;

/// Draws the cycles of these runs, with a colour and a shape for each machine and scheduler.
pub fn chart(runs: &[Comparison]) -> anyhow::Result<Chart> {
    let text = |of: fn(&Comparison) -> String| -> Vec<String> { runs.iter().map(of).collect() };
    let number = |of: fn(&Comparison) -> u64| -> Vec<u64> { runs.iter().map(of).collect() };
    let data = df!(
        "trace" => text(|run| run.trace.clone()),
        "series" => text(|run| format!("{}, {}", run.machine, run.dram_scheduler)),
        "reference" => number(|run| run.reference.cycles.max(1)),
        "ours" => number(|run| run.ours.cycles.max(1)),
    )?;
    let x = Axis::new("reference without launches", "core cycles").log();
    let y = Axis::new("ours", "core cycles").log();
    let points = Scatter::new("reference", "ours", "series", x, y)
        .group("trace")
        .against_equal(BANDS, NAMED);
    let title = "Cycles: ours and the reference's";
    Ok(Chart::new("cycles", title, "A point for each run.", data, points))
}

/// Draws our figures over the measured ones, with a colour and a shape for each class. Units differ, so
/// the axes have none.
pub fn of_points(points: &[Outcome<'_>]) -> anyhow::Result<Chart> {
    let text = |of: fn(&Outcome<'_>) -> String| -> Vec<String> { points.iter().map(of).collect() };
    let number = |of: fn(&Outcome<'_>) -> f64| -> Vec<f64> { points.iter().map(of).collect() };
    let data = df!(
        "point" => text(|outcome| outcome.point.label()),
        "class" => text(|outcome| outcome.point.class.clone()),
        "measured" => number(|outcome| outcome.point.value),
        "ours" => number(|outcome| outcome.ours),
    )?;
    let x = Axis::new("measured", "unit of the figure").log();
    let y = Axis::new("ours", "unit of the figure").log();
    let scatter =
        Scatter::new("measured", "ours", "class", x, y).group("point").against_equal(BANDS, NAMED);
    Ok(Chart::new(
        "points",
        "Figures: ours and the measured",
        "A point for each figure.",
        data,
        scatter,
    ))
}
