//! Distributions as box plots of percentiles.

use super::canvas::{Canvas, Drawing, INK, Paint, Rect};
use super::data::{self, Keys};
use super::groups::{Groups, Layout, Legends};
use super::kinds::Boxes;
use super::legend::Sample;
use super::scale::{Ends, Scale, Span, figure};
use super::{Chart, frame, label};
use anyhow::bail;
use std::collections::HashSet;

/// Smallest width of a box, points.
const LEAST: f64 = 3.4;
const TICKS: usize = 5;
/// Radius of the dot at the maximum.
const DOT: f64 = 0.9;

/// A distribution.
struct Distribution {
    category: usize,
    series: usize,
    percentiles: [f64; 5],
    greatest: Option<f64>,
}

pub fn draw(chart: &Chart, kind: &Boxes) -> anyhow::Result<Drawing> {
    let categories = Keys::of(&chart.data, &kind.category)?;
    let series = Keys::of(&chart.data, &kind.series)?;
    let boxes = boxes(chart, kind, &categories, &series)?;
    let all = |b: &Distribution| b.percentiles.into_iter().chain(b.greatest).collect::<Vec<f64>>();
    let values = boxes.iter().flat_map(all).chain(kind.reference);
    let ends = if kind.axis.scale == Scale::Log { Ends::Padded } else { Ends::FromZero };
    let span = Span::fit(kind.axis.scale, ends, values, TICKS);
    let Some(span) = span.filter(|_| !boxes.is_empty()) else { return frame::nothing(chart) };
    let rows = chart.data.height();
    let groups = Groups {
        format: chart.format,
        categories: label::short(&categories.names),
        full: &categories.names,
        set_apart: 0,
        slots: &series.names,
        marks: data::pairs(&categories, &series),
        are_slots_named: false,
        least: LEAST,
        axis: &kind.axis,
        span,
        legend: Legends { names: &series.names, sample: Sample::Bar },
        headroom: 0.0,
        title: None,
        note: data::note(rows - boxes.len(), rows, &[&kind.axis]),
    };
    let layout = groups.layout();
    let mut canvas = layout.canvas(chart);
    for drawn in &boxes {
        let names = [&*categories.names[drawn.category], &*series.names[drawn.series]];
        draw_box(&mut canvas, &layout, drawn, &tip(names, drawn, &kind.axis.suffix()));
    }
    layout.finish(canvas, kind.reference)
}

/// Collects the rows whose percentiles can all be drawn.
fn boxes(
    chart: &Chart,
    kind: &Boxes,
    categories: &Keys,
    series: &Keys,
) -> anyhow::Result<Vec<Distribution>> {
    let column = |name: &String| data::values(&chart.data, name, &kind.axis);
    let columns = kind.percentiles.iter().map(column).collect::<anyhow::Result<Vec<_>>>()?;
    let greatest = kind.greatest.as_ref().map(column).transpose()?;
    let mut seen = HashSet::new();
    let mut boxes = Vec::new();
    for row in 0..chart.data.height() {
        let (category, series_of) = (categories.of[row], series.of[row]);
        let percentiles: Option<Vec<f64>> = columns.iter().map(|column| column[row]).collect();
        let Some(percentiles) = percentiles.and_then(|p| p.try_into().ok()) else { continue };
        if !seen.insert((category, series_of)) {
            let (category, series) = (&categories.names[category], &series.names[series_of]);
            bail!("there are several distributions for `{series}` of `{category}`");
        }
        let greatest = greatest.as_ref().and_then(|column| column[row]);
        boxes.push(Distribution { category, series: series_of, percentiles, greatest });
    }
    Ok(boxes)
}

fn tip(names: [&str; 2], drawn: &Distribution, unit: &str) -> String {
    let [p1, p25, p50, p75, p99] = drawn.percentiles.map(figure);
    let greatest = drawn.greatest.map_or(String::new(), |g| format!(", greatest {}", figure(g)));
    let [category, series] = names;
    format!(
        "{category}, {series}: median {p50}{unit}, 25 to 75 %: {p25} to {p75}, 1 to 99 %: {p1} to {p99}{greatest}"
    )
}

fn draw_box(canvas: &mut Canvas, layout: &Layout, drawn: &Distribution, tip: &str) {
    let slot = layout.slot(drawn.category, drawn.series);
    let [p1, p25, p50, p75, p99] = drawn.percentiles.map(|value| layout.y(slot.row, value));
    let (left, width) = (slot.left + 0.14 * slot.width, 0.72 * slot.width);
    let (middle, right) = (slot.middle(), left + width);
    let ink = Paint::stroke(INK, 0.5);
    let cap = width / 4.0;
    for (end, edge) in [(p1, p25), (p99, p75)] {
        canvas.line((middle, end), (middle, edge), &ink);
        canvas.line((middle - cap, end), (middle + cap, end), &ink);
    }
    let paint = canvas.fill_of(drawn.series).edged(INK, 0.4);
    canvas.rect(&Rect { left, top: p75, width, height: p25 - p75 }, &paint, Some(tip));
    // White around the median, so that it is visible on any fill.
    canvas.line((left, p50), (right, p50), &Paint::stroke("#ffffff", 2.0));
    canvas.line((left, p50), (right, p50), &Paint::stroke("#000000", 1.0));
    if let Some(greatest) = drawn.greatest {
        let at = (middle, layout.y(slot.row, greatest));
        canvas.circle(at, DOT, &Paint::fill(INK), Some(tip));
    }
}
