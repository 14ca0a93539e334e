//! A table as colours: a row per name, a column per case, changes from red through white to blue.

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, Drawing, INK, Paint, Rect, THIN, Text};
use super::cells::{Grid, Shades, grown, hex, ink_on};
use super::data::{self, Keys};
use super::font::{self, LABEL};
use super::frame::{self, EDGE, GAP, LABEL_LINE, TICK, TITLE_LINE};
use super::scale::{Ends, Span, figure, figure_of};
use super::{Chart, Format, label};
use anyhow::bail;
use colorous::Color;
use std::collections::HashMap;
use std::ops::Range;

/// Largest fraction of the width for the names of rows.
const NAMES: f64 = 0.38;
/// Maximum length of the upright names of columns.
const LONGEST: f64 = 110.0;
/// Smallest width of a column, so that its upright name fits, and largest.
const LEAST: f64 = LABEL_LINE;
const WIDEST: f64 = 34.0;
/// Gap after the separated columns, and between blocks of columns.
const APART: f64 = 3.0;
const BETWEEN: f64 = 8.0;
/// Size and digits of the values written into cells.
const WRITTEN: f64 = 5.6;
const DIGITS: i32 = 2;
/// Width and height of the colour bar, and the number of its colours.
const BAR: (f64, f64) = (120.0, 6.0);
const SHADES: usize = 48;
const TICKS: usize = 4;
/// Fraction of the values that lie within the colours, with those up to `FAR` times as large.
const MOST: f64 = 0.8;
const FAR: f64 = 1.5;

/// Cells coloured by their distance from zero.
#[derive(Clone, Debug)]
pub struct Matrix {
    row: String,
    column: String,
    value: String,
    colours: Axis,
    first: Vec<String>,
}

impl Matrix {
    /// Draws a cell for each pair of `row` and `column`, from the top left in the order of the
    /// data; `colours` is the quantity of `value`.
    pub fn new(
        row: impl Into<String>,
        column: impl Into<String>,
        value: impl Into<String>,
        colours: Axis,
    ) -> Matrix {
        let (row, column, value) = (row.into(), column.into(), value.into());
        Matrix { row, column, value, colours, first: Vec::new() }
    }

    /// Separates columns such as means at the left end.
    pub fn set_apart<S: Into<String>>(self, columns: impl IntoIterator<Item = S>) -> Matrix {
        Matrix { first: columns.into_iter().map(Into::into).collect(), ..self }
    }
}

/// Values by column and row.
struct Values {
    rows: Keys,
    columns: Keys,
    of: HashMap<(usize, usize), f64>,
    missing: usize,
    /// Number of separated columns, which are the first.
    apart: usize,
}

pub fn draw(chart: &Chart, kind: &Matrix) -> anyhow::Result<Drawing> {
    let values = Values::of(chart, kind)?;
    let Some(limit) = limit(values.of.values().copied()) else { return frame::nothing(chart) };
    let Some(span) = Span::fit(kind.colours.scale, Ends::Tight, [-limit, limit].into_iter(), TICKS)
    else {
        return frame::nothing(chart);
    };
    let layout = Layout::new(chart.format, kind, &values, limit);
    let mut canvas = Canvas::new(chart, layout.size, &[]);
    for block in &layout.blocks {
        layout.draw_block(&mut canvas, chart.format, kind, &values, &span, block)?;
    }
    layout.draw_bar(&mut canvas, kind, &span);
    frame::note(&mut canvas, layout.note.as_deref(), layout.size);
    canvas.finish()
}

impl Values {
    fn of(chart: &Chart, kind: &Matrix) -> anyhow::Result<Values> {
        let rows = Keys::of(&chart.data, &kind.row)?;
        let mut columns = Keys::of(&chart.data, &kind.column)?;
        let apart = columns.move_to_start(&kind.first);
        let read = data::values(&chart.data, &kind.value, &kind.colours)?;
        let mut of = HashMap::new();
        for (place, value) in read.iter().enumerate() {
            let Some(value) = *value else { continue };
            let cell = (columns.of[place], rows.of[place]);
            if of.insert(cell, value).is_some() {
                let (column, row) = (&columns.names[cell.0], &rows.names[cell.1]);
                bail!("there are several values for `{row}` of `{column}`");
            }
        }
        let missing = read.len() - of.len();
        Ok(Values { rows, columns, of, missing, apart })
    }
}

/// Chooses the value of the strongest colour so that a few far larger values do not make all others
/// white.
fn limit(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut sizes: Vec<f64> = values.map(f64::abs).collect();
    sizes.sort_by(f64::total_cmp);
    let most = *sizes.get((sizes.len().saturating_sub(1) as f64 * MOST) as usize)?;
    let is_near = |size: &&f64| most == 0.0 || **size <= FAR * most;
    let limit = sizes.iter().rev().find(is_near).copied().unwrap_or(0.0);
    Some(if limit > 0.0 { limit } else { 1.0 })
}

/// Columns side by side.
struct Block {
    columns: Range<usize>,
    /// Area of the cells, including the gap after separated columns.
    area: Rect,
}

struct Layout {
    size: (f64, f64),
    blocks: Vec<Block>,
    /// Names of rows, in lines, and of columns.
    rows: Vec<Vec<String>>,
    columns: Vec<String>,
    are_upright: bool,
    /// Width of a column.
    cell: f64,
    apart: usize,
    note: Option<String>,
}

impl Layout {
    fn new(format: Format, kind: &Matrix, values: &Values, limit: f64) -> Layout {
        let count = values.columns.names.len();
        let width = format.width(false);
        let is_narrow = |width: f64| Layout::room(values, width).1 < count as f64 * LEAST;
        let width = if is_narrow(width) { format.width(true) } else { width };
        let (left, room) = Layout::room(values, width);
        let blocks = count.div_ceil(((room / LEAST) as usize).max(1));
        let beside = count.div_ceil(blocks);
        let cell = (room / beside as f64).min(WIDEST);
        let columns = short(&values.columns.names);
        let are_upright = widest(&columns) + GAP > cell;
        let columns: Vec<String> =
            columns.iter().map(|name| font::fit(name, LABEL, LONGEST)).collect();
        let rows = row_lines(values, width);
        let line = rows.iter().map(Vec::len).max().unwrap_or(1) as f64 * LABEL_LINE;
        let mut top = EDGE;
        let block = |number: usize| {
            let columns_of = number * beside..((number + 1) * beside).min(count);
            let names = &columns[columns_of.clone()];
            top += if are_upright { widest(names) } else { LABEL_LINE } + GAP;
            let apart = if number == 0 && values.apart > 0 { APART } else { 0.0 };
            let width = columns_of.len() as f64 * cell + apart;
            let area = Rect { left, top, width, height: line * rows.len() as f64 };
            top = area.bottom() + BETWEEN;
            Block { columns: columns_of, area }
        };
        let blocks: Vec<Block> = (0..blocks).map(block).collect();
        let note = note(values, kind, limit);
        let bar = BAR.1 + TICK + GAP + LABEL_LINE + TITLE_LINE;
        let height = top + bar + frame::note_height(note.as_deref(), width) + EDGE;
        let apart = values.apart;
        Layout { size: (width, height), blocks, rows, columns, are_upright, cell, apart, note }
    }

    /// Returns the left edge of the cells on a page of the given width, and the room for them.
    fn room(values: &Values, width: f64) -> (f64, f64) {
        let lines = row_lines(values, width);
        let left = EDGE + widest(&lines.concat()) + 2.0 * GAP;
        (left, width - left - APART - EDGE)
    }

    fn draw_block(
        &self,
        canvas: &mut Canvas,
        format: Format,
        kind: &Matrix,
        values: &Values,
        span: &Span,
        block: &Block,
    ) -> anyhow::Result<()> {
        let apart = block.columns.start..self.apart.clamp(block.columns.start, block.columns.end);
        let rest = apart.end..block.columns.end;
        for columns in [apart, rest].into_iter().filter(|columns| !columns.is_empty()) {
            let area = Rect {
                left: self.left_of(block, columns.start),
                width: columns.len() as f64 * self.cell,
                ..block.area
            };
            let is_picture = values.columns.names.len() * self.rows.len() > format.cells;
            let grid = Grid { area, columns: columns.len(), rows: self.rows.len(), is_picture };
            let part = Part { columns, grid, kind, values, span };
            part.draw(canvas)?;
        }
        self.draw_names(canvas, values, block);
        Ok(())
    }

    fn left_of(&self, block: &Block, column: usize) -> f64 {
        let is_behind = block.columns.start < self.apart && column >= self.apart;
        let gap = if is_behind { APART } else { 0.0 };
        block.area.left + (column - block.columns.start) as f64 * self.cell + gap
    }

    fn draw_names(&self, canvas: &mut Canvas, values: &Values, block: &Block) {
        let height = block.area.height / self.rows.len() as f64;
        for (number, lines) in self.rows.iter().enumerate() {
            let full = &values.rows.names[number];
            let is_short = lines.concat() != *full;
            let middle = block.area.top + (number as f64 + 0.5) * height;
            let first = middle - lines.len() as f64 * LABEL_LINE / 2.0;
            for (line, text) in lines.iter().enumerate() {
                let y = first + (line as f64 + 0.5) * LABEL_LINE;
                let text = Text::new(text, (block.area.left - 2.0 * GAP, y), Anchor::End);
                canvas.text(&text, is_short.then_some(&**full));
            }
        }
        for column in block.columns.clone() {
            let (name, full) = (&self.columns[column], &values.columns.names[column]);
            let x = self.left_of(block, column) + self.cell / 2.0;
            let text = match self.are_upright {
                true => Text::new(name, (x, block.area.top - GAP), Anchor::Start).turned(-90.0),
                false => {
                    let y = block.area.top - GAP - LABEL_LINE / 2.0;
                    Text::new(name, (x, y), Anchor::Middle)
                }
            };
            canvas.text(&text, (name != full).then_some(&**full));
        }
    }

    /// Draws the colour bar below the last block.
    fn draw_bar(&self, canvas: &mut Canvas, kind: &Matrix, span: &Span) {
        let Some(last) = self.blocks.last() else { return };
        let left = last.area.left.min(self.size.0 - EDGE - BAR.0 - LABEL);
        let top = last.area.bottom() + BETWEEN;
        let bar = Rect { left, top, width: BAR.0, height: BAR.1 };
        let width = bar.width / SHADES as f64;
        for number in 0..SHADES {
            let left = bar.left + number as f64 * width;
            let place = (number as f64 + 0.5) / SHADES as f64;
            let paint = Paint::fill(hex(Shades::Diverging.of(place)));
            canvas.rect(&grown(Rect { left, width, ..bar }), &paint, None);
        }
        canvas.rect(&bar, &Paint::fill("none").edged(INK, THIN), None);
        frame::x_axis(canvas, &kind.colours, span, &bar, self.size.0);
    }
}

/// Adjacent columns of a block.
struct Part<'a> {
    columns: Range<usize>,
    grid: Grid,
    kind: &'a Matrix,
    values: &'a Values,
    span: &'a Span,
}

impl Part<'_> {
    fn draw(&self, canvas: &mut Canvas) -> anyhow::Result<()> {
        let values = self.values();
        let colours = values.iter().map(|(&place, &value)| (place, self.shade(value))).collect();
        let tip = |place: (usize, usize)| {
            let (column, row) = (self.columns.start + place.0, place.1);
            let [column, row] = [&self.values.columns.names[column], &self.values.rows.names[row]];
            format!("{row}, {column}: {}{}", figure(values[&place]), self.kind.colours.suffix())
        };
        self.grid.draw(canvas, &colours, tip, &self.kind.colours.title())?;
        self.write(canvas, &values);
        canvas.rect(&self.grid.area, &Paint::fill("none").edged(INK, THIN), None);
        Ok(())
    }

    /// Returns the values by their places in the grid.
    fn values(&self) -> HashMap<(usize, usize), f64> {
        let of = self.values.of.iter();
        let is_here = |((column, _), _): &(&(usize, usize), &f64)| self.columns.contains(column);
        let place = |(&(column, row), &value): (&(usize, usize), &f64)| {
            ((column - self.columns.start, row), value)
        };
        of.filter(is_here).map(place).collect()
    }

    fn shade(&self, value: f64) -> Color {
        Shades::Diverging.of(self.span.place(value))
    }

    /// Writes the values into their cells, if all fit.
    fn write(&self, canvas: &mut Canvas, values: &HashMap<(usize, usize), f64>) {
        let mut texts: Vec<((usize, usize), f64, String)> =
            values.iter().map(|(&place, &value)| (place, value, written(value))).collect();
        texts.sort_by_key(|text| text.0);
        let width = self.grid.cell((0, 0)).width;
        if texts.iter().any(|text| font::width(&text.2, WRITTEN) + 1.0 > width) {
            return;
        }
        for (place, value, text) in &texts {
            let Rect { left, top, width, height } = self.grid.cell(*place);
            let at = (left + width / 2.0, top + height / 2.0);
            let text = Text::new(text, at, Anchor::Middle).size(WRITTEN);
            canvas.text(&text.coloured(ink_on(self.shade(*value))), None);
        }
    }
}

/// Formats a value for its cell, to tenths.
fn written(value: f64) -> String {
    let rounded = (10.0 * value).round() / 10.0 + 0.0;
    figure_of(rounded, if rounded.abs() < 100.0 { DIGITS + 1 } else { DIGITS })
}

fn short(names: &[String]) -> Vec<String> {
    label::short(names)
}

/// Returns the lines of the names of rows on a page of the given width.
fn row_lines(values: &Values, width: f64) -> Vec<Vec<String>> {
    short(&values.rows.names)
        .iter()
        .map(|name| font::wrap_name(name, LABEL, NAMES * width))
        .collect()
}

fn widest(texts: &[String]) -> f64 {
    texts.iter().map(|text| font::width(text, LABEL)).fold(0.0, f64::max)
}

/// Composes the note on missing values and on values beyond the colours.
fn note(values: &Values, kind: &Matrix, limit: f64) -> Option<String> {
    let all = values.of.len() + values.missing;
    let beyond = values.of.values().filter(|value| value.abs() > limit * 1.0001).count();
    let end = format!(
        "beyond the colours, which end at ± {}{}",
        figure_of(limit, 2),
        kind.colours.suffix()
    );
    let notes = [data::note_of(beyond, all, &end), data::note(values.missing, all, &[])];
    let notes: Vec<String> = notes.into_iter().flatten().collect();
    (!notes.is_empty()).then(|| notes.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_far_value_does_not_set_the_colours() {
        let mut values = vec![1.0; 40];
        assert_eq!(limit(values.iter().copied()), Some(1.0));
        values[3] = -30.0;
        assert_eq!(limit(values.iter().copied()), Some(1.0));
        assert_eq!(limit([2.0, -30.0].into_iter()), Some(2.0));
        assert_eq!(limit([0.0, 0.0].into_iter()), Some(1.0));
        assert_eq!(limit(std::iter::empty()), None);
    }

    #[test]
    fn values_are_written_to_tenths() {
        let texts = [0.04, -0.04, 1.26, -12.34, 123.4, 1234.5].map(written);
        assert_eq!(texts, ["0", "0", "1.3", "−12.3", "123", "1234"]);
    }
}
