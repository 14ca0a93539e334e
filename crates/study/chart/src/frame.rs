//! Axes with their titles, grids, and notes around the marks.

use super::Chart;
use super::axis::Axis;
use super::canvas::{Anchor, Canvas, Drawing, GREY, GRID, INK, Paint, Rect, THIN, Text};
use super::font::{self, LABEL, LINE, TITLE};
use super::scale::Span;

/// Margin of a chart, points.
pub const EDGE: f64 = 2.0;
/// Length of tick lines, and gap between them and their labels.
pub const TICK: f64 = 2.5;
pub const GAP: f64 = 2.0;
/// Height of a line of labels, and of a title.
pub const LABEL_LINE: f64 = LINE * LABEL;
pub const TITLE_LINE: f64 = LINE * TITLE;

/// Draws an empty chart with a text that states there is no data.
pub fn nothing(chart: &Chart) -> anyhow::Result<Drawing> {
    let (width, height) = (chart.format.width(false), 60.0);
    let mut canvas = Canvas::new(chart, (width, height), &[]);
    let edge =
        Rect { left: EDGE, top: EDGE, width: width - 2.0 * EDGE, height: height - 2.0 * EDGE };
    canvas.rect(&edge, &Paint::fill("none").edged(GRID, THIN), None);
    let centre = (width / 2.0, height / 2.0);
    canvas.text(&Text::new("no data", centre, Anchor::Middle).size(TITLE).coloured(GREY), None);
    canvas.finish()
}

/// Returns the title of an axis of length `room`, in lines of whole words if they fit.
pub fn title_lines(axis: &Axis, room: f64) -> Vec<String> {
    font::wrap(&axis.title(), TITLE, room)
}

/// Returns the width of a vertical axis of the given height with its labels.
pub fn y_axis_width(axis: &Axis, span: &Span, height: f64) -> f64 {
    let widest = span.ticks.iter().map(|tick| font::width(&tick.1, LABEL)).fold(0.0, f64::max);
    title_lines(axis, height).len() as f64 * TITLE_LINE + GAP + widest + GAP + TICK
}

/// Draws horizontal grid lines at the ticks of a vertical axis.
pub fn y_grid(canvas: &mut Canvas, span: &Span, plot: &Rect) {
    for (tick, _) in &span.ticks {
        let y = y_at(span, plot, *tick);
        canvas.line((plot.left, y), (plot.right(), y), &Paint::stroke(GRID, THIN));
    }
}

/// Draws a vertical axis at the left of `plot`: its line, its ticks and their labels.
pub fn y_ticks(canvas: &mut Canvas, span: &Span, plot: &Rect) {
    let ink = Paint::stroke(INK, THIN);
    canvas.line((plot.left, plot.top), (plot.left, plot.bottom()), &ink);
    for (tick, label) in span.spaced(plot.height, |_| LABEL) {
        let y = y_at(span, plot, tick);
        canvas.line((plot.left - TICK, y), (plot.left, y), &ink);
        canvas.text(&Text::new(label, (plot.left - TICK - GAP, y), Anchor::End), None);
    }
    for tick in &span.minor {
        let y = y_at(span, plot, *tick);
        canvas.line((plot.left - TICK / 2.0, y), (plot.left, y), &ink);
    }
}

/// Draws the rotated title of a vertical axis, centred on `plot`; its lines begin at `left`.
pub fn y_title(canvas: &mut Canvas, axis: &Axis, left: f64, plot: &Rect, room: f64) {
    let whole = axis.title();
    for (number, line) in title_lines(axis, room).iter().enumerate() {
        let at = (left + (number as f64 + 0.5) * TITLE_LINE, plot.top + plot.height / 2.0);
        let text = Text::new(line, at, Anchor::Middle).size(TITLE).turned(-90.0);
        canvas.text(&text, line.contains('…').then_some(&*whole));
    }
}

/// Draws a horizontal axis below `plot`: its line, its ticks and their labels, and its title, on a
/// page of the given width.
pub fn x_axis(canvas: &mut Canvas, axis: &Axis, span: &Span, plot: &Rect, width: f64) {
    let ink = Paint::stroke(INK, THIN);
    canvas.line((plot.left, plot.bottom()), (plot.right(), plot.bottom()), &ink);
    for (tick, label) in span.spaced(plot.width, |label| font::width(label, LABEL) + 2.0 * GAP) {
        let x = x_at(span, plot, tick);
        canvas.line((x, plot.bottom()), (x, plot.bottom() + TICK), &ink);
        let at = (x, plot.bottom() + TICK + GAP + LABEL_LINE / 2.0);
        canvas.text(&Text::new(label, at, Anchor::Middle), None);
    }
    let whole = axis.title();
    let title = font::fit(&whole, TITLE, width - 2.0 * EDGE);
    let half = font::width(&title, TITLE) / 2.0;
    let middle = (plot.left + plot.width / 2.0).clamp(EDGE + half, width - EDGE - half);
    let at = (middle, plot.bottom() + TICK + GAP + LABEL_LINE + TITLE_LINE / 2.0);
    let text = Text::new(&title, at, Anchor::Middle).size(TITLE);
    canvas.text(&text, (title != whole).then_some(&*whole));
}

/// Returns the position of a value on the vertical axis of `plot`.
pub fn y_at(span: &Span, plot: &Rect, value: f64) -> f64 {
    plot.bottom() - span.place(value) * plot.height
}

/// Returns the position of a value on the horizontal axis of `plot`.
pub fn x_at(span: &Span, plot: &Rect, value: f64) -> f64 {
    plot.left + span.place(value) * plot.width
}

/// Draws a dashed reference line across `plot` at a value.
pub fn reference(canvas: &mut Canvas, span: &Span, plot: &Rect, value: f64) {
    if (span.low..=span.high).contains(&value) {
        let y = y_at(span, plot, value);
        canvas.line((plot.left, y), (plot.right(), y), &Paint::stroke(INK, 0.7).dashed("3 2"));
    }
}

/// Returns the height of the note below a chart of the given width.
pub fn note_height(note: Option<&str>, width: f64) -> f64 {
    note_lines(note, width).len() as f64 * LABEL_LINE
}

fn note_lines(note: Option<&str>, width: f64) -> Vec<String> {
    note.map_or_else(Vec::new, |note| font::wrap(note, LABEL, width - 2.0 * EDGE))
}

/// Draws the note in the last lines of a page of the given size.
pub fn note(canvas: &mut Canvas, note: Option<&str>, (width, height): (f64, f64)) {
    let lines = note_lines(note, width);
    for (number, line) in lines.iter().rev().enumerate() {
        let at = (width - EDGE, height - EDGE - (number as f64 + 0.5) * LABEL_LINE);
        canvas.text(&Text::new(line, at, Anchor::End).coloured(GREY), None);
    }
}
