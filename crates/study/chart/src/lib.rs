//! Charts of dataframes, as SVG, PDF, PNG and CSV.
//!
//! A chart is drawn as SVG: text as text, a tooltip for each mark, sized in points for a column of
//! print or in another [`Format`]. PDF and PNG are made from the SVG for print; the PDF embeds its font. Data are in long
//! form, one row per mark; a [`Kind`] names the columns. Nothing is distinguished by colour alone:
//! bars are hatched, lines dashed, points shaped. Values that are null or not finite are omitted,
//! and a note under the chart states their number.

mod axis;
mod bars;
mod boxes;
mod canvas;
mod cells;
mod data;
mod dots;
mod file;
mod font;
mod format;
mod frame;
mod groups;
mod heat_map;
mod kinds;
mod label;
mod legend;
mod lines;
mod look;
mod marks;
mod matrix;
mod names;
mod panels;
mod pdf;
mod png;
mod scale;
mod scatter;
mod sheet;
mod stacked;
mod style;

pub use axis::Axis;
pub use canvas::Drawing;
pub use dots::Dots;
pub use file::{is_drawing, is_pdf, is_png, save};
pub use font::lacking;
pub use format::Format;
pub use kinds::{Bars, Boxes, HeatMap, Kind, Lines, Mark, Scatter, StackedBars, Tails};
pub use look::{COLOUR_COUNT, Look, Looks};
pub use matrix::Matrix;
pub use sheet::Sheet;
pub use style::{Font, Style};

use anyhow::Context;
use std::path::Path;
use std::sync::Arc;
use warpmem_analysis::polars::prelude::DataFrame;
use warpmem_analysis::write_csv;

/// Data and the way to draw them.
#[derive(Clone, Debug)]
pub struct Chart {
    /// Stem of the file names. The ids in the SVG begin with it, so that charts with different
    /// names can share a document.
    pub name: String,
    /// Title, not drawn, because figures in print have captions.
    pub title: String,
    /// Content and method of the chart; not drawn.
    pub caption: String,
    /// One row per mark.
    pub data: DataFrame,
    pub kind: Kind,
    /// Appearance, which charts of a document share.
    pub style: Arc<Style>,
    format: Format,
}

impl Chart {
    /// Makes a chart as wide as a column of print if everything fits, otherwise as wide as a page.
    pub fn new(
        name: impl Into<String>,
        title: impl Into<String>,
        caption: impl Into<String>,
        data: DataFrame,
        kind: impl Into<Kind>,
    ) -> Chart {
        let (name, title, caption) = (name.into(), title.into(), caption.into());
        Chart {
            name,
            title,
            caption,
            data,
            kind: kind.into(),
            style: Arc::default(),
            format: Format::PRINT,
        }
    }

    /// Returns the chart as an SVG document that can also be embedded in HTML. Equal charts give
    /// equal text.
    ///
    /// # Errors
    /// If the data lack a column that the kind names, or if a column of values is not numeric.
    pub fn svg(&self) -> anyhow::Result<String> {
        Ok(self.drawn_in(self.style.print())?.svg)
    }

    /// Draws the chart in another format than print.
    ///
    /// # Errors
    /// As [`svg`](Self::svg).
    pub fn drawn_in(&self, format: Format) -> anyhow::Result<Drawing> {
        Chart { format, ..self.clone() }.drawing()
    }

    fn drawing(&self) -> anyhow::Result<Drawing> {
        let drawing = match &self.kind {
            Kind::Bars(kind) => bars::draw(self, kind),
            Kind::StackedBars(kind) => stacked::draw(self, kind),
            Kind::Boxes(kind) => boxes::draw(self, kind),
            Kind::Tails(kind) => lines::draw(self, &kind.0),
            Kind::Scatter(kind) => scatter::draw(self, kind),
            Kind::Lines(kind) => lines::draw(self, kind),
            Kind::HeatMap(kind) => heat_map::draw(self, kind),
            Kind::Dots(kind) => dots::draw(self, kind),
            Kind::Matrix(kind) => matrix::draw(self, kind),
        };
        drawing.with_context(|| format!("failed to draw `{}`", self.name))
    }

    /// Writes the data.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn csv(&self, path: &Path) -> anyhow::Result<()> {
        Ok(write_csv(&self.data, path)?)
    }

    /// Writes `NAME.svg`, `NAME.pdf`, `NAME.png` and `NAME.csv` into `folder`. A file appears under its name
    /// only once complete. Returns the text of the SVG, which a document may embed.
    ///
    /// # Errors
    /// As [`svg`](Self::svg), or if a file cannot be written.
    pub fn write_all(&self, folder: &Path) -> anyhow::Result<String> {
        let path = |ending: &str| folder.join(format!("{}.{ending}", self.name));
        let svg = self.svg()?;
        let fonts = self.style.fonts();
        for ending in file::ENDINGS {
            file::save_with(&path(ending), &svg, &fonts)?;
        }
        self.csv(&path("csv"))?;
        Ok(svg)
    }
}

#[cfg(test)]
mod tests;
