//! Panels that share both axes.

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, Drawing, INK, Paint, Rect, THIN, Text};
use super::font::{self, LABEL, TITLE};
use super::frame::{self, EDGE, GAP, LABEL_LINE, TICK, TITLE_LINE};
use super::legend::{Legend, Sample};
use super::scale::Span;
use super::{Chart, Format, label};

/// Height of a single panel, and of one of several, in print.
const HEIGHT: f64 = 140.0;
const HEIGHT_OF_MANY: f64 = 84.0;
/// Largest height of a square panel.
const HIGHEST: f64 = 300.0;
/// Smallest width of panels, and largest number side by side.
const LEAST: f64 = 88.0;
const BESIDE: usize = 4;
/// Gap between panels.
const BETWEEN: f64 = 8.0;

/// Axes and data of the panels.
pub struct Panels<'a> {
    pub format: Format,
    /// Names above the panels; a single panel has none.
    pub names: &'a [String],
    pub axes: [&'a Axis; 2],
    pub spans: [&'a Span; 2],
    pub series: &'a [String],
    pub sample: Sample,
    /// Whether a single panel takes the width of a page.
    pub is_wide: bool,
    /// Whether a panel is as high as it is wide, if the page allows it.
    pub is_square: bool,
    pub note: Option<String>,
}

/// Positions of all parts.
pub struct Layout<'a> {
    panels: &'a Panels<'a>,
    size: (f64, f64),
    legend: Legend,
    plots: Vec<Rect>,
    beside: usize,
    /// Ticks of the horizontal axis whose labels fit.
    ticks: Vec<(f64, &'a str)>,
    names: Vec<String>,
}

impl<'a> Panels<'a> {
    pub fn layout(&'a self) -> Layout<'a> {
        let count = self.names.len().max(1);
        let format = self.format;
        let height = format.height(if count == 1 { HEIGHT } else { HEIGHT_OF_MANY });
        let width = format.width(count > 2 || self.is_wide);
        let left = EDGE + frame::y_axis_width(self.axes[1], self.spans[1], height);
        let label_ends = |tick: Option<&(f64, String)>| {
            tick.map_or(0.0, |tick| font::width(&tick.1, LABEL) / 2.0)
        };
        let ticks = &self.spans[0].ticks;
        let right = EDGE + label_ends(ticks.last());
        let between = BETWEEN.max(label_ends(ticks.first()) + label_ends(ticks.last()) + 2.0 * GAP);
        let room = width - left - right;
        let beside = (((room + between) / (LEAST + between)) as usize).clamp(1, BESIDE.min(count));
        // Avoids a single panel in the last row if fewer panels per row need no more rows.
        let rows = count.div_ceil(beside);
        let beside = count.div_ceil(rows);
        let panel = (room + between) / beside as f64 - between;
        let height = if self.is_square { panel.min(format.height(HIGHEST)) } else { height };
        let legend = Legend::new(self.series, self.sample, width - 2.0 * EDGE);
        let name = if self.is_named() { TITLE_LINE } else { LABEL / 2.0 };
        let step = name + height + BETWEEN;
        let plot = |number: usize| Rect {
            left: left + (number % beside) as f64 * (panel + between),
            top: EDGE + legend.height() + name + (number / beside) as f64 * step,
            width: panel,
            height,
        };
        let plots: Vec<Rect> = (0..count).map(plot).collect();
        let below =
            TICK + GAP + LABEL_LINE + TITLE_LINE + frame::note_height(self.note.as_deref(), width);
        let size = (width, EDGE + legend.height() + rows as f64 * step - BETWEEN + below + EDGE);
        let room = |label: &str| font::width(label, LABEL) + 2.0 * GAP;
        let ticks = self.spans[0].spaced(panel, room);
        Layout { panels: self, size, legend, plots, beside, ticks, names: label::short(self.names) }
    }

    fn is_named(&self) -> bool {
        self.names.len() > 1
    }
}

impl Layout<'_> {
    /// Makes a page with grid and legend, before its marks are drawn.
    pub fn canvas(&self, chart: &Chart) -> Canvas {
        let mut canvas = Canvas::new(chart, self.size, self.panels.series);
        self.legend.draw(&mut canvas, (EDGE, EDGE));
        for plot in &self.plots {
            frame::y_grid(&mut canvas, self.panels.spans[1], plot);
            for (tick, _) in &self.ticks {
                let x = frame::x_at(self.panels.spans[0], plot, *tick);
                let grid = Paint::stroke(super::canvas::GRID, THIN);
                canvas.line((x, plot.top), (x, plot.bottom()), &grid);
            }
        }
        canvas
    }

    pub fn plots(&self) -> &[Rect] {
        &self.plots
    }

    /// Returns the position of a point in a panel.
    pub fn place(&self, panel: usize, x: f64, y: f64) -> (f64, f64) {
        let plot = &self.plots[panel];
        let [across, up] = self.panels.spans;
        (frame::x_at(across, plot, x), frame::y_at(up, plot, y))
    }

    /// Draws axes and names over the marks.
    pub fn finish(&self, mut canvas: Canvas, reference: Option<f64>) -> anyhow::Result<Drawing> {
        let up = self.panels.spans[1];
        for (number, plot) in self.plots.iter().enumerate() {
            if let Some(reference) = reference {
                frame::reference(&mut canvas, up, plot, reference);
            }
            let ink = Paint::stroke(INK, THIN);
            canvas.line((plot.left, plot.bottom()), (plot.right(), plot.bottom()), &ink);
            if number.is_multiple_of(self.beside) {
                frame::y_ticks(&mut canvas, up, plot);
                frame::y_title(&mut canvas, self.panels.axes[1], EDGE, plot, plot.height);
            } else {
                canvas.line((plot.left, plot.top), (plot.left, plot.bottom()), &ink);
            }
            if self.panels.is_named() {
                self.name(&mut canvas, number);
            }
            // No panel follows below.
            self.x_ticks(&mut canvas, plot, number + self.beside >= self.plots.len());
        }
        self.x_title(&mut canvas);
        frame::note(&mut canvas, self.panels.note.as_deref(), self.size);
        canvas.finish()
    }

    fn name(&self, canvas: &mut Canvas, panel: usize) {
        let (plot, full) = (&self.plots[panel], &self.panels.names[panel]);
        let name = font::fit(&self.names[panel], LABEL, plot.width);
        let at = (plot.left, plot.top - TITLE_LINE / 2.0);
        canvas.text(&Text::new(&name, at, Anchor::Start), (name != *full).then_some(&**full));
    }

    fn x_ticks(&self, canvas: &mut Canvas, plot: &Rect, are_labelled: bool) {
        let ink = Paint::stroke(INK, THIN);
        let across = self.panels.spans[0];
        for (tick, label) in &self.ticks {
            let x = frame::x_at(across, plot, *tick);
            canvas.line((x, plot.bottom()), (x, plot.bottom() + TICK), &ink);
            if are_labelled {
                let at = (x, plot.bottom() + TICK + GAP + LABEL_LINE / 2.0);
                canvas.text(&Text::new(label, at, Anchor::Middle), None);
            }
        }
        for tick in &across.minor {
            let x = frame::x_at(across, plot, *tick);
            canvas.line((x, plot.bottom()), (x, plot.bottom() + TICK / 2.0), &ink);
        }
    }

    fn x_title(&self, canvas: &mut Canvas) {
        let (first, last) = (&self.plots[0], &self.plots[self.plots.len() - 1]);
        let beside = &self.plots[self.beside - 1];
        let whole = self.panels.axes[0].title();
        let title = font::fit(&whole, TITLE, self.size.0 - 2.0 * EDGE);
        let half = font::width(&title, TITLE) / 2.0;
        let middle = (first.left + beside.right()) / 2.0;
        let middle = middle.clamp(EDGE + half, self.size.0 - EDGE - half);
        let y = last.bottom() + TICK + GAP + LABEL_LINE + TITLE_LINE / 2.0;
        let text = Text::new(&title, (middle, y), Anchor::Middle).size(TITLE);
        canvas.text(&text, (title != whole).then_some(&*whole));
    }
}
