//! Several charts on one page, each below its title.

use super::canvas::{Anchor, Canvas, Drawing, Text};
use super::font::{self, LINE};
use super::frame::EDGE;
use super::{Chart, Format};

/// Text heights of titles: of the page and of a chart.
const HEADING: f64 = 10.0;
const TITLE: f64 = 8.5;
/// Vertical distance between charts.
const BETWEEN: f64 = 8.0;

/// Charts in reading order, wrapped into rows.
#[derive(Clone, Debug)]
pub struct Sheet {
    pub name: String,
    /// Title of the page.
    pub title: String,
    pub charts: Vec<Chart>,
}

/// A chart and its position.
struct Placed<'a> {
    chart: &'a Chart,
    drawing: Drawing,
    at: (f64, f64),
}

impl Sheet {
    /// Draws the page as an SVG document.
    ///
    /// # Errors
    /// If one of the charts cannot be drawn.
    pub fn svg(&self) -> anyhow::Result<String> {
        let (placed, bottom) = self.placed()?;
        let page = Format::PRINT.width(true);
        let mut canvas = Canvas::page(Format::PRINT, [&self.name, &self.title, ""], (page, bottom));
        let title = font::fit(&self.title, HEADING, page - 2.0 * EDGE);
        let at = (page / 2.0, EDGE + LINE * HEADING / 2.0);
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

    /// Lays out every chart, and returns the end of the last row.
    fn placed(&self) -> anyhow::Result<(Vec<Placed<'_>>, f64)> {
        let mut placed: Vec<Placed> = Vec::new();
        let page = Format::PRINT.width(true);
        let (mut taken, mut top) = (0.0, LINE * HEADING + BETWEEN);
        let mut bottom = top;
        for chart in &self.charts {
            let drawing = chart.drawing()?;
            let (width, height) = drawing.size;
            if taken + width > page {
                (taken, top) = (0.0, bottom + BETWEEN);
            }
            // A second chart in a row is aligned with the right edge of the page.
            let left = if taken > 0.0 { page - width } else { 0.0 };
            taken += width;
            bottom = bottom.max(top + LINE * TITLE + height);
            placed.push(Placed { chart, drawing, at: (left, top) });
        }
        Ok((placed, bottom))
    }
}
