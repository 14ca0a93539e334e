//! Lines through points: sweeps, time series, tails.

use super::canvas::{Canvas, Drawing, Paint, THICK};
use super::data::{self, Keys};
use super::kinds::Lines;
use super::legend::Sample;
use super::names::Names;
use super::panels::{Layout, Panels};
use super::scale::{Ends, Scale, Span, figure};
use super::{Axis, Chart, frame, marks};
use std::collections::{BTreeMap, HashMap};

const TICKS: usize = 5;
/// Largest number of points of a line with a mark at each.
const MARKED: usize = 24;
/// Points above which lines are thinner and the chart takes a page.
const LONG: usize = 240;
const FINE: f64 = 0.7;
/// Marks that distinguish a longer line.
const MARKS: usize = 8;
/// Points per point of width above which only the first, minimum, maximum and last of them are
/// drawn: of lines, and of steps, which only fall.
const DENSE: f64 = 2.0;
const DENSE_STEPS: f64 = 1.0;

/// The points of a line, sorted by x.
type Line = Vec<Point>;

struct Point {
    x: f64,
    /// Value; none if missing.
    y: Option<f64>,
    /// Name of its mark, if marks are named.
    name: Option<String>,
}

impl Point {
    fn place(&self) -> Option<(f64, f64)> {
        Some((self.x, self.y?))
    }
}

pub fn draw(chart: &Chart, kind: &Lines) -> anyhow::Result<Drawing> {
    let panel_names = Keys::of_any(&chart.data, kind.panel.as_deref())?;
    let series = Keys::of(&chart.data, &kind.series)?;
    // A tail may begin at zero, which a logarithmic axis cannot show.
    let read = |axis: &Axis| match kind.are_steps {
        true => Axis { scale: Scale::Linear, ..axis.clone() },
        false => axis.clone(),
    };
    let xs = data::values(&chart.data, &kind.x, &read(&kind.x_axis))?;
    let ys = data::values(&chart.data, &kind.y, &read(&kind.y_axis))?;
    let drawn = xs.iter().zip(&ys).filter_map(|(x, y)| Some(((*x)?, (*y)?)));
    let (x_values, y_values): (Vec<f64>, Vec<f64>) = drawn.unzip();
    let longest = longest(&panel_names, &series);
    let x_ends = if longest > MARKED { Ends::Tight } else { Ends::Padded };
    let x_span = Span::fit(kind.x_axis.scale, x_ends, x_values.iter().copied(), TICKS);
    let zero = (kind.has_zero && !y_values.is_empty()).then_some(0.0);
    let heights = y_values.into_iter().chain(kind.reference).chain(zero);
    let y_span = Span::fit(kind.y_axis.scale, Ends::Padded, heights, TICKS);
    let (Some(x_span), Some(y_span)) = (x_span, y_span) else { return frame::nothing(chart) };
    let x_span = match kind.ticks.as_slice() {
        [] => x_span.with_steps(&x_values),
        ticks => x_span.with_ticks(ticks),
    };
    let missing = xs.len() - x_values.len();
    let is_long = longest > LONG;
    let panels = Panels {
        format: chart.format,
        names: &panel_names.names,
        axes: [&kind.x_axis, &kind.y_axis],
        spans: [&x_span, &y_span],
        series: &series.names,
        sample: if is_long { Sample::LongLine } else { Sample::Line },
        is_wide: is_long,
        is_square: false,
        note: data::note(missing, xs.len(), &[&kind.x_axis, &kind.y_axis]),
    };
    let layout = panels.layout();
    let mut canvas = layout.canvas(chart);
    let marks = data::texts(&chart.data, kind.marks.as_deref())?;
    let lines = lines([&panel_names, &series], [&xs, &ys], marks);
    for (&(panel, of), line) in &lines {
        let name = &series.names[of];
        let drawn = Drawn { kind, layout: &layout, panel, series: of, name, is_long };
        drawn.draw(&mut canvas, line);
    }
    for panel in 0..layout.plots().len() {
        let of_panel = lines.range((panel, 0)..(panel + 1, 0)).map(|(_, line)| line.as_slice());
        name_marks(&mut canvas, &layout, panel, &of_panel.collect::<Vec<_>>());
    }
    layout.finish(canvas, kind.reference)
}

/// Collects the points of each panel and series.
fn lines(
    [panels, series]: [&Keys; 2],
    [xs, ys]: [&[Option<f64>]; 2],
    names: Vec<Option<String>>,
) -> BTreeMap<(usize, usize), Line> {
    let mut lines: BTreeMap<(usize, usize), Line> = BTreeMap::new();
    for (row, name) in names.into_iter().enumerate() {
        if let Some(x) = xs[row] {
            let point = Point { x, y: ys[row], name };
            lines.entry((panels.of[row], series.of[row])).or_default().push(point);
        }
    }
    lines.values_mut().for_each(|line| line.sort_by(|a, b| a.x.total_cmp(&b.x)));
    lines
}

/// Labels the named points of a panel's lines, unless the label would hide a line.
fn name_marks(canvas: &mut Canvas, layout: &Layout, panel: usize, lines: &[&[Point]]) {
    let place = |point: &Point| point.place().map(|(x, y)| layout.place(panel, x, y));
    let named = || lines.iter().copied().flatten().filter(|point| point.name.is_some());
    let mut names = Names::new(layout.plots()[panel], named().filter_map(place));
    for line in lines {
        names.cover_line(&line.iter().filter_map(place).collect::<Vec<_>>());
    }
    for point in named() {
        if let (Some(at), Some(name)) = (place(point), point.name.as_deref()) {
            names.write(canvas, name, &[at]);
        }
    }
}

/// Returns the number of points of the longest line.
fn longest(panels: &Keys, series: &Keys) -> usize {
    let mut counts: HashMap<(usize, usize), usize> = HashMap::new();
    for line in panels.of.iter().copied().zip(series.of.iter().copied()) {
        *counts.entry(line).or_default() += 1;
    }
    counts.into_values().max().unwrap_or(0)
}

/// A line being drawn.
struct Drawn<'a> {
    kind: &'a Lines,
    layout: &'a Layout<'a>,
    panel: usize,
    series: usize,
    name: &'a str,
    is_long: bool,
}

impl Drawn<'_> {
    fn draw(&self, canvas: &mut Canvas, line: &Line) {
        let look = canvas.look(self.series);
        // Dashes cannot be recognized on long, jagged lines.
        let paint = match self.is_long {
            true => Paint::stroke(look.colour(), FINE),
            false => Paint::stroke(look.colour(), THICK).dashed(look.dash()),
        };
        // A missing value breaks the line.
        for part in line.split(|point| point.y.is_none()) {
            let points: Vec<(f64, f64)> = part.iter().filter_map(Point::place).collect();
            let points = if self.kind.are_steps { steps(&points) } else { points };
            let points =
                points.into_iter().map(|(x, y)| self.layout.place(self.panel, x, y)).collect();
            let dense = if self.kind.are_steps { DENSE_STEPS } else { DENSE };
            canvas.path(&thinned(points, dense), false, &paint, Some(self.name));
        }
        for (x, y) in self.marked(line) {
            let at = self.layout.place(self.panel, x, y);
            marks::point(canvas, at, self.series, Some(&self.tip(x, y)));
        }
    }

    /// Returns the points that have marks.
    fn marked(&self, line: &Line) -> Vec<(f64, f64)> {
        if self.kind.marks.is_some() {
            return line
                .iter()
                .filter(|point| point.name.is_some())
                .filter_map(Point::place)
                .collect();
        }
        let points: Vec<(f64, f64)> = line.iter().filter_map(Point::place).collect();
        let (first, every) = (self.first_mark(points.len()), every(points.len()));
        points.into_iter().skip(first).step_by(every).collect()
    }

    /// Staggers the marks of different lines.
    fn first_mark(&self, points: usize) -> usize {
        match every(points) {
            1 => 0,
            every => (2 * self.series + 1) * every / 8 % every,
        }
    }

    fn tip(&self, x: f64, y: f64) -> String {
        let Lines { x_axis, y_axis, .. } = self.kind;
        format!(
            "{}: {} {}{} at {} {}{}",
            self.name,
            y_axis.label,
            figure(y),
            y_axis.suffix(),
            x_axis.label,
            figure(x),
            x_axis.suffix()
        )
    }
}

/// Returns n for a mark at every n-th point of a line.
fn every(points: usize) -> usize {
    if points <= MARKED { 1 } else { points.div_ceil(MARKS) }
}

/// Converts points to steps: horizontal up to each point, whose value is included in the share of
/// at least that value; the line ends at the last point.
fn steps(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let corners = points.windows(2).flat_map(|pair| [pair[0], (pair[0].0, pair[1].1)]);
    let end = points.last().into_iter().flat_map(|&(x, y)| [(x, y), (x, 0.0)]);
    corners.chain(end).collect()
}

/// Thins a line to its visible points: of many points at nearly the same x, the first, the minimum,
/// the maximum and the last.
fn thinned(points: Vec<(f64, f64)>, dense: f64) -> Vec<(f64, f64)> {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return points };
    let columns = ((last.0 - first.0) * dense).max(1.0);
    if (points.len() as f64) < 2.0 * columns {
        return points;
    }
    let column = |point: &(f64, f64)| (point.0 * dense) as i64;
    let mut kept = Vec::new();
    for same in points.chunk_by(|a, b| column(a) == column(b)) {
        let by_height = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        let ends = [
            same.first(),
            same.iter().min_by(by_height),
            same.iter().max_by(by_height),
            same.last(),
        ];
        let mut ends: Vec<(f64, f64)> = ends.into_iter().flatten().copied().collect();
        ends.dedup();
        kept.extend(ends);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_level_up_to_points() {
        let line = steps(&[(1.0, 1.0), (2.0, 0.5), (4.0, 0.25)]);
        let corners = [(1.0, 1.0), (1.0, 0.5), (2.0, 0.5), (2.0, 0.25), (4.0, 0.25), (4.0, 0.0)];
        assert_eq!(line, corners);
        assert_eq!(steps(&[]), []);
    }

    #[test]
    fn a_dense_line_keeps_its_extremes() {
        let wave: Vec<(f64, f64)> =
            (0..100_000).map(|n| (f64::from(n) * 0.001, f64::from(n % 97))).collect();
        let kept = thinned(wave.clone(), DENSE);
        assert!(kept.len() <= 4 * 201, "{}", kept.len());
        assert_eq!(kept.first(), wave.first());
        assert_eq!(kept.last(), wave.last());
        let greatest = |line: &[(f64, f64)]| line.iter().map(|p| p.1).fold(0.0, f64::max);
        assert_eq!(greatest(&kept), 96.0);
        let few = vec![(0.0, 1.0), (100.0, 2.0)];
        assert_eq!(thinned(few.clone(), DENSE), few);
    }
}
