//! Heat maps.

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, Drawing, INK, Paint, Rect, THIN, Text};
use super::cells::{Grid, Shades, grown, hex, ink_on};
use super::data::{self, Keys};
use super::font::{self, LABEL, TITLE};
use super::frame::{self, EDGE, GAP, LABEL_LINE, TICK, TITLE_LINE};
use super::kinds::HeatMap;
use super::scale::{Ends, Span, figure};
use super::{Chart, Format, label};
use anyhow::bail;
use colorous::Color;
use std::collections::{BTreeMap, HashMap};

const TICKS: usize = 5;
/// Smallest width and range of heights of a map; cells are square if possible.
const LEAST: f64 = 84.0;
const HEIGHTS: (f64, f64) = (44.0, 130.0);
const BESIDE: usize = 5;
/// Columns of cells above which a map takes a page.
const MANY: usize = 48;
/// Gap between maps, and before the colour bar.
const BETWEEN: f64 = 8.0;
const BEFORE_BAR: f64 = 8.0;
/// Width of the colour bar, and the number of its colours.
const BAR: f64 = 7.0;
const SHADES: usize = 64;
/// Largest number of cells of a map with values written in them.
const WRITTEN: usize = 64;
/// Maximum width of names along the axes.
const LONGEST: f64 = 90.0;
/// Factor by which maps may have fewer cells with tooltips than a format allows.
const PICTURED: usize = 2;
/// Diameter of a point, and the size of its number.
const MARK: f64 = 6.4;
const MARK_TEXT: f64 = 4.2;

/// Columns, rows and maps, and the value of each cell.
struct Cells {
    columns: Keys,
    rows: Keys,
    maps: Keys,
    values: BTreeMap<(usize, usize, usize), f64>,
    missing: usize,
}

pub fn draw(chart: &Chart, kind: &HeatMap) -> anyhow::Result<Drawing> {
    let cells = Cells::of(chart, kind)?;
    let span = Span::fit(kind.colours.scale, Ends::Tight, cells.values.values().copied(), TICKS);
    let Some(span) = span else { return frame::nothing(chart) };
    let layout = Layout::new(chart.format, kind, &cells, &span);
    let mut canvas = Canvas::new(chart, layout.size, &[]);
    for map in 0..cells.maps.names.len() {
        layout.draw_map(&mut canvas, chart.format, kind, &cells, &span, map)?;
    }
    layout.draw_marks(&mut canvas, kind, &cells);
    layout.draw_bar(&mut canvas, &kind.colours, &span);
    layout.draw_titles(&mut canvas, kind);
    frame::note(&mut canvas, layout.note.as_deref(), layout.size);
    canvas.finish()
}

impl Cells {
    fn of(chart: &Chart, kind: &HeatMap) -> anyhow::Result<Cells> {
        let columns = Keys::sorted(&chart.data, &kind.x)?;
        let rows = Keys::sorted(&chart.data, &kind.y)?;
        let maps = Keys::of_any(&chart.data, kind.panel.as_deref())?;
        let read = data::values(&chart.data, &kind.value, &kind.colours)?;
        let mut values = BTreeMap::new();
        for (row, value) in read.iter().enumerate() {
            let Some(value) = *value else { continue };
            let cell = (maps.of[row], columns.of[row], rows.of[row]);
            if values.insert(cell, value).is_some() {
                bail!(
                    "there are several values for {} `{}` and {} `{}`",
                    kind.x,
                    columns.names[cell.1],
                    kind.y,
                    rows.names[cell.2]
                );
            }
        }
        let missing = read.len() - values.len();
        Ok(Cells { columns, rows, maps, values, missing })
    }
}

/// Names along an axis; only every n-th is written.
struct Names {
    texts: Vec<String>,
    every: usize,
    is_upright: bool,
}

struct Layout {
    size: (f64, f64),
    maps: Vec<Rect>,
    beside: usize,
    columns: Names,
    rows: Names,
    bar: Rect,
    names: Vec<String>,
    note: Option<String>,
}

impl Layout {
    fn new(format: Format, kind: &HeatMap, cells: &Cells, span: &Span) -> Layout {
        let count = cells.maps.names.len();
        let across = cells.columns.names.len();
        let width = format.width(count > 2 || across > MANY);
        let fit = |names: &[String]| -> Vec<String> {
            label::short(names).iter().map(|name| font::fit(name, LABEL, LONGEST)).collect()
        };
        let (columns, rows) = (fit(&cells.columns.names), fit(&cells.rows.names));
        let title = frame::title_lines(&kind.y_axis, HEIGHTS.0).len() as f64 * TITLE_LINE;
        let left = EDGE + title + GAP + widest(&rows) + GAP + TICK;
        let labels: Vec<String> = span.ticks.iter().map(|tick| tick.1.clone()).collect();
        let behind = BEFORE_BAR + BAR + TICK + GAP + widest(&labels) + GAP + TITLE_LINE;
        let room = width - left - behind - EDGE;
        let beside = (((room + BETWEEN) / (LEAST + BETWEEN)) as usize).clamp(1, BESIDE.min(count));
        let lines = count.div_ceil(beside);
        let beside = count.div_ceil(lines);
        let map = (room + BETWEEN) / beside as f64 - BETWEEN;
        let up = cells.rows.names.len() as f64;
        let height = (map / across as f64 * up).clamp(HEIGHTS.0, format.height(HEIGHTS.1));
        let name = if count > 1 { TITLE_LINE } else { LABEL / 2.0 };
        let step = name + height + BETWEEN;
        let maps: Vec<Rect> = (0..count)
            .map(|number| Rect {
                left: left + (number % beside) as f64 * (map + BETWEEN),
                top: EDGE + name + (number / beside) as f64 * step,
                width: map,
                height,
            })
            .collect();
        let columns = Names::across(columns, map / across as f64);
        let rows = Names {
            texts: rows,
            every: (LABEL_LINE * up / height).ceil().max(1.0) as usize,
            is_upright: false,
        };
        let lacking = cells.missing;
        let note = data::note(lacking, lacking + cells.values.len(), &[&kind.colours]);
        let bottom = EDGE + lines as f64 * step - BETWEEN;
        let bar = Rect {
            left: width - EDGE - behind + BEFORE_BAR,
            top: EDGE + name,
            width: BAR,
            height: (bottom - EDGE - name).min(format.height(HEIGHTS.1)),
        };
        let below =
            TICK + GAP + columns.height() + TITLE_LINE + frame::note_height(note.as_deref(), width);
        Layout {
            size: (width, bottom + below + EDGE),
            maps,
            beside,
            columns,
            rows,
            bar,
            names: label::short(&cells.maps.names),
            note,
        }
    }

    fn draw_map(
        &self,
        canvas: &mut Canvas,
        format: Format,
        kind: &HeatMap,
        cells: &Cells,
        span: &Span,
        map: usize,
    ) -> anyhow::Result<()> {
        let (columns, rows) = (cells.columns.names.len(), cells.rows.names.len());
        let is_picture = PICTURED * cells.values.len() > format.cells;
        let grid = Grid { area: self.maps[map], columns, rows, is_picture };
        // Rows count from the bottom.
        let values: HashMap<(usize, usize), f64> = cells
            .values
            .range((map, 0, 0)..(map + 1, 0, 0))
            .map(|(&(_, column, row), &value)| ((column, rows - 1 - row), value))
            .collect();
        let shade = |value: f64| Shades::Rising.of(span.place(value));
        let colours = values.iter().map(|(&place, &value)| (place, shade(value))).collect();
        let tip = |(column, row): (usize, usize)| {
            format!(
                "{} {}, {} {}: {}{}",
                kind.x_axis.label,
                cells.columns.names[column],
                kind.y_axis.label,
                cells.rows.names[rows - 1 - row],
                figure(values[&(column, row)]),
                kind.colours.suffix()
            )
        };
        grid.draw(canvas, &colours, tip, &range_of(&values, &kind.colours))?;
        if columns * rows <= WRITTEN {
            write_values(canvas, &grid, kind, &values, shade);
        }
        canvas.rect(&grid.area, &Paint::fill("none").edged(INK, THIN), None);
        self.draw_names(canvas, cells, map);
        Ok(())
    }

    fn draw_names(&self, canvas: &mut Canvas, cells: &Cells, map: usize) {
        let area = &self.maps[map];
        if cells.maps.names.len() > 1 {
            let full = &cells.maps.names[map];
            let name = font::fit(&self.names[map], LABEL, area.width);
            let at = (area.left, area.top - TITLE_LINE / 2.0);
            canvas.text(&Text::new(&name, at, Anchor::Start), (name != *full).then_some(&**full));
        }
        let ink = Paint::stroke(INK, THIN);
        if map.is_multiple_of(self.beside) {
            let step = area.height / self.rows.texts.len() as f64;
            for (row, name) in self.rows.written() {
                let y = area.bottom() - (row as f64 + 0.5) * step;
                canvas.line((area.left - TICK, y), (area.left, y), &ink);
                canvas.text(
                    &Text::new(name, (area.left - TICK - GAP, y), Anchor::End),
                    tip(name, &cells.rows.names[row]),
                );
            }
        }
        let step = area.width / self.columns.texts.len() as f64;
        let is_last = map + self.beside >= self.maps.len();
        for (column, name) in self.columns.written() {
            let x = area.left + (column as f64 + 0.5) * step;
            canvas.line((x, area.bottom()), (x, area.bottom() + TICK), &ink);
            let top = area.bottom() + TICK + GAP;
            let text = match self.columns.is_upright {
                true => Text::new(name, (x, top), Anchor::End).turned(-90.0),
                false => Text::new(name, (x, top + LABEL_LINE / 2.0), Anchor::Middle),
            };
            if is_last {
                canvas.text(&text, tip(name, &cells.columns.names[column]));
            }
        }
    }

    /// Draws the points of the first map; overlapping points are moved up.
    fn draw_marks(&self, canvas: &mut Canvas, kind: &HeatMap, cells: &Cells) {
        let area = &self.maps[0];
        let width = area.width / cells.columns.names.len() as f64;
        let height = area.height / cells.rows.names.len() as f64;
        let mut drawn: Vec<(f64, f64)> = Vec::new();
        for (number, mark) in kind.marks.iter().enumerate() {
            let x = area.left + (mark.at.0 + 0.5) * width;
            let mut y = area.bottom() - (mark.at.1 + 0.5) * height;
            let hides = |y: f64, other: &(f64, f64)| {
                (x - other.0).abs() < MARK && (y - other.1).abs() < MARK
            };
            while y > area.top + MARK && drawn.iter().any(|other| hides(y, other)) {
                y -= MARK / 2.0;
            }
            drawn.push((x, y));
            let disc = Paint::fill("#ffffff").edged(INK, THIN);
            canvas.circle((x, y), MARK / 2.0, &disc, Some(&mark.label));
            let number = (number + 1).to_string();
            canvas.text(&Text::new(&number, (x, y), Anchor::Middle).size(MARK_TEXT), None);
        }
    }

    /// Draws the colour bar.
    fn draw_bar(&self, canvas: &mut Canvas, axis: &Axis, span: &Span) {
        let bar = &self.bar;
        let height = bar.height / SHADES as f64;
        for number in 0..SHADES {
            let top = bar.bottom() - (number + 1) as f64 * height;
            let rect = Rect { left: bar.left, top, width: bar.width, height };
            let place = (number as f64 + 0.5) / SHADES as f64;
            canvas.rect(&grown(rect), &Paint::fill(hex(Shades::Rising.of(place))), None);
        }
        canvas.rect(bar, &Paint::fill("none").edged(INK, THIN), None);
        for (tick, label) in span.spaced(bar.height, |_| LABEL) {
            let y = frame::y_at(span, bar, tick);
            canvas.line((bar.right(), y), (bar.right() + TICK, y), &Paint::stroke(INK, THIN));
            canvas.text(&Text::new(label, (bar.right() + TICK + GAP, y), Anchor::Start), None);
        }
        // A title may be longer than the bar, but must not extend below the maps.
        let end = self.maps[self.maps.len() - 1].bottom();
        let title = font::fit(&axis.title(), TITLE, end - EDGE);
        let half = font::width(&title, TITLE) / 2.0;
        let middle = (bar.top + bar.height / 2.0).min(end - half).max(EDGE + half);
        let at = (self.size.0 - EDGE - TITLE_LINE / 2.0, middle);
        canvas.text(&Text::new(&title, at, Anchor::Middle).size(TITLE).turned(-90.0), None);
    }

    fn draw_titles(&self, canvas: &mut Canvas, kind: &HeatMap) {
        for area in self.maps.iter().step_by(self.beside) {
            frame::y_title(canvas, &kind.y_axis, EDGE, area, area.height);
        }
        let (first, last) = (&self.maps[0], &self.maps[self.maps.len() - 1]);
        let middle = (first.left + self.maps[self.beside - 1].right()) / 2.0;
        let y = last.bottom() + TICK + GAP + self.columns.height() + TITLE_LINE / 2.0;
        let room = 2.0 * (middle.min(self.size.0 - middle) - EDGE);
        let title = font::fit(&kind.x_axis.title(), TITLE, room);
        canvas.text(&Text::new(&title, (middle, y), Anchor::Middle).size(TITLE), None);
    }
}

impl Names {
    /// Names along the horizontal axis below cells of the given width: horizontal, every n-th;
    /// upright if not all are numbers and they fit upright.
    fn across(texts: Vec<String>, cell: f64) -> Names {
        let every = ((widest(&texts) + 2.0 * GAP) / cell).ceil().max(1.0) as usize;
        let are_numbers = texts.iter().all(|text| text.parse::<f64>().is_ok());
        let is_upright = !are_numbers && every > 1;
        let every = if is_upright { (LABEL_LINE / cell).ceil() as usize } else { every };
        Names { texts, every, is_upright }
    }

    fn height(&self) -> f64 {
        if self.is_upright { widest(&self.texts) } else { LABEL_LINE }
    }

    fn written(&self) -> impl Iterator<Item = (usize, &str)> {
        self.texts.iter().map(String::as_str).enumerate().step_by(self.every)
    }
}

fn tip<'a>(name: &str, full: &'a str) -> Option<&'a str> {
    (name != full).then_some(full)
}

fn widest(texts: &[String]) -> f64 {
    texts.iter().map(|text| font::width(text, LABEL)).fold(0.0, f64::max)
}

/// Writes the values into their cells, if all fit.
fn write_values(
    canvas: &mut Canvas,
    grid: &Grid,
    kind: &HeatMap,
    values: &HashMap<(usize, usize), f64>,
    shade: impl Fn(f64) -> Color,
) {
    let mut labels: Vec<_> =
        values.iter().map(|(place, value)| (*place, *value, figure(*value))).collect();
    labels.sort_by_key(|label| label.0);
    let Rect { width, height, .. } = grid.cell((0, 0));
    let widest = labels.iter().map(|label| font::width(&label.2, LABEL)).fold(0.0, f64::max);
    if widest + GAP > width || LABEL_LINE > height {
        return;
    }
    for (place, value, label) in &labels {
        let Rect { left, top, .. } = grid.cell(*place);
        // With marks, the middle of a cell stays free for them.
        let (at, anchor) = match kind.marks.is_empty() {
            true => ((left + width / 2.0, top + height / 2.0), Anchor::Middle),
            false => ((left + GAP, top + LABEL_LINE / 2.0 + GAP), Anchor::Start),
        };
        let colour = ink_on(shade(*value));
        canvas.text(&Text::new(label, at, anchor).coloured(colour), None);
    }
}

/// Describes a whole map: `requests, 12 to 40 %`.
fn range_of(values: &HashMap<(usize, usize), f64>, axis: &Axis) -> String {
    let ends = values.values().map(|&value| (value, value));
    let ends = ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    ends.map_or_else(String::new, |(low, high)| {
        format!("{}, {} to {}{}", axis.label, figure(low), figure(high), axis.suffix())
    })
}
