//! Coloured cells of a grid, as shapes with tooltips or, if there are many, as a picture.

use super::canvas::{Canvas, Paint, Rect};
use anyhow::Context;
use colorous::{Color, RED_BLUE, VIRIDIS};
use std::collections::HashMap;

/// The colour of cells without a value.
const NONE: Color = Color { r: 0xe4, g: 0xe4, b: 0xe4 };
/// Overlap of neighbouring cells, points.
const GROWN: f64 = 0.12;
/// Fraction of the diverging colours in use; their ends are nearly black.
const USED: f64 = 0.86;

/// Cells in `area`, all of one size; places count from the top left.
pub struct Grid {
    pub area: Rect,
    pub columns: usize,
    pub rows: usize,
    /// Whether the cells are a picture, without tooltips.
    pub is_picture: bool,
}

/// Colour of a cell by its value's position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shades {
    /// From dark for 0 to light for 1, in steps that look even with any colour vision and in grey.
    Rising,
    /// From red for 0 through white to blue for 1.
    Diverging,
}

impl Shades {
    pub fn of(self, place: f64) -> Color {
        match self {
            Shades::Rising => VIRIDIS.eval_continuous(place),
            Shades::Diverging => RED_BLUE.eval_continuous(0.5 + USED * (place - 0.5)),
        }
    }
}

/// Formats a colour for an SVG.
pub fn hex(colour: Color) -> String {
    format!("#{colour:x}")
}

/// Returns the colour of text that is legible on `colour`.
pub fn ink_on(colour: Color) -> &'static str {
    let [red, green, blue] = [colour.r, colour.g, colour.b].map(f64::from);
    if 0.299 * red + 0.587 * green + 0.114 * blue < 140.0 { "#ffffff" } else { "#000000" }
}

impl Grid {
    pub fn cell(&self, (column, row): (usize, usize)) -> Rect {
        let width = self.area.width / self.columns as f64;
        let height = self.area.height / self.rows as f64;
        let left = self.area.left + column as f64 * width;
        Rect { left, top: self.area.top + row as f64 * height, width, height }
    }

    /// Draws the cells at these places; other cells are grey. `tip` describes the cell at a place,
    /// `all` the whole grid.
    pub fn draw(
        &self,
        canvas: &mut Canvas,
        colours: &HashMap<(usize, usize), Color>,
        tip: impl Fn((usize, usize)) -> String,
        all: &str,
    ) -> anyhow::Result<()> {
        if self.is_picture {
            canvas.image(&self.area, &self.picture(colours)?, all);
            return Ok(());
        }
        canvas.rect(&self.area, &Paint::fill(hex(NONE)), None);
        for place in self.places() {
            if let Some(&colour) = colours.get(&place) {
                canvas.rect(&grown(self.cell(place)), &Paint::fill(hex(colour)), Some(&tip(place)));
            }
        }
        Ok(())
    }

    fn places(&self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.rows).flat_map(|row| (0..self.columns).map(move |column| (column, row)))
    }

    /// Encodes a PNG with a pixel per cell.
    fn picture(&self, colours: &HashMap<(usize, usize), Color>) -> anyhow::Result<Vec<u8>> {
        let of = |place| colours.get(&place).copied().unwrap_or(NONE);
        let pixels: Vec<u8> =
            self.places().map(of).flat_map(|Color { r, g, b }| [r, g, b]).collect();
        let [width, height] = [self.columns, self.rows].map(u32::try_from);
        let (width, height) = width.and_then(|width| Ok((width, height?))).context("a picture")?;
        let mut encoded = Vec::new();
        let mut encoder = png::Encoder::new(&mut encoded, width, height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_compression(png::Compression::Best);
        encoder.write_header()?.write_image_data(&pixels)?;
        Ok(encoded)
    }
}

/// Enlarges a cell slightly, so that no gaps are visible between adjacent cells.
pub fn grown(cell: Rect) -> Rect {
    let Rect { left, top, width, height } = cell;
    Rect { left, top: top - GROWN, width: width + GROWN, height: height + GROWN }
}
