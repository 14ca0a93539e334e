//! Pictures as files: SVG or PNG, by the name's ending.

use super::staged;
use anyhow::anyhow;
use epaint_default_fonts::UBUNTU_LIGHT;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::register_font;
use std::path::{Path, PathBuf};

/// Name under which the font is registered; an SVG asks for it too, and its viewer has one.
pub const FONT: &str = "sans-serif";

/// Colours that people with any colour vision tell apart (Okabe and Ito 2008).
pub const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
];

/// What can be drawn.
pub trait Picture {
    /// Width and height, pixels.
    fn size(&self) -> (u32, u32);

    fn draw<D: DrawingBackend>(&self, area: &DrawingArea<D, Shift>) -> anyhow::Result<()>
    where
        D::ErrorType: 'static;
}

/// A file to draw to, its kind said by its name.
pub fn parse_path(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let is_drawn = ["svg", "png"].iter().any(|kind| is(&path, kind));
    is_drawn.then_some(path).ok_or_else(|| "expected a name that ends in .svg or .png".to_owned())
}

fn is(path: &Path, kind: &str) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(kind))
}

/// Draws to `path`, which has its name only when it is whole.
pub fn write<P: Picture>(path: &Path, picture: &P) -> anyhow::Result<()> {
    staged::write(path, |partial| {
        register_font(FONT, FontStyle::Normal, UBUNTU_LIGHT)
            .map_err(|_| anyhow!("the font is damaged"))?;
        if is(path, "png") {
            draw(&BitMapBackend::new(partial, picture.size()).into_drawing_area(), picture)
        } else {
            draw(&SVGBackend::new(partial, picture.size()).into_drawing_area(), picture)
        }
    })
}

fn draw<D: DrawingBackend>(
    area: &DrawingArea<D, Shift>,
    picture: &impl Picture,
) -> anyhow::Result<()>
where
    D::ErrorType: 'static,
{
    area.fill(&WHITE)?;
    picture.draw(area)?;
    Ok(area.present()?)
}
