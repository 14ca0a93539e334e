//! Horizontal bars, with long names on the left and values at the ends.

use super::Bar;
use crate::Chart;
use crate::canvas::{Anchor, Canvas, Drawing, GREY, GRID, INK, Paint, Rect, THIN, Text};
use crate::data::{self, Keys};
use crate::font::{self, LABEL};
use crate::frame::{self, EDGE, GAP, LABEL_LINE, TICK, TITLE_LINE};
use crate::kinds::Bars;
use crate::legend::{Legend, Sample};
use crate::scale::{Span, figure_of};

/// Largest fraction of the width for the names of categories.
const NAMES: f64 = 0.42;
/// Distance between bars; values are written at their ends.
const PITCH: f64 = 7.2;
const THICKNESS: f64 = 6.0;
/// Gap between categories, and before the separated ones.
const APART: f64 = 4.0;
const SET_APART: f64 = 5.0;
/// Significant digits of the values, and decimals relative to the first digit of the largest value.
const DIGITS: i32 = 3;
const BEHIND: i32 = 3;

/// Data to draw.
pub struct HorizontalBars<'a> {
    pub kind: &'a Bars,
    pub categories: &'a Keys,
    pub series: &'a Keys,
    pub bars: Vec<Bar>,
    pub span: Span,
    pub note: Option<String>,
}

/// Position of a category.
struct Row {
    lines: Vec<String>,
    top: f64,
    height: f64,
    /// Bars of the category, from the top.
    marks: Vec<usize>,
}

impl Row {
    fn middle(&self) -> f64 {
        self.top + self.height / 2.0
    }

    /// Returns the position of the bar of a series, from the top.
    fn bar(&self, series: usize) -> f64 {
        let place = self.marks.iter().position(|mark| *mark == series).unwrap_or(0) as f64;
        self.middle() + (place - self.marks.len() as f64 / 2.0) * PITCH + (PITCH - THICKNESS) / 2.0
    }
}

impl HorizontalBars<'_> {
    pub fn draw(&self, chart: &Chart) -> anyhow::Result<Drawing> {
        let width = chart.format.width(false);
        let legend = Legend::new(&self.series.names, Sample::Bar, width - 2.0 * EDGE);
        let rows = self.rows(EDGE + legend.height(), NAMES * width);
        let plot = self.plot(&rows, width, EDGE + legend.height());
        let below = TICK + GAP + LABEL_LINE + TITLE_LINE;
        let height = plot.bottom() + below + frame::note_height(self.note.as_deref(), width) + EDGE;
        let mut canvas = Canvas::with_fills(chart, (width, height), &self.series.names);
        legend.draw(&mut canvas, (EDGE, EDGE));
        self.draw_grid(&mut canvas, &plot);
        for bar in &self.bars {
            self.draw_bar(&mut canvas, &plot, &rows[bar.category], bar);
        }
        self.draw_names(&mut canvas, &plot, &rows);
        self.draw_axis(&mut canvas, &plot, width);
        frame::note(&mut canvas, self.note.as_deref(), (width, height));
        canvas.finish()
    }

    /// Lays out the categories one below the other, starting at `top`.
    fn rows(&self, top: f64, room: f64) -> Vec<Row> {
        let apart = self.categories.names.len() - self.set_apart();
        let mut top = top;
        let pairs = data::pairs(self.categories, self.series);
        let row = |(number, (name, marks)): (usize, (&String, Vec<usize>))| {
            let lines = font::wrap(name, LABEL, room);
            let height = (lines.len() as f64 * LABEL_LINE).max(marks.len() as f64 * PITCH) + APART;
            top += if number == apart && number > 0 { SET_APART } else { 0.0 };
            let row = Row { lines, top, height, marks };
            top += height;
            row
        };
        self.categories.names.iter().zip(pairs).enumerate().map(row).collect()
    }

    /// Returns the number of separated categories at the end.
    fn set_apart(&self) -> usize {
        self.categories.names.iter().filter(|name| self.kind.set_apart.contains(name)).count()
    }

    /// Returns the area of the bars, between the names and the values at the bar ends.
    fn plot(&self, rows: &[Row], width: f64, top: f64) -> Rect {
        let names = rows.iter().flat_map(|row| &row.lines);
        let names = names.map(|line| font::width(line, LABEL)).fold(0.0, f64::max);
        let room = |is_wanted: fn(&Bar) -> bool| {
            let texts = self.bars.iter().filter(|bar| is_wanted(bar)).map(|bar| self.written(bar));
            texts.map(|text| font::width(&text, LABEL) + GAP).fold(0.0, f64::max)
        };
        // The label of the last tick extends this far.
        let tick = self.span.ticks.last().map_or(0.0, |tick| font::width(&tick.1, LABEL) / 2.0);
        let left = EDGE + names + GAP + room(|bar| bar.value < 0.0);
        let right = width - EDGE - room(|bar| bar.value >= 0.0).max(tick);
        let bottom = rows.last().map_or(top, |row| row.top + row.height);
        Rect { left, top, width: right - left, height: bottom - top }
    }

    /// Formats the value at the end of a bar, without digits that are negligible relative to the
    /// largest value.
    fn written(&self, bar: &Bar) -> String {
        let greatest = self.bars.iter().map(|bar| bar.value.abs()).fold(0.0, f64::max);
        let step = 10f64.powi(greatest.log10().floor() as i32 - BEHIND);
        let rounded = if step.is_normal() { (bar.value / step).round() * step } else { bar.value };
        figure_of(rounded, DIGITS)
    }

    fn draw_grid(&self, canvas: &mut Canvas, plot: &Rect) {
        for (tick, _) in &self.span.ticks {
            let x = frame::x_at(&self.span, plot, *tick);
            canvas.line((x, plot.top), (x, plot.bottom()), &Paint::stroke(GRID, THIN));
        }
    }

    fn draw_bar(&self, canvas: &mut Canvas, plot: &Rect, row: &Row, bar: &Bar) {
        let [zero, end] =
            [self.span.low.max(0.0), bar.value].map(|value| frame::x_at(&self.span, plot, value));
        let top = row.bar(bar.series);
        let rect = Rect { left: zero.min(end), top, width: (end - zero).abs(), height: THICKNESS };
        let tip = bar.tip(self.categories, self.series, self.kind);
        canvas.rect(&rect, &canvas.fill_of(bar.series).edged(INK, 0.3), Some(&tip));
        let middle = top + THICKNESS / 2.0;
        let (x, anchor) = match bar.value < 0.0 {
            true => (end - GAP, Anchor::End),
            false => (end + GAP, Anchor::Start),
        };
        canvas.text(&Text::new(&self.written(bar), (x, middle), anchor), None);
    }

    fn draw_names(&self, canvas: &mut Canvas, plot: &Rect, rows: &[Row]) {
        for (row, full) in rows.iter().zip(&self.categories.names) {
            let first = row.middle() - row.lines.len() as f64 * LABEL_LINE / 2.0;
            for (number, line) in row.lines.iter().enumerate() {
                let at = (EDGE, first + (number as f64 + 0.5) * LABEL_LINE);
                let tip = line.contains('…').then_some(&**full);
                canvas.text(&Text::new(line, at, Anchor::Start), tip);
            }
        }
        let first = rows.len() - self.set_apart();
        if let Some(row) = rows.get(first).filter(|_| first > 0) {
            let y = row.top - SET_APART / 2.0;
            let paint = Paint::stroke(GREY, THIN).dashed("1.5 1.5");
            canvas.line((EDGE, y), (plot.right(), y), &paint);
        }
    }

    fn draw_axis(&self, canvas: &mut Canvas, plot: &Rect, width: f64) {
        let (span, ink) = (&self.span, Paint::stroke(INK, THIN));
        let zero = frame::x_at(span, plot, span.low.max(0.0));
        canvas.line((zero, plot.top), (zero, plot.bottom()), &ink);
        if let Some(reference) = self.kind.reference {
            let x = frame::x_at(span, plot, reference);
            canvas.line((x, plot.top), (x, plot.bottom()), &Paint::stroke(INK, 0.7).dashed("3 2"));
        }
        frame::x_axis(canvas, &self.kind.axis, span, plot, width);
    }
}
