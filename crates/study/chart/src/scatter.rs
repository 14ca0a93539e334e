//! Points: one quantity against another.

use super::canvas::{Canvas, Drawing, GREY, INK, Paint, THIN};
use super::data::{self, Keys};
use super::kinds::{Equal, Scatter};
use super::legend::Sample;
use super::names::{Names, POINT};
use super::panels::{Layout, Panels};
use super::scale::{Ends, Span, figure};
use super::{Axis, Chart, frame, marks};
use std::collections::BTreeMap;

const TICKS: usize = 6;
/// Dashes of the lines of bands, from the narrowest on.
const BANDS: [&str; 3] = ["", "3 1.5", "1 1.5"];
/// Length and half width of an arrow head.
const HEAD: (f64, f64) = (3.2, 1.3);
/// Points above which a chart takes a page.
const MANY: usize = 48;

/// A row that can be drawn.
struct Point {
    series: usize,
    group: usize,
    x: f64,
    y: f64,
    at: (f64, f64),
}

impl Point {
    /// Returns the relative difference of y and x.
    fn off(&self) -> f64 {
        (self.y / self.x - 1.0).abs()
    }
}

pub fn draw(chart: &Chart, kind: &Scatter) -> anyhow::Result<Drawing> {
    let series = Keys::of(&chart.data, &kind.series)?;
    let groups = Keys::of_any(&chart.data, kind.group.as_deref())?;
    let xs = data::values(&chart.data, &kind.x, &kind.x_axis)?;
    let ys = data::values(&chart.data, &kind.y, &kind.y_axis)?;
    let mut points: Vec<Point> = (0..xs.len())
        .filter_map(|row| {
            let (x, y) = (xs[row]?, ys[row]?);
            Some(Point { series: series.of[row], group: groups.of[row], x, y, at: (0.0, 0.0) })
        })
        .collect();
    let (Some(x_span), Some(y_span)) = spans(kind, &points) else { return frame::nothing(chart) };
    let missing = data::note(xs.len() - points.len(), xs.len(), &[&kind.x_axis, &kind.y_axis]);
    let note: Vec<String> = kind.equal.as_ref().map(band_note).into_iter().chain(missing).collect();
    let panels = Panels {
        format: chart.format,
        names: &[],
        axes: [&kind.x_axis, &kind.y_axis],
        spans: [&x_span, &y_span],
        series: &series.names,
        sample: Sample::Point,
        is_wide: points.len() > MANY,
        is_square: kind.equal.is_some(),
        note: (!note.is_empty()).then(|| note.join("; ")),
    };
    let layout = panels.layout();
    for point in &mut points {
        point.at = layout.place(0, point.x, point.y);
    }
    let mut canvas = layout.canvas(chart);
    if let Some(equal) = &kind.equal {
        draw_bands(&mut canvas, &layout, equal, &x_span);
    }
    let baseline =
        kind.baseline.as_ref().and_then(|name| series.names.iter().position(|s| s == name));
    let arrows = baseline.map_or_else(Vec::new, |baseline| arrows(&points, baseline));
    for [from, to] in &arrows {
        arrow(&mut canvas, *from, *to);
    }
    for point in &points {
        let names = [&series.names[point.series], &groups.names[point.group]];
        marks::point(&mut canvas, point.at, point.series, Some(&tip(kind, names, point)));
    }
    let mut names = Names::new(layout.plots()[0], points.iter().map(|point| point.at));
    for ends in &arrows {
        names.avoid_line(ends);
    }
    match &kind.equal {
        Some(equal) => name_far(&mut canvas, &mut names, &points, &groups.names, equal.named),
        None if kind.group.is_some() => {
            name_groups(&mut canvas, &mut names, &points, &groups.names, baseline);
        }
        None => {}
    }
    layout.finish(canvas, None)
}

/// Fits both axes; identical if both sides measure the same quantity.
fn spans(kind: &Scatter, points: &[Point]) -> (Option<Span>, Option<Span>) {
    let fit = |axis: &Axis, values: &dyn Fn(&Point) -> Vec<f64>| {
        Span::fit(axis.scale, Ends::Padded, points.iter().flat_map(values), TICKS)
    };
    match kind.equal {
        Some(_) => {
            let span = fit(&kind.x_axis, &|point| vec![point.x, point.y]);
            (span.clone(), span)
        }
        None => {
            (fit(&kind.x_axis, &|point| vec![point.x]), fit(&kind.y_axis, &|point| vec![point.y]))
        }
    }
}

/// Composes the note on bands: `lines: equal, ± 10 %, ± 20 %`.
fn band_note(equal: &Equal) -> String {
    let bands: Vec<String> =
        equal.bands.iter().map(|band| format!(", ± {} %", figure(100.0 * band))).collect();
    format!("lines: equal{}", bands.concat())
}

/// Draws lines at y = x and at the bands above and below.
fn draw_bands(canvas: &mut Canvas, layout: &Layout, equal: &Equal, span: &Span) {
    let mut line = |factor: f64, paint: &Paint| {
        let (from, to) = (span.low / factor.min(1.0), span.high / factor.max(1.0));
        let ends = [from, to].map(|x| layout.place(0, x, factor * x));
        canvas.line(ends[0], ends[1], paint);
    };
    line(1.0, &Paint::stroke(INK, THIN));
    for (band, dash) in equal.bands.iter().zip(BANDS) {
        let paint = Paint::stroke(GREY, THIN).dashed(dash);
        line(1.0 - band, &paint);
        line(1.0 + band, &paint);
    }
}

fn tip(kind: &Scatter, [series, group]: [&String; 2], point: &Point) -> String {
    let of = if group.is_empty() { series.clone() } else { format!("{group}, {series}") };
    let value = |axis: &Axis, value| format!("{} {}{}", axis.label, figure(value), axis.suffix());
    format!("{of}: {}, {}", value(&kind.x_axis, point.x), value(&kind.y_axis, point.y))
}

/// Returns the start and end points of arrows: from each group's points of series `from` to its
/// other points.
fn arrows(points: &[Point], from: usize) -> Vec<[(f64, f64); 2]> {
    let of_series = points.iter().filter(|point| point.series == from);
    let ends = |start: &Point| {
        let (group, at) = (start.group, start.at);
        let others = points.iter().filter(move |end| end.group == group && end.series != from);
        others.map(move |end| [at, end.at])
    };
    of_series.flat_map(ends).collect()
}

fn arrow(canvas: &mut Canvas, from: (f64, f64), to: (f64, f64)) {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy);
    // An arrow between touching points would not be visible.
    if length < 2.0 * POINT + HEAD.0 {
        return;
    }
    let (dx, dy) = (dx / length, dy / length);
    let along =
        |way: f64, aside: f64| (from.0 + way * dx - aside * dy, from.1 + way * dy + aside * dx);
    let tip = length - POINT;
    let neck = tip - HEAD.0;
    canvas.line(along(POINT, 0.0), along(neck, 0.0), &Paint::stroke(GREY, 0.5));
    let head = [along(tip, 0.0), along(neck, HEAD.1), along(neck, -HEAD.1)];
    canvas.path(&head, true, &Paint::fill(GREY), None);
}

/// Labels the points whose relative difference exceeds `named` with their groups, in order of
/// decreasing difference.
fn name_far(
    canvas: &mut Canvas,
    names: &mut Names,
    points: &[Point],
    groups: &[String],
    named: f64,
) {
    let mut far: Vec<&Point> = points.iter().filter(|point| point.off() > named).collect();
    far.sort_by(|a, b| b.off().total_cmp(&a.off()));
    for point in far {
        names.write(canvas, &groups[point.group], &[point.at]);
    }
}

/// Labels each group beside one of its points, starting with the baseline's. A name without room
/// appears only in the tooltips.
fn name_groups(
    canvas: &mut Canvas,
    names: &mut Names,
    points: &[Point],
    groups: &[String],
    baseline: Option<usize>,
) {
    let mut of_group: BTreeMap<usize, Vec<&Point>> = BTreeMap::new();
    for point in points {
        of_group.entry(point.group).or_default().push(point);
    }
    for (group, mut points) in of_group {
        points.sort_by_key(|point| Some(point.series) != baseline);
        let at: Vec<(f64, f64)> = points.iter().map(|point| point.at).collect();
        names.write(canvas, &groups[group], &at);
    }
}
