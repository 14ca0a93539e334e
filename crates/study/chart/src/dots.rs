//! Ranked points: a row per name, with an interval and a range around each point.

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, Drawing, GREY, GRID, INK, Paint, Rect, THIN, Text};
use super::data::{self, Keys};
use super::font::{self, LABEL};
use super::frame::{self, EDGE, GAP, LABEL_LINE, TICK, TITLE_LINE};
use super::scale::{Ends, Span, figure, fixed};
use super::{Chart, label, marks};
use anyhow::bail;

const TICKS: usize = 5;
/// Largest fraction of the width for names.
const NAMES: f64 = 0.46;
/// Significant digits of the largest value beside the points; all have its decimals.
const DIGITS: i32 = 3;
/// Fraction of the points that lie within the axis, with those up to `FAR` times as far from the
/// reference, if there are at least `MANY`; others are heads at its ends.
const MOST: f64 = 0.85;
const FAR: f64 = 2.5;
const MANY: usize = 6;
/// Length of the axis beyond the points and their intervals on each side, as a multiple of their
/// spread: longer ranges are cut.
const BEYOND: f64 = 1.0;
/// Height of a row beyond its lines of text.
const APART: f64 = 1.6;
/// Half the height of an interval's caps, and the extent of the head of a cut range.
const CAP: f64 = 2.1;
const HEAD: (f64, f64) = (2.6, 1.5);

/// A point per name, from the top in the order of the data: ranked if the data are sorted.
#[derive(Clone, Debug)]
pub struct Dots {
    name: String,
    value: String,
    axis: Axis,
    range: Option<[String; 2]>,
    interval: Option<[String; 2]>,
    reference: Option<f64>,
}

impl Dots {
    /// Makes a point at `value` for each `name`.
    pub fn new(name: impl Into<String>, value: impl Into<String>, axis: Axis) -> Dots {
        let (name, value) = (name.into(), value.into());
        Dots { name, value, axis, range: None, interval: None, reference: None }
    }

    /// Draws a thin line between these columns where they have values, such as the extremes of the
    /// averaged values.
    pub fn range(self, least: impl Into<String>, greatest: impl Into<String>) -> Dots {
        Dots { range: Some([least.into(), greatest.into()]), ..self }
    }

    /// Draws a bracket between these columns where they have values: the uncertainty of the value.
    pub fn interval(self, low: impl Into<String>, high: impl Into<String>) -> Dots {
        Dots { interval: Some([low.into(), high.into()]), ..self }
    }

    /// Adds a vertical reference line at `value`.
    pub fn reference(self, value: f64) -> Dots {
        Dots { reference: Some(value), ..self }
    }
}

/// A value to draw, and the lines around it.
struct Dot {
    value: f64,
    range: Option<[f64; 2]>,
    interval: Option<[f64; 2]>,
}

/// Position of a name.
struct Row {
    lines: Vec<String>,
    top: f64,
    height: f64,
}

impl Row {
    fn middle(&self) -> f64 {
        self.top + self.height / 2.0
    }
}

pub fn draw(chart: &Chart, kind: &Dots) -> anyhow::Result<Drawing> {
    let names = Keys::of(&chart.data, &kind.name)?;
    let dots = kind.dots(chart, &names)?;
    let Some(span) = kind.span(&dots) else { return frame::nothing(chart) };
    let width = chart.format.width(false);
    let rows = rows(&names.names, NAMES * width);
    let written = written(&dots);
    let plot = plot(&rows, &written, &span, width);
    let missing = dots.iter().filter(|dot| dot.is_none()).count();
    let note = data::note(missing, dots.len(), &[&kind.axis]);
    let below = TICK + GAP + LABEL_LINE + TITLE_LINE + frame::note_height(note.as_deref(), width);
    let size = (width, plot.bottom() + below + EDGE);
    let mut canvas = Canvas::new(chart, size, &names.names);
    grid(&mut canvas, kind, &span, &plot, &rows);
    for (number, (row, dot)) in rows.iter().zip(&dots).enumerate() {
        name(&mut canvas, row, &names.names[number], &plot);
        if let Some(dot) = dot {
            let tip = dot.tip(&names.names[number], &kind.axis);
            let at = At { span: &span, plot: &plot, y: row.middle() };
            at.draw(&mut canvas, dot, number, &tip);
            let at = (width - EDGE, row.middle());
            canvas.text(&Text::new(&written[number], at, Anchor::End), None);
        }
    }
    frame::x_axis(&mut canvas, &kind.axis, &span, &plot, width);
    frame::note(&mut canvas, note.as_deref(), size);
    canvas.finish()
}

impl Dots {
    /// Returns the dot of each name; none without a value.
    fn dots(&self, chart: &Chart, names: &Keys) -> anyhow::Result<Vec<Option<Dot>>> {
        let values = data::values(&chart.data, &self.value, &self.axis)?;
        let ranges = data::ends(&chart.data, self.range.as_ref(), &self.axis)?;
        let intervals = data::ends(&chart.data, self.interval.as_ref(), &self.axis)?;
        if let Some(twice) = names.of.iter().enumerate().find(|(row, name)| row != *name) {
            bail!("there are several values for `{}`", names.names[*twice.1]);
        }
        let dot = |(row, value): (usize, Option<f64>)| {
            Some(Dot { value: value?, range: ranges[row], interval: intervals[row] })
        };
        Ok(values.into_iter().enumerate().map(dot).collect())
    }

    fn origin(&self) -> f64 {
        self.reference.unwrap_or(0.0)
    }

    /// Returns the largest distance from the reference at which points are drawn.
    fn limit(&self, dots: &[Option<Dot>]) -> f64 {
        let distances = dots.iter().flatten().map(|dot| (dot.value - self.origin()).abs());
        let mut distances: Vec<f64> = distances.collect();
        distances.sort_by(f64::total_cmp);
        let most = distances.get((distances.len().saturating_sub(1) as f64 * MOST) as usize);
        let most = most.copied().filter(|most| *most > 0.0 && distances.len() >= MANY);
        most.map_or(f64::INFINITY, |most| FAR * most)
    }

    /// Fits the axis to points and intervals, and to ranges that are not far longer.
    fn span(&self, dots: &[Option<Dot>]) -> Option<Span> {
        let limit = self.limit(dots);
        let is_near = |dot: &&Dot| (dot.value - self.origin()).abs() <= limit;
        let dots = || dots.iter().flatten().filter(is_near);
        let inner = || {
            let of = |dot: &Dot| [dot.value].into_iter().chain(dot.interval.into_iter().flatten());
            dots().flat_map(of).chain(self.reference)
        };
        let (low, high) =
            inner().map(|end| (end, end)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
        let room = BEYOND * (high - low);
        let ranges = dots().filter_map(|dot| dot.range).flatten();
        // Without a spread, ranges alone make up the axis.
        let cut = |end: f64| if room > 0.0 { end.clamp(low - room, high + room) } else { end };
        dots().next()?;
        Span::fit(self.axis.scale, Ends::Padded, inner().chain(ranges.map(cut)), TICKS)
    }
}

impl Dot {
    fn tip(&self, name: &str, axis: &Axis) -> String {
        let ends = |what: &str, ends: Option<[f64; 2]>| {
            ends.map_or_else(String::new, |[low, high]| {
                format!(", {what} {} to {}", figure(low), figure(high))
            })
        };
        let (interval, range) = (ends("interval", self.interval), ends("range", self.range));
        format!("{name}: {}{}{interval}{range}", figure(self.value), axis.suffix())
    }
}

/// Formats the value of each dot; empty without one.
fn written(dots: &[Option<Dot>]) -> Vec<String> {
    let greatest = dots.iter().flatten().map(|dot| dot.value.abs()).fold(0.0, f64::max);
    let text = |dot: &Option<Dot>| {
        dot.as_ref().map_or_else(String::new, |dot| fixed(dot.value, greatest, DIGITS))
    };
    dots.iter().map(text).collect()
}

/// Lays out the names one below the other.
fn rows(names: &[String], room: f64) -> Vec<Row> {
    let mut top = EDGE;
    let row = |name: &String| {
        let lines = font::wrap_name(name, LABEL, room);
        let row = Row { top, height: lines.len() as f64 * LABEL_LINE + APART, lines };
        top += row.height;
        row
    };
    label::short(names).iter().map(row).collect()
}

/// Returns the area of the points, between the names and the values.
fn plot(rows: &[Row], written: &[String], span: &Span, width: f64) -> Rect {
    let widest = |texts: &mut dyn Iterator<Item = f64>| texts.fold(0.0, f64::max);
    let names = widest(&mut rows.iter().flat_map(|row| &row.lines).map(|l| font::width(l, LABEL)));
    let values = widest(&mut written.iter().map(|text| font::width(text, LABEL)));
    let tick = |tick: Option<&(f64, String)>| tick.map_or(0.0, |t| font::width(&t.1, LABEL) / 2.0);
    let left = EDGE + names + 2.0 * GAP;
    let right = width - EDGE - (values + 2.0 * GAP).max(tick(span.ticks.last()));
    let bottom = rows.last().map_or(EDGE, |row| row.top + row.height);
    Rect { left, top: EDGE, width: right - left, height: bottom - EDGE }
}

/// Draws vertical grid lines, a faint line through each row, and the reference.
fn grid(canvas: &mut Canvas, kind: &Dots, span: &Span, plot: &Rect, rows: &[Row]) {
    for (tick, _) in &span.ticks {
        let x = frame::x_at(span, plot, *tick);
        canvas.line((x, plot.top), (x, plot.bottom()), &Paint::stroke(GRID, THIN));
    }
    for row in rows {
        let dotted = Paint::stroke(GRID, THIN).dashed("0.8 1.6");
        canvas.line((plot.left, row.middle()), (plot.right(), row.middle()), &dotted);
    }
    if let Some(reference) = kind.reference {
        let x = frame::x_at(span, plot, reference);
        canvas.line((x, plot.top), (x, plot.bottom()), &Paint::stroke(INK, 0.7).dashed("3 2"));
    }
}

fn name(canvas: &mut Canvas, row: &Row, full: &str, plot: &Rect) {
    let first = row.middle() - row.lines.len() as f64 * LABEL_LINE / 2.0;
    let is_short = row.lines.concat() != full;
    for (number, line) in row.lines.iter().enumerate() {
        let at = (plot.left - 2.0 * GAP, first + (number as f64 + 0.5) * LABEL_LINE);
        canvas.text(&Text::new(line, at, Anchor::End), is_short.then_some(full));
    }
}

/// Row of a dot.
struct At<'a> {
    span: &'a Span,
    plot: &'a Rect,
    y: f64,
}

impl At<'_> {
    fn draw(&self, canvas: &mut Canvas, dot: &Dot, number: usize, tip: &str) {
        if let Some(range) = dot.range {
            self.range(canvas, range);
        }
        if let Some(interval) = dot.interval {
            self.interval(canvas, interval);
        }
        match self.beyond(dot.value) {
            None => marks::point(canvas, (self.x(dot.value), self.y), number, Some(tip)),
            Some(side) => {
                let paint = Paint::fill(canvas.look(number).colour());
                self.head(canvas, side, 1.6, &paint, Some(tip));
            }
        }
    }

    fn x(&self, value: f64) -> f64 {
        frame::x_at(self.span, self.plot, value)
    }

    /// Draws a thin line, with a head at an end beyond the axis.
    fn range(&self, canvas: &mut Canvas, [low, high]: [f64; 2]) {
        let ends = [self.x(low), self.x(high)];
        canvas.line((ends[0], self.y), (ends[1], self.y), &Paint::stroke(GREY, 0.9));
        for side in [low, high].into_iter().filter_map(|end| self.beyond(end)) {
            self.head(canvas, side, 1.0, &Paint::fill(GREY), None);
        }
    }

    /// Returns the side on which a value lies beyond the axis: -1 or 1.
    fn beyond(&self, value: f64) -> Option<f64> {
        let is_inside = (self.span.low..=self.span.high).contains(&value);
        (!is_inside).then(|| if value < self.span.low { -1.0 } else { 1.0 })
    }

    /// Draws the head of an arrow at an end of the axis.
    fn head(&self, canvas: &mut Canvas, side: f64, scale: f64, paint: &Paint, tip: Option<&str>) {
        let end = if side < 0.0 { self.plot.left } else { self.plot.right() };
        let (back, half) = (end - side * scale * HEAD.0, scale * HEAD.1);
        let head = [(end, self.y), (back, self.y - half), (back, self.y + half)];
        canvas.path(&head, true, paint, tip);
    }

    fn interval(&self, canvas: &mut Canvas, ends: [f64; 2]) {
        let ink = Paint::stroke(INK, 0.8);
        let [low, high] = ends.map(|end| self.x(end));
        canvas.line((low, self.y), (high, self.y), &ink);
        for end in [low, high] {
            canvas.line((end, self.y - CAP), (end, self.y + CAP), &ink);
        }
    }
}
