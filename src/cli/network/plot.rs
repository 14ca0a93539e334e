//! Chart of latency against load, with a line for each network.

use super::rows::names;
use crate::cli::tables::write_plot;
use crate::standalone::network::Point;
use std::path::Path;
use warpmem_analysis::polars::df;
use warpmem_chart::{Axis, Chart, Lines};

/// Top of the chart, as a multiple of the latency of the slowest empty network.
const TALL: f64 = 5.0;

/// Draws the mean latency of the points of each curve into a file.
pub fn draw(path: &Path, curves: &[Vec<Point>]) -> anyhow::Result<()> {
    write_plot(path, &chart(curves)?.svg()?)
}

fn chart(curves: &[Vec<Point>]) -> anyhow::Result<Chart> {
    let points = curves.iter().flatten();
    let slowest = points.map(Point::zero_load_latency).fold(0.0, f64::max);
    let top = TALL * slowest.max(1.0);
    let (mut network, mut load, mut latency, mut mark) = (vec![], vec![], vec![], vec![]);
    for (curve, name) in curves.iter().zip(names(curves)) {
        for step in clipped(steps(curve), top) {
            network.push(name.clone());
            load.push(step.load);
            latency.push(step.latency);
            // A mark without a label.
            mark.push(step.is_marked.then_some(""));
        }
    }
    let data = df!("network" => network, "load" => load, "latency" => latency, "mark" => mark)?;
    let x = Axis::new("offered load", "flits per source and cycle");
    let y = Axis::new("mean latency", "network cycles");
    let lines = Lines::new("load", "latency", "network", x, y).marks("mark").with_zero();
    let title = "Latency against load";
    let caption = "Marks are loads below saturation.";
    Ok(Chart::new("load", title, caption, data, lines))
}

/// A point of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Step {
    load: f64,
    latency: f64,
    /// Whether the network accepts the entire offered load.
    is_marked: bool,
}

/// Returns the empty network, then all points with a latency.
fn steps(curve: &[Point]) -> impl Iterator<Item = Step> {
    let step = |point: &Point| {
        let latency = point.latency()?;
        Some(Step { load: point.load, latency, is_marked: !point.is_saturated() })
    };
    let first = curve.first().map(|point| Step {
        load: 0.0,
        latency: point.zero_load_latency(),
        is_marked: false,
    });
    first.into_iter().chain(curve.iter().map_while(step))
}

/// Clips a rising line at `top`.
fn clipped(line: impl Iterator<Item = Step>, top: f64) -> Vec<Step> {
    let mut kept: Vec<Step> = Vec::new();
    for step in line {
        if step.latency <= top {
            kept.push(step);
            continue;
        }
        let end = kept.last().map(|last| {
            let part = (top - last.latency) / (step.latency - last.latency);
            let load = last.load + part * (step.load - last.load);
            Step { load, latency: top, is_marked: false }
        });
        return kept.into_iter().chain(end).collect();
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_at_the_top() {
        let step = |(load, latency)| Step { load, latency, is_marked: true };
        let line = [(0.0, 10.0), (0.2, 20.0), (0.4, 60.0), (0.6, 70.0)].map(step);
        assert_eq!(clipped(line.into_iter(), 80.0), line);
        let cut = clipped(line.into_iter(), 40.0);
        assert_eq!(cut[..2], line[..2]);
        assert_eq!(cut.len(), 3);
        assert!((cut[2].load - 0.3).abs() < 1e-12 && cut[2].latency == 40.0 && !cut[2].is_marked);
        assert_eq!(clipped(line[2..].iter().copied(), 40.0), []);
    }
}
