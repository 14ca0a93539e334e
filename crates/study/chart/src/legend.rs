//! Names of series above a chart.

use super::canvas::{Anchor, Canvas, INK, Paint, Rect, THICK, THIN, Text};
use super::font::{self, LABEL, LINE};
use super::{label, marks};

/// Sample drawn before a series' name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    Bar,
    Line,
    /// A line with many points, drawn without dashes.
    LongLine,
    Point,
}

/// Gap between a sample and its name, and after the name.
const GAP: f64 = 3.0;
const BEHIND: f64 = 9.0;
/// Gap below the names.
const BELOW: f64 = 3.0;

impl Sample {
    fn width(self) -> f64 {
        match self {
            Sample::Bar => 12.0,
            // Long enough for a dash to be visible on both sides of the point.
            Sample::Line | Sample::LongLine => 22.0,
            Sample::Point => 5.0,
        }
    }
}

/// Names in lines as wide as the chart.
pub struct Legend {
    sample: Sample,
    entries: Vec<Entry>,
    lines: usize,
}

struct Entry {
    text: String,
    full: String,
    left: f64,
    line: usize,
}

impl Legend {
    /// Lays out the names of series numbered from 0; empty for fewer than two.
    pub fn new(names: &[String], sample: Sample, width: f64) -> Legend {
        let mut legend = Legend { sample, entries: Vec::new(), lines: 0 };
        if names.len() < 2 {
            return legend;
        }
        let mut left = 0.0;
        for (full, short) in names.iter().zip(label::short(names)) {
            let before = sample.width() + GAP;
            let text = font::fit(&short, LABEL, width - before);
            let right = left + before + font::width(&text, LABEL);
            let is_new = legend.lines == 0 || right > width;
            if is_new {
                legend.lines += 1;
                left = 0.0;
            }
            let line = legend.lines - 1;
            let behind = left + before + font::width(&text, LABEL) + BEHIND;
            legend.entries.push(Entry { text, full: full.clone(), left, line });
            left = behind;
        }
        legend
    }

    pub fn height(&self) -> f64 {
        if self.lines == 0 { 0.0 } else { self.lines as f64 * LINE * LABEL + BELOW }
    }

    /// Draws the legend with its top left corner at this point.
    pub fn draw(&self, canvas: &mut Canvas, (x, y): (f64, f64)) {
        for (number, entry) in self.entries.iter().enumerate() {
            let middle = y + (entry.line as f64 + 0.5) * LINE * LABEL;
            let left = x + entry.left;
            self.sample(canvas, number, (left, middle));
            let text =
                Text::new(&entry.text, (left + self.sample.width() + GAP, middle), Anchor::Start);
            canvas.text(&text, (entry.text != entry.full).then_some(&*entry.full));
        }
    }

    fn sample(&self, canvas: &mut Canvas, number: usize, (left, middle): (f64, f64)) {
        let width = self.sample.width();
        let centre = (left + width / 2.0, middle);
        match self.sample {
            Sample::Bar => {
                let swatch = Rect { left, top: middle - 3.0, width, height: 6.0 };
                let paint = canvas.fill_of(number).edged(INK, THIN / 2.0);
                canvas.rect(&swatch, &paint, None);
            }
            Sample::Line | Sample::LongLine => {
                let look = canvas.look(number);
                let dash = if self.sample == Sample::Line { look.dash() } else { "" };
                let line = Paint::stroke(look.colour(), THICK).dashed(dash);
                canvas.line((left, middle), (left + width, middle), &line);
                marks::point(canvas, centre, number, None);
            }
            Sample::Point => marks::point(canvas, centre, number, None),
        }
    }
}
