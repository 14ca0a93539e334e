//! Several charts on one page, each below its title.

use super::Chart;
use super::canvas::{Anchor, Canvas, Drawing, Text};
use super::font::{self, LINE};
use super::frame::{EDGE, PAGE};

/// Heights of titles: of the page and of a chart.
const HEADING: f64 = 10.0;
const TITLE: f64 = 8.5;
/// Room between charts, one below the other.
const BETWEEN: f64 = 8.0;

/// Charts side by side in the order of reading, as many in a row as there is room for.
#[derive(Clone, Debug)]
pub struct Sheet {
    pub name: String,
    /// What stands above all.
    pub title: String,
    pub charts: Vec<Chart>,
}

/// A chart, and where it stands.
struct Placed<'a> {
    chart: &'a Chart,
    drawing: Drawing,
    at: (f64, f64),
}

impl Sheet {
    /// The page as an SVG document.
    ///
    /// # Errors
    /// If one of the charts cannot be drawn.
    pub fn svg(&self) -> anyhow::Result<String> {
        let (placed, bottom) = self.placed()?;
        let mut canvas = Canvas::page([&self.name, &self.title, ""], (PAGE, bottom));
        let title = font::fit(&self.title, HEADING, PAGE - 2.0 * EDGE);
        let at = (PAGE / 2.0, EDGE + LINE * HEADING / 2.0);
        canvas.text(&Text::new(&title, at, Anchor::Middle).size(HEADING), Some(&self.title));
        for Placed { chart, drawing, at: (left, top) } in &placed {
            let (width, title) = (drawing.size.0, &chart.title);
            let text = font::fit(title, TITLE, width);
            let at = (left + width / 2.0, top + LINE * TITLE / 2.0);
            canvas.text(&Text::new(&text, at, Anchor::Middle).size(TITLE), Some(title));
            canvas.embed(drawing, (*left, top + LINE * TITLE));
        }
        Ok(canvas.finish()?.svg)
    }

    /// Every chart with its place, and where the last row ends.
    fn placed(&self) -> anyhow::Result<(Vec<Placed<'_>>, f64)> {
        let mut placed: Vec<Placed> = Vec::new();
        let (mut taken, mut top) = (0.0, LINE * HEADING + BETWEEN);
        let mut bottom = top;
        for chart in &self.charts {
            let drawing = chart.drawing()?;
            let (width, height) = drawing.size;
            if taken + width > PAGE {
                (taken, top) = (0.0, bottom + BETWEEN);
            }
            // What stands beside another ends with the page.
            let left = if taken > 0.0 { PAGE - width } else { 0.0 };
            taken += width;
            bottom = bottom.max(top + LINE * TITLE + height);
            placed.push(Placed { chart, drawing, at: (left, top) });
        }
        Ok((placed, bottom))
    }
}
