//! Groups of marks side by side, one group per category, wrapped into rows.

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, Drawing, GREY, INK, Paint, Rect, THIN, Text};
use super::font::{self, LABEL, TITLE};
use super::frame::{self, EDGE, GAP, LABEL_LINE, TICK, TITLE_LINE};
use super::legend::Legend;
use super::scale::Span;
use super::{Chart, Format, label};
use std::f64::consts::FRAC_1_SQRT_2;

/// Height of a row without its labels, in print.
const HEIGHT: f64 = 112.0;
/// Gap between rows.
const BETWEEN: f64 = 6.0;
/// Gap between groups, as a multiple of the mark width.
const APART: f64 = 1.0;
/// Gap before the separated categories, as a multiple of the group width.
const SET_APART: f64 = 0.35;
/// Largest width of a mark.
const WIDEST: f64 = 22.0;
/// Maximum width of rotated category names.
const LONGEST: f64 = 110.0;
/// Maximum width of mark names.
const LONGEST_SLOT: f64 = 110.0;
/// Smallest saving for which a name is truncated.
const ROUNDING: f64 = 0.5;
/// Distance between two rotated names.
const PITCH: f64 = 1.2 * LABEL;

/// Categories and axis of a chart of groups.
pub struct Groups<'a> {
    pub format: Format,
    /// Categories, abbreviated and in full; the last `set_apart` are separated from the others.
    pub categories: Vec<String>,
    pub full: &'a [String],
    pub set_apart: usize,
    /// Names of all marks.
    pub slots: &'a [String],
    /// Marks of each category, as indices into the names, drawn without gaps.
    pub marks: Vec<Vec<usize>>,
    /// Whether names are written below the marks.
    pub are_slots_named: bool,
    /// Smallest width of a mark; the chart takes a page and several rows if needed.
    pub least: f64,
    pub axis: &'a Axis,
    pub span: Span,
    pub legend: Legends<'a>,
    /// Headroom above the marks.
    pub headroom: f64,
    /// Title of the categories.
    pub title: Option<&'a str>,
    pub note: Option<String>,
}

/// Names above the chart.
pub struct Legends<'a> {
    pub names: &'a [String],
    pub sample: super::legend::Sample,
}

/// Positions of all parts.
pub struct Layout<'a> {
    groups: &'a Groups<'a>,
    size: (f64, f64),
    legend: Legend,
    rows: Vec<Rect>,
    /// Categories per row.
    per_row: usize,
    /// Width of a group including the gap around it.
    pitch: f64,
    /// Width of a mark.
    slot: f64,
    names: Names,
    slot_names: Vec<String>,
    slot_height: f64,
}

/// Names of categories as written.
struct Names {
    texts: Vec<String>,
    turn: f64,
    height: f64,
}

/// Position of a mark.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    pub row: usize,
    pub left: f64,
    pub width: f64,
}

impl Slot {
    pub fn middle(&self) -> f64 {
        self.left + self.width / 2.0
    }
}

impl<'a> Groups<'a> {
    pub fn layout(&'a self) -> Layout<'a> {
        let mut left = EDGE + self.left();
        let format = self.format;
        let width = format.width(self.rows(format.width(false) - left - EDGE) > 1);
        let rows = self.rows(width - left - EDGE);
        let per_row = self.categories.len().div_ceil(rows);
        let pitch = |left: f64| (width - left - EDGE) / self.units(per_row);
        // Names on the left narrow the groups, which moves them further left.
        for _ in 0..4 {
            left = left.max(self.overhang(pitch(left), per_row) + EDGE);
        }
        let pitch = pitch(left);
        let slot = (pitch / (self.most_marks() + APART)).min(WIDEST);
        let slot_names = self.slot_names();
        let slot_height = if slot_names.is_empty() { 0.0 } else { widest(&slot_names) + GAP };
        let names = self.names(pitch, per_row, left);
        let legend = Legend::new(self.legend.names, self.legend.sample, width - 2.0 * EDGE);
        let below = TICK + GAP + slot_height + names.height;
        let row_height = self.headroom + self.height() + below + BETWEEN;
        let first = EDGE + legend.height() + LABEL / 2.0 + self.headroom;
        let row = |row: usize| {
            let top = first + row as f64 * row_height;
            Rect { left, top, width: width - left - EDGE, height: self.height() }
        };
        let note = frame::note_height(self.note.as_deref(), width);
        let title = if self.title.is_some() { TITLE_LINE } else { 0.0 };
        let height =
            first - self.headroom + rows as f64 * row_height - BETWEEN + title + note + EDGE;
        let rows = (0..rows).map(row).collect();
        let size = (width, height);
        Layout {
            groups: self,
            size,
            legend,
            rows,
            per_row,
            pitch,
            slot,
            names,
            slot_names,
            slot_height,
        }
    }

    /// Returns the height of a row without its labels.
    fn height(&self) -> f64 {
        self.format.height(HEIGHT)
    }

    fn left(&self) -> f64 {
        frame::y_axis_width(self.axis, &self.span, self.height())
    }

    /// Returns the number of marks of the largest group.
    fn most_marks(&self) -> f64 {
        self.marks.iter().map(Vec::len).max().unwrap_or(0) as f64
    }

    /// Returns the number of groups per row, including the separation.
    fn units(&self, per_row: usize) -> f64 {
        per_row as f64 + if self.set_apart > 0 { SET_APART } else { 0.0 }
    }

    /// Returns the number of rows that gives marks and names enough room.
    fn rows(&self, room: f64) -> usize {
        let least = (self.most_marks() + APART) * self.least;
        let most = (room / least.max(PITCH) - SET_APART).floor().max(1.0) as usize;
        self.categories.len().div_ceil(most)
    }

    /// Returns the rotation of names: none if they fit, otherwise slanted, otherwise upright.
    fn turn(&self, pitch: f64) -> f64 {
        let fits = self.categories.iter().all(|name| font::width(name, LABEL) <= pitch - GAP);
        match pitch {
            _ if fits => 0.0,
            pitch if pitch >= PITCH / FRAC_1_SQRT_2 => -45.0,
            _ => -90.0,
        }
    }

    fn slot_names(&self) -> Vec<String> {
        let named = if self.are_slots_named { self.slots } else { &[] };
        label::short(named).iter().map(|name| font::fit(name, LABEL, LONGEST_SLOT)).collect()
    }

    /// Returns the space that rotated names need to the left of a row's first group.
    fn overhang(&self, pitch: f64, per_row: usize) -> f64 {
        if self.turn(pitch) != -45.0 {
            return 0.0;
        }
        let over = |(number, name): (usize, &String)| {
            let width = font::width(name, LABEL).min(LONGEST);
            FRAC_1_SQRT_2 * (width + LABEL) - ((number % per_row) as f64 + 0.5) * pitch + ROUNDING
        };
        self.categories.iter().enumerate().map(over).fold(0.0, f64::max)
    }

    fn names(&self, pitch: f64, per_row: usize, left: f64) -> Names {
        let turn = self.turn(pitch);
        let room = |number: usize| match turn {
            -45.0 => {
                let middle = left - EDGE + ((number % per_row) as f64 + 0.5) * pitch;
                (middle / FRAC_1_SQRT_2 - LABEL).min(LONGEST)
            }
            0.0 => pitch,
            _ => LONGEST,
        };
        let fit = |(number, name): (usize, &String)| font::fit(name, LABEL, room(number));
        let texts: Vec<String> = self.categories.iter().enumerate().map(fit).collect();
        let height = match turn {
            0.0 => LABEL_LINE,
            -45.0 => FRAC_1_SQRT_2 * (widest(&texts) + LABEL),
            _ => widest(&texts),
        };
        Names { texts, turn, height }
    }
}

fn widest(texts: &[String]) -> f64 {
    texts.iter().map(|text| font::width(text, LABEL)).fold(0.0, f64::max)
}

impl Layout<'_> {
    /// Makes a page with axes, names and legend, before its marks are drawn.
    pub fn canvas(&self, chart: &Chart) -> Canvas {
        let mut canvas = Canvas::with_fills(chart, self.size, self.groups.legend.names);
        self.legend.draw(&mut canvas, (EDGE, EDGE));
        for plot in &self.rows {
            frame::y_grid(&mut canvas, &self.groups.span, plot);
        }
        canvas
    }

    /// Returns the rows of the chart, from the top.
    pub fn plots(&self) -> &[Rect] {
        &self.rows
    }

    /// Returns the position of the mark number `slot` of a category.
    pub fn slot(&self, category: usize, slot: usize) -> Slot {
        let marks = &self.groups.marks[category];
        let place = marks.iter().position(|mark| *mark == slot).unwrap_or(0) as f64;
        let left = self.middle(category) + (place - marks.len() as f64 / 2.0) * self.slot;
        Slot { row: category / self.per_row, left, width: self.slot }
    }

    /// Returns the position of a value, from the top of the page.
    pub fn y(&self, row: usize, value: f64) -> f64 {
        frame::y_at(&self.groups.span, &self.rows[row], value)
    }

    /// Returns the position where bars begin.
    pub fn zero(&self, row: usize) -> f64 {
        self.y(row, self.groups.span.low.max(0.0))
    }

    /// Draws axes and names over the marks.
    pub fn finish(&self, mut canvas: Canvas, reference: Option<f64>) -> anyhow::Result<Drawing> {
        let span = &self.groups.span;
        for (row, plot) in self.rows.iter().enumerate() {
            if let Some(reference) = reference {
                frame::reference(&mut canvas, span, plot, reference);
            }
            frame::y_ticks(&mut canvas, span, plot);
            frame::y_title(&mut canvas, self.groups.axis, EDGE, plot, plot.height);
            let zero = self.zero(row);
            canvas.line((plot.left, zero), (plot.right(), zero), &Paint::stroke(INK, THIN));
        }
        for category in 0..self.groups.categories.len() {
            self.name(&mut canvas, category);
        }
        self.set_apart(&mut canvas);
        self.title(&mut canvas);
        frame::note(&mut canvas, self.groups.note.as_deref(), self.size);
        canvas.finish()
    }

    fn middle(&self, category: usize) -> f64 {
        let apart = self.groups.categories.len() - self.groups.set_apart;
        let shift = if category >= apart { SET_APART } else { 0.0 };
        let place = (category % self.per_row) as f64 + 0.5 + shift;
        self.rows[0].left + place * self.pitch
    }

    fn name(&self, canvas: &mut Canvas, category: usize) {
        let bottom = self.rows[category / self.per_row].bottom();
        let top = bottom + TICK + GAP;
        for &number in &self.groups.marks[category] {
            let Some(name) = self.slot_names.get(number) else { break };
            let full = &self.groups.slots[number];
            let at = (self.slot(category, number).middle(), top);
            let text = Text::new(name, at, Anchor::End).turned(-90.0);
            canvas.text(&text, (name != full).then_some(&**full));
        }
        let (name, full) = (&self.names.texts[category], &self.groups.full[category]);
        let (x, y) = (self.middle(category), top + self.slot_height);
        let (at, anchor) = match self.names.turn {
            0.0 => ((x, y + LABEL_LINE / 2.0), Anchor::Middle),
            -45.0 => ((x + LABEL / 4.0, y + LABEL / 4.0), Anchor::End),
            _ => ((x, y), Anchor::End),
        };
        let text = Text::new(name, at, anchor).turned(self.names.turn);
        canvas.text(&text, (name != full).then_some(&**full));
    }

    fn title(&self, canvas: &mut Canvas) {
        let Some(whole) = self.groups.title else { return };
        let plot = &self.rows[self.rows.len() - 1];
        let title = font::fit(whole, TITLE, plot.width);
        let below = TICK + GAP + self.slot_height + self.names.height + TITLE_LINE / 2.0;
        let at = (plot.left + plot.width / 2.0, plot.bottom() + below);
        let text = Text::new(&title, at, Anchor::Middle).size(TITLE);
        canvas.text(&text, (title != whole).then_some(whole));
    }

    /// Draws a line before the separated categories.
    fn set_apart(&self, canvas: &mut Canvas) {
        let first = self.groups.categories.len() - self.groups.set_apart;
        if self.groups.set_apart == 0 || first == 0 || first.is_multiple_of(self.per_row) {
            return;
        }
        let plot = &self.rows[first / self.per_row];
        let x = self.middle(first) - (1.0 + SET_APART) / 2.0 * self.pitch;
        canvas.line(
            (x, plot.top),
            (x, plot.bottom()),
            &Paint::stroke(GREY, THIN).dashed("1.5 1.5"),
        );
    }
}
